/* Atomic operations, lane by lane: decoding and execution. */
#include "spirv/compile/builder.h"
#include "spirv/half.h"
#include "spirv/execute/operations.h"
#include "spirv/execute/interpreter.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

/* in[0]: addresses, in[1]: values, in[2]: comparands; literal: bytes of the memory operand. */

static bool may_change(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint32_t lane, uint64_t address,
                       uint32_t size)
{
    if (!blr_spirv_reachable(batch, address, size, true)) {
        blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT,
                        "changes %u bytes at 0x%" PRIx64 ", which kernels cannot write", size, address);
        return false;
    }
    if (address % size != 0) {
        blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT,
                        "an atomic operation at 0x%" PRIx64 ", which is not aligned to %u bytes", address, size);
        return false;
    }
    return true;
}

#define FOR_LANES(T)                                                                                                   \
    const uint64_t *addresses = blr_register(batch, op->in[0]);                                                        \
    const T *values = blr_register(batch, op->in[1]);                                                                  \
    T *before = (T *)result;                                                                                           \
    for (uint32_t i = 0; i < BLR_LANES; i++)                                                                           \
        if ((batch->mask >> i & 1) != 0) {                                                                             \
            if (!may_change(batch, op, i, addresses[i], sizeof(T)))                                                    \
                return;                                                                                                \
            _Atomic(T) *place = (_Atomic(T) *)(uintptr_t)addresses[i];

#define END_LANES }

#define ATOMIC(name, T, statement)                                                                                     \
    static void name(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)              \
    {                                                                                                                  \
        FOR_LANES(T)                                                                                                   \
        T b = values[i];                                                                                               \
        (void)b;                                                                                                       \
        statement;                                                                                                     \
        END_LANES                                                                                                      \
        (void)before;                                                                                                  \
    }

/* Replaces a by the expression of a and b in a compare-and-exchange loop. */
#define REPLACE(T, expression)                                                                                         \
    T a = atomic_load(place);                                                                                          \
    while (!atomic_compare_exchange_weak(place, &a, (T)(expression)))                                                  \
        ;                                                                                                              \
    before[i] = a

#define WIDTHS(name, U, S)                                                                                             \
    ATOMIC(load_##name, U, before[i] = atomic_load(place))                                                             \
    ATOMIC(store_##name, U, atomic_store(place, b))                                                                    \
    ATOMIC(exchange_##name, U, before[i] = atomic_exchange(place, b))                                                  \
    ATOMIC(add_##name, U, before[i] = atomic_fetch_add(place, b))                                                      \
    ATOMIC(subtract_##name, U, before[i] = atomic_fetch_sub(place, b))                                                 \
    ATOMIC(and_##name, U, before[i] = atomic_fetch_and(place, b))                                                      \
    ATOMIC(or_##name, U, before[i] = atomic_fetch_or(place, b))                                                        \
    ATOMIC(xor_##name, U, before[i] = atomic_fetch_xor(place, b))                                                      \
    ATOMIC(increment_##name, U, before[i] = atomic_fetch_add(place, 1))                                                \
    ATOMIC(decrement_##name, U, before[i] = atomic_fetch_sub(place, 1))                                                \
    ATOMIC(umin_##name, U, REPLACE(U, a < b ? a : b))                                                                  \
    ATOMIC(umax_##name, U, REPLACE(U, a > b ? a : b))                                                                  \
    ATOMIC(smin_##name, U, REPLACE(U, (S)a < (S)b ? a : b))                                                            \
    ATOMIC(smax_##name, U, REPLACE(U, (S)a > (S)b ? a : b))                                                            \
    static void compare_##name(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)    \
    {                                                                                                                  \
        const U *expected = blr_register(batch, op->in[2]);                                                            \
        FOR_LANES(U)                                                                                                   \
        U value = expected[i];                                                                                         \
        atomic_compare_exchange_strong(place, &value, values[i]);                                                      \
        before[i] = value;                                                                                             \
        END_LANES                                                                                                      \
    }
WIDTHS(16, uint16_t, int16_t)
WIDTHS(32, uint32_t, int32_t)
WIDTHS(64, uint64_t, int64_t)

#define FLOATS(name, U, F)                                                                                             \
    static inline U add_bits_##name(U x, U y)                                                                          \
    {                                                                                                                  \
        F a, b;                                                                                                        \
        memcpy(&a, &x, sizeof a);                                                                                      \
        memcpy(&b, &y, sizeof b);                                                                                      \
        a += b;                                                                                                        \
        memcpy(&x, &a, sizeof x);                                                                                      \
        return x;                                                                                                      \
    }                                                                                                                  \
    static inline U min_bits_##name(U x, U y)                                                                          \
    {                                                                                                                  \
        F a, b;                                                                                                        \
        memcpy(&a, &x, sizeof a);                                                                                      \
        memcpy(&b, &y, sizeof b);                                                                                      \
        return b < a || a != a ? y : x;                                                                                \
    }                                                                                                                  \
    static inline U max_bits_##name(U x, U y)                                                                          \
    {                                                                                                                  \
        F a, b;                                                                                                        \
        memcpy(&a, &x, sizeof a);                                                                                      \
        memcpy(&b, &y, sizeof b);                                                                                      \
        return b > a || a != a ? y : x;                                                                                \
    }                                                                                                                  \
    ATOMIC(fadd_##name, U, REPLACE(U, add_bits_##name(a, b)))                                                          \
    ATOMIC(fmin_##name, U, REPLACE(U, min_bits_##name(a, b)))                                                          \
    ATOMIC(fmax_##name, U, REPLACE(U, max_bits_##name(a, b)))
static inline uint16_t add_bits_16(uint16_t x, uint16_t y)
{
    return blr_lane_to_half(blr_lane_from_half(x) + blr_lane_from_half(y));
}
static inline uint16_t min_bits_16(uint16_t x, uint16_t y)
{
    float a = blr_lane_from_half(x), b = blr_lane_from_half(y);
    return b < a || a != a ? y : x;
}
static inline uint16_t max_bits_16(uint16_t x, uint16_t y)
{
    float a = blr_lane_from_half(x), b = blr_lane_from_half(y);
    return b > a || a != a ? y : x;
}
ATOMIC(fadd_16, uint16_t, REPLACE(uint16_t, add_bits_16(a, b)))
ATOMIC(fmin_16, uint16_t, REPLACE(uint16_t, min_bits_16(a, b)))
ATOMIC(fmax_16, uint16_t, REPLACE(uint16_t, max_bits_16(a, b)))
FLOATS(32, uint32_t, float)
FLOATS(64, uint64_t, double)

/* A flag is a 32-bit integer; its previous state is a boolean. */
static void test_and_set(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const uint64_t *addresses = blr_register(batch, op->in[0]);
    for (uint32_t i = 0; i < BLR_LANES; i++)
        if ((batch->mask >> i & 1) != 0) {
            if (!may_change(batch, op, i, addresses[i], sizeof(uint32_t)))
                return;
            result[i] = atomic_exchange((_Atomic(uint32_t) *)(uintptr_t)addresses[i], 1) != 0;
        }
}

static const struct {
    uint16_t opcode;
    uint8_t operands; /* value operands, in addition to the address, scope and semantics */
    bool floats, integers;
    blr_spirv_run_t run[3]; /* for 16, 32 and 64 bits */
} table[] = {
    {BLR_OP_AtomicLoad, 0, true, true, {load_16, load_32, load_64}},
    {BLR_OP_AtomicStore, 1, true, true, {store_16, store_32, store_64}},
    {BLR_OP_AtomicExchange, 1, true, true, {exchange_16, exchange_32, exchange_64}},
    {BLR_OP_AtomicCompareExchange, 2, false, true, {compare_16, compare_32, compare_64}},
    {BLR_OP_AtomicCompareExchangeWeak, 2, false, true, {compare_16, compare_32, compare_64}},
    {BLR_OP_AtomicIIncrement, 0, false, true, {increment_16, increment_32, increment_64}},
    {BLR_OP_AtomicIDecrement, 0, false, true, {decrement_16, decrement_32, decrement_64}},
    {BLR_OP_AtomicIAdd, 1, false, true, {add_16, add_32, add_64}},
    {BLR_OP_AtomicISub, 1, false, true, {subtract_16, subtract_32, subtract_64}},
    {BLR_OP_AtomicSMin, 1, false, true, {smin_16, smin_32, smin_64}},
    {BLR_OP_AtomicUMin, 1, false, true, {umin_16, umin_32, umin_64}},
    {BLR_OP_AtomicSMax, 1, false, true, {smax_16, smax_32, smax_64}},
    {BLR_OP_AtomicUMax, 1, false, true, {umax_16, umax_32, umax_64}},
    {BLR_OP_AtomicAnd, 1, false, true, {and_16, and_32, and_64}},
    {BLR_OP_AtomicOr, 1, false, true, {or_16, or_32, or_64}},
    {BLR_OP_AtomicXor, 1, false, true, {xor_16, xor_32, xor_64}},
    {BLR_OP_AtomicFAddEXT, 1, true, false, {fadd_16, fadd_32, fadd_64}},
    {BLR_OP_AtomicFMinEXT, 1, true, false, {fmin_16, fmin_32, fmin_64}},
    {BLR_OP_AtomicFMaxEXT, 1, true, false, {fmax_16, fmax_32, fmax_64}},
};

static void decode_flag(struct blr_spirv_builder *b, uint32_t word, bool clears)
{
    const uint32_t first = clears ? word + 1 : word + 3;
    blr_spirv_require_words(b->module, word, first - word + 3);
    struct blr_spirv_ref pointer = blr_spirv_operand(b, word, b->build->words[first]);
    const struct blr_spirv_type *type =
        pointer.type->kind == BLR_TYPE_POINTER ? blr_spirv_type(b->module, word, pointer.type->element) : pointer.type;
    if (pointer.type->kind != BLR_TYPE_POINTER || type->kind != BLR_TYPE_INT || type->scalar_size != 4 ||
        (!clears && blr_spirv_result_type(b, word)->kind != BLR_TYPE_BOOL))
        blr_spirv_refuse(b->build, word, "a flag is a 32-bit integer, and its previous state a boolean");
    struct blr_spirv_ref result = {0}, zero = blr_spirv_number(b, 0, 4);
    if (!clears)
        result = blr_spirv_result(b, word);
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = clears ? store_32 : test_and_set;
    if (!clears)
        blr_spirv_step_result(step, result, 0, 1, 1);
    blr_spirv_step_input(step, 0, pointer);
    blr_spirv_step_input(step, 1, zero);
}

bool blr_spirv_decode_atomic(struct blr_spirv_builder *b, uint32_t word)
{
    unsigned opcode = blr_spirv_opcode_at(b->build, word), row = 0;
    while (row < sizeof table / sizeof *table && table[row].opcode != opcode)
        row++;
    if (opcode == BLR_OP_AtomicFlagTestAndSet || opcode == BLR_OP_AtomicFlagClear) {
        decode_flag(b, word, opcode == BLR_OP_AtomicFlagClear);
        return true;
    }
    if (row == sizeof table / sizeof *table)
        return false;
    bool stores = opcode == BLR_OP_AtomicStore, compares = table[row].operands == 2;
    uint32_t first = stores ? word + 1 : word + 3; /* pointer, scope, semantics; comparisons have a second semantics
                                                    * operand */
    uint32_t values = first + (compares ? 4 : 3);
    blr_spirv_require_words(b->module, word, values - word + table[row].operands);
    struct blr_spirv_ref pointer = blr_spirv_operand(b, word, b->build->words[first]);
    if (pointer.type->kind != BLR_TYPE_POINTER)
        blr_spirv_refuse(b->build, word, "%%%u is no pointer", b->build->words[first]);
    const struct blr_spirv_type *type = blr_spirv_type(b->module, word, pointer.type->element);
    bool fits = type->kind == BLR_TYPE_FLOAT ? table[row].floats : type->kind == BLR_TYPE_INT && table[row].integers;
    if (!fits || type->scalar_size < 2)
        blr_spirv_unsupported(b->build, word, "integers and floats of 16, 32 and 64 bits can be changed atomically");
    struct blr_spirv_ref operand[2] = {pointer, pointer};
    for (uint32_t i = 0; i < table[row].operands; i++) {
        operand[i] = blr_spirv_operand(b, word, b->build->words[values + i]);
        if (!blr_spirv_same(b->module, operand[i].type, type))
            blr_spirv_refuse(b->build, word, "%%%u is not of the type pointed to", b->build->words[values + i]);
    }
    struct blr_spirv_ref result = {0};
    b->program->has_atomics = true;
    if (!stores) {
        if (!blr_spirv_same(b->module, blr_spirv_result_type(b, word), type))
            blr_spirv_refuse(b->build, word, "its result is not of the type pointed to");
        result = blr_spirv_result(b, word);
    }
    struct blr_spirv_step *step = blr_spirv_step(b, word);
    step->op.run = table[row].run[type->scalar_size / 4];
    if (!stores)
        blr_spirv_step_result(step, result, 0, type->scalar_size, 1);
    blr_spirv_step_input(step, 0, pointer);
    for (uint32_t i = 0; i < table[row].operands; i++)
        blr_spirv_step_input(step, 1 + i, operand[i]);
    return true;
}
