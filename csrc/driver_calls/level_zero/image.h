/* Image memory as one call: creation of a bindless image, which kernels can use without a parameter. */
#ifndef BINDLESS_DRIVER_CALLS_LEVEL_ZERO_IMAGE_H
#define BINDLESS_DRIVER_CALLS_LEVEL_ZERO_IMAGE_H

static ze_result_t bindless_image_create(ze_context_handle_t context, ze_device_handle_t device,
                                         const ze_image_desc_t *format, uint64_t width, uint32_t height, uint32_t depth,
                                         uint32_t layers, bindless_image_t *image)
{
    const ze_image_bindless_exp_desc_t bindless = {
        .stype = ZE_STRUCTURE_TYPE_BINDLESS_IMAGE_EXP_DESC,
        .flags = ZE_IMAGE_BINDLESS_EXP_FLAG_BINDLESS,
    };
    ze_image_desc_t desc = *format;
    desc.pNext = &bindless;
    desc.width = width;
    desc.height = height;
    desc.depth = depth;
    desc.arraylevels = layers;
    image->created = 0;
    ze_result_t result = zeImageCreate(context, device, &desc, &image->image);
    if (result != ZE_RESULT_SUCCESS) {
        return result;
    }
    image->created = 1;
    result = zeContextMakeImageResident(context, device, image->image);
    if (result != ZE_RESULT_SUCCESS) {
        (void)zeImageDestroy(image->image);
    }
    return result;
}

#endif
