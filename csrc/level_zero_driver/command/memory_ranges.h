/* The memory region that a command accesses: bytes of allocations of any context, or of the program's own memory. A
 * region may span adjacent allocations, such as virtual memory mapped in pieces. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_COMMAND_MEMORY_RANGES_H
#define BINDLESS_LEVEL_ZERO_DRIVER_COMMAND_MEMORY_RANGES_H

#include "level_zero_driver/memory/allocation.h"

#define BLZ_REGION_FEW 2u

struct blz_region {
    uint32_t count;
    struct blr_allocation **allocations; /* retained; points to few while they fit */
    struct blr_allocation *few[BLZ_REGION_FEW];
};

/* Retains the allocations of [pointer, pointer + size). Fails with INVALID_NULL_POINTER for NULL, with INVALID_SIZE
 * for a range that leaves its allocation. name is the parameter's name. */
ze_result_t blz_region_keep(struct blz_region *region, const void *pointer, uint64_t size, const char *name);
void blz_region_release(struct blz_region *region);

/* Checks that the current access rights permit the access: rights can change after a command is recorded. */
ze_result_t blz_region_check_access(const struct blz_region *region, bool write);

#endif
