/* Driver calls in a given context, whatever context is current: other libraries change it. A query costs less than a
 * change, and mostly the right context is current. NULL, which the driver reads as "no context", is refused: it
 * stands for a context that was lost in a fork. */
#ifndef BINDLESS_DRIVER_CALLS_CUDA_CURRENT_CONTEXT_H
#define BINDLESS_DRIVER_CALLS_CUDA_CURRENT_CONTEXT_H

/* Returns whether the context is current in this thread. */
static int bindless_is_current(CUcontext context)
{
    CUcontext current = NULL;
    return context != NULL && cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context;
}

/* Makes the context current permanently. */
static CUresult bindless_activate(CUcontext context)
{
    if (context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return bindless_is_current(context) ? CUDA_SUCCESS : cuCtxSetCurrent(context);
}

/* Makes the context current until bindless_leave, which takes the value of *entered. A thread without a context
 * keeps this one: a push and a pop cost as much as the call between them. */
static CUresult bindless_enter(CUcontext context, int *entered)
{
    CUcontext current = NULL;
    *entered = 0;
    if (context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (cuCtxGetCurrent(&current) != CUDA_SUCCESS || current == NULL) {
        return cuCtxSetCurrent(context);
    }
    if (current == context) {
        return CUDA_SUCCESS;
    }
    CUresult result = cuCtxPushCurrent(context);
    *entered = result == CUDA_SUCCESS;
    return result;
}

static void bindless_leave(int entered)
{
    CUcontext own = NULL;
    if (entered) {
        cuCtxPopCurrent(&own);
    }
}

#endif
