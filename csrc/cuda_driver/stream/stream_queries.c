/* What a stream is: flags, priority, device, context, number and attributes. */
#include "cuda_driver/stream/stream.h"

#include <string.h>

CUresult cuStreamGetFlags(CUstream handle, unsigned int *flags)
{
    struct bcu_stream *stream;
    if (flags == NULL)
        return bcu_fail_null("flags");
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    *flags = stream->flags;
    bcu_stream_release(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamGetPriority(CUstream handle, int *priority)
{
    struct bcu_stream *stream;
    if (priority == NULL)
        return bcu_fail_null("priority");
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    *priority = stream->priority;
    bcu_stream_release(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamGetId(CUstream handle, unsigned long long *id)
{
    struct bcu_stream *stream;
    if (id == NULL)
        return bcu_fail_null("streamId");
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    *id = stream->id;
    bcu_stream_release(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext *context)
{
    struct bcu_stream *stream;
    if (context == NULL)
        return bcu_fail_null("pctx");
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    *context = bcu_context_handle(stream->resource.context);
    bcu_stream_release(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext *context, CUgreenCtx *green)
{
    if (green != NULL)
        *green = NULL;
    return cuStreamGetCtx(handle, context);
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice *device)
{
    struct bcu_stream *stream;
    if (device == NULL)
        return bcu_fail_null("device");
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    *device = 0;
    bcu_stream_release(stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamGetAttribute(CUstream handle, CUstreamAttrID attribute, CUstreamAttrValue *value)
{
    struct bcu_stream *stream;
    if (value == NULL)
        return bcu_fail_null("value_out");
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    memset(value, 0, sizeof *value);
    if (attribute == CU_LAUNCH_ATTRIBUTE_PRIORITY)
        value->priority = stream->priority;
    else if (attribute != CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW && attribute != CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY &&
             attribute != CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN && attribute != CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP)
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "a stream has no attribute %d", (int)attribute);
    bcu_stream_release(stream);
    return result;
}

CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr pointer, size_t length, unsigned int flags)
{
    struct bcu_stream *stream;
    (void)pointer;
    (void)length;
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "flags are %u: 1, 2 or 4 is needed", flags);
    CUresult result = bcu_stream_acquire(handle, &stream);
    if (result == CUDA_SUCCESS)
        bcu_stream_release(stream);
    return result;
}
