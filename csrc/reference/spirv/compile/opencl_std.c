/* Decoding of OpExtInst: instructions of OpenCL.std. */
#include "spirv/compile/builder.h"
#include "spirv/execute/opencl_std.h"
#include "spirv/execute/lane_operations.h"
#include "spirv/execute/operations.h"

#define MOST_OPERANDS 3u
#define FIRST_OPERAND 5u

static uint32_t word_at(const struct blr_spirv_builder *b, uint32_t word) { return b->build->words[word]; }

static struct blr_spirv_ref input(struct blr_spirv_builder *b, uint32_t word, uint32_t number)
{
    blr_spirv_require_words(b->module, word, FIRST_OPERAND + number + 1);
    return blr_spirv_operand(b, word, word_at(b, word + FIRST_OPERAND + number));
}

static noreturn void wrong(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_refuse(b->build, word, "the types of the operands or the result of instruction %u of OpenCL.std do not fit it",
                     word_at(b, word + 4));
}

static const struct blr_spirv_type *scalar_of(struct blr_spirv_builder *b, const struct blr_spirv_type *type)
{
    return blr_spirv_scalar(b->module, type);
}

static bool is(struct blr_spirv_builder *b, const struct blr_spirv_type *type, enum blr_spirv_type_kind kind, uint32_t size)
{
    const struct blr_spirv_type *scalar = scalar_of(b, type);
    return scalar->kind == kind && (size == 0 || scalar->scalar_size == size);
}

/* Appends an operation that writes a part of result. */
static void emit(struct blr_spirv_builder *b, uint32_t word, blr_spirv_run_t run, struct blr_spirv_ref result,
                 const struct blr_spirv_type *type, const struct blr_spirv_ref *inputs, uint32_t count, uint64_t literal)
{
    if (run == NULL)
        wrong(b, word);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = run;
    step->op.literal = literal;
    blr_spirv_step_result(step, result, 0, scalar_of(b, type)->scalar_size, blr_spirv_components(type));
    for (uint32_t i = 0; i < count; i++)
        blr_spirv_step_input(step, i, inputs[i]);
}

/* An elementwise instruction whose operands have the result's type. */
static bool elementwise(struct blr_spirv_builder *b, uint32_t word, uint32_t number)
{
    const struct blr_spirv_extended *row = blr_spirv_extended(number);
    if (row == NULL)
        return false;
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    uint32_t count = blr_spirv_length_at(b->build, word) - FIRST_OPERAND;
    if (count != row->operands)
        blr_spirv_refuse(b->build, word, "%u operands of %s: it takes %u", count, row->name, row->operands);
    struct blr_spirv_ref inputs[MOST_OPERANDS];
    for (uint32_t i = 0; i < count; i++) {
        inputs[i] = input(b, word, i);
        if (!blr_spirv_same(b->module, inputs[i].type, type))
            blr_spirv_refuse(b->build, word, "operand %u of %s is of another type than its result", i, row->name);
    }
    if (!is(b, type, row->kind, 0))
        blr_spirv_refuse(b->build, word, "%s of values of %%%u is not supported", row->name, type->id);
    blr_spirv_run_t run = row->run[blr_size_index(scalar_of(b, type)->scalar_size)];
    emit(b, word, run, blr_spirv_result(b, word), type, inputs, count, 0);
    return true;
}

/* ---------------------------------------------------------------- mixed floats and integers, two results */

struct mixed {
    uint16_t number;
    uint8_t operands;
    enum { LIKE_RESULT, INTEGER_SECOND, INTEGER_RESULT, SECOND_TO_FLOAT, SECOND_TO_INTEGER } form;
    enum blr_spirv_mixed first, second; /* the second result is stored through the last operand */
};

static const struct mixed mixed_functions[] = {
    {30, 1, SECOND_TO_FLOAT, BLR_MIXED_FRACTION, BLR_MIXED_FLOOR},
    {31, 1, SECOND_TO_INTEGER, BLR_MIXED_MANTISSA, BLR_MIXED_BINARY_EXPONENT},
    {33, 1, INTEGER_RESULT, BLR_MIXED_LOG_EXPONENT, BLR_MIXED_LOG_EXPONENT},
    {34, 2, INTEGER_SECOND, BLR_MIXED_SCALED, BLR_MIXED_SCALED},
    {36, 1, SECOND_TO_INTEGER, BLR_MIXED_LOG_GAMMA, BLR_MIXED_GAMMA_SIGN},
    {45, 1, SECOND_TO_FLOAT, BLR_MIXED_AFTER_POINT, BLR_MIXED_WHOLE},
    {49, 2, INTEGER_SECOND, BLR_MIXED_POWER, BLR_MIXED_POWER},
    {52, 2, SECOND_TO_INTEGER, BLR_MIXED_REMAINDER, BLR_MIXED_QUOTIENT},
    {54, 2, INTEGER_SECOND, BLR_MIXED_ROOT, BLR_MIXED_ROOT},
    {58, 1, SECOND_TO_FLOAT, BLR_MIXED_SINE, BLR_MIXED_COSINE},
};

static void mixed_function(struct blr_spirv_builder *b, uint32_t word, const struct mixed *row)
{
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    struct blr_spirv_ref inputs[2];
    for (uint32_t i = 0; i < row->operands; i++)
        inputs[i] = input(b, word, i);
    const struct blr_spirv_type *floats = inputs[0].type;
    uint32_t components = blr_spirv_components(floats), size = scalar_of(b, floats)->scalar_size;
    bool fits = is(b, floats, BLR_TYPE_FLOAT, 0) && blr_spirv_components(type) == components;
    if (row->form == INTEGER_RESULT)
        fits = fits && is(b, type, BLR_TYPE_INT, 4);
    else
        fits = fits && blr_spirv_same(b->module, floats, type);
    if (row->operands == 2)
        fits = fits && (row->form == INTEGER_SECOND
                            ? is(b, inputs[1].type, BLR_TYPE_INT, 4) && blr_spirv_components(inputs[1].type) == components
                            : blr_spirv_same(b->module, inputs[1].type, floats));
    if (!fits)
        wrong(b, word);
    emit(b, word, blr_spirv_mixed(row->first, size), blr_spirv_result(b, word), type, inputs, row->operands, 0);
    if (row->form != SECOND_TO_FLOAT && row->form != SECOND_TO_INTEGER)
        return;
    struct blr_spirv_ref pointer = input(b, word, row->operands);
    if (pointer.type->kind != BLR_TYPE_POINTER)
        wrong(b, word);
    struct blr_spirv_type *second = blr_spirv_type(b->module, word, pointer.type->element);
    if (blr_spirv_components(second) != components ||
        !(row->form == SECOND_TO_FLOAT ? blr_spirv_same(b->module, second, floats) : is(b, second, BLR_TYPE_INT, 4)))
        wrong(b, word);
    blr_spirv_leaves(b->module, word, second);
    struct blr_spirv_ref other = {.value = blr_spirv_new_value(b, second->lane_bytes) + 1, .type = second};
    emit(b, word, blr_spirv_mixed(row->second, size), other, second, inputs, row->operands, 0);
    blr_spirv_store(b, word, pointer, other, second);
}

/* ---------------------------------------------------------------- vector operations */

static void geometric(struct blr_spirv_builder *b, uint32_t word, uint32_t number)
{
    bool two = number == 104 || number == 105 || number == 108;
    bool vector = number == 104 || number == 107 || number == 110;
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    struct blr_spirv_ref inputs[2] = {input(b, word, 0)};
    const struct blr_spirv_type *operand = inputs[0].type;
    if (two)
        inputs[1] = input(b, word, 1);
    uint32_t components = blr_spirv_components(operand);
    if (!is(b, operand, BLR_TYPE_FLOAT, 0) || (two && !blr_spirv_same(b->module, inputs[1].type, operand)) ||
        !blr_spirv_same(b->module, type, vector ? operand : scalar_of(b, operand)) || components > 4 ||
        (number == 104 && components < 3))
        wrong(b, word);
    enum blr_spirv_mixed function = number == 104   ? BLR_MIXED_CROSS
                                    : two           ? BLR_MIXED_DISTANCE
                                    : vector        ? BLR_MIXED_NORMALIZED
                                                    : BLR_MIXED_LENGTH;
    emit(b, word, blr_spirv_mixed(function, scalar_of(b, operand)->scalar_size), blr_spirv_result(b, word), type, inputs,
         two ? 2 : 1, components);
}

/* Components selected by indices in registers, from one vector or from two concatenated. */
static void shuffle(struct blr_spirv_builder *b, uint32_t word, bool two)
{
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    struct blr_spirv_type *scalar = b->module->ids[scalar_of(b, type)->id].of_type;
    struct blr_spirv_ref first = input(b, word, 0), mask = input(b, word, two ? 2 : 1);
    const struct blr_spirv_type *number = scalar_of(b, mask.type);
    struct blr_spirv_ref source = first;
    uint32_t components = blr_spirv_components(first.type);
    if (first.type->kind != BLR_TYPE_VECTOR || !blr_spirv_same(b->module, scalar_of(b, first.type), scalar) ||
        number->kind != BLR_TYPE_INT || blr_spirv_components(mask.type) != blr_spirv_components(type))
        wrong(b, word);
    if (two) {
        struct blr_spirv_ref second = input(b, word, 1);
        if (!blr_spirv_same(b->module, second.type, first.type))
            wrong(b, word);
        struct blr_spirv_type *whole = b->module->ids[first.type->id].of_type;
        source = (struct blr_spirv_ref){.value = blr_spirv_new_value(b, 2 * whole->lane_bytes) + 1, .type = whole};
        blr_spirv_copy(b, word, source, 0, first, whole);
        blr_spirv_copy(b, word, source, whole->lane_bytes, second, whole);
        components *= 2;
    }
    uint32_t *count = blr_spirv_allocate(b->build, 1, sizeof *count);
    *count = components;
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    for (uint32_t i = 0; i < blr_spirv_components(type); i++) {
        struct blr_spirv_ref part = result, which = mask;
        part.lane += i * scalar->lane_bytes;
        which.lane += i * number->lane_bytes;
        struct blr_spirv_step *step = blr_spirv_step(b, word);
        step->op.run = blr_spirv_run_extract_wrapped;
        step->op.literal = number->scalar_size;
        step->op.info = count;
        blr_spirv_step_result(step, part, 0, scalar->scalar_size, 1);
        blr_spirv_step_input(step, 0, source);
        blr_spirv_step_input(step, 1, which);
    }
}

static void select(struct blr_spirv_builder *b, uint32_t word, bool bits)
{
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    struct blr_spirv_ref inputs[3] = {input(b, word, 0), input(b, word, 1), input(b, word, 2)};
    const struct blr_spirv_type *scalar = scalar_of(b, type);
    bool fits = blr_spirv_same(b->module, inputs[0].type, type) && blr_spirv_same(b->module, inputs[1].type, type) &&
                blr_spirv_components(inputs[2].type) == blr_spirv_components(type) &&
                scalar_of(b, inputs[2].type)->scalar_size == scalar->scalar_size &&
                (scalar->kind == BLR_TYPE_INT || scalar->kind == BLR_TYPE_FLOAT) &&
                (bits || is(b, inputs[2].type, BLR_TYPE_INT, 0));
    if (!fits)
        wrong(b, word);
    enum blr_spirv_mixed function = bits                             ? BLR_MIXED_BIT_SELECT
                                    : type->kind == BLR_TYPE_VECTOR ? BLR_MIXED_HIGH_SELECT
                                                                     : BLR_MIXED_SELECT;
    emit(b, word, blr_spirv_mixed(function, scalar->scalar_size), blr_spirv_result(b, word), type, inputs, 3, 0);
}

static void upsample(struct blr_spirv_builder *b, uint32_t word)
{
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    struct blr_spirv_ref inputs[2] = {input(b, word, 0), input(b, word, 1)};
    if (!blr_spirv_same(b->module, inputs[0].type, inputs[1].type) || !is(b, inputs[0].type, BLR_TYPE_INT, 0) ||
        blr_spirv_components(inputs[0].type) != blr_spirv_components(type) ||
        !is(b, type, BLR_TYPE_INT, 2u * scalar_of(b, inputs[0].type)->scalar_size))
        wrong(b, word);
    emit(b, word, blr_spirv_mixed(BLR_MIXED_UPSAMPLE, scalar_of(b, inputs[0].type)->scalar_size),
         blr_spirv_result(b, word), type, inputs, 2, 0);
}

static void not_a_number(struct blr_spirv_builder *b, uint32_t word)
{
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word);
    struct blr_spirv_ref code = input(b, word, 0);
    if (!is(b, type, BLR_TYPE_FLOAT, 0) || !is(b, code.type, BLR_TYPE_INT, scalar_of(b, type)->scalar_size) ||
        blr_spirv_components(code.type) != blr_spirv_components(type))
        wrong(b, word);
    emit(b, word, blr_spirv_mixed(BLR_MIXED_NAN, scalar_of(b, type)->scalar_size), blr_spirv_result(b, word), type, &code,
         1, 0);
}

/* ---------------------------------------------------------------- vector loads and stores */

/* pointer + offset x stride bytes. */
static struct blr_spirv_ref index_pointer(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref pointer,
                                          struct blr_spirv_ref offset, uint64_t stride)
{
    if (pointer.type->kind != BLR_TYPE_POINTER || offset.type->kind != BLR_TYPE_INT)
        wrong(b, word);
    struct blr_spirv_ref result = {.value = blr_spirv_new_value(b, 8) + 1, .type = pointer.type};
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_spirv_index(offset.type->scalar_size);
    step->op.form = BLR_AFFINE_INDEX;
    step->op.literal = stride;
    blr_spirv_step_result(step, result, 0, 8, 1);
    blr_spirv_step_input(step, 0, pointer);
    blr_spirv_step_input(step, 1, offset);
    return result;
}

static void load_elements(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref address,
                          struct blr_spirv_ref to, uint32_t size, uint32_t components)
{
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_spirv_run_load;
    step->op.form = BLR_AFFINE_LOAD;
    blr_spirv_step_result(step, to, 0, size, components);
    blr_spirv_step_input(step, 0, address);
}

static void store_elements(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_ref address,
                           struct blr_spirv_ref from, uint32_t size, uint32_t components)
{
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = blr_spirv_run_store;
    step->op.form = BLR_AFFINE_STORE;
    step->op.literal = BLR_STORE_SHAPE(size, components, 0);
    blr_spirv_step_input(step, 0, address);
    blr_spirv_step_input(step, 1, from);
}

/* vloadn, vload_half, vload_halfn, vloada_halfn: elements are contiguous, with element alignment. */
static void load_vector(struct blr_spirv_builder *b, uint32_t word, bool halves, bool aligned)
{
    const struct blr_spirv_type *type = blr_spirv_result_type(b, word), *scalar = scalar_of(b, type);
    struct blr_spirv_ref offset = input(b, word, 0), pointer = input(b, word, 1);
    uint32_t components = blr_spirv_components(type), size = halves ? 2 : scalar->scalar_size;
    if (halves ? !is(b, type, BLR_TYPE_FLOAT, 0) : scalar->kind != BLR_TYPE_INT && scalar->kind != BLR_TYPE_FLOAT)
        wrong(b, word);
    struct blr_spirv_ref address =
        index_pointer(b, word, pointer, offset, (uint64_t)size * (aligned && components == 3 ? 4 : components));
    struct blr_spirv_ref result = blr_spirv_result(b, word);
    if (!halves || scalar->scalar_size == 2) {
        load_elements(b, word, address, result, size, components);
        return;
    }
    struct blr_spirv_ref loaded = {.value = blr_spirv_new_value(b, 2 * components) + 1};
    load_elements(b, word, address, loaded, 2, components);
    emit(b, word, blr_spirv_conversion(BLR_OP_FConvert, 2, scalar->scalar_size), result, type, &loaded, 1, 0);
}

static void store_vector(struct blr_spirv_builder *b, uint32_t word, bool halves, bool aligned, bool rounded)
{
    struct blr_spirv_ref data = input(b, word, 0), offset = input(b, word, 1), pointer = input(b, word, 2);
    const struct blr_spirv_type *scalar = scalar_of(b, data.type);
    uint32_t components = blr_spirv_components(data.type), size = halves ? 2 : scalar->scalar_size;
    if (halves ? !is(b, data.type, BLR_TYPE_FLOAT, 0) : scalar->kind != BLR_TYPE_INT && scalar->kind != BLR_TYPE_FLOAT)
        wrong(b, word);
    if (rounded) {
        blr_spirv_require_words(b->module, word, FIRST_OPERAND + 4);
        if (word_at(b, word + FIRST_OPERAND + 3) != 0)
            blr_spirv_unsupported(b->build, word, "halves are rounded to nearest even");
    }
    struct blr_spirv_ref address =
        index_pointer(b, word, pointer, offset, (uint64_t)size * (aligned && components == 3 ? 4 : components));
    if (halves && scalar->scalar_size != 2) {
        struct blr_spirv_ref narrow = {.value = blr_spirv_new_value(b, 2 * components) + 1};
        struct blr_spirv_step *step = blr_spirv_step(b, word);
        step->op.run = blr_spirv_conversion(BLR_OP_FConvert, scalar->scalar_size, 2);
        blr_spirv_step_result(step, narrow, 0, 2, components);
        blr_spirv_step_input(step, 0, data);
        data = narrow;
    }
    store_elements(b, word, address, data, size, components);
}

/* ---------------------------------------------------------------- dispatch */

static bool decode(struct blr_spirv_builder *b, uint32_t word, uint32_t number)
{
    for (unsigned i = 0; i < sizeof mixed_functions / sizeof *mixed_functions; i++)
        if (mixed_functions[i].number == number) {
            mixed_function(b, word, &mixed_functions[i]);
            return true;
        }
    switch (number) {
    case 46: not_a_number(b, word); return true;
    case 104:
    case 105:
    case 106:
    case 107:
    case 108:
    case 109:
    case 110: geometric(b, word, number); return true;
    case 164:
    case 165: upsample(b, word); return true;
    case 171: load_vector(b, word, false, false); return true;
    case 172: store_vector(b, word, false, false, false); return true;
    case 173:
    case 174: load_vector(b, word, true, false); return true;
    case 175:
    case 177: store_vector(b, word, true, false, false); return true;
    case 176:
    case 178: store_vector(b, word, true, false, true); return true;
    case 179: load_vector(b, word, true, true); return true;
    case 180: store_vector(b, word, true, true, false); return true;
    case 181: store_vector(b, word, true, true, true); return true;
    case 182: shuffle(b, word, false); return true;
    case 183: shuffle(b, word, true); return true;
    case 184: return blr_spirv_decode_printf(b, word);
    case 185: return true; /* prefetch: no effect */
    case 186: select(b, word, true); return true;
    case 187: select(b, word, false); return true;
    default: return elementwise(b, word, number);
    }
}

bool blr_spirv_decode_extended(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, FIRST_OPERAND);
    uint32_t set = word_at(b, word + 3), number = word_at(b, word + 4);
    if (set == 0 || set >= b->module->bound || b->module->ids[set].kind != BLR_ID_EXTENDED)
        blr_spirv_refuse(b->build, word, "%%%u is no imported set of instructions", set);
    if (b->module->ids[set].set == 0)
        return true; /* debug information */
    if (!decode(b, word, number))
        blr_spirv_refuse(b->build, word, "instruction %u of OpenCL.std is not supported by the reference driver", number);
    return true;
}
