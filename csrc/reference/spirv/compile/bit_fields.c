/* Bit-field instructions, and integer dot products. */
#include "spirv/compile/builder.h"
#include "spirv/execute/lane_operations.h"
#include "spirv/execute/interpreter.h"

#include <string.h>

static uint32_t word_at(const struct blr_spirv_builder *b, uint32_t word) { return b->build->words[word]; }

/* ---------------------------------------------------------------- bit fields */

/* Mask of count bits from first on. Bits beyond the number are ignored. */
static inline uint64_t field(uint32_t first, uint32_t count)
{
    return (count >= 64 ? UINT64_MAX : ((uint64_t)1 << count) - 1) << (first & 63);
}

/* in[0], and in[1] of an insertion: numbers; then the field's offset and length, 32 bits, one for each lane. */
#define FIELDS(T)                                                                                                      \
    static void insert_##T(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)        \
    {                                                                                                                  \
        T *restrict r = (T *)result;                                                                                   \
        const T *x = blr_register(batch, op->in[0]), *y = blr_register(batch, op->in[1]);                              \
        const uint32_t *first = blr_register(batch, op->in[2]), *count = blr_register(batch, op->in[3]);               \
        BLR_FOR_ELEMENTS(op, i)                                                                                        \
        {                                                                                                              \
            uint64_t bits = field(first[i % BLR_LANES], count[i % BLR_LANES]);                                         \
            r[i] = (T)((x[i] & ~bits) | ((uint64_t)y[i] << (first[i % BLR_LANES] & 63) & bits));                       \
        }                                                                                                              \
    }                                                                                                                  \
    static void extract_##T(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)       \
    {                                                                                                                  \
        T *restrict r = (T *)result;                                                                                   \
        const T *x = blr_register(batch, op->in[0]);                                                                   \
        const uint32_t *first = blr_register(batch, op->in[1]), *count = blr_register(batch, op->in[2]);               \
        BLR_FOR_ELEMENTS(op, i)                                                                                        \
        r[i] = (T)((uint64_t)x[i] >> (first[i % BLR_LANES] & 63) & field(0, count[i % BLR_LANES]));                    \
    }                                                                                                                  \
    static void extract_signed_##T(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)\
    {                                                                                                                  \
        T *restrict r = (T *)result;                                                                                   \
        const T *x = blr_register(batch, op->in[0]);                                                                   \
        const uint32_t *first = blr_register(batch, op->in[1]), *count = blr_register(batch, op->in[2]);               \
        BLR_FOR_ELEMENTS(op, i)                                                                                        \
        {                                                                                                              \
            uint32_t length = count[i % BLR_LANES];                                                                    \
            uint64_t bits = (uint64_t)x[i] >> (first[i % BLR_LANES] & 63) & field(0, length);                          \
            if (length > 0 && length < 64 && (bits >> (length - 1) & 1) != 0)                                          \
                bits |= ~field(0, length);                                                                             \
            r[i] = (T)bits;                                                                                            \
        }                                                                                                              \
    }
FIELDS(uint8_t)
FIELDS(uint16_t)
FIELDS(uint32_t)
FIELDS(uint64_t)

#define ALL(name) {name##_uint8_t, name##_uint16_t, name##_uint32_t, name##_uint64_t}
static const blr_spirv_run_t inserts[4] = ALL(insert), extracts[4] = ALL(extract), signed_extracts[4] = ALL(extract_signed);

/* A field's offset or length as a 32-bit number. */
static struct blr_spirv_ref small_number(struct blr_spirv_builder *b, uint32_t word, uint32_t id)
{
    struct blr_spirv_ref number = blr_spirv_operand(b, word, id);
    if (number.type->kind != BLR_TYPE_INT)
        blr_spirv_refuse(b->build, word, "%%%u is not an integer", id);
    if (number.type->scalar_size == 4)
        return number;
    struct blr_spirv_ref other = {.value = blr_spirv_new_value(b, 4) + 1, .type = number.type};
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_spirv_conversion(BLR_OP_UConvert, number.type->scalar_size, 4);
    blr_spirv_step_result(step, other, 0, 4, 1);
    blr_spirv_step_input(step, 0, number);
    return other;
}

static void bit_field(struct blr_spirv_builder *b, uint32_t word, unsigned opcode)
{
    const uint32_t values = opcode == BLR_OP_BitFieldInsert ? 2 : 1;
    blr_spirv_require_words(b->module, word, 3 + values + 2);
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word), *scalar = blr_spirv_scalar(b->module, type);
    struct blr_spirv_ref inputs[4];
    for (uint32_t i = 0; i < values; i++) {
        inputs[i] = blr_spirv_operand(b, word, word_at(b, word + 3 + i));
        if (scalar->kind != BLR_TYPE_INT || !blr_spirv_same(b->module, inputs[i].type, type))
            blr_spirv_refuse(b->build, word, "%%%u is no whole number like its result", word_at(b, word + 3 + i));
    }
    for (uint32_t i = values; i < values + 2; i++)
        inputs[i] = small_number(b, word, word_at(b, word + 3 + i));
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    const blr_spirv_run_t *run = opcode == BLR_OP_BitFieldInsert     ? inserts
                                 : opcode == BLR_OP_BitFieldUExtract ? extracts
                                                                     : signed_extracts;
    step->op.run = run[blr_size_index(scalar->scalar_size)];
    blr_spirv_step_result(step, result, 0, scalar->scalar_size, blr_spirv_components(type));
    for (uint32_t i = 0; i < values + 2; i++)
        blr_spirv_step_input(step, i, inputs[i]);
}

/* ---------------------------------------------------------------- dot products */

struct dot {
    uint32_t components, size; /* components and bytes of an operand */
    bool packed;               /* the components are bytes of one number */
    bool has_sign[2];
    bool accumulates;          /* in[2] is added, and the sum saturates to the result's range */
};

static uint64_t sign_extend(uint64_t bits, uint32_t size, bool has_sign)
{
    const unsigned unused = 64 - 8 * size;
    return has_sign ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits;
}

static uint64_t component(const struct blr_spirv_batch *batch, const struct blr_spirv_op *op, int operand, uint32_t c,
                          uint32_t lane)
{
    const struct dot *dot = op->info;
    uint64_t bits = 0;
    const unsigned char *registers = blr_register(batch, op->in[operand]);
    memcpy(&bits, dot->packed ? registers + lane * 4u + c : registers + (c * BLR_LANES + lane) * dot->size, dot->size);
    return sign_extend(bits, dot->size, dot->has_sign[operand]);
}

static uint64_t sum_within(uint64_t sum, uint64_t addend, uint32_t size, bool has_sign)
{
    const uint64_t maximum = UINT64_MAX >> (64 - 8 * size + (has_sign ? 1 : 0));
    if (!has_sign)
        return sum > maximum || addend > maximum - sum ? maximum : sum + addend;
    const int64_t high = (int64_t)maximum, low = -high - 1, x = (int64_t)sum, y = (int64_t)addend;
    if (y > 0 ? x > high - y : x > high)
        return (uint64_t)high;
    if (y < 0 ? x < low - y : x < low)
        return (uint64_t)low;
    return sum + addend;
}

static void run_dot(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const struct dot *dot = op->info;
    for (uint32_t lane = 0; lane < BLR_LANES; lane++) {
        uint64_t sum = 0, addend = 0;
        for (uint32_t c = 0; c < dot->components; c++)
            sum += component(batch, op, 0, c, lane) * component(batch, op, 1, c, lane);
        if (dot->accumulates) {
            memcpy(&addend, (const unsigned char *)blr_register(batch, op->in[2]) + lane * (size_t)op->element, op->element);
            sum = sum_within(sum, sign_extend(addend, op->element, dot->has_sign[0]), op->element, dot->has_sign[0]);
        }
        memcpy(result + lane * (size_t)op->element, &sum, op->element);
    }
}

static void integer_dot(struct blr_spirv_builder *b, uint32_t word, unsigned opcode)
{
    const bool accumulates = opcode >= BLR_OP_SDotAccSat;
    const uint32_t count = accumulates ? 3 : 2;
    blr_spirv_require_words(b->module, word, 3 + count);
    struct blr_spirv_ref inputs[3];
    for (uint32_t i = 0; i < count; i++)
        inputs[i] = blr_spirv_operand(b, word, word_at(b, word + 3 + i));
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word), *vector = inputs[0].type;
    const struct blr_spirv_type *scalar = blr_spirv_scalar(b->module, vector);
    struct dot *dot = blr_spirv_allocate(b->build, 1, sizeof *dot);
    dot->packed = vector->kind != BLR_TYPE_VECTOR;
    dot->components = dot->packed ? 4 : blr_spirv_components(vector);
    dot->size = dot->packed ? 1 : scalar->scalar_size;
    dot->has_sign[0] = opcode != BLR_OP_UDot && opcode != BLR_OP_UDotAccSat;
    dot->has_sign[1] = opcode == BLR_OP_SDot || opcode == BLR_OP_SDotAccSat;
    dot->accumulates = accumulates;
    if (scalar->kind != BLR_TYPE_INT || !blr_spirv_same(b->module, inputs[1].type, vector) || type->kind != BLR_TYPE_INT ||
        type->scalar_size < dot->size || (dot->packed && scalar->scalar_size != 4) ||
        (accumulates && !blr_spirv_same(b->module, inputs[2].type, type)))
        blr_spirv_refuse(b->build, word, "it takes two vectors of whole numbers, or two numbers of 32 bits of four bytes each, "
                         "and its result is a whole number at least as large");
    if (dot->packed && (blr_spirv_length_at(b->build, word) < 4 + count || word_at(b, word + 3 + count) != 0))
        blr_spirv_refuse(b->build, word, "packed numbers are of PackedVectorFormat4x8Bit (0)");
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = run_dot;
    step->op.info = dot;
    blr_spirv_step_result(step, result, 0, type->scalar_size, 1);
    for (uint32_t i = 0; i < count; i++)
        blr_spirv_step_input(step, i, inputs[i]);
}

bool blr_spirv_decode_bits(struct blr_spirv_builder *b, uint32_t word)
{
    unsigned opcode = blr_spirv_opcode_at(b->build, word);
    if (opcode >= BLR_OP_BitFieldInsert && opcode <= BLR_OP_BitFieldUExtract)
        bit_field(b, word, opcode);
    else if (opcode >= BLR_OP_SDot && opcode <= BLR_OP_SUDotAccSat)
        integer_dot(b, word, opcode);
    else
        return false;
    return true;
}
