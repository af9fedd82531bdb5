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

void *ptx_allocate(struct ptx_build *build, uint64_t count, uint64_t size)
{
    if (size != 0 && count > build->limit / size)
        fail_for_memory(build);
    const size_t bytes = ((size_t)(count * size) + 15) & ~(size_t)15;
    if (bytes > build->size - build->used || build->pieces == NULL) {
        const size_t room = bytes > PIECE_SIZE / 4 ? bytes : PIECE_SIZE;
        struct ptx_piece *piece = room > build->limit - build->total ? NULL : calloc(1, sizeof *piece + room);
        if (piece == NULL)
            fail_for_memory(build);
        build->total += room;
        if (room == bytes && build->pieces != NULL) { /* a large piece stands alone */
            piece->next = build->pieces->next;
            build->pieces->next = piece;
            return piece->bytes;
        }
        piece->next = build->pieces;
        build->pieces = piece;
        build->used = 0;
        build->size = room;
    }
    void *result = build->pieces->bytes + build->used;
    build->used += bytes;
    return result;
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

void ptx_build_free(struct ptx_build *build)
{
    for (struct ptx_piece *piece = build->pieces; piece != NULL;) {
        struct ptx_piece *next = piece->next;
        free(piece);
        piece = next;
    }
    build->pieces = NULL;
}
