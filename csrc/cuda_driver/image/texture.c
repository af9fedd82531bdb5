/* Texture and surface objects: creation, queries and destruction. */
#include "cuda_driver/image/texture.h"

#include "cuda_driver/core/address_map.h"
#include "cuda_driver/driver/driver.h"
#include "cuda_driver/memory/memory.h"

#include <inttypes.h>

struct object {
    struct bcu_context *context;
    bool is_surface, has_view;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUDA_RESOURCE_VIEW_DESC view;
};

static blr_mutex_t mutex = BLR_MUTEX_INIT;
static struct bcu_map objects;

/* ---------------------------------------------------------------- samplers */

static CUresult translate_sampler(const CUDA_TEXTURE_DESC *t, const blr_image_desc_t *image, blr_sampler_desc_t *sampler)
{
    static const blr_addressing_t modes[] = {BLR_ADDRESSING_REPEAT, BLR_ADDRESSING_CLAMP_TO_EDGE, BLR_ADDRESSING_MIRRORED_REPEAT,
                                             BLR_ADDRESSING_CLAMP_TO_BORDER};
    const unsigned all_flags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB |
                               CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION | CU_TRSF_SEAMLESS_CUBEMAP;
    bool normalized = (t->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0, mipmap = image->type == BLR_IMAGE_MIPMAP;
    *sampler = (blr_sampler_desc_t){.normalized_coordinates = normalized};
    if ((t->flags & ~all_flags) != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "flags of a texture are 0x%x", t->flags);
    for (int c = 0; c < 3; c++) {
        if (t->addressMode[c] < 0 || t->addressMode[c] > CU_TR_ADDRESS_MODE_BORDER)
            return bcu_fail(CUDA_ERROR_INVALID_VALUE, "address mode %d", (int)t->addressMode[c]);
        sampler->addressing[c] = modes[t->addressMode[c]];
        if (!normalized && t->addressMode[c] != CU_TR_ADDRESS_MODE_BORDER)
            sampler->addressing[c] = BLR_ADDRESSING_CLAMP_TO_EDGE;
        if (t->addressMode[c] == CU_TR_ADDRESS_MODE_BORDER)
            for (int k = 0; k < 4; k++)
                if (t->borderColor[k] != 0)
                    return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "a border that is not zero");
    }
    if ((unsigned)t->filterMode > CU_TR_FILTER_MODE_LINEAR || (unsigned)t->mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "filter modes %d and %d", (int)t->filterMode, (int)t->mipmapFilterMode);
    sampler->filtering = t->filterMode == CU_TR_FILTER_MODE_LINEAR ? BLR_FILTERING_LINEAR : BLR_FILTERING_NEAREST;
    if (mipmap && !normalized)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "a mipmapped texture needs normalized coordinates");
    if (mipmap && t->mipmapLevelBias != 0)
        return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "a bias of mipmap levels");
    if (normalized) { /* a texture without mipmap blends by these settings too */
        float most = (float)image->num_levels;
        sampler->mipmap_filtering = t->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR ? BLR_FILTERING_LINEAR : BLR_FILTERING_NEAREST;
        sampler->min_mipmap_level_clamp = t->minMipmapLevelClamp;
        sampler->max_mipmap_level_clamp = t->maxMipmapLevelClamp > most ? most : t->maxMipmapLevelClamp;
        sampler->max_anisotropy = (float)t->maxAnisotropy;
    }
    if ((t->flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0)
        sampler->cubemap_filtering = BLR_CUBEMAP_SEAMLESS;
    return CUDA_SUCCESS;
}

/* ---------------------------------------------------------------- resources */

/* What a resource is: the texels, their format, and references that finish releases. */
struct texels {
    blr_image_view_desc_t view;
    CUarray_format format;
    unsigned channels;
    bool is_memory;
    struct bcu_array *array;
};

static void finish(struct texels *texels)
{
    if (texels->array != NULL)
        bcu_array_release(texels->array);
}

static CUresult take_array(struct texels *texels)
{
    texels->view.image = texels->array->desc;
    texels->view.memory = texels->array->image;
    texels->format = texels->array->descriptor.Format;
    texels->channels = texels->array->desc.num_channels;
    return CUDA_SUCCESS;
}

static CUresult take_memory(struct texels *texels, CUdeviceptr address, CUarray_format format, unsigned channels, uint64_t width,
                            uint64_t height, uint64_t pitch, uint64_t bytes)
{
    texels->is_memory = true;
    texels->format = format;
    texels->channels = channels;
    texels->view.pointer = (void *)(uintptr_t)address;
    texels->view.row_pitch = height > 0 ? pitch : 0;
    texels->view.image = (blr_image_desc_t){.width = width, .height = height, .num_channels = channels, .num_levels = 1, .array_size = 1};
    if (address % 512 != 0 || width == 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "texels at 0x%llx: a multiple of 512, and at least one texel are needed", address);
    return bcu_memory_check(address, bytes, "devPtr");
}

/* Bytes of a channel of texels in memory, which has none of blocks. */
static CUresult check_plain(CUarray_format format, unsigned channels, uint32_t *bytes)
{
    blr_channel_type_t type;
    CUresult result = bcu_format(format, channels, false, &type, bytes);
    if (result == CUDA_SUCCESS && bcu_has_blocks(type))
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "blocks of array format %d in linear memory", (int)format);
    return result;
}

static CUresult take_resource(const CUDA_RESOURCE_DESC *r, struct texels *texels)
{
    uint32_t bytes;
    CUresult result;
    *texels = (struct texels){0};
    for (int c = 0; c < 4; c++)
        texels->view.swizzle[c] = (blr_swizzle_t)c;
    if (r->flags != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "flags of a resource are %u: 0 is needed", r->flags);
    switch (r->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        result = bcu_array_acquire(r->res.array.hArray, &texels->array);
        return result != CUDA_SUCCESS ? result : take_array(texels);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        result = bcu_mipmap_acquire(r->res.mipmap.hMipmappedArray, &texels->array);
        return result != CUDA_SUCCESS ? result : take_array(texels);
    case CU_RESOURCE_TYPE_LINEAR:
        result = check_plain(r->res.linear.format, r->res.linear.numChannels, &bytes);
        if (result != CUDA_SUCCESS)
            return result;
        return take_memory(texels, r->res.linear.devPtr, r->res.linear.format, r->res.linear.numChannels,
                           r->res.linear.sizeInBytes / (bytes * r->res.linear.numChannels), 0, 0, r->res.linear.sizeInBytes);
    case CU_RESOURCE_TYPE_PITCH2D:
        result = check_plain(r->res.pitch2D.format, r->res.pitch2D.numChannels, &bytes);
        if (result != CUDA_SUCCESS)
            return result;
        if (r->res.pitch2D.height == 0 || r->res.pitch2D.pitchInBytes % 32 != 0 || r->res.pitch2D.pitchInBytes > 2097120 ||
            r->res.pitch2D.width > 131072 || r->res.pitch2D.height > 65000 ||
            r->res.pitch2D.pitchInBytes < r->res.pitch2D.width * bytes * r->res.pitch2D.numChannels)
            return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%zu x %zu texels with a pitch of %zu bytes", r->res.pitch2D.width,
                            r->res.pitch2D.height, r->res.pitch2D.pitchInBytes);
        return take_memory(texels, r->res.pitch2D.devPtr, r->res.pitch2D.format, r->res.pitch2D.numChannels, r->res.pitch2D.width,
                           r->res.pitch2D.height, r->res.pitch2D.pitchInBytes,
                           r->res.pitch2D.pitchInBytes * (r->res.pitch2D.height - 1) +
                               r->res.pitch2D.width * bytes * r->res.pitch2D.numChannels);
    default: return bcu_fail(CUDA_ERROR_INVALID_VALUE, "resource type %d", (int)r->resType);
    }
}

/* The format that a view gives texels; the names count channels up: 8-bit, 16-bit, 32-bit, half, float. */
static CUresult apply_view(const CUDA_RESOURCE_VIEW_DESC *v, struct texels *texels)
{
    static const CUarray_format formats[] = {CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16,
                                             CU_AD_FORMAT_SIGNED_INT16,   CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32,
                                             CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT};
    if (texels->is_memory)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "a view of memory: arrays have views");
    if (v->firstMipmapLevel != 0 || v->firstLayer != 0)
        return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "views from level %u and layer %u", v->firstMipmapLevel, v->firstLayer);
    if (v->format != CU_RES_VIEW_FORMAT_NONE) {
        int index = v->format - CU_RES_VIEW_FORMAT_UINT_1X8;
        if (index < 0 || index >= 24)
            return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "view format %d", (int)v->format);
        texels->format = formats[index / 3];
        texels->channels = 1u << index % 3;
    }
    const CUDA_ARRAY3D_DESCRIPTOR *d = &texels->array->descriptor;
    if (v->width != d->Width || v->height != d->Height || v->depth != d->Depth)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "a view of %zu x %zu x %zu: the array has %zu x %zu x %zu", v->width, v->height,
                        v->depth, d->Width, d->Height, d->Depth);
    if (v->lastMipmapLevel >= texels->array->levels)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "the last level is %u of %u", v->lastMipmapLevel, texels->array->levels);
    if (texels->view.image.type == BLR_IMAGE_MIPMAP)
        texels->view.image.num_levels = v->lastMipmapLevel + 1;
    if (texels->view.image.type == BLR_IMAGE_ARRAY && v->lastLayer > 0 && v->lastLayer < texels->view.image.array_size)
        texels->view.image.array_size = v->lastLayer + 1;
    return CUDA_SUCCESS;
}

/* The channel type that a texture reads, with the flag for codes of sRGB. */
static CUresult apply_flags(unsigned flags, struct texels *texels)
{
    blr_channel_type_t *type = &texels->view.image.channel_type;
    const bool srgb = (flags & CU_TRSF_SRGB) != 0;
    if (*type == BLR_CHANNEL_BC1_SRGB || *type == BLR_CHANNEL_BC2_SRGB || *type == BLR_CHANNEL_BC3_SRGB || *type == BLR_CHANNEL_BC7_SRGB)
        return srgb ? CUDA_SUCCESS : bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "blocks of sRGB without CU_TRSF_SRGB");
    if (!srgb)
        return CUDA_SUCCESS;
    if (*type != BLR_CHANNEL_UNORM_INT8 || texels->channels != 4)
        return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "CU_TRSF_SRGB of %u channels of array format %d: four of 8 bits have it",
                        texels->channels, (int)texels->format);
    *type = BLR_CHANNEL_UNORM_INT8_SRGB;
    return CUDA_SUCCESS;
}

/* ---------------------------------------------------------------- life */

static CUresult keep(const struct object *description, blr_image_handle_t handle)
{
    struct object *object = blr_new(sizeof *object);
    if (object != NULL) {
        *object = *description;
        blr_mutex_lock(&mutex);
        bool added = bcu_map_add(&objects, handle, 1, object);
        blr_mutex_unlock(&mutex);
        if (added)
            return CUDA_SUCCESS;
        blr_delete(object);
    }
    blrImageHandleDestroy(bcu_device.native, handle);
    return bcu_fail_memory("a texture or surface");
}

CUresult cuTexObjectCreate(CUtexObject *handle, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *texture,
                           const CUDA_RESOURCE_VIEW_DESC *view)
{
    struct bcu_context *context;
    struct texels texels;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || resource == NULL || texture == NULL)
        return bcu_fail_null("pTexObject, pResDesc or pTexDesc");
    result = take_resource(resource, &texels);
    if (result == CUDA_SUCCESS && view != NULL)
        result = apply_view(view, &texels);
    uint32_t bytes = 0;
    bool normalized = (texture->flags & CU_TRSF_READ_AS_INTEGER) == 0;
    if (result == CUDA_SUCCESS)
        result = bcu_format(texels.format, texels.channels, normalized, &texels.view.image.channel_type, &bytes);
    texels.view.image.num_channels = texels.channels;
    for (unsigned c = texels.channels; c < 4; c++)
        texels.view.swizzle[c] = c == 3 && bcu_has_blocks(texels.view.image.channel_type) ? BLR_SWIZZLE_ONE : BLR_SWIZZLE_ZERO;
    if (result == CUDA_SUCCESS)
        result = apply_flags(texture->flags, &texels);
    blr_sampler_desc_t sampler;
    blr_image_handle_t native = 0;
    if (result == CUDA_SUCCESS)
        result = translate_sampler(texture, &texels.view.image, &sampler);
    texels.view.sampler = &sampler;
    if (result == CUDA_SUCCESS)
        result = bcu_result(blrImageViewCreate(bcu_device.native, &texels.view, &native));
    finish(&texels);
    if (result != CUDA_SUCCESS)
        return result;
    struct object object = {.context = context, .has_view = view != NULL, .resource = *resource, .texture = *texture};
    if (view != NULL)
        object.view = *view;
    result = keep(&object, native);
    if (result == CUDA_SUCCESS)
        *handle = native;
    return result;
}

/* Surfaces are the bits of texels: unsigned integers of a channel's size. */
CUresult cuSurfObjectCreate(CUsurfObject *handle, const CUDA_RESOURCE_DESC *resource)
{
    struct bcu_context *context;
    struct texels texels;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || resource == NULL)
        return bcu_fail_null("pSurfObject or pResDesc");
    if (resource->resType != CU_RESOURCE_TYPE_ARRAY)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "a surface of resource type %d: an array is needed", (int)resource->resType);
    result = take_resource(resource, &texels);
    if (result == CUDA_SUCCESS && (texels.array->descriptor.Flags & CUDA_ARRAY3D_SURFACE_LDST) == 0)
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "the array was made without CUDA_ARRAY3D_SURFACE_LDST");
    blr_channel_type_t type;
    uint32_t bytes = 0;
    blr_image_handle_t native = 0;
    if (result == CUDA_SUCCESS)
        result = bcu_format(texels.format, texels.channels, false, &type, &bytes);
    if (result == CUDA_SUCCESS) {
        texels.view.image.channel_type = bytes == 1   ? BLR_CHANNEL_UNSIGNED_INT8
                                         : bytes == 2 ? BLR_CHANNEL_UNSIGNED_INT16
                                                      : BLR_CHANNEL_UNSIGNED_INT32;
        result = bcu_result(blrImageViewCreate(bcu_device.native, &texels.view, &native));
    }
    finish(&texels);
    if (result != CUDA_SUCCESS)
        return result;
    struct object object = {.context = context, .is_surface = true, .resource = *resource};
    result = keep(&object, native);
    if (result == CUDA_SUCCESS)
        *handle = native;
    return result;
}

static CUresult destroy(uint64_t handle, bool is_surface)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    blr_mutex_lock(&mutex);
    struct object *object = bcu_map_find(&objects, handle);
    bool right = object != NULL && object->is_surface == is_surface;
    if (right)
        bcu_map_remove(&objects, handle);
    blr_mutex_unlock(&mutex);
    if (!right)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "0x%" PRIx64 " is no %s object", handle, is_surface ? "surface" : "texture");
    blr_delete(object);
    return bcu_result(blrImageHandleDestroy(bcu_device.native, handle));
}

CUresult cuTexObjectDestroy(CUtexObject handle) { return destroy(handle, false); }
CUresult cuSurfObjectDestroy(CUsurfObject handle) { return destroy(handle, true); }

void bcu_textures_destroy(struct bcu_context *context)
{
    for (;;) {
        uint64_t handle = 0;
        struct object *object = NULL;
        blr_mutex_lock(&mutex);
        for (size_t i = 0; i < objects.count && object == NULL; i++) {
            struct object *one = objects.ranges[i].value;
            if (one->context == context) {
                object = one;
                handle = objects.ranges[i].base;
            }
        }
        if (object != NULL)
            bcu_map_remove(&objects, handle);
        blr_mutex_unlock(&mutex);
        if (object == NULL)
            return;
        blr_delete(object);
        blrImageHandleDestroy(bcu_device.native, handle);
    }
}

/* ---------------------------------------------------------------- queries */

static CUresult copy_object(uint64_t handle, bool is_surface, struct object *copy)
{
    CUresult result = bcu_check_started();
    if (result != CUDA_SUCCESS)
        return result;
    blr_mutex_lock(&mutex);
    const struct object *object = bcu_map_find(&objects, handle);
    bool right = object != NULL && object->is_surface == is_surface;
    if (right)
        *copy = *object;
    blr_mutex_unlock(&mutex);
    return right ? CUDA_SUCCESS
                 : bcu_fail(CUDA_ERROR_INVALID_VALUE, "0x%" PRIx64 " is no %s object", handle, is_surface ? "surface" : "texture");
}

static CUresult get_resource(CUDA_RESOURCE_DESC *resource, cuuint64_t handle, bool is_surface)
{
    struct object object;
    CUresult result = copy_object(handle, is_surface, &object);
    if (result != CUDA_SUCCESS)
        return result;
    if (resource == NULL)
        return bcu_fail_null("pResDesc");
    *resource = object.resource;
    return CUDA_SUCCESS;
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUtexObject handle) { return get_resource(resource, handle, false); }
CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUsurfObject handle) { return get_resource(resource, handle, true); }

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *texture, CUtexObject handle)
{
    struct object object;
    CUresult result = copy_object(handle, false, &object);
    if (result != CUDA_SUCCESS)
        return result;
    if (texture == NULL)
        return bcu_fail_null("pTexDesc");
    *texture = object.texture;
    return CUDA_SUCCESS;
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *view, CUtexObject handle)
{
    struct object object;
    CUresult result = copy_object(handle, false, &object);
    if (result != CUDA_SUCCESS)
        return result;
    if (view == NULL || !object.has_view)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "the texture has no view, or pResViewDesc is NULL");
    *view = object.view;
    return CUDA_SUCCESS;
}
