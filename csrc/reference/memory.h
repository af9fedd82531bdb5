/*
 * Allocations, and the ordered set of them that tells which one an address lies in.
 *
 * An allocation has references: the caller's, given back by blrMemoryFree, and those of commands and image handles
 * that use it. Its address is forgotten at the free; its bytes go with the last reference.
 */
#ifndef BLR_MEMORY_H
#define BLR_MEMORY_H

#include "allocate.h"
#include "context.h"

#include <stdatomic.h>
#include <stdbool.h>

struct blr_allocation {
    struct blr_allocation *left, *right; /* a treap ordered by base */
    uint32_t priority;
    _Atomic uint32_t references;
    blr_memory_kind_t kind;
    uint64_t base;
    uint64_t size;
    struct blr_pages pages;
    struct blr_context *context; /* retained */
    void (*release)(struct blr_allocation *allocation); /* of memory that is not the driver's own; NULL */
    void *owner;                 /* for release */
    _Atomic int access;          /* enum blr_memory_access: what commands may do */
};

/* All memory can be read and written, unless who adopted it says otherwise. */
enum blr_memory_access { BLR_ACCESS_READ_WRITE, BLR_ACCESS_READ, BLR_ACCESS_NONE };

static inline enum blr_memory_access blr_memory_access(const struct blr_allocation *allocation)
{
    return (enum blr_memory_access)atomic_load_explicit(&allocation->access, memory_order_relaxed);
}

/* The allocation that holds the address, with a reference added; NULL for memory that is not the driver's. */
struct blr_allocation *blr_memory_find(const void *pointer);
void blr_memory_retain(struct blr_allocation *allocation);
void blr_memory_release(struct blr_allocation *allocation);

/* The allocation that [pointer, pointer + size) lies in, retained, or NULL for other memory of the process. Fails for
 * NULL, for a range that leaves the allocation, and for an allocation of another context. what names the range. */
blr_result_t blr_memory_use(struct blr_context *context, const void *pointer, uint64_t size, const char *what,
                            struct blr_allocation **allocation);

/* The description of memory that is not the driver's own, which is not found by its addresses, with the caller's reference;
 * NULL after blr_fail. release is called with the last reference. */
struct blr_allocation *blr_memory_describe(struct blr_context *context, blr_memory_kind_t kind, void *base, uint64_t size,
                                           void (*release)(struct blr_allocation *allocation), void *owner);

/* Makes memory that the caller has mapped an allocation, which is found by its addresses from now on. release is called
 * with the last reference; it unmaps. The caller's reference goes with blr_memory_withdraw, or with blrMemoryFree. */
blr_result_t blr_memory_adopt(struct blr_context *context, blr_memory_kind_t kind, void *base, uint64_t size,
                              void (*release)(struct blr_allocation *allocation), void *owner,
                              struct blr_allocation **allocation);

/* Forgets the addresses of an allocation and gives the caller's reference back; false when another thread was first. */
bool blr_memory_withdraw(struct blr_allocation *allocation);

/* Reserves bytes of the device's memory; false when it has no room for them. */
bool blr_memory_reserve(uint64_t size);
void blr_memory_unreserve(uint64_t size);

/* Allocations in existence. */
uint64_t blr_memory_count(void);

#endif
