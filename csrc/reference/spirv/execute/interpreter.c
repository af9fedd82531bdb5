/* Execution of kernels: work-items and their built-in variables, batches, barriers, the time limit and faults. */
#include "spirv/execute/affine.h"

#include "platform/threads.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PATIENCE 512u /* block executions between two reads of the clock */
#define ALIGNMENT 64u
#define SHORTEST_ROW 16u /* work-items of a row that are worth a batch of their own */

/* Zeroed memory aligned to 64 bytes, for vector instructions. */
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
    worker->patience = PATIENCE;
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

/* ---------------------------------------------------------------- work-items */

static void fill_scalar(unsigned char *place, uint8_t size, uint64_t bytes)
{
    switch (size) {
    case 1: memset(place, (int)(bytes & 0xff), BLR_LANES); return;
    case 2:
        for (uint32_t i = 0; i < BLR_LANES; i++)
            ((uint16_t *)place)[i] = (uint16_t)bytes;
        return;
    case 4:
        for (uint32_t i = 0; i < BLR_LANES; i++)
            ((uint32_t *)place)[i] = (uint32_t)bytes;
        return;
    default:
        for (uint32_t i = 0; i < BLR_LANES; i++)
            ((uint64_t *)place)[i] = bytes;
    }
}

/* Fills presets that are the same for all work-items: constants, arguments, addresses of variables. */
static void fill_presets(struct blr_spirv_batch *batch)
{
    const struct blr_spirv_launch *launch = batch->worker->launch;
    const struct blr_spirv_program *program = launch->program;
    uint64_t local = (uint64_t)(uintptr_t)batch->worker->local;
    uint64_t own = (uint64_t)(uintptr_t)batch->private_memory;
    for (uint32_t i = 0; i < program->preset_count; i++) {
        const struct blr_spirv_preset *preset = &program->presets[i];
        unsigned char *place = batch->registers + preset->place;
        uint64_t bytes = preset->bytes;
        switch (preset->kind) {
        case BLR_PRESET_BYTES: break;
        case BLR_PRESET_ARGUMENT:
            if (launch->values[preset->argument] == NULL)
                bytes = local + launch->local_offsets[preset->argument];
            else
                memcpy(&bytes, launch->values[preset->argument] + preset->offset, preset->size);
            break;
        case BLR_PRESET_LOCAL: bytes = local + preset->offset; break;
        case BLR_PRESET_PRIVATE:
            for (uint32_t lane = 0; lane < BLR_LANES; lane++)
                ((uint64_t *)place)[lane] = own + lane * program->private_bytes + preset->offset;
            if (preset->is_affine)
                blr_affine_set(batch, preset->place, 8, own + preset->offset, program->private_bytes, true);
            continue;
        }
        fill_scalar(place, preset->size, bytes);
        if (preset->is_affine)
            blr_affine_set(batch, preset->place, preset->size, bytes, 0, true);
    }
}

/* Writes the variables that hold addresses in the work-group's memory. */
static void fill_tables(struct blr_spirv_worker *worker)
{
    const struct blr_spirv_program *program = worker->launch->program;
    for (uint32_t i = 0; i < program->table_count; i++) {
        const struct blr_spirv_table *table = &program->tables[i];
        memcpy(worker->local + table->offset, table->content->bytes, table->content->type->size);
        for (uint32_t k = 0; k < table->content->address_count; k++) {
            uint64_t address;
            unsigned char *place = worker->local + table->offset + table->content->addresses[k];
            memcpy(&address, place, sizeof address);
            address += (uint64_t)(uintptr_t)worker->local + table->base;
            memcpy(place, &address, sizeof address);
        }
    }
}

/* Copies structs passed by value into each work-item's private memory. */
static void fill_structs(struct blr_spirv_batch *batch)
{
    const struct blr_spirv_launch *launch = batch->worker->launch;
    const struct blr_spirv_program *program = launch->program;
    for (uint32_t i = 0; i < program->argument_count; i++)
        for (uint32_t lane = 0; program->arguments[i].by_value && lane < BLR_LANES; lane++)
            memcpy(batch->private_memory + lane * program->private_bytes + program->arguments[i].private_offset,
                   launch->values[i], program->arguments[i].size);
}

struct position {
    uint64_t group[3], local[3];
    uint64_t index; /* index within the group */
};

static struct position position_of(const struct blr_spirv_launch *launch, uint64_t item)
{
    struct position at;
    uint64_t size = launch->local[0] * launch->local[1] * launch->local[2];
    uint64_t group = item / size, local = item % size;
    at.index = local;
    at.group[0] = group % launch->groups[0];
    at.group[1] = group / launch->groups[0] % launch->groups[1];
    at.group[2] = group / launch->groups[0] / launch->groups[1];
    at.local[0] = local % launch->local[0];
    at.local[1] = local / launch->local[0] % launch->local[1];
    at.local[2] = local / launch->local[0] / launch->local[1];
    return at;
}

/* Increments a number of three digits, the first fastest; false on overflow. */
static bool count_up(uint64_t *number, const uint64_t *limit)
{
    for (int c = 0; c < 3; c++) {
        if (++number[c] < limit[c])
            return true;
        number[c] = 0;
    }
    return false;
}

/* Number of work-items from a position on that differ in their first coordinate only: the rest of a row of the
 * work-group, or for work-groups of one work-item, the rest of a row of groups. */
static uint64_t row_from(const struct blr_spirv_launch *launch, const struct position *at)
{
    const bool single = launch->local[0] * launch->local[1] * launch->local[2] == 1;
    return single ? launch->groups[0] - at->group[0] : launch->local[0] - at->local[0];
}

/* Advances within such a row, or from its end to the next one. */
static void advance(const struct blr_spirv_launch *launch, struct position *at, uint64_t items)
{
    if (launch->local[0] * launch->local[1] * launch->local[2] == 1) {
        at->group[0] += items - 1;
        count_up(at->group, launch->groups);
        return;
    }
    at->index += items;
    at->local[0] += items - 1;
    if (!count_up(at->local, launch->local)) {
        at->index = 0;
        count_up(at->group, launch->groups);
    }
}

/* Mask of the lanes above or below one, in sub-groups of a size. */
static uint64_t lane_mask(enum blr_spirv_builtin what, uint64_t lane, uint64_t size)
{
    const uint64_t own = (uint64_t)1 << lane, all = BLR_ALL_LANES >> (BLR_LANES - size);
    switch (what) {
    case BLR_BUILTIN_SUBGROUP_EQ_MASK: return own;
    case BLR_BUILTIN_SUBGROUP_GE_MASK: return all & ~(own - 1);
    case BLR_BUILTIN_SUBGROUP_GT_MASK: return all & ~(own - 1) & ~own;
    case BLR_BUILTIN_SUBGROUP_LE_MASK: return own | (own - 1);
    default: return own - 1;
    }
}

static uint64_t builtin_value(const struct blr_spirv_launch *launch, const struct position *at,
                              enum blr_spirv_builtin what, uint32_t c)
{
    const uint64_t size = launch->local[0] * launch->local[1] * launch->local[2], lanes = launch->program->sub_group_size;
    switch (what) {
    case BLR_BUILTIN_NUM_WORKGROUPS: return launch->groups[c];
    case BLR_BUILTIN_WORKGROUP_SIZE:
    case BLR_BUILTIN_ENQUEUED_WORKGROUP_SIZE: return launch->local[c];
    case BLR_BUILTIN_WORKGROUP_ID: return at->group[c];
    case BLR_BUILTIN_LOCAL_INVOCATION_ID: return at->local[c];
    case BLR_BUILTIN_GLOBAL_INVOCATION_ID: return at->group[c] * launch->local[c] + at->local[c] + launch->offset[c];
    case BLR_BUILTIN_LOCAL_INVOCATION_INDEX: return at->index;
    case BLR_BUILTIN_WORK_DIM: return launch->dimensions;
    case BLR_BUILTIN_GLOBAL_SIZE: return launch->global[c];
    case BLR_BUILTIN_GLOBAL_OFFSET: return launch->offset[c];
    case BLR_BUILTIN_GLOBAL_LINEAR_ID: {
        uint64_t x = at->group[0] * launch->local[0] + at->local[0];
        uint64_t y = at->group[1] * launch->local[1] + at->local[1];
        uint64_t z = at->group[2] * launch->local[2] + at->local[2];
        return (z * launch->global[1] + y) * launch->global[0] + x;
    }
    case BLR_BUILTIN_SUBGROUP_SIZE: {
        uint64_t rest = size - at->index / lanes * lanes;
        return rest < lanes ? rest : lanes;
    }
    case BLR_BUILTIN_SUBGROUP_MAX_SIZE: return size < lanes ? size : lanes;
    case BLR_BUILTIN_NUM_SUBGROUPS:
    case BLR_BUILTIN_NUM_ENQUEUED_SUBGROUPS: return (size + lanes - 1) / lanes;
    case BLR_BUILTIN_SUBGROUP_ID: return at->index / lanes;
    case BLR_BUILTIN_SUBGROUP_LOCAL_INVOCATION_ID: return at->index % lanes;
    case BLR_BUILTIN_SUBGROUP_EQ_MASK:
    case BLR_BUILTIN_SUBGROUP_GE_MASK:
    case BLR_BUILTIN_SUBGROUP_GT_MASK:
    case BLR_BUILTIN_SUBGROUP_LE_MASK:
    case BLR_BUILTIN_SUBGROUP_LT_MASK: return c < 2 ? lane_mask(what, at->index % lanes, size < lanes ? size : lanes) >> 32 * c & UINT32_MAX : 0;
    }
    return 0;
}

/* Whether a built-in variable is the same for all work-items of a launch. */
static bool is_of_launch(enum blr_spirv_builtin what)
{
    switch (what) {
    case BLR_BUILTIN_NUM_WORKGROUPS:
    case BLR_BUILTIN_WORKGROUP_SIZE:
    case BLR_BUILTIN_ENQUEUED_WORKGROUP_SIZE:
    case BLR_BUILTIN_WORK_DIM:
    case BLR_BUILTIN_GLOBAL_SIZE:
    case BLR_BUILTIN_GLOBAL_OFFSET: return true;
    default: return false;
    }
}

/* Behaviour of a built-in variable along a row: increments by 1, stays constant, or neither. */
enum course { COURSE_COUNTS, COURSE_STAYS, COURSE_OTHER };

static enum course course_of(enum blr_spirv_builtin what, uint32_t c, bool single)
{
    switch (what) {
    case BLR_BUILTIN_GLOBAL_INVOCATION_ID: return c == 0 ? COURSE_COUNTS : COURSE_STAYS;
    case BLR_BUILTIN_GLOBAL_LINEAR_ID: return COURSE_COUNTS;
    case BLR_BUILTIN_WORKGROUP_ID: return c == 0 && single ? COURSE_COUNTS : COURSE_STAYS;
    case BLR_BUILTIN_LOCAL_INVOCATION_ID: return c == 0 && !single ? COURSE_COUNTS : COURSE_STAYS;
    case BLR_BUILTIN_LOCAL_INVOCATION_INDEX: return single ? COURSE_STAYS : COURSE_COUNTS;
    default: return COURSE_OTHER;
    }
}

static void fill_row(unsigned char *place, uint8_t size, uint64_t value, bool counts, size_t count)
{
    uint32_t *narrow = (uint32_t *)(void *)place;
    uint64_t *wide = (uint64_t *)(void *)place;
    if (size == 4 && counts)
        for (size_t i = 0; i < count; i++)
            narrow[i] = (uint32_t)value + (uint32_t)i;
    else if (size == 4)
        for (size_t i = 0; i < count; i++)
            narrow[i] = (uint32_t)value;
    else if (counts)
        for (size_t i = 0; i < count; i++)
            wide[i] = value + i;
    else
        for (size_t i = 0; i < count; i++)
            wide[i] = value;
}

/* Fills one component for count lanes that lie in a row; whole: they are all lanes of the batch. */
static void fill_component(struct blr_spirv_batch *batch, const struct blr_spirv_builtin_use *use, uint32_t c, uint32_t lane,
                           uint32_t count, const struct position *at, bool single, bool whole)
{
    const struct blr_spirv_launch *launch = batch->worker->launch;
    const uint32_t first = use->place + c * use->size * BLR_LANES;
    unsigned char *place = batch->registers + first + (size_t)lane * use->size;
    const enum course course = course_of(use->what, c, single);
    const bool is_affine = whole && course != COURSE_OTHER && use->is_affine;
    struct position item = *at;
    if (is_affine)
        blr_affine_set(batch, first, use->size, builtin_value(launch, at, use->what, c), course == COURSE_COUNTS, use->has_lanes);
    else
        blr_affine_at(batch, first)->is_affine = false;
    if (is_affine && !use->has_lanes)
        return;
    if (course != COURSE_OTHER)
        fill_row(place, use->size, builtin_value(launch, at, use->what, c), course == COURSE_COUNTS, count);
    else
        for (uint32_t n = 0; n < count; n++, item.index += single ? 0 : 1)
            fill_row(place + (size_t)n * use->size, use->size, builtin_value(launch, &item, use->what, c), false, 1);
}

/* Fills the built-in variables for the work-items from a position on, and advances it to the one behind them. */
static void fill_builtins(struct blr_spirv_batch *batch, uint32_t lanes, struct position *at)
{
    const struct blr_spirv_launch *launch = batch->worker->launch;
    const struct blr_spirv_program *program = launch->program;
    const bool single = launch->local[0] * launch->local[1] * launch->local[2] == 1;
    for (uint32_t lane = 0; lane < lanes;) {
        const uint64_t row = row_from(launch, at);
        const uint32_t count = row < lanes - lane ? (uint32_t)row : lanes - lane;
        for (uint32_t i = 0; i < program->builtin_count; i++) {
            const struct blr_spirv_builtin_use *use = &program->builtins[i];
            for (uint32_t c = 0; c < use->components && !is_of_launch(use->what); c++)
                if (!use->is_affine || use->has_lanes || (use->reads >> c * use->size & 1) != 0)
                    fill_component(batch, use, c, lane, count, at, single, count == lanes);
        }
        advance(launch, at, count);
        lane += count;
    }
}

/* Fills the launch's uniform built-in variables, once for all batches that run in these registers. */
static void fill_launch_builtins(struct blr_spirv_batch *batch)
{
    const struct blr_spirv_launch *launch = batch->worker->launch;
    const struct position start = {.index = 0};
    for (uint32_t i = 0; i < launch->program->builtin_count; i++) {
        const struct blr_spirv_builtin_use *use = &launch->program->builtins[i];
        for (uint32_t c = 0; c < use->components && is_of_launch(use->what); c++) {
            const uint32_t place = use->place + c * use->size * BLR_LANES;
            const uint64_t value = builtin_value(launch, &start, use->what, c);
            fill_scalar(batch->registers + place, use->size, value);
            if (use->is_affine)
                blr_affine_set(batch, place, use->size, value, 0, true);
        }
    }
}

/* Puts lanes at the start of the kernel: work-items from a position on, which it advances. */
static void start_batch(struct blr_spirv_batch *batch, uint64_t first_item, uint32_t lanes, struct position *at)
{
    batch->first_item = first_item;
    batch->alive = lanes == BLR_LANES ? BLR_ALL_LANES : ((uint64_t)1 << lanes) - 1;
    batch->waiting = 0;
    fill_builtins(batch, lanes, at);
    fill_structs(batch);
    blr_spirv_arrive(batch, batch->worker->launch->program->first_block, batch->alive);
}

bool blr_spirv_run_items(struct blr_spirv_worker *worker, uint64_t begin, uint64_t end)
{
    const struct blr_spirv_launch *launch = worker->launch;
    struct position at = position_of(launch, begin);
    uint32_t lanes;
    for (uint64_t item = begin; item < end; item += lanes) {
        const uint64_t rest = end - item, row = row_from(launch, &at);
        lanes = rest < BLR_LANES ? (uint32_t)rest : BLR_LANES;
        if (!launch->program->uses_groups && row < lanes && row >= SHORTEST_ROW)
            lanes = (uint32_t)row;
        start_batch(worker->batches, item, lanes, &at);
        if (!worker->launch->run_batch(worker->batches))
            return false;
        if (--worker->patience == 0 && !blr_spirv_may_go_on(worker))
            return false;
    }
    return true;
}

/* Runs all batches of a group from barrier to barrier. */
static bool run_group(struct blr_spirv_worker *worker)
{
    const struct blr_spirv_program *program = worker->launch->program;
    for (;;) {
        uint64_t waiting = 0;
        uint32_t at = 0;
        for (uint32_t i = 0; i < worker->batch_count; i++) {
            struct blr_spirv_batch *batch = &worker->batches[i];
            if (!worker->launch->run_batch(batch))
                return false;
            if (batch->waiting == 0)
                continue;
            if (waiting != 0 && at != batch->waiting_in) {
                blr_spirv_fault(batch, NULL, 0, BLR_RESULT_KERNEL_FAULT,
                                "work-items of one group wait at different barriers");
                return false;
            }
            waiting = 1;
            at = batch->waiting_in;
        }
        if (waiting == 0)
            return true;
        if (--worker->patience == 0 && !blr_spirv_may_go_on(worker))
            return false;
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

bool blr_spirv_run_groups(struct blr_spirv_worker *worker, uint64_t begin, uint64_t end)
{
    const struct blr_spirv_launch *launch = worker->launch;
    uint64_t size = launch->local[0] * launch->local[1] * launch->local[2];
    struct position at = position_of(launch, begin * size);
    for (uint64_t group = begin; group < end; group++) {
        for (uint32_t i = 0; i < worker->batch_count; i++) {
            uint64_t first = (uint64_t)i * BLR_LANES, rest = size - first;
            start_batch(&worker->batches[i], group * size + first, rest < BLR_LANES ? (uint32_t)rest : BLR_LANES, &at);
        }
        if (!run_group(worker))
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
    const bool grouped = launch->program->has_barriers || launch->program->uses_local;
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
    worker->patience = PATIENCE;
    worker->fault.happened = false;
    worker->batch_count = batches_of(launch);
    fill_tables(worker);
    for (uint32_t i = 0; i < worker->batch_count; i++) {
        struct blr_spirv_batch *batch = &worker->batches[i];
        memset(batch->arrived, 0, launch->program->block_count * sizeof(uint64_t));
        memset(batch->occupied, 0, words_of(launch->program) * sizeof(uint64_t));
        fill_presets(batch);
        fill_launch_builtins(batch);
    }
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
    blr_delete(worker->pairs);
    delete_aligned(worker->batches);
    delete_aligned(worker->local);
    blr_delete(worker);
}

/* ---------------------------------------------------------------- faults */

/* The work-item as kernels know it: item_id(0) first, the dimension that varies fastest last. */
static void name_item(const struct blr_spirv_launch *launch, const struct position *at, char *text, size_t size)
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
    struct position at = position_of(launch, batch->first_item + lane);
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
