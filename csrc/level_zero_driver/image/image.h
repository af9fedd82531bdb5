/* Images: an allocation with a row pitch and a slice pitch, and the handles that kernels use. A view shares the
 * memory of another image; a pitched image uses an allocation of the caller. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_IMAGE_IMAGE_H
#define BINDLESS_LEVEL_ZERO_DRIVER_IMAGE_IMAGE_H

#include "level_zero_driver/image/format.h"
#include "level_zero_driver/memory/allocation.h"

#define BLZ_IMAGE_PITCH_ALIGN 64u /* zeMemGetPitchFor2dImage returns multiples of it */
#define BLZ_IMAGE_MAX_PITCH UINT32_MAX
#define BLZ_IMAGE_BASE_ALIGN 64u

struct blz_image {
    struct blr_object object;
    struct blz_context *context;       /* retained */
    struct blz_device *device;
    ze_image_desc_t desc;              /* the descriptor that created it, without its chain */
    struct blz_format format;
    blr_image_desc_t reference;        /* the same description for the reference driver */
    struct blr_allocation *allocation; /* retained: the pixels */
    unsigned char *pixels;
    bool owns;                         /* the image frees the allocation */
    uint64_t row_pitch, slice_pitch;   /* bytes; a 1D array has one line per slice */
    uint32_t width, rows, slices;      /* pixels */
    uint64_t size;                     /* bytes, from the first pixel to the end of the last */
    bool bindless;
    blr_image_handle_t plain;          /* for kernels that read, write, or sample with their own sampler */
    blr_image_handle_t sampled;        /* with the image's sampler, or 0 */
};

/* Checks a description and fills all members of an image except those that locate its pixels. Pitches may be 0. */
ze_result_t blz_image_describe(struct blz_image *image, const ze_image_desc_t *desc, uint64_t row_pitch,
                               uint64_t slice_pitch);

ze_result_t blz_image_acquire(ze_image_handle_t handle, struct blz_image **image);
static inline void blz_image_release(struct blz_image *image) { blr_object_release(&image->object); }

#endif
