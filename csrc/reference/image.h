/*
 * Image memory: the pixels of a standard image, a mipmap, an array or a cubemap, tightly packed and zero at first, or
 * pixels that lie elsewhere and were adopted.
 *
 * A level of a mipmap is an image of its own that keeps the mipmap's pixels; its handle dies with the mipmap's.
 */
#ifndef BLR_IMAGE_H
#define BLR_IMAGE_H

#include "allocate.h"
#include "context.h"
#include "texture.h"

struct blr_image {
    struct blr_object object;
    struct blr_context *context; /* retained */
    blr_image_desc_t desc;
    struct blr_image *mipmap;    /* retained, for one level of it */
    uint64_t level_ids[BLR_MAX_MIP_LEVELS]; /* of a mipmap: the level images, made with it, closed with it */
    struct blr_pages pages;      /* none for a level, and for adopted pixels */
    void (*release)(void *owner); /* of adopted pixels, else NULL */
    void *owner;
    struct blr_texture_level level[BLR_MAX_MIP_LEVELS];
};

/* Levels, layers (or 1), and dimensions of a valid description. */
uint32_t blr_image_dimensions(const blr_image_desc_t *desc);
uint32_t blr_image_layers(const blr_image_desc_t *desc);

/* Whether an image of this description can be made on the device. */
blr_result_t blr_image_check_desc(const blr_image_desc_t *desc);

/* Makes an image of pixels that lie elsewhere, as levels say: a checked description. release is called with owner once nothing
 * uses them any more; when this fails they are still the caller's. */
blr_result_t blr_image_adopt(struct blr_context *context, const blr_image_desc_t *desc, const struct blr_texture_level *levels,
                             void (*release)(void *owner), void *owner, blr_image_t *handle);

struct blr_image *blr_image_acquire(blr_image_t handle);
void blr_image_retain(struct blr_image *image);
void blr_image_release(struct blr_image *image);

#endif
