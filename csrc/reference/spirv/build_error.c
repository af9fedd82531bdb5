/* Module builds: failure, arena memory, and literal strings. */
#include "spirv/build_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void describe(const struct blr_spirv_build *build, uint32_t word, char *text, size_t size)
{
    if (word < BLR_SPIRV_HEADER_WORDS || word >= build->count) {
        snprintf(text, size, "SPIR-V module");
        return;
    }
    unsigned opcode = blr_spirv_opcode_at(build, word);
    const char *name = blr_spirv_opcode_name(opcode);
    if (name != NULL)
        snprintf(text, size, "SPIR-V word %u (Op%s)", word, name);
    else
        snprintf(text, size, "SPIR-V word %u (instruction %u)", word, opcode);
}

noreturn void blr_spirv_refuse(struct blr_spirv_build *build, uint32_t word, const char *format, ...)
{
    char place[96], sentence[640], module[32] = "";
    describe(build, word, place, sizeof place);
    if (build->module != 0)
        snprintf(module, sizeof module, "module %u, ", build->module);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    build->result = blr_fail(BLR_RESULT_BUILD_FAILED, "%s%s: %s", module, place, sentence);
    longjmp(build->failed, 1);
}

noreturn void blr_spirv_unsupported(struct blr_spirv_build *build, uint32_t word, const char *why)
{
    blr_spirv_refuse(build, word, "not supported by the reference driver%s%s", why != NULL ? ": " : "",
                     why != NULL ? why : "");
}

noreturn void blr_spirv_unresolved(struct blr_spirv_build *build, uint32_t word, const char *what, const char *name)
{
    build->unresolved = true;
    blr_spirv_refuse(build, word, "the %s '%.80s' is declared and not defined: link the module with one that defines "
                                  "it", what,
                     name != NULL ? name : "");
}

void *blr_spirv_allocate(struct blr_spirv_build *build, size_t count, size_t size)
{
    void *memory = size != 0 && count > BLR_ARENA_LIMIT / size ? NULL : blr_arena_allocate(build->arena, count * size);
    if (memory == NULL) {
        build->result = blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for %zu entries of %zu bytes of a SPIR-V module",
                                 count, size);
        longjmp(build->failed, 1);
    }
    return memory;
}

void *blr_spirv_grow(struct blr_spirv_build *build, void *array, uint32_t count, uint32_t *capacity, size_t size)
{
    if (count < *capacity)
        return array;
    uint32_t larger = *capacity == 0 ? 16 : *capacity * 2;
    void *grown = blr_spirv_allocate(build, larger, size);
    if (count > 0)
        memcpy(grown, array, count * size);
    if (array != NULL)
        blr_arena_give_back(build->arena, array, *capacity * size);
    *capacity = larger;
    return grown;
}

const char *blr_spirv_string(struct blr_spirv_build *build, uint32_t instruction, uint32_t word, uint32_t limit,
                             uint32_t *next)
{
    const char *text = (const char *)(build->words + word);
    size_t room = word < limit ? (size_t)(limit - word) * 4 : 0;
    const char *end = room > 0 ? memchr(text, '\0', room) : NULL;
    if (end == NULL)
        blr_spirv_refuse(build, instruction, "a string without terminator");
    *next = word + (uint32_t)((size_t)(end - text) / 4) + 1;
    return text;
}
