/*
 * Allocations, and the ordered set that finds the allocation of an address.
 *
 * An allocation is reference-counted: the caller holds one reference, released by blrMemoryFree; commands and image
 * handles hold the others. blrMemoryFree removes the address from the set; the last release frees the bytes.
 */
#ifndef BINDLESS_REFERENCE_MEMORY_ALLOCATION_H
#define BINDLESS_REFERENCE_MEMORY_ALLOCATION_H

#include "platform/shared.h"
#include "platform/heap.h"
#include "runtime/context.h"

#include <stdatomic.h>
#include <stdbool.h>

struct blr_allocation {
    struct blr_allocation *left, *right; /* links of a treap ordered by base */
    uint32_t priority;
    _Atomic uint32_t references;
    blr_memory_kind_t kind;
    uint64_t base;
    uint64_t size;
    struct blr_pages pages;
    struct blr_context *context; /* retained */
    void (*release)(struct blr_allocation *allocation); /* frees memory that the driver did not allocate; else NULL */
    void *owner;                 /* argument of release */
    _Atomic int access;          /* enum blr_memory_access: permitted access of commands */
};

/* Access permissions of an allocation: read and write unless its adopter restricts them. */
enum blr_memory_access { BLR_ACCESS_READ_WRITE, BLR_ACCESS_READ, BLR_ACCESS_NONE };

static inline enum blr_memory_access blr_memory_access(const struct blr_allocation *allocation)
{
    return (enum blr_memory_access)atomic_load_explicit(&allocation->access, memory_order_relaxed);
}

/* The allocation that contains the address, with a reference added; NULL for memory that the context's driver does not
 * own. */
BLR_SHARED struct blr_allocation *blr_memory_find(const struct blr_context *context, const void *pointer);
BLR_SHARED void blr_memory_retain(struct blr_allocation *allocation);
BLR_SHARED void blr_memory_release(struct blr_allocation *allocation);

/* The allocation that contains [pointer, pointer + size), retained, or NULL for other memory of the process. Fails
 * for NULL, for a range that crosses the allocation's end, and for an allocation of another context. what names the
 * range in messages. */
BLR_SHARED blr_result_t blr_memory_use(struct blr_context *context, const void *pointer, uint64_t size, const char *what,
                            struct blr_allocation **allocation);

/* An allocation record for memory that the driver does not own; it cannot be found by address. The caller holds the
 * reference; NULL after blr_fail. The last release calls release. */
struct blr_allocation *blr_memory_describe(struct blr_context *context, blr_memory_kind_t kind, void *base, uint64_t size,
                                           void (*release)(struct blr_allocation *allocation), void *owner);

/* Adopts memory that the caller has mapped as an allocation, found by its addresses from now on. The last release
 * calls release, which unmaps it. blr_memory_withdraw or blrMemoryFree gives back the caller's reference. */
BLR_SHARED blr_result_t blr_memory_adopt(struct blr_context *context, blr_memory_kind_t kind, void *base, uint64_t size,
                              void (*release)(struct blr_allocation *allocation), void *owner,
                              struct blr_allocation **allocation);

/* Removes an allocation from the set and gives back the caller's reference; false when another thread did so first. */
BLR_SHARED bool blr_memory_withdraw(struct blr_allocation *allocation);

/* Reserves bytes of the device's memory; false when too little is left. */
BLR_SHARED bool blr_memory_reserve(uint64_t size);
BLR_SHARED void blr_memory_unreserve(uint64_t size);

/* Number of existing allocations. */
uint64_t blr_memory_count(void);

#endif
