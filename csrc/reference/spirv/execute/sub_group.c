/* Execution of sub-group operations: predicates, ballots, exchanges, reductions, scans and block accesses. A batch holds
 * one sub-group of 64 work-items or several smaller ones, one behind the other. */
#include "spirv/execute/groups.h"

#include <inttypes.h>
#include <string.h>

/* Lanes from the start of a sub-group to the next one's. */
static uint32_t width_of(const struct blr_spirv_batch *batch) { return batch->worker->launch->program->sub_group_size; }

/* Lanes of a full sub-group of this launch. */
static uint32_t whole_size(const struct blr_spirv_batch *batch)
{
    const struct blr_spirv_launch *launch = batch->worker->launch;
    const uint64_t size = launch->local[0] * launch->local[1] * launch->local[2];
    return size < width_of(batch) ? (uint32_t)size : width_of(batch);
}

/* The lanes [first, first + width). */
static uint64_t lanes_from(uint32_t first, uint32_t width) { return BLR_ALL_LANES >> (BLR_LANES - width) << first; }

/* Its first active lane, or the first of all if none is active. */
static uint32_t first_active(const struct blr_spirv_batch *batch, uint32_t first, uint32_t width)
{
    const uint64_t lanes = batch->mask & lanes_from(first, width);
    return lanes == 0 ? first : (uint32_t)__builtin_ctzll(lanes);
}

/* Each sub-group of a batch, by its first lane. */
#define FOR_SUB_GROUPS(batch, first, width)                                                                            \
    for (uint32_t first = 0, width = width_of(batch); first < BLR_LANES; first += width)

/* ---------------------------------------------------------------- predicates */

void blr_sub_group_elect(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    (void)op;
    memset(result, 0, BLR_LANES);
    FOR_SUB_GROUPS (batch, first, width)
        result[first_active(batch, first, width)] = 1;
}

static uint64_t lanes_that_hold(const struct blr_spirv_batch *batch, const uint8_t *condition)
{
    uint64_t lanes = 0;
    for (uint32_t i = 0; i < BLR_LANES; i++)
        lanes |= (uint64_t)(condition[i] != 0) << i;
    return lanes & batch->mask;
}

void blr_sub_group_all(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const uint64_t others = batch->mask & ~lanes_that_hold(batch, blr_register(batch, op->in[0]));
    FOR_SUB_GROUPS (batch, first, width)
        memset(result + first, (others & lanes_from(first, width)) == 0, width);
}

void blr_sub_group_any(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const uint64_t lanes = lanes_that_hold(batch, blr_register(batch, op->in[0]));
    FOR_SUB_GROUPS (batch, first, width)
        memset(result + first, (lanes & lanes_from(first, width)) != 0, width);
}

void blr_sub_group_all_equal(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const unsigned char *values = blr_register(batch, op->in[0]);
    const uint32_t size = (uint32_t)op->literal;
    FOR_SUB_GROUPS (batch, first, width) {
        const uint32_t one = first_active(batch, first, width);
        bool equal = true;
        for (uint32_t c = 0; c < *(const uint32_t *)op->info; c++)
            for (uint64_t lanes = batch->mask & lanes_from(first, width); lanes != 0; lanes &= lanes - 1)
                equal = equal && memcmp(values + (c * BLR_LANES + (uint32_t)__builtin_ctzll(lanes)) * size,
                                        values + (c * BLR_LANES + one) * size, size) == 0;
        memset(result + first, equal, width);
    }
}

/* ---------------------------------------------------------------- ballots */

void blr_sub_group_ballot(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const uint64_t all = lanes_that_hold(batch, blr_register(batch, op->in[0]));
    const uint32_t width = width_of(batch);
    uint32_t *r = (uint32_t *)result;
    for (uint32_t i = 0; i < BLR_LANES; i++) {
        const uint64_t lanes = all >> i / width * width & lanes_from(0, width);
        r[i] = (uint32_t)lanes;
        r[BLR_LANES + i] = (uint32_t)(lanes >> 32);
        r[2 * BLR_LANES + i] = r[3 * BLR_LANES + i] = 0;
    }
}

/* The ballot of a lane, as a mask of the lanes of its sub-group. */
static uint64_t ballot_at(const struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint32_t lane)
{
    const uint32_t *ballot = blr_register(batch, op->in[0]);
    return (ballot[lane] | (uint64_t)ballot[BLR_LANES + lane] << 32) & lanes_from(0, width_of(batch));
}

void blr_sub_group_own_bit(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    for (uint32_t i = 0; i < BLR_LANES; i++)
        result[i] = ballot_at(batch, op, i) >> i % width_of(batch) & 1;
}

void blr_sub_group_bit(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const uint32_t *numbers = blr_register(batch, op->in[1]);
    for (uint32_t i = 0; i < BLR_LANES; i++)
        result[i] = numbers[i] < BLR_LANES && (ballot_at(batch, op, i) >> numbers[i] & 1) != 0;
}

/* Writes an integer of any size for one lane. */
static void put(const struct blr_spirv_op *op, unsigned char *result, uint32_t lane, uint64_t number)
{
    memcpy(result + (size_t)lane * op->element, &number, op->element);
}

void blr_sub_group_count(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    for (uint32_t i = 0; i < BLR_LANES; i++) {
        uint64_t bits = ballot_at(batch, op, i), below = ((uint64_t)1 << i % width_of(batch)) - 1, number = 0;
        bits &= op->literal == BLR_FOLD_REDUCE ? UINT64_MAX : op->literal == BLR_FOLD_INCLUSIVE ? below << 1 | 1 : below;
        for (; bits != 0; bits &= bits - 1)
            number++;
        put(op, result, i, number);
    }
}

void blr_sub_group_lowest(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    for (uint32_t i = 0; i < BLR_LANES; i++) {
        uint64_t bits = ballot_at(batch, op, i), number = bits == 0 ? UINT64_MAX : 0;
        for (; bits != 0 && (bits & 1) == 0; bits >>= 1)
            number++;
        put(op, result, i, number);
    }
}

void blr_sub_group_highest(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    for (uint32_t i = 0; i < BLR_LANES; i++) {
        uint64_t number = UINT64_MAX;
        for (uint64_t bits = ballot_at(batch, op, i); bits != 0; bits >>= 1)
            number++;
        put(op, result, i, number);
    }
}

/* ---------------------------------------------------------------- exchanges between lanes */

void blr_sub_group_exchange(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const unsigned char *values = blr_register(batch, op->in[0]);
    const uint32_t *numbers = blr_register(batch, op->in[1]);
    const uint32_t size = op->info != NULL ? *(const uint32_t *)op->info : 0;
    const uint32_t cluster = size != 0 && size < whole_size(batch) ? size : whole_size(batch), width = width_of(batch);
    for (uint32_t i = 0; i < op->count; i++) {
        const uint32_t own = i % BLR_LANES, lane = own % width, first = own - lane; /* lane and source: in the sub-group */
        uint32_t source;
        switch ((enum blr_lane_source)op->literal) {
        case BLR_LANE_FIRST: source = first_active(batch, first, width) - first; break;
        case BLR_LANE_XOR: source = lane ^ numbers[own]; break;
        case BLR_LANE_BELOW: source = numbers[own] <= lane ? lane - numbers[own] : lane; break;
        case BLR_LANE_ABOVE: source = numbers[own] < width - lane ? lane + numbers[own] : lane; break;
        case BLR_LANE_ROTATED: source = lane - lane % cluster + (lane + numbers[own] % cluster) % cluster; break;
        case BLR_LANE_OF_FOUR: source = (lane & ~3u) | (numbers[own] & 3u); break;
        default: source = numbers[own]; break;
        }
        if (source >= width)
            source = lane;
        memcpy(result + (size_t)i * op->element, values + (size_t)(i - lane + source) * op->element, op->element);
    }
}

void blr_sub_group_exchange_two(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const unsigned char *values[2] = {blr_register(batch, op->in[0]), blr_register(batch, op->in[1])};
    const uint32_t *numbers = blr_register(batch, op->in[2]);
    const uint32_t size = whole_size(batch);
    for (uint32_t i = 0; i < op->count; i++) {
        const uint32_t own = i % BLR_LANES, lane = own % width_of(batch), number = numbers[own] < size ? numbers[own] : size;
        uint32_t at = op->literal == BLR_LANE_ABOVE ? lane + number : size + lane - number; /* index in the concatenation */
        uint32_t source = at < 2 * size ? at : lane;
        memcpy(result + (size_t)i * op->element,
               values[source >= size] + (size_t)(i - lane + source % size) * op->element, op->element);
    }
}

/* ---------------------------------------------------------------- reductions and scans */

void blr_sub_group_fold(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const struct blr_fold_use *use = op->info;
    const bool scans = use->step == BLR_FOLD_INCLUSIVE || use->step == BLR_FOLD_EXCLUSIVE;
    for (uint32_t c = 0; c < use->components; c++) {
        size_t at = (size_t)c * BLR_LANES * use->size;
        const unsigned char *values = (const unsigned char *)blr_register(batch, op->in[0]) + at;
        for (uint32_t first = 0; first < BLR_LANES; first += use->cluster) {
            uint64_t carry, lanes = batch->mask & lanes_from(first, use->cluster);
            if (lanes == 0)
                continue;
            use->run(values, result + at, lanes, BLR_FOLD_START, &carry);
            use->run(values, result + at, lanes, scans ? use->step : BLR_FOLD_REDUCE, &carry);
            if (!scans)
                use->run(values, result + at, lanes, BLR_FOLD_SPREAD, &carry);
        }
    }
}

/* ---------------------------------------------------------------- blocks of memory */

/* Address of element c of a lane; 0 after a fault. */
static uint64_t block_address(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint32_t c, uint32_t lane,
                              bool write)
{
    const uint64_t *addresses = blr_register(batch, op->in[0]);
    uint64_t address = addresses[lane] + ((uint64_t)c * whole_size(batch) + lane % width_of(batch)) * op->literal;
    if (blr_spirv_reachable(batch, address, op->literal, write))
        return address;
    blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT,
                    "%s %" PRIu64 " bytes at 0x%" PRIx64 ", which kernels cannot %s", write ? "writes" : "reads",
                    op->literal, address, write ? "write" : "read");
    return 0;
}

void blr_sub_group_read_block(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    memset(result, 0, (size_t)op->count * op->element);
    for (uint32_t c = 0; c < *(const uint32_t *)op->info; c++)
        for (uint32_t i = 0; i < BLR_LANES; i++) {
            if ((batch->mask >> i & 1) == 0)
                continue;
            uint64_t address = block_address(batch, op, c, i, false);
            if (address == 0)
                return;
            memcpy(result + (c * BLR_LANES + i) * op->literal, (const void *)(uintptr_t)address, op->literal);
        }
}

void blr_sub_group_write_block(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    (void)result;
    const unsigned char *values = blr_register(batch, op->in[1]);
    for (uint32_t c = 0; c < *(const uint32_t *)op->info; c++)
        for (uint32_t i = 0; i < BLR_LANES; i++) {
            if ((batch->mask >> i & 1) == 0)
                continue;
            uint64_t address = block_address(batch, op, c, i, true);
            if (address == 0)
                return;
            memcpy((void *)(uintptr_t)address, values + (c * BLR_LANES + i) * op->literal, op->literal);
        }
}
