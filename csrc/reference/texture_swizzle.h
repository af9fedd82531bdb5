/* Textures whose channels are in another order in kernels than in the image: a handful of items at a time. */
#ifndef BLR_TEXTURE_SWIZZLE_H
#define BLR_TEXTURE_SWIZZLE_H

#include "texture.h"

void blr_run_swizzled(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                      struct blr_fault *fault);

/* The same without regard to a swizzle: texture.c. */
void blr_run_plain(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                   struct blr_fault *fault);

#endif
