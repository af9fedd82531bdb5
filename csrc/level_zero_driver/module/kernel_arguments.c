/* Launch state of a kernel: arguments, group size, offset, hints. */
#include "level_zero_driver/image/image.h"
#include "level_zero_driver/module/kernel.h"
#include "level_zero_driver/image/sampler.h"

#include <inttypes.h>
#include <string.h>

/* ---------------------------------------------------------------- arguments */

static ze_result_t fail_size(const struct blz_kernel *kernel, uint32_t index, size_t size)
{
    const blr_kernel_argument_t *is = &kernel->arguments[index].is;
    return blz_fail(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE,
                    "argument %u ('%.60s') of kernel '%.80s' has %" PRIu64 " bytes, %zu were given", index, is->name,
                    kernel->properties.name, is->size, size);
}

/* Retains an image or a sampler and stores the handle value that kernels use. */
static ze_result_t set_object(struct blz_argument *argument, const void *value)
{
    const void *handle = NULL;
    struct blz_image *image;
    struct blz_sampler *sampler;
    uint64_t number;
    struct blr_object *resource;
    if (value == NULL)
        return blz_fail_null("pArgValue, of an image or a sampler,");
    memcpy(&handle, value, sizeof handle);
    ze_result_t result;
    if (argument->is.kind == BLR_ARGUMENT_KIND_IMAGE) {
        result = blz_image_acquire((ze_image_handle_t)(uintptr_t)handle, &image);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        number = image->plain;
        resource = &image->object;
    } else {
        result = blz_acquire(handle, BLR_KIND_ZE_SAMPLER, &sampler);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        number = sampler->number;
        resource = &sampler->object;
    }
    if (argument->resource != NULL)
        blr_object_release(argument->resource);
    argument->resource = resource;
    memcpy(argument->value, &number, sizeof number);
    argument->set = true;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t set_argument(struct blz_kernel *kernel, uint32_t index, size_t size, const void *value)
{
    struct blz_argument *argument = &kernel->arguments[index];
    switch (argument->is.kind) {
    case BLR_ARGUMENT_KIND_LOCAL:
        if (value != NULL)
            return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "argument %u ('%.60s') of kernel '%.80s' is local memory: pass NULL as pArgValue and its size as argSize", index,
                            argument->is.name, kernel->properties.name);
        if (size == 0)
            return blz_fail(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE, "argument %u of kernel '%.80s': 0 bytes of local memory",
                            index, kernel->properties.name);
        argument->size = size;
        argument->set = true;
        return ZE_RESULT_SUCCESS;
    case BLR_ARGUMENT_KIND_IMAGE:
    case BLR_ARGUMENT_KIND_SAMPLER:
        return size == sizeof(void *) ? set_object(argument, value) : fail_size(kernel, index, size);
    case BLR_ARGUMENT_KIND_POINTER:
    case BLR_ARGUMENT_KIND_VALUE:
        break;
    }
    /* Of more bytes the first are taken; behind fewer bytes of a value are zeros. */
    ze_result_t result = size == argument->is.size ? ZE_RESULT_SUCCESS : fail_size(kernel, index, size);
    if (size > argument->is.size || (argument->is.kind == BLR_ARGUMENT_KIND_VALUE && size > 0))
        result = blz_tolerate(result);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    memset(argument->value, 0, argument->is.size);
    if (value != NULL) /* else zero: a null pointer or a zero value */
        memcpy(argument->value, value, size < argument->is.size ? size : argument->is.size);
    argument->set = true;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSetArgumentValue(ze_kernel_handle_t handle, uint32_t index, size_t size, const void *value)
{
    struct blz_kernel *kernel;
    ze_result_t result = blz_kernel_acquire(handle, &kernel);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (index >= kernel->properties.argument_count) {
        result = blz_fail(ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX, "argument %u: kernel '%.80s' has %u arguments, numbered from 0", index,
                          kernel->properties.name, kernel->properties.argument_count);
    } else {
        blr_mutex_lock(&kernel->mutex);
        result = set_argument(kernel, index, size, value);
        blr_mutex_unlock(&kernel->mutex);
    }
    blz_kernel_release(kernel);
    return result;
}

/* ---------------------------------------------------------------- groups */

static ze_result_t check_group(const struct blz_kernel *kernel, const uint32_t group[3])
{
    const uint32_t *required = kernel->properties.required_work_group_size;
    uint64_t size = (uint64_t)group[0] * group[1];
    size = size > UINT32_MAX ? size : size * group[2];
    if (size == 0 || size > kernel->properties.max_work_group_size)
        return blz_fail(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
                        "groups of %u x %u x %u: kernel '%.80s' runs in groups of 1 to %u work-items", group[0], group[1], group[2],
                        kernel->properties.name, kernel->properties.max_work_group_size);
    if (required[0] != 0 && (group[0] != required[0] || group[1] != required[1] || group[2] != required[2]))
        return blz_fail(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION,
                        "groups of %u x %u x %u: kernel '%.80s' runs in groups of %u x %u x %u only", group[0], group[1], group[2],
                        kernel->properties.name, required[0], required[1], required[2]);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSetGroupSize(ze_kernel_handle_t handle, uint32_t x, uint32_t y, uint32_t z)
{
    struct blz_kernel *kernel;
    ze_result_t result = blz_kernel_acquire(handle, &kernel);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    const uint32_t group[3] = {x, y, z};
    result = check_group(kernel, group);
    if (result == ZE_RESULT_SUCCESS) {
        blr_mutex_lock(&kernel->mutex);
        memcpy(kernel->group, group, sizeof group);
        blr_mutex_unlock(&kernel->mutex);
    }
    blz_kernel_release(kernel);
    return result;
}

static uint32_t largest_divisor(uint32_t size, uint32_t maximum)
{
    uint32_t divisor = size < maximum ? size : maximum;
    while (size % divisor != 0)
        divisor--;
    return divisor;
}

ze_result_t zeKernelSuggestGroupSize(ze_kernel_handle_t handle, uint32_t x, uint32_t y, uint32_t z, uint32_t *group_x,
                                     uint32_t *group_y, uint32_t *group_z)
{
    struct blz_kernel *kernel;
    ze_result_t result = blz_kernel_acquire(handle, &kernel);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    const uint32_t global[3] = {x, y, z};
    uint32_t *const group[3] = {group_x, group_y, group_z};
    uint32_t room = kernel->properties.sub_group_size;
    if (room > kernel->properties.max_work_group_size)
        room = kernel->properties.max_work_group_size;
    if (x == 0 || y == 0 || z == 0)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION, "a range of %u x %u x %u work-items: each must be at least 1", x, y,
                          z);
    for (int c = 0; c < 3 && result == ZE_RESULT_SUCCESS; c++) {
        uint32_t size = kernel->properties.required_work_group_size[0] != 0 ? kernel->properties.required_work_group_size[c]
                                                                            : largest_divisor(global[c], room);
        room = size < room ? room / size : 1;
        if (group[c] != NULL)
            *group[c] = size;
    }
    blz_kernel_release(kernel);
    return result;
}

ze_result_t zeKernelSuggestMaxCooperativeGroupCount(ze_kernel_handle_t handle, uint32_t *count)
{
    struct blz_kernel *kernel;
    ze_result_t result = blz_kernel_acquire(handle, &kernel);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    blz_kernel_release(kernel);
    if (count == NULL)
        return blz_fail_null("totalGroupCount");
    *count = BLZ_MAX_COOPERATIVE_GROUPS;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSetGlobalOffsetExp(ze_kernel_handle_t handle, uint32_t x, uint32_t y, uint32_t z)
{
    struct blz_kernel *kernel;
    ze_result_t result = blz_kernel_acquire(handle, &kernel);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    blr_mutex_lock(&kernel->mutex);
    kernel->offset[0] = x;
    kernel->offset[1] = y;
    kernel->offset[2] = z;
    blr_mutex_unlock(&kernel->mutex);
    blz_kernel_release(kernel);
    return ZE_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- hints */

#define INDIRECT_FLAGS (ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST | ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE | ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED)

/* All memory is resident; the flags have no effect. */
ze_result_t zeKernelSetIndirectAccess(ze_kernel_handle_t handle, ze_kernel_indirect_access_flags_t flags)
{
    struct blz_kernel *kernel;
    ze_result_t result = blz_kernel_acquire(handle, &kernel);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if ((flags & ~(uint32_t)INDIRECT_FLAGS) != 0) {
        result = blz_fail_enumeration("flags", flags, "ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST (1), _DEVICE (2) and _SHARED (4) are known");
    } else {
        blr_mutex_lock(&kernel->mutex);
        kernel->indirect = flags;
        blr_mutex_unlock(&kernel->mutex);
    }
    blz_kernel_release(kernel);
    return result;
}

ze_result_t zeKernelGetIndirectAccess(ze_kernel_handle_t handle, ze_kernel_indirect_access_flags_t *flags)
{
    struct blz_kernel *kernel;
    ze_result_t result = blz_kernel_acquire(handle, &kernel);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (flags == NULL) {
        result = blz_fail_null("pFlags");
    } else {
        blr_mutex_lock(&kernel->mutex);
        *flags = kernel->indirect;
        blr_mutex_unlock(&kernel->mutex);
    }
    blz_kernel_release(kernel);
    return result;
}

/* Processors do not split a cache between local memory and data: the preference has no effect. */
ze_result_t zeKernelSetCacheConfig(ze_kernel_handle_t handle, ze_cache_config_flags_t flags)
{
    struct blz_kernel *kernel;
    ze_result_t result = blz_kernel_acquire(handle, &kernel);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    blz_kernel_release(kernel);
    if ((flags & ~(uint32_t)(ZE_CACHE_CONFIG_FLAG_LARGE_SLM | ZE_CACHE_CONFIG_FLAG_LARGE_DATA)) != 0)
        return blz_fail_enumeration("flags", flags, "ZE_CACHE_CONFIG_FLAG_LARGE_SLM (1) and _LARGE_DATA (2) are known");
    return ZE_RESULT_SUCCESS;
}
