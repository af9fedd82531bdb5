/*
 * Images: memory of the context's, rows and slices at a distance, and the handles by which kernels know it. A view has the
 * memory of another image; a pitched image that of an allocation.
 */
#ifndef BLZ_IMAGE_H
#define BLZ_IMAGE_H

#include "image_format.h"
#include "memory.h"

#define BLZ_IMAGE_PITCH_ALIGN 64u /* of memory for images: what zeMemGetPitchFor2dImage gives is a multiple of it */
#define BLZ_IMAGE_BASE_ALIGN 64u

struct blz_image {
    struct blr_object object;
    struct blz_context *context;       /* retained */
    struct blz_device *device;
    ze_image_desc_t desc;              /* of its maker; its chain is gone */
    struct blz_format format;
    blr_image_desc_t reference;        /* as the reference driver describes it */
    struct blr_allocation *allocation; /* retained: the pixels */
    unsigned char *pixels;
    bool owns;                         /* the allocation goes with the image */
    uint64_t row_pitch, slice_pitch;   /* bytes; an array of lines has one line a slice */
    uint32_t width, rows, slices;      /* pixels */
    uint64_t size;                     /* bytes, from the first pixel to the end of the last */
    bool bindless;
    blr_image_handle_t plain;          /* for kernels that read, write, or sample with a sampler of their own */
    blr_image_handle_t sampled;        /* with the image's sampler, or 0 */
};

/* Checks a description and fills all of an image but what says where its pixels are. pitches may be 0. */
ze_result_t blz_image_describe(struct blz_image *image, const ze_image_desc_t *desc, uint64_t row_pitch,
                               uint64_t slice_pitch);

ze_result_t blz_image_acquire(ze_image_handle_t handle, struct blz_image **image);
static inline void blz_image_release(struct blz_image *image) { blr_object_release(&image->object); }

#endif
