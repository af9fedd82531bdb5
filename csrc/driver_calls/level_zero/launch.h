/* A launch as one call: Level Zero keeps work-group, offset and arguments in the kernel, so they are set and the launch
 * is appended under the kernel's mutex. */
#ifndef BINDLESS_DRIVER_CALLS_LEVEL_ZERO_LAUNCH_H
#define BINDLESS_DRIVER_CALLS_LEVEL_ZERO_LAUNCH_H

#include <stdlib.h>
#include <string.h>

#include "../../reference/platform/threads.h"
#include "level_zero/stream.h"

/* The value that was set last; `set` is 0 where it is unknown. */
typedef struct bindless_value {
    uint32_t size;
    int set;
    unsigned char *value;
} bindless_value_t;

struct bindless_kernel {
    blr_mutex_t mutex;
    ze_kernel_handle_t kernel;
    bindless_set_offset_t set_offset;
    uint32_t group[3]; /* 0 where it is unknown */
    uint32_t offset[3];
    uint32_t count;
    bindless_value_t values[];
};

static bindless_kernel_t *bindless_kernel_create(ze_kernel_handle_t kernel, bindless_set_offset_t set_offset,
                                                 uint32_t count, const uint32_t *sizes)
{
    size_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        total += sizes[i];
    }
    bindless_kernel_t *created = calloc(1, sizeof *created + count * sizeof created->values[0] + total);
    if (created == NULL) {
        return NULL;
    }
    blr_mutex_init(&created->mutex);
    created->kernel = kernel;
    created->set_offset = set_offset;
    created->count = count;
    unsigned char *value = (unsigned char *)&created->values[count];
    for (uint32_t i = 0; i < count; i++) {
        created->values[i].size = sizes[i];
        created->values[i].value = value;
        value += sizes[i];
    }
    return created;
}

static void bindless_kernel_destroy(bindless_kernel_t *kernel)
{
    blr_mutex_destroy(&kernel->mutex);
    free(kernel);
}

static ze_result_t bindless_set_group(bindless_kernel_t *kernel, const uint32_t *group)
{
    if (memcmp(kernel->group, group, sizeof kernel->group) == 0) {
        return ZE_RESULT_SUCCESS;
    }
    memset(kernel->group, 0, sizeof kernel->group);
    ze_result_t result = zeKernelSetGroupSize(kernel->kernel, group[0], group[1], group[2]);
    if (result == ZE_RESULT_SUCCESS) {
        memcpy(kernel->group, group, sizeof kernel->group);
    }
    return result;
}

static ze_result_t bindless_set_offset(bindless_kernel_t *kernel, const uint32_t *offset)
{
    if (memcmp(kernel->offset, offset, sizeof kernel->offset) == 0) {
        return ZE_RESULT_SUCCESS;
    }
    memcpy(kernel->offset, offset, sizeof kernel->offset);
    return kernel->set_offset(kernel->kernel, offset[0], offset[1], offset[2]);
}

static ze_result_t bindless_set_arguments(bindless_kernel_t *kernel, const bindless_launch_t *launch)
{
    for (uint32_t i = 0; i < launch->count; i++) {
        const bindless_setting_t *setting = &launch->settings[i];
        bindless_value_t *entry = i < kernel->count && kernel->values[i].size > 0 ? &kernel->values[i] : NULL;
        if (entry != NULL && (setting->value == NULL || setting->size != entry->size)) {
            return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
        }
        if (entry != NULL && entry->set && memcmp(entry->value, setting->value, entry->size) == 0) {
            continue;
        }
        if (entry != NULL) {
            entry->set = 0;
        }
        ze_result_t result = zeKernelSetArgumentValue(kernel->kernel, i, setting->size, setting->value);
        if (result != ZE_RESULT_SUCCESS) {
            return result;
        }
        if (entry != NULL) {
            memcpy(entry->value, setting->value, entry->size);
            entry->set = 1;
        }
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t bindless_append_launch(const bindless_launch_t *launch, ze_command_list_handle_t list,
                                          ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits)
{
    static const uint32_t no_offset[3] = {0, 0, 0};
    bindless_kernel_t *kernel = launch->kernel;
    blr_mutex_lock(&kernel->mutex);
    ze_result_t result = bindless_set_group(kernel, launch->group);
    if (result == ZE_RESULT_SUCCESS) {
        result = bindless_set_arguments(kernel, launch);
    }
    if (result == ZE_RESULT_SUCCESS) {
        result = bindless_set_offset(kernel, launch->offset);
    }
    if (result == ZE_RESULT_SUCCESS && launch->way == BINDLESS_COOPERATIVE) {
        result = zeCommandListAppendLaunchCooperativeKernel(list, kernel->kernel, launch->groups, signal, count, waits);
    } else if (result == ZE_RESULT_SUCCESS && launch->way == BINDLESS_INDIRECT) {
        result = zeCommandListAppendLaunchKernelIndirect(list, kernel->kernel, launch->groups, signal, count, waits);
    } else if (result == ZE_RESULT_SUCCESS) {
        result = zeCommandListAppendLaunchKernel(list, kernel->kernel, launch->groups, signal, count, waits);
    }
    (void)bindless_set_offset(kernel, no_offset); /* other libraries may launch the kernel */
    blr_mutex_unlock(&kernel->mutex);
    return result;
}

static int bindless_launch(const bindless_launch_t *launch)
{
    bindless_open_t opened;
    ze_event_handle_t waits[BINDLESS_MOST_WAITS];
    ze_result_t result = bindless_start(launch->stream, &opened, waits);
    if (result == ZE_RESULT_SUCCESS) {
        result = bindless_append_launch(launch, opened.list, NULL, (uint32_t)launch->stream->waits.count, waits);
    }
    return bindless_finish(launch->stream, &opened, result);
}

static void bindless_kernel_suggest_group(bindless_kernel_t *kernel, const uint32_t *sizes, uint32_t *group)
{
    blr_mutex_lock(&kernel->mutex);
    ze_result_t result =
        zeKernelSuggestGroupSize(kernel->kernel, sizes[0], sizes[1], sizes[2], &group[0], &group[1], &group[2]);
    blr_mutex_unlock(&kernel->mutex);
    for (int i = 0; i < 3; i++) {
        if (result != ZE_RESULT_SUCCESS || group[i] == 0 || sizes[i] % group[i] != 0) {
            group[0] = 0;
        }
    }
}

static ze_result_t bindless_kernel_count_cooperative(bindless_kernel_t *kernel, const uint32_t *group, uint32_t *count)
{
    blr_mutex_lock(&kernel->mutex);
    ze_result_t result = bindless_set_group(kernel, group);
    if (result == ZE_RESULT_SUCCESS) {
        result = zeKernelSuggestMaxCooperativeGroupCount(kernel->kernel, count);
    }
    blr_mutex_unlock(&kernel->mutex);
    return result;
}

static ze_result_t bindless_kernel_prefer_cache(bindless_kernel_t *kernel, ze_cache_config_flags_t flags)
{
    blr_mutex_lock(&kernel->mutex);
    ze_result_t result = zeKernelSetCacheConfig(kernel->kernel, flags);
    blr_mutex_unlock(&kernel->mutex);
    return result;
}

#endif
