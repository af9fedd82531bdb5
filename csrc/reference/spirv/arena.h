/* Arena of a module: many small allocations, zeroed, aligned to 16 bytes, freed together. */
#ifndef BINDLESS_REFERENCE_SPIRV_ARENA_H
#define BINDLESS_REFERENCE_SPIRV_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct blr_arena_block;

struct blr_arena {
    struct blr_arena_block *blocks;
    size_t used;  /* bytes used in the newest block */
    size_t size;
    size_t total; /* bytes of all blocks */
};

/* NULL without memory, or when the arena would exceed BLR_ARENA_LIMIT. */
void *blr_arena_allocate(struct blr_arena *arena, size_t size);
/* Frees a piece of some size that has a block of its own. */
void blr_arena_give_back(struct blr_arena *arena, const void *piece, size_t size);
void blr_arena_free(struct blr_arena *arena);

#define BLR_ARENA_LIMIT ((size_t)1 << 30)

#endif
