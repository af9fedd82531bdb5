/* Words of a module: instructions, types, constants. */
#include "words.h"

#include <string.h>

#define MOST_IDS ((uint32_t)1 << 26)

uint32_t ptx_new_id(struct ptx_words *words)
{
    if (words->bound >= MOST_IDS)
        ptx_fail(words->build, words->build->line, "the module is too large");
    return words->bound++;
}

void ptx_push(struct ptx_build *build, struct ptx_buffer *buffer, uint32_t word)
{
    buffer->words = ptx_grow(build, buffer->words, buffer->count, &buffer->capacity, sizeof word);
    buffer->words[buffer->count++] = word;
}

static uint32_t head(struct ptx_build *build, uint32_t opcode, uint64_t length)
{
    if (length > UINT16_MAX)
        ptx_fail(build, build->line, "an instruction of %llu words in SPIR-V", (unsigned long long)length);
    return (uint32_t)length << 16 | opcode;
}

void ptx_append(struct ptx_build *build, struct ptx_buffer *buffer, uint32_t opcode, const uint32_t *operands, uint32_t count)
{
    ptx_push(build, buffer, head(build, opcode, (uint64_t)count + 1));
    for (uint32_t i = 0; i < count; i++)
        ptx_push(build, buffer, operands[i]);
}

void ptx_append_text(struct ptx_build *build, struct ptx_buffer *buffer, uint32_t opcode, const uint32_t *operands, uint32_t count,
                     const char *text, const uint32_t *more, uint32_t more_count)
{
    const size_t length = strlen(text), text_words = length / 4 + 1;
    ptx_push(build, buffer, head(build, opcode, (uint64_t)count + 1 + text_words + more_count));
    for (uint32_t i = 0; i < count; i++)
        ptx_push(build, buffer, operands[i]);
    for (size_t i = 0; i < text_words; i++) {
        uint32_t word = 0;
        for (size_t k = 0; k < 4 && 4 * i + k < length; k++)
            word |= (uint32_t)(unsigned char)text[4 * i + k] << 8 * k;
        ptx_push(build, buffer, word);
    }
    for (uint32_t i = 0; i < more_count; i++)
        ptx_push(build, buffer, more[i]);
}

void ptx_need(struct ptx_words *words, uint32_t capability)
{
    for (uint32_t i = 0; i < words->capability_count; i++)
        if (words->capabilities[i] == capability)
            return;
    words->capabilities[words->capability_count++] = capability; /* there are fewer than PTX_CAPABILITIES */
}

void ptx_need_extension(struct ptx_words *words, const char *name)
{
    for (uint32_t i = 0; i < words->extension_count; i++)
        if (strcmp(words->extensions[i], name) == 0)
            return;
    words->extensions[words->extension_count++] = name;
}

/* ---------------------------------------------------------------- types and constants */

uint32_t ptx_declare(struct ptx_words *words, uint32_t opcode, uint32_t type, const uint32_t *operands, uint32_t count)
{
    struct ptx_build *build = words->build;
    uint32_t hash = opcode * 2654435761u + type * 40503u;
    for (uint32_t i = 0; i < count; i++)
        hash = (hash ^ operands[i]) * 16777619u;
    hash = (hash ^ hash >> 15) % PTX_DECLARATION_BUCKETS;
    const uint32_t before = type != 0 ? 3 : 2, length = before + count;
    const uint32_t first = head(build, opcode, length);
    for (uint32_t k = words->buckets[hash]; k != 0; k = words->list[k - 1].next) {
        const struct ptx_declaration *one = &words->list[k - 1];
        const uint32_t *other = words->declarations.words + one->at;
        ptx_spend(build, 1);
        if (one->length == length && other[0] == first && (type == 0 || other[1] == type) &&
            (count == 0 || memcmp(other + before, operands, count * sizeof *operands) == 0))
            return one->id;
    }
    const uint32_t id = ptx_new_id(words);
    words->list = ptx_grow(build, words->list, words->list_count, &words->list_capacity, sizeof *words->list);
    words->list[words->list_count++] =
        (struct ptx_declaration){.at = words->declarations.count, .length = length, .id = id, .next = words->buckets[hash]};
    words->buckets[hash] = words->list_count;
    ptx_push(build, &words->declarations, first);
    if (type != 0)
        ptx_push(build, &words->declarations, type);
    ptx_push(build, &words->declarations, id);
    for (uint32_t i = 0; i < count; i++)
        ptx_push(build, &words->declarations, operands[i]);
    return id;
}

uint32_t ptx_bits_of(enum ptx_kind kind)
{
    static const uint8_t bits[PTX_KINDS] = {1, 8, 16, 32, 64, 16, 32, 64};
    return bits[kind];
}

bool ptx_is_float(enum ptx_kind kind) { return kind >= PTX_H; }

uint32_t ptx_scalar(struct ptx_words *words, enum ptx_kind kind)
{
    const uint32_t operands[2] = {ptx_bits_of(kind), 0};
    switch (kind) {
    case PTX_BOOL: return ptx_declare(words, OP_TypeBool, 0, NULL, 0);
    case PTX_I8: ptx_need(words, CAN_INT8); break;
    case PTX_I16: ptx_need(words, CAN_INT16); break;
    case PTX_I64: ptx_need(words, CAN_INT64); break;
    case PTX_H: ptx_need(words, CAN_FLOAT16); break;
    case PTX_D: ptx_need(words, CAN_FLOAT64); break;
    default: break;
    }
    return ptx_is_float(kind) ? ptx_declare(words, OP_TypeFloat, 0, operands, 1) : ptx_declare(words, OP_TypeInt, 0, operands, 2);
}

uint32_t ptx_vector(struct ptx_words *words, enum ptx_kind kind, uint32_t components)
{
    const uint32_t operands[2] = {ptx_scalar(words, kind), components};
    return components == 1 ? operands[0] : ptx_declare(words, OP_TypeVector, 0, operands, 2);
}

uint32_t ptx_pointer(struct ptx_words *words, uint32_t storage, uint32_t type)
{
    const uint32_t operands[2] = {storage, type};
    return ptx_declare(words, OP_TypePointer, 0, operands, 2);
}

uint32_t ptx_void(struct ptx_words *words) { return ptx_declare(words, OP_TypeVoid, 0, NULL, 0); }

uint32_t ptx_bytes(struct ptx_words *words, uint64_t count)
{
    const uint32_t operands[2] = {ptx_scalar(words, PTX_I8), ptx_constant_of(words, PTX_I64, count).id};
    return ptx_declare(words, OP_TypeArray, 0, operands, 2);
}

struct ptx_value ptx_constant_of(struct ptx_words *words, enum ptx_kind kind, uint64_t bits)
{
    struct ptx_value value = {.kind = kind};
    const uint32_t type = ptx_scalar(words, kind);
    if (kind == PTX_BOOL) {
        value.id = ptx_declare(words, bits != 0 ? OP_ConstantTrue : OP_ConstantFalse, type, NULL, 0);
        return value;
    }
    if (ptx_bits_of(kind) < 64)
        bits &= ((uint64_t)1 << ptx_bits_of(kind)) - 1;
    const uint32_t operands[2] = {(uint32_t)bits, (uint32_t)(bits >> 32)};
    value.id = ptx_declare(words, OP_Constant, type, operands, ptx_bits_of(kind) == 64 ? 2 : 1);
    return value;
}

/* ---------------------------------------------------------------- the module */

struct ptx_buffer ptx_assemble(struct ptx_words *words)
{
    struct ptx_build *build = words->build;
    struct ptx_buffer all = {0};
    static const uint32_t header[] = {0x07230203u, 0x00010300u, 0};
    const struct ptx_buffer *parts[] = {&words->entries, &words->modes, &words->names, &words->decorations,
                                        &words->declarations, &words->imports, &words->functions};
    for (uint32_t i = 0; i < 3; i++)
        ptx_push(build, &all, header[i]);
    ptx_push(build, &all, words->bound);
    ptx_push(build, &all, 0);
    for (uint32_t i = 0; i < words->capability_count; i++)
        ptx_append(build, &all, OP_Capability, &words->capabilities[i], 1);
    for (uint32_t i = 0; i < words->extension_count; i++)
        ptx_append_text(build, &all, OP_Extension, NULL, 0, words->extensions[i], NULL, 0);
    ptx_append_text(build, &all, OP_ExtInstImport, &words->math, 1, "OpenCL.std", NULL, 0);
    const uint32_t model[2] = {2, 2}; /* Physical64, OpenCL */
    ptx_append(build, &all, OP_MemoryModel, model, 2);
    for (uint32_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i] == &words->names)
            ptx_append_text(build, &all, OP_SourceExtension, NULL, 0, "bindless_independent_work_items", NULL, 0);
        for (uint32_t k = 0; k < parts[i]->count; k++)
            ptx_push(build, &all, parts[i]->words[k]);
    }
    return all;
}
