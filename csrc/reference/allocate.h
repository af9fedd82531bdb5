/*
 * Memory of the driver itself (blr_new), and of images and allocations (blr_pages).
 *
 * Both return NULL when there is none; callers turn that into OUT_OF_MEMORY. blr_new always zeroes.
 */
#ifndef BLR_ALLOCATE_H
#define BLR_ALLOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *blr_new(size_t size);
void blr_delete(void *pointer);
char *blr_copy_text(const char *text);

/* Zeroed memory for what every command needs for a moment: blocks are kept when they are given back, a few of each size, so
 * that commands come to do without allocations. */
void *blr_block_new(size_t size);
void blr_block_delete(void *block);

/* Zeroed memory whose size the machine can really back; alignment is a power of two. */
struct blr_pages {
    void *base;
    uint64_t size;
    uint64_t mapped; /* bytes of a mapping of its own, 0 when from the heap */
};

int blr_pages_allocate(struct blr_pages *pages, uint64_t size, uint64_t alignment);
void blr_pages_free(struct blr_pages *pages);

/* The machine's memory, with the limit of a control group taken in; and what of it could be had now. */
uint64_t blr_memory_physical(void);
uint64_t blr_memory_available(void);

#if defined(BLR_TESTING)
/* Lets the n-th allocation from now on fail (1 is the next); 0 switches it off. */
void blr_allocate_fail_after(int64_t count);
/* How many allocations happened since the last call of blr_allocate_fail_after. */
int64_t blr_allocate_count(void);
/* Whether one of the next is to fail: nothing is taken from what is kept then, so that each can. */
bool blr_allocate_will_fail(void);
#endif

#endif
