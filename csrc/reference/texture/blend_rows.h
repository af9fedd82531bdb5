/* Rows of a scaled picture of bytes: every channel is blended from four neighbours. Compiled for each instruction set. */
#ifndef BLR_BLEND_ROWS_H
#define BLR_BLEND_ROWS_H

#include "spirv/execute/isa_names.h"

#include <stdint.h>

/* Blends count channels. weights: of the second column, 0 to 255 of 256; below: the weight of the second row. Texels: of
 * the first and second column of the upper row, then of the lower row. Weights are split as docs/numerics.md says. */
void blr_blend_row(const uint16_t *weights, uint32_t below, const uint8_t *const texels[4], uint8_t *means, uint32_t count);

#endif
