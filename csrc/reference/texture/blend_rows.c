/* Rows of a scaled picture of bytes, in 16 bits: four weights have a sum of 256. */
#include "texture/blend_rows.h"

void blr_blend_row(const uint16_t *weights, uint32_t below, const uint8_t *const texels[4], uint8_t *means, uint32_t count)
{
    const uint8_t *restrict a = texels[0], *restrict b = texels[1], *restrict c = texels[2], *restrict d = texels[3];
    const uint16_t *restrict second = weights;
    uint8_t *restrict out = means;
    const uint16_t lower = (uint16_t)below, upper = (uint16_t)(256 - below);
    if (below == 0) {
        for (uint32_t i = 0; i < count; i++)
            out[i] = (uint8_t)((uint16_t)((256 - second[i]) * a[i] + second[i] * b[i] + 128) >> 8);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint16_t x1 = second[i], x0 = (uint16_t)(256 - x1);
        const uint16_t upper0 = (uint16_t)(x0 * upper + 128) >> 8, lower0 = (uint16_t)(x0 - upper0);
        const uint16_t lower1 = (uint16_t)(x1 * lower + 128) >> 8, upper1 = (uint16_t)(x1 - lower1);
        const uint16_t sum = (uint16_t)(upper0 * a[i] + upper1 * b[i] + lower0 * c[i] + lower1 * d[i] + 128);
        out[i] = (uint8_t)(sum >> 8);
    }
}
