/*
 * Pixels whose channels are bit fields: formats of Level Zero, ten bits, and codes of sRGB.
 *
 * Such pixels are unpacked to four bytes a channel, floats or integers, before any use; filtering is that of fp32. This
 * path is not optimised; images of other formats do not take it. Samplers blend codes of
 * ten bits and of sRGB by rules of their own: docs/internals/numerics.md.
 */
#ifndef BINDLESS_REFERENCE_IMAGE_PACKED_FORMAT_H
#define BINDLESS_REFERENCE_IMAGE_PACKED_FORMAT_H

#include "image/pixel_format.h"

enum blr_packed_class {
    BLR_PACKED_UNORM,
    BLR_PACKED_SNORM,
    BLR_PACKED_INTEGER,
    BLR_PACKED_SIGNED,
    BLR_PACKED_FLOAT,
    BLR_PACKED_SRGB
};

struct blr_packed_field {
    uint8_t shift;                        /* position of the lowest bit in the word */
    uint8_t bits;
    uint8_t class;                        /* enum blr_packed_class */
};

struct blr_packing {
    uint8_t word_size;                    /* bytes of a word: 2 or 4 */
    uint8_t count;                        /* channels in a word; 1: each channel has a word */
    struct blr_packed_field field[BLR_MAX_CHANNELS];
};

extern const struct blr_packing blr_packing_snorm32, blr_packing_unorm32, blr_packing_unorm_10_10_10_2,
    blr_packing_snorm_10_10_10_2, blr_packing_unsigned_10_10_10_2, blr_packing_signed_10_10_10_2,
    blr_packing_fp_10_10_10_2, blr_packing_fp_11_11_10, blr_packing_unorm_5_6_5, blr_packing_unorm_5_5_5_1,
    blr_packing_unorm_4_4_4_4, blr_packing_srgb;

/* Half precision values of the codes of sRGB. */
extern const uint16_t blr_srgb_codes[256];

/* The same as significands of at most 8 bits, below the exponents of their lowest bits, from -14 on. */
extern const uint32_t blr_srgb_parts[256];

/* Bytes of a pixel; 0 for a channel count that the format does not support. */
uint32_t blr_packed_size(const struct blr_packing *packing, uint32_t num_channels);

/* Converts a pixel to and from four bytes a channel. Normalized values are clamped, and NaN becomes 0 in them; all
 * values are rounded to nearest even; integers keep their low bits; unsigned floats clamp negative values to 0. Codes of
 * sRGB are not packed. */
void blr_unpack_pixel(const struct blr_packing *packing, uint32_t num_channels, const unsigned char *pixel,
                      unsigned char unpacked[BLR_MAX_PIXEL_SIZE]);
/* A pixel of ten bits as four codes of 16 bits, which samplers blend. */
void blr_unpack_to_words(const unsigned char *pixel, unsigned char unpacked[BLR_MAX_PIXEL_SIZE]);
void blr_pack_pixel(const struct blr_packing *packing, uint32_t num_channels,
                    const unsigned char unpacked[BLR_MAX_PIXEL_SIZE], unsigned char *pixel);

#endif
