/* Physical memory: a range of the store, or a file that is shared, to be mapped into reservations of virtual memory. */
#ifndef BLZ_PHYSICAL_MEMORY_H
#define BLZ_PHYSICAL_MEMORY_H

#include "context.h"
#include "driver.h"
#include "external_memory.h"
#include "store.h"

struct blz_physical {
    struct blr_object object;
    struct blz_context *context; /* retained */
    struct blz_device *device;
    ze_memory_type_t type;
    uint64_t size;
    uint64_t id;
    struct blz_store_range range;
    struct blz_external *external; /* instead, owned, or NULL */
};

/* Maps part of it at an address; NULL after blz_fail. */
void *blz_physical_map(const struct blz_physical *physical, uint64_t offset, uint64_t size, void *address);

/* With a reference added. */
ze_result_t blz_physical_acquire(ze_physical_mem_handle_t handle, struct blz_physical **physical);

#endif
