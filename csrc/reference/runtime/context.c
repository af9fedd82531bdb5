/* Contexts: creation and destruction. */
#include "runtime/context.h"

#include "platform/heap.h"
#include "runtime/device.h"

struct blr_context *blr_context_acquire(blr_context_t handle)
{
    return (struct blr_context *)blr_object_acquire(blr_handle_id(handle), BLR_KIND_CONTEXT);
}

struct blr_context *blr_context_acquire_kept(blr_context_t handle)
{
    return (struct blr_context *)blr_object_acquire_kept(blr_handle_id(handle), BLR_KIND_CONTEXT);
}

blr_result_t blr_context_set_apart(blr_context_t handle)
{
    struct blr_context *context = blr_context_acquire(handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    context->apart = context;
    blr_context_release(context);
    return BLR_RESULT_SUCCESS;
}

void blr_context_retain(struct blr_context *context) { blr_object_retain(&context->object); }

void blr_context_release(struct blr_context *context) { blr_object_release(&context->object); }

static void destroy(struct blr_object *object) { blr_delete(object); }

blr_result_t blrContextCreate(blr_device_t device_handle, blr_context_t *handle)
{
    struct blr_device *device = blr_device_acquire(device_handle);
    if (device == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_object_release(&device->object);
    if (handle == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "context is NULL: an output pointer is required");
    *handle = NULL;
    struct blr_context *context = blr_new(sizeof *context);
    if (context == NULL)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for a context");
    blr_result_t result = blr_object_register(&context->object, BLR_KIND_CONTEXT, destroy);
    if (result != BLR_RESULT_SUCCESS) {
        blr_delete(context);
        return result;
    }
    *handle = (blr_context_t)(uintptr_t)context->object.id;
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrContextDestroy(blr_context_t handle)
{
    struct blr_context *context = blr_context_acquire(handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    bool first = blr_object_close(&context->object);
    blr_context_release(context);
    if (!first)
        return blr_fail(BLR_RESULT_INVALID_HANDLE, "the context was destroyed by another thread");
    return BLR_RESULT_SUCCESS;
}
