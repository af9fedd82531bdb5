/* The executor's part of native code: memory that it may access, and the way back from it. */
#include "spirv/execute/native_batches.h"

#include "spirv/execute/affine.h"
#include "spirv/native/native_code.h"

#include <string.h>

struct place {
    struct blr_spirv_position position;
    uint32_t lanes;
};

struct blr_spirv_native {
    struct blr_native_frame frame;
    struct blr_native_window *windows;  /* by operation: the memory that it accessed last */
    unsigned long long *numbers;        /* of every batch */
    struct place *places;               /* of every batch */
    uint32_t number_count;
};

struct blr_spirv_native *blr_spirv_native_new(const struct blr_spirv_program *program, uint32_t batches)
{
    struct blr_spirv_native *native = blr_new(sizeof *native);
    if (native == NULL)
        return NULL;
    native->number_count = blr_native_numbers(program);
    native->windows = blr_new((program->op_count + 1u) * sizeof *native->windows);
    native->numbers = blr_new((size_t)batches * (native->number_count + 1u) * sizeof *native->numbers);
    native->places = blr_new(batches * sizeof *native->places);
    if (native->windows != NULL && native->numbers != NULL && native->places != NULL)
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
    blr_delete(native->places);
    blr_delete(native);
}

/* ---------------------------------------------------------------- calls of the native code */

static int reach(struct blr_native_frame *frame, unsigned op, unsigned long long address, unsigned long long size, int write)
{
    uint64_t begin, end;
    if (!blr_spirv_window(frame->batch, address, size, write != 0, &begin, &end))
        return 0;
    frame->windows[op] = (struct blr_native_window){begin, end};
    return 1;
}

static int go_on(struct blr_native_frame *frame)
{
    const struct blr_spirv_batch *batch = frame->batch;
    return blr_spirv_may_go_on(batch->worker);
}

static void take(struct blr_native_frame *frame, unsigned place) { blr_affine_at(frame->batch, place)->is_affine = false; }

static void spill(struct blr_native_frame *frame, unsigned place, unsigned size, unsigned long long base, unsigned long long stride)
{
    blr_affine_write(frame->registers + place, (uint8_t)size, base, stride);
    take(frame, place);
}

static void call(struct blr_native_frame *frame, unsigned number, unsigned place)
{
    struct blr_spirv_batch *batch = frame->batch;
    const struct blr_spirv_op *op = &batch->worker->launch->program->ops[number];
    (op->plain != NULL ? op->plain : op->run)(batch, op, frame->registers + place);
}

/* ---------------------------------------------------------------- batches */

void blr_spirv_native_start(struct blr_spirv_worker *worker)
{
    struct blr_spirv_native *native = worker->native;
    const struct blr_spirv_program *program = worker->program;
    memset(native->windows, 0, program->op_count * sizeof *native->windows);
    for (uint32_t n = 0; n < worker->batch_count; n++)
        for (uint32_t i = 0; i < program->preset_count; i++)
            native->numbers[n * native->number_count + i] =
                blr_spirv_preset_value(&worker->batches[n], &program->presets[i]);
    native->frame = (struct blr_native_frame){.windows = native->windows,
                                              .patience = &worker->patience,
                                              .reach = reach,
                                              .go_on = go_on,
                                              .spill = spill,
                                              .take = take,
                                              .call = call};
}

static unsigned long long *numbers_of(const struct blr_spirv_batch *batch)
{
    const struct blr_spirv_native *native = batch->worker->native;
    return native->numbers + (size_t)(batch - batch->worker->batches) * native->number_count;
}

void blr_spirv_native_place(struct blr_spirv_batch *batch, uint32_t lanes, struct blr_spirv_position *at)
{
    const struct blr_spirv_launch *launch = batch->worker->launch;
    const struct blr_spirv_program *program = launch->program;
    const bool single = launch->local[0] * launch->local[1] * launch->local[2] == 1;
    unsigned long long *next = numbers_of(batch) + program->preset_count;
    batch->worker->native->places[batch - batch->worker->batches] = (struct place){*at, lanes};
    for (uint32_t i = 0; i < program->builtin_count; i++)
        for (uint32_t c = 0; c < program->builtins[i].components; c++) {
            const enum blr_spirv_builtin what = program->builtins[i].what;
            *next++ = blr_spirv_builtin_value(launch, at, what, c);
            *next++ = blr_spirv_course_of(what, c, single) == BLR_COURSE_COUNTS;
        }
    batch->is_native = true;
    blr_spirv_advance(launch, at, lanes);
}

/* Goes on in the executor, before an operation. */
static bool leave(struct blr_spirv_batch *batch, const struct blr_native_frame *frame)
{
    const struct blr_spirv_program *program = batch->worker->launch->program;
    struct place place = batch->worker->native->places[batch - batch->worker->batches];
    batch->is_native = false;
    blr_spirv_fill_builtins(batch, place.lanes, &place.position);
    for (uint32_t b = 0; b < program->block_count; b++)
        if (batch->arrived[b] != 0)
            blr_spirv_arrive(batch, b, batch->arrived[b]);
    blr_spirv_arrive(batch, frame->block, frame->mask);
    batch->resume = frame->op + 1;
    return batch->worker->launch->run_batch(batch);
}

bool blr_spirv_native_run(struct blr_spirv_batch *batch)
{
    const struct blr_spirv_launch *launch = batch->worker->launch;
    struct blr_native_frame *frame = &batch->worker->native->frame;
    uint32_t block = 0;
    while (block < launch->program->block_count && batch->arrived[block] == 0)
        block++;
    if (block == launch->program->block_count)
        return true; /* all lanes have returned */
    frame->batch = batch;
    frame->registers = batch->registers;
    frame->arrived = (unsigned long long *)(void *)batch->arrived;
    frame->numbers = numbers_of(batch);
    frame->block = block;
    frame->mask = batch->arrived[block];
    frame->alive = batch->alive;
    batch->arrived[block] = 0;
    batch->occupied[block / 64] &= ~((uint64_t)1 << block % 64);
    const unsigned end = launch->native(frame);
    if (end == BLR_NATIVE_STOPPED)
        return false;
    batch->alive = frame->alive;
    batch->waiting = frame->waiting;
    batch->waiting_in = frame->waiting_in;
    return end == BLR_NATIVE_DONE || leave(batch, frame);
}
