/* Level of detail: the sampler's clamps, and the split into two mip levels with their weights. */
#include "sampler/sampler.h"

int32_t blr_lod_from_float(float lod)
{
    if (!(lod > -4096.0f))
        return lod <= -4096.0f ? -4096 * 256 : 0;       /* NaN is level 0 */
    return lod < 4096.0f ? (int32_t)(lod * 256.0f) : 4096 * 256;
}

int32_t blr_lod_clamp(const struct blr_texture *texture, int32_t lod)
{
    int32_t lowered = lod > texture->lod_high ? texture->lod_high : lod;
    return lowered < texture->lod_low ? texture->lod_low : lowered;
}

struct blr_level_pair blr_lod_split(const struct blr_texture *texture, int32_t clamped_lod)
{
    struct blr_level_pair pair = {(uint32_t)clamped_lod >> 8, clamped_lod & 255};
    if (!texture->mip_linear) {
        pair.level = (uint32_t)(clamped_lod + 128) >> 8;
        pair.fraction = 0;
    }
    if (pair.level >= texture->num_levels - 1) {
        pair.level = texture->num_levels - 1;
        pair.fraction = 0;
    }
    return pair;
}
