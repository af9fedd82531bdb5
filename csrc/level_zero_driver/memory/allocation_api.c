/* API calls on memory: allocation, free, residency, queries. */
#include "level_zero_driver/memory/external_memory.h"
#include "level_zero_driver/memory/allocation.h"
#include "level_zero_driver/command/memory_ranges.h"
#include "level_zero_driver/command/executor.h"
#include "level_zero_driver/core/descriptor_chain.h"

#include <inttypes.h>

#define DEVICE_FLAGS                                                                                                          \
    (ZE_DEVICE_MEM_ALLOC_FLAG_BIAS_CACHED | ZE_DEVICE_MEM_ALLOC_FLAG_BIAS_UNCACHED | ZE_DEVICE_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT)
#define HOST_FLAGS                                                                                                            \
    (ZE_HOST_MEM_ALLOC_FLAG_BIAS_CACHED | ZE_HOST_MEM_ALLOC_FLAG_BIAS_UNCACHED | ZE_HOST_MEM_ALLOC_FLAG_BIAS_WRITE_COMBINED | \
     ZE_HOST_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT | ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY)

/* ---------------------------------------------------------------- descriptors */

/* Chained structs of memory that is imported or exported. */
struct external {
    const ze_external_memory_import_fd_t *import;
    const ze_external_memory_export_desc_t *export;
};

/* The structs for compression and large allocations are accepted and have no effect. */
static ze_result_t check_device_desc(const ze_device_mem_alloc_desc_t *desc, struct external *external)
{
    struct blz_extension extensions[] = {
        {ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC, NULL},
        {ZE_STRUCTURE_TYPE_MEMORY_COMPRESSION_HINTS_EXT_DESC, NULL},
        {ZE_STRUCTURE_TYPE_IPC_MEM_HANDLE_TYPE_EXT_DESC, NULL},
        {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, NULL},
        {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, NULL},
    };
    /* Shared allocations cannot be imported or exported. */
    ze_result_t result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, "device_desc", extensions,
                                        external == NULL ? 2 : 5);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_ipc_check_type(extensions[2].address);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (external != NULL)
        *external = (struct external){extensions[3].address, extensions[4].address};
    if ((desc->flags & ~(uint32_t)DEVICE_FLAGS) != 0)
        return blz_fail_enumeration("device_desc->flags", desc->flags, "flags that are known are 0x7");
    if (desc->ordinal != 0)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "device_desc->ordinal is %u: the device has one memory, ordinal 0",
                        desc->ordinal);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t check_host_desc(const ze_host_mem_alloc_desc_t *desc, struct external *external)
{
    struct blz_extension extensions[] = {
        {ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC, NULL},
        {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, NULL},
        {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, NULL},
    };
    ze_result_t result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, "host_desc", extensions, external == NULL ? 1 : 3);
    if (external != NULL)
        *external = (struct external){extensions[1].address, extensions[2].address};
    if (result == ZE_RESULT_SUCCESS && (desc->flags & ~(uint32_t)HOST_FLAGS) != 0)
        return blz_fail_enumeration("host_desc->flags", desc->flags, "flags that are known are 0x1f");
    return result;
}

/* ---------------------------------------------------------------- allocation */

static ze_result_t allocate(ze_context_handle_t handle, struct blz_device *device, ze_memory_type_t type,
                            const struct external *external, size_t size, size_t alignment, void **pointer)
{
    struct blz_context *context;
    ze_result_t result = blz_context_acquire(handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (pointer == NULL)
        result = blz_fail_null("pptr");
    else if (external->import != NULL || external->export != NULL)
        result = blz_external_allocate(context, device, type, external->import, external->export, size, alignment, pointer);
    else
        result = blz_memory_allocate(context, device, type, size, alignment, pointer);
    blz_context_release(context);
    return result;
}

ze_result_t zeMemAllocDevice(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *desc, size_t size, size_t alignment,
                             ze_device_handle_t device_handle, void **pointer)
{
    struct blz_device *device;
    struct external external = {NULL, NULL};
    ze_result_t result = blz_device_check(device_handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = check_device_desc(desc, &external);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    return allocate(context, device, ZE_MEMORY_TYPE_DEVICE, &external, size, alignment, pointer);
}

ze_result_t zeMemAllocHost(ze_context_handle_t context, const ze_host_mem_alloc_desc_t *desc, size_t size, size_t alignment,
                           void **pointer)
{
    struct external external = {NULL, NULL};
    ze_result_t result = check_host_desc(desc, &external);
    return result == ZE_RESULT_SUCCESS ? allocate(context, NULL, ZE_MEMORY_TYPE_HOST, &external, size, alignment, pointer) : result;
}

ze_result_t zeMemAllocShared(ze_context_handle_t context, const ze_device_mem_alloc_desc_t *device_desc,
                             const ze_host_mem_alloc_desc_t *host_desc, size_t size, size_t alignment,
                             ze_device_handle_t device_handle, void **pointer)
{
    struct blz_device *device = NULL;
    ze_result_t result = device_handle == NULL ? ZE_RESULT_SUCCESS : blz_device_check(device_handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = check_device_desc(device_desc, NULL);
    if (result == ZE_RESULT_SUCCESS)
        result = check_host_desc(host_desc, NULL);
    const struct external none = {NULL, NULL};
    if (result != ZE_RESULT_SUCCESS)
        return result;
    return allocate(context, device, ZE_MEMORY_TYPE_SHARED, &none, size, alignment, pointer);
}

ze_result_t zeMemFree(ze_context_handle_t handle, void *pointer)
{
    struct blz_context *context;
    ze_result_t result = blz_context_acquire(handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = pointer == NULL ? blz_fail_null("ptr") : blz_memory_free(context, pointer, false);
    blz_context_release(context);
    return result;
}

/* Commands retain the memory they use, whatever the policy; a blocking free also waits for all submitted work. Some
 * callers pass the stype of the driver's properties (ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES): accept
 * it, also without a chain. */
ze_result_t zeMemFreeExt(ze_context_handle_t context, const ze_memory_free_ext_desc_t *desc, void *pointer)
{
    if (desc == NULL)
        return blz_fail_null("pMemFreeDesc");
    if (desc->stype == ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC) {
        ze_result_t result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC, "pMemFreeDesc", NULL, 0);
        if (result != ZE_RESULT_SUCCESS)
            return result;
    }
    if ((desc->freePolicy & ~(uint32_t)(ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE |
                                        ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE)) != 0)
        return blz_fail_enumeration("pMemFreeDesc->freePolicy", desc->freePolicy, "flags that are known are 0x3");
    if ((desc->freePolicy & ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE) != 0)
        blz_stream_wait_all();
    return zeMemFree(context, pointer);
}

/* ---------------------------------------------------------------- residency */

/* Memory of the system is always resident: the call checks its parameters only. */
static ze_result_t check_residency(ze_context_handle_t handle, ze_device_handle_t device_handle, const void *pointer, size_t size)
{
    struct blz_context *context;
    struct blz_device *device;
    ze_result_t result = blz_place_acquire(handle, device_handle, &context, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct blz_region region = {0};
    result = blz_region_keep(&region, pointer, size, "ptr");
    if (result == ZE_RESULT_SUCCESS && region.count == 0)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%p is in no allocation of the context", pointer);
    blz_region_release(&region);
    blz_context_release(context);
    return result;
}

ze_result_t zeContextMakeMemoryResident(ze_context_handle_t context, ze_device_handle_t device, void *pointer, size_t size)
{
    return check_residency(context, device, pointer, size);
}

ze_result_t zeContextEvictMemory(ze_context_handle_t context, ze_device_handle_t device, void *pointer, size_t size)
{
    return check_residency(context, device, pointer, size);
}

/* ---------------------------------------------------------------- queries */

/* Libraries of one process have separate contexts and query each other's memory: queries answer for memory of every
   context. */

static void describe(const struct blz_memory *memory, ze_memory_allocation_properties_t *properties, ze_device_handle_t *device)
{
    properties->type = memory == NULL ? ZE_MEMORY_TYPE_UNKNOWN : memory->type;
    properties->id = memory == NULL ? 0 : memory->id;
    properties->pageSize = memory == NULL ? 0 : blz_page_size();
    if (device != NULL)
        *device = memory == NULL || memory->device == NULL ? NULL : blz_handle_of(&memory->device->object);
}

ze_result_t zeMemGetAllocProperties(ze_context_handle_t handle, const void *pointer,
                                    ze_memory_allocation_properties_t *properties, ze_device_handle_t *device)
{
    struct blz_context *context;
    ze_result_t result = blz_context_acquire(handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (pointer == NULL)
        result = blz_fail_null("ptr");
    else
        result = blz_properties(properties, ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, "pMemAllocProperties");
    if (result == ZE_RESULT_SUCCESS) {
        /* The type of an address outside all allocations is unknown. */
        struct blr_allocation *allocation = blr_memory_find(context->reference, pointer);
        const struct blz_memory *memory = allocation == NULL ? NULL : allocation->owner;
        describe(memory, properties, device);
        ze_external_memory_export_fd_t *export =
            blz_property_chained(properties, ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD);
        if (export != NULL)
            result = blz_external_export(memory == NULL ? NULL : memory->external, export);
        blr_memory_release(allocation);
    }
    blz_context_release(context);
    return result;
}

ze_result_t zeMemGetAddressRange(ze_context_handle_t handle, const void *pointer, void **base, size_t *size)
{
    struct blz_context *context;
    ze_result_t result = blz_context_acquire(handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct blr_allocation *allocation = pointer == NULL ? NULL : blr_memory_find(context->reference, pointer);
    if (allocation == NULL)
        result = pointer == NULL ? blz_fail_null("ptr")
                                 : blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%p is in no allocation: it was freed or never allocated", pointer);
    if (result == ZE_RESULT_SUCCESS && base != NULL)
        *base = (void *)(uintptr_t)allocation->base;
    if (result == ZE_RESULT_SUCCESS && size != NULL)
        *size = allocation->size;
    blr_memory_release(allocation);
    blz_context_release(context);
    return result;
}
