/* The executor's part of native code: memory that it may access, and the way back from it. */
#include "spirv/execute/native_batches.h"

#include "spirv/execute/affine.h"
#include "spirv/native/native_code.h"

#include <string.h>

struct blr_spirv_native {
    struct blr_native_frame frame;
    struct blr_spirv_worker *worker;
    struct blr_native_window *windows; /* by operation: the memory that it accessed last */
    unsigned long long *numbers;
    unsigned long long *offsets;       /* by batch */
    bool is_able;                      /* to run the launch */
    uint64_t first_item, items;        /* of the first group of the call; of a group */
    struct blr_native_batch *batches;
};

struct blr_spirv_native *blr_spirv_native_new(const struct blr_spirv_program *program, uint32_t batches)
{
    struct blr_spirv_native *native = blr_new(sizeof *native);
    const uint32_t components = blr_native_components_of_builtins(program);
    if (native == NULL)
        return NULL;
    native->windows = blr_new((program->op_count + 1u) * sizeof *native->windows);
    native->numbers = blr_new((program->preset_count + 2u * (size_t)components + 1u) * sizeof *native->numbers);
    native->offsets = blr_new(((size_t)batches * components + 1u) * sizeof *native->offsets);
    native->batches = blr_new(batches * sizeof *native->batches);
    if (native->windows != NULL && native->numbers != NULL && native->offsets != NULL && native->batches != NULL)
        return native;
    blr_spirv_native_free(native);
    return NULL;
}

void blr_spirv_native_free(struct blr_spirv_native *native)
{
    if (native == NULL)
        return;
    blr_delete(native->windows);
    blr_delete(native->numbers);
    blr_delete(native->offsets);
    blr_delete(native->batches);
    blr_delete(native);
}

/* ---------------------------------------------------------------- calls of the native code */

static struct blr_spirv_batch *batch_of(const struct blr_native_frame *frame)
{
    return &((const struct blr_spirv_native *)(const void *)frame)->worker->batches[frame->number];
}

static int reach(struct blr_native_frame *frame, unsigned op, unsigned long long address, unsigned long long size, int write)
{
    uint64_t begin, end;
    if (!blr_spirv_window(batch_of(frame), address, size, write != 0, &begin, &end))
        return 0;
    frame->windows[op] = (struct blr_native_window){begin, end};
    return 1;
}

static int go_on(struct blr_native_frame *frame) { return blr_spirv_may_go_on(batch_of(frame)->worker); }

static void take(struct blr_native_frame *frame, unsigned place) { blr_affine_at(batch_of(frame), place)->is_affine = false; }

static void spill(struct blr_native_frame *frame, unsigned place, unsigned size, unsigned long long base, unsigned long long stride)
{
    blr_affine_write(batch_of(frame)->registers + place, (uint8_t)size, base, stride);
    take(frame, place);
}

static void call(struct blr_native_frame *frame, unsigned number, unsigned place)
{
    struct blr_spirv_batch *batch = batch_of(frame);
    const struct blr_spirv_op *op = &batch->worker->launch->program->ops[number];
    (op->plain != NULL ? op->plain : op->run)(batch, op, batch->registers + place);
}

/* Runs an image instruction for the lanes of a mask; 0 after a fault. */
static int image(struct blr_native_frame *frame, unsigned number, unsigned place, unsigned long long mask)
{
    const struct blr_spirv_native *native = (const struct blr_spirv_native *)(const void *)frame;
    struct blr_spirv_batch *batch = batch_of(frame);
    const struct blr_spirv_op *op = &batch->worker->launch->program->ops[number];
    batch->mask = mask;
    batch->first_item = native->first_item + frame->group * native->items + (uint64_t)frame->number * BLR_LANES;
    op->run(batch, op, batch->registers + place);
    return !batch->worker->fault.happened;
}

/* ---------------------------------------------------------------- positions */

static bool is_single(const struct blr_spirv_launch *launch) { return launch->local[0] * launch->local[1] * launch->local[2] == 1; }

/* Notes the built-in variables at a position. step: work-items from one group of the call to the next, 0 for work-groups. */
static void note_builtins(struct blr_spirv_native *native, const struct blr_spirv_position *at, uint64_t step)
{
    const struct blr_spirv_launch *launch = native->worker->launch;
    const struct blr_spirv_program *program = launch->program;
    unsigned long long *next = native->numbers + program->preset_count;
    for (uint32_t i = 0; i < program->builtin_count; i++)
        for (uint32_t c = 0; c < program->builtins[i].components; c++) {
            const enum blr_spirv_builtin what = program->builtins[i].what;
            const uint64_t by_lane = blr_spirv_course_of(what, c, is_single(launch)) == BLR_COURSE_COUNTS;
            *next++ = blr_spirv_builtin_value(launch, at, what, c);
            if (step != 0)
                *next++ = by_lane * step;
            else if (what == BLR_BUILTIN_WORKGROUP_ID && c == 0)
                *next++ = 1;
            else if ((what == BLR_BUILTIN_GLOBAL_INVOCATION_ID && c == 0) || what == BLR_BUILTIN_GLOBAL_LINEAR_ID)
                *next++ = launch->local[0];
            else
                *next++ = 0;
        }
}

/* Notes by how much the built-in variables of each batch differ from the first one's. */
static void note_offsets(struct blr_spirv_native *native)
{
    const struct blr_spirv_launch *launch = native->worker->launch;
    const struct blr_spirv_program *program = launch->program;
    const struct blr_spirv_position first = {.index = 0};
    unsigned long long *next = native->offsets;
    for (uint32_t b = 0; b < native->worker->batch_count; b++) {
        const struct blr_spirv_position at = blr_spirv_position_of(launch, (uint64_t)b * BLR_LANES);
        for (uint32_t i = 0; i < program->builtin_count; i++)
            for (uint32_t c = 0; c < program->builtins[i].components; c++)
                *next++ = blr_spirv_builtin_value(launch, &at, program->builtins[i].what, c) -
                          blr_spirv_builtin_value(launch, &first, program->builtins[i].what, c);
    }
}

/* Whether a program reads positions that lanes do not count, or that they count, where work-groups have one work-item. */
static bool has_local_positions(const struct blr_spirv_program *program)
{
    for (uint32_t i = 0; i < program->builtin_count; i++)
        if (program->builtins[i].what == BLR_BUILTIN_WORKGROUP_ID || program->builtins[i].what == BLR_BUILTIN_LOCAL_INVOCATION_ID ||
            program->builtins[i].what == BLR_BUILTIN_LOCAL_INVOCATION_INDEX)
            return true;
    return false;
}

void blr_spirv_native_start(struct blr_spirv_worker *worker)
{
    struct blr_spirv_native *native = worker->native;
    const struct blr_spirv_program *program = worker->program;
    const uint32_t components = blr_native_components_of_builtins(program);
    native->worker = worker;
    native->is_able = !is_single(worker->launch) || !has_local_positions(program);
    memset(native->windows, 0, program->op_count * sizeof *native->windows);
    for (uint32_t i = 0; i < program->preset_count; i++)
        native->numbers[i] = blr_spirv_preset_value(&worker->batches[0], &program->presets[i]);
    for (uint32_t b = 0; b < worker->batch_count; b++)
        native->batches[b] = (struct blr_native_batch){.registers = worker->batches[b].registers,
                                                       .arrived = (unsigned long long *)(void *)worker->batches[b].arrived,
                                                       .offsets = native->offsets + (size_t)b * components};
    note_offsets(native);
    native->frame = (struct blr_native_frame){.batches = native->batches,
                                              .numbers = native->numbers,
                                              .windows = native->windows,
                                              .count = worker->batch_count,
                                              .patience = &worker->patience,
                                              .reach = reach,
                                              .go_on = go_on,
                                              .spill = spill,
                                              .take = take,
                                              .call = call,
                                              .image = image};
}

/* ---------------------------------------------------------------- the executor goes on */

/* Gives a batch of lanes to the executor as the native code has left it, and advances the position behind it. */
static void leave(struct blr_spirv_native *native, uint32_t number, uint64_t first_item, uint32_t lanes, struct blr_spirv_position *at)
{
    const struct blr_native_batch *from = &native->batches[number];
    const uint32_t block_count = native->worker->program->block_count;
    struct blr_spirv_batch *batch = &native->worker->batches[number];
    batch->first_item = first_item;
    batch->alive = from->alive;
    batch->waiting = from->waiting;
    batch->waiting_in = from->waiting_in;
    batch->resume = 0;
    blr_spirv_fill_builtins(batch, lanes, at);
    for (uint32_t b = 0; b < block_count; b++)
        if (batch->arrived[b] != 0)
            blr_spirv_arrive(batch, b, batch->arrived[b]);
    if (from->mask != 0)
        blr_spirv_arrive(batch, from->block, from->mask);
}

/* ---------------------------------------------------------------- rows */

static bool runs(const struct blr_spirv_worker *worker) { return worker->launch->native != NULL && worker->native != NULL && worker->native->is_able; }

uint64_t blr_spirv_native_items(const struct blr_spirv_worker *worker, const struct blr_spirv_position *at, uint64_t rest)
{
    const uint64_t row = runs(worker) ? blr_spirv_row_from(worker->launch, at) : 0;
    if (row >= rest)
        return rest;
    const uint64_t part = row % BLR_LANES;
    return part < BLR_SHORTEST_ROW || worker->program->uses_groups ? row - part : row;
}

/* Runs groups of the frame, each of one batch. */
static bool run_batches(struct blr_spirv_native *native, uint64_t first_item, uint64_t batches, uint32_t lanes)
{
    struct blr_spirv_worker *worker = native->worker;
    const struct blr_spirv_launch *launch = worker->launch;
    struct blr_native_frame *frame = &native->frame;
    frame->last = BLR_ALL_LANES >> (BLR_LANES - lanes);
    native->first_item = first_item;
    native->items = BLR_LANES;
    for (frame->group = 0, frame->groups = batches; frame->group < batches; frame->group++) {
        const unsigned end = launch->native(frame);
        if (end == BLR_NATIVE_DONE)
            return true;
        if (end == BLR_NATIVE_STOPPED)
            return false;
        const uint64_t first = first_item + frame->group * BLR_LANES;
        struct blr_spirv_position at = blr_spirv_position_of(launch, first);
        leave(native, 0, first, lanes, &at);
        worker->batches[0].resume = frame->op + 1;
        if (!launch->run_batch(&worker->batches[0]))
            return false;
        if (--worker->patience == 0 && !blr_spirv_may_go_on(worker))
            return false;
    }
    return true;
}

bool blr_spirv_native_run_items(struct blr_spirv_worker *worker, uint64_t first_item, uint64_t items, struct blr_spirv_position *at)
{
    struct blr_spirv_native *native = worker->native;
    const uint64_t whole = items / BLR_LANES * BLR_LANES;
    note_builtins(native, at, BLR_LANES);
    if (!run_batches(native, first_item, items / BLR_LANES, BLR_LANES))
        return false;
    if (items > whole && whole > 0) {
        struct blr_spirv_position rest = *at;
        blr_spirv_advance(worker->launch, &rest, whole);
        note_builtins(native, &rest, BLR_LANES);
    }
    blr_spirv_advance(worker->launch, at, items);
    return items == whole || run_batches(native, first_item + whole, 1, (uint32_t)(items - whole));
}

/* ---------------------------------------------------------------- work-groups */

bool blr_spirv_native_runs_groups(const struct blr_spirv_worker *worker)
{
    const uint64_t *local = worker->launch->local;
    return runs(worker) && !is_single(worker->launch) && (local[0] % BLR_LANES == 0 || local[1] * local[2] == 1);
}

bool blr_spirv_native_run_groups(struct blr_spirv_worker *worker, uint64_t first_group, uint64_t groups,
                                 bool (*run_group)(struct blr_spirv_worker *worker))
{
    struct blr_spirv_native *native = worker->native;
    const struct blr_spirv_launch *launch = worker->launch;
    const uint64_t size = launch->local[0] * launch->local[1] * launch->local[2];
    const uint32_t last = (uint32_t)(size - (worker->batch_count - 1) * (uint64_t)BLR_LANES);
    struct blr_native_frame *frame = &native->frame;
    const struct blr_spirv_position start = blr_spirv_position_of(launch, first_group * size);
    note_builtins(native, &start, 0);
    frame->last = BLR_ALL_LANES >> (BLR_LANES - last);
    native->first_item = first_group * size;
    native->items = size;
    for (frame->group = 0, frame->groups = groups; frame->group < groups; frame->group++) {
        const unsigned end = launch->native(frame);
        if (end == BLR_NATIVE_DONE)
            return true;
        if (end == BLR_NATIVE_STOPPED)
            return false;
        const uint64_t first = (first_group + frame->group) * size;
        struct blr_spirv_position at = blr_spirv_position_of(launch, first);
        for (uint32_t b = 0; b < worker->batch_count; b++)
            leave(native, b, first + (uint64_t)b * BLR_LANES, b + 1 < worker->batch_count ? BLR_LANES : last, &at);
        if (end == BLR_NATIVE_LEFT)
            worker->batches[frame->number].resume = frame->op + 1;
        if (!run_group(worker))
            return false;
        if (--worker->patience == 0 && !blr_spirv_may_go_on(worker))
            return false;
    }
    return true;
}
