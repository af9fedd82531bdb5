/* Execution of programs. */

#include "program.h"

#include <string.h>

static const char MALFORMED[] = "the program of the call is malformed: trace the function again with this version of "
                                "bindless";

static const char *run_call(Target *target, const int64_t **words, const int64_t *end, size_t functions,
                            void *const *buffers, size_t buffer_count)
{
    const int64_t *word = *words;
    if (end - word < 9 || word[0] < 0 || (uint64_t)word[0] >= functions || word[7] < 0 ||
        word[7] > 8 * MOST_ARGUMENT_WORDS || word[8] < 0 || word[8] > MOST_BUFFERS)
        return MALFORMED;
    size_t size = ((size_t)word[7] + 7) / 8, patches = (size_t)word[8];
    const int64_t *patch = word + 9, *source = patch + 3 * patches;
    if ((size_t)(end - patch) < 3 * patches + size)
        return MALFORMED;
    int64_t arguments[MOST_ARGUMENT_WORDS];
    memcpy(arguments, source, 8 * size);
    for (size_t i = 0; i < patches; i++) {
        int64_t offset = patch[3 * i], index = patch[3 * i + 1];
        if (offset < 0 || (uint64_t)offset + sizeof(void *) > 8 * size || index < 0 || (uint64_t)index >= buffer_count)
            return MALFORMED;
        void *address = (char *)buffers[index] + patch[3 * i + 2];
        memcpy((char *)arguments + offset, &address, sizeof address);
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
    while (words < end) {
        const char *failure = MALFORMED;
        switch (*words++) {
        case COMMAND_CLEAR:
            if (end - words >= 2 && words[0] >= 0 && (uint64_t)words[0] < buffer_count && words[1] >= 0)
                failure = target->clear(target, buffers[words[0]], (size_t)words[1]);
            words += 2;
            break;
        case COMMAND_CALL:
            failure = run_call(target, &words, end, functions, buffers, buffer_count);
            break;
        }
        if (failure != NULL)
            return failure;
    }
    return NULL;
}
