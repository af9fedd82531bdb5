#include "physical_memory.h"

#include "memory.h"
#include "reference/device.h"
#include "structure.h"

#include <inttypes.h>

static void destroy(struct blr_object *object)
{
    struct blz_physical *physical = (struct blz_physical *)object;
    blz_store_free(&physical->range);
    blr_memory_unreserve(physical->size);
    blz_context_release(physical->context);
    blr_delete(physical);
}

ze_result_t blz_physical_acquire(ze_physical_mem_handle_t handle, struct blz_physical **physical)
{
    return blz_acquire(handle, BLR_KIND_ZE_PHYSICAL_MEMORY, physical);
}

static ze_result_t create(struct blz_context *context, struct blz_device *device, const ze_physical_mem_desc_t *desc,
                          ze_physical_mem_handle_t *handle)
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
        return blz_fail(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "%zu bytes are not to be had: the device has %" PRIu64 " bytes in all",
                        desc->size, blr_device_memory_size());
    }
    blz_context_retain(context);
    physical->context = context;
    physical->device = device;
    physical->type = desc->flags == ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST ? ZE_MEMORY_TYPE_HOST : ZE_MEMORY_TYPE_DEVICE;
    physical->size = desc->size;
    physical->id = atomic_fetch_add(&last_id, 1) + 1;
    ze_result_t result = blz_store_allocate(desc->size, &physical->range);
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
    result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, "desc", NULL, 0);
    if (result == ZE_RESULT_SUCCESS && (device_handle != NULL || desc->flags != ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_HOST))
        result = blz_device_check(device_handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = handle == NULL ? blz_fail_null("phPhysicalMemory") : create(context, device, desc, handle);
    blz_context_release(context);
    return result;
}

/* With a reference added, when it is of the context. */
static ze_result_t acquire_of(ze_context_handle_t context_handle, ze_physical_mem_handle_t handle, struct blz_physical **physical)
{
    struct blz_context *context;
    ze_result_t result = blz_context_acquire(context_handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_physical_acquire(handle, physical);
    if (result == ZE_RESULT_SUCCESS && (*physical)->context != context) {
        blr_object_release(&(*physical)->object);
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the physical memory is of another context");
    }
    blz_context_release(context);
    return result;
}

/* Mappings keep it. */
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
    }
    blr_object_release(&physical->object);
    return result;
}
