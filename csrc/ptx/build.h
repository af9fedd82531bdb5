/* A compilation: its memory, that of its result, and its only error. */
#ifndef BINDLESS_PTX_BUILD_H
#define BINDLESS_PTX_BUILD_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>

#define PTX_LOG_SIZE 512u

struct ptx_piece;

/* Memory that is freed at once. */
struct ptx_arena {
    struct ptx_piece *pieces;
    size_t used, size; /* of the first piece */
};

struct ptx_build {
    struct ptx_arena work, result;
    size_t total, limit; /* bytes of both */
    uint64_t steps; /* work that is not bounded by memory */
    uint32_t text, text_count; /* the text that is read */
    uint32_t line;  /* of the current instruction */
    jmp_buf failed;
    char log[PTX_LOG_SIZE];
};

#if defined(__GNUC__)
#define PTX_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define PTX_PRINTF(text, first)
#endif

/* Zeroed memory; fails the build without any. */
void *ptx_allocate(struct ptx_build *build, uint64_t count, uint64_t size);

/* The same for the module that a compilation returns: ptx_end_work leaves it. */
void *ptx_keep(struct ptx_build *build, uint64_t count, uint64_t size);
const char *ptx_keep_text(struct ptx_build *build, const char *text);

/* The array with room for one more element. */
void *ptx_grow(struct ptx_build *build, void *array, uint32_t count, uint32_t *capacity, uint64_t size);

/* Counts work; fails the build when it is too much. */
void ptx_spend(struct ptx_build *build, uint64_t steps);

/* Ends the build with a message about a line. */
noreturn void ptx_fail(struct ptx_build *build, uint32_t line, const char *format, ...) PTX_PRINTF(3, 4);

/* Frees what ptx_allocate and ptx_grow returned. */
void ptx_end_work(struct ptx_build *build);

void ptx_build_free(struct ptx_build *build);

#endif
