/* Fetches and writes: integer coordinates, no filtering. */
#ifndef BINDLESS_REFERENCE_TEXTURE_FETCH_WRITE_H
#define BINDLESS_REFERENCE_TEXTURE_FETCH_WRITE_H

#include "texture/texture.h"

void blr_fetch_items(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                     struct blr_fault *fault);
void blr_write_items(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                     struct blr_fault *fault);

/* The same item by item: covers every texture, and identifies the first item out of range. */
void blr_fetch_items_plain(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                           struct blr_fault *fault);
void blr_write_items_plain(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                           struct blr_fault *fault);

#endif
