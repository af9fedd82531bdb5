/*
 * The memory that a command touches: bytes of allocations of any context, or of the program's own memory.
 *
 * Bytes may run through several allocations that follow each other, as virtual memory that was mapped piece by piece does.
 */
#ifndef BLZ_REGION_H
#define BLZ_REGION_H

#include "memory.h"

#define BLZ_REGION_FEW 2u

struct blz_region {
    uint32_t count;
    struct blr_allocation **allocations; /* retained; few, when there are no more */
    struct blr_allocation *few[BLZ_REGION_FEW];
};

/* Keeps what [pointer, pointer + size) lies in. INVALID_NULL_POINTER for NULL, INVALID_SIZE for bytes that leave their allocation.
 * name is that of the parameter. */
ze_result_t blz_region_keep(struct blz_region *region, const void *pointer, uint64_t size, const char *name);
void blz_region_release(struct blz_region *region);

/* Whether the memory may be touched so now: access can change while commands are recorded. */
ze_result_t blz_region_check_access(const struct blz_region *region, bool write);

#endif
