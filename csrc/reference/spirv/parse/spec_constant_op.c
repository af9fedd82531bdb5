/* Evaluation of OpSpecConstantOp: the operations of kernels, executed once with the same value in all lanes. */
#include "spirv/parse/spec_constant_op.h"

#include "spirv/execute/lane_operations.h"

#include <inttypes.h>
#include <string.h>

#define MOST_OPERANDS 4u
#define MOST_COMPONENTS 16u
#define ROOM (MOST_COMPONENTS * BLR_LANES * 8u)

/* The value named by id; an address for a module-scope variable. */
static const struct blr_spirv_type *operand(struct blr_spirv_module *module, uint32_t word, uint32_t id,
                                            const unsigned char **bytes)
{
    const struct blr_spirv_id *entry = id != 0 && id < module->bound ? &module->ids[id] : NULL;
    if (entry != NULL && entry->kind == BLR_ID_CONSTANT && entry->constant->address_count == 0) {
        *bytes = entry->constant->bytes;
        return entry->constant->type;
    }
    if (entry != NULL && entry->kind == BLR_ID_VARIABLE && entry->variable->address != 0) {
        *bytes = (const unsigned char *)&entry->variable->address;
        return entry->variable->type;
    }
    blr_spirv_refuse(module->build, word, "%%%u is no constant whose value is known here", id);
}

/* The same for the source of a pointer, which may be an offset in the work-group's memory. */
static const struct blr_spirv_type *pointer_operand(struct blr_spirv_module *module, uint32_t word, const unsigned char **bytes,
                                                    struct blr_spirv_constant *constant)
{
    const uint32_t id = module->build->words[word + 4];
    const struct blr_spirv_id *entry = id != 0 && id < module->bound ? &module->ids[id] : NULL;
    const bool is_variable = entry != NULL && entry->kind == BLR_ID_VARIABLE && entry->variable->storage == BLR_STORAGE_WORKGROUP;
    const bool is_offset = entry != NULL && entry->kind == BLR_ID_CONSTANT && entry->constant->address_count != 0;
    if ((!is_variable && !is_offset) || constant->type->kind != BLR_TYPE_POINTER)
        return operand(module, word, id, bytes);
    blr_spirv_note_address(module, constant, 0);
    *bytes = is_variable ? (const unsigned char *)&entry->variable->offset : entry->constant->bytes;
    return is_variable ? entry->variable->type : entry->constant->type;
}

/* Broadcasts each component to all lanes of a register. */
static void spread(struct blr_spirv_module *module, const struct blr_spirv_type *type, const unsigned char *bytes,
                   unsigned char *registers)
{
    uint32_t size = blr_spirv_scalar(module, type)->scalar_size;
    for (uint32_t i = 0; i < blr_spirv_components(type) * BLR_LANES; i++) {
        if (bytes != NULL)
            memcpy(registers + i * size, bytes + i / BLR_LANES * size, size);
        else
            memset(registers + i * size, 0, size);
    }
}

/* Aligned memory of the arena for vector instructions. */
static void *allocate_aligned(struct blr_spirv_module *module, size_t size, size_t alignment)
{
    uintptr_t address = (uintptr_t)blr_spirv_allocate(module->build, size + alignment, 1);
    return (void *)((address + alignment - 1) / alignment * alignment);
}

struct blr_spirv_once {
    struct blr_spirv_batch *batch;
    unsigned char *result;
};

struct blr_spirv_once *blr_spirv_once_new(struct blr_spirv_module *module)
{
    struct blr_spirv_once *once = blr_spirv_allocate(module->build, 1, sizeof *once);
    once->batch = allocate_aligned(module, sizeof *once->batch, _Alignof(struct blr_spirv_batch));
    once->batch->registers = allocate_aligned(module, (MOST_OPERANDS + 1) * ROOM, 64);
    once->result = once->batch->registers + MOST_OPERANDS * ROOM;
    return once;
}

void blr_spirv_run_once(struct blr_spirv_once *once, struct blr_spirv_module *module, const struct blr_spirv_op *op, uint32_t count,
                        const struct blr_spirv_type *const *types, const unsigned char *const *operands, unsigned char *result)
{
    struct blr_spirv_op own = *op;
    for (uint32_t i = 0; i < count; i++) {
        own.in[i] = i * ROOM;
        spread(module, types[i], operands[i], once->batch->registers + i * ROOM);
    }
    own.run(once->batch, &own, once->result);
    for (uint32_t c = 0; c < own.count / BLR_LANES; c++)
        memcpy(result + c * own.element, once->result + c * BLR_LANES * own.element, own.element);
}

static void evaluate_lanes(struct blr_spirv_module *module, uint32_t word, unsigned opcode,
                           struct blr_spirv_constant *constant)
{
    const uint32_t *words = module->build->words;
    uint32_t count = blr_spirv_length_at(module->build, word) - 4;
    const struct blr_spirv_type *types[MOST_OPERANDS];
    const unsigned char *operands[MOST_OPERANDS];
    struct blr_spirv_op op = {0};
    if (count == 0 || count > MOST_OPERANDS)
        blr_spirv_unsupported(module->build, word, "among constants");
    for (uint32_t i = 0; i < count; i++) {
        types[i] = operand(module, word, words[word + 4 + i], &operands[i]);
        if (types[i]->kind == BLR_TYPE_ARRAY || types[i]->kind == BLR_TYPE_STRUCT)
            blr_spirv_unsupported(module->build, word, "composites of operands among constants");
    }
    if (constant->type->kind == BLR_TYPE_ARRAY || constant->type->kind == BLR_TYPE_STRUCT ||
        !blr_spirv_elementwise(module, word, opcode, constant->type, types, count, &op))
        blr_spirv_refuse(module->build, word, "instruction %u is not supported among constants", opcode);
    blr_spirv_run_once(blr_spirv_once_new(module), module, &op, count, types, operands, constant->bytes);
}

/* ---------------------------------------------------------------- composites */

/* The position of an element of a composite, from the literal indices in words [at, end). */
static const struct blr_spirv_type *locate(struct blr_spirv_module *module, uint32_t word, const struct blr_spirv_type *type,
                                           uint32_t at, uint32_t end, uint64_t *offset)
{
    for (*offset = 0; at < end; at++) {
        uint32_t number = module->build->words[at];
        const struct blr_spirv_type *element = blr_spirv_element(module, word, type, number);
        if (number >= type->count)
            blr_spirv_refuse(module->build, word, "element %u of %%%u, which has %u", number, type->id, type->count);
        *offset += type->kind == BLR_TYPE_STRUCT ? type->offsets[number] : number * element->size;
        type = element;
    }
    return type;
}

static void require_same(struct blr_spirv_module *module, uint32_t word, const struct blr_spirv_type *a,
                         const struct blr_spirv_type *b)
{
    if (!blr_spirv_same(module, a, b))
        blr_spirv_refuse(module->build, word, "%%%u and %%%u are different types", a->id, b->id);
}

static void copy(unsigned char *to, const unsigned char *from, uint64_t offset, uint64_t size)
{
    if (from != NULL)
        memcpy(to, from + offset, size);
    else
        memset(to, 0, size);
}

static void evaluate_extract(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_constant *constant)
{
    const uint32_t *words = module->build->words;
    const unsigned char *bytes;
    uint64_t offset;
    const struct blr_spirv_type *type = operand(module, word, words[word + 4], &bytes);
    type = locate(module, word, type, word + 5, word + blr_spirv_length_at(module->build, word), &offset);
    require_same(module, word, type, constant->type);
    copy(constant->bytes, bytes, offset, type->size);
}

static void evaluate_insert(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_constant *constant)
{
    const uint32_t *words = module->build->words;
    blr_spirv_require_words(module, word, 6);
    const unsigned char *object, *bytes;
    uint64_t offset;
    const struct blr_spirv_type *part = operand(module, word, words[word + 4], &object);
    require_same(module, word, operand(module, word, words[word + 5], &bytes), constant->type);
    const struct blr_spirv_type *type =
        locate(module, word, constant->type, word + 6, word + blr_spirv_length_at(module->build, word), &offset);
    require_same(module, word, type, part);
    copy(constant->bytes, bytes, 0, constant->type->size);
    copy(constant->bytes + offset, object, 0, part->size);
}

static void evaluate_shuffle(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_constant *constant)
{
    const uint32_t *words = module->build->words;
    blr_spirv_require_words(module, word, 6);
    const unsigned char *bytes[2];
    const struct blr_spirv_type *types[2], *scalar = blr_spirv_scalar(module, constant->type);
    uint32_t count = blr_spirv_length_at(module->build, word) - 6;
    for (uint32_t i = 0; i < 2; i++) {
        types[i] = operand(module, word, words[word + 4 + i], &bytes[i]);
        if (types[i]->kind != BLR_TYPE_VECTOR || constant->type->kind != BLR_TYPE_VECTOR || count != constant->type->count)
            blr_spirv_refuse(module->build, word, "its operands are no vectors, or it has other than %u components", count);
        require_same(module, word, blr_spirv_scalar(module, types[i]), scalar);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = words[word + 6 + i] == UINT32_MAX ? 0 : words[word + 6 + i]; /* undefined: any value */
        if (number >= types[0]->count + types[1]->count)
            blr_spirv_refuse(module->build, word, "component %u of vectors of %u and %u", number, types[0]->count, types[1]->count);
        bool second = number >= types[0]->count;
        copy(constant->bytes + i * scalar->size, bytes[second], (number - (second ? types[0]->count : 0)) * scalar->size,
             scalar->size);
    }
}

/* ---------------------------------------------------------------- addresses */

/* A sign-extended integer. */
static uint64_t signed_number(struct blr_spirv_module *module, uint32_t word, uint32_t id)
{
    uint64_t number = blr_spirv_constant_number(module, word, id);
    unsigned unused = 64 - 8u * module->ids[id].constant->type->scalar_size;
    return (uint64_t)((int64_t)(number << unused) >> unused);
}

/* Address of an element of a variable. */
static void evaluate_address(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_constant *constant,
                             bool element_first)
{
    const uint32_t *words = module->build->words;
    blr_spirv_require_words(module, word, element_first ? 6 : 5);
    const unsigned char *bytes;
    const struct blr_spirv_type *type = pointer_operand(module, word, &bytes, constant);
    uint64_t address = 0;
    if (type->kind != BLR_TYPE_POINTER || constant->type->kind != BLR_TYPE_POINTER)
        blr_spirv_refuse(module->build, word, "%%%u or the result is no pointer", words[word + 4]);
    if (bytes != NULL)
        memcpy(&address, bytes, sizeof address);
    type = blr_spirv_type(module, word, type->element);
    uint32_t w = word + 5, end = word + blr_spirv_length_at(module->build, word);
    if (element_first)
        address += signed_number(module, word, words[w++]) * type->size;
    for (; w < end; w++) {
        uint64_t index = blr_spirv_constant_number(module, word, words[w]);
        if (type->kind == BLR_TYPE_STRUCT && index < type->count)
            address += type->offsets[index];
        const struct blr_spirv_type *element =
            blr_spirv_element(module, word, type, index > UINT32_MAX ? UINT32_MAX : (uint32_t)index);
        if (type->kind != BLR_TYPE_STRUCT)
            address += signed_number(module, word, words[w]) * element->size;
        type = element;
    }
    memcpy(constant->bytes, &address, sizeof address);
}

void blr_spirv_evaluate(struct blr_spirv_module *module, uint32_t word, struct blr_spirv_constant *constant)
{
    blr_spirv_require_words(module, word, 5);
    unsigned opcode = module->build->words[word + 3];
    const unsigned char *bytes;
    const struct blr_spirv_type *type;
    switch (opcode) {
    case BLR_OP_CompositeExtract: evaluate_extract(module, word, constant); return;
    case BLR_OP_CompositeInsert: evaluate_insert(module, word, constant); return;
    case BLR_OP_VectorShuffle: evaluate_shuffle(module, word, constant); return;
    case BLR_OP_AccessChain:
    case BLR_OP_InBoundsAccessChain: evaluate_address(module, word, constant, false); return;
    case BLR_OP_PtrAccessChain:
    case BLR_OP_InBoundsPtrAccessChain: evaluate_address(module, word, constant, true); return;
    case BLR_OP_PtrCastToGeneric:
    case BLR_OP_GenericCastToPtr:
    case BLR_OP_Bitcast:
        type = pointer_operand(module, word, &bytes, constant);
        if (type->size != constant->type->size || constant->type->kind == BLR_TYPE_BOOL || type->kind == BLR_TYPE_BOOL)
            blr_spirv_refuse(module->build, word, "from %%%u to %%%u, which is of another size", type->id,
                             constant->type->id);
        if (bytes != NULL)
            memcpy(constant->bytes, bytes, type->size);
        return;
    default: evaluate_lanes(module, word, opcode, constant); return;
    }
}
