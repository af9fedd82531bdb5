/* Transfers by all threads of the pool: copies of lines and of boxes of rows and slices, and fills with patterns. */
#ifndef BINDLESS_REFERENCE_MEMORY_PARALLEL_COPY_H
#define BINDLESS_REFERENCE_MEMORY_PARALLEL_COPY_H

#include "platform/shared.h"

#include <stdbool.h>
#include <stdint.h>

/* Most bytes of a brief transfer, which a waiting thread may run even if its wait has a deadline. */
#define BLR_BRIEF_BYTES ((uint64_t)1 << 20)
/* Whether the submitting thread performs a transfer: handing it to another thread, whose caches are cold, would take
 * about as long. In an out-of-order queue other commands could run meanwhile, so the transfer must take about a
 * microsecond there. */
static inline bool blr_transfer_is_instant(bool in_order, uint64_t bytes)
{
    return bytes <= (in_order ? (uint64_t)4 << 20 : (uint64_t)16 << 10);
}

/* Copies bytes; source and destination may overlap. */
BLR_SHARED void blr_transfer_line(void *destination, const void *source, uint64_t size);

/* Rows of row_size bytes, a number of rows a slice, slices; at the given pitches. Source and destination do not
 * overlap. */
struct blr_box {
    unsigned char *destination;
    const unsigned char *source;
    uint64_t row_size, rows, slices;
    uint64_t destination_row_pitch, destination_slice_pitch;
    uint64_t source_row_pitch, source_slice_pitch;
};

BLR_SHARED void blr_transfer_box(const struct blr_box *box);

/* Copies one row on this thread, for functions that do more with it; past the caches where blr_transfer_streams says so of
 * all bytes, and then blr_transfer_row_end follows the last row. */
bool blr_transfer_streams(uint64_t bytes);
void blr_transfer_row(unsigned char *destination, const unsigned char *source, uint64_t size, bool stream);
void blr_transfer_row_end(bool stream);

/* count repetitions of a pattern of 1 to BLR_MAX_PATTERN bytes. */
#define BLR_MAX_PATTERN 128u
BLR_SHARED void blr_transfer_pattern(void *destination, const void *pattern, uint64_t pattern_size, uint64_t count);

#endif
