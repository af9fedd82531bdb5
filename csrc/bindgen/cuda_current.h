/*
 * One driver call in a given context, whatever context the thread had before: other libraries change it. Asking costs
 * less than setting, and mostly the right one is current already. NULL, which the driver takes for "none", is refused:
 * it stands for a context that a fork has lost.
 */
#ifndef BINDLESS_CUDA_CURRENT_H
#define BINDLESS_CUDA_CURRENT_H

/* Whether it is this thread's. */
static int bindless_is_current(CUcontext context)
{
    CUcontext current = NULL;
    return context != NULL && cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context;
}

/* Makes the context current and leaves it so. */
static CUresult bindless_activate(CUcontext context)
{
    if (context == NULL) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    return bindless_is_current(context) ? CUDA_SUCCESS : cuCtxSetCurrent(context);
}

/* Makes the context current until bindless_leave, which takes what this left in *entered. A thread that had none keeps
 * this one: pushing and popping costs as much as the call between them. */
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
