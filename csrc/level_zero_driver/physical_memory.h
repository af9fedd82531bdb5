/* Physical memory: a range of the store, to be mapped into reservations of virtual memory. */
#ifndef BLZ_PHYSICAL_MEMORY_H
#define BLZ_PHYSICAL_MEMORY_H

#include "context.h"
#include "driver.h"
#include "store.h"

struct blz_physical {
    struct blr_object object;
    struct blz_context *context; /* retained */
    struct blz_device *device;
    ze_memory_type_t type;
    uint64_t size;
    uint64_t id;
    struct blz_store_range range;
};

/* With a reference added. */
ze_result_t blz_physical_acquire(ze_physical_mem_handle_t handle, struct blz_physical **physical);

#endif
