/*
 * State of a module build, shared by all its steps: the words, the arena, and failure.
 *
 * Steps do not return failures: blr_spirv_refuse jumps to blr_spirv_module_build, which frees the arena. A step may
 * therefore own no resource except arena memory.
 */
#ifndef BINDLESS_REFERENCE_SPIRV_BUILD_ERROR_H
#define BINDLESS_REFERENCE_SPIRV_BUILD_ERROR_H

#include "runtime/result.h"
#include "spirv/arena.h"
#include "spirv/opcodes.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdnoreturn.h>

struct blr_spirv_build {
    jmp_buf failed;
    struct blr_arena *arena;
    const uint32_t *words;
    uint32_t count;
    uint32_t module;     /* number of the linked module being parsed or decoded, from 1; 0 if there is only one */
    bool unresolved;     /* failed because of an unresolved import */
    blr_result_t result; /* result code of the failure */
};

/* Fails the build; the message starts with the instruction at this word and its position. */
noreturn void blr_spirv_refuse(struct blr_spirv_build *build, uint32_t word, const char *format, ...)
    BLR_PRINTF(3, 4);

/* Fails the build because the instruction at this word is not supported. */
noreturn void blr_spirv_unsupported(struct blr_spirv_build *build, uint32_t word, const char *why);

/* Fails the build because no module defines the function or variable of this name. */
noreturn void blr_spirv_unresolved(struct blr_spirv_build *build, uint32_t word, const char *what, const char *name);

/* Zeroed memory of the arena; does not return when there is none. */
void *blr_spirv_allocate(struct blr_spirv_build *build, size_t count, size_t size);

/* Grows an arena array of *capacity elements to hold one more; returns the array, which may have moved. */
void *blr_spirv_grow(struct blr_spirv_build *build, void *array, uint32_t count, uint32_t *capacity, size_t size);

static inline unsigned blr_spirv_opcode_at(const struct blr_spirv_build *build, uint32_t word)
{
    return build->words[word] & 0xffffu;
}

static inline uint32_t blr_spirv_length_at(const struct blr_spirv_build *build, uint32_t word)
{
    return build->words[word] >> 16;
}

/* A literal string that starts at word and must end before limit: returns its text (not copied), *next receives the
 * word after it. */
const char *blr_spirv_string(struct blr_spirv_build *build, uint32_t instruction, uint32_t word, uint32_t limit,
                             uint32_t *next);

#endif
