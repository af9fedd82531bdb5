/* B-spline coefficients along rows, and the margin around the samples.
 *
 * A group copies parts of rows to local memory, with a chunk before and after each part, and every work-item filters a
 * chunk. A chunk and a gap have 17 floats, so that work-items use different banks of the memory. */
#include "bindless/device.h"

#include "spline.h"

#define GROUP 128u
#define SPACED(POSITION) ((POSITION) + (POSITION) / CHUNK)

struct volume {
    uint width, height, depth; /* of the source */
    uint margin_x, margin_y, margin_z, channels;
    bool fills;
};

/* First sample of the source for a row of the target; NULL for a row of the margin that is filled. */
static inline global const float *source_row(global const float *source, struct volume volume, ulong row)
{
    ulong from = row;
    if (volume.margin_y != 0 || volume.margin_z != 0) {
        const uint rows = volume.height + 2 * volume.margin_y, slices = volume.depth + 2 * volume.margin_z;
        const ulong slice = row / rows, array = slice / slices;
        const int last_y = (int)volume.height - 1, last_z = (int)volume.depth - 1;
        int y = (int)(row - slice * rows) - (int)volume.margin_y, z = (int)(slice - array * slices) - (int)volume.margin_z;
        if (volume.fills && (y < 0 || y > last_y || z < 0 || z > last_z)) return 0;
        y = y < 0 ? 0 : y > last_y ? last_y : y;
        z = z < 0 ? 0 : z > last_z ? last_z : z;
        from = (array * volume.depth + (ulong)z) * volume.height + (ulong)y;
    }
    return source + from * volume.width * volume.channels;
}

/* rows: of the target. */
kernel void bindless_spline_rows(global const float *source, global float *target, uint width, uint height, uint depth,
                                 uint margin_x, uint margin_y, uint margin_z, uint channels, uint boundary, uint fills,
                                 float fill, ulong rows)
{
    local float tile[GROUP * 3 * (CHUNK + 1)];
    const struct volume volume = {width, height, depth, margin_x, margin_y, margin_z, channels, fills != 0};
    const uint item = (uint)bindless_local_id(0), length = width + 2 * margin_x;
    const uint lanes = GROUP / channels, chunks = (length + CHUNK - 1) / CHUNK;
    const uint across = chunks < lanes ? chunks : lanes, down = lanes / across; /* chunks and rows of a part */
    const uint part = CHUNK * across, parts = (length + part - 1) / part, pitch = (CHUNK + 1) * (across + 2);
    const ulong count = (rows + down - 1) / down * parts;
    for (ulong n = bindless_group_id(0); n < count; n += bindless_group_count(0)) {
        const ulong first_row = n / parts * down;
        const uint first = (uint)(n % parts) * part, used = rows - first_row < down ? (uint)(rows - first_row) : down;
        for (uint r = 0; r < used; ++r) {
            global const float *from = source_row(source, volume, first_row + r);
            for (uint i = item; i < (part + 2 * CHUNK) * channels; i += GROUP) {
                const uint j = channels == 1 ? i : i / channels, c = i - j * channels;
                const int place = (int)(first + j) - (int)CHUNK;
                const bool within = place >= 0 && place < (int)length;
                int at = (within ? place : length > 1 ? (int)continued(place, length, boundary) : 0) - (int)margin_x;
                const bool outside = at < 0 || at >= (int)width;
                at = at < 0 ? 0 : at >= (int)width ? (int)width - 1 : at;
                tile[(r * channels + c) * pitch + SPACED(j)] =
                    from == 0 || (volume.fills && outside) ? fill : from[(uint)at * channels + c];
            }
        }
        bindless_barrier();
        const uint line = item / across, chunk = item - line * across;
        const bool filters = line < used * channels && length > 1;
        local float *before = tile + (filters ? line * pitch + chunk * (CHUNK + 1) : 0);
        local float *own = before + CHUNK + 1, *after = own + CHUNK + 1;
        float result[CHUNK], ahead[CHUNK], last = 0.0f;
        if (filters) {
#define STEP(I) last = before[I] + POLE * last;
            EACH(STEP)
#undef STEP
#define STEP(I) last = result[I] = own[I] + POLE * last;
            EACH(STEP)
#undef STEP
#define STEP(I) last = ahead[I] = after[I] + POLE * last;
            EACH(STEP)
#undef STEP
            last = 0.0f;
#define STEP(I) last = POLE * last + GAIN * ahead[I];
            EACH_BACKWARDS(STEP)
#undef STEP
#define STEP(I) last = result[I] = POLE * last + GAIN * result[I];
            EACH_BACKWARDS(STEP)
#undef STEP
        }
        bindless_barrier(); /* all have read */
        if (filters) {
#define STEP(I) own[I] = result[I];
            EACH(STEP)
#undef STEP
        }
        bindless_barrier();
        const uint end = (length - first < part ? length - first : part) * channels;
        for (uint r = 0; r < used; ++r) {
            global float *to = target + ((first_row + r) * length + first) * channels;
            for (uint i = item; i < end; i += GROUP) {
                const uint j = channels == 1 ? i : i / channels, c = i - j * channels;
                to[i] = tile[(r * channels + c) * pitch + SPACED(j + CHUNK)];
            }
        }
        bindless_barrier(); /* before the next part */
    }
}
