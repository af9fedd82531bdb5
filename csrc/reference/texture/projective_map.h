/* Pictures: calls whose coordinates follow from a map. They are generated and sampled part by part, as if they had
 * been given as an array. */
#ifndef BINDLESS_REFERENCE_TEXTURE_PROJECTIVE_MAP_H
#define BINDLESS_REFERENCE_TEXTURE_PROJECTIVE_MAP_H

#include "texture/texture.h"

/* Whether a call makes a picture. */
static inline bool blr_call_is_mapped(const blr_image_call_t *call)
{
    return call->map.width != 0;
}

/* Runs items [begin, end) of a call with a map, as blr_texture_run. */
void blr_run_mapped(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                    struct blr_fault *fault);

#endif
