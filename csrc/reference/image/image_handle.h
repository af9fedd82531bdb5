/*
 * Image handles: 64-bit numbers that name a texture over an image or over linear memory for device functions.
 *
 * The texture retains its memory. Looking up a handle takes no lock.
 */
#ifndef BINDLESS_REFERENCE_IMAGE_IMAGE_HANDLE_H
#define BINDLESS_REFERENCE_IMAGE_IMAGE_HANDLE_H

#include "image/image_memory.h"
#include "memory/allocation.h"

struct blr_image_view {
    struct blr_object object;
    struct blr_context *context;      /* retained */
    struct blr_image *image;          /* retained, or NULL */
    struct blr_allocation *memory;    /* retained, or NULL */
    struct blr_texture texture;
};

/* The view of a handle with a reference added, or NULL after blr_fail. */
struct blr_image_view *blr_image_view_acquire(blr_image_handle_t handle);
void blr_image_view_release(struct blr_image_view *view);

/* Creates a handle over image or memory, one of which is NULL; the handle adds its own references. sampler is NULL
 * for an unsampled handle, swizzle for the identity. */
blr_result_t blr_image_view_make(struct blr_context *context, struct blr_image *image, struct blr_allocation *memory,
                                 const blr_image_desc_t *desc, const struct blr_texture_level *levels,
                                 const blr_sampler_desc_t *sampler, const blr_swizzle_t *swizzle,
                                 blr_image_handle_t *handle);

#endif
