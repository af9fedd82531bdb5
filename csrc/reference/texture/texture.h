/* A texture: pixels of an image or of memory, their layout, and their sampler. Device functions use nothing else;
 * the runtime manages the ownership of pixels. */
#ifndef BINDLESS_REFERENCE_TEXTURE_TEXTURE_H
#define BINDLESS_REFERENCE_TEXTURE_TEXTURE_H

#include "bindless/reference.h"
#include "image/pixel_format.h"

#include <stdbool.h>
#include <stdint.h>

struct blr_texture_level {
    void *data;                           /* address of pixel (0, 0, 0); writable only for textures without a sampler */
    uint32_t width;
    uint32_t height;                      /* 1 for one dimension */
    uint32_t depth;                       /* 1 for one and two dimensions */
    uint64_t row_pitch;                   /* bytes */
    uint64_t slice_pitch;                 /* bytes between slices of a volume, or between layers */
};

/* Flags of blr_texture_init. */
#define BLR_TEXTURE_EXACT_FILTERING 1u    /* full float weights instead of the hardware's arithmetic */
#define BLR_TEXTURE_NO_AVX512 2u          /* the same results with fewer instruction sets: for tests */
#define BLR_TEXTURE_NO_VECTORS 4u

enum blr_fault_kind {
    BLR_FAULT_NONE = 0,
    BLR_FAULT_COORDINATES = 1,            /* a fetch or write outside the image */
    BLR_FAULT_LAYER = 2                   /* a layer of an array or a face of a cubemap that does not exist */
};

/* The first item of a call that was out of range. */
struct blr_fault {
    enum blr_fault_kind kind;
    uint64_t index;                       /* index of the item within the call */
    uint32_t dimensions;                  /* number of meaningful coordinates; 0 for sampling */
    int32_t coordinates[3];
    uint32_t layer;
};

struct blr_texture {
    /* given by the caller */
    blr_image_desc_t desc;
    uint32_t dimensions;                  /* dimensions of one image: 1, 2 or 3 */
    uint32_t num_levels;
    uint32_t num_layers;                  /* layers of an array, 6 for a cubemap, else 1 */
    struct blr_texture_level level[BLR_MAX_MIP_LEVELS];
    bool sampled;
    blr_sampler_desc_t sampler;           /* meaningful for sampled textures */
    uint32_t flags;
    bool swizzled;                        /* set by blr_texture_set_swizzle */
    uint8_t swizzle[BLR_MAX_CHANNELS];    /* channel of the image below num_channels, BLR_SWIZZLE_ZERO or _ONE */

    /* derived by blr_texture_init */
    const struct blr_format *format;
    uint32_t pixel_size;
    bool alone;                           /* neither layers nor mip levels */
    bool normalized;                      /* coordinates; always true for a mipmap */
    bool linear;
    bool mip_linear;
    bool seamless;
    unsigned int boundary[3];             /* enum bindless_boundary of the unit, EDGE where it lacks the addressing mode */
    unsigned int exact_boundary[3];       /* the same of exact filtering */
    int32_t lod_low;                      /* clamp of sampler and levels, in 1/256 of a level */
    int32_t lod_high;
    int32_t anisotropy_cap;               /* 256 log2 of the largest ratio; 0 for isotropic sampling */
    bool blends;                          /* filtering applies, even to a single texel: see docs/internals/numerics.md */
    _Alignas(16) unsigned char border[BLR_MAX_PIXEL_SIZE];   /* texels outside: zero, but for alpha of BC6H */
};

/* Fills texture from its description; levels are copied. sampler is NULL for an unsampled image. The caller has
 * checked the description, and that the levels cover it. Returns INVALID_FORMAT for a channel type or count that
 * does not exist. */
blr_result_t blr_texture_init(struct blr_texture *texture, const blr_image_desc_t *desc,
                              const struct blr_texture_level *levels, uint32_t num_levels,
                              const blr_sampler_desc_t *sampler, uint32_t flags);

/* Sets the source of each channel that kernels see; by default the image's channels, then 0. */
void blr_texture_set_swizzle(struct blr_texture *texture, const blr_swizzle_t swizzle[BLR_MAX_CHANNELS]);

/* Channels of a write's values. */
static inline uint32_t blr_texture_write_channels(const struct blr_texture *texture)
{
    return texture->swizzled ? BLR_MAX_CHANNELS : texture->desc.num_channels;
}

/* Runs items [begin, end) of a call on the calling thread. The arrays of the call are indexed with the item's
 * number, so that the same call can be split among threads. Every item is processed; an item out of range reads as 0
 * or is not written. *fault describes the first such item (kind NONE if there is none), and the result is
 * OUT_OF_RANGE. The runtime has checked that the call matches the texture: operation, type, pointers and value type. */
blr_result_t blr_texture_run(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin,
                             uint64_t end, struct blr_fault *fault);

#endif
