/* Image queries: limits, format support, memory properties and residency. */
#include "level_zero_driver/memory/external_memory.h"
#include "level_zero_driver/image/image.h"
#include "reference/runtime/device.h"
#include "level_zero_driver/core/descriptor_chain.h"

#include <inttypes.h>

#define MAX_IMAGE_ARGUMENTS 128u
#define MAX_SAMPLERS 16u /* sampler arguments of a kernel */

ze_result_t zeDeviceGetImageProperties(ze_device_handle_t handle, ze_device_image_properties_t *properties)
{
    struct blz_device *device;
    ze_result_t result = blz_device_check(handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_properties(properties, ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES, "pImageProperties");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    *properties = (ze_device_image_properties_t){
        .stype = properties->stype,
        .pNext = properties->pNext,
        .maxImageDims1D = BLR_MAX_IMAGE_1D_WIDTH,
        .maxImageDims2D = BLR_MAX_IMAGE_2D_HEIGHT, /* the height limit, which is below the width limit */
        .maxImageDims3D = BLR_MAX_IMAGE_3D_EXTENT,
        .maxImageBufferSize = BLR_MAX_LINEAR_1D_WIDTH,
        .maxImageArraySlices = BLR_MAX_LAYERS,
        .maxSamplers = MAX_SAMPLERS,
        .maxReadImageArgs = MAX_IMAGE_ARGUMENTS,
        .maxWriteImageArgs = MAX_IMAGE_ARGUMENTS,
    };
    ze_device_pitched_alloc_exp_properties_t *pitched =
        blz_property_chained(properties, ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES, ZE_STRUCTURE_TYPE_PITCHED_ALLOC_DEVICE_EXP_PROPERTIES);
    if (pitched != NULL) {
        pitched->maxImageLinearWidth = BLR_MAX_LINEAR_WIDTH;
        pitched->maxImageLinearHeight = BLR_MAX_LINEAR_HEIGHT;
    }
    ze_pitched_alloc_2dimage_linear_pitch_exp_info_t *pitch = blz_property_chained(
        properties, ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES, ZE_STRUCTURE_TYPE_PITCHED_ALLOC_2DIMAGE_LINEAR_PITCH_EXP_INFO);
    if (pitch != NULL) {
        pitch->pitchAlign = BLZ_IMAGE_PITCH_ALIGN;
        pitch->maxSupportedPitch = BLZ_IMAGE_MAX_PITCH;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeImageGetProperties(ze_device_handle_t handle, const ze_image_desc_t *desc, ze_image_properties_t *properties)
{
    struct blz_device *device;
    struct blz_image image = {.context = NULL};
    ze_result_t result = blz_device_check(handle, &device);
    if (result == ZE_RESULT_SUCCESS) /* chained structs do not change the answer */
        result = blz_structure(desc, ZE_STRUCTURE_TYPE_IMAGE_DESC, "desc");
    if (result == ZE_RESULT_SUCCESS)
        result = blz_properties(properties, ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES, "pImageProperties");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_image_describe(&image, desc, 0, 0);
    ze_image_format_support_ext_properties_t *support =
        blz_property_chained(properties, ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES, ZE_STRUCTURE_TYPE_IMAGE_FORMAT_SUPPORT_EXT_PROPERTIES);
    properties->samplerFilterFlags = 0;
    if (support != NULL) {
        support->supported = result == ZE_RESULT_SUCCESS;
        if (result == ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT) /* an unsupported format is an answer, not a failure */
            return ZE_RESULT_SUCCESS;
    }
    if (result == ZE_RESULT_SUCCESS)
        properties->samplerFilterFlags = ZE_IMAGE_SAMPLER_FILTER_FLAG_POINT | ZE_IMAGE_SAMPLER_FILTER_FLAG_LINEAR;
    return result;
}

ze_result_t zeImageGetMemoryPropertiesExp(ze_image_handle_t handle, ze_image_memory_properties_exp_t *properties)
{
    struct blz_image *image;
    ze_result_t result = blz_image_acquire(handle, &image);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_properties(properties, ZE_STRUCTURE_TYPE_IMAGE_MEMORY_EXP_PROPERTIES, "pMemoryProperties");
    if (result == ZE_RESULT_SUCCESS) {
        properties->size = image->size;
        properties->rowPitch = image->row_pitch;
        properties->slicePitch = image->slice_pitch;
    }
    blz_image_release(image);
    return result;
}

ze_result_t zeImageGetAllocPropertiesExt(ze_context_handle_t context_handle, ze_image_handle_t handle,
                                         ze_image_allocation_ext_properties_t *properties)
{
    struct blz_context *context;
    struct blz_image *image;
    ze_result_t result = blz_context_acquire(context_handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_image_acquire(handle, &image);
    if (result == ZE_RESULT_SUCCESS) {
        struct blr_allocation *allocation = NULL;
        struct blz_memory *memory = NULL;
        result = blz_properties(properties, ZE_STRUCTURE_TYPE_IMAGE_ALLOCATION_EXT_PROPERTIES, "pImageAllocProperties");
        if (result == ZE_RESULT_SUCCESS)
            result = blz_memory_find(context, image->pixels, &allocation, &memory);
        if (result == ZE_RESULT_SUCCESS) {
            ze_external_memory_export_fd_t *export =
                blz_property_chained(properties, ZE_STRUCTURE_TYPE_IMAGE_ALLOCATION_EXT_PROPERTIES,
                                     ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD);
            properties->id = memory == NULL ? 0 : memory->id;
            if (export != NULL)
                result = blz_external_export(memory == NULL ? NULL : memory->external, export);
        }
        blr_memory_release(allocation);
        blz_image_release(image);
    }
    blz_context_release(context);
    return result;
}

ze_result_t zeImageGetDeviceOffsetExp(ze_image_handle_t handle, uint64_t *offset)
{
    struct blz_image *image;
    ze_result_t result = blz_image_acquire(handle, &image);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (offset == NULL)
        result = blz_fail_null("pDeviceOffset");
    else if (!image->bindless)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the image is not bindless: chain a ze_image_bindless_exp_desc_t with ZE_IMAGE_BINDLESS_EXP_FLAG_BINDLESS "
                          "when it is created, or make a view with it");
    else
        *offset = image->sampled != 0 ? image->sampled : image->plain;
    blz_image_release(image);
    return result;
}

ze_result_t zeMemGetPitchFor2dImage(ze_context_handle_t context_handle, ze_device_handle_t device_handle, size_t width,
                                    size_t height, unsigned int element_size, size_t *row_pitch)
{
    struct blz_context *context;
    struct blz_device *device;
    ze_result_t result = blz_place_acquire(context_handle, device_handle, &context, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    blz_context_release(context);
    if (row_pitch == NULL)
        return blz_fail_null("rowPitch");
    if (width == 0 || height == 0 || width > BLR_MAX_LINEAR_WIDTH || height > BLR_MAX_LINEAR_HEIGHT)
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "an image of %zu x %zu pixels in memory: 1 x 1 to %u x %u are possible",
                        width, height, BLR_MAX_LINEAR_WIDTH, BLR_MAX_LINEAR_HEIGHT);
    if (element_size == 0 || element_size > 16)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "pixels of %u bytes: 1 to 16 are possible", element_size);
    uint64_t size = (uint64_t)width * element_size;
    *row_pitch = (size_t)((size + BLZ_IMAGE_PITCH_ALIGN - 1) / BLZ_IMAGE_PITCH_ALIGN * BLZ_IMAGE_PITCH_ALIGN);
    return ZE_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- residency */

/* All memory is resident: the call checks its parameters only. */
static ze_result_t check_residency(ze_context_handle_t context_handle, ze_device_handle_t device_handle, ze_image_handle_t handle)
{
    struct blz_context *context;
    struct blz_device *device;
    struct blz_image *image;
    ze_result_t result = blz_place_acquire(context_handle, device_handle, &context, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_image_acquire(handle, &image);
    if (result == ZE_RESULT_SUCCESS) {
        if (image->context != context)
            result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the image belongs to another context");
        blz_image_release(image);
    }
    blz_context_release(context);
    return result;
}

ze_result_t zeContextMakeImageResident(ze_context_handle_t context, ze_device_handle_t device, ze_image_handle_t image)
{
    return check_residency(context, device, image);
}

ze_result_t zeContextEvictImage(ze_context_handle_t context, ze_device_handle_t device, ze_image_handle_t image)
{
    return check_residency(context, device, image);
}
