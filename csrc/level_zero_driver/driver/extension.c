/* Extensions of the driver, and extension functions by name. */

#include "level_zero_driver/driver/extension.h"

#include "level_zero_driver/core/fault_injection.h"
#include "level_zero_driver/sync/counter_event.h"
#include "level_zero_driver/driver/driver.h"
#include "level_zero_driver/memory/allocation.h"

#include <stdio.h>
#include <string.h>

/* Names, spelled as other Level Zero drivers spell them. */
static const struct {
    const char *name;
    uint32_t version;
} extensions[] = {
    {"ZE_experimental_bandwidth_properties", ZE_BANDWIDTH_PROPERTIES_EXP_VERSION_1_0},
    {"ZE_experimental_bindless_image", ZE_BINDLESS_IMAGE_EXP_VERSION_1_0},
    {"ZE_experimental_command_list_clone", ZE_COMMAND_LIST_CLONE_EXP_VERSION_1_0},
    {"ZE_extension_device_cache_line_size", ZE_DEVICE_CACHE_LINE_SIZE_EXT_VERSION_1_0},
    {"ZE_extension_device_usablemem_size_properties", ZE_DEVICE_USABLEMEM_SIZE_PROPERTIES_EXT_VERSION_1_0},
    {"ZE_extension_eu_count", ZE_EU_COUNT_EXT_VERSION_1_0},
    {"ZE_experimental_event_pool_counter_based", ZE_EVENT_POOL_COUNTER_BASED_EXP_VERSION_1_0},
    {"ZE_extension_event_query_kernel_timestamps", ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_VERSION_1_0},
    {"ZE_experimental_event_query_timestamps", ZE_EVENT_QUERY_TIMESTAMPS_EXP_VERSION_1_0},
    {"ZE_extension_external_semaphores", ZE_EXTERNAL_SEMAPHORE_EXT_VERSION_1_0},
    {"ZE_extension_float_atomics", ZE_FLOAT_ATOMICS_EXT_VERSION_1_0},
    {"ZE_experimental_global_offset", ZE_GLOBAL_OFFSET_EXP_VERSION_1_0},
    {"ZE_extension_image_copy", ZE_IMAGE_COPY_EXT_VERSION_1_0},
    {"ZE_extension_image_format_support", ZE_IMAGE_FORMAT_SUPPORT_EXT_VERSION_1_0},
    {"ZE_experimental_image_memory_properties", ZE_IMAGE_MEMORY_PROPERTIES_EXP_VERSION_1_0},
    {"ZE_extension_image_query_alloc_properties", ZE_IMAGE_QUERY_ALLOC_PROPERTIES_EXT_VERSION_1_0},
    {"ZE_extension_image_view", ZE_IMAGE_VIEW_EXT_VERSION_1_0},
    {"ZE_experimental_image_view", ZE_IMAGE_VIEW_EXP_VERSION_1_0},
    {"ZE_experimental_immediate_command_list_append", ZE_IMMEDIATE_COMMAND_LIST_APPEND_EXP_VERSION_1_0},
    {"ZE_extension_ipc_mem_handle_type", ZE_IPC_MEM_HANDLE_TYPE_EXT_VERSION_1_0},
    {"ZE_extension_kernel_max_group_size_properties", ZE_KERNEL_MAX_GROUP_SIZE_PROPERTIES_EXT_VERSION_1_0},
    {"ZE_extension_linkage_inspection", ZE_LINKAGE_INSPECTION_EXT_VERSION_1_0},
    {"ZE_extension_memory_free_policies", ZE_MEMORY_FREE_POLICIES_EXT_VERSION_1_0},
    {"ZE_experimental_module_program", ZE_MODULE_PROGRAM_EXP_VERSION_1_0},
    {"ZE_extension_subgroups", ZE_SUBGROUP_EXT_VERSION_1_0},
    {"ZE_extension_virtual_mem_readonly_properties", ZE_VIRTUAL_MEM_READONLY_PROPERTIES_EXT_VERSION_1_0},
    {"ZE_extension_device_ip_version", ZE_DEVICE_IP_VERSION_VERSION_1_0}, /* last: of a named GPU alone */
};

ze_result_t blz_extension_list(uint32_t *count, ze_driver_extension_properties_t *properties)
{
    uint32_t written = 0, all = sizeof extensions / sizeof *extensions;
    ze_result_t result = blz_count(blz_driver()->identity != NULL ? all : all - 1, count, properties, &written);
    for (uint32_t i = 0; i < written; i++) {
        memset(&properties[i], 0, sizeof properties[i]);
        snprintf(properties[i].name, sizeof properties[i].name, "%s", extensions[i].name);
        properties[i].version = extensions[i].version;
    }
    return result;
}

/* The driver's own default context does not count: no client created it. */
static ze_result_t get_object_count(uint64_t *count)
{
    ze_result_t result = blz_result(blrGetObjectCount(count));
    if (result == ZE_RESULT_SUCCESS)
        *count -= 1;
    return result;
}

/* Queries of the API answer for memory of every context; what frees memory does not. */
static ze_result_t get_memory_context(const void *pointer, ze_context_handle_t *context)
{
    if (context == NULL)
        return blz_fail_null("context");
    struct blr_allocation *allocation = blr_memory_find(blz_driver()->reference, pointer);
    *context = allocation == NULL ? NULL : (ze_context_handle_t)(uintptr_t)((const struct blz_memory *)allocation->owner)->context;
    blr_memory_release(allocation);
    return ZE_RESULT_SUCCESS;
}

typedef void (*function_t)(void);

static function_t find(const char *name)
{
    if (strcmp(name, "bindlessFailCalls") == 0)
        return (function_t)blz_call_set_rules;
    if (strcmp(name, "bindlessGetCallCount") == 0)
        return (function_t)blz_call_get_count;
    if (strcmp(name, "bindlessGetObjectCount") == 0)
        return (function_t)get_object_count;
    if (strcmp(name, "bindlessGetMemoryContext") == 0)
        return (function_t)get_memory_context;
    if (strcmp(name, "zexCounterBasedEventCreate2") == 0)
        return (function_t)blz_counter_event_create_intel;
    for (uint32_t call = 0; call < BLZ_CALL_COUNT; call++)
        if (strcmp(name, blz_call_names[call]) == 0)
            return blz_call_entries[call];
    return NULL;
}

ze_result_t blz_extension_function(const char *name, void **address)
{
    if (name == NULL)
        return blz_fail_null("name");
    if (address == NULL)
        return blz_fail_null("ppFunctionAddress");
    function_t function = find(name);
    memcpy(address, &function, sizeof function);
    if (function == NULL)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "'%.100s' is not a function of this driver", name);
    return ZE_RESULT_SUCCESS;
}
