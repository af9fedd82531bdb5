/* Rows of a scaled picture of bytes: texels are spread to the picture's columns, and every channel is blended from four
 * neighbours. Compiled for each instruction set. */
#ifndef BINDLESS_REFERENCE_TEXTURE_BLEND_ROWS_H
#define BINDLESS_REFERENCE_TEXTURE_BLEND_ROWS_H

#include "spirv/execute/isa_names.h"

#include <stdint.h>

#define BLR_SPREAD_BLOCK 16u /* bytes */

/* Where the channels of a row's columns come from. The second texel of a column is the one after the first. */
struct blr_spread {
    uint32_t channels, columns;
    uint32_t row_size;       /* bytes of a source row */
    const uint32_t *first;   /* for each column: bytes from the start of a row to its first texel; never less than before */
    const uint32_t *base;    /* for each block of bytes of the columns: the least place that it reads from; or UINT32_MAX */
    const uint8_t *index;    /* for each byte: its place in the first texels, after the base of its block; at most 15 */
};

/* Copies the first and second texels of all columns. Beyond the end of a row the second texel is any; its weight is 0.
 * Both results have room for a block more. */
void blr_spread_row(const struct blr_spread *spread, const uint8_t *row, uint8_t *first, uint8_t *second);

/* Blends count channels. weights: of the second column, 0 to 255 of 256; below: the weight of the second row. Texels: of
 * the first and second column of the upper row, then of the lower row. Weights are split as docs/internals/numerics.md says. */
void blr_blend_row(const uint16_t *weights, uint32_t below, const uint8_t *const texels[4], uint8_t *means, uint32_t count);

#endif
