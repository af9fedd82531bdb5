/*
 * Allocation of the driver's own structures (blr_new) and of image and buffer memory (blr_pages).
 *
 * Both return NULL when no memory is left; callers turn that into OUT_OF_MEMORY. blr_new zeroes the memory.
 */
#ifndef BINDLESS_REFERENCE_PLATFORM_HEAP_H
#define BINDLESS_REFERENCE_PLATFORM_HEAP_H

#include "platform/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

BLR_SHARED void *blr_new(size_t size);
BLR_SHARED void blr_delete(void *pointer);
BLR_SHARED char *blr_copy_text(const char *text);

/* Zeroed memory for short-lived command structures. Freed blocks are cached, a few of each size class, so that
 * steady submission needs no allocation. */
void *blr_block_new(size_t size);
void blr_block_delete(void *block);

/* Zeroed memory, refused when the machine cannot back its size; alignment is a power of two. Aligned to a page, it has whole
 * pages for itself. */
struct blr_pages {
    void *base;
    uint64_t size;
    uint64_t mapped; /* bytes of the mapping; 0 for heap memory */
};

BLR_SHARED int blr_pages_allocate(struct blr_pages *pages, uint64_t size, uint64_t alignment);
BLR_SHARED void blr_pages_free(struct blr_pages *pages);

/* The same with undefined contents; blr_pages_reuse may give memory that blr_pages_keep took back. Up to 256 MiB of
 * large blocks are kept, until memory is short. */
int blr_pages_allocate_dirty(struct blr_pages *pages, uint64_t size, uint64_t alignment);
int blr_pages_reuse(struct blr_pages *pages, uint64_t size, uint64_t alignment);
void blr_pages_keep(struct blr_pages *pages);

/* Physical memory of the machine, bounded by the control group's limit, and the part of it that is available now. */
uint64_t blr_memory_physical(void);
BLR_SHARED uint64_t blr_memory_available(void);

#if defined(BLR_TESTING)
/* Makes the n-th allocation from now on fail (1 is the next); 0 switches the failure off. */
void blr_allocate_fail_after(int64_t count);
/* Number of allocations since the last call of blr_allocate_fail_after. */
int64_t blr_allocate_count(void);
/* Whether a coming allocation is set to fail: block caches are bypassed then, so that every allocation can. */
bool blr_allocate_will_fail(void);
#endif

#endif
