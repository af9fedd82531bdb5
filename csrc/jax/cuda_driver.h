/* The functions of the CUDA driver that handlers call, by address. */
#ifndef BINDLESS_JAX_CUDA_DRIVER_H
#define BINDLESS_JAX_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "../bindgen/generated/cuda_types.h"
#include "../programs/program.h"

enum {
    GET_CONTEXT, PUSH, POP, CLEAR, LOAD, GET_KERNEL, GET_FUNCTION, LAUNCH, ERROR_NAME, IS_CAPTURING, CREATE_ARRAY,
    DESTROY_ARRAY, CREATE_TEXTURE, DESTROY_TEXTURE, COPY, CREATE_EVENT, DESTROY_EVENT, RECORD, WAIT, SYNCHRONIZE,
    CUDA_FUNCTION_COUNT
};

/* Their names in the order of their numbers. */
extern const char *const CUDA_FUNCTIONS[CUDA_FUNCTION_COUNT];

typedef struct {
    CUresult (*get_context)(CUstream stream, CUcontext *context);
    CUresult (*push)(CUcontext context);
    CUresult (*pop)(CUcontext *context);
    CUresult (*clear)(CUdeviceptr address, unsigned char value, size_t bytes, CUstream stream);
    CUresult (*load)(CUlibrary *library, const void *image, const void *, const void *, unsigned, const void *, const void *,
                     unsigned);
    CUresult (*get_kernel)(CUkernel *kernel, CUlibrary library, const char *name);
    CUresult (*get_function)(CUfunction *function, CUkernel kernel);
    CUresult (*launch)(CUfunction kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared,
                       CUstream stream, void **parameters, void **extra);
    CUresult (*error_name)(CUresult code, const char **name);
    CUresult (*is_capturing)(CUstream stream, CUstreamCaptureStatus *status);
    CUresult (*create_array)(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *description);
    CUresult (*destroy_array)(CUarray array);
    CUresult (*create_texture)(CUtexObject *texture, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *description,
                               const void *view);
    CUresult (*destroy_texture)(CUtexObject texture);
    CUresult (*copy)(const CUDA_MEMCPY3D *copy, CUstream stream);
    CUresult (*create_event)(CUevent *event, unsigned flags);
    CUresult (*destroy_event)(CUevent event);
    CUresult (*record)(CUevent event, CUstream stream);
    CUresult (*wait)(CUstream stream, CUevent event, unsigned flags);
    CUresult (*synchronize)(CUevent event);
} CudaDriver;

/* All members are null until the driver is loaded. */
extern CudaDriver cuda;
void set_cuda_function(int index, void *address);

/* NULL after a success, else the reason of a failure. */
const char *cuda_result(Target *target, int function, CUresult code);

#endif
