/* Operations on affine values, in every instruction set of this processor, compared with the same operations on lanes. */
#include "fixture.h"

#include "spirv/execute/affine.h"
#include "spirv/execute/isa_operations.h"
#include "spirv/execute/lane_operations.h"
#include "spirv/execute/operations.h"

#include <string.h>

#define REGISTER (8 * BLR_LANES) /* bytes of a register of 64 bits */
#define OPERANDS 4u
#define RESULT (OPERANDS * REGISTER)
#define COMPONENTS 3u

struct state {
    _Alignas(64) unsigned char registers[(OPERANDS + COMPONENTS) * REGISTER];
    struct blr_affine affine[(OPERANDS + COMPONENTS) * REGISTER / BLR_LANES];
};

static struct state start, affine, lanes;
static _Alignas(64) unsigned char scratch[COMPONENTS * REGISTER];
static unsigned char memory[8192], contents[sizeof memory], changed[sizeof memory];
static uint64_t seed = 88172645463325252u;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* Numbers that are small, near a power of two, or anything. */
static uint64_t number(void)
{
    const uint64_t small = next_random() % 70 - 3;
    switch (next_random() % 4) {
    case 0: return small;
    case 1: return ((uint64_t)1 << next_random() % 64) + small;
    case 2: return 0 - ((uint64_t)1 << next_random() % 64) + small;
    default: return next_random();
    }
}

static uint64_t step(void) { return next_random() % 3 == 0 ? 0 : next_random() % 2 == 0 ? 1 : number(); }

/* A register: affine alone, affine with its lanes, or lanes alone. */
static void fill(uint32_t place, uint8_t size, uint64_t base, uint64_t stride)
{
    const struct blr_spirv_batch batch = {.registers = start.registers, .affine = start.affine};
    const uint64_t kind = next_random() % 6;
    for (uint32_t i = 0; i < REGISTER; i++)
        start.registers[place + i] = (unsigned char)next_random();
    blr_affine_set(&batch, place, size, base, stride, false);
    if (kind < 4 && kind > 1)
        blr_affine_expand(&batch, place);
    if (kind == 4)
        for (uint32_t i = 0; i < BLR_LANES * size; i++)
            start.registers[place + i] = size == 1 ? next_random() % 2 : (unsigned char)next_random();
    if (kind == 5)
        blr_affine_write(start.registers + place, size, base, stride);
    start.affine[place / BLR_LANES].is_affine = kind < 4;
}

static uint64_t some_mask(void)
{
    switch (next_random() % 4) {
    case 0: return BLR_ALL_LANES;
    case 1: return BLR_ALL_LANES >> next_random() % 64;
    case 2: return BLR_ALL_LANES << next_random() % 64;
    default: return next_random() | (uint64_t)1 << next_random() % 64;
    }
}

static struct blr_spirv_batch batch_of(struct state *state, struct blr_spirv_worker *worker, uint64_t mask, uint64_t alive)
{
    return (struct blr_spirv_batch){.registers = state->registers,
                                    .affine = state->affine,
                                    .scratch = scratch,
                                    .worker = worker,
                                    .mask = mask,
                                    .alive = alive,
                                    .whole = (alive & ~mask) == 0,
                                    .low = (uint32_t)__builtin_ctzll(mask),
                                    .high = 63u - (uint32_t)__builtin_clzll(mask)};
}

static struct blr_spirv_program program;
static struct blr_spirv_launch launch = {
    .program = &program, .name = "none", .dimensions = 1, .local = {1, 1, 1}, .groups = {BLR_LANES, 1, 1}, .end = UINT64_MAX};

/* Runs an operation on the registers of start in both ways, and compares the lanes that a kernel can read. */
static void compare(const struct blr_spirv_set *set, struct blr_spirv_op op, blr_spirv_run_t run, enum blr_affine_form form)
{
    struct blr_spirv_worker workers[2] = {{.launch = &launch, .range_count = 1}, {.launch = &launch, .range_count = 1}};
    const uint64_t mask = some_mask(), alive = mask | (next_random() % 2 == 0 ? some_mask() : 0);
    for (uint32_t n = 0; n < 2; n++)
        workers[n].ranges[0] = (struct blr_spirv_range){
            .begin = (uint64_t)(uintptr_t)memory, .end = (uint64_t)(uintptr_t)memory + sizeof memory, .writable = true};
    affine = lanes = start;
    struct blr_spirv_batch batch = batch_of(&affine, &workers[0], mask, alive);
    struct blr_spirv_batch by_lane = batch_of(&lanes, &workers[1], mask, alive);
    for (uint32_t place = 0; place < sizeof lanes.registers; place += REGISTER)
        blr_affine_expand(&by_lane, place);
    op.result = RESULT;
    for (uint32_t k = 0; k < OPERANDS; k++)
        op.in[k] = k * REGISTER;
    memset(scratch, 0, sizeof scratch);
    memcpy(memory, contents, sizeof memory);
    run(&by_lane, &op, scratch);
    memcpy(changed, memory, sizeof memory);
    memcpy(memory, contents, sizeof memory);
    for (uint32_t n = 0; n < op.count; n++)
        if ((mask >> n % BLR_LANES & 1) != 0)
            memcpy(lanes.registers + RESULT + n * op.element, scratch + n * op.element, op.element);

    op.plain = run;
    set->affine[form](&batch, &op, affine.registers + RESULT);
    if (op.is_affine)
        blr_affine_expand(&batch, RESULT);
    CHECK(workers[0].fault.happened == workers[1].fault.happened);
    CHECK(strcmp(workers[0].fault.message, workers[1].fault.message) == 0);
    CHECK(memcmp(memory, changed, sizeof memory) == 0);
    const uint64_t read = workers[0].fault.happened ? 0 : op.keeps ? alive : mask;
    for (uint32_t n = 0; n < op.count; n++)
        if ((read >> n % BLR_LANES & 1) != 0 &&
            memcmp(lanes.registers + RESULT + n * op.element, affine.registers + RESULT + n * op.element, op.element) != 0) {
            fprintf(stderr, "form %d of %s, %u bytes: lane %u differs\n", (int)form, set->name, op.element, n);
            CHECK(false);
        }
    launch.end = UINT64_MAX;
}

static const struct {
    enum blr_affine_form form;
    uint16_t opcode;
} elementwise[] = {
    {BLR_AFFINE_ADD, BLR_OP_IAdd},
    {BLR_AFFINE_SUBTRACT, BLR_OP_ISub},
    {BLR_AFFINE_MULTIPLY, BLR_OP_IMul},
    {BLR_AFFINE_SHIFT_LEFT, BLR_OP_ShiftLeftLogical},
    {BLR_AFFINE_NEGATE, BLR_OP_SNegate},
    {BLR_AFFINE_BOTH, BLR_OP_BitwiseAnd},
    {BLR_AFFINE_EITHER, BLR_OP_BitwiseOr},
    {BLR_AFFINE_DIFFER, BLR_OP_BitwiseXor},
    {BLR_AFFINE_NOT, BLR_OP_LogicalNot},
    {BLR_AFFINE_UNIFORM, BLR_OP_SDiv},
    {BLR_AFFINE_UNIFORM, BLR_OP_Not},
    {BLR_AFFINE_EQUAL, BLR_OP_IEqual},
    {BLR_AFFINE_UNEQUAL, BLR_OP_INotEqual},
    {BLR_AFFINE_ABOVE, BLR_OP_UGreaterThan},
    {BLR_AFFINE_ABOVE_OR_EQUAL, BLR_OP_UGreaterThanEqual},
    {BLR_AFFINE_BELOW, BLR_OP_ULessThan},
    {BLR_AFFINE_BELOW_OR_EQUAL, BLR_OP_ULessThanEqual},
    {BLR_AFFINE_GREATER, BLR_OP_SGreaterThan},
    {BLR_AFFINE_GREATER_OR_EQUAL, BLR_OP_SGreaterThanEqual},
    {BLR_AFFINE_LESS, BLR_OP_SLessThan},
    {BLR_AFFINE_LESS_OR_EQUAL, BLR_OP_SLessThanEqual},
};

static void fill_truth(uint32_t place) { fill(place, 1, next_random() % 2, 0); }

static void compare_arithmetic(const struct blr_spirv_set *set, const struct blr_spirv_lanes *row, enum blr_affine_form form)
{
    for (uint32_t n = 0; n < 4; n++) {
        const uint8_t size = (uint8_t)(1u << n);
        for (unsigned round = 0; row->run[n] != NULL && round < 500; round++) {
            const bool tests = row->form == BLR_FORM_COMPARE_INTEGER || row->form == BLR_FORM_LOGICAL;
            for (uint32_t k = 0; k < 2; k++) {
                if (row->form == BLR_FORM_LOGICAL)
                    fill_truth(k * REGISTER);
                else
                    fill(k * REGISTER, size, number(), step());
            }
            if (tests && next_random() % 2 == 0) { /* equal operands */
                memcpy(start.affine + REGISTER / BLR_LANES, start.affine, sizeof *start.affine);
                memcpy(start.registers + REGISTER, start.registers, REGISTER);
            }
            struct blr_spirv_op op = {.count = BLR_LANES, .element = tests ? 1 : size, .is_affine = true, .keeps = round % 2 == 0,
                                      .expand = row->operands == 1 ? 1 : 3};
            if (tests)
                fill_truth(RESULT);
            else
                fill(RESULT, size, number(), step());
            compare(set, op, row->run[n], form);
        }
    }
}

static void compare_others(const struct blr_spirv_set *set)
{
    for (unsigned round = 0; round < 20000; round++) {
        const uint8_t from = (uint8_t)(1u << next_random() % 4), to = (uint8_t)(1u << next_random() % 4);
        struct blr_spirv_op op = {.count = BLR_LANES, .element = to, .is_affine = true, .keeps = round % 2 == 0, .expand = 1};
        fill(RESULT, to, number(), step());
        fill(0, from, number(), step());
        compare(set, op, blr_spirv_conversion(BLR_OP_UConvert, from, to), BLR_AFFINE_CONVERT_UNSIGNED);
        compare(set, op, blr_spirv_conversion(BLR_OP_SConvert, from, to), BLR_AFFINE_CONVERT_SIGNED);
        fill(0, to, number(), step());
        compare(set, op, blr_spirv_run_copy, BLR_AFFINE_COPY);
        fill_truth(0);
        fill(REGISTER, to, number(), step());
        fill(2 * REGISTER, to, number(), step());
        op.expand = 7;
        compare(set, op, blr_spirv_select(to), BLR_AFFINE_SELECT);
        fill(RESULT, 8, number(), step());
        fill(0, 8, number(), step());
        op.element = 8;
        op.literal = number();
        compare(set, op, blr_spirv_run_offset, BLR_AFFINE_OFFSET);
        fill(REGISTER, from, number(), step());
        compare(set, op, blr_spirv_index(from), BLR_AFFINE_INDEX);
        op.literal = BLR_ARRAY_AXIS(1, 2);
        fill(REGISTER, 8, 5, 0);
        fill(2 * REGISTER, 8, next_random() % 4 == 0 ? number() : 60 + next_random() % 20, 0);
        fill(0, 8, next_random() % 3 == 0 ? number() : (uint64_t)-70 + next_random() % 140,
             next_random() % 2 == 0 ? 1 : UINT64_MAX);
        compare(set, op, blr_spirv_run_array_index, BLR_AFFINE_ARRAY_INDEX);
    }
}

/* Addresses within the memory, some of them beyond one of its ends. */
static void compare_memory(const struct blr_spirv_set *set)
{
    for (size_t i = 0; i < sizeof contents; i++)
        contents[i] = (unsigned char)next_random();
    for (unsigned round = 0; round < 20000; round++) {
        const uint8_t size = (uint8_t)(1u << next_random() % 4);
        const uint32_t components = 1 + next_random() % COMPONENTS;
        const int64_t lane = (int64_t)(size * components), strides[] = {0, lane, -lane, (int64_t)(next_random() % 60) - 30};
        const int64_t stride = strides[next_random() % 4], length = 63 * stride;
        const uint64_t room = sizeof memory - (uint64_t)(length < 0 ? -length : length) - size * components;
        uint64_t first = next_random() % (room + 1) + (length < 0 ? (uint64_t)-length : 0);
        if (next_random() % 8 == 0)
            first += (next_random() % 2 == 0 ? 1 : 0) * sizeof memory - sizeof memory / 2;
        fill(0, 8, (uint64_t)(uintptr_t)memory + first, (uint64_t)stride);
        if (!start.affine[0].is_affine)
            blr_affine_write(start.registers, 8, (uint64_t)(uintptr_t)memory + first, (uint64_t)stride);
        struct blr_spirv_op op = {.count = components * BLR_LANES, .element = size, .expand = 1};
        if (components == 1) {
            op.is_affine = next_random() % 2 == 0;
            op.keeps = op.is_affine && round % 2 == 0;
            fill(RESULT, size, number(), step());
            if (!op.is_affine) {
                struct blr_spirv_batch batch = {.registers = start.registers, .affine = start.affine};
                blr_affine_expand(&batch, RESULT);
            }
        }
        compare(set, op, blr_spirv_run_load, BLR_AFFINE_LOAD);
        op = (struct blr_spirv_op){.expand = 1, .literal = BLR_STORE_SHAPE(size, components, 0)};
        for (uint32_t i = 0; i < COMPONENTS * REGISTER; i++)
            start.registers[REGISTER + i] = (unsigned char)next_random();
        memset(start.affine + REGISTER / BLR_LANES, 0, COMPONENTS * REGISTER / BLR_LANES * sizeof *start.affine);
        if (components == 1) {
            op.expand = 3;
            fill(REGISTER, size, number(), step());
        }
        compare(set, op, blr_spirv_run_store, BLR_AFFINE_STORE);
    }
}

int main(void)
{
    const struct blr_spirv_set *sets[BLR_SETS];
    const uint32_t count = blr_spirv_sets(sets);
    for (uint32_t s = 0; s < count; s++) {
        for (uint32_t n = 0; n < sizeof elementwise / sizeof *elementwise; n++) {
            unsigned rows = 0;
            for (unsigned i = 0; i < blr_spirv_integer_lane_count; i++)
                if (blr_spirv_integer_lanes[i].opcode == elementwise[n].opcode) {
                    compare_arithmetic(sets[s], &blr_spirv_integer_lanes[i], elementwise[n].form);
                    rows++;
                }
            CHECK(rows == 1);
        }
        compare_others(sets[s]);
        compare_memory(sets[s]);
    }
    return 0;
}
