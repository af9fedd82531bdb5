/* What every step of building a module shares: its words, its memory, and how to give up.
 *
 * Steps do not return failures: blr_spirv_refuse leaves them all at once, for blr_spirv_module_build, which frees the
 * arena. So no step may hold anything else than memory of the arena. */
#ifndef BLR_SPIRV_BUILD_H
#define BLR_SPIRV_BUILD_H

#include "result.h"
#include "spirv_arena.h"
#include "spirv_words.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdnoreturn.h>

struct blr_spirv_build {
    jmp_buf failed;
    struct blr_arena *arena;
    const uint32_t *words;
    uint32_t count;
    uint32_t module;     /* which of several is read or decoded, from 1; 0 for the only one */
    bool unresolved;     /* it failed for want of what another module has */
    blr_result_t result; /* why it failed */
};

/* Fails the build: the sentence is preceded by the instruction at this word and its place. */
noreturn void blr_spirv_refuse(struct blr_spirv_build *build, uint32_t word, const char *format, ...)
    BLR_PRINTF(3, 4);

/* Fails the build because of the instruction at this word as a whole. */
noreturn void blr_spirv_unsupported(struct blr_spirv_build *build, uint32_t word, const char *why);

/* Fails the build because the function or variable of this name is in no module. */
noreturn void blr_spirv_unresolved(struct blr_spirv_build *build, uint32_t word, const char *what, const char *name);

/* Zeroed memory of the arena; does not return when there is none. */
void *blr_spirv_allocate(struct blr_spirv_build *build, size_t count, size_t size);

/* Room for one more element in an array of the arena that has *capacity: the array, maybe at a new place. */
void *blr_spirv_grow(struct blr_spirv_build *build, void *array, uint32_t count, uint32_t *capacity, size_t size);

static inline unsigned blr_spirv_opcode_at(const struct blr_spirv_build *build, uint32_t word)
{
    return build->words[word] & 0xffffu;
}

static inline uint32_t blr_spirv_length_at(const struct blr_spirv_build *build, uint32_t word)
{
    return build->words[word] >> 16;
}

/* A literal string that starts at word and must end before limit: its text (not copied), the word after it in *next. */
const char *blr_spirv_string(struct blr_spirv_build *build, uint32_t instruction, uint32_t word, uint32_t limit,
                             uint32_t *next);

#endif
