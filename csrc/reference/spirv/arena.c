/* The arena of a module: allocation from blocks that are freed together. */
#include "spirv/arena.h"

#include "platform/heap.h"

#define BLOCK_SIZE ((size_t)64 * 1024)

struct blr_arena_block {
    struct blr_arena_block *next;
    size_t size;
    _Alignas(16) unsigned char bytes[];
};

void *blr_arena_allocate(struct blr_arena *arena, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (size > BLR_ARENA_LIMIT - arena->total)
        return NULL;
    if (arena->blocks == NULL || size > arena->size - arena->used) {
        size_t block_size = size > BLOCK_SIZE / 4 ? size : BLOCK_SIZE;
        struct blr_arena_block *block = blr_new(sizeof *block + block_size);
        if (block == NULL)
            return NULL;
        arena->total += block_size;
        block->size = block_size;
        if (block_size == size && arena->blocks != NULL) { /* a large block stands alone */
            block->next = arena->blocks->next;
            arena->blocks->next = block;
            return block->bytes;
        }
        block->next = arena->blocks;
        arena->blocks = block;
        arena->used = 0;
        arena->size = block_size;
    }
    void *piece = arena->blocks->bytes + arena->used;
    arena->used += size;
    return piece;
}

void blr_arena_give_back(struct blr_arena *arena, const void *piece, size_t size)
{
    struct blr_arena_block **link = &arena->blocks;
    size = (size + 15) & ~(size_t)15;
    if (size <= BLOCK_SIZE / 4) /* it shares a block */
        return;
    while (*link != NULL && ((*link)->bytes != piece || (*link)->size != size))
        link = &(*link)->next;
    struct blr_arena_block *block = *link;
    if (block == NULL || block == arena->blocks) /* it shares the newest one */
        return;
    *link = block->next;
    arena->total -= size;
    blr_delete(block);
}

void blr_arena_free(struct blr_arena *arena)
{
    for (struct blr_arena_block *block = arena->blocks; block != NULL;) {
        struct blr_arena_block *next = block->next;
        blr_delete(block);
        block = next;
    }
    *arena = (struct blr_arena){0};
}
