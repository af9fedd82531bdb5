/*
 * What device functions are given: a texture over an image or over memory, named by a 64-bit number.
 *
 * The texture keeps what it reads alive. Looking one up takes no lock.
 */
#ifndef BLR_IMAGE_HANDLE_H
#define BLR_IMAGE_HANDLE_H

#include "image.h"
#include "memory.h"

struct blr_image_view {
    struct blr_object object;
    struct blr_context *context;      /* retained */
    struct blr_image *image;          /* retained, or NULL */
    struct blr_allocation *memory;    /* retained, or NULL */
    struct blr_texture texture;
};

/* With a reference added, or NULL after blr_fail. */
struct blr_image_view *blr_image_view_acquire(blr_image_handle_t handle);
void blr_image_view_release(struct blr_image_view *view);

#endif
