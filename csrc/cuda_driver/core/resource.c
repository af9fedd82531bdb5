/* Resources: registration with their context, lookup and destruction. */
#include "cuda_driver/core/resource.h"

#include "cuda_driver/driver/context.h"

#include <string.h>

static void destroy(struct blr_object *object)
{
    struct bcu_resource *resource = (struct bcu_resource *)object;
    resource->release(resource);
}

CUresult bcu_resource_register(struct bcu_resource *resource, enum bcu_kind kind, struct bcu_context *context,
                               void (*release)(struct bcu_resource *resource), void *handle)
{
    resource->kind = kind;
    resource->context = context;
    resource->release = release;
    if (blr_object_register(&resource->object, (enum blr_kind)kind, destroy) != BLR_RESULT_SUCCESS) {
        release(resource);
        return bcu_fail_memory("a handle");
    }
    if (context != NULL) {
        blr_mutex_lock(&context->mutex);
        resource->next = context->resources;
        if (resource->next != NULL)
            resource->next->previous = resource;
        context->resources = resource;
        blr_mutex_unlock(&context->mutex);
    }
    void *own = bcu_handle(resource);
    if (handle != NULL)
        memcpy(handle, &own, sizeof own);
    return CUDA_SUCCESS;
}

CUresult bcu_resource_acquire(const void *handle, enum bcu_kind kind, void *resource)
{
    struct blr_object *object = blr_object_acquire(blr_handle_id(handle), (enum blr_kind)kind);
    memcpy(resource, &object, sizeof object);
    if (object != NULL)
        return CUDA_SUCCESS;
    return CUDA_ERROR_INVALID_HANDLE;
}

bool bcu_resource_close(struct bcu_resource *resource)
{
    struct bcu_context *context = resource->context;
    bcu_resource_retain(resource);
    bool first = blr_object_close(&resource->object);
    if (first && context != NULL) {
        blr_mutex_lock(&context->mutex);
        if (resource->previous != NULL)
            resource->previous->next = resource->next;
        else
            context->resources = resource->next;
        if (resource->next != NULL)
            resource->next->previous = resource->previous;
        blr_mutex_unlock(&context->mutex);
    }
    bcu_resource_release(resource);
    return first;
}

CUresult bcu_resource_destroy(const void *handle, enum bcu_kind kind)
{
    struct bcu_resource *resource;
    CUresult result = bcu_resource_acquire(handle, kind, &resource);
    if (result != CUDA_SUCCESS)
        return result;
    if (!bcu_resource_close(resource))
        result = bcu_fail(CUDA_ERROR_INVALID_HANDLE, "%p was destroyed by another thread", handle);
    bcu_resource_release(resource);
    return result;
}
