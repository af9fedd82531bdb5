/* Checks of sampler descriptions. */
#include "image/sampler_limits.h"

#include "runtime/device.h"
#include "image/pixel_format.h"

#include <math.h>

static blr_result_t check_values(const blr_sampler_desc_t *sampler)
{
    for (int i = 0; i < 3; i++)
        if ((unsigned)sampler->addressing[i] > BLR_ADDRESSING_EXTENT)
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "addressing[%d] is %d: REPEAT (0) to EXTENT (6) is needed", i,
                            (int)sampler->addressing[i]);
    if (sampler->normalized_coordinates > 1)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "normalized_coordinates is %u: 0 or 1 is needed",
                        sampler->normalized_coordinates);
    if ((unsigned)sampler->filtering > BLR_FILTERING_LINEAR || (unsigned)sampler->mipmap_filtering > BLR_FILTERING_LINEAR)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "filtering is %d and mipmap_filtering %d: NEAREST (0) or LINEAR (1) is needed",
                        (int)sampler->filtering, (int)sampler->mipmap_filtering);
    if ((unsigned)sampler->cubemap_filtering > BLR_CUBEMAP_SEAMLESS)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "cubemap_filtering is %d: DISJOINTED (0) or SEAMLESS (1) is needed",
                        (int)sampler->cubemap_filtering);
    if (!isfinite(sampler->min_mipmap_level_clamp) || !isfinite(sampler->max_mipmap_level_clamp))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the mipmap level clamps are %g and %g: finite levels are needed",
                        (double)sampler->min_mipmap_level_clamp, (double)sampler->max_mipmap_level_clamp);
    if (!(sampler->max_anisotropy >= 0.0f) || isinf(sampler->max_anisotropy))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "max_anisotropy is %g: a ratio of 0 or more is needed",
                        (double)sampler->max_anisotropy);
    return BLR_RESULT_SUCCESS;
}

blr_result_t blr_sampler_check(const blr_sampler_desc_t *sampler, const blr_image_desc_t *desc,
                               blr_sampler_desc_t *effective)
{
    blr_result_t result = blr_sampler_check_view(sampler, desc, effective);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    const struct blr_format *format = blr_format_get(desc->channel_type);
    bool linear = sampler->filtering == BLR_FILTERING_LINEAR ||
                  (desc->type == BLR_IMAGE_MIPMAP && sampler->mipmap_filtering == BLR_FILTERING_LINEAR);
    if (linear && !format->filterable)
        return blr_fail(BLR_RESULT_UNSUPPORTED,
                        "linear filtering of %s: 32-bit integers cannot be filtered, sample them with NEAREST",
                        format->name);
    return BLR_RESULT_SUCCESS;
}

blr_result_t blr_sampler_check_view(const blr_sampler_desc_t *sampler, const blr_image_desc_t *desc,
                                    blr_sampler_desc_t *effective)
{
    if (sampler == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "sampler is NULL: a sampled image needs one");
    blr_result_t result = check_values(sampler);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    bool mipmap = desc->type == BLR_IMAGE_MIPMAP;
    if (mipmap && !sampler->normalized_coordinates)
        return blr_fail(BLR_RESULT_UNSUPPORTED,
                        "unnormalized coordinates of a mipmap: set normalized_coordinates, or sample one level");
    if (mipmap && sampler->max_mipmap_level_clamp > (float)desc->num_levels)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "max_mipmap_level_clamp is %g: the mipmap has %u levels",
                        (double)sampler->max_mipmap_level_clamp, desc->num_levels);
    *effective = *sampler;
    if (effective->max_anisotropy > BLR_MAX_ANISOTROPY)
        effective->max_anisotropy = BLR_MAX_ANISOTROPY;
    return BLR_RESULT_SUCCESS;
}
