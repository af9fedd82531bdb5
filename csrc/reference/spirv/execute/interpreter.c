/* Execution of kernels: work-items and their built-in variables, batches, barriers, the time limit and faults. */
#include "spirv/execute/affine.h"
#include "spirv/execute/native_batches.h"
#include "spirv/execute/rows.h"
#include "spirv/waits/waits.h"
#include "spirv/execute/work_items.h"

#include "platform/threads.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PATIENCE 512u /* block executions between two reads of the clock */
#define SHORT_PATIENCE 64u /* the same where another work-group runs then */
#define ALIGNMENT 256u /* of a variable in local or private memory, at most */

/* Zeroed memory, aligned for variables and for vector instructions. */
static void *new_aligned(uint64_t size)
{
    unsigned char *raw = blr_new(size + 2 * ALIGNMENT);
    if (raw == NULL)
        return NULL;
    unsigned char *aligned = raw + ALIGNMENT + (ALIGNMENT - (uintptr_t)raw % ALIGNMENT) % ALIGNMENT;
    memcpy(aligned - sizeof raw, &raw, sizeof raw);
    return aligned;
}

static void delete_aligned(void *aligned)
{
    unsigned char *raw;
    if (aligned == NULL)
        return;
    memcpy(&raw, (unsigned char *)aligned - sizeof raw, sizeof raw);
    blr_delete(raw);
}

/* ---------------------------------------------------------------- time */

bool blr_spirv_may_go_on(struct blr_spirv_worker *worker)
{
    struct blr_spirv_launch *launch = worker->launch;
    worker->patience = launch->is_cooperative || worker->is_loose ? SHORT_PATIENCE : PATIENCE;
    if (worker->part >= atomic_load_explicit(&launch->end, memory_order_relaxed))
        return false;
    if (launch->deadline != 0 && blr_clock_now() > launch->deadline) {
        if (!worker->fault.happened) {
            worker->fault.happened = true;
            worker->result = BLR_RESULT_KERNEL_FAULT;
            snprintf(worker->fault.message, sizeof worker->fault.message,
                     "kernel '%.80s' was stopped after %g seconds: it does not end, or BINDLESS_REFERENCE_TIMEOUT needs "
                     "to be larger (0 for no limit)",
                     launch->name, launch->timeout);
        }
        atomic_store(&launch->end, 0);
        return false;
    }
    return true;
}

/* ---------------------------------------------------------------- batches */

/* Puts lanes at the start of the kernel: work-items from a position on, which it advances. */
static void start_batch(struct blr_spirv_batch *batch, uint64_t first_item, uint32_t lanes, struct blr_spirv_position *at)
{
    batch->first_item = first_item;
    batch->alive = lanes == BLR_LANES ? BLR_ALL_LANES : ((uint64_t)1 << lanes) - 1;
    batch->waiting = batch->resting = 0;
    batch->rests = 0;
    batch->is_loose = false;
    batch->resume = 0;
    blr_spirv_fill_builtins(batch, lanes, at);
    blr_spirv_fill_structs(batch);
    blr_spirv_arrive(batch, batch->worker->launch->program->first_block, batch->alive);
}

/* Runs the only batch until its lanes have returned. */
static bool run_whole_batch(struct blr_spirv_worker *worker)
{
    do {
        worker->pauses = false;
        if (!worker->launch->run_batch(worker->batches) || (worker->pauses && --worker->patience == 0 && !blr_spirv_may_go_on(worker)))
            return false;
    } while (worker->pauses);
    return true;
}

bool blr_spirv_run_items(struct blr_spirv_worker *worker, uint64_t begin, uint64_t end)
{
    const struct blr_spirv_launch *launch = worker->launch;
    struct blr_spirv_position at = blr_spirv_position_of(launch, begin);
    uint64_t items;
    for (uint64_t item = begin; item < end; item += items) {
        const uint64_t rest = end - item, row = blr_spirv_row_from(launch, &at);
        items = blr_spirv_native_items(worker, &at, rest);
        if (items > 0) {
            if (!blr_spirv_native_run_items(worker, item, items, &at))
                return false;
            continue;
        }
        bool goes_on = true;
        items = worker->row != NULL ? BLR_LANES * blr_spirv_run_row(worker, item, (row < rest ? row : rest) / BLR_LANES, &at, &goes_on) : 0;
        if (!goes_on)
            return false;
        if (items > 0)
            continue;
        items = rest < BLR_LANES ? rest : BLR_LANES;
        if (!launch->program->uses_groups && row < items && row >= BLR_SHORTEST_ROW)
            items = row;
        start_batch(worker->batches, item, (uint32_t)items, &at);
        if (!run_whole_batch(worker))
            return false;
        if (--worker->patience == 0 && !blr_spirv_may_go_on(worker))
            return false;
    }
    return true;
}

/* Moves lanes that wait at different barriers to barrier 0, and releases what it can; false after a fault. */
static bool meet_at_numbers(struct blr_spirv_worker *worker)
{
    for (uint32_t i = 0; i < worker->batch_count; i++) {
        struct blr_spirv_batch *batch = &worker->batches[i];
        if (batch->waiting != 0)
            blr_barrier_wait_for_all(batch, batch->waiting_in, batch->waiting);
        batch->waiting = 0;
    }
    if (worker->holds != 0 && !worker->pauses && !blr_barriers_settle(worker))
        blr_barriers_fault(worker);
    return !worker->fault.happened;
}

/* Runs all batches of a group from barrier to barrier. A batch that paused goes on from there in the next call; one that
 * has ended or waits has no lanes to run. */
bool blr_spirv_run_group(struct blr_spirv_worker *worker)
{
    const struct blr_spirv_program *program = worker->launch->program;
    for (;;) {
        bool waits = false, differs = false;
        uint32_t at = 0;
        worker->pauses = false;
        for (uint32_t i = 0; i < worker->batch_count; i++) {
            struct blr_spirv_batch *batch = &worker->batches[i];
            if (!worker->launch->run_batch(batch))
                return false;
            if (batch->waiting == 0)
                continue;
            differs = differs || (waits && at != batch->waiting_in);
            if (differs && !program->is_independent) {
                blr_spirv_fault(batch, NULL, 0, BLR_RESULT_KERNEL_FAULT,
                                "work-items of one group wait at different barriers");
                return false;
            }
            waits = true;
            at = batch->waiting_in;
        }
        if ((!waits && worker->holds == 0 && !worker->pauses) || (worker->pauses && worker->launch->is_cooperative))
            return true;
        if (--worker->patience == 0 && !blr_spirv_may_go_on(worker))
            return false;
        if (worker->pauses)
            continue;
        if (differs || worker->holds != 0) {
            if (!meet_at_numbers(worker))
                return false;
            continue;
        }
        const struct blr_spirv_block *block = &program->blocks[at];
        if (block->meets) {
            const struct blr_spirv_op *op = &program->ops[block->meeting];
            op->run(worker->batches, op, NULL);
            if (worker->fault.happened)
                return false;
        }
        for (uint32_t i = 0; i < worker->batch_count; i++) {
            struct blr_spirv_batch *batch = &worker->batches[i];
            if (batch->waiting != 0)
                blr_spirv_arrive(batch, program->edges[block->first_edge].target, batch->waiting);
            batch->waiting = 0;
        }
    }
}

/* Puts the batches at the start of a group, from a position on, which they advance. */
static void start_batches(struct blr_spirv_worker *worker, uint64_t group, uint64_t size, struct blr_spirv_position *at)
{
    if (worker->program->is_independent)
        blr_barriers_start(worker);
    for (uint32_t i = 0; i < worker->batch_count; i++) {
        uint64_t first = (uint64_t)i * BLR_LANES, rest = size - first;
        start_batch(&worker->batches[i], group * size + first, rest < BLR_LANES ? (uint32_t)rest : BLR_LANES, at);
    }
}

void blr_spirv_start_group(struct blr_spirv_worker *worker, uint64_t group)
{
    const uint64_t *local = worker->launch->local, size = local[0] * local[1] * local[2];
    struct blr_spirv_position at = blr_spirv_position_of(worker->launch, group * size);
    worker->part = group;
    start_batches(worker, group, size, &at);
}

bool blr_spirv_run_groups(struct blr_spirv_worker *worker, uint64_t begin, uint64_t end)
{
    const struct blr_spirv_launch *launch = worker->launch;
    uint64_t size = launch->local[0] * launch->local[1] * launch->local[2];
    struct blr_spirv_position at = blr_spirv_position_of(launch, begin * size);
    if (blr_spirv_native_runs_groups(worker)) {
        for (uint64_t group = begin, row; group < end; group += row) {
            row = launch->groups[0] - group % launch->groups[0];
            row = row < end - group ? row : end - group;
            if (!blr_spirv_native_run_groups(worker, group, row, blr_spirv_run_group))
                return false;
        }
        return true;
    }
    for (uint64_t group = begin; group < end; group++) {
        start_batches(worker, group, size, &at);
        if (!blr_spirv_run_group(worker))
            return false;
        if (--worker->patience == 0 && !blr_spirv_may_go_on(worker))
            return false;
    }
    return true;
}

/* ---------------------------------------------------------------- workers */

static uint32_t words_of(const struct blr_spirv_program *program) { return (program->block_count + 63) / 64; }

static bool make_batch(struct blr_spirv_batch *batch, struct blr_spirv_worker *worker)
{
    const struct blr_spirv_program *program = worker->program;
    batch->worker = worker;
    batch->registers = new_aligned(program->register_bytes + 64);
    batch->scratch = new_aligned(program->scratch_bytes + 64);
    batch->private_memory = new_aligned(program->private_bytes * BLR_LANES + 64);
    batch->affine = blr_new((program->register_bytes / BLR_LANES + 1) * sizeof *batch->affine);
    batch->arrived = blr_new(program->block_count * sizeof(uint64_t));
    batch->occupied = blr_new(words_of(program) * sizeof(uint64_t));
    return batch->registers != NULL && batch->scratch != NULL && batch->private_memory != NULL && batch->affine != NULL && batch->arrived != NULL &&
           batch->occupied != NULL;
}

static void free_batch(struct blr_spirv_batch *batch)
{
    delete_aligned(batch->registers);
    delete_aligned(batch->scratch);
    delete_aligned(batch->private_memory);
    blr_delete(batch->affine);
    blr_delete(batch->arrived);
    blr_delete(batch->occupied);
}

/* Number of batches that a worker of the launch holds. */
static uint32_t batches_of(const struct blr_spirv_launch *launch)
{
    const bool grouped = launch->program->has_barriers || launch->program->uses_local || launch->is_cooperative;
    return grouped ? (uint32_t)((launch->local[0] * launch->local[1] * launch->local[2] + BLR_LANES - 1) / BLR_LANES) : 1;
}

bool blr_spirv_worker_fits(const struct blr_spirv_worker *worker, const struct blr_spirv_launch *launch)
{
    return batches_of(launch) <= worker->batch_room && launch->local_bytes <= worker->local_room;
}

uint64_t blr_spirv_worker_bytes(const struct blr_spirv_worker *worker)
{
    const struct blr_spirv_program *program = worker->program;
    return sizeof *worker + worker->local_room +
           worker->batch_room * (sizeof *worker->batches + program->register_bytes + program->scratch_bytes +
                                 program->register_bytes / BLR_LANES * sizeof *worker->batches->affine +
                                 program->private_bytes * BLR_LANES + program->block_count * sizeof(uint64_t));
}

void blr_spirv_worker_start(struct blr_spirv_worker *worker, struct blr_spirv_launch *launch)
{
    worker->launch = launch;
    worker->next = NULL;
    worker->patience = launch->is_cooperative ? SHORT_PATIENCE : PATIENCE;
    worker->pauses = worker->is_loose = false;
    blr_barriers_start(worker);
    worker->fault.happened = false;
    worker->batch_count = batches_of(launch);
    blr_spirv_fill_tables(worker);
    for (uint32_t i = 0; i < worker->batch_count; i++) {
        struct blr_spirv_batch *batch = &worker->batches[i];
        memset(batch->arrived, 0, launch->program->block_count * sizeof(uint64_t));
        memset(batch->occupied, 0, words_of(launch->program) * sizeof(uint64_t));
        blr_spirv_fill_presets(batch);
        blr_spirv_fill_launch_builtins(batch);
    }
    if (launch->native != NULL && worker->native == NULL)
        worker->native = blr_spirv_native_new(worker->program, worker->batch_room); /* without memory, the executor runs alone */
    if (launch->native != NULL && worker->native != NULL)
        blr_spirv_native_start(worker);
}

struct blr_spirv_worker *blr_spirv_worker_new(struct blr_spirv_launch *launch)
{
    struct blr_spirv_worker *worker = blr_new(sizeof *worker);
    if (worker == NULL)
        return NULL;
    worker->program = launch->program;
    worker->local_room = launch->local_bytes;
    worker->local = new_aligned(launch->local_bytes + 64);
    worker->batches = new_aligned(batches_of(launch) * sizeof *worker->batches);
    bool success = worker->local != NULL && worker->batches != NULL;
    if (success && blr_spirv_has_rows(launch->program)) {
        worker->row = blr_spirv_row_new();
        success = worker->row != NULL;
    }
    while (success && worker->batch_room < batches_of(launch))
        success = make_batch(&worker->batches[worker->batch_room++], worker);
    if (!success) {
        blr_spirv_worker_free(worker);
        return NULL;
    }
    blr_spirv_worker_start(worker, launch);
    return worker;
}

void blr_spirv_worker_rest(struct blr_spirv_worker *worker)
{
    for (uint32_t i = 0; i < worker->range_count; i++)
        blr_memory_release(worker->ranges[i].allocation);
    worker->range_count = worker->range_next = 0;
    for (uint32_t i = 0; i < BLR_SPIRV_CACHED_VIEWS; i++)
        if (worker->views[i] != NULL)
            blr_image_view_release(worker->views[i]);
    memset(worker->views, 0, sizeof worker->views);
    if (worker->pairs != NULL)
        memset(worker->pairs, 0, BLR_SPIRV_CACHED_PAIRS * sizeof *worker->pairs);
    worker->launch = NULL;
}

void blr_spirv_worker_free(struct blr_spirv_worker *worker)
{
    if (worker == NULL)
        return;
    blr_spirv_worker_rest(worker);
    for (uint32_t i = 0; i < worker->batch_room; i++)
        free_batch(&worker->batches[i]);
    blr_spirv_native_free(worker->native);
    blr_delete(worker->row);
    blr_delete(worker->pairs);
    delete_aligned(worker->batches);
    delete_aligned(worker->local);
    blr_delete(worker);
}

/* ---------------------------------------------------------------- faults */

/* The work-item as kernels know it: item_id(0) first, the dimension that varies fastest last. */
static void name_item(const struct blr_spirv_launch *launch, const struct blr_spirv_position *at, char *text, size_t size)
{
    static const char *const names[] = {"column ", "row ", "plane "};
    size_t used = 0;
    for (uint32_t d = launch->dimensions; d-- > 0 && used < size;)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRIu64 "%s", launch->dimensions > 1 ? names[d] : "",
                                 at->group[d] * launch->local[d] + at->local[d] + launch->offset[d], d > 0 ? ", " : "");
}

void blr_spirv_fault(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint32_t lane, blr_result_t result,
                     const char *format, ...)
{
    struct blr_spirv_worker *worker = batch->worker;
    struct blr_spirv_launch *launch = worker->launch;
    if (worker->fault.happened)
        return;
    char sentence[320], place[240] = "";
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    struct blr_spirv_position at = blr_spirv_position_of(launch, batch->first_item + lane);
    const struct blr_spirv_program *program = launch->program;
    if (op != NULL &&
        (program->module_count != 1 || !blr_spirv_source_line(program->modules, op->word, place, sizeof place)))
        snprintf(place, sizeof place, " (SPIR-V word %u)", op->word);
    char item[120];
    name_item(launch, &at, item, sizeof item);
    worker->fault.happened = true;
    worker->result = result;
    batch->end = NULL;
    snprintf(worker->fault.message, sizeof worker->fault.message, "kernel '%.80s', item_id (%s): %s%s", launch->name, item,
             sentence, place);
    uint64_t end = atomic_load(&launch->end);
    while (worker->part < end && !atomic_compare_exchange_weak(&launch->end, &end, worker->part))
        ;
}
