/* Rows of a scaled picture of bytes or floats: texels are spread to the picture's columns, and every channel is blended
 * from four neighbours. Compiled for each instruction set. */
#ifndef BINDLESS_REFERENCE_TEXTURE_BLEND_ROWS_H
#define BINDLESS_REFERENCE_TEXTURE_BLEND_ROWS_H

#include "spirv/execute/isa_names.h"

#include <stdint.h>

#define BLR_SPREAD_BLOCK 16u /* elements */
#define BLR_BLEND_GROUP 64u

/* Where the channels of a row's columns come from. Elements are bytes or floats, one for each channel. The second texel of
 * a column is the one after the first. */
struct blr_spread {
    uint32_t channels, columns;
    uint32_t row_size;       /* elements of a source row */
    const uint32_t *first;   /* for each column: elements from the start of a row to its first texel; never less than before */
    const uint32_t *base;    /* for each block of elements of the columns: the least place it reads from; or UINT32_MAX */
    const uint8_t *index;    /* for each element: its place in the first texels, after the base of its block; at most 15 */
};

/* Copies the first and second texels of all columns. Beyond the end of a row the second texel is any; its weight is 0.
 * Both results have room for a block more. */
void blr_spread_bytes(const struct blr_spread *spread, const void *row, void *first, void *second);

/* Rows of columns between the same source rows, to be blended. */
struct blr_row_blend {
    const struct blr_spread *spread;
    const void *weights;     /* of the second columns, 0 to 255 of 256: uint16_t for bytes, float for floats */
    const uint8_t *least;    /* for each group of elements: the least weight of a column; 0 where a block is no 16 elements
                                within the source row */
    uint32_t rows;           /* 1, of floats also 2 */
    uint32_t below[2];       /* for each row: weight of the second source row */
    const void *texels[4];   /* bytes: of the first and second column of the upper row, then of the lower row; floats: the
                                two source rows */
};

/* Blends count elements of each row. Weights are split as docs/internals/numerics.md says. For each row, left_over has a bit for
 * each group of elements, at most 64, of which one is left to a sample. */
void blr_blend_bytes(const struct blr_row_blend *row, void *const values[2], uint32_t count, uint64_t left_over[2]);
void blr_blend_floats_avx512(const struct blr_row_blend *row, void *const values[2], uint32_t count, uint64_t left_over[2]);

#endif
