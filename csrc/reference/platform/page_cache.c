/* Cache of freed mappings. The first touch of a page costs several times as much as a copy of its bytes: a program that
 * makes one image after the other touches them once. */
#include "platform/heap.h"

#include "platform/threads.h"

#include <string.h>

#define KEPT_BYTES ((uint64_t)256 << 20)
#define KEPT_BLOCKS 32u
#define WASTE 8u /* the part of a block that may lie idle is at most 1 / WASTE of it */

static struct {
    blr_mutex_t mutex;
    struct blr_pages blocks[KEPT_BLOCKS]; /* oldest first */
    uint32_t count;
    uint64_t bytes;
} idle = {.mutex = BLR_MUTEX_INIT};

/* Removes a block; the mutex is held. */
static struct blr_pages remove_block(uint32_t index)
{
    struct blr_pages block = idle.blocks[index];
    idle.count--;
    idle.bytes -= block.mapped;
    memmove(&idle.blocks[index], &idle.blocks[index + 1], (idle.count - index) * sizeof block);
    return block;
}

/* Unmaps the oldest blocks, until as many bytes and one more block can be added. */
static void make_room(uint64_t bytes)
{
    for (;;) {
        struct blr_pages block = {0};
        blr_mutex_lock(&idle.mutex);
        if (idle.count > 0 && (idle.count == KEPT_BLOCKS || idle.bytes + bytes > KEPT_BYTES))
            block = remove_block(0);
        blr_mutex_unlock(&idle.mutex);
        if (block.base == NULL)
            return;
        blr_pages_free(&block);
    }
}

static bool take(struct blr_pages *pages, uint64_t size, uint64_t alignment)
{
    bool success = false;
    blr_mutex_lock(&idle.mutex);
    for (uint32_t i = idle.count; i-- > 0 && !success;) {
        const struct blr_pages *block = &idle.blocks[i];
        success = block->mapped >= size && block->mapped - size <= block->mapped / WASTE &&
                (uintptr_t)block->base % alignment == 0;
        if (success)
            *pages = remove_block(i);
    }
    blr_mutex_unlock(&idle.mutex);
    pages->size = size;
    return success;
}

int blr_pages_reuse(struct blr_pages *pages, uint64_t size, uint64_t alignment)
{
#if defined(BLR_TESTING)
    if (blr_allocate_will_fail())
        return blr_pages_allocate(pages, size, alignment);
#endif
    if (take(pages, size, alignment) || blr_pages_allocate_dirty(pages, size, alignment))
        return 1;
    make_room(KEPT_BYTES);
    return blr_pages_allocate_dirty(pages, size, alignment);
}

void blr_pages_keep(struct blr_pages *pages)
{
    if (pages->mapped == 0 || pages->mapped > KEPT_BYTES) {
        blr_pages_free(pages);
        return;
    }
    make_room(pages->mapped);
    blr_mutex_lock(&idle.mutex);
    /* Another thread may have filled it since. */
    const bool fits = idle.count < KEPT_BLOCKS && idle.bytes + pages->mapped <= KEPT_BYTES;
    if (fits) {
        idle.blocks[idle.count++] = *pages;
        idle.bytes += pages->mapped;
    }
    blr_mutex_unlock(&idle.mutex);
    if (fits)
        *pages = (struct blr_pages){0};
    else
        blr_pages_free(pages);
}
