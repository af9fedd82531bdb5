/* Physical memory: a range of the store, or a shared file, for mapping into reservations of virtual memory. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_MEMORY_PHYSICAL_MEMORY_H
#define BINDLESS_LEVEL_ZERO_DRIVER_MEMORY_PHYSICAL_MEMORY_H

#include "level_zero_driver/driver/context.h"
#include "level_zero_driver/driver/driver.h"
#include "level_zero_driver/memory/external_memory.h"
#include "reference/external/shared_store.h"

struct blz_physical {
    struct blr_object object;
    struct blz_context *context; /* retained */
    struct blz_device *device;
    ze_memory_type_t type;
    uint64_t size;
    uint64_t id;
    struct blr_store_range range;
    struct blz_external *external; /* replaces the range; owned, or NULL */
};

/* Maps a part at an address; NULL after blz_fail. */
void *blz_physical_map(const struct blz_physical *physical, uint64_t offset, uint64_t size, void *address);

/* Adds a reference. */
ze_result_t blz_physical_acquire(ze_physical_mem_handle_t handle, struct blz_physical **physical);

#endif
