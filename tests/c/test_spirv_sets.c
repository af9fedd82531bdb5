/* Kernel operations in every instruction set of this processor, compared bit by bit with the portable versions. */
#include "fixture.h"

#include "spirv/execute/image.h"
#include "spirv/execute/operations.h"
#include "spirv/execute/isa_operations.h"

#include <string.h>

#define REGION 16384u /* bytes for each operand */
#define COMPONENTS 4u

static _Alignas(64) unsigned char registers[4 * REGION], expected[REGION], found[REGION];
static uint64_t state = 1;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Registers of all kinds: random bits, small integers and floats, special values. */
static void fill_registers(unsigned round)
{
    static const uint64_t special[] = {0, 1, UINT64_MAX, INT64_MAX, 0x8000000000000000u, 0x7f8000007f800000u,
                                       0x3f8000003f800000u, 0x3ff0000000000000u, 0x7c003c0080008001u, 0x477ff000477fe000u};
    for (size_t at = 0; at < sizeof registers; at += 8) {
        uint64_t bits = next_random();
        const float floats[2] = {(float)(int32_t)bits * 0x1p-28f, (float)(int32_t)(bits >> 32) * 0x1p-28f};
        const double real = (double)(int64_t)bits * 0x1p-60;
        switch ((at / 1024 + round) % 5) {
        case 0: break;
        case 1: bits &= 0x0101010101010101u; break;
        case 2: memcpy(&bits, floats, sizeof bits); break;
        case 3: memcpy(&bits, &real, sizeof bits); break;
        default: bits = special[bits % (sizeof special / sizeof *special)]; break;
        }
        memcpy(registers + at, &bits, sizeof bits);
    }
}

static bool is_nan(const unsigned char *bytes, size_t size)
{
    uint64_t bits = 0;
    memcpy(&bits, bytes, size);
    return size == 2   ? (bits & 0x7fff) > 0x7c00
           : size == 4 ? (bits & 0x7fffffff) > 0x7f800000
                       : (bits & INT64_MAX) > 0x7ff0000000000000;
}

/* Which NaN operand provides the payload of a result is the compiler's choice. */
static bool both_nan(size_t at)
{
    for (size_t size = 2; size <= 8; size *= 2)
        if (is_nan(expected + at / size * size, size) && is_nan(found + at / size * size, size))
            return true;
    return false;
}

/* Operations that access more than registers. */
static bool checks_indices(blr_spirv_run_t run)
{
    return run == blr_spirv_run_array_index || run == blr_spirv_run_argument_index;
}

static bool touches_memory(blr_spirv_run_t run)
{
    return run == blr_spirv_run_load || run == blr_spirv_run_store || run == blr_spirv_run_move_memory ||
           run == blr_spirv_run_explicit_cast || run == blr_spirv_run_semantics || run == blr_spirv_run_image ||
           run == blr_spirv_run_image_query;
}

static void compare_operations(const struct blr_spirv_set *set)
{
    static blr_spirv_run_t plain[BLR_SET_MOST], own[BLR_SET_MOST];
    static const uint32_t components = COMPONENTS;
    const uint32_t count = blr_spirv_set_of_this.list(plain);
    struct blr_spirv_batch batch = {.registers = registers, .mask = BLR_ALL_LANES};
    uint32_t compared = 0;
    CHECK(count <= BLR_SET_MOST && set->list(own) == count);
    for (uint32_t i = 0; i < count; i++) {
        CHECK((plain[i] == NULL) == (own[i] == NULL));
        if (plain[i] == NULL || touches_memory(plain[i]) || checks_indices(plain[i]))
            continue;
        CHECK(plain[i] != own[i]);
        for (unsigned round = 0; round < 5; round++) {
            const struct blr_spirv_op op = {.in = {0, REGION, 2 * REGION, 3 * REGION},
                                            .count = COMPONENTS * BLR_LANES,
                                            .element = 4,
                                            .literal = round % 2 == 0 ? 4 : 2,
                                            .info = &components};
            fill_registers(round + i);
            memset(expected, 0, sizeof expected);
            memset(found, 0, sizeof found);
            plain[i](&batch, &op, expected);
            own[i](&batch, &op, found);
            for (size_t at = 0; at < sizeof found; at++)
                if (expected[at] != found[at] && !both_nan(at)) {
                    fprintf(stderr, "operation %u of %s: byte %zu is %02x, not %02x\n", i, set->name, at, found[at], expected[at]);
                    CHECK(false);
                }
        }
        compared++;
    }
    CHECK(compared > 300);
}

/* ---------------------------------------------------------------- memory */

#define LANE_BYTES 64u
static unsigned char memory[BLR_LANES * LANE_BYTES + 64], before[sizeof memory];

/* Addresses of elements of `size` bytes: consecutive, all equal, random, and invalid for some lanes. */
static void fill_addresses(unsigned kind, uint64_t mask, uint32_t size)
{
    uint64_t *addresses = (uint64_t *)(void *)registers;
    const uint64_t start = (uint64_t)(uintptr_t)memory + 3;
    for (uint32_t i = 0; i < BLR_LANES; i++) {
        const uint64_t anywhere = start + next_random() % (BLR_LANES * LANE_BYTES - size);
        addresses[i] = kind == 0 ? start + i * size : kind == 1 ? start + 5 : kind == 2 ? anywhere : start + (63 - i) * size;
        if ((mask >> i & 1) == 0 && next_random() % 2 == 0)
            addresses[i] = next_random(); /* an inactive lane */
    }
}

/* Reference for loads and stores: one lane after the other. */
static void load_by_lane(const struct blr_spirv_batch *batch, const struct blr_spirv_op *op)
{
    const uint64_t *addresses = (const uint64_t *)(const void *)registers;
    for (uint32_t c = 0; c < op->count / BLR_LANES; c++)
        for (uint32_t i = 0; i < BLR_LANES; i++)
            if (batch->mask >> i & 1)
                memcpy(expected + (c * BLR_LANES + i) * op->element,
                       (const unsigned char *)(uintptr_t)addresses[i] + c * op->element, op->element);
}

static void store_by_lane(const struct blr_spirv_batch *batch, uint32_t size, uint32_t components)
{
    const uint64_t *addresses = (const uint64_t *)(const void *)registers;
    for (uint32_t c = 0; c < components; c++)
        for (uint32_t i = 0; i < BLR_LANES; i++)
            if (batch->mask >> i & 1)
                memcpy((unsigned char *)(uintptr_t)addresses[i] + c * size, registers + REGION + (c * BLR_LANES + i) * size, size);
}

static void compare_memory(const blr_spirv_run_t load, const blr_spirv_run_t store)
{
    static const struct blr_spirv_program program;
    struct blr_spirv_launch launch = {.program = &program, .name = "none", .local = {1, 1, 1}, .groups = {1, 1, 1}};
    struct blr_spirv_worker worker = {.launch = &launch, .range_count = 1};
    struct blr_spirv_batch batch = {.registers = registers, .worker = &worker};
    worker.ranges[0] = (struct blr_spirv_range){.begin = (uint64_t)(uintptr_t)memory,
                                                .end = (uint64_t)(uintptr_t)(memory + sizeof memory),
                                                .writable = true};
    for (unsigned round = 0; round < 400; round++) {
        const uint32_t size = 1u << round % 4, components = 1 + round / 4 % 4;
        const unsigned kind = round / 16 % 4;
        batch.mask = round % 3 == 0 ? BLR_ALL_LANES : round % 3 == 1 ? next_random() | 1 : (uint64_t)1 << round % 64;
        for (size_t i = 0; i < sizeof memory; i++)
            memory[i] = (unsigned char)next_random();
        fill_registers(round);
        fill_addresses(kind, batch.mask, size * components);
        const struct blr_spirv_op loading = {.in = {0}, .count = components * BLR_LANES, .element = (uint8_t)size};
        memset(expected, 0, sizeof expected);
        memset(found, 0, sizeof found);
        load_by_lane(&batch, &loading);
        load(&batch, &loading, found);
        CHECK(!worker.fault.happened);
        for (uint32_t n = 0; n < loading.count; n++)
            CHECK((batch.mask >> n % BLR_LANES & 1) == 0 || memcmp(expected + n * size, found + n * size, size) == 0);
        const struct blr_spirv_op storing = {.in = {0, REGION}, .literal = BLR_STORE_SHAPE(size, components, 0)};
        memcpy(before, memory, sizeof memory);
        store_by_lane(&batch, size, components);
        memcpy(expected, memory, sizeof memory);
        memcpy(memory, before, sizeof memory);
        store(&batch, &storing, NULL);
        CHECK(!worker.fault.happened && memcmp(memory, expected, sizeof memory) == 0);
    }
    /* A single lane accesses memory beyond the end. */
    fill_addresses(0, BLR_ALL_LANES, 4);
    ((uint64_t *)(void *)registers)[17] = worker.ranges[0].end - 3;
    batch.mask = BLR_ALL_LANES;
    const struct blr_spirv_op loading = {.in = {0}, .count = BLR_LANES, .element = 4};
    launch.end = UINT64_MAX;
    load(&batch, &loading, found);
    CHECK(worker.fault.happened);
}

/* ---------------------------------------------------------------- indices of arrays */

/* Indices within each lane's size, and one lane's beyond: a fault only where the lane is active. */
static void compare_indices(const blr_spirv_run_t run, bool common)
{
    static const struct blr_spirv_program program;
    struct blr_spirv_launch launch = {
        .program = &program, .name = "none", .dimensions = 1, .local = {1, 1, 1}, .groups = {BLR_LANES, 1, 1}, .end = UINT64_MAX};
    struct blr_spirv_worker worker = {.launch = &launch};
    struct blr_spirv_batch batch = {.registers = registers, .worker = &worker};
    int64_t *indices = (int64_t *)(void *)registers, *sizes = (int64_t *)(void *)(registers + 2 * REGION);
    const int64_t *given = (const int64_t *)(const void *)found;
    const struct blr_spirv_op op = {.in = {0, REGION, 2 * REGION}, .literal = BLR_ARRAY_AXIS(1, 2), .element = 8};
    for (unsigned round = 0; round < 200; round++) {
        const uint32_t lane = round % BLR_LANES;
        worker.fault.happened = false;
        batch.mask = round % 2 == 0 ? BLR_ALL_LANES : ~((uint64_t)1 << lane);
        fill_registers(0);
        for (uint32_t i = 0; i < BLR_LANES; i++) {
            sizes[i] = common && i > 0 ? sizes[0] : (int64_t)(next_random() >> (1 + next_random() % 60)) + 1;
            indices[i] = (int64_t)(next_random() % (uint64_t)sizes[i]) - (next_random() % 2 == 0 ? sizes[i] : 0);
        }
        run(&batch, &op, found);
        CHECK(!worker.fault.happened);
        for (uint32_t i = 0; i < BLR_LANES; i++)
            CHECK(given[i] == (indices[i] < 0 ? indices[i] + sizes[i] : indices[i]));
        indices[lane] = round % 4 < 2 ? sizes[lane] : -sizes[lane] - 1;
        run(&batch, &op, found);
        CHECK(worker.fault.happened == (round % 2 == 0));
        CHECK(!worker.fault.happened || strstr(worker.fault.message, " of axis 1 ") != NULL);
    }
}

int main(void)
{
    const struct blr_spirv_set *sets[BLR_SETS];
    const uint32_t count = blr_spirv_sets(sets);
    static blr_spirv_run_t plain[BLR_SET_MOST], own[BLR_SET_MOST];
    CHECK(count >= 1 && count <= BLR_SETS && sets[0] == &blr_spirv_set_of_this && sets[count - 1] == blr_spirv_best_set());
    for (uint32_t s = 0; s < count; s++) {
        const uint32_t listed = blr_spirv_set_of_this.list(plain);
        blr_spirv_run_t load = NULL, store = NULL;
        sets[s]->list(own);
        if (s > 0)
            compare_operations(sets[s]);
        for (uint32_t i = 0; i < listed; i++) {
            load = plain[i] == blr_spirv_run_load ? own[i] : load;
            store = plain[i] == blr_spirv_run_store ? own[i] : store;
        }
        for (uint32_t i = 0; i < listed; i++)
            if (checks_indices(plain[i]))
                compare_indices(own[i], plain[i] == blr_spirv_run_argument_index);
        CHECK(load != NULL && store != NULL);
        compare_memory(load, store);
        CHECK(s + 1 < count || blr_spirv_in_best_set(blr_spirv_run_load) == load);
    }
    CHECK(blr_spirv_in_best_set(NULL) == NULL);
    return 0;
}
