/*
 * Compressed pixels: blocks of 4 x 4 texels in 8 or 16 bytes, BC1 to BC7.
 *
 * A block is decoded to texels of a plain format, whose sampling has then the arithmetic of the block's:
 * docs/internals/numerics.md. The texels of sRGB formats are the codes; their conversion belongs to the sampler.
 */
#ifndef BINDLESS_REFERENCE_IMAGE_BLOCKS_BLOCK_FORMAT_H
#define BINDLESS_REFERENCE_IMAGE_BLOCKS_BLOCK_FORMAT_H

#include "bindless/reference.h"

#include <stdbool.h>
#include <stdint.h>

#define BLR_BLOCK_SIDE 4u
#define BLR_BLOCK_TEXELS 16u
#define BLR_MAX_BLOCK_TEXEL_SIZE 8u       /* bytes of a decoded texel */

struct blr_block_format {
    uint32_t block_size;                  /* bytes of a block */
    blr_channel_type_t texel;             /* channel type of a decoded texel */
    uint32_t num_channels;                /* its channels; the fourth of BC6H is 1 */
    bool srgb;                            /* red, green and blue are sRGB codes */
    void (*decode)(const unsigned char *block, void *texels);
};

/* The format of a channel type, or NULL for one without blocks. */
const struct blr_block_format *blr_block_format_get(blr_channel_type_t channel_type);

/* Decoders: 16 texels, rows from the top, packed. Every pattern of bits is a valid block. */
void blr_decode_bc1(const unsigned char *block, void *texels);       /* uint8_t[16][4] */
void blr_decode_bc2(const unsigned char *block, void *texels);       /* uint8_t[16][4] */
void blr_decode_bc3(const unsigned char *block, void *texels);       /* uint8_t[16][4] */
void blr_decode_bc4_unorm(const unsigned char *block, void *texels); /* uint16_t[16] */
void blr_decode_bc4_snorm(const unsigned char *block, void *texels); /* int16_t[16] */
void blr_decode_bc5_unorm(const unsigned char *block, void *texels); /* uint16_t[16][2] */
void blr_decode_bc5_snorm(const unsigned char *block, void *texels); /* int16_t[16][2] */
void blr_decode_bc6h_ufloat(const unsigned char *block, void *texels); /* halves: uint16_t[16][4] */
void blr_decode_bc6h_sfloat(const unsigned char *block, void *texels); /* halves: uint16_t[16][4] */
void blr_decode_bc7(const unsigned char *block, void *texels);       /* uint8_t[16][4] */

#endif
