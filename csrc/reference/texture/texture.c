/* Textures: initialisation from image and sampler descriptions, and execution of calls. */
#include "texture/texture.h"
#include "bindless/filter/boundary.h"
#include "sampler/sampler.h"
#include "texture/fetch_write.h"
#include "texture/projective_map.h"
#include "texture/swizzle.h"

#include <math.h>
#include <string.h>

/* floor(256 clamp), within the levels that any image has. */
static int32_t clamp_256(float clamp)
{
    if (!(clamp > 0.0f))
        return 0;
    return clamp < (float)BLR_MAX_MIP_LEVELS ? (int32_t)floorf(clamp * 256.0f) : BLR_MAX_MIP_LEVELS * 256;
}

/* The boundary of an addressing mode. NONE repeats; texels are repeated along normalized coordinates only. */
static unsigned int boundary_of(blr_addressing_t addressing, bool normalized, bool exact)
{
    switch (addressing) {
    case BLR_ADDRESSING_CLAMP_TO_EDGE: return BINDLESS_EDGE;
    case BLR_ADDRESSING_CLAMP_TO_BORDER: return BINDLESS_BORDER;
    case BLR_ADDRESSING_MIRRORED_REPEAT: return normalized ? BINDLESS_MIRRORED_REPEAT : BINDLESS_EDGE;
    case BLR_ADDRESSING_MIRROR: return normalized && exact ? BINDLESS_MIRROR : BINDLESS_EDGE;
    case BLR_ADDRESSING_EXTENT: return exact ? BINDLESS_EXTENT : BINDLESS_EDGE;
    case BLR_ADDRESSING_REPEAT:
    case BLR_ADDRESSING_NONE: break;
    }
    return normalized ? BINDLESS_REPEAT : BINDLESS_EDGE;
}

static void init_sampler(struct blr_texture *texture, const blr_sampler_desc_t *sampler)
{
    texture->sampled = true;
    texture->sampler = *sampler;
    texture->normalized = sampler->normalized_coordinates || texture->desc.type == BLR_IMAGE_MIPMAP;
    texture->linear = sampler->filtering == BLR_FILTERING_LINEAR;
    texture->mip_linear = sampler->mipmap_filtering == BLR_FILTERING_LINEAR;
    texture->seamless = sampler->cubemap_filtering == BLR_CUBEMAP_SEAMLESS;
    uint32_t axes = texture->desc.type == BLR_IMAGE_CUBEMAP ? 2 : texture->dimensions;
    for (uint32_t d = 0; d < 3; d++) {
        blr_addressing_t addressing = d < axes ? sampler->addressing[d] : BLR_ADDRESSING_CLAMP_TO_EDGE;
        texture->boundary[d] = boundary_of(addressing, texture->normalized, false);
        texture->exact_boundary[d] = boundary_of(addressing, texture->normalized, true);
    }
    int32_t last = 256 * ((int32_t)texture->num_levels - 1);
    int32_t low = clamp_256(sampler->min_mipmap_level_clamp), high = clamp_256(sampler->max_mipmap_level_clamp);
    texture->lod_low = low < last ? low : last;
    texture->lod_high = high < last ? high : last;
    texture->anisotropy_cap = texture->dimensions < 3 ? blr_anisotropy_cap(sampler->max_anisotropy) : 0;
    texture->blends = texture->linear || texture->anisotropy_cap || (texture->mip_linear && texture->num_levels > 1);
}

blr_result_t blr_texture_init(struct blr_texture *texture, const blr_image_desc_t *desc,
                              const struct blr_texture_level *levels, uint32_t num_levels,
                              const blr_sampler_desc_t *sampler, uint32_t flags)
{
    memset(texture, 0, sizeof *texture);
    texture->desc = *desc;
    texture->format = blr_format_get(desc->channel_type);
    texture->pixel_size = blr_pixel_size(desc->channel_type, desc->num_channels);
    if (!texture->pixel_size)
        return BLR_RESULT_INVALID_FORMAT;
    texture->dimensions = desc->depth ? 3 : desc->height ? 2 : 1;
    texture->num_levels = num_levels;
    texture->num_layers = desc->type == BLR_IMAGE_ARRAY ? desc->array_size : desc->type == BLR_IMAGE_CUBEMAP ? 6 : 1;
    texture->flags = flags;
    texture->alone = desc->type == BLR_IMAGE_STANDARD;
    memcpy(texture->level, levels, num_levels * sizeof *levels);
    if (sampler)
        init_sampler(texture, sampler);
    return BLR_RESULT_SUCCESS;
}

static void sample_span(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end)
{
    if (texture->flags & BLR_TEXTURE_EXACT_FILTERING)
        blr_sample_exact_items(texture, call, begin, end);
    else
        blr_sample_items(texture, call, begin, end);
}

static void clear_item(const blr_image_call_t *call, uint64_t index)
{
    size_t size = (size_t)blr_element_size(call->value_type) * call->value_channels;
    memset((unsigned char *)call->values + index * size, 0, size);
}

/* Samples a range of items. An invalid layer is the only possible fault: the spans between such items are sampled. */
static void sample(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                   struct blr_fault *fault)
{
    if (texture->desc.type != BLR_IMAGE_ARRAY || (!call->layers && call->layer < texture->num_layers)) {
        sample_span(texture, call, begin, end);
        return;
    }
    uint64_t span = begin;
    for (uint64_t index = begin; index < end; index++) {
        uint32_t layer = blr_item_layer(call, index);
        if (layer < texture->num_layers)
            continue;
        if (fault->kind == BLR_FAULT_NONE) {
            fault->kind = BLR_FAULT_LAYER;
            fault->index = index;
            fault->layer = layer;
        }
        sample_span(texture, call, span, index);
        clear_item(call, index);
        span = index + 1;
    }
    sample_span(texture, call, span, end);
}

void blr_run_plain(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                   struct blr_fault *fault)
{
    switch (call->operation) {
    case BLR_OPERATION_FETCH:
        blr_fetch_items(texture, call, begin, end, fault);
        break;
    case BLR_OPERATION_WRITE:
        blr_write_items(texture, call, begin, end, fault);
        break;
    case BLR_OPERATION_SAMPLE:
    case BLR_OPERATION_SAMPLE_LOD:
    case BLR_OPERATION_SAMPLE_GRADIENT:
        sample(texture, call, begin, end, fault);
        break;
    }
}

blr_result_t blr_texture_run(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin,
                             uint64_t end, struct blr_fault *fault)
{
    memset(fault, 0, sizeof *fault);
    if (blr_call_is_mapped(call))
        blr_run_mapped(texture, call, begin, end, fault);
    else if (texture->swizzled)
        blr_run_swizzled(texture, call, begin, end, fault);
    else
        blr_run_plain(texture, call, begin, end, fault);
    return fault->kind == BLR_FAULT_NONE ? BLR_RESULT_SUCCESS : BLR_RESULT_OUT_OF_RANGE;
}
