/* Contexts: creation, properties and destruction. */

#include "level_zero_driver/driver/context.h"

#include "level_zero_driver/core/descriptor_chain.h"

static void destroy(struct blr_object *object) { blr_delete(object); }

static ze_result_t create(bool permanent, ze_context_handle_t *handle)
{
    struct blz_context *context = blr_new(sizeof *context);
    if (context == NULL)
        return blz_fail_memory("a context");
    context->permanent = permanent;
    context->native = blz_driver()->native_context;
    context->reference = blz_driver()->reference;
    return blz_register(&context->object, BLR_KIND_ZE_CONTEXT, destroy, handle);
}

ze_result_t blz_context_create_permanent(ze_context_handle_t *handle) { return create(true, handle); }

ze_result_t blz_context_acquire(ze_context_handle_t handle, struct blz_context **context)
{
    return blz_acquire(handle, BLR_KIND_ZE_CONTEXT, context);
}

ze_result_t blz_place_acquire(ze_context_handle_t context_handle, ze_device_handle_t device_handle, struct blz_context **context,
                              struct blz_device **device)
{
    ze_result_t result = blz_context_acquire(context_handle, context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_device_check(device_handle, device);
    if (result != ZE_RESULT_SUCCESS)
        blz_context_release(*context);
    return result;
}

ze_result_t zeContextCreateEx(ze_driver_handle_t driver_handle, const ze_context_desc_t *desc, uint32_t count,
                              ze_device_handle_t *devices, ze_context_handle_t *handle)
{
    struct blr_object *driver;
    ze_result_t result = blz_acquire(driver_handle, BLR_KIND_ZE_DRIVER, &driver);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    blr_object_release(driver);
    struct blz_extension extensions[] = {{ZE_STRUCTURE_TYPE_POWER_SAVING_HINT_EXP_DESC, NULL}};
    result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_CONTEXT_DESC, "desc", extensions, 1);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (handle == NULL)
        return blz_fail_null("phContext");
    if ((desc->flags & ~(uint32_t)ZE_CONTEXT_FLAG_TBD) != 0)
        return blz_fail_enumeration("desc->flags", desc->flags, "no flags are known");
    if (count > 0 && devices == NULL)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "phDevices is NULL with numDevices %u", count);
    for (uint32_t i = 0; i < count; i++) {
        struct blz_device *device;
        if ((result = blz_device_check(devices[i], &device)) != ZE_RESULT_SUCCESS)
            return result;
    }
    return create(false, handle);
}

ze_result_t zeContextCreate(ze_driver_handle_t driver, const ze_context_desc_t *desc, ze_context_handle_t *handle)
{
    return zeContextCreateEx(driver, desc, 0, NULL, handle);
}

ze_result_t zeContextDestroy(ze_context_handle_t handle)
{
    struct blz_context *context;
    ze_result_t result = blz_context_acquire(handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    bool permanent = context->permanent;
    blz_context_release(context);
    if (permanent)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the default context belongs to the driver and cannot be destroyed");
    return blz_destroy(handle, BLR_KIND_ZE_CONTEXT);
}

ze_result_t zeContextGetStatus(ze_context_handle_t handle)
{
    struct blz_context *context;
    ze_result_t result = blz_context_acquire(handle, &context);
    if (result == ZE_RESULT_SUCCESS)
        blz_context_release(context);
    return result;
}
