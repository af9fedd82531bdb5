/* First derivatives of images and volumes of one channel, texels among them, with a linear filter and no mipmap, for samples
 * that are a picture or a volume themselves: BACKWARD of gradient_call.h.
 *
 * The memory adds to one sector of 32 bytes at a time. A work-group has a tile of TILE samples, whose texels are in a box. If
 * local memory has room for the box, addends meet there, whatever way the samples lie in the texture; then each texel of the
 * box is added to memory once, and neighbouring items add to neighbouring texels.
 *
 * Local memory adds integers several times faster than floats. The unit of a box is a power of two, 2^-31 to 2^-30 of its
 * largest gradient of a value. Sums that leave the range of integers are found, and what they lack is added to memory. Samples
 * whose gradient is less than LEAST of the largest would lose digits; they add to memory as floats. */
#include "gradient_corners.h"
#include "gradient_exact.h"
#include "lanes.h"

enum { ITEMS = 256, LENGTH = 10, TILE = 1 << LENGTH, SAMPLES = TILE / ITEMS, ROOM = 7168, NO_INDEX = -(1 << 30) };
#define LEAST 0x1p-12f
#define LOWEST 0x1p-90f /* of the largest gradient of a box, and the highest: units and what sums lack are floats */
#define HIGHEST 0x1p120f

/* Texels of a tile, in numbers of texels along each axis; `count` of all, or 0 if addends are added to memory. */
struct box {
    int first[DIMENSIONS], size[DIMENSIONS], count;
    float largest, unit, units; /* largest gradient of a value, the unit of sums, and 1 / unit */
};

struct sample {
    int index[DIMENSIONS];
    float rest[DIMENSIONS];
    float gradient;             /* of the value */
    bool plain;                 /* exists, is plain, and has a gradient that is finite */
};

/* The place of one of an item's samples in the tile: first along x, then y, then z. A group of 32 items has two rows of 16; those
 * of volumes are in neighbouring slices, because the texture's rows may lie along z. */
INLINED uint place_of(uint number)
{
    const uint id = (uint)bindless_local_id(0);
    const uint place = DIMENSIONS == 3 ? (id & 15) | (id >> 5 & 7) << 4 | (id >> 4 & 1) << 7 : id;
    return number * ITEMS + place;
}

/* One of an item's samples, in the tile of its group; -1: none. */
INLINED int item_of(const struct call *call, uint number)
{
    const uint shift_x = call->map.shifts[0], shift_y = call->map.shifts[1], group = (uint)bindless_group_id(0);
    const uint place = place_of(number), wide = 1u << shift_x, high = 1u << shift_y;
    const uint across = (call->row + wide - 1) >> shift_x, down = (call->map.rows + high - 1) >> shift_y;
    const uint x = (group % across << shift_x) + (place & (wide - 1));
    const uint y = (group / across % down << shift_y) + (place >> shift_x & (high - 1));
    const uint z = (group / across / down << (LENGTH - shift_x - shift_y)) + (place >> (shift_x + shift_y));
    const uint item = (z * call->map.rows + y) * call->row + x;
    return x < call->row && y < call->map.rows && item < (uint)call->samples ? (int)item : -1;
}

INLINED struct sample sample_of(const struct call *call, uint number, ulong texture, uint mode)
{
    const int item = item_of(call, number);
    const struct corners corners = plain_corners_of(call, item >= 0 ? item : 0, texture, mode);
    struct sample sample;
    FOR_AXES sample.index[a] = corners.index[a], sample.rest[a] = corners.rest[a];
    sample.gradient = gradient_at(call, item >= 0 ? item : 0, texture, 0, mode);
    sample.plain = item >= 0 && corners.plain && is_finite(sample.gradient);
    return sample;
}

INLINED struct corners corners_of_sample(const struct call *call, const struct sample *sample, uint mode)
{
    struct corners corners = {.first = 0, .inside = EVERY_CORNER, .plain = sample->plain};
    FOR_AXES {
        const int stride = (int)call->levels[0].texels.strides[1 + a];
        corners.index[a] = sample->index[a];
        corners.rest[a] = sample->rest[a];
        corners.first += sample->index[a] * stride;
        corners.step[a] = stride;
        const bool moves = may_move(mode, a) || sample->index[a] > 0 || sample->rest[a] > 0.0f;
        corners.chain[a] = moves ? call->map.scale[a] : 0.0f;
    }
    return corners;
}

INLINED int largest_of_lanes(int value)
{
    UNROLLED for (uint distance = 16; distance != 0; distance >>= 1) {
        const int other = int_of_lane(value, lane_id() ^ distance);
        value = other > value ? other : value;
    }
    return value;
}

INLINED void raise(local int *to, int value)
{
    value = largest_of_lanes(value);
    if (lane_id() == 0 && value != NO_INDEX) raise_local(to, value);
}

/* `ends` has the largest of the negative and of the positive indices along each axis, and of the gradients' bits. */
INLINED struct box box_of(const struct sample *samples, local int *ends)
{
    const uint item = (uint)bindless_local_id(0);
    if (item <= 2 * DIMENSIONS) ends[item] = NO_INDEX;
    bindless_barrier();
    int gradient = 0;
    UNROLLED for (int number = 0; number < SAMPLES; ++number)
    {
        const int bits = as_int(samples[number].gradient) & 0x7fffffff;
        gradient = samples[number].plain && bits > gradient ? bits : gradient;
    }
    raise(ends + 2 * DIMENSIONS, gradient);
    FOR_AXES {
        int low = NO_INDEX, high = NO_INDEX;
        UNROLLED for (int number = 0; number < SAMPLES; ++number)
        {
            const int index = samples[number].index[a];
            low = samples[number].plain && -index > low ? -index : low;
            high = samples[number].plain && index > high ? index : high;
        }
        raise(ends + 2 * a, low);
        raise(ends + 2 * a + 1, high);
    }
    bindless_barrier();
    struct box box;
    box.largest = as_float(ends[2 * DIMENSIONS]);
    bool fits = box.largest >= LOWEST && box.largest <= HIGHEST;
    box.count = 1;
    FOR_AXES {
        box.first[a] = -ends[2 * a];
        box.size[a] = ends[2 * a + 1] - box.first[a] + 2;
        fits = fits && (uint)box.size[a] <= ROOM;
        box.count = fits ? box.count * box.size[a] : 0;
        fits = fits && box.count <= ROOM;
    }
    box.count = fits ? box.count : 0;
    const uint exponent = as_uint(box.largest) >> 23;
    box.units = as_float((2 * 127 + 30 - exponent) << 23);
    box.unit = as_float((exponent - 30) << 23);
    return box;
}

/* Adds to the box. What a sum lacks that has left the range of integers is added to memory. */
INLINED void add_near(const struct call *call, const struct corners *corners, const struct box *box, local int *sums, float gradient,
                      ulong texture)
{
    int place = 0, addend[CORNERS], before[CORNERS], overflow = 0;
    UNROLLED for (int a = DIMENSIONS - 1; a >= 0; --a) place = place * box->size[a] + corners->index[a] - box->first[a];
    local int *near = sums + place;
    FOR_CORNERS {
        addend[k] = integer_near(weight_of(corners, k) * gradient * box->units);
        before[k] = add_local(near + (k & 1) + (k & 2 ? box->size[0] : 0) + (k & 4 ? box->size[0] * box->size[1] : 0), addend[k]);
    }
    FOR_CORNERS {
        const int after = (int)((uint)before[k] + (uint)addend[k]);
        overflow |= (before[k] ^ after) & (addend[k] ^ after);
    }
    if (overflow >= 0) return;
    const struct strided *to = &call->levels[0].gradients;
    global float *first = (global float *)part_of(to, 4, texture, false);
    FOR_CORNERS {
        const int after = (int)((uint)before[k] + (uint)addend[k]);
        if (((before[k] ^ after) & (addend[k] ^ after)) >= 0) continue;
        add_float(first + offset_of(corners, k), (after < 0 ? 0x1p32f : -0x1p32f) * box->unit);
    }
}

/* Adds to memory. */
INLINED void add_far(const struct call *call, const struct corners *corners, float gradient, ulong texture)
{
    global float *first = (global float *)part_of(&call->levels[0].gradients, 4, texture, false);
    FOR_CORNERS add_float(first + offset_of(corners, k), weight_of(corners, k) * gradient);
}

/* Adds the sums of the box to memory. */
INLINED void add_box(const struct call *call, const struct box *box, local const int *sums, ulong texture)
{
    const struct strided *to = &call->levels[0].gradients;
    global float *first = (global float *)part_of(to, 4, texture, false);
    int place[DIMENSIONS], step[DIMENSIONS], number = (int)bindless_local_id(0), distance = ITEMS;
    FOR_AXES {
        place[a] = (int)a == DIMENSIONS - 1 ? number : number % box->size[a];
        step[a] = (int)a == DIMENSIONS - 1 ? distance : distance % box->size[a];
        number /= box->size[a], distance /= box->size[a];
    }
    for (int at = (int)bindless_local_id(0); at < box->count; at += ITEMS) {
        const int sum = sums[at];
        int offset = 0;
        FOR_AXES offset += (place[a] + box->first[a]) * (int)to->strides[1 + a];
        if (sum != 0) add_float(first + offset, (float)sum * box->unit);
        FOR_AXES {
            place[a] += step[a];
            if ((int)a == DIMENSIONS - 1 || place[a] < box->size[a]) continue;
            place[a] -= box->size[a];
            place[a + 1 < DIMENSIONS ? a + 1 : a] += 1;
        }
    }
}

/* Writes the gradient of the coordinates; false, and none, if it is not finite. */
INLINED bool put_derivatives(const struct call *call, const struct corners *corners, int item, float gradient, ulong texture, uint mode)
{
    ulong rows[CORNERS / 2];
    float texel[CORNERS], derivative[DIMENSIONS];
    rows_of(rows, call, corners, texture, mode);
    read_corners(texel, call, rows, 0, mode);
    bool finite = true;
    FOR_AXES {
        derivative[a] = blended(corners, texel, a) * gradient * corners->chain[a];
        finite &= is_finite(derivative[a]);
    }
    if (finite) FOR_AXES put_gradient(call, item, texture, a, derivative[a], mode);
    return finite;
}

/* Samples that are not plain, or whose results are not finite: all of them but those additions that are done. */
INLINED void run_rest(const struct call *call, uint other, uint far, ulong texture, uint mode)
{
    FORGET; /* what is in registers: it would be kept for these few */
    _Pragma("nounroll") for (uint number = 0; number < SAMPLES; ++number)
    {
        const int item = item_of(call, number);
        if ((other >> number & 1) != 0) {
            run_other(call, item, texture, mode);
        } else if ((far >> number & 1) != 0) {
            const struct corners corners = plain_corners_of(call, item, texture, mode);
            add_far(call, &corners, gradient_at(call, item, texture, 0, mode), texture);
        }
    }
}

INLINED void run_tile(const struct call *call, ulong texture, local int *sums, local int *ends, uint mode)
{
    struct sample samples[SAMPLES];
    UNROLLED for (uint number = 0; number < SAMPLES; ++number) samples[number] = sample_of(call, number, texture, mode);
    const struct box box = box_of(samples, ends);
    for (int at = (int)bindless_local_id(0); at < box.count; at += ITEMS) sums[at] = 0;
    bindless_barrier();
    uint other = 0, far = 0; /* bits of samples that are left */
    UNROLLED for (uint number = 0; number < SAMPLES; ++number)
    {
        const struct sample *sample = samples + number;
        const int item = item_of(call, number);
        bool done = sample->plain;
        if (done) {
            const struct corners corners = corners_of_sample(call, sample, mode);
            const float gradient = sample->gradient, size = as_float(as_uint(gradient) & 0x7fffffffu);
            if (wants_coordinates(mode)) done = put_derivatives(call, &corners, item, gradient, texture, mode);
            if (done && size != 0.0f) {
                if (box.count != 0 && size >= LEAST * box.largest)
                    add_near(call, &corners, &box, sums, gradient, texture);
                else
                    far |= 1u << number;
            }
        }
        other |= !done && item >= 0 ? 1u << number : 0;
    }
    if ((far | other) != 0) run_rest(call, other, far, texture, mode);
    bindless_barrier();
    add_box(call, &box, sums, texture);
    bindless_barrier();
}

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void NAME(PARAMETERS)
{
    COPY
    local int sums[ROOM];
    local int ends[2 * DIMENSIONS + 1];
    for (ulong texture = bindless_group_id(1); texture < call.textures; texture += bindless_group_count(1))
        run_tile(&call, texture, sums, ends, mode);
}
