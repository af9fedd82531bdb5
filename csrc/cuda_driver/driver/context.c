/* Contexts: creation, the primary context, the stack of each thread, and the end of a context. */
#include "cuda_driver/driver/context.h"

#include "cuda_driver/driver/driver.h"
#include "cuda_driver/image/texture.h"
#include "cuda_driver/memory/memory.h"
#include "cuda_driver/stream/stream.h"

enum { STACK_DEPTH = 256 };

static _Thread_local CUcontext stack[STACK_DEPTH];
static _Thread_local unsigned depth;

static blr_mutex_t primary_mutex = BLR_MUTEX_INIT;
static struct bcu_context *primary;
static unsigned primary_count, primary_flags;

/* ---------------------------------------------------------------- life */

/* Records of destroyed contexts stay: threads may still look at one. */
static void destroy(struct blr_object *object)
{
    static _Atomic(struct bcu_context *) last;
    struct bcu_context *context = (struct bcu_context *)object;
    context->earlier = atomic_load(&last);
    while (!atomic_compare_exchange_weak(&last, &context->earlier, context))
        ;
}

static CUresult create(bool is_primary, unsigned flags, unsigned version, struct bcu_context **context)
{
    static _Atomic unsigned long long last_id;
    struct bcu_context *new_context = blr_new(sizeof *new_context);
    if (new_context == NULL)
        return bcu_fail_memory("a context");
    new_context->is_primary = is_primary;
    new_context->flags = flags;
    new_context->version = version;
    new_context->id = atomic_fetch_add(&last_id, 1) + 1;
    new_context->active = true;
    blr_mutex_init(&new_context->mutex);
    if (blr_object_register(&new_context->object, BLR_KIND_CONTEXT, destroy) != BLR_RESULT_SUCCESS) {
        blr_delete(new_context);
        return bcu_fail_memory("a context");
    }
    *context = new_context;
    return CUDA_SUCCESS;
}

/* Ends the work and the resources of a context. */
static void clear(struct bcu_context *context)
{
    bcu_context_wait(context);
    for (;;) {
        blr_mutex_lock(&context->mutex);
        struct bcu_resource *resource = context->resources;
        if (resource != NULL)
            bcu_resource_retain(resource);
        context->legacy = NULL;
        blr_mutex_unlock(&context->mutex);
        if (resource == NULL)
            break;
        bcu_resource_close(resource);
        bcu_resource_release(resource);
    }
    bcu_textures_destroy(context);
    bcu_memory_free_all(context);
    context->failure = CUDA_SUCCESS;
}

static CUresult check_flags(unsigned flags)
{
    unsigned schedule = flags & CU_CTX_SCHED_MASK;
    if ((flags & ~(unsigned)CU_CTX_FLAGS_MASK) == 0 && (schedule <= 2 || schedule == CU_CTX_SCHED_BLOCKING_SYNC))
        return CUDA_SUCCESS;
    return bcu_fail(CUDA_ERROR_INVALID_VALUE, "flags of a context are 0x%x", flags);
}

/* ---------------------------------------------------------------- the stack of a thread */

/* The context of a handle, active or not. */
static struct bcu_context *find(CUcontext handle)
{
    struct blr_object *object = blr_object_acquire(blr_handle_id(handle), BLR_KIND_CONTEXT);
    if (object != NULL)
        blr_object_release(object); /* the caller's reference, or the record's life, keeps it */
    return (struct bcu_context *)object;
}

CUresult bcu_context_find(CUcontext handle, struct bcu_context **context)
{
    *context = NULL;
    CUresult result = bcu_check_started();
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL)
        return bcu_context_current(context);
    *context = find(handle);
    if (*context == NULL)
        return bcu_fail(CUDA_ERROR_INVALID_CONTEXT, "%p is no context", (void *)handle);
    return CUDA_SUCCESS;
}

CUresult bcu_context_current(struct bcu_context **context)
{
    *context = NULL;
    CUresult result = bcu_check_started();
    if (result != CUDA_SUCCESS)
        return result;
    if (depth == 0 || stack[depth - 1] == NULL)
        return bcu_fail(CUDA_ERROR_INVALID_CONTEXT, "the thread has no current context");
    *context = find(stack[depth - 1]);
    if (*context == NULL || !(*context)->active)
        return bcu_fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the thread's current context was destroyed");
    return (CUresult)(*context)->failure;
}

CUresult cuCtxPushCurrent_v2(CUcontext handle)
{
    struct bcu_context *context;
    if (handle == NULL)
        return bcu_fail(CUDA_ERROR_INVALID_CONTEXT, "no context to push");
    CUresult result = bcu_context_find(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (depth == STACK_DEPTH)
        return bcu_fail(CUDA_ERROR_OUT_OF_MEMORY, "%d contexts are on the thread's stack", STACK_DEPTH);
    stack[depth++] = handle;
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext handle) { return cuCtxPushCurrent_v2(handle); }

CUresult cuCtxPopCurrent_v2(CUcontext *handle)
{
    CUresult result = bcu_check_started();
    if (result != CUDA_SUCCESS)
        return result;
    if (depth == 0)
        return bcu_fail(CUDA_ERROR_INVALID_CONTEXT, "the thread has no current context");
    depth--;
    if (handle != NULL)
        *handle = stack[depth];
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *handle) { return cuCtxPopCurrent_v2(handle); }

CUresult cuCtxSetCurrent(CUcontext handle)
{
    struct bcu_context *context;
    CUresult result = handle == NULL ? bcu_check_started() : bcu_context_find(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (depth > 0)
        depth--;
    if (handle != NULL)
        stack[depth++] = handle;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *handle)
{
    CUresult result = bcu_check_started();
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL)
        return bcu_fail_null("pctx");
    *handle = depth > 0 ? stack[depth - 1] : NULL;
    return CUDA_SUCCESS;
}

/* ---------------------------------------------------------------- contexts of the caller */

CUresult cuCtxCreate_v2(CUcontext *handle, unsigned int flags, CUdevice device)
{
    CUresult result = bcu_check_device(device);
    if (result == CUDA_SUCCESS)
        result = handle == NULL ? bcu_fail_null("pctx") : check_flags(flags);
    struct bcu_context *context;
    if (result == CUDA_SUCCESS)
        result = create(false, flags, 3020, &context);
    if (result != CUDA_SUCCESS)
        return result;
    *handle = bcu_context_handle(context);
    return cuCtxPushCurrent_v2(*handle);
}

CUresult cuCtxCreate_v3(CUcontext *handle, CUexecAffinityParam *affinity, int count, unsigned int flags, CUdevice device)
{
    (void)affinity;
    if (count != 0)
        return bcu_fail(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "the device has no execution affinity");
    return cuCtxCreate_v2(handle, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext *handle, CUctxCreateParams *parameters, unsigned int flags, CUdevice device)
{
    if (parameters != NULL && (parameters->numExecAffinityParams != 0 || parameters->cigParams != NULL))
        return bcu_fail(CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, "the device has no execution affinity and no graphics interface");
    return cuCtxCreate_v2(handle, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext handle)
{
    struct bcu_context *context;
    if (handle == NULL)
        return bcu_fail(CUDA_ERROR_INVALID_CONTEXT, "no context to destroy");
    CUresult result = bcu_context_find(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (context->is_primary)
        return bcu_fail(CUDA_ERROR_INVALID_CONTEXT, "a primary context is released by cuDevicePrimaryCtxRelease");
    if (!blr_object_close(&context->object))
        return bcu_fail(CUDA_ERROR_INVALID_CONTEXT, "the context was destroyed by another thread");
    context->active = false;
    clear(context);
    if (depth > 0 && stack[depth - 1] == handle)
        depth--;
    return CUDA_SUCCESS;
}

CUresult cuCtxDestroy(CUcontext handle) { return cuCtxDestroy_v2(handle); }

/* The forms of before CUDA 4.2: a context ends with the last of its users. */
CUresult cuCtxAttach(CUcontext *handle, unsigned int flags)
{
    struct bcu_context *context;
    if (handle == NULL || flags != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "pctx is NULL, or flags are %u", flags);
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    atomic_fetch_add(&context->attachments, 1);
    *handle = bcu_context_handle(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxDetach(CUcontext handle)
{
    struct bcu_context *context;
    CUresult result = handle == NULL ? CUDA_ERROR_INVALID_CONTEXT : bcu_context_find(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    unsigned users = atomic_load(&context->attachments);
    while (users > 0)
        if (atomic_compare_exchange_weak(&context->attachments, &users, users - 1))
            return CUDA_SUCCESS;
    return cuCtxDestroy_v2(handle);
}

/* ---------------------------------------------------------------- the primary context */

CUresult cuDevicePrimaryCtxRetain(CUcontext *handle, CUdevice device)
{
    CUresult result = bcu_check_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL)
        return bcu_fail_null("pctx");
    blr_mutex_lock(&primary_mutex);
    if (primary == NULL)
        result = create(true, primary_flags, 3020, &primary);
    if (result == CUDA_SUCCESS) {
        if (primary_count++ == 0)
            primary->flags = primary_flags;
        primary->active = true;
        *handle = bcu_context_handle(primary);
    }
    blr_mutex_unlock(&primary_mutex);
    return result;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    CUresult result = bcu_check_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    blr_mutex_lock(&primary_mutex);
    if (primary_count == 0) {
        result = bcu_fail(CUDA_ERROR_INVALID_CONTEXT, "the primary context is not retained");
    } else if (--primary_count == 0) {
        primary->active = false;
        clear(primary);
    }
    blr_mutex_unlock(&primary_mutex);
    return result;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    CUresult result = bcu_check_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    blr_mutex_lock(&primary_mutex);
    if (primary != NULL)
        clear(primary);
    blr_mutex_unlock(&primary_mutex);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) { return cuDevicePrimaryCtxReset_v2(device); }

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags)
{
    CUresult result = bcu_check_device(device);
    if (result == CUDA_SUCCESS)
        result = check_flags(flags);
    if (result != CUDA_SUCCESS)
        return result;
    blr_mutex_lock(&primary_mutex);
    primary_flags = flags;
    if (primary != NULL)
        primary->flags = flags;
    blr_mutex_unlock(&primary_mutex);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags)
{
    return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
    CUresult result = bcu_check_device(device);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags == NULL || active == NULL)
        return bcu_fail_null("flags or active");
    blr_mutex_lock(&primary_mutex);
    *flags = primary_flags;
    *active = primary_count > 0;
    blr_mutex_unlock(&primary_mutex);
    return CUDA_SUCCESS;
}
