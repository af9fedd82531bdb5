/* Decoded texels of images of blocks. */
#ifndef BINDLESS_REFERENCE_IMAGE_BLOCKS_BLOCK_TEXELS_H
#define BINDLESS_REFERENCE_IMAGE_BLOCKS_BLOCK_TEXELS_H

#include "image/blocks/block_format.h"
#include "image/image_memory.h"

/* The description of an image's texels, which textures sample: of an image of blocks the decoded ones. */
blr_image_desc_t blr_texels_describe(const blr_image_desc_t *desc);

/* The texel outside of such an image, of BLR_MAX_PIXEL_SIZE bytes that are zero: the alpha of BC6H, which blocks do not
 * hold, is 1 there too. */
void blr_texels_border(const blr_image_desc_t *desc, unsigned char *border);

/* Decodes a region of a standard image, an array or a cubemap of blocks, all threads of the pool; in blocks. */
void blr_texels_decode(const struct blr_image *image, const uint64_t first[3], const uint64_t extent[3]);

#endif
