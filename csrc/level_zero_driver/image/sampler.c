/* Samplers: creation, checks and destruction. */

#include "level_zero_driver/image/sampler.h"

#include "level_zero_driver/driver/driver.h"
#include "reference/spirv/parse/module.h"
#include "level_zero_driver/core/descriptor_chain.h"

ze_result_t blz_sampler_check(const ze_sampler_desc_t *desc)
{
    if ((unsigned)desc->addressMode > ZE_SAMPLER_ADDRESS_MODE_MIRROR)
        return blz_fail_enumeration("desc->addressMode", desc->addressMode,
                                    "ZE_SAMPLER_ADDRESS_MODE_NONE (0) to _MIRROR (4) are known");
    if ((unsigned)desc->filterMode > ZE_SAMPLER_FILTER_MODE_LINEAR)
        return blz_fail_enumeration("desc->filterMode", desc->filterMode,
                                    "ZE_SAMPLER_FILTER_MODE_NEAREST (0) and _LINEAR (1) are known");
    return ZE_RESULT_SUCCESS;
}

blr_sampler_desc_t blz_sampler_translate(const ze_sampler_desc_t *desc)
{
    static const blr_addressing_t modes[] = {
        [ZE_SAMPLER_ADDRESS_MODE_NONE] = BLR_ADDRESSING_NONE,
        [ZE_SAMPLER_ADDRESS_MODE_REPEAT] = BLR_ADDRESSING_REPEAT,
        [ZE_SAMPLER_ADDRESS_MODE_CLAMP] = BLR_ADDRESSING_CLAMP_TO_EDGE,
        [ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER] = BLR_ADDRESSING_CLAMP_TO_BORDER,
        [ZE_SAMPLER_ADDRESS_MODE_MIRROR] = BLR_ADDRESSING_MIRRORED_REPEAT,
    };
    blr_addressing_t mode = modes[desc->addressMode];
    return (blr_sampler_desc_t){
        .addressing = {mode, mode, mode},
        .normalized_coordinates = desc->isNormalized != 0,
        .filtering = desc->filterMode == ZE_SAMPLER_FILTER_MODE_LINEAR ? BLR_FILTERING_LINEAR : BLR_FILTERING_NEAREST,
    };
}

static void destroy(struct blr_object *object)
{
    struct blz_sampler *sampler = (struct blz_sampler *)object;
    blz_context_release(sampler->context);
    blr_delete(sampler);
}

ze_result_t zeSamplerCreate(ze_context_handle_t context_handle, ze_device_handle_t device_handle,
                            const ze_sampler_desc_t *desc, ze_sampler_handle_t *handle)
{
    struct blz_context *context;
    struct blz_device *device;
    ze_result_t result = blz_place_acquire(context_handle, device_handle, &context, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_SAMPLER_DESC, "desc", NULL, 0);
    if (result == ZE_RESULT_SUCCESS && handle == NULL)
        result = blz_fail_null("phSampler");
    if (result == ZE_RESULT_SUCCESS)
        result = blz_sampler_check(desc);
    struct blz_sampler *sampler = NULL;
    if (result == ZE_RESULT_SUCCESS && (sampler = blr_new(sizeof *sampler)) == NULL)
        result = blz_fail_memory("a sampler");
    if (result != ZE_RESULT_SUCCESS) {
        blz_context_release(context);
        return result;
    }
    /* The addressing modes by SPIR-V's numbers: none, to edge, to border, repeat, mirrored. */
    static const uint64_t modes[] = {0, 3, 1, 2, 4};
    sampler->context = context;
    sampler->number = BLR_CONSTANT_SAMPLER(modes[desc->addressMode], (uint64_t)(desc->isNormalized != 0), (uint64_t)desc->filterMode);
    return blz_register(&sampler->object, BLR_KIND_ZE_SAMPLER, destroy, handle);
}

ze_result_t zeSamplerDestroy(ze_sampler_handle_t handle) { return blz_destroy(handle, BLR_KIND_ZE_SAMPLER); }
