/* Memory: device, host and shared allocations, each of its own pages, registered in the reference driver by their
 * addresses. Commands retain the allocations they use: a free removes the address at once, and the pages with the
 * last reference. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_MEMORY_ALLOCATION_H
#define BINDLESS_LEVEL_ZERO_DRIVER_MEMORY_ALLOCATION_H

#include "level_zero_driver/driver/context.h"
#include "level_zero_driver/driver/driver.h"
#include "reference/memory/allocation.h"
#include "reference/external/shared_store.h"

struct blz_external;

/* Properties of an allocation that Level Zero adds to the reference driver's. */
struct blz_memory {
    struct blz_device *device; /* NULL for memory of the host */
    ze_memory_type_t type;
    uint64_t id;
    uint64_t context;          /* id of the context object */
    void *mapping;             /* pages of this allocation only */
    uint64_t mapped;           /* bytes */
    uint64_t reserved;         /* bytes counted as the device's memory */
    struct blz_external *external; /* its external memory, owned, or NULL (external_memory.h) */
    bool imported;             /* opened from an IPC handle: closed, not freed */
    struct blr_store_range range; /* its range in the store, once an IPC handle exists */
    void (*unmap)(struct blz_memory *memory); /* of mapped virtual memory: called instead of munmap; NULL otherwise */
    void *owner;               /* for unmap */
};

uint64_t blz_page_size(void);

/* Registers a mapping as an allocation of size bytes from its start. On failure the caller keeps the mapping. */
ze_result_t blz_memory_take(struct blz_context *context, const struct blz_memory *description, uint64_t size,
                            void **pointer);

/* Allocates zeroed pages for the given type and device. */
ze_result_t blz_memory_allocate(struct blz_context *context, struct blz_device *device, ze_memory_type_t type, uint64_t size,
                                uint64_t alignment, void **pointer);

/* Finds the context's allocation that contains an address, adds a reference (blr_memory_release), and returns its
 * properties. Fails with INVALID_ARGUMENT for an address outside all allocations. */
ze_result_t blz_memory_find(struct blz_context *context, const void *pointer, struct blr_allocation **allocation,
                            struct blz_memory **memory);

/* Checks that the IPC handle type is supported; desc may be NULL. */
ze_result_t blz_ipc_check_type(const ze_ipc_mem_handle_type_ext_desc_t *desc);

/* Frees the allocation that starts at the address. */
ze_result_t blz_memory_free(struct blz_context *context, void *pointer, bool imported);

#endif
