/* Execution of work-group operations: predicates, broadcasts, reductions, scans and asynchronous copies. */
#include "spirv/execute/groups.h"

#include <inttypes.h>
#include <string.h>

/* ---------------------------------------------------------------- predicates */

/* Counts the waiting work-items and those with a true boolean; writes the result to all of them. */
static void ask(struct blr_spirv_batch *first, const struct blr_spirv_op *op, bool all)
{
    struct blr_spirv_worker *worker = first->worker;
    bool any_holds = false, all_hold = true;
    for (uint32_t n = 0; n < worker->batch_count; n++) {
        const struct blr_spirv_batch *batch = &worker->batches[n];
        const uint8_t *condition = blr_register(batch, op->in[0]);
        for (uint32_t i = 0; i < BLR_LANES; i++)
            if ((batch->waiting >> i & 1) != 0) {
                any_holds = any_holds || condition[i] != 0;
                all_hold = all_hold && condition[i] != 0;
            }
    }
    for (uint32_t n = 0; n < worker->batch_count; n++) {
        const struct blr_spirv_batch *batch = &worker->batches[n];
        uint8_t *result = blr_register(batch, op->result);
        for (uint32_t i = 0; i < BLR_LANES; i++)
            if ((batch->waiting >> i & 1) != 0)
                result[i] = all ? all_hold : any_holds;
    }
}

void blr_work_group_all(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    (void)result;
    ask(batch, op, true);
}

void blr_work_group_any(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    (void)result;
    ask(batch, op, false);
}

/* ---------------------------------------------------------------- broadcasts */

/* The first waiting work-item; at least one exists. */
static struct blr_spirv_batch *first_waiting(struct blr_spirv_worker *worker, uint32_t *lane)
{
    struct blr_spirv_batch *batch = worker->batches;
    while (batch->waiting == 0)
        batch++;
    *lane = 0;
    while ((batch->waiting >> *lane & 1) == 0)
        ++*lane;
    return batch;
}

void blr_work_group_broadcast(struct blr_spirv_batch *first, const struct blr_spirv_op *op, unsigned char *result)
{
    (void)result;
    struct blr_spirv_worker *worker = first->worker;
    const struct blr_spirv_launch *launch = worker->launch;
    const uint32_t *shape = op->info; /* bytes of an id component, components and bytes of the value */
    uint32_t lane;
    struct blr_spirv_batch *asks = first_waiting(worker, &lane);
    uint64_t id[3] = {0, 0, 0};
    for (uint32_t c = 0; c < op->literal; c++)
        memcpy(&id[c], (const unsigned char *)blr_register(asks, op->in[1]) + (c * BLR_LANES + lane) * (size_t)shape[0],
               shape[0]);
    if (id[0] >= launch->local[0] || id[1] >= launch->local[1] || id[2] >= launch->local[2]) {
        blr_spirv_fault(asks, op, lane, BLR_RESULT_KERNEL_FAULT,
                        "asks for the value of the local id (%" PRIu64 ", %" PRIu64 ", %" PRIu64 ") in a work-group of (%" PRIu64
                        ", %" PRIu64 ", %" PRIu64 ")", id[0], id[1], id[2], launch->local[0], launch->local[1], launch->local[2]);
        return;
    }
    uint64_t index = (id[2] * launch->local[1] + id[1]) * launch->local[0] + id[0];
    const struct blr_spirv_batch *source = &worker->batches[index / BLR_LANES];
    for (uint32_t c = 0; c < shape[1]; c++) {
        unsigned char value[8];
        size_t size = shape[2], at = (size_t)c * BLR_LANES;
        memcpy(value, (const unsigned char *)blr_register(source, op->in[0]) + (at + index % BLR_LANES) * size, size);
        for (uint32_t n = 0; n < worker->batch_count; n++)
            for (uint32_t i = 0; i < BLR_LANES; i++)
                if ((worker->batches[n].waiting >> i & 1) != 0)
                    memcpy((unsigned char *)blr_register(&worker->batches[n], op->result) + (at + i) * size, value, size);
    }
}

/* ---------------------------------------------------------------- reductions and scans */

void blr_work_group_fold(struct blr_spirv_batch *first, const struct blr_spirv_op *op, unsigned char *result)
{
    (void)result;
    struct blr_spirv_worker *worker = first->worker;
    const struct blr_fold_use *use = op->info;
    for (uint32_t c = 0; c < use->components; c++) {
        size_t at = (size_t)c * BLR_LANES * use->size;
        uint64_t carry;
        use->run(NULL, NULL, 0, BLR_FOLD_START, &carry);
        for (int pass = 0; pass < (use->step == BLR_FOLD_REDUCE ? 2 : 1); pass++)
            for (uint32_t n = 0; n < worker->batch_count; n++) {
                const struct blr_spirv_batch *batch = &worker->batches[n];
                use->run((const unsigned char *)blr_register(batch, op->in[0]) + at,
                         (unsigned char *)blr_register(batch, op->result) + at, batch->waiting,
                         pass == 0 ? use->step : BLR_FOLD_SPREAD, &carry);
            }
    }
}

/* ---------------------------------------------------------------- copies */

/* Whether all waiting work-items have the same number. */
static bool agree(const struct blr_spirv_worker *worker, uint32_t place, uint64_t number)
{
    for (uint32_t n = 0; n < worker->batch_count; n++) {
        const uint64_t *numbers = blr_register(&worker->batches[n], place);
        for (uint32_t i = 0; i < BLR_LANES; i++)
            if ((worker->batches[n].waiting >> i & 1) != 0 && numbers[i] != number)
                return false;
    }
    return true;
}

void blr_work_group_copy(struct blr_spirv_batch *first, const struct blr_spirv_op *op, unsigned char *result)
{
    (void)result;
    struct blr_spirv_worker *worker = first->worker;
    const struct blr_async_copy *copy = op->info;
    uint32_t lane;
    struct blr_spirv_batch *batch = first_waiting(worker, &lane);
    uint64_t value[4];
    for (int k = 0; k < 4; k++) {
        value[k] = ((const uint64_t *)blr_register(batch, op->in[k]))[lane];
        if (!agree(worker, op->in[k], value[k])) {
            blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT,
                            "the work-items of a group give different arguments to a copy: all of them must give the "
                            "same ones");
            return;
        }
    }
    uint64_t to = value[0], from = value[1], stride = value[3] * copy->element;
    uint64_t to_step = copy->strided_target ? stride : copy->element, from_step = copy->strided_target ? copy->element : stride;
    for (uint64_t i = 0; i < value[2]; i++, to += to_step, from += from_step) {
        bool readable = blr_spirv_reachable(batch, from, copy->element, false);
        if (!readable || !blr_spirv_reachable(batch, to, copy->element, true)) {
            blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT,
                            "copies %s 0x%" PRIx64 ", element %" PRIu64 " of %" PRIu64 ", which kernels cannot %s",
                            readable ? "to" : "from", readable ? to : from, i, value[2], readable ? "write" : "read");
            return;
        }
        memmove((void *)(uintptr_t)to, (const void *)(uintptr_t)from, copy->element);
    }
}
