/* Addresses of the CUDA driver's functions, and reasons of failures. */

#include "cuda_driver.h"

#include <stdio.h>
#include <string.h>

CudaDriver cuda;

const char *const CUDA_FUNCTIONS[CUDA_FUNCTION_COUNT] = {
    "cuStreamGetCtx",     "cuCtxPushCurrent",    "cuCtxPopCurrent",     "cuMemsetD8Async", "cuLibraryLoadData",
    "cuLibraryGetKernel", "cuKernelGetFunction", "cuLaunchKernel",      "cuGetErrorName",  "cuStreamIsCapturing",
    "cuArray3DCreate",    "cuArrayDestroy",      "cuTexObjectCreate",   "cuTexObjectDestroy", "cuMemcpy3DAsync",
    "cuEventCreate",      "cuEventDestroy",      "cuEventRecord",       "cuStreamWaitEvent", "cuEventSynchronize",
};

void set_cuda_function(int index, void *address)
{
    void *slots[CUDA_FUNCTION_COUNT] = {
        &cuda.get_context,  &cuda.push,          &cuda.pop,            &cuda.clear,           &cuda.load,
        &cuda.get_kernel,   &cuda.get_function,  &cuda.launch,         &cuda.error_name,      &cuda.is_capturing,
        &cuda.create_array, &cuda.destroy_array, &cuda.create_texture, &cuda.destroy_texture, &cuda.copy,
        &cuda.create_event, &cuda.destroy_event, &cuda.record,         &cuda.wait,            &cuda.synchronize,
    };
    memcpy(slots[index], &address, sizeof address);
}

const char *cuda_result(Target *target, int function, CUresult code)
{
    const char *name = NULL;
    if (code == CUDA_SUCCESS)
        return NULL;
    if (cuda.error_name(code, &name) != CUDA_SUCCESS || name == NULL)
        name = "an unknown error";
    snprintf(target->message, sizeof target->message, "%s failed: %s (%d)", CUDA_FUNCTIONS[function], name, (int)code);
    return target->message;
}
