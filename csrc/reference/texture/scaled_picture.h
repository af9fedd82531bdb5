/* Enlarged pictures of bytes and floats: a map that scales each axis gives all rows the same columns, which are addressed once. */
#ifndef BINDLESS_REFERENCE_TEXTURE_SCALED_PICTURE_H
#define BINDLESS_REFERENCE_TEXTURE_SCALED_PICTURE_H

#include "texture/texture.h"

struct blr_map_rows;

/* Runs items [begin, end) of a call with a map, if they make an enlarged picture of unsigned normalized bytes or of floats;
 * false where they do not, or where the general way is as good. The values are those of single samples. */
bool blr_run_scaled(const struct blr_texture *texture, const struct blr_map_rows *rows, const blr_image_call_t *call,
                    uint64_t begin, uint64_t end);

#endif
