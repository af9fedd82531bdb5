/* Arrays: formats, description, life and queries. */
#include "cuda_driver/image/array.h"

#include "cuda_driver/driver/driver.h"
#include "reference/image/pixel_format.h"

#include <string.h>

CUresult bcu_array_acquire(CUarray handle, struct bcu_array **array) { return bcu_resource_acquire(handle, BCU_ARRAY, array); }

CUresult bcu_mipmap_acquire(CUmipmappedArray handle, struct bcu_array **array)
{
    return bcu_resource_acquire(handle, BCU_MIPMAP, array);
}

/* Where a context is current. */
static CUresult acquire_in_context(const void *handle, enum bcu_kind kind, struct bcu_array **array)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    return result == CUDA_SUCCESS ? bcu_resource_acquire(handle, kind, array) : result;
}

CUresult bcu_format(CUarray_format format, unsigned channels, bool normalized, blr_channel_type_t *type, uint32_t *bytes)
{
    static const struct {
        CUarray_format format;
        blr_channel_type_t plain, normalized;
        uint32_t bytes;
    } formats[] = {
        {CU_AD_FORMAT_UNSIGNED_INT8, BLR_CHANNEL_UNSIGNED_INT8, BLR_CHANNEL_UNORM_INT8, 1},
        {CU_AD_FORMAT_UNSIGNED_INT16, BLR_CHANNEL_UNSIGNED_INT16, BLR_CHANNEL_UNORM_INT16, 2},
        {CU_AD_FORMAT_UNSIGNED_INT32, BLR_CHANNEL_UNSIGNED_INT32, BLR_CHANNEL_UNSIGNED_INT32, 4},
        {CU_AD_FORMAT_SIGNED_INT8, BLR_CHANNEL_SIGNED_INT8, BLR_CHANNEL_SNORM_INT8, 1},
        {CU_AD_FORMAT_SIGNED_INT16, BLR_CHANNEL_SIGNED_INT16, BLR_CHANNEL_SNORM_INT16, 2},
        {CU_AD_FORMAT_SIGNED_INT32, BLR_CHANNEL_SIGNED_INT32, BLR_CHANNEL_SIGNED_INT32, 4},
        {CU_AD_FORMAT_HALF, BLR_CHANNEL_FP16, BLR_CHANNEL_FP16, 2},
        {CU_AD_FORMAT_FLOAT, BLR_CHANNEL_FP32, BLR_CHANNEL_FP32, 4},
        {CU_AD_FORMAT_UNORM_INT8X1, BLR_CHANNEL_UNORM_INT8, BLR_CHANNEL_UNORM_INT8, 1},
        {CU_AD_FORMAT_UNORM_INT8X2, BLR_CHANNEL_UNORM_INT8, BLR_CHANNEL_UNORM_INT8, 1},
        {CU_AD_FORMAT_UNORM_INT8X4, BLR_CHANNEL_UNORM_INT8, BLR_CHANNEL_UNORM_INT8, 1},
        {CU_AD_FORMAT_UNORM_INT16X1, BLR_CHANNEL_UNORM_INT16, BLR_CHANNEL_UNORM_INT16, 2},
        {CU_AD_FORMAT_UNORM_INT16X2, BLR_CHANNEL_UNORM_INT16, BLR_CHANNEL_UNORM_INT16, 2},
        {CU_AD_FORMAT_UNORM_INT16X4, BLR_CHANNEL_UNORM_INT16, BLR_CHANNEL_UNORM_INT16, 2},
        {CU_AD_FORMAT_SNORM_INT8X1, BLR_CHANNEL_SNORM_INT8, BLR_CHANNEL_SNORM_INT8, 1},
        {CU_AD_FORMAT_SNORM_INT8X2, BLR_CHANNEL_SNORM_INT8, BLR_CHANNEL_SNORM_INT8, 1},
        {CU_AD_FORMAT_SNORM_INT8X4, BLR_CHANNEL_SNORM_INT8, BLR_CHANNEL_SNORM_INT8, 1},
        {CU_AD_FORMAT_SNORM_INT16X1, BLR_CHANNEL_SNORM_INT16, BLR_CHANNEL_SNORM_INT16, 2},
        {CU_AD_FORMAT_SNORM_INT16X2, BLR_CHANNEL_SNORM_INT16, BLR_CHANNEL_SNORM_INT16, 2},
        {CU_AD_FORMAT_SNORM_INT16X4, BLR_CHANNEL_SNORM_INT16, BLR_CHANNEL_SNORM_INT16, 2},
        {CU_AD_FORMAT_UNORM_INT_101010_2, BLR_CHANNEL_UNORM_INT_10_10_10_2, BLR_CHANNEL_UNORM_INT_10_10_10_2, 1},
    };
    if (format >= CU_AD_FORMAT_BC1_UNORM && format <= CU_AD_FORMAT_BC7_UNORM_SRGB) {
        *type = (blr_channel_type_t)(BLR_CHANNEL_BC1_UNORM + (int)format - CU_AD_FORMAT_BC1_UNORM); /* in the same order */
        *bytes = 0;
        if (blr_pixel_size(*type, channels) == 0)
            return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%u channels of blocks of array format %d", channels, (int)format);
        return CUDA_SUCCESS;
    }
    if (channels != 1 && channels != 2 && channels != 4)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%u channels: 1, 2 or 4 are possible", channels);
    for (unsigned i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (formats[i].format == format) {
            *type = normalized ? formats[i].normalized : formats[i].plain;
            *bytes = formats[i].bytes;
            return CUDA_SUCCESS;
        }
    return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "array format %d", (int)format);
}

CUresult bcu_array_describe(struct bcu_array *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned levels)
{
    const unsigned all_flags = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST | CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER |
                               CUDA_ARRAY3D_COLOR_ATTACHMENT;
    const CUDA_ARRAY3D_DESCRIPTOR *d = descriptor;
    bool layered = (d->Flags & CUDA_ARRAY3D_LAYERED) != 0, cube = (d->Flags & CUDA_ARRAY3D_CUBEMAP) != 0;
    blr_channel_type_t type;
    uint32_t bytes;
    if ((d->Flags & ~all_flags) != 0)
        return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "flags of an array are 0x%x: 0x%x are known", d->Flags, all_flags);
    const uint32_t channels = bcu_image_channels(d->Format, d->NumChannels);
    CUresult result = bcu_format(d->Format, channels, false, &type, &bytes);
    if (result != CUDA_SUCCESS)
        return result;
    if (d->Width == 0 || (d->Depth > 0 && d->Height == 0 && !layered))
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "an array of %zu x %zu x %zu", d->Width, d->Height, d->Depth);
    if (layered && d->Depth == 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "a layered array with Depth 0");
    if (cube && (d->Width != d->Height || d->Depth != 6))
        return bcu_fail(layered ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE,
                        "a cubemap of %zu x %zu x %zu%s: six equal squares are needed", d->Width, d->Height, d->Depth,
                        layered ? ", layered" : "");
    if (levels > 1 && (layered || cube))
        return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "a mipmapped array with layers or faces");
    if (bcu_has_blocks(type) && (d->Height == 0 || (d->Depth > 0 && !layered && !cube) || (d->Flags & CUDA_ARRAY3D_SURFACE_LDST) != 0))
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "blocks in an array of %zu x %zu x %zu with flags 0x%x: two dimensions, and no surfaces",
                        d->Width, d->Height, d->Depth, d->Flags);
    const bool is_bc6h = type == BLR_CHANNEL_BC6H_UFLOAT || type == BLR_CHANNEL_BC6H_SFLOAT;
    if (blr_pixel_size(type, channels) == 0 || (is_bc6h && d->NumChannels != 3))
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%u channels of array format %d", d->NumChannels, (int)d->Format);
    array->descriptor = *d;
    array->pixel_size = blr_pixel_size(type, channels);
    array->levels = levels > 0 ? levels : 1;
    array->desc = (blr_image_desc_t){
        .width = d->Width,
        .height = d->Height,
        .depth = layered || cube ? 0 : d->Depth,
        .num_channels = channels,
        .channel_type = type,
        .type = cube ? BLR_IMAGE_CUBEMAP : layered ? BLR_IMAGE_ARRAY : levels > 1 ? BLR_IMAGE_MIPMAP : BLR_IMAGE_STANDARD,
        .num_levels = array->levels,
        .array_size = cube ? 6 : layered ? (uint32_t)d->Depth : 1,
    };
    array->extent[0] = bcu_texel_groups(type, d->Width);
    array->extent[1] = d->Height > 0 ? bcu_texel_groups(type, d->Height) : 1;
    array->extent[2] = d->Depth > 0 ? d->Depth : 1;
    return CUDA_SUCCESS;
}

static void release(struct bcu_resource *resource)
{
    struct bcu_array *array = (struct bcu_array *)resource;
    if (array->owns && array->image != NULL)
        blrImageDestroy(array->image);
    if (array->mipmap != NULL)
        bcu_array_release(array->mipmap);
    blr_delete(array);
}

CUresult bcu_array_register(struct bcu_array *array, struct bcu_context *context, bool is_mipmap, void *handle)
{
    return bcu_resource_register(&array->resource, is_mipmap ? BCU_MIPMAP : BCU_ARRAY, context, release, handle);
}

/* The image has a layer more than described where the reference driver has no smaller one. */
static blr_image_desc_t possible(const blr_image_desc_t *desc)
{
    blr_image_desc_t image = *desc;
    if (image.type == BLR_IMAGE_ARRAY && image.array_size == 1)
        image.array_size = 2;
    return image;
}

static CUresult create(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned levels, void *handle)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || descriptor == NULL)
        return bcu_fail_null("the handle or the descriptor");
    struct bcu_array *array = blr_new(sizeof *array);
    if (array == NULL)
        return bcu_fail_memory("an array");
    array->owns = true;
    result = bcu_array_describe(array, descriptor, levels);
    if (result == CUDA_SUCCESS) {
        blr_image_desc_t image = possible(&array->desc);
        result = bcu_result(blrImageCreate(bcu_device.native, &image, &array->image));
    }
    if (result == CUDA_SUCCESS)
        return bcu_array_register(array, context, levels > 0, handle);
    blr_delete(array);
    return result;
}

/* ---------------------------------------------------------------- functions */

CUresult cuArray3DCreate_v2(CUarray *handle, const CUDA_ARRAY3D_DESCRIPTOR *descriptor) { return create(descriptor, 0, handle); }

CUresult cuArrayCreate_v2(CUarray *handle, const CUDA_ARRAY_DESCRIPTOR *flat)
{
    if (flat == NULL)
        return bcu_fail_null("pAllocateArray");
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {flat->Width, flat->Height, 0, flat->Format, flat->NumChannels, 0};
    return create(&descriptor, 0, handle);
}

CUresult cuArrayDestroy(CUarray handle)
{
    struct bcu_array *array;
    CUresult result = acquire_in_context(handle, BCU_ARRAY, &array);
    if (result != CUDA_SUCCESS)
        return result;
    bool level = array->mipmap != NULL;
    bcu_array_release(array);
    if (level)
        return bcu_fail(CUDA_ERROR_INVALID_HANDLE, "a level is destroyed with its mipmapped array");
    return bcu_resource_destroy(handle, BCU_ARRAY);
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *descriptor, CUarray handle)
{
    struct bcu_array *array;
    CUresult result = acquire_in_context(handle, BCU_ARRAY, &array);
    if (result != CUDA_SUCCESS)
        return result;
    if (descriptor == NULL)
        result = bcu_fail_null("pArrayDescriptor");
    else
        *descriptor = array->descriptor;
    bcu_array_release(array);
    return result;
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *flat, CUarray handle)
{
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    CUresult result = cuArray3DGetDescriptor_v2(&descriptor, handle);
    if (result != CUDA_SUCCESS)
        return result;
    if (flat == NULL)
        return bcu_fail_null("pArrayDescriptor");
    *flat = (CUDA_ARRAY_DESCRIPTOR){descriptor.Width, descriptor.Height, descriptor.Format, descriptor.NumChannels};
    return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *handle, const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned int levels)
{
    if (levels == 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "0 levels");
    if (descriptor != NULL) { /* more levels than the image can have are cut off */
        size_t most = descriptor->Width > descriptor->Height ? descriptor->Width : descriptor->Height;
        if ((descriptor->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) == 0 && descriptor->Depth > most)
            most = descriptor->Depth;
        unsigned possible_levels = 1;
        while (most >>= 1)
            possible_levels++;
        if (levels > possible_levels)
            levels = possible_levels;
    }
    return create(descriptor, levels, handle);
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle)
{
    struct bcu_array *mipmap;
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result == CUDA_SUCCESS)
        result = bcu_mipmap_acquire(handle, &mipmap);
    if (result != CUDA_SUCCESS)
        return result;
    blr_mutex_lock(&context->mutex);
    struct bcu_array *levels[BLR_MAX_MIP_LEVELS];
    memcpy(levels, mipmap->level, sizeof levels);
    memset(mipmap->level, 0, sizeof mipmap->level);
    blr_mutex_unlock(&context->mutex);
    for (unsigned i = 0; i < BLR_MAX_MIP_LEVELS; i++)
        if (levels[i] != NULL)
            bcu_resource_close(&levels[i]->resource);
    bcu_array_release(mipmap);
    return bcu_resource_destroy(handle, BCU_MIPMAP);
}

/* Makes the array of one level. */
static CUresult make_level(struct bcu_array *mipmap, unsigned number, CUarray *handle)
{
    struct bcu_array *level = blr_new(sizeof *level);
    if (level == NULL)
        return bcu_fail_memory("an array");
    CUDA_ARRAY3D_DESCRIPTOR descriptor = mipmap->descriptor;
    size_t *extents[] = {&descriptor.Width, &descriptor.Height, &descriptor.Depth};
    for (int c = 0; c < 3; c++)
        if (*extents[c] > 0)
            *extents[c] = *extents[c] >> number > 0 ? *extents[c] >> number : 1;
    CUresult result = bcu_array_describe(level, &descriptor, 0);
    if (mipmap->levels == 1)
        level->image = mipmap->image;
    else if (result == CUDA_SUCCESS)
        result = bcu_result(blrImageGetLevel(mipmap->image, number, &level->image));
    if (result != CUDA_SUCCESS) {
        blr_delete(level);
        return result;
    }
    level->mipmap = mipmap;
    bcu_resource_retain(&mipmap->resource);
    result = bcu_array_register(level, mipmap->resource.context, false, handle);
    if (result == CUDA_SUCCESS)
        mipmap->level[number] = level;
    return result;
}

CUresult cuMipmappedArrayGetLevel(CUarray *handle, CUmipmappedArray mipmap_handle, unsigned int number)
{
    static blr_mutex_t making = BLR_MUTEX_INIT;
    struct bcu_array *mipmap;
    CUresult result = acquire_in_context(mipmap_handle, BCU_MIPMAP, &mipmap);
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || number >= mipmap->levels) {
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "level %u of %u, or no output pointer", number, mipmap->levels);
    } else {
        blr_mutex_lock(&making);
        if (mipmap->level[number] != NULL)
            *handle = bcu_handle(&mipmap->level[number]->resource);
        else
            result = make_level(mipmap, number, handle);
        blr_mutex_unlock(&making);
    }
    bcu_array_release(mipmap);
    return result;
}

static CUresult requirements(const struct bcu_array *array, CUDA_ARRAY_MEMORY_REQUIREMENTS *out)
{
    if (out == NULL)
        return bcu_fail_null("memoryRequirements");
    uint64_t size = 0;
    for (unsigned i = 0; i < array->levels; i++) {
        const uint64_t extent[3] = {array->desc.width, array->desc.height, array->extent[2]};
        uint64_t pixels = 1;
        for (int c = 0; c < 3; c++) {
            const uint64_t texels = extent[c] >> i > 0 ? extent[c] >> i : 1;
            pixels *= c < 2 ? bcu_texel_groups(array->desc.channel_type, texels) : texels;
        }
        size += pixels * array->pixel_size;
    }
    *out = (CUDA_ARRAY_MEMORY_REQUIREMENTS){.size = size, .alignment = 512};
    return CUDA_SUCCESS;
}

static CUresult get_requirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out, const void *handle, enum bcu_kind kind, CUdevice device)
{
    struct bcu_array *array;
    CUresult result = bcu_check_device(device);
    if (result == CUDA_SUCCESS)
        result = bcu_resource_acquire(handle, kind, &array);
    if (result != CUDA_SUCCESS)
        return result;
    result = requirements(array, out);
    bcu_array_release(array);
    return result;
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out, CUarray handle, CUdevice device)
{
    return get_requirements(out, handle, BCU_ARRAY, device);
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *out, CUmipmappedArray handle, CUdevice device)
{
    return get_requirements(out, handle, BCU_MIPMAP, device);
}
