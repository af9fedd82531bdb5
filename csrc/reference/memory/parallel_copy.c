/* Transfers: parallel copies of lines and boxes, and fills with patterns. */
#include "memory/parallel_copy.h"

#include "memory/streaming_store.h"
#include "platform/thread_pool.h"

#include <string.h>

/* Bytes from which two threads share a copy; half of that for four threads, and so on. Below, waking helpers costs
 * more than it saves. */
#define PARALLEL_FROM ((uint64_t)8 << 20)
#define LEAST_PARALLEL ((uint64_t)2 << 20)
#define PART_SIZE ((uint64_t)512 << 10)

/* Total from which the destination will leave the caches before it is read again. */
#define STREAM_FROM ((uint64_t)16 << 20)

static bool is_parallel(uint64_t total)
{
    uint32_t size = 1;
    if (total < LEAST_PARALLEL || blr_thread_pool_size(&size) != BLR_RESULT_SUCCESS)
        return false;
    return total >= 2 * PARALLEL_FROM / size;
}

/* ---------------------------------------------------------------- one thread */

#define LEAST_ROW 256u /* bytes; memcpy copies shorter rows */

/* On AMD processors a loop of plain moves is a tenth faster than memcpy, on Intel processors slower. */
static bool moves_plainly(void)
{
#if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
    return __builtin_cpu_is("amd");
#else
    return false;
#endif
}

void blr_transfer_row(unsigned char *destination, const unsigned char *source, uint64_t size, bool stream)
{
    if (stream && size >= LEAST_ROW)
        blr_stream_bytes(destination, source, size);
    else if (size >= LEAST_ROW && moves_plainly())
        blr_move_bytes(destination, source, size);
    else
        memcpy(destination, source, size);
}

bool blr_transfer_streams(uint64_t bytes) { return bytes >= STREAM_FROM; }

void blr_transfer_row_end(bool stream)
{
    if (stream)
        blr_stream_end();
}

/* ---------------------------------------------------------------- boxes */

struct box_work {
    const struct blr_box *box;
    bool stream;
};

/* Copies bytes [begin, end) of the box, counted as if it were packed. */
static bool copy_part(void *argument, uint64_t begin, uint64_t end)
{
    const struct box_work *work = argument;
    const struct blr_box *box = work->box;
    uint64_t row = begin / box->row_size, within = begin % box->row_size;
    uint64_t slice = row / box->rows;
    row %= box->rows;
    while (begin < end) {
        uint64_t size = box->row_size - within;
        if (size > end - begin)
            size = end - begin;
        blr_transfer_row(box->destination + slice * box->destination_slice_pitch + row * box->destination_row_pitch + within,
                   box->source + slice * box->source_slice_pitch + row * box->source_row_pitch + within, size,
                   work->stream);
        begin += size;
        within = 0;
        if (++row == box->rows) {
            row = 0;
            slice++;
        }
    }
    blr_transfer_row_end(work->stream);
    return true;
}

/* Merges rows or slices that are contiguous on both sides into longer rows. */
static struct blr_box join_rows(struct blr_box box)
{
    if (box.rows == 1) {
        box.rows = box.slices;
        box.slices = 1;
        box.source_row_pitch = box.source_slice_pitch;
        box.destination_row_pitch = box.destination_slice_pitch;
    }
    if (box.rows > 1 && box.source_row_pitch == box.row_size && box.destination_row_pitch == box.row_size) {
        box.row_size *= box.rows;
        box.rows = box.slices;
        box.slices = 1;
        box.source_row_pitch = box.source_slice_pitch;
        box.destination_row_pitch = box.destination_slice_pitch;
        if (box.rows > 1)
            return join_rows(box);
    }
    return box;
}

void blr_transfer_box(const struct blr_box *box)
{
    if (box->row_size == 0 || box->rows == 0 || box->slices == 0)
        return;
    struct blr_box packed = join_rows(*box);
    uint64_t total = packed.row_size * packed.rows * packed.slices;
    struct box_work work = {&packed, blr_transfer_streams(total)};
    blr_parallel_for(total, is_parallel(total) ? blr_parallel_grain(total, PART_SIZE) : total, copy_part, &work);
}

void blr_transfer_line(void *destination, const void *source, uint64_t size)
{
    uintptr_t to = (uintptr_t)destination, from = (uintptr_t)source;
    if (to == from || size == 0)
        return;
    if ((to > from ? to - from : from - to) < size) {
        memmove(destination, source, size);
        return;
    }
    struct blr_box box = {.destination = destination, .source = source, .row_size = size, .rows = 1, .slices = 1};
    blr_transfer_box(&box);
}

/* ---------------------------------------------------------------- patterns */

/* A tile is a whole number of patterns and of cache lines, so that parts start with a pattern. */
#define TILE_LINES 64u

struct pattern_work {
    unsigned char *destination;
    const unsigned char *tile;
    uint64_t tile_size;
    uint64_t total;
    bool stream;
};

static bool fill_part(void *argument, uint64_t begin, uint64_t end)
{
    const struct pattern_work *work = argument;
    for (uint64_t tile = begin; tile < end; tile++) {
        uint64_t offset = tile * work->tile_size;
        uint64_t size = work->total - offset < work->tile_size ? work->total - offset : work->tile_size;
        blr_transfer_row(work->destination + offset, work->tile, size, work->stream);
    }
    blr_transfer_row_end(work->stream);
    return true;
}

void blr_transfer_pattern(void *destination, const void *pattern, uint64_t pattern_size, uint64_t count)
{
    unsigned char tile[BLR_MAX_PATTERN * TILE_LINES];
    uint64_t total = pattern_size * count, tile_size = pattern_size * TILE_LINES;
    for (uint64_t i = 0; i < TILE_LINES; i++)
        memcpy(tile + i * pattern_size, pattern, pattern_size);
    struct pattern_work work = {destination, tile, tile_size, total, blr_transfer_streams(total)};
    uint64_t tiles = total / tile_size + (total % tile_size != 0);
    uint64_t smallest = PART_SIZE / tile_size;
    blr_parallel_for(tiles, is_parallel(total) ? blr_parallel_grain(tiles, smallest) : tiles, fill_part, &work);
}
