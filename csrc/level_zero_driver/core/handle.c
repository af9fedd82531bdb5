/* Handles: registration, lookup and destruction of the driver's objects. */

#include "level_zero_driver/core/handle.h"

#include <string.h>

ze_result_t blz_acquire(const void *handle, enum blr_kind kind, void *object)
{
    struct blr_object *native = blr_object_acquire(blr_handle_id(handle), kind);
    memcpy(object, &native, sizeof native);
    if (native != NULL)
        return ZE_RESULT_SUCCESS;
    if (blr_process_forked())
        return ZE_RESULT_ERROR_UNINITIALIZED;
    return handle == NULL ? ZE_RESULT_ERROR_INVALID_NULL_HANDLE : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t blz_register(struct blr_object *object, enum blr_kind kind, void (*destroy)(struct blr_object *object),
                         void *handle)
{
    blr_result_t result = blr_object_register(object, kind, destroy);
    if (result != BLR_RESULT_SUCCESS) {
        destroy(object);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    void *own = blz_handle_of(object);
    memcpy(handle, &own, sizeof own);
    return ZE_RESULT_SUCCESS;
}

ze_result_t blz_destroy(const void *handle, enum blr_kind kind)
{
    struct blr_object *object = NULL;
    ze_result_t result = blz_acquire(handle, kind, &object);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (!blr_object_close(object))
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the object was destroyed by another thread");
    blr_object_release(object);
    return result;
}
