/* Samples of images and volumes with a linear filter and no mipmap, and their first derivatives: OPERATION of gradient_call.h,
 * for channels that are apart in memory. Each work-item has all channels of its samples.
 *
 * BACKWARD spends its time on additions to gradients of texels: the memory does one for each 32 bytes at a time, whatever
 * part of them the work-items of a group of 32 add to. Samples next to one another share texels, so their addends are joined
 * before: those of an item's ROWS samples, one below the other, and those of neighbouring items. */
#include "gradient_corners.h"
#include "gradient_exact.h"
#include "lanes.h"

#if OPERATION == FORWARD

enum { CHUNK = DIMENSIONS == 2 ? 4 : 2, SINGLES = 2 };

/* The address of a sample's values. */
INLINED ulong values_of(const struct call *call, int item, ulong texture, uint mode)
{
    const ulong first = part_of(&call->values, 2, texture, has_half_values(mode));
    const long offset = is_packed(mode) ? (long)item : (long)(item * (int)call->values.strides[1]);
    return first + (ulong)offset * (has_half_values(mode) ? 2 : 4);
}

/* The value between the corners of a sample, unless it is not a finite number; then whether a texel without weight made it
 * so is not known. */
INLINED bool put_value(const struct call *call, const struct corners *corners, const float *texel, ulong to, uint channel, uint mode)
{
    const float value = blended(corners, texel, DIMENSIONS);
    if (!is_finite(value)) return false;
    put_number(to, (long)channel * call->values.strides[0], value, has_half_values(mode));
    return true;
}

/* Channels at a time, so that the memory has many loads of an item under way. */
INLINED bool run_channels(const struct call *call, const struct corners *corners, const ulong *rows, ulong to, uint channel, uint count,
                          uint mode)
{
    float texel[CHUNK][CORNERS];
    bool done = true;
    UNROLLED for (uint j = 0; j < count; ++j) read_corners(texel[j], call, rows, channel + j, mode);
    UNROLLED for (uint j = 0; j < count; ++j) done &= put_value(call, corners, texel[j], to, channel + j, mode);
    return done;
}

/* Samples whose corners are texels next to one another. */
INLINED bool run_plain(const struct call *call, const struct corners *corners, ulong texture, ulong to, uint mode)
{
    ulong rows[CORNERS / 2];
    rows_of(rows, call, corners, texture, mode);
    const uint count = is_single(mode) ? 1 : call->channels;
    uint channel = 0;
    bool done = true;
    for (; channel + CHUNK <= count; channel += CHUNK) done &= run_channels(call, corners, rows, to, channel, CHUNK, mode);
    for (; channel < count; ++channel) done &= run_channels(call, corners, rows, to, channel, 1, mode);
    return done;
}

/* Samples near and outside of the edges. */
INLINED bool run_edge(const struct call *call, const struct corners *corners, ulong texture, ulong to, uint mode)
{
    const ulong first = part_of(&call->levels[0].texels, 4, texture, has_half_texels(mode));
    bool done = true;
    _Pragma("nounroll") for (uint channel = 0; channel < (is_single(mode) ? 1 : call->channels); ++channel)
    {
        const ulong from = plane_of(first, &call->levels[0].texels, channel, has_half_texels(mode));
        float texel[CORNERS];
        FOR_CORNERS texel[k] = texel_or_fill(call, corners, from, k, mode);
        done &= put_value(call, corners, texel, to, channel, mode);
    }
    return done;
}

/* Texels without weight do not count, even those that are not finite. */
INLINED void run_not_finite(const struct call *call, int item, ulong texture, ulong to, uint mode)
{
    const struct corners corners = corners_of(call, item, texture, mode);
    const ulong first = part_of(&call->levels[0].texels, 4, texture, has_half_texels(mode));
    _Pragma("nounroll") for (uint channel = 0; channel < (is_single(mode) ? 1 : call->channels); ++channel)
    {
        const ulong from = plane_of(first, &call->levels[0].texels, channel, has_half_texels(mode));
        float value = 0.0f;
        ONE_CORNER {
            const float weight = weight_of(&corners, k);
            if (weight != 0.0f) value += weight * texel_or_fill(call, &corners, from, k, mode);
        }
        put_number(to, (long)channel * call->values.strides[0], value, has_half_values(mode));
    }
}

INLINED void run_sample(const struct call *call, int item, ulong texture, uint mode)
{
    float at[DIMENSIONS];
    read_position(call, item, texture, at, mode);
    struct corners corners = plain_corners_at(call, at, mode);
    const ulong to = values_of(call, item, texture, mode);
    bool done;
    if (corners.plain) {
        done = run_plain(call, &corners, texture, to, mode);
    } else {
        find_corners(&corners, call, at, mode);
        done = run_edge(call, &corners, texture, to, mode);
    }
    if (!done) {
        FORGET; /* what is in registers: it would be kept for these few */
        run_not_finite(call, item, texture, to, mode);
    }
}

/* Samples of textures of one channel, whose texels are all under way at a time: SINGLES of them for each item. */
INLINED void run_singles(const struct call *call, ulong first, uint distance, ulong texture, uint mode)
{
    struct corners corners[SINGLES];
    float texel[SINGLES][CORNERS];
    bool done = true;
    UNROLLED for (uint s = 0; s < SINGLES; ++s)
    {
        const ulong item = first + s * distance;
        corners[s] = plain_corners_of(call, (int)(item < call->samples ? item : first), texture, mode);
        done &= corners[s].plain;
    }
    if (done) {
        UNROLLED for (uint s = 0; s < SINGLES; ++s)
        {
            ulong rows[CORNERS / 2];
            rows_of(rows, call, corners + s, texture, mode);
            read_corners(texel[s], call, rows, 0, mode);
        }
        UNROLLED for (uint s = 0; s < SINGLES; ++s)
        {
            const ulong item = first + s * distance;
            const ulong to = values_of(call, (int)(item < call->samples ? item : first), texture, mode);
            done &= put_value(call, corners + s, texel[s], to, 0, mode);
        }
    }
    if (done) return;
    FORGET; /* what is in registers: it would be kept for these few */
    _Pragma("nounroll") for (uint s = 0; s < SINGLES; ++s)
        if (first + s * distance < call->samples) run_sample(call, (int)(first + s * distance), texture, mode);
}

kernel void NAME(PARAMETERS)
{
    COPY
    const uint size = (uint)bindless_local_size(0), share = is_single(mode) ? SINGLES : 1;
    const ulong first = (ulong)bindless_group_id(0) * size * share + (uint)bindless_local_id(0);
    if (first >= call.samples) return;
    for (ulong texture = bindless_group_id(1); texture < call.textures; texture += bindless_group_count(1)) {
        if (is_single(mode))
            run_singles(&call, first, size, texture, mode);
        else
            run_sample(&call, (int)first, texture, mode);
    }
}

#else

#if SINGLE
enum { ROWS = 8 };                    /* one after the other */
#elif DIMENSIONS == 2
enum { ROWS = 2 };                    /* at a time */
#else
enum { ROWS = 2 };
#endif
enum { PAIRS = CORNERS / 4 };

/* How the addends of a sample travel. The last
 * item of a run with the same texels adds for all of it. It takes the right column of the run before, if that is its left
 * column, and gives its own right column to the run after. The lower row of texels of a sample (second along y) joins the
 * upper row of the sample below, if these are the same. */
struct way {
    bool plain, active, takes, gives, joins, lower, lower_takes, lower_gives;
    uint from, to, rank;
    int key;
};

INLINED struct way way_of(const struct corners *corners, const long *strides, bool exists)
{
    struct way way;
    const uint lane = lane_id();
    way.plain = exists && corners->plain;
    way.key = way.plain ? corners->first : (int)(0x80000000u + lane);
    const bool same = int_of_lane(way.key, lane == 0 ? 0 : lane - 1) == way.key && lane != 0;
    const uint heads = votes(!same), until = 0xffffffffu >> (31u - lane);
    const bool last = lane == 31 || (heads >> ((lane + 1) & 31u) & 1) != 0;
    const uint lasts = votes(last), before = lasts & (until >> 1), after = lasts & ~until;
    way.rank = lane - highest_bit(heads & until);
    way.from = before != 0 ? highest_bit(before) : lane;
    way.to = after != 0 ? lowest_bit(after) : lane;
    way.active = way.plain && last;
    const int stride = (int)strides[1], left = int_of_lane(way.key, way.from), right = int_of_lane(way.key, way.to);
    way.takes = way.active && before != 0 && left == way.key - stride;
    way.gives = way.active && after != 0 && right == way.key + stride;
    way.joins = way.lower = way.lower_takes = way.lower_gives = false;
    return way;
}

/* Decides which lower rows of a sample are added by themselves, when those that join the sample below are known. */
INLINED void end_way(struct way *way, bool joins_below)
{
    way->lower = way->active && !joins_below;
    const uint all = votes(way->lower);
    way->lower_takes = way->lower && way->takes && (all >> way->from & 1) != 0;
    way->lower_gives = way->lower && way->gives && (all >> way->to & 1) != 0;
}

/* Adds pairs of neighbours along x, each in PAIRS planes. */
INLINED void add_pairs(ulong gradients, long at, const long *strides, const float *left, const float *right, uint from,
                       bool active, bool takes, bool gives)
{
    UNROLLED for (uint p = 0; p < PAIRS; ++p)
    {
        const float other = float_of_lane(right[p], from), sum = takes ? left[p] + other : left[p];
        global float *to = (global float *)gradients + (at + (p != 0 ? strides[3] : 0));
        if (active) add_float(to, sum);
        if (active && !gives) add_float(to + strides[1], right[p]);
    }
}

/* A sample, with sums over channels. */
struct sample {
    struct corners corners;
    struct way way;
    uint longest;                     /* rank in a run of samples with the same texels, of all items */
    bool plain;                       /* exists, and is plain */
    float dot[CORNERS];               /* gradient of the value times texels */
};

/* Addends that wait for the sample below. */
struct lower {
    float left[PAIRS], right[PAIRS];
};

/* Samples that are not plain are done here. */
INLINED void begin_sample(struct sample *sample, const struct call *call, int item, bool exists, ulong texture, uint mode)
{
    sample->corners = plain_corners_of(call, exists ? item : 0, texture, mode);
    sample->plain = exists && sample->corners.plain;
    FOR_CORNERS sample->dot[k] = 0.0f;
    if (exists && !sample->plain) {
        FORGET; /* what is in registers: it would be kept for these few */
        run_other(call, item, texture, mode);
    }
    if (scatter_kind(mode) == SCATTER_NONE) return;
    sample->way = way_of(&sample->corners, call->levels[0].gradients.strides, exists);
    sample->longest = 0;
    while (votes(sample->way.rank > sample->longest) != 0) sample->longest = 2 * sample->longest + 1;
}

/* Joins a sample to the one above it. */
INLINED void join(struct way *above, struct way *below, const long *strides)
{
    below->joins = below->plain && above->active && below->key == above->key + (int)strides[2];
    end_way(above, below->joins);
}

INLINED void add_lower(const struct way *way, const struct lower *lower, const struct strided *to, long place)
{
    const long at = place + way->key + to->strides[2];
    add_pairs(to->first, at, to->strides, lower->left, lower->right, way->from, way->lower, way->lower_takes, way->lower_gives);
}

/* One channel of a sample. */
INLINED void run_channel(struct sample *sample, const struct way *above, struct lower *lower, const struct call *call, float gradient,
                         ulong texture, uint channel, uint mode)
{
    const struct level *level = &call->levels[0];
    const struct strided *to = &level->gradients;
    const bool half_texels = has_half_texels(mode);
    const ulong from = plane_of(part_of(&level->texels, 4, texture, half_texels), &level->texels, channel, half_texels);
    const long place = (long)texture * to->strides[4] + (long)channel * to->strides[0];
    const struct corners *corners = &sample->corners;
    if (wants_coordinates(mode) && sample->plain) {
        float texel[CORNERS];
        FOR_CORNERS texel[k] = read_number(from, plain_offset(corners, level->texels.strides, k, mode), half_texels);
        FOR_CORNERS sample->dot[k] += gradient * texel[k];
    }
    if (scatter_kind(mode) == SCATTER_NONE) return;
    if (sample->plain && !is_finite(gradient)) {
        add_exactly(call, corners, texture, channel, gradient, mode);
        gradient = 0.0f;
    }
    const struct way *way = &sample->way;
    float addend[CORNERS];
    FOR_CORNERS addend[k] = weight_of(corners, k) * gradient;
    if (above) {
        add_lower(above, lower, to, place);
        UNROLLED for (uint p = 0; p < PAIRS; ++p)
        {
            addend[4 * p] += way->joins ? lower->left[p] : 0.0f;
            addend[4 * p + 1] += way->joins ? lower->right[p] : 0.0f;
        }
    }
    for (uint distance = 1; distance <= sample->longest; distance <<= 1)
        FOR_CORNERS {
            const float other = float_of_lane(addend[k], (lane_id() - distance) & 31u);
            addend[k] += way->rank >= distance ? other : 0.0f;
        }
    struct lower upper;
    UNROLLED for (uint p = 0; p < PAIRS; ++p)
    {
        upper.left[p] = addend[4 * p], upper.right[p] = addend[4 * p + 1];
        lower->left[p] = addend[4 * p + 2], lower->right[p] = addend[4 * p + 3];
    }
    add_pairs(to->first, place + way->key, to->strides, upper.left, upper.right, way->from, way->active, way->takes, way->gives);
}

/* Writes the gradient of the coordinates. */
INLINED void end_sample(const struct sample *sample, const struct call *call, int item, ulong texture, uint mode)
{
    if (!wants_coordinates(mode) || !sample->plain) return;
    float derivative[DIMENSIONS];
    bool done = true;
    FOR_AXES {
        derivative[a] = blended(&sample->corners, sample->dot, a) * sample->corners.chain[a];
        done &= is_finite(derivative[a]);
    }
    if (done)
        FOR_AXES put_gradient(call, item, texture, a, derivative[a], mode);
    else
        put_exactly(call, &sample->corners, item, texture, mode);
}

INLINED void run_samples(const struct call *call, ulong first, ulong column, ulong texture, uint mode)
{
    const struct strided *to = &call->levels[0].gradients;
    const bool scatters = scatter_kind(mode) != SCATTER_NONE;
    const long base = (long)texture * to->strides[4];
    struct lower lower;
#if SINGLE
    struct way above;
    UNROLLED for (uint p = 0; p < PAIRS; ++p) lower.left[p] = lower.right[p] = 0.0f;
    above.active = above.takes = above.gives = false, above.key = 0, above.from = above.to = 0;
    _Pragma("nounroll") for (int row = 0; row < ROWS; ++row)
    {
        const ulong item = (first + row) * call->row + column;
        const bool exists = column < call->row && item < call->samples;
        struct sample sample;
        begin_sample(&sample, call, (int)item, exists, texture, mode);
        if (scatters) join(&above, &sample.way, to->strides);
        const float gradient = sample.plain ? gradient_at(call, (int)item, texture, 0, mode) : 0.0f;
        run_channel(&sample, &above, &lower, call, gradient, texture, 0, mode);
        end_sample(&sample, call, (int)item, texture, mode);
        if (scatters) above = sample.way;
    }
    if (!scatters) return;
    end_way(&above, false);
    add_lower(&above, &lower, to, base);
#else
    struct sample samples[ROWS];
    int items[ROWS];
    UNROLLED for (int row = 0; row < ROWS; ++row)
    {
        const ulong item = (first + row) * call->row + column;
        items[row] = (int)item;
        begin_sample(&samples[row], call, (int)item, column < call->row && item < call->samples, texture, mode);
        if (scatters && row != 0) join(&samples[row - 1].way, &samples[row].way, to->strides);
    }
    if (scatters) end_way(&samples[ROWS - 1].way, false);
    _Pragma("nounroll") for (uint channel = 0; channel < call->channels; ++channel)
    {
        float gradient[ROWS];
        UNROLLED for (int row = 0; row < ROWS; ++row)
            gradient[row] = samples[row].plain ? gradient_at(call, items[row], texture, channel, mode) : 0.0f;
        UNROLLED for (int row = 0; row < ROWS; ++row)
            run_channel(&samples[row], row != 0 ? &samples[row - 1].way : 0, &lower, call, gradient[row], texture, channel, mode);
        if (scatters) add_lower(&samples[ROWS - 1].way, &lower, to, base + (long)channel * to->strides[0]);
    }
    UNROLLED for (int row = 0; row < ROWS; ++row) end_sample(&samples[row], call, items[row], texture, mode);
#endif
}

/* A work-group has 32 columns and ROWS rows for each 32 of its items; samples are in rows of `call.row`. */
kernel void NAME(PARAMETERS)
{
    COPY
    const ulong across = (call.row + 31) / 32, group = bindless_group_id(0);
    const ulong column = group % across * 32 + lane_id();
    const ulong first = (group / across * (bindless_local_size(0) / 32) + bindless_local_id(0) / 32) * ROWS;
    for (ulong texture = bindless_group_id(1); texture < call.textures; texture += bindless_group_count(1))
        run_samples(&call, first, column, texture, mode);
}

#endif
