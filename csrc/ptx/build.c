/* Memory and error of a compilation. */
#include "build.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_SIZE ((size_t)64 * 1024)
#define MOST_STEPS ((uint64_t)1 << 28)

struct ptx_piece {
    struct ptx_piece *next;
    _Alignas(16) unsigned char bytes[];
};

static noreturn void fail_for_memory(struct ptx_build *build)
{
    ptx_fail(build, build->line, "the module needs more than %zu MiB to compile", build->limit >> 20);
}

static void *allocate(struct ptx_build *build, struct ptx_arena *arena, uint64_t count, uint64_t size)
{
    if (size != 0 && count > build->limit / size)
        fail_for_memory(build);
    const size_t bytes = ((size_t)(count * size) + 15) & ~(size_t)15;
    if (bytes > arena->size - arena->used || arena->pieces == NULL) {
        const size_t room = bytes > PIECE_SIZE / 4 ? bytes : PIECE_SIZE;
        struct ptx_piece *piece = room > build->limit - build->total ? NULL : calloc(1, sizeof *piece + room);
        if (piece == NULL)
            fail_for_memory(build);
        build->total += room;
        if (room == bytes && arena->pieces != NULL) { /* a large piece stands alone */
            piece->next = arena->pieces->next;
            arena->pieces->next = piece;
            return piece->bytes;
        }
        piece->next = arena->pieces;
        arena->pieces = piece;
        arena->used = 0;
        arena->size = room;
    }
    void *result = arena->pieces->bytes + arena->used;
    arena->used += bytes;
    return result;
}

void *ptx_allocate(struct ptx_build *build, uint64_t count, uint64_t size)
{
    return allocate(build, &build->work, count, size);
}

void *ptx_keep(struct ptx_build *build, uint64_t count, uint64_t size)
{
    return allocate(build, &build->result, count, size);
}

const char *ptx_keep_text(struct ptx_build *build, const char *text)
{
    const size_t size = strlen(text) + 1;
    return memcpy(ptx_keep(build, size, 1), text, size);
}

void *ptx_grow(struct ptx_build *build, void *array, uint32_t count, uint32_t *capacity, uint64_t size)
{
    if (count < *capacity)
        return array;
    const uint32_t room = count < 8 ? 8 : count > UINT32_MAX / 2 ? UINT32_MAX : 2 * count;
    void *larger = ptx_allocate(build, room, size);
    if (count > 0)
        memcpy(larger, array, (size_t)(count * size));
    *capacity = room;
    return larger;
}

void ptx_spend(struct ptx_build *build, uint64_t steps)
{
    build->steps += steps;
    if (build->steps > MOST_STEPS)
        ptx_fail(build, build->line, "the module takes too long to compile");
}

noreturn void ptx_fail(struct ptx_build *build, uint32_t line, const char *format, ...)
{
    int length = build->text_count > 1
                     ? snprintf(build->log, sizeof build->log, "ptxas error, text %u, line %u: ", build->text + 1, line)
                     : snprintf(build->log, sizeof build->log, "ptxas error, line %u: ", line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(build->log + length, sizeof build->log - (size_t)length, format, arguments);
    va_end(arguments);
    longjmp(build->failed, 1);
}

static void free_arena(struct ptx_arena *arena)
{
    for (struct ptx_piece *piece = arena->pieces; piece != NULL;) {
        struct ptx_piece *next = piece->next;
        free(piece);
        piece = next;
    }
    *arena = (struct ptx_arena){0};
}

void ptx_end_work(struct ptx_build *build) { free_arena(&build->work); }

void ptx_build_free(struct ptx_build *build)
{
    free_arena(&build->work);
    free_arena(&build->result);
}
