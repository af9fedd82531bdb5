/*
 * Pixels whose channels are fields of bits: what Level Zero has beside the twelve channel types of bindless images.
 *
 * They are unpacked to four bytes a channel, floats or integers, before anything is done with them: filtering is that of
 * fp32. Nothing here is fast; images of other formats do not come by.
 */
#ifndef BLR_FORMAT_PACKED_H
#define BLR_FORMAT_PACKED_H

#include "format.h"

enum blr_packed_class {
    BLR_PACKED_UNORM,
    BLR_PACKED_SNORM,
    BLR_PACKED_INTEGER,
    BLR_PACKED_SIGNED,
    BLR_PACKED_FLOAT
};

struct blr_packed_field {
    uint8_t shift;                        /* of the lowest bit in the word */
    uint8_t bits;
    uint8_t class;                        /* enum blr_packed_class */
};

struct blr_packing {
    uint8_t word_size;                    /* bytes: 2 or 4 */
    uint8_t count;                        /* channels of a word; 1: a word for each channel */
    struct blr_packed_field field[BLR_MAX_CHANNELS];
};

extern const struct blr_packing blr_packing_snorm32, blr_packing_unorm32, blr_packing_unorm_10_10_10_2,
    blr_packing_snorm_10_10_10_2, blr_packing_unsigned_10_10_10_2, blr_packing_signed_10_10_10_2,
    blr_packing_fp_10_10_10_2, blr_packing_fp_11_11_10, blr_packing_unorm_5_6_5, blr_packing_unorm_5_5_5_1,
    blr_packing_unorm_4_4_4_4;

/* Bytes of a pixel; 0 for a number of channels that it cannot have. */
uint32_t blr_packed_size(const struct blr_packing *packing, uint32_t num_channels);

/* A pixel to and from four bytes a channel. Normalized values are clamped, NaN is 0 in them; everything is rounded to
 * nearest even, integers keep their low bits; floats without a sign take what is below 0 as 0. */
void blr_unpack_pixel(const struct blr_packing *packing, uint32_t num_channels, const unsigned char *pixel,
                      unsigned char unpacked[BLR_MAX_PIXEL_SIZE]);
void blr_pack_pixel(const struct blr_packing *packing, uint32_t num_channels,
                    const unsigned char unpacked[BLR_MAX_PIXEL_SIZE], unsigned char *pixel);

#endif
