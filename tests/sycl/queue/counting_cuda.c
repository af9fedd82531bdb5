/*
 * libcuda with a count of what this process has alive in it: what stays behind can be told apart from what other programs
 * on the same GPU have. Everything else is the real library's, which this one depends on.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_types.h"

#define EXPORT __attribute__((visibility("default")))

static atomic_int allocations, arrays, objects;

EXPORT int live_allocations(void) { return allocations; }
EXPORT int live_arrays(void) { return arrays; }
EXPORT int live_objects(void) { return objects; }

#define COUNT(counter, change, name, parameters, arguments)                                                            \
    EXPORT CUresult name parameters                                                                                    \
    {                                                                                                                  \
        CUresult(*real) parameters;                                                                                    \
        *(void **)&real = dlsym(RTLD_NEXT, #name);                                                                     \
        CUresult result = real arguments;                                                                              \
        if (result == CUDA_SUCCESS)                                                                                    \
            counter += change;                                                                                         \
        return result;                                                                                                 \
    }

COUNT(allocations, 1, cuMemAlloc_v2, (CUdeviceptr *p, size_t n), (p, n))
COUNT(allocations, 1, cuMemAllocPitch_v2, (CUdeviceptr *p, size_t *pitch, size_t w, size_t h, unsigned e), (p, pitch, w, h, e))
COUNT(allocations, 1, cuMemAllocManaged, (CUdeviceptr *p, size_t n, unsigned flags), (p, n, flags))
COUNT(allocations, -1, cuMemFree_v2, (CUdeviceptr p), (p))
COUNT(allocations, 1, cuMemHostAlloc, (void **p, size_t n, unsigned flags), (p, n, flags))
COUNT(allocations, -1, cuMemFreeHost, (void *p), (p))
COUNT(arrays, 1, cuArray3DCreate_v2, (CUarray *a, const CUDA_ARRAY3D_DESCRIPTOR *d), (a, d))
COUNT(arrays, -1, cuArrayDestroy, (CUarray a), (a))
COUNT(arrays, 1, cuMipmappedArrayCreate, (CUmipmappedArray *a, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned n), (a, d, n))
COUNT(arrays, -1, cuMipmappedArrayDestroy, (CUmipmappedArray a), (a))
COUNT(objects, 1, cuTexObjectCreate,
      (CUtexObject * o, const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *t, const CUDA_RESOURCE_VIEW_DESC *v), (o, r, t, v))
COUNT(objects, -1, cuTexObjectDestroy, (CUtexObject o), (o))
COUNT(objects, 1, cuSurfObjectCreate, (CUsurfObject * o, const CUDA_RESOURCE_DESC *r), (o, r))
COUNT(objects, -1, cuSurfObjectDestroy, (CUsurfObject o), (o))
