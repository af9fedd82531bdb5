/* B-spline coefficients along rows, and the margin around the samples.
 *
 * A group copies parts of rows to local memory, with a chunk before and after each part, and every work-item filters a
 * chunk. A chunk and a gap have 17 floats, so that work-items use different banks of the memory. A work-item reads
 * BATCH floats, without branches, before it stores the first: reads overlap. */
#include "bindless/device.h"

#include "spline.h"

#define GROUP 128u
#define SPACED(POSITION) ((POSITION) + (POSITION) / CHUNK)
#define BATCH 8u     /* floats that a work-item reads at once */
#define UNUSED (GROUP * 3 * (CHUNK + 1)) /* place in local memory of what is not needed, a float for each work-item */
#define FILLED (-1L) /* instead of the first sample of a row */

struct volume {
    uint width, height, depth; /* of the source */
    uint margin_x, margin_y, margin_z, channels;
    bool fills;
};

/* Index of the first sample of the source for a row of the target, or FILLED. */
static inline long row_start(struct volume volume, ulong row)
{
    ulong from = row;
    if (volume.margin_y != 0 || volume.margin_z != 0) {
        const uint rows = volume.height + 2 * volume.margin_y, slices = volume.depth + 2 * volume.margin_z;
        const ulong slice = row / rows, array = slice / slices;
        const int last_y = (int)volume.height - 1, last_z = (int)volume.depth - 1;
        int y = (int)(row - slice * rows) - (int)volume.margin_y, z = (int)(slice - array * slices) - (int)volume.margin_z;
        if (volume.fills && (y < 0 || y > last_y || z < 0 || z > last_z)) return FILLED;
        y = y < 0 ? 0 : y > last_y ? last_y : y;
        z = z < 0 ? 0 : z > last_z ? last_z : z;
        from = (array * volume.depth + (ulong)z) * volume.height + (ulong)y;
    }
    return (long)(from * volume.width * volume.channels);
}

/* The sample at a place of a row with its margin. */
static inline float sample_at(global const float *source, long start, struct volume volume, uint place, uint channel,
                              float fill, bool needed)
{
    const int last = (int)volume.width - 1, at = (int)(place - volume.margin_x);
    const int inside = at < 0 ? 0 : at > last ? last : at;
    const bool reads = needed & (start != FILLED) & ((at == inside) | !volume.fills); /* no branches */
    const float sample = source[reads ? start + (long)((uint)inside * volume.channels + channel) : 0];
    return reads ? sample : fill;
}

/* Quotients of numbers below 2^12, by the divisor's reciprocal. */
static inline uint reciprocal(uint divisor) { return 0xffffffffu / divisor; }

static inline uint quotient(uint number, uint reciprocal) { return (uint)((ulong)(number + 1) * reciprocal >> 32); }

/* Parts of rows in local memory: a line for each row and channel. */
struct layout {
    uint channels, floats, pitch; /* floats: of a row's part */
    uint by_channels, by_floats;  /* reciprocals */
    uint rows, samples;           /* that the parts have */
};

struct place {
    uint row, within, sample, channel, at; /* within: floats before it in the row's part; at: in local memory */
    bool exists;
};

static inline struct place place_of(struct layout layout, uint number)
{
    struct place place;
    place.row = quotient(number, layout.by_floats);
    place.within = number - place.row * layout.floats;
    place.sample = quotient(place.within, layout.by_channels);
    place.channel = place.within - place.sample * layout.channels;
    place.at = (place.row * layout.channels + place.channel) * layout.pitch + SPACED(place.sample + CHUNK);
    place.exists = (place.row < layout.rows) & (place.sample < layout.samples);
    return place;
}

/* The coefficients of a chunk in local memory, from it and the chunks before and after it. */
static inline void filter(local const float *before, float pole, float gain, float *values)
{
    local const float *own = before + CHUNK + 1, *after = own + CHUNK + 1;
    float ahead[CHUNK], last = 0.0f;
#define STEP(I) last = before[I] + pole * last;
    EACH(STEP)
#undef STEP
#define STEP(I) last = values[I] = own[I] + pole * last;
    EACH(STEP)
#undef STEP
#define STEP(I) last = ahead[I] = after[I] + pole * last;
    EACH(STEP)
#undef STEP
    last = 0.0f;
#define STEP(I) last = pole * last + gain * ahead[I];
    EACH_BACKWARDS(STEP)
#undef STEP
#define STEP(I) last = values[I] = pole * last + gain * values[I];
    EACH_BACKWARDS(STEP)
#undef STEP
}

/* rows: of the target. */
kernel void bindless_spline_rows(global const float *source, global float *target, uint width, uint height, uint depth,
                                 uint margin_x, uint margin_y, uint margin_z, uint channels, uint boundary, uint fills,
                                 float fill, float pole, float gain, ulong rows)
{
    local float tile[UNUSED + GROUP];
    local long starts[GROUP];
    const struct volume volume = {width, height, depth, margin_x, margin_y, margin_z, channels, fills != 0};
    const uint item = (uint)bindless_local_id(0), length = width + 2 * margin_x;
    const uint lanes = GROUP / channels, chunks = (length + CHUNK - 1) / CHUNK;
    const uint across = chunks < lanes ? chunks : lanes, down = lanes / across; /* chunks and rows of a part */
    const uint part = CHUNK * across, parts = (length + part - 1) / part, pitch = (CHUNK + 1) * (across + 2);
    const uint floats = part * channels;
    struct layout layout = {channels, floats, pitch, reciprocal(channels), reciprocal(floats), 0, 0};
    const ulong count = (rows + down - 1) / down * parts;
    for (ulong n = bindless_group_id(0); n < count; n += bindless_group_count(0)) {
        const ulong first_row = n / parts * down;
        const uint first = (uint)(n % parts) * part;
        layout.rows = rows - first_row < down ? (uint)(rows - first_row) : down;
        layout.samples = length - first < part ? length - first : part;
        if (item < layout.rows) starts[item] = row_start(volume, first_row + item);
        bindless_barrier();
        const uint copied = layout.rows * floats;
        for (uint e = item; e < copied; e += BATCH * GROUP) {
            float samples[BATCH];
            uint at[BATCH];
#define STEP(I)                                                                                                        \
    {                                                                                                                  \
        const struct place place = place_of(layout, e + I * GROUP);                                                    \
        samples[I] = sample_at(source, starts[place.exists ? place.row : 0], volume, first + place.sample,             \
                               place.channel, fill, place.exists);                                                     \
        at[I] = place.exists ? place.at : UNUSED + item;                                                               \
    }
            STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
#undef STEP
#define STEP(I) tile[at[I]] = samples[I];
            STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
#undef STEP
        }
        /* A chunk before the part, and from its last sample to the end of the chunk after it. */
        const uint around = 2 * CHUNK + (part - layout.samples);
        for (uint e = item; e < layout.rows * channels * around; e += GROUP) {
            const uint line = e / around, k = e - line * around, row = line / channels;
            const uint j = k < CHUNK ? k : k + layout.samples;
            const int position = (int)(first + j) - (int)CHUNK;
            const bool within = position >= 0 && position < (int)length;
            const uint place = within ? (uint)position : length > 1 ? continued(position, length, boundary) : 0;
            tile[line * pitch + SPACED(j)] =
                sample_at(source, starts[row], volume, place, line - row * channels, fill, true);
        }
        bindless_barrier();
        const uint line = item / across, chunk = item - line * across;
        const bool filters = line < layout.rows * channels && length > 1;
        local float *before = tile + (filters ? line * pitch + chunk * (CHUNK + 1) : 0), *own = before + CHUNK + 1;
        float values[CHUNK];
        if (filters) filter(before, pole, gain, values);
        bindless_barrier(); /* all have read */
        if (filters) {
#define STEP(I) own[I] = values[I];
            EACH(STEP)
#undef STEP
        }
        bindless_barrier();
        global float *to = target + (first_row * length + first) * channels;
        for (uint e = item; e < copied; e += GROUP) {
            const struct place place = place_of(layout, e);
            if (place.exists) to[(ulong)place.row * length * channels + place.within] = tile[place.at];
        }
        bindless_barrier(); /* before the next part */
    }
}
