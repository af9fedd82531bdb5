/* Allocations that other processes map. */
#ifndef BINDLESS_REFERENCE_MEMORY_SHARED_ALLOCATION_H
#define BINDLESS_REFERENCE_MEMORY_SHARED_ALLOCATION_H

#include "external/shared_store.h"

/* The name, for other processes, of the allocation that contains an address: one that blrMemoryAllocate aligned to
 * pages. At the first call its pages move into the store, while no command runs; the host does not access them.
 * INVALID_ARGUMENT for other memory. */
BLR_SHARED blr_result_t blr_memory_share(blr_context_t context, const void *pointer, enum blr_store_purpose purpose, struct blr_store_name *name);

#endif
