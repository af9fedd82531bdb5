/* Launches of before CUDA 4: a function keeps the size of its blocks and the bytes of its parameters. */
#include "cuda_driver/module/module.h"

#include <string.h>

enum { ROOM = 4096 };

struct bcu_old_launch {
    unsigned block[3], shared;
    size_t size;
    unsigned char parameters[ROOM];
};

static blr_mutex_t mutex = BLR_MUTEX_INIT; /* guards what functions keep */

/* The function with a reference added, and the mutex; let_go gives both back. */
static CUresult take(CUfunction handle, struct bcu_function **function)
{
    CUresult result = bcu_function_acquire(handle, function);
    if (result != CUDA_SUCCESS)
        return result;
    blr_mutex_lock(&mutex);
    if ((*function)->old == NULL) {
        (*function)->old = blr_new(sizeof *(*function)->old);
        if ((*function)->old == NULL)
            result = bcu_fail_memory("the parameters of a function");
        else
            for (int i = 0; i < 3; i++)
                (*function)->old->block[i] = 1;
    }
    if (result != CUDA_SUCCESS) {
        blr_mutex_unlock(&mutex);
        bcu_resource_release(&(*function)->resource);
    }
    return result;
}

static void let_go(struct bcu_function *function)
{
    blr_mutex_unlock(&mutex);
    bcu_resource_release(&function->resource);
}

CUresult cuFuncSetBlockShape(CUfunction handle, int x, int y, int z)
{
    struct bcu_function *function;
    if (x < 1 || y < 1 || z < 1)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "a block of %d x %d x %d threads", x, y, z);
    CUresult result = take(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    const unsigned block[3] = {(unsigned)x, (unsigned)y, (unsigned)z};
    memcpy(function->old->block, block, sizeof block);
    let_go(function);
    return CUDA_SUCCESS;
}

CUresult cuFuncSetSharedSize(CUfunction handle, unsigned int bytes)
{
    struct bcu_function *function;
    CUresult result = take(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    function->old->shared = bytes;
    let_go(function);
    return CUDA_SUCCESS;
}

CUresult cuParamSetSize(CUfunction handle, unsigned int bytes)
{
    struct bcu_function *function;
    if (bytes > ROOM)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%u bytes of parameters: %d are possible", bytes, ROOM);
    CUresult result = take(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    function->old->size = bytes;
    let_go(function);
    return CUDA_SUCCESS;
}

CUresult cuParamSetv(CUfunction handle, int offset, void *bytes, unsigned int count)
{
    struct bcu_function *function;
    if (offset < 0 || offset > ROOM || count > (unsigned)(ROOM - offset) || (bytes == NULL && count > 0))
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%u bytes of parameters from byte %d: %d are possible", count, offset, ROOM);
    CUresult result = take(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (count > 0)
        memcpy(function->old->parameters + offset, bytes, count);
    let_go(function);
    return CUDA_SUCCESS;
}

CUresult cuParamSeti(CUfunction handle, int offset, unsigned int value) { return cuParamSetv(handle, offset, &value, sizeof value); }

CUresult cuParamSetf(CUfunction handle, int offset, float value) { return cuParamSetv(handle, offset, &value, sizeof value); }

CUresult cuLaunchGridAsync(CUfunction handle, int width, int height, CUstream stream)
{
    struct bcu_function *function;
    if (width < 1 || height < 1)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "a grid of %d x %d blocks", width, height);
    CUresult result = take(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    struct bcu_old_launch old = *function->old;
    let_go(function);
    void *extra[] = {(void *)CU_LAUNCH_PARAM_BUFFER_POINTER, old.parameters, (void *)CU_LAUNCH_PARAM_BUFFER_SIZE, &old.size,
                     (void *)CU_LAUNCH_PARAM_END};
    return cuLaunchKernel(handle, (unsigned)width, (unsigned)height, 1, old.block[0], old.block[1], old.block[2], old.shared, stream, NULL, extra);
}

CUresult cuLaunchGrid(CUfunction handle, int width, int height) { return cuLaunchGridAsync(handle, width, height, NULL); }

CUresult cuLaunch(CUfunction handle) { return cuLaunchGrid(handle, 1, 1); }
