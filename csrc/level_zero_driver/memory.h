/*
 * Memory: allocations of the device, the host and shared ones, each of pages of its own, known to the reference
 * driver by their addresses. Commands keep the allocations they use: a free forgets the address, the pages go later.
 */
#ifndef BLZ_MEMORY_H
#define BLZ_MEMORY_H

#include "context.h"
#include "driver.h"
#include "reference/memory.h"
#include "store.h"

struct blz_external;

/* What Level Zero knows of an allocation beyond the reference driver: its owner. */
struct blz_memory {
    struct blz_device *device; /* NULL for memory of the host */
    ze_memory_type_t type;
    uint64_t id;
    uint64_t context;          /* its object's id */
    void *mapping;             /* pages, mapped for this allocation alone */
    uint64_t mapped;           /* bytes */
    uint64_t reserved;         /* bytes counted as the device's memory */
    struct blz_external *external; /* as what it can be exported, owned, or NULL: external_memory.h */
    bool imported;             /* from another process: freed by the function for that */
    struct blz_store_range range; /* where other processes find it, once they were told */
    void (*unmap)(struct blz_memory *memory); /* of mapped virtual memory, instead of freeing; or NULL */
    void *owner;               /* for unmap */
};

uint64_t blz_page_size(void);

/* Takes over a mapping as an allocation of size bytes from its start. When that fails the mapping is still the caller's. */
ze_result_t blz_memory_take(struct blz_context *context, const struct blz_memory *description, uint64_t size,
                            void **pointer);

/* New zeroed pages, described by type and device. */
ze_result_t blz_memory_allocate(struct blz_context *context, struct blz_device *device, ze_memory_type_t type, uint64_t size,
                                uint64_t alignment, void **pointer);

/* The allocation of the context that holds an address, with a reference added (blr_memory_release), and its owner.
 * INVALID_ARGUMENT for an address that is in none. */
ze_result_t blz_memory_find(struct blz_context *context, const void *pointer, struct blr_allocation **allocation,
                            struct blz_memory **memory);

/* Whether handles for other processes are of the kind asked for; desc may be NULL. */
ze_result_t blz_ipc_check_type(const ze_ipc_mem_handle_type_ext_desc_t *desc);

/* Forgets the allocation that starts at the address. */
ze_result_t blz_memory_free(struct blz_context *context, void *pointer, bool imported);

#endif
