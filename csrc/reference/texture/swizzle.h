/* Textures with a channel order that differs from the image's: processed a few items at a time. */
#ifndef BINDLESS_REFERENCE_TEXTURE_SWIZZLE_H
#define BINDLESS_REFERENCE_TEXTURE_SWIZZLE_H

#include "texture/texture.h"

void blr_run_swizzled(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                      struct blr_fault *fault);

/* The same without the swizzle: texture.c. */
void blr_run_plain(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                   struct blr_fault *fault);

#endif
