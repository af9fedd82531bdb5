/* Creation and destruction of images and their memory in one call each, with plain numbers for arrays: converting a
 * pointer costs Python as much as a call.
 *
 * A create function returns the new object, or 0 after a failure, whose code bindless_refusal returns to the same
 * thread. The driver never returns the number 0 or an array at address 0. */
#ifndef BINDLESS_DRIVER_CALLS_CUDA_IMAGE_H
#define BINDLESS_DRIVER_CALLS_CUDA_IMAGE_H

#include "cuda/current_context.h"

static _Thread_local CUresult bindless_refused;

static CUresult bindless_refusal(void)
{
    return bindless_refused;
}

static uint64_t bindless_return(CUresult result, uint64_t object)
{
    bindless_refused = result;
    return result == CUDA_SUCCESS ? object : 0;
}

/* Creates an array, or with levels a mipmapped array. */
static uint64_t bindless_array_create(CUcontext context, const CUDA_ARRAY3D_DESCRIPTOR *description, unsigned int levels)
{
    int entered;
    CUarray array = NULL;
    CUmipmappedArray mipmap = NULL;
    CUresult result = bindless_enter(context, &entered);
    if (result != CUDA_SUCCESS) {
        return bindless_return(result, 0);
    }
    result = levels ? cuMipmappedArrayCreate(&mipmap, description, levels) : cuArray3DCreate(&array, description);
    bindless_leave(entered);
    return bindless_return(result, levels ? (uint64_t)(uintptr_t)mipmap : (uint64_t)(uintptr_t)array);
}

static CUresult bindless_array_destroy(CUcontext context, uint64_t array, int mipmapped)
{
    int entered;
    CUresult result = bindless_enter(context, &entered);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = mipmapped ? cuMipmappedArrayDestroy((CUmipmappedArray)(uintptr_t)array)
                       : cuArrayDestroy((CUarray)(uintptr_t)array);
    bindless_leave(entered);
    return result;
}

/* Creates a texture of any resource. */
static uint64_t bindless_texture_create(CUcontext context, const CUDA_RESOURCE_DESC *resource,
                                        const CUDA_TEXTURE_DESC *texture)
{
    int entered;
    CUtexObject object = 0;
    CUresult result = bindless_enter(context, &entered);
    if (result != CUDA_SUCCESS) {
        return bindless_return(result, 0);
    }
    result = cuTexObjectCreate(&object, resource, texture, NULL);
    bindless_leave(entered);
    return bindless_return(result, object);
}

/* Creates a texture of an array or a mipmapped array. */
static uint64_t bindless_texture_create_of_array(CUcontext context, uint64_t array, int mipmapped,
                                                 const CUDA_TEXTURE_DESC *texture)
{
    CUDA_RESOURCE_DESC resource = {0};
    if (mipmapped) {
        resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
        resource.res.mipmap.hMipmappedArray = (CUmipmappedArray)(uintptr_t)array;
    } else {
        resource.resType = CU_RESOURCE_TYPE_ARRAY;
        resource.res.array.hArray = (CUarray)(uintptr_t)array;
    }
    return bindless_texture_create(context, &resource, texture);
}

static uint64_t bindless_surface_create(CUcontext context, uint64_t array)
{
    int entered;
    CUsurfObject object = 0;
    CUDA_RESOURCE_DESC resource = {0};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = (CUarray)(uintptr_t)array;
    CUresult result = bindless_enter(context, &entered);
    if (result != CUDA_SUCCESS) {
        return bindless_return(result, 0);
    }
    result = cuSurfObjectCreate(&object, &resource);
    bindless_leave(entered);
    return bindless_return(result, object);
}

/* Destroys a texture (sampled) or a surface. */
static CUresult bindless_image_destroy(CUcontext context, uint64_t number, int sampled)
{
    int entered;
    CUresult result = bindless_enter(context, &entered);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    result = sampled ? cuTexObjectDestroy(number) : cuSurfObjectDestroy(number);
    bindless_leave(entered);
    return result;
}

#endif
