/* Images as numbers: create functions return the number itself, 0 after a failure. Python pays for every object
 * around a number, and reads the error only after a failure. */
#ifndef BINDLESS_DRIVER_CALLS_REFERENCE_IMAGE_H
#define BINDLESS_DRIVER_CALLS_REFERENCE_IMAGE_H

static uint64_t bindless_unsampled_image(blr_context_t context, uint64_t memory, const blr_image_desc_t *desc)
{
    blr_image_handle_t handle = 0;
    (void)blrUnsampledImageCreate(context, (blr_image_t)(uintptr_t)memory, desc, &handle);
    return handle;
}

static uint64_t bindless_sampled_image(blr_context_t context, uint64_t memory, const blr_image_desc_t *desc,
                                       const blr_sampler_desc_t *sampler)
{
    blr_image_handle_t handle = 0;
    (void)blrSampledImageCreate(context, (blr_image_t)(uintptr_t)memory, desc, sampler, &handle);
    return handle;
}

#endif
