/* Decoding of value instructions: composites, arithmetic, selection, bit casts. */
#include "spirv/compile/builder.h"
#include "spirv/parse/spec_constant_op.h"
#include "spirv/execute/lane_operations.h"
#include "spirv/execute/operations.h"

#define MOST_OPERANDS 4u
#define MOST_KNOWN 128u /* bytes of a lane: 16 components of 8 bytes */

static uint32_t word_at(const struct blr_spirv_builder *b, uint32_t word) { return b->build->words[word]; }
static uint32_t length_at(const struct blr_spirv_builder *b, uint32_t word) { return blr_spirv_length_at(b->build, word); }

/* ---------------------------------------------------------------- composites */

/* Follows literal indices into a type; returns the byte offset of the element within a lane. */
static uint32_t follow(struct blr_spirv_builder *b, uint32_t word, uint32_t first, struct blr_spirv_type **type)
{
    uint32_t lane = 0;
    for (uint32_t w = first; w < word + length_at(b, word); w++) {
        uint32_t index = word_at(b, w);
        struct blr_spirv_type *element = blr_spirv_element(b->module, word, *type, index);
        if (index >= (*type)->count)
            blr_spirv_refuse(b->build, word, "element %u of %%%u, which has %u", index, (*type)->id, (*type)->count);
        if ((*type)->kind == BLR_TYPE_STRUCT) {
            for (uint32_t i = 0; i < index; i++)
                lane += blr_spirv_element(b->module, word, *type, i)->lane_bytes;
        } else {
            lane += index * element->lane_bytes;
        }
        *type = element;
    }
    return lane;
}

static void require_same(struct blr_spirv_builder *b, uint32_t word, const struct blr_spirv_type *type,
                         const struct blr_spirv_type *expected)
{
    if (!blr_spirv_same(b->module, type, expected))
        blr_spirv_refuse(b->build, word, "a value of type %%%u where %%%u is needed", type->id, expected->id);
}

static struct blr_spirv_type *own_type(struct blr_spirv_builder *b, const struct blr_spirv_type *type)
{
    return b->module->ids[type->id].of_type;
}

static void extract(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 5);
    struct blr_spirv_ref composite = blr_spirv_operand(b, word, word_at(b, word + 3));
    struct blr_spirv_type *type = own_type(b, composite.type);
    composite.lane += follow(b, word, word + 4, &type);
    require_same(b, word, type, blr_spirv_result_type(b, word));
    blr_spirv_bind(b, word, composite);
}

static void insert(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 6);
    struct blr_spirv_ref object = blr_spirv_operand(b, word, word_at(b, word + 3));
    struct blr_spirv_ref composite = blr_spirv_operand(b, word, word_at(b, word + 4));
    struct blr_spirv_type *type = own_type(b, composite.type), *whole = type;
    require_same(b, word, whole, blr_spirv_result_type(b, word));
    uint32_t lane = follow(b, word, word + 5, &type);
    require_same(b, word, object.type, type);
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    blr_spirv_copy(b, word, result, 0, composite, whole);
    blr_spirv_copy(b, word, result, lane, object, type);
}

static void construct(struct blr_spirv_builder *b, uint32_t word)
{
    struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    uint32_t lane = 0, elements = 0;
    for (uint32_t w = word + 3; w < word + length_at(b, word); w++) {
        struct blr_spirv_ref part = blr_spirv_operand(b, word, word_at(b, w));
        struct blr_spirv_type *part_type = own_type(b, part.type);
        if (elements >= type->count)
            blr_spirv_refuse(b->build, word, "more constituents than the %u of %%%u", type->count, type->id);
        if (type->kind == BLR_TYPE_VECTOR && part_type->kind == BLR_TYPE_VECTOR) {
            require_same(b, word, blr_spirv_scalar(b->module, part_type), blr_spirv_scalar(b->module, type));
            elements += part_type->count;
        } else {
            require_same(b, word, part_type, blr_spirv_element(b->module, word, type, elements));
            elements++;
        }
        if (lane + part_type->lane_bytes > type->lane_bytes)
            blr_spirv_refuse(b->build, word, "more constituents than %%%u has", type->id);
        blr_spirv_copy(b, word, result, lane, part, part_type);
        lane += part_type->lane_bytes;
    }
    if (elements != type->count)
        blr_spirv_refuse(b->build, word, "%u constituents: %%%u has %u", elements, type->id, type->count);
}

static void shuffle(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 5);
    struct blr_spirv_ref one = blr_spirv_operand(b, word, word_at(b, word + 3));
    struct blr_spirv_ref two = blr_spirv_operand(b, word, word_at(b, word + 4));
    struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    struct blr_spirv_type *scalar = own_type(b, blr_spirv_scalar(b->module, type));
    if (one.type->kind != BLR_TYPE_VECTOR || two.type->kind != BLR_TYPE_VECTOR || type->kind != BLR_TYPE_VECTOR ||
        type->count != length_at(b, word) - 5)
        blr_spirv_refuse(b->build, word, "its operands are no vectors, or it has other than %u components", type->count);
    require_same(b, word, blr_spirv_scalar(b->module, one.type), scalar);
    require_same(b, word, blr_spirv_scalar(b->module, two.type), scalar);
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    for (uint32_t i = 0; i < type->count; i++) {
        uint32_t number = word_at(b, word + 5 + i);
        if (number == UINT32_MAX)
            number = 0; /* undefined component: any value is valid */
        if (number >= one.type->count + two.type->count)
            blr_spirv_refuse(b->build, word, "component %u of vectors of %u and %u", number, one.type->count,
                             two.type->count);
        struct blr_spirv_ref source = number < one.type->count ? one : two;
        source.lane += (number < one.type->count ? number : number - one.type->count) * scalar->lane_bytes;
        blr_spirv_copy(b, word, result, i * scalar->lane_bytes, source, scalar);
    }
}

static void dynamic(struct blr_spirv_builder *b, uint32_t word, bool inserts)
{
    blr_spirv_require_words(b->module, word, inserts ? 6 : 5);
    struct blr_spirv_ref vector = blr_spirv_operand(b, word, word_at(b, word + 3));
    struct blr_spirv_ref number = blr_spirv_operand(b, word, word_at(b, word + (inserts ? 5 : 4)));
    struct blr_spirv_ref object = inserts ? blr_spirv_operand(b, word, word_at(b, word + 4)) : vector;
    const struct blr_spirv_type *scalar = blr_spirv_scalar(b->module, vector.type);
    if (vector.type->kind != BLR_TYPE_VECTOR || number.type->kind != BLR_TYPE_INT)
        blr_spirv_refuse(b->build, word, "it takes a vector and a whole number");
    require_same(b, word, blr_spirv_result_type(b, word), inserts ? vector.type : scalar);
    if (inserts)
        require_same(b, word, object.type, scalar);
    uint32_t *components = blr_spirv_allocate(b->build, 1, sizeof *components);
    *components = vector.type->count;
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = inserts ? blr_spirv_run_insert : blr_spirv_run_extract;
    step->op.literal = number.type->scalar_size;
    step->op.info = components;
    blr_spirv_step_result(step, result, 0, scalar->scalar_size, inserts ? vector.type->count : 1);
    blr_spirv_step_input(step, 0, vector);
    blr_spirv_step_input(step, 1, number);
    if (inserts)
        blr_spirv_step_input(step, 2, object);
}

bool blr_spirv_decode_composite(struct blr_spirv_builder *b, uint32_t word)
{
    switch (blr_spirv_opcode_at(b->build, word)) {
    case BLR_OP_CompositeExtract: extract(b, word); return true;
    case BLR_OP_CompositeInsert: insert(b, word); return true;
    case BLR_OP_CompositeConstruct: construct(b, word); return true;
    case BLR_OP_VectorShuffle: shuffle(b, word); return true;
    case BLR_OP_VectorExtractDynamic: dynamic(b, word, false); return true;
    case BLR_OP_VectorInsertDynamic: dynamic(b, word, true); return true;
    case BLR_OP_ExpectKHR:
    case BLR_OP_CopyObject:
    case BLR_OP_CopyLogical: {
        blr_spirv_require_words(b->module, word, 4);
        struct blr_spirv_ref object = blr_spirv_operand(b, word, word_at(b, word + 3));
        require_same(b, word, object.type, blr_spirv_result_type(b, word));
        blr_spirv_bind(b, word, object);
        return true;
    }
    case BLR_OP_Undef: {
        struct blr_spirv_type *type = blr_spirv_result_type(b, word);
        blr_spirv_leaves(b->module, word, type);
        struct blr_spirv_ref zero = {.value = blr_spirv_new_value(b, type->lane_bytes) + 1, .type = type};
        b->values[zero.value - 1].preset = true; /* registers are zeroed initially */
        blr_spirv_bind(b, word, zero);
        return true;
    }
    default: return false;
    }
}

/* ---------------------------------------------------------------- arithmetic */

/* Reinterprets bits as another type: the same registers if the element size is the same. */
static void bitcast(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 4);
    struct blr_spirv_ref source = blr_spirv_operand(b, word, word_at(b, word + 3));
    struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    const struct blr_spirv_type *from = blr_spirv_scalar(b->module, source.type), *to = blr_spirv_scalar(b->module, type);
    bool plain = (from->kind == BLR_TYPE_INT || from->kind == BLR_TYPE_FLOAT || from->kind == BLR_TYPE_POINTER) &&
                 (to->kind == BLR_TYPE_INT || to->kind == BLR_TYPE_FLOAT || to->kind == BLR_TYPE_POINTER);
    if (!plain || type->lane_bytes != source.type->lane_bytes)
        blr_spirv_refuse(b->build, word, "from %%%u of %u bytes to %%%u of %u", source.type->id,
                         source.type->lane_bytes, type->id, type->lane_bytes);
    if (from->scalar_size == to->scalar_size) {
        blr_spirv_bind(b, word, source);
        return;
    }
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_spirv_run_bitcast;
    step->pure = true;
    step->op.literal = from->scalar_size;
    blr_spirv_step_result(step, result, 0, to->scalar_size, blr_spirv_components(type));
    blr_spirv_step_input(step, 0, source);
}

/* Selection of whole vectors, arrays or structs by one boolean. */
static void choose(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 6);
    struct blr_spirv_ref condition = blr_spirv_operand(b, word, word_at(b, word + 3));
    struct blr_spirv_ref yes = blr_spirv_operand(b, word, word_at(b, word + 4));
    struct blr_spirv_ref no = blr_spirv_operand(b, word, word_at(b, word + 5));
    struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    if (condition.type->kind != BLR_TYPE_BOOL)
        blr_spirv_refuse(b->build, word, "its condition is no boolean, or has another number of components");
    require_same(b, word, yes.type, type);
    require_same(b, word, no.type, type);
    if (blr_spirv_known_bytes(b, condition) != NULL) {
        blr_spirv_bind(b, word, *blr_spirv_known_bytes(b, condition) != 0 ? yes : no);
        return;
    }
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    const struct blr_spirv_leaf *leaves = blr_spirv_leaves(b->module, word, type);
    for (uint32_t i = 0, end; i < type->scalars; i = end) {
        end = blr_spirv_of_one_size(leaves, type->scalars, i);
        struct blr_spirv_step *step = blr_spirv_step(b, word);
        struct blr_spirv_ref a = yes, c = no;
        a.lane += leaves[i].lane;
        c.lane += leaves[i].lane;
        step->op.run = blr_spirv_run_choose;
        step->pure = true;
        blr_spirv_step_result(step, result, leaves[i].lane, leaves[i].size, end - i);
        blr_spirv_step_input(step, 0, condition);
        blr_spirv_step_input(step, 1, a);
        blr_spirv_step_input(step, 2, c);
    }
}

/* Dot products, vector times scalar, and any/all of booleans. */
static void reduce(struct blr_spirv_builder *b, uint32_t word, unsigned opcode)
{
    bool two = opcode == BLR_OP_VectorTimesScalar || opcode == BLR_OP_Dot;
    blr_spirv_require_words(b->module, word, two ? 5 : 4);
    struct blr_spirv_ref vector = blr_spirv_operand(b, word, word_at(b, word + 3));
    struct blr_spirv_ref other = two ? blr_spirv_operand(b, word, word_at(b, word + 4)) : vector;
    const struct blr_spirv_type *scalar = blr_spirv_scalar(b->module, vector.type);
    bool scales = opcode == BLR_OP_VectorTimesScalar;
    if (vector.type->kind != BLR_TYPE_VECTOR || scalar->kind != (two ? BLR_TYPE_FLOAT : BLR_TYPE_BOOL))
        blr_spirv_refuse(b->build, word, "its operand is no vector of %s", two ? "floats" : "booleans");
    require_same(b, word, other.type, scales ? scalar : vector.type);
    require_same(b, word, blr_spirv_result_type(b, word), scales ? vector.type : scalar);
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = scales                   ? blr_spirv_scale(scalar->scalar_size)
                   : opcode == BLR_OP_Dot   ? blr_spirv_dot(scalar->scalar_size)
                   : opcode == BLR_OP_Any   ? blr_spirv_run_any
                                            : blr_spirv_run_all;
    step->op.literal = vector.type->count;
    blr_spirv_step_result(step, result, 0, scalar->scalar_size, scales ? vector.type->count : 1);
    blr_spirv_step_input(step, 0, vector);
    if (two)
        blr_spirv_step_input(step, 1, other);
}

/* Sums and products with a second half (carry, borrow, high word) as the result's second member. */
static void two_halves(struct blr_spirv_builder *b, uint32_t word, unsigned opcode)
{
    blr_spirv_require_words(b->module, word, 5);
    struct blr_spirv_ref inputs[2];
    struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    for (uint32_t i = 0; i < 2; i++)
        inputs[i] = blr_spirv_operand(b, word, word_at(b, word + 3 + i));
    const struct blr_spirv_type *number = inputs[0].type, *scalar = blr_spirv_scalar(b->module, number);
    if (scalar->kind != BLR_TYPE_INT || !blr_spirv_same(b->module, inputs[1].type, number) ||
        type->kind != BLR_TYPE_STRUCT || type->count != 2 ||
        !blr_spirv_same(b->module, blr_spirv_element(b->module, word, type, 0), number) ||
        !blr_spirv_same(b->module, blr_spirv_element(b->module, word, type, 1), number))
        blr_spirv_refuse(b->build, word, "its result is no struct of two members like its operands, or they are no integers");
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    for (uint32_t half = 0; half < 2; half++) {
        struct blr_spirv_step *step = blr_spirv_step(b, word);
        step->op.run = blr_spirv_half(opcode, half, scalar->scalar_size);
        blr_spirv_step_result(step, result, half * number->lane_bytes, scalar->scalar_size, blr_spirv_components(number));
        blr_spirv_step_input(step, 0, inputs[0]);
        blr_spirv_step_input(step, 1, inputs[1]);
    }
}

/* Folds operations on known values, and selections with a known condition. */
static bool fold(struct blr_spirv_builder *b, uint32_t word, unsigned opcode, const struct blr_spirv_ref *operands,
                 const struct blr_spirv_type *const *types, uint32_t count, const struct blr_spirv_op *op)
{
    const unsigned char *bytes[MOST_OPERANDS];
    for (uint32_t i = 0; i < count; i++)
        bytes[i] = blr_spirv_known_bytes(b, operands[i]);
    if (opcode == BLR_OP_Select && bytes[0] != NULL && types[0]->kind == BLR_TYPE_BOOL) {
        blr_spirv_bind(b, word, *bytes[0] != 0 ? operands[1] : operands[2]);
        return true;
    }
    for (uint32_t i = 0; i < count; i++)
        if (bytes[i] == NULL)
            return false;
    unsigned char result[MOST_KNOWN];
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    if (type->lane_bytes > MOST_KNOWN || type->lane_bytes != op->count / BLR_LANES * op->element)
        return false;
    if (b->once == NULL)
        b->once = blr_spirv_once_new(b->module);
    blr_spirv_run_once(b->once, b->module, op, count, types, bytes, result);
    blr_spirv_bind(b, word, blr_spirv_known(b, type, result, op->element));
    return true;
}

bool blr_spirv_decode_arithmetic(struct blr_spirv_builder *b, uint32_t word)
{
    unsigned opcode = blr_spirv_opcode_at(b->build, word);
    switch (opcode) {
    case BLR_OP_Bitcast: bitcast(b, word); return true;
    case BLR_OP_IAddCarry:
    case BLR_OP_ISubBorrow:
    case BLR_OP_UMulExtended:
    case BLR_OP_SMulExtended: two_halves(b, word, opcode); return true;
    case BLR_OP_VectorTimesScalar:
    case BLR_OP_Dot:
    case BLR_OP_Any:
    case BLR_OP_All: reduce(b, word, opcode); return true;
    default: break;
    }
    if (opcode < BLR_OP_ConvertFToU || (opcode > BLR_OP_BitCount && opcode != BLR_OP_PtrEqual && opcode != BLR_OP_PtrNotEqual))
        return false;
    struct blr_spirv_ref operands[MOST_OPERANDS];
    const struct blr_spirv_type *types[MOST_OPERANDS];
    uint32_t count = length_at(b, word) - 3;
    if (count == 0 || count > MOST_OPERANDS)
        return false;
    if (opcode == BLR_OP_GenericCastToPtrExplicit || opcode == BLR_OP_PtrCastToGeneric || opcode == BLR_OP_GenericCastToPtr)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        operands[i] = blr_spirv_operand(b, word, word_at(b, word + 3 + i));
        types[i] = operands[i].type;
    }
    struct blr_spirv_op op = {0};
    if (!blr_spirv_elementwise(b->module, word, opcode, blr_spirv_result_type(b, word), types, count, &op)) {
        if (opcode != BLR_OP_Select)
            return false;
        choose(b, word);
        return true;
    }
    if (fold(b, word, opcode, operands, types, count, &op))
        return true;
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op = op;
    step->pure = true;
    blr_spirv_step_result(step, result, 0, op.element, op.count / BLR_LANES);
    for (uint32_t i = 0; i < count; i++)
        blr_spirv_step_input(step, i, operands[i]);
    return true;
}
