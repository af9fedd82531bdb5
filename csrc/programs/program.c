/* Execution of programs. */

#include "program.h"

#include <string.h>

static const char MALFORMED[] = "the program of the call is malformed: trace the function again with this version of "
                                "bindless";

/* What commands refer to. */
typedef struct {
    size_t functions, buffer_count;
    void *const *buffers;
    uint64_t texture; /* 0: there is none */
} Objects;

/* The address of a byte of a buffer, or the texture; false if there is no such object. */
static int find(const Objects *objects, int64_t index, int64_t start, uint64_t *value)
{
    if (index < 0 || (uint64_t)index > objects->buffer_count)
        return 0;
    const int is_texture = (uint64_t)index == objects->buffer_count;
    *value = is_texture ? objects->texture : (uint64_t)(uintptr_t)((char *)objects->buffers[index] + start);
    return !is_texture || objects->texture != 0;
}

static const char *run_texture(Target *target, const int64_t **words, const int64_t *end, Objects *objects)
{
    const int64_t *word = *words;
    *words += 2 + TEXTURE_WORDS;
    if (target->texture == NULL || end - word < 2 + TEXTURE_WORDS || word[0] < 0 ||
        (uint64_t)word[0] >= objects->buffer_count || word[1] < 0)
        return MALFORMED;
    return target->texture(target, (char *)objects->buffers[word[0]] + word[1], word + 2, &objects->texture);
}

static const char *run_call(Target *target, const int64_t **words, const int64_t *end, const Objects *objects)
{
    const int64_t *word = *words;
    if (end - word < 9 || word[0] < 0 || (uint64_t)word[0] >= objects->functions || word[7] < 0 ||
        word[7] > 8 * MOST_ARGUMENT_WORDS || word[8] < 0 || word[8] > MOST_BUFFERS)
        return MALFORMED;
    size_t size = ((size_t)word[7] + 7) / 8, patches = (size_t)word[8];
    const int64_t *patch = word + 9, *source = patch + 3 * patches;
    if ((size_t)(end - patch) < 3 * patches + size)
        return MALFORMED;
    int64_t arguments[MOST_ARGUMENT_WORDS];
    memcpy(arguments, source, 8 * size);
    for (size_t i = 0; i < patches; i++) {
        int64_t offset = patch[3 * i];
        uint64_t value;
        if (offset < 0 || (uint64_t)offset + sizeof value > 8 * size ||
            !find(objects, patch[3 * i + 1], patch[3 * i + 2], &value))
            return MALFORMED;
        memcpy((char *)arguments + offset, &value, sizeof value);
    }
    Call call = {.bytes = (size_t)word[7], .arguments = arguments};
    for (int axis = 0; axis < 3; axis++) {
        call.grid[axis] = (uint32_t)word[1 + axis];
        call.block[axis] = (uint32_t)word[4 + axis];
    }
    *words = source + size;
    return target->call(target, (size_t)word[0], &call);
}

const char *run_program(Target *target, const int64_t *words, size_t count, size_t functions, void *const *buffers,
                        size_t buffer_count)
{
    const int64_t *end = words + count;
    Objects objects = {.functions = functions, .buffer_count = buffer_count, .buffers = buffers};
    while (words < end) {
        const char *failure = MALFORMED;
        switch (*words++) {
        case COMMAND_CLEAR:
            if (end - words >= 2 && words[0] >= 0 && (uint64_t)words[0] < buffer_count && words[1] >= 0)
                failure = target->clear(target, buffers[words[0]], (size_t)words[1]);
            words += 2;
            break;
        case COMMAND_CALL:
            failure = run_call(target, &words, end, &objects);
            break;
        case COMMAND_TEXTURE:
            failure = run_texture(target, &words, end, &objects);
            break;
        }
        if (failure != NULL)
            return failure;
    }
    return NULL;
}
