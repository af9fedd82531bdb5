/* Memory regions of commands: retained allocations and access checks. */

#include "level_zero_driver/command/memory_ranges.h"

#include "level_zero_driver/driver/driver.h"
#include "level_zero_driver/memory/virtual_memory.h"

#include <inttypes.h>
#include <string.h>

static ze_result_t add(struct blz_region *region, struct blr_allocation *allocation)
{
    uint32_t count = region->count;
    if (count == 0)
        region->allocations = region->few;
    if (count >= BLZ_REGION_FEW && (count & (count - 1)) == 0) { /* full: double the array */
        struct blr_allocation **more = blr_new(2 * (size_t)count * sizeof *more);
        if (more == NULL)
            return blz_fail_memory("the memory that a command uses");
        memcpy(more, region->allocations, count * sizeof *more);
        if (region->allocations != region->few)
            blr_delete(region->allocations);
        region->allocations = more;
    }
    region->allocations[region->count++] = allocation;
    return ZE_RESULT_SUCCESS;
}

ze_result_t blz_region_keep(struct blz_region *region, const void *pointer, uint64_t size, const char *name)
{
    uint64_t address = (uint64_t)(uintptr_t)pointer, rest = size;
    if (pointer == NULL)
        return blz_fail_null(name);
    if (address + size < address)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "%s: %" PRIu64 " bytes at %p exceed the address space", name, size, pointer);
    while (rest > 0) {
        struct blr_allocation *allocation = blr_memory_find(blz_driver()->reference, (const void *)(uintptr_t)address);
        if (allocation == NULL && blz_virtual_is_reserved(address, rest))
            return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%s: nothing is mapped at 0x%" PRIx64 " of a reservation", name, address);
        if (allocation == NULL && rest == size)
            return ZE_RESULT_SUCCESS; /* memory that the program allocated itself */
        if (allocation == NULL)
            return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "%s: %" PRIu64 " bytes at %p exceed their allocation, which has %" PRIu64 " bytes", name,
                            size, pointer, size - rest);
        uint64_t room = allocation->size - (address - allocation->base);
        ze_result_t result = add(region, allocation);
        if (result != ZE_RESULT_SUCCESS) {
            blr_memory_release(allocation);
            return result;
        }
        if (room >= rest)
            break;
        rest -= room;
        address += room;
    }
    return ZE_RESULT_SUCCESS;
}

void blz_region_release(struct blz_region *region)
{
    for (uint32_t i = 0; i < region->count; i++)
        blr_memory_release(region->allocations[i]);
    if (region->count > 0 && region->allocations != region->few)
        blr_delete(region->allocations);
    region->count = 0;
}

ze_result_t blz_region_check_access(const struct blz_region *region, bool write)
{
    for (uint32_t i = 0; i < region->count; i++) {
        enum blr_memory_access access = blr_memory_access(region->allocations[i]);
        if (access == BLR_ACCESS_NONE || (write && access == BLR_ACCESS_READ))
            return blz_fail(ZE_RESULT_ERROR_UNKNOWN, "a command %s memory at 0x%" PRIx64 " that is mapped %s",
                            write ? "writes" : "reads", region->allocations[i]->base,
                            access == BLR_ACCESS_NONE ? "without access" : "for reading only");
    }
    return ZE_RESULT_SUCCESS;
}
