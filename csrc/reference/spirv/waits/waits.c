/* Barriers by number, barriers in memory, and lanes that rest. */
#include "spirv/waits/waits.h"

#include <inttypes.h>
#include <string.h>

#define MOST_RESTS 16u /* until the other lanes of a sub-group go on */

/* ---------------------------------------------------------------- rest */

void blr_spirv_rest(struct blr_spirv_batch *batch, uint32_t block, uint64_t lanes)
{
    batch->resting |= lanes;
    batch->is_loose = ++batch->rests >= MOST_RESTS;
    batch->worker->is_loose = batch->worker->is_loose || batch->is_loose;
    for (; lanes != 0; lanes &= lanes - 1)
        batch->stop[__builtin_ctzll(lanes)] = block;
}

void blr_spirv_wake(struct blr_spirv_batch *batch)
{
    for (uint64_t lanes = batch->resting; lanes != 0; lanes &= lanes - 1)
        blr_spirv_arrive(batch, batch->stop[__builtin_ctzll(lanes)], lanes & (0 - lanes));
    batch->resting = 0;
}

/* ---------------------------------------------------------------- barriers by number */

void blr_barriers_start(struct blr_spirv_worker *worker)
{
    memset(worker->barriers, 0, sizeof worker->barriers);
    worker->holds = 0;
    for (uint32_t i = 0; i < worker->batch_count; i++)
        memset(worker->batches[i].held, 0, sizeof worker->batches[i].held);
}

static void release(struct blr_spirv_worker *worker, uint32_t number)
{
    const struct blr_spirv_program *program = worker->launch->program;
    const uint32_t sum = worker->barriers[number].sum;
    for (uint32_t i = 0; i < worker->batch_count; i++) {
        struct blr_spirv_batch *batch = &worker->batches[i];
        for (uint64_t lanes = batch->held[number]; lanes != 0; lanes &= lanes - 1) {
            const uint32_t lane = (uint32_t)__builtin_ctzll(lanes);
            const struct blr_spirv_block *block = &program->blocks[batch->stop[lane]];
            if (block->is_numbered)
                ((uint32_t *)blr_register(batch, program->ops[block->meeting].result))[lane] = sum;
            blr_spirv_arrive(batch, program->edges[block->first_edge].target, lanes & (0 - lanes));
        }
        batch->held[number] = 0;
    }
    worker->barriers[number] = (struct blr_spirv_barrier){.arrivals = 0};
    worker->holds &= ~(1u << number);
    worker->pauses = true;
}

/* Releases the lanes at a barrier if all that it waits for have arrived. Warps arrive when their living lanes have. */
static bool settle(struct blr_spirv_worker *worker, uint32_t number)
{
    const struct blr_spirv_barrier *barrier = &worker->barriers[number];
    uint64_t warps = barrier->again;
    bool is_complete = true;
    if (barrier->arrivals == 0)
        return false;
    for (uint32_t w = 0; w < 2 * worker->batch_count; w++) {
        const uint32_t living = (uint32_t)(worker->batches[w / 2].alive >> w % 2 * BLR_WARP);
        const bool is_here = (living & ~barrier->lanes[w]) == 0;
        is_complete = is_complete && is_here;
        warps += is_here && barrier->lanes[w] != 0;
    }
    if (barrier->threads != 0 ? warps * BLR_WARP < barrier->threads : !is_complete)
        return false;
    release(worker, number);
    return true;
}

bool blr_barriers_settle(struct blr_spirv_worker *worker)
{
    bool any = false;
    for (uint32_t number = 0; number < BLR_BARRIERS; number++)
        any |= settle(worker, number);
    return any;
}

void blr_barriers_fault(struct blr_spirv_worker *worker)
{
    const struct blr_spirv_program *program = worker->launch->program;
    const uint32_t number = (uint32_t)__builtin_ctz(worker->holds);
    struct blr_spirv_batch *batch = worker->batches;
    while (batch->held[number] == 0)
        batch++;
    const uint32_t lane = (uint32_t)__builtin_ctzll(batch->held[number]);
    const struct blr_spirv_block *block = &program->blocks[batch->stop[lane]];
    blr_spirv_fault(batch, block->is_numbered ? &program->ops[block->meeting] : NULL, lane, BLR_RESULT_KERNEL_FAULT,
                    "waits at barrier %u for %u work-items (0: all), and %u have arrived; the others have ended or wait elsewhere", number,
                    worker->barriers[number].threads, worker->barriers[number].arrivals);
}

/* Lanes arrive at a barrier, and wait in a block unless it is UINT32_MAX. */
static void arrive(struct blr_spirv_batch *batch, uint32_t number, uint32_t threads, uint64_t lanes, uint64_t conditions, uint32_t block)
{
    struct blr_spirv_worker *worker = batch->worker;
    struct blr_spirv_barrier *barrier = &worker->barriers[number];
    const uint32_t first = (uint32_t)(batch - worker->batches) * 2;
    barrier->threads = threads;
    for (uint32_t half = 0; half < 2; half++) {
        const uint32_t part = (uint32_t)(lanes >> half * BLR_WARP);
        barrier->again += (barrier->lanes[first + half] & part) != 0;
        barrier->lanes[first + half] |= part;
    }
    for (uint64_t rest = lanes; rest != 0; rest &= rest - 1)
        barrier->arrivals++;
    for (uint64_t rest = lanes & conditions; rest != 0; rest &= rest - 1)
        barrier->sum++;
    if (block != UINT32_MAX) {
        batch->held[number] |= lanes;
        worker->holds |= 1u << number;
        for (uint64_t rest = lanes; rest != 0; rest &= rest - 1)
            batch->stop[__builtin_ctzll(rest)] = block;
    }
    settle(worker, number);
}

void blr_barrier_wait_for_all(struct blr_spirv_batch *batch, uint32_t block, uint64_t lanes)
{
    arrive(batch, 0, 0, lanes, 0, block);
}

/* Checks what lanes ask for; false after a fault. */
static bool is_valid(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint32_t lane, uint32_t number, uint32_t threads)
{
    if (number >= BLR_BARRIERS || threads % BLR_WARP != 0) {
        blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT,
                        "waits at barrier %u for %u work-items: the numbers are 0 to %u, the work-items multiples of %u", number, threads,
                        BLR_BARRIERS - 1, BLR_WARP);
        return false;
    }
    const struct blr_spirv_barrier *barrier = &batch->worker->barriers[number];
    if (barrier->arrivals != 0 && barrier->threads != threads) {
        blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT, "waits at barrier %u for %u work-items, others for %u (0: for all)",
                        number, threads, barrier->threads);
        return false;
    }
    return true;
}

/* Lanes arrive: those with the same number and count together. */
static void arrive_all(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, const uint8_t *conditions, uint32_t block)
{
    const uint32_t *numbers = blr_register(batch, op->in[0]), *threads = blr_register(batch, op->in[1]);
    const uint64_t *local = batch->worker->launch->local;
    const uint64_t all = (local[0] * local[1] * local[2] + BLR_WARP - 1) / BLR_WARP * BLR_WARP;
    for (uint64_t rest = batch->mask; rest != 0;) {
        const uint32_t first = (uint32_t)__builtin_ctzll(rest);
        uint64_t lanes = 0, holds = 0;
        for (uint32_t i = first; i < BLR_LANES; i++) {
            const bool same = (rest >> i & 1) != 0 && numbers[i] == numbers[first] && threads[i] == threads[first];
            lanes |= (uint64_t)same << i;
            holds |= (uint64_t)(conditions != NULL && conditions[i] != 0) << i;
        }
        const uint32_t count = threads[first] == all ? 0 : threads[first];
        if (!is_valid(batch, op, first, numbers[first], count))
            return;
        rest &= ~lanes;
        arrive(batch, numbers[first], count, lanes, holds, block);
    }
}

void blr_barrier_arrive(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    (void)result;
    arrive_all(batch, op, NULL, UINT32_MAX);
}

void blr_barrier_wait(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    (void)result;
    arrive_all(batch, op, blr_register(batch, op->in[2]), batch->running);
}

/* ---------------------------------------------------------------- barriers in memory */

/* Bits: 20 of the arrivals that its phase waits for, 20 of those that the next one will, 21 of the bytes that its phase waits for
 * (biased: they may be complete before they are expected), 2 of the phase's number, 1. */
#define COUNT_BITS 20u
#define MOST ((UINT64_C(1) << COUNT_BITS) - 1)
#define BYTES_SHIFT (2 * COUNT_BITS)
#define PHASE_SHIFT (BYTES_SHIFT + COUNT_BITS + 1)
#define IS_BARRIER (UINT64_C(1) << 63)

struct mbarrier {
    uint64_t pending, expected, phase;
    int64_t bytes;
};

static struct mbarrier unpack(uint64_t state)
{
    return (struct mbarrier){state & MOST, state >> COUNT_BITS & MOST, state >> PHASE_SHIFT & 3,
                             (int64_t)(state >> BYTES_SHIFT & (2 * MOST + 1)) - (int64_t)MOST};
}

static uint64_t pack(struct mbarrier b)
{
    return IS_BARRIER | (b.phase & 3) << PHASE_SHIFT | (uint64_t)(b.bytes + (int64_t)MOST) << BYTES_SHIFT | b.expected << COUNT_BITS | b.pending;
}

/* Changes a state; false where an operand is out of range. */
static bool change(uint64_t *state, enum blr_mbarrier_step step, uint64_t operand, uint64_t *result)
{
    struct mbarrier b = unpack(*state);
    *result = *state;
    switch (step) {
    case BLR_MBARRIER_INIT:
        if (operand == 0 || operand > MOST)
            return false;
        b = (struct mbarrier){operand, operand, 0, 0};
        break;
    case BLR_MBARRIER_INVALIDATE: *state = 0; return true;
    case BLR_MBARRIER_TEST: *result = unpack(operand).phase != b.phase; return true;
    case BLR_MBARRIER_TEST_PARITY: *result = (operand & 1) != (b.phase & 1); return true;
    case BLR_MBARRIER_EXPECT_BYTES:
    case BLR_MBARRIER_COMPLETE_BYTES:
        if (operand > MOST)
            return false;
        b.bytes += step == BLR_MBARRIER_EXPECT_BYTES ? (int64_t)operand : -(int64_t)operand;
        if (b.bytes > (int64_t)MOST || b.bytes < -(int64_t)MOST)
            return false;
        break;
    default:
        if (operand == 0 || operand > b.pending || (step == BLR_MBARRIER_ARRIVE_EARLY && operand == b.pending) ||
            (step == BLR_MBARRIER_DROP && operand > b.expected))
            return false;
        b.pending -= operand;
        b.expected -= step == BLR_MBARRIER_DROP ? operand : 0;
        break;
    }
    if (b.pending == 0 && b.bytes == 0) {
        b.pending = b.expected;
        b.phase++;
    }
    *state = pack(b);
    return true;
}

void blr_mbarrier(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    static const char *const names[BLR_MBARRIER_STEPS] = {"initializes", "invalidates", "arrives at", "leaves", "arrives early at",
                                                          "tests", "tests", "expects bytes at", "completes bytes at"};
    const uint64_t *addresses = blr_register(batch, op->in[0]), *operands = blr_register(batch, op->in[1]);
    const enum blr_mbarrier_step step = (enum blr_mbarrier_step)op->literal;
    const uintptr_t local = (uintptr_t)batch->worker->local;
    for (uint64_t lanes = batch->mask; lanes != 0; lanes &= lanes - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctzll(lanes);
        const uint64_t address = addresses[lane];
        uint64_t state;
        if (address % 8 != 0 || !blr_spirv_within(address, 8, local, local + batch->worker->launch->local_bytes)) {
            blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT,
                            "%s a barrier at 0x%" PRIx64 ": 8 bytes of shared memory at a multiple of 8 are needed", names[step], address);
            return;
        }
        memcpy(&state, (const void *)(uintptr_t)address, sizeof state);
        if (step != BLR_MBARRIER_INIT && (state & IS_BARRIER) == 0) {
            blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT, "%s a barrier at 0x%" PRIx64 ", which is not initialized",
                            names[step], address);
            return;
        }
        const struct mbarrier before = unpack(state);
        if (!change(&state, step, operands[lane], &((uint64_t *)(void *)result)[lane])) {
            blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT,
                            "%s a barrier with a count of %" PRIu64 ": it waits for %" PRIu64 ", then for %" PRIu64 ", and counts to %" PRIu64,
                            names[step], operands[lane], before.pending, before.expected, MOST);
            return;
        }
        memcpy((void *)(uintptr_t)address, &state, sizeof state);
    }
}
