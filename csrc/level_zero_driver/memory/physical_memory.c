/* Physical memory objects: creation, mapping and destruction. */

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "level_zero_driver/memory/physical_memory.h"

#include "level_zero_driver/memory/allocation.h"
#include "reference/runtime/device.h"
#include "level_zero_driver/core/descriptor_chain.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

static void destroy(struct blr_object *object)
{
    struct blz_physical *physical = (struct blz_physical *)object;
    blr_store_free(&physical->range);
    blz_external_delete(physical->external);
    blr_memory_unreserve(physical->size);
    blz_context_release(physical->context);
    blr_delete(physical);
}

ze_result_t blz_physical_acquire(ze_physical_mem_handle_t handle, struct blz_physical **physical)
{
    return blz_acquire(handle, BLR_KIND_ZE_PHYSICAL_MEMORY, physical);
}

void *blz_physical_map(const struct blz_physical *physical, uint64_t offset, uint64_t size, void *address)
{
    if (physical->external == NULL) {
        const struct blr_store_range range = {.offset = physical->range.offset + offset, .size = size};
        return blr_store_map(&range, address);
    }
    void *mapped = mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, physical->external->file,
                        (off_t)(physical->external->offset + offset));
    if (mapped != MAP_FAILED)
        return mapped;
    blz_fail(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "no mapping for %" PRIu64 " bytes of a file: %s", size, strerror(errno));
    return NULL;
}

static ze_result_t create(struct blz_context *context, struct blz_device *device, const ze_physical_mem_desc_t *desc,
                          const struct blz_extension *shared, ze_physical_mem_handle_t *handle)
{
    static _Atomic uint64_t last_id;
    uint64_t page = blz_page_size(), limit = blr_device_max_allocation();
    uint32_t both = ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE | ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST;
    if ((desc->flags & ~both) != 0 || desc->flags == both)
        return blz_fail_enumeration("desc->flags", desc->flags, "ALLOCATE_ON_DEVICE (1) or ALLOCATE_ON_HOST (2) is needed, or 0");
    if (desc->size == 0 || desc->size % page != 0 || desc->size > limit)
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                        "%zu bytes of physical memory: a multiple of the page size %" PRIu64 " up to %" PRIu64 " is needed", desc->size, page,
                        limit);
    struct blz_physical *physical = blr_new(sizeof *physical);
    if (physical == NULL)
        return blz_fail_memory("the description of physical memory");
    if (!blr_memory_reserve(desc->size)) {
        blr_delete(physical);
        return blz_fail(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "%zu bytes are not available: the device has %" PRIu64 " bytes in all",
                        desc->size, blr_device_memory_size());
    }
    blz_context_retain(context);
    physical->context = context;
    physical->device = device;
    physical->type = desc->flags == ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST ? ZE_MEMORY_TYPE_HOST : ZE_MEMORY_TYPE_DEVICE;
    physical->size = desc->size;
    physical->id = atomic_fetch_add(&last_id, 1) + 1;
    ze_result_t result = shared[0].address == NULL && shared[1].address == NULL
                             ? blz_result(blr_store_allocate(desc->size, &physical->range))
                             : blz_external_physical(shared[0].address, shared[1].address, desc->size,
                                                     &physical->external);
    if (result != ZE_RESULT_SUCCESS) {
        destroy(&physical->object);
        return result;
    }
    return blz_register(&physical->object, BLR_KIND_ZE_PHYSICAL_MEMORY, destroy, handle);
}

ze_result_t zePhysicalMemCreate(ze_context_handle_t context_handle, ze_device_handle_t device_handle, ze_physical_mem_desc_t *desc,
                                ze_physical_mem_handle_t *handle)
{
    struct blz_context *context;
    struct blz_device *device = NULL;
    ze_result_t result = blz_context_acquire(context_handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct blz_extension shared[] = {{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, NULL}, {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, NULL}};
    result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, "desc", shared, 2);
    if (result == ZE_RESULT_SUCCESS && (device_handle != NULL || desc->flags != ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST))
        result = blz_device_check(device_handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = handle == NULL ? blz_fail_null("phPhysicalMemory") : create(context, device, desc, shared, handle);
    blz_context_release(context);
    return result;
}

/* Acquires an object of the context, and adds a reference. */
static ze_result_t acquire_of(ze_context_handle_t context_handle, ze_physical_mem_handle_t handle, struct blz_physical **physical)
{
    struct blz_context *context;
    ze_result_t result = blz_context_acquire(context_handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_physical_acquire(handle, physical);
    if (result == ZE_RESULT_SUCCESS && (*physical)->context != context) {
        blr_object_release(&(*physical)->object);
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the physical memory belongs to another context");
    }
    blz_context_release(context);
    return result;
}

/* Mappings retain the object. */
ze_result_t zePhysicalMemDestroy(ze_context_handle_t context, ze_physical_mem_handle_t handle)
{
    struct blz_physical *physical;
    ze_result_t result = acquire_of(context, handle, &physical);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    blr_object_release(&physical->object);
    return blz_destroy(handle, BLR_KIND_ZE_PHYSICAL_MEMORY);
}

ze_result_t zePhysicalMemGetProperties(ze_context_handle_t context, ze_physical_mem_handle_t handle,
                                       ze_physical_mem_properties_t *properties)
{
    struct blz_physical *physical;
    ze_result_t result = acquire_of(context, handle, &physical);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_properties(properties, ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES, "pMemProperties");
    if (result == ZE_RESULT_SUCCESS) {
        properties->id = physical->id;
        properties->size = physical->size;
        ze_external_memory_export_fd_t *export =
            blz_property_chained(properties, ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES, ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD);
        if (export != NULL)
            result = blz_external_export(physical->external, export);
    }
    blr_object_release(&physical->object);
    return result;
}
