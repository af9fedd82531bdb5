/* What a context has: device, flags, limits, failures, and the work of its streams. */
#include "cuda_driver/driver/driver.h"
#include "cuda_driver/stream/stream.h"

CUresult bcu_context_fail(struct bcu_context *context, CUresult result)
{
    int none = CUDA_SUCCESS;
    if (result != CUDA_SUCCESS)
        atomic_compare_exchange_strong(&context->failure, &none, (int)result);
    return (CUresult)context->failure;
}

CUresult bcu_context_failure(struct bcu_context *context)
{
    blr_mutex_lock(&context->mutex);
    for (struct bcu_resource *resource = context->resources; resource != NULL; resource = resource->next)
        if (resource->kind == BCU_STREAM)
            bcu_stream_take_failures((struct bcu_stream *)resource);
    blr_mutex_unlock(&context->mutex);
    return (CUresult)context->failure;
}

CUresult bcu_context_wait(struct bcu_context *context)
{
    for (struct bcu_stream *stream = bcu_stream_next(context, NULL); stream != NULL; stream = bcu_stream_next(context, stream))
        bcu_stream_wait_idle(stream);
    return bcu_context_failure(context);
}

CUresult cuCtxSynchronize_v2(CUcontext handle)
{
    struct bcu_context *context;
    CUresult result = bcu_context_find(handle, &context);
    return result != CUDA_SUCCESS ? result : bcu_context_wait(context);
}

CUresult cuCtxSynchronize(void) { return cuCtxSynchronize_v2(NULL); }

CUresult cuCtxGetDevice_v2(CUdevice *device, CUcontext handle)
{
    struct bcu_context *context;
    CUresult result = bcu_context_find(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (device == NULL)
        return bcu_fail_null("device");
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) { return cuCtxGetDevice_v2(device, NULL); }

CUresult cuCtxGetFlags(unsigned int *flags)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags == NULL)
        return bcu_fail_null("flags");
    *flags = context->flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned int flags)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    context->flags = flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long *id)
{
    struct bcu_context *context;
    CUresult result = bcu_context_find(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (id == NULL)
        return bcu_fail_null("ctxId");
    *id = context->id;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned int *version)
{
    struct bcu_context *context;
    CUresult result = bcu_context_find(handle, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (version == NULL)
        return bcu_fail_null("version");
    *version = context->version;
    return CUDA_SUCCESS;
}

static const size_t default_limits[] = {
    [CU_LIMIT_STACK_SIZE] = 1024,           [CU_LIMIT_PRINTF_FIFO_SIZE] = (size_t)7 << 20,
    [CU_LIMIT_MALLOC_HEAP_SIZE] = (size_t)8 << 20, [CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2,
    [CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048, [CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64,
};

static CUresult check_limit(CUlimit limit)
{
    if (limit >= 0 && (size_t)limit < sizeof default_limits / sizeof default_limits[0])
        return CUDA_SUCCESS;
    return bcu_fail(CUDA_ERROR_UNSUPPORTED_LIMIT, "limit %d", (int)limit);
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result == CUDA_SUCCESS)
        result = value == NULL ? bcu_fail_null("pvalue") : check_limit(limit);
    if (result == CUDA_SUCCESS)
        *value = context->limits[limit] != 0 ? context->limits[limit] : default_limits[limit];
    return result;
}

/* Limits are remembered. The heap's is for modules that are loaded later; stacks and texts grow as needed. */
CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result == CUDA_SUCCESS)
        result = check_limit(limit);
    if (result == CUDA_SUCCESS)
        context->limits[limit] = value;
    return result;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (config == NULL)
        return bcu_fail_null("pconfig");
    *config = context->cache;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "cache configuration %d", (int)config);
    context->cache = config;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (least != NULL)
        *least = 0;
    if (greatest != NULL)
        *greatest = BCU_GREATEST_PRIORITY;
    return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache(void)
{
    struct bcu_context *context;
    return bcu_context_current(&context);
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags)
{
    struct bcu_context *context;
    CUresult result = bcu_context_find(peer, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "flags are %u: 0 is needed", flags);
    return bcu_fail(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "there is one device");
}

CUresult cuCtxDisablePeerAccess(CUcontext peer)
{
    struct bcu_context *context;
    CUresult result = bcu_context_find(peer, &context);
    return result != CUDA_SUCCESS ? result : bcu_fail(CUDA_ERROR_PEER_ACCESS_NOT_ENABLED, "there is one device");
}

/* Profilers of this driver do not exist: there is nothing to start. */
CUresult cuProfilerStart(void)
{
    struct bcu_context *context;
    return bcu_context_current(&context);
}

CUresult cuProfilerStop(void) { return cuProfilerStart(); }

/* Headers of before CUDA 13 have it. */
CUresult cuProfilerInitialize(const char *config, const char *output, int mode);
CUresult cuProfilerInitialize(const char *config, const char *output, int mode)
{
    (void)config, (void)output, (void)mode;
    return bcu_not_offered("cuProfilerInitialize");
}
