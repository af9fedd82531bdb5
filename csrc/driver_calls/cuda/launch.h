/* A launch as one call: makes the context current if needed, then launches the kernel. Python's time grows with
 * every converted argument, so that a repeated launch passes one pointer to a persistent description. */
#ifndef BINDLESS_DRIVER_CALLS_CUDA_LAUNCH_H
#define BINDLESS_DRIVER_CALLS_CUDA_LAUNCH_H

#include "cuda/current_context.h"

static CUresult bindless_launch(const bindless_launch_t *launch)
{
    CUresult result = bindless_activate(launch->context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    return cuLaunchKernel(launch->function, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
                          launch->block[1], launch->block[2], launch->shared, launch->stream, launch->parameters, NULL);
}

/* Polls at most `questions` times whether all work of the stream is done: INT32_MIN if not. */
static int bindless_stream_wait(const bindless_lane_t *lane, int questions)
{
    CUresult result = bindless_activate(lane->context);
    if (result != CUDA_SUCCESS) {
        return (int)result;
    }
    do {
        result = cuStreamQuery(lane->stream);
    } while (result == CUDA_ERROR_NOT_READY && --questions > 0);
    return result == CUDA_ERROR_NOT_READY ? INT32_MIN : (int)result;
}

#endif
