/* Scanner of SPIR-V instructions for specialization constants. */

#include "level_zero_driver/module/spec_constant_sizes.h"

#include "reference/spirv/opcodes.h"

#include <stdbool.h>
#include <string.h>

#define HEADER_WORDS 5u
#define DECORATION_SPEC_ID 1u

struct scan {
    const unsigned char *code;
    size_t words;
};

static uint32_t word_at(const struct scan *scan, size_t index)
{
    uint32_t word;
    memcpy(&word, scan->code + 4 * index, sizeof word);
    return word;
}

/* A module of the other byte order yields no instructions; its names and sizes are not available. */
static struct scan begin(const void *code, size_t size)
{
    struct scan scan = {code, size / 4};
    if (scan.words < HEADER_WORDS || word_at(&scan, 0) != BLR_SPIRV_MAGIC)
        scan.words = 0;
    return scan;
}

/* Moves to the instruction after the one at *at (0: the first) and checks that it is complete; false at the end. */
static bool next(const struct scan *scan, size_t *at, uint32_t *operation, uint32_t *length)
{
    *at = *at == 0 ? HEADER_WORDS : *at + *length;
    if (*at >= scan->words)
        return false;
    uint32_t first = word_at(scan, *at);
    *operation = first & 0xffff;
    *length = first >> 16;
    return *length > 0 && *length <= scan->words - *at;
}

static uint32_t type_size(const struct scan *scan, uint32_t type)
{
    size_t at = 0;
    for (uint32_t operation, length = 0; next(scan, &at, &operation, &length);)
        if ((operation == BLR_OP_TypeInt || operation == BLR_OP_TypeFloat) && length >= 3 && word_at(scan, at + 1) == type)
            return word_at(scan, at + 2) / 8;
    return 0;
}

uint32_t blz_spirv_constant_size(const void *code, size_t size, uint32_t number)
{
    struct scan scan = begin(code, size);
    uint32_t target = 0;
    size_t at = 0;
    for (uint32_t operation, length = 0; next(&scan, &at, &operation, &length);) {
        if (operation == BLR_OP_Decorate && length >= 4 && word_at(&scan, at + 2) == DECORATION_SPEC_ID &&
            word_at(&scan, at + 3) == number)
            target = word_at(&scan, at + 1);
        if (target == 0 || length < 3 || word_at(&scan, at + 2) != target)
            continue;
        if (operation == BLR_OP_SpecConstantTrue || operation == BLR_OP_SpecConstantFalse)
            return 1;
        if (operation == BLR_OP_SpecConstant)
            return type_size(&scan, word_at(&scan, at + 1));
    }
    return 0;
}
