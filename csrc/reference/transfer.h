/* Bytes moved by all threads of the pool: lines, boxes of rows and slices, and patterns. */
#ifndef BLR_TRANSFER_H
#define BLR_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

/* Moves at most this many bytes on a thread that is waiting, even if its wait has a deadline. */
#define BLR_BRIEF_BYTES ((uint64_t)1 << 20)
/* Whether who submits a copy does it: handing it to another thread, whose caches have none of it, would take about as long.
 * Out of order others may want to run meanwhile, so that there it has to be a matter of a microsecond. */
static inline bool blr_transfer_is_instant(bool in_order, uint64_t bytes)
{
    return bytes <= (in_order ? (uint64_t)4 << 20 : (uint64_t)16 << 10);
}

/* Bytes from one place to another, as if through a third: the two may overlap. */
void blr_transfer_line(void *destination, const void *source, uint64_t size);

/* Rows of row_size bytes, rows of them a slice, slices; at the given distances. Source and destination share no
 * byte. */
struct blr_box {
    unsigned char *destination;
    const unsigned char *source;
    uint64_t row_size, rows, slices;
    uint64_t destination_row_pitch, destination_slice_pitch;
    uint64_t source_row_pitch, source_slice_pitch;
};

void blr_transfer_box(const struct blr_box *box);

/* count repetitions of a pattern of 1 to BLR_MAX_PATTERN bytes. */
#define BLR_MAX_PATTERN 128u
void blr_transfer_pattern(void *destination, const void *pattern, uint64_t pattern_size, uint64_t count);

#endif
