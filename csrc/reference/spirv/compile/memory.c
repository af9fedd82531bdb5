/* Decoding of pointers, loads and stores. */
#include "spirv/compile/builder.h"
#include "spirv/execute/operations.h"
#include "spirv/execute/lane_operations.h"

#include <inttypes.h>
#include <string.h>

static uint32_t word_at(const struct blr_spirv_builder *b, uint32_t word) { return b->build->words[word]; }
static uint32_t length_at(const struct blr_spirv_builder *b, uint32_t word) { return blr_spirv_length_at(b->build, word); }

static uint64_t align(uint64_t offset, uint64_t alignment) { return (offset + alignment - 1) / alignment * alignment; }

struct blr_spirv_ref blr_spirv_private(struct blr_spirv_builder *b, uint32_t word, const struct blr_spirv_type *pointer,
                                       const struct blr_spirv_type *holds, uint64_t alignment, uint64_t *offset)
{
    alignment = alignment > holds->alignment ? alignment : holds->alignment;
    if (holds->size == 0)
        blr_spirv_refuse(b->build, word, "a variable of %%%u, which has no size", holds->id);
    struct blr_spirv_program *program = b->program;
    uint64_t at = align(program->private_end, alignment);
    if (holds->size > BLR_SPIRV_MAX_PRIVATE || at + holds->size > BLR_SPIRV_MAX_PRIVATE)
        blr_spirv_refuse(b->build, word, "the kernel '%.80s' needs more than %" PRIu64 " bytes of memory for each work-item",
                         b->program->entry->name, BLR_SPIRV_MAX_PRIVATE);
    program->private_end = at + holds->size;
    program->private_alignment = alignment > program->private_alignment ? alignment : program->private_alignment;
    program->private_bytes = align(program->private_end, program->private_alignment); /* from lane to lane */
    if (offset != NULL)
        *offset = at;
    struct blr_spirv_ref ref = {.value = blr_spirv_new_value(b, 8) + 1, .type = pointer};
    b->values[ref.value - 1].preset = true;
    blr_spirv_fill(b, (struct blr_spirv_filling){
                          .value = ref.value - 1, .preset = {.kind = BLR_PRESET_PRIVATE, .size = 8, .offset = at}});
    return ref;
}

/* ---------------------------------------------------------------- loads and stores */

/* The end of the sequence from i on of equally sized scalars that are contiguous in memory. */
static uint32_t together(const struct blr_spirv_leaf *leaves, uint32_t count, uint32_t i)
{
    uint32_t end = i + 1;
    while (end < count && leaves[end].size == leaves[i].size && leaves[end].boolean == leaves[i].boolean &&
           leaves[end].offset == leaves[end - 1].offset + leaves[i].size)
        end++;
    return end;
}

/* pointer + bytes; bytes may be 0. */
static struct blr_spirv_ref displace(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref pointer,
                                     uint64_t bytes)
{
    if (bytes == 0)
        return pointer;
    struct blr_spirv_ref result = {.value = blr_spirv_new_value(b, 8) + 1, .type = pointer.type};
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_spirv_run_offset;
    step->op.form = BLR_AFFINE_OFFSET;
    step->op.literal = bytes;
    blr_spirv_step_result(step, result, 0, 8, 1);
    blr_spirv_step_input(step, 0, pointer);
    return result;
}

void blr_spirv_load(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref pointer, struct blr_spirv_ref to,
                    struct blr_spirv_type *type)
{
    const struct blr_spirv_leaf *leaves = blr_spirv_leaves(b->module, word, type);
    for (uint32_t i = 0, end; i < type->scalars; i = end) {
        end = together(leaves, type->scalars, i);
        struct blr_spirv_ref address = displace(b, word, pointer, leaves[i].offset);
        struct blr_spirv_step *step = blr_spirv_step(b, word);
        step->op.run = blr_spirv_run_load;
        step->op.form = BLR_AFFINE_LOAD;
        step->op.literal = leaves[i].boolean;
        blr_spirv_step_result(step, to, leaves[i].lane, leaves[i].size, end - i);
        blr_spirv_step_input(step, 0, address);
    }
}

void blr_spirv_store(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref pointer, struct blr_spirv_ref from,
                     struct blr_spirv_type *type)
{
    const struct blr_spirv_leaf *leaves = blr_spirv_leaves(b->module, word, type);
    for (uint32_t i = 0, end; i < type->scalars; i = end) {
        end = together(leaves, type->scalars, i);
        struct blr_spirv_ref address = displace(b, word, pointer, leaves[i].offset);
        struct blr_spirv_ref part = from;
        part.lane += leaves[i].lane;
        struct blr_spirv_step *step = blr_spirv_step(b, word);
        step->op.run = blr_spirv_run_store;
        step->op.form = BLR_AFFINE_STORE;
        step->op.literal = BLR_STORE_SHAPE(leaves[i].size, end - i, leaves[i].boolean);
        blr_spirv_step_input(step, 0, address);
        blr_spirv_step_input(step, 1, part);
    }
}

/* The type that a pointer points to. */
static struct blr_spirv_type *pointee(struct blr_spirv_builder *b, uint32_t word, const struct blr_spirv_type *pointer)
{
    if (pointer->kind != BLR_TYPE_POINTER)
        blr_spirv_refuse(b->build, word, "%%%u is no pointer type", pointer->id);
    return blr_spirv_type(b->module, word, pointer->element);
}

static void load(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 4);
    struct blr_spirv_ref pointer = blr_spirv_any_operand(b, word, word_at(b, word + 3));
    struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    if (!blr_spirv_same(b->module, pointee(b, word, pointer.type), type))
        blr_spirv_refuse(b->build, word, "%%%u does not point to %%%u", word_at(b, word + 3), type->id);
    if (pointer.builtin != 0) {
        pointer.builtin = 0;
        blr_spirv_bind(b, word, pointer);
        return;
    }
    blr_spirv_load(b, word, pointer, blr_spirv_result(b, word), type);
}

static void store(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 3);
    struct blr_spirv_ref pointer = blr_spirv_any_operand(b, word, word_at(b, word + 1));
    struct blr_spirv_ref object = blr_spirv_operand(b, word, word_at(b, word + 2));
    struct blr_spirv_type *type = pointee(b, word, pointer.type);
    if (pointer.builtin != 0)
        blr_spirv_refuse(b->build, word, "%%%u points to a built-in variable, which is not written", word_at(b, word + 1));
    if (!blr_spirv_same(b->module, type, object.type))
        blr_spirv_refuse(b->build, word, "%%%u does not point to %%%u", word_at(b, word + 1), object.type->id);
    blr_spirv_store(b, word, pointer, object, type);
}

/* ---------------------------------------------------------------- addresses */

/* address + index x stride, for a constant or variable index. */
static void add_index(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref *address, uint64_t *constant,
                      uint32_t id, uint64_t stride)
{
    if (id != 0 && id < b->module->bound && b->module->ids[id].kind == BLR_ID_CONSTANT) {
        const struct blr_spirv_type *type = b->module->ids[id].constant->type;
        uint64_t number = blr_spirv_constant_number(b->module, word, id);
        unsigned unused = 64 - 8u * type->scalar_size; /* unused bits above the index, which is signed */
        *constant += (uint64_t)((int64_t)(number << unused) >> unused) * stride;
        return;
    }
    struct blr_spirv_ref index = blr_spirv_operand(b, word, id);
    if (index.type->kind != BLR_TYPE_INT)
        blr_spirv_refuse(b->build, word, "the index %%%u is not an integer", id);
    struct blr_spirv_ref result = {.value = blr_spirv_new_value(b, 8) + 1, .type = address->type};
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_spirv_index(index.type->scalar_size);
    step->op.form = BLR_AFFINE_INDEX;
    step->op.literal = stride;
    blr_spirv_step_result(step, result, 0, 8, 1);
    blr_spirv_step_input(step, 0, *address);
    blr_spirv_step_input(step, 1, index);
    *address = result;
}

static bool all_constant(const struct blr_spirv_builder *b, uint32_t first, uint32_t end)
{
    for (uint32_t w = first; w < end; w++)
        if (word_at(b, w) >= b->module->bound || b->module->ids[word_at(b, w)].kind != BLR_ID_CONSTANT)
            return false;
    return true;
}

/* Constant indices into a built-in variable select registers: components in a lane have the same layout as in
 * memory. */
static void access_chain(struct blr_spirv_builder *b, uint32_t word, bool element_first)
{
    blr_spirv_require_words(b->module, word, element_first ? 5 : 4);
    struct blr_spirv_ref address = blr_spirv_any_operand(b, word, word_at(b, word + 3));
    struct blr_spirv_type *type = pointee(b, word, address.type);
    uint64_t constant = 0;
    uint32_t w = word + 4, end = word + length_at(b, word);
    if (address.builtin != 0 && !all_constant(b, w, end))
        address = blr_spirv_addressed(b, word, address);
    if (element_first) {
        if (type->size == 0)
            blr_spirv_refuse(b->build, word, "steps over %%%u, which has no size", type->id);
        add_index(b, word, &address, &constant, word_at(b, w++), type->size);
    }
    for (; w < end; w++) {
        if (type->kind == BLR_TYPE_STRUCT) {
            uint64_t member = blr_spirv_constant_number(b->module, word, word_at(b, w));
            if (member >= type->count)
                blr_spirv_refuse(b->build, word, "member %" PRIu64 " of %%%u, which has %u", member, type->id, type->count);
            constant += type->offsets[member];
            type = blr_spirv_element(b->module, word, type, (uint32_t)member);
        } else {
            type = blr_spirv_element(b->module, word, type, 0);
            add_index(b, word, &address, &constant, word_at(b, w), type->size);
        }
    }
    const struct blr_spirv_type *result = blr_spirv_result_type(b, word);
    if (!blr_spirv_same(b->module, pointee(b, word, result), type))
        blr_spirv_refuse(b->build, word, "its result points to another type than %%%u", type->id);
    if (address.builtin != 0) {
        uint64_t size = b->values[address.value - 1].lane_bytes;
        if (constant >= size || address.lane + constant + type->lane_bytes > size)
            blr_spirv_refuse(b->build, word, "its result points behind a built-in variable");
        address.lane += (uint32_t)constant;
        blr_spirv_bind(b, word, address);
        return;
    }
    blr_spirv_bind(b, word, displace(b, word, address, constant));
}

/* Casts between address spaces keep the address. */
static void cast(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 4);
    struct blr_spirv_ref pointer = blr_spirv_any_operand(b, word, word_at(b, word + 3));
    const struct blr_spirv_type *from = pointee(b, word, pointer.type), *to = pointee(b, word, blr_spirv_result_type(b, word));
    if (pointer.builtin != 0 && !blr_spirv_same(b->module, from, to))
        pointer = blr_spirv_addressed(b, word, pointer);
    blr_spirv_bind(b, word, pointer);
}

/* A cast that gives null where the address belongs to another address space. */
static void explicit_cast(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 5);
    struct blr_spirv_ref pointer = blr_spirv_operand(b, word, word_at(b, word + 3));
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    uint32_t storage = word_at(b, word + 4);
    pointee(b, word, pointer.type);
    pointee(b, word, type);
    if (type->storage != storage || (storage != BLR_STORAGE_FUNCTION && storage != BLR_STORAGE_WORKGROUP &&
                                     storage != BLR_STORAGE_CROSS_WORKGROUP))
        blr_spirv_refuse(b->build, word, "storage class %u is not that of its result, or none to cast to", storage);
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_spirv_run_explicit_cast;
    step->op.literal = storage;
    blr_spirv_step_result(step, result, 0, 8, 1);
    blr_spirv_step_input(step, 0, pointer);
}

static void semantics(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 4);
    struct blr_spirv_ref pointer = blr_spirv_operand(b, word, word_at(b, word + 3));
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    pointee(b, word, pointer.type);
    if (type->kind != BLR_TYPE_INT || type->scalar_size != 4)
        blr_spirv_refuse(b->build, word, "its result is no whole number of 32 bits");
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_spirv_run_semantics;
    blr_spirv_step_result(step, result, 0, 4, 1);
    blr_spirv_step_input(step, 0, pointer);
}

/* The size of a type, as a constant. */
static void size_of(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 4);
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    struct blr_spirv_ref pointer = blr_spirv_operand(b, word, word_at(b, word + 3));
    const struct blr_spirv_type *holds = pointee(b, word, pointer.type);
    if (type->kind != BLR_TYPE_INT || holds->size == 0)
        blr_spirv_refuse(b->build, word, "its result is no whole number, or its pointer to something without a size");
    blr_spirv_bind(b, word, blr_spirv_number(b, holds->size, type->scalar_size));
}

static void difference(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 5);
    struct blr_spirv_ref one = blr_spirv_operand(b, word, word_at(b, word + 3));
    struct blr_spirv_ref two = blr_spirv_operand(b, word, word_at(b, word + 4));
    const struct blr_spirv_type *type = pointee(b, word, one.type), *whole = blr_spirv_result_type(b, word);
    pointee(b, word, two.type);
    if (type->size == 0 || whole->kind != BLR_TYPE_INT)
        blr_spirv_refuse(b->build, word, "its pointers have different or unsized types");
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_spirv_run_difference;
    step->op.literal = type->size;
    blr_spirv_step_result(step, result, 0, whole->scalar_size, 1);
    blr_spirv_step_input(step, 0, one);
    blr_spirv_step_input(step, 1, two);
}

/* ---------------------------------------------------------------- blocks of memory */

static void copy_memory(struct blr_spirv_builder *b, uint32_t word, bool sized)
{
    blr_spirv_require_words(b->module, word, sized ? 4 : 3);
    struct blr_spirv_ref to = blr_spirv_operand(b, word, word_at(b, word + 1));
    struct blr_spirv_ref from = blr_spirv_operand(b, word, word_at(b, word + 2));
    const struct blr_spirv_type *type = pointee(b, word, to.type);
    pointee(b, word, from.type);
    struct blr_spirv_ref size;
    if (!sized) {
        if (!blr_spirv_same(b->module, pointee(b, word, from.type), type) || type->size == 0)
            blr_spirv_refuse(b->build, word, "source and target of the copy differ in type");
        size = blr_spirv_number(b, type->size, 8);
    } else {
        size = blr_spirv_operand(b, word, word_at(b, word + 3));
        if (size.type->kind != BLR_TYPE_INT)
            blr_spirv_refuse(b->build, word, "its size is not an integer");
        if (size.type->scalar_size != 8) {
            struct blr_spirv_ref wide = {.value = blr_spirv_new_value(b, 8) + 1};
            struct blr_spirv_step *widen = blr_spirv_step(b, word);
            widen->op.run = blr_spirv_conversion(BLR_OP_UConvert, size.type->scalar_size, 8);
            blr_spirv_step_result(widen, wide, 0, 8, 1);
            blr_spirv_step_input(widen, 0, size);
            size = wide;
        }
    }
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_spirv_run_move_memory;
    blr_spirv_step_input(step, 0, to);
    blr_spirv_step_input(step, 1, from);
    blr_spirv_step_input(step, 2, size);
}

/* ---------------------------------------------------------------- indices of arrays */

static struct blr_spirv_ref wide_integer(struct blr_spirv_builder *b, uint32_t word, uint32_t id)
{
    struct blr_spirv_ref operand = blr_spirv_operand(b, word, id);
    if (operand.type->kind != BLR_TYPE_INT || operand.type->scalar_size != 8)
        blr_spirv_refuse(b->build, word, "%%%u is no integer of 64 bits", id);
    return operand;
}

bool blr_spirv_decode_array_index(struct blr_spirv_builder *b, uint32_t word, const char *name)
{
    static const char prefix[] = "__bindless_array_index_";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    blr_spirv_require_words(b->module, word, 7);
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    const uint32_t dimensions = length_at(b, word) - 6;
    const uint64_t axis = blr_spirv_constant_number(b->module, word, word_at(b, word + 5));
    if (dimensions > BLR_ARRAY_DIMENSIONS || axis >= dimensions || type->kind != BLR_TYPE_INT || type->scalar_size != 8)
        blr_spirv_refuse(b->build, word, "'%.80s' takes an index, an axis and 1 to %u sizes, and gives an index", name,
                         BLR_ARRAY_DIMENSIONS);
    struct blr_spirv_ref inputs[1 + BLR_ARRAY_DIMENSIONS] = {wide_integer(b, word, word_at(b, word + 4))};
    for (uint32_t d = 0; d < dimensions; d++)
        inputs[1 + d] = wide_integer(b, word, word_at(b, word + 6 + d));
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = b->values[inputs[1 + axis].value - 1].preset ? blr_spirv_run_argument_index : blr_spirv_run_array_index;
    step->op.form = BLR_AFFINE_ARRAY_INDEX;
    step->op.literal = BLR_ARRAY_AXIS(axis, dimensions);
    blr_spirv_step_result(step, result, 0, 8, 1);
    for (uint32_t i = 0; i <= dimensions; i++)
        blr_spirv_step_input(step, i, inputs[i]);
    return true;
}

bool blr_spirv_decode_memory(struct blr_spirv_builder *b, uint32_t word)
{
    switch (blr_spirv_opcode_at(b->build, word)) {
    case BLR_OP_Load: load(b, word); return true;
    case BLR_OP_Store: store(b, word); return true;
    case BLR_OP_AccessChain:
    case BLR_OP_InBoundsAccessChain: access_chain(b, word, false); return true;
    case BLR_OP_PtrAccessChain:
    case BLR_OP_InBoundsPtrAccessChain: access_chain(b, word, true); return true;
    case BLR_OP_PtrCastToGeneric:
    case BLR_OP_GenericCastToPtr: cast(b, word); return true;
    case BLR_OP_GenericCastToPtrExplicit: explicit_cast(b, word); return true;
    case BLR_OP_GenericPtrMemSemantics: semantics(b, word); return true;
    case BLR_OP_SizeOf: size_of(b, word); return true;
    case BLR_OP_PtrDiff: difference(b, word); return true;
    case BLR_OP_CopyMemory: copy_memory(b, word, false); return true;
    case BLR_OP_CopyMemorySized: copy_memory(b, word, true); return true;
    default: return false;
    }
}
