/*
 * Image memory: the pixels of a standard image, a mipmap, an array or a cubemap. They are allocated, packed and zeroed,
 * or adopted from other memory.
 *
 * An image of blocks has its decoded texels besides: copies that write blocks decode them (image/blocks/block_texels.h).
 *
 * Each level of a mipmap is an image too. It retains the mipmap's pixels; destroying the mipmap invalidates its handle.
 */
#ifndef BINDLESS_REFERENCE_IMAGE_IMAGE_MEMORY_H
#define BINDLESS_REFERENCE_IMAGE_IMAGE_MEMORY_H

#include "platform/heap.h"
#include "runtime/context.h"
#include "texture/texture.h"

struct blr_image {
    struct blr_object object;
    struct blr_context *context; /* retained */
    blr_image_desc_t desc;
    struct blr_image *mipmap;    /* of a level image: its mipmap, retained */
    uint64_t level_ids[BLR_MAX_MIP_LEVELS]; /* of a mipmap: its level images, created and closed with it */
    struct blr_pages pages;      /* own memory; empty for a level and for adopted pixels */
    void (*release)(void *owner); /* frees adopted pixels, else NULL */
    void *owner;
    struct blr_texture_level level[BLR_MAX_MIP_LEVELS];  /* of blocks: their rows and columns */
    struct blr_texture_level texels[BLR_MAX_MIP_LEVELS]; /* decoded, of an image of blocks */
};

/* Number of levels, layers (or 1) and dimensions of a valid description. */
uint32_t blr_image_dimensions(const blr_image_desc_t *desc);
uint32_t blr_image_layers(const blr_image_desc_t *desc);

/* Checks that the device can create an image of this description. */
blr_result_t blr_image_check_desc(const blr_image_desc_t *desc);

/* Creates an image of existing pixels at the addresses in levels, from a checked description. release is called with
 * owner after the last use of the pixels; on failure they stay the caller's. */
blr_result_t blr_image_adopt(struct blr_context *context, const blr_image_desc_t *desc, const struct blr_texture_level *levels,
                             void (*release)(void *owner), void *owner, blr_image_t *handle);

struct blr_image *blr_image_acquire(blr_image_t handle);
void blr_image_retain(struct blr_image *image);
void blr_image_release(struct blr_image *image);

#endif
