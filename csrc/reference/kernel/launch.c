/* Kernel launches: argument checks, retention of the memory and images used, and execution over a range of
 * work-items. */
#include "kernel/launch.h"

#include "runtime/device.h"
#include "image/image_handle.h"
#include "kernel/module.h"
#include "runtime/queue.h"
#include "memory/host_registration.h"
#include "spirv/execute/interpreter.h"
#include "spirv/execute/isa_operations.h"
#include "platform/thread_pool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <unistd.h>
#endif

#define BRIEF_ITEMS 4096u
#define INSTANT_OPERATIONS 64u /* of a batch: runs in a few microseconds */
#define SMALLEST_PART 1024u /* work-items of a thread's part at least */
/* Granularity of a work-group's local memory, as on GPUs: some kernels read an element past the end of their
 * allocation. */
#define LOCAL_UNIT ((uint64_t)1024)
#define MAX_LOCAL_BYTES ((uint64_t)64 << 20)

struct launch_command {
    struct blr_command command;
    struct blr_kernel *kernel; /* retained */
    struct blr_spirv_launch launch;
    struct blr_allocation **allocations; /* retained; stored behind the arrays below while they fit */
    uint32_t room;                       /* capacity of allocations */
    bool is_separate;                    /* allocations is a separate memory block */
    uint32_t view_count;
    /* Stored behind the command, one element for each argument: */
    const unsigned char **value_of;
    uint64_t *local_offsets;
    struct blr_image_view **views;       /* retained */
    unsigned char *values;               /* bytes of all arguments */
};

static void release(struct blr_command *command)
{
    struct launch_command *own = (struct launch_command *)command;
    for (uint32_t i = 0; i < own->launch.allocation_count; i++)
        blr_memory_release(own->allocations[i]);
    for (uint32_t i = 0; i < own->view_count; i++)
        blr_image_view_release(own->views[i]);
    if (own->is_separate)
        blr_delete(own->allocations);
    if (own->kernel != NULL)
        blr_kernel_release(own->kernel);
}

/* ---------------------------------------------------------------- execution */

/* One execution of a launch. The launch itself is not modified: it may execute again, and on several threads at a
 * time. */
struct run {
    struct blr_kernel *kernel;
    struct blr_spirv_launch launch;
    blr_mutex_t mutex;
    struct blr_spirv_worker *idle;   /* guarded by the mutex */
    struct blr_spirv_worker *failed;
    bool no_memory;
};

static struct blr_spirv_worker *take_worker(struct run *run)
{
    blr_mutex_lock(&run->mutex);
    struct blr_spirv_worker *worker = run->idle;
    if (worker != NULL)
        run->idle = worker->next;
    blr_mutex_unlock(&run->mutex);
    return worker != NULL ? worker : blr_kernel_take_worker(run->kernel, &run->launch);
}

static bool run_part(void *argument, uint64_t begin, uint64_t end)
{
    struct run *run = argument;
    if (begin >= atomic_load_explicit(&run->launch.end, memory_order_relaxed))
        return false;
    struct blr_spirv_worker *worker = take_worker(run);
    bool grouped = run->launch.program->has_barriers || run->launch.program->uses_local;
    if (worker == NULL)
        atomic_store(&run->launch.end, 0);
    else
        worker->part = begin;
    bool done = worker != NULL &&
                (grouped ? blr_spirv_run_groups(worker, begin, end) : blr_spirv_run_items(worker, begin, end));
    blr_mutex_lock(&run->mutex);
    if (worker == NULL) {
        run->no_memory = true;
    } else {
        if (worker->fault.happened && (run->failed == NULL || worker->part < run->failed->part)) {
            struct blr_spirv_worker *later = run->failed;
            run->failed = worker;
            worker = later;
        }
        if (worker != NULL) {
            worker->next = run->idle;
            run->idle = worker;
        }
    }
    blr_mutex_unlock(&run->mutex);
    return done;
}

/* Work-groups of a cooperative launch that can go on, each with a worker of its own. Threads take the first and put it
 * back behind the others: no thread waits for another one. */
struct ring {
    struct run *run;
    struct blr_spirv_worker **workers;
    uint64_t count, first, length; /* of the array; of those in the ring, guarded by the run's mutex */
};

static bool run_ring(void *argument, uint64_t begin, uint64_t end)
{
    struct ring *ring = argument;
    struct run *run = ring->run;
    (void)begin, (void)end;
    for (;;) {
        blr_mutex_lock(&run->mutex);
        struct blr_spirv_worker *worker = ring->length > 0 ? ring->workers[ring->first] : NULL;
        if (worker != NULL) {
            ring->first = (ring->first + 1) % ring->count;
            ring->length--;
        }
        blr_mutex_unlock(&run->mutex);
        if (worker == NULL)
            return true;
        const bool done = blr_spirv_run_group(worker) && !worker->fault.happened;
        blr_mutex_lock(&run->mutex);
        if (done && worker->pauses && atomic_load(&run->launch.end) != 0)
            ring->workers[(ring->first + ring->length++) % ring->count] = worker;
        if (worker->fault.happened && (run->failed == NULL || worker->part < run->failed->part))
            run->failed = worker;
        if (!done) { /* others may wait for this one for ever */
            atomic_store(&run->launch.end, 0);
            ring->length = 0;
        }
        blr_mutex_unlock(&run->mutex);
        if (!done)
            return false;
    }
}

/* Runs all work-groups at the same time. */
static void run_cooperative(struct run *run, uint64_t groups)
{
    uint32_t threads = 1;
    struct ring ring = {.run = run, .workers = blr_new(groups * sizeof *ring.workers)};
    struct blr_spirv_worker **all = blr_new(groups * sizeof *all);
    while (ring.workers != NULL && all != NULL && ring.count < groups && (all[ring.count] = take_worker(run)) != NULL) {
        blr_spirv_start_group(all[ring.count], ring.count);
        ring.workers[ring.count] = all[ring.count];
        ring.count++;
    }
    if (ring.count == groups) {
        ring.length = groups;
        blr_thread_pool_size(&threads);
        blr_parallel_for(threads, 1, run_ring, &ring);
    } else {
        run->no_memory = true;
    }
    run->idle = NULL;
    for (uint64_t i = 0; i < ring.count; i++)
        if (all[i] != run->failed) {
            all[i]->next = run->idle;
            run->idle = all[i];
        }
    blr_delete(all);
    blr_delete(ring.workers);
}

/* Counts the time of a launch without native code, and asks for the code when that was much. */
static void ask_for_native(struct blr_native_slot *slot, uint64_t start)
{
    const int64_t spent = (int64_t)(blr_clock_now() - start);
    const int64_t patience = __atomic_fetch_sub(&slot->patience, spent, __ATOMIC_RELAXED);
#ifndef _WIN32
    /* Asks later again where the pipe is full. */
    if (patience > 0 && patience <= spent && write(slot->descriptor, &slot, sizeof slot) < 0)
        __atomic_store_n(&slot->patience, patience, __ATOMIC_RELAXED);
#else
    (void)patience;
#endif
}

static blr_result_t run_launch(struct blr_command *command)
{
    const struct launch_command *own = (const struct launch_command *)command;
    struct run run = {.kernel = own->kernel, .launch = own->launch};
    struct blr_spirv_launch *launch = &run.launch;
    uint64_t groups = launch->groups[0] * launch->groups[1] * launch->groups[2];
    uint64_t group_size = launch->local[0] * launch->local[1] * launch->local[2];
    bool grouped = launch->program->has_barriers || launch->program->uses_local;
    blr_mutex_init(&run.mutex);
    atomic_init(&launch->end, UINT64_MAX);
    struct blr_native_slot *slot = launch->is_cooperative ? NULL : atomic_load(&own->kernel->native); /* that does not pause */
    void *function = slot == NULL ? NULL : __atomic_load_n(&slot->function, __ATOMIC_ACQUIRE);
    memcpy(&launch->native, &function, sizeof function);
    const uint64_t start = slot != NULL && function == NULL ? blr_clock_now() : 0;
    if (launch->timeout > 0)
        launch->deadline = blr_clock_now() + (uint64_t)(launch->timeout * 1e9);
    if (launch->is_cooperative) {
        run_cooperative(&run, groups);
    } else if (grouped) {
        blr_parallel_for(groups, blr_parallel_grain(groups, (SMALLEST_PART + group_size - 1) / group_size), run_part, &run);
    } else {
        uint64_t items = groups * group_size;
        uint64_t grain = blr_parallel_grain(items, SMALLEST_PART);
        blr_parallel_for(items, (grain + BLR_LANES - 1) / BLR_LANES * BLR_LANES, run_part, &run);
    }
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (run.failed != NULL)
        result = blr_fail(run.failed->result, "%s", run.failed->fault.message);
    else if (run.no_memory)
        result = blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for the registers of kernel '%.80s'", launch->name);
    if (run.failed != NULL)
        blr_kernel_leave_worker(run.kernel, run.failed);
    while (run.idle != NULL) {
        struct blr_spirv_worker *next = run.idle->next;
        blr_kernel_leave_worker(run.kernel, run.idle);
        run.idle = next;
    }
    blr_mutex_destroy(&run.mutex);
    if (slot != NULL && function == NULL)
        ask_for_native(slot, start);
    return result;
}

/* ---------------------------------------------------------------- work-groups */

static uint64_t largest_divisor(uint64_t size, uint64_t maximum)
{
    uint64_t divisor = size < maximum ? size : maximum;
    while (size % divisor != 0)
        divisor--;
    return divisor;
}

/* Chooses the work-group size where the caller gave none. */
static void choose_local(const struct blr_kernel *kernel, struct blr_spirv_launch *launch)
{
    const struct blr_spirv_program *program = kernel->program;
    uint64_t room = BLR_LANES;
    if (room > kernel->max_work_group_size)
        room = kernel->max_work_group_size;
    for (int c = 0; c < 3; c++) {
        launch->local[c] = program->entry->local_size[0] != 0 ? program->entry->local_size[c]
                                                               : largest_divisor(launch->global[c], room);
        room /= launch->local[c] > room ? room : launch->local[c];
    }
}

static blr_result_t set_sizes(struct launch_command *own, const blr_launch_t *desc)
{
    struct blr_spirv_launch *launch = &own->launch;
    if (desc->dimensions < 1 || desc->dimensions > 3)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%u dimensions: 1, 2 or 3 are needed", desc->dimensions);
    launch->dimensions = desc->dimensions;
    launch->is_cooperative = desc->cooperative != 0;
    uint64_t items = 1;
    bool chosen = true;
    for (uint32_t c = 0; c < 3; c++) {
        bool used = c < desc->dimensions;
        launch->global[c] = used ? desc->global_size[c] : 1;
        launch->local[c] = used ? desc->local_size[c] : 1;
        launch->offset[c] = used ? desc->global_offset[c] : 0;
        if (launch->global[c] != 0 && items > (uint64_t)INT64_MAX / launch->global[c])
            return blr_fail(BLR_RESULT_INVALID_SIZE, "a range of more than %" PRId64 " work-items", INT64_MAX);
        items *= launch->global[c];
        if (used && launch->local[c] != 0)
            chosen = false;
    }
    if (items == 0) {
        for (int c = 0; c < 3; c++)
            launch->local[c] = 1;
    } else if (chosen) {
        choose_local(own->kernel, launch);
    }
    const uint32_t *required = own->kernel->program->entry->local_size;
    uint64_t group = 1;
    for (uint32_t c = 0; c < 3; c++) {
        uint64_t local = launch->local[c];
        if (local == 0 || launch->global[c] % local != 0)
            return blr_fail(BLR_RESULT_INVALID_SIZE,
                            "a work-group of %" PRIu64 " in dimension %u does not divide the range of %" PRIu64, local, c,
                            launch->global[c]);
        if (items != 0 && required[0] != 0 && local != required[c])
            return blr_fail(BLR_RESULT_INVALID_SIZE, "a work-group of %" PRIu64 " in dimension %u: kernel '%.80s' needs %u",
                            local, c, launch->name, required[c]);
        launch->groups[c] = launch->global[c] / local;
        group = local > UINT32_MAX || group > UINT32_MAX ? UINT64_MAX / 2 : group * local;
    }
    if (group > own->kernel->max_work_group_size)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "a work-group of %" PRIu64 " work-items: kernel '%.80s' runs with at most %u",
                        group, launch->name, own->kernel->max_work_group_size);
    const struct blr_spirv_program *program = own->kernel->program;
    /* Kernels that cannot observe their group run as groups of one work-item, so that rows span groups. */
    const bool observes = program->has_barriers || program->uses_local || program->uses_groups || launch->is_cooperative;
    for (uint32_t c = 0; c < 3 && !observes; c++) {
        launch->groups[c] = launch->global[c];
        launch->local[c] = 1;
    }
    own->command.is_brief = items <= BRIEF_ITEMS && !program->has_loops;
    own->command.is_instant = own->command.is_brief && (items + BLR_LANES - 1) / BLR_LANES * program->op_count <= INSTANT_OPERATIONS;
    return BLR_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- arguments */

/* Grows the list by more allocations; false without memory. */
static bool make_room(struct launch_command *own, uint32_t more)
{
    uint32_t count = own->launch.allocation_count;
    if (count + more <= own->room)
        return true;
    uint32_t room = 2 * count + more;
    struct blr_allocation **larger = blr_new(room * sizeof *larger);
    if (larger == NULL)
        return false;
    if (count > 0)
        memcpy(larger, own->allocations, count * sizeof *larger);
    if (own->is_separate)
        blr_delete(own->allocations);
    own->allocations = larger;
    own->launch.allocations = larger;
    own->is_separate = true;
    own->room = room;
    return true;
}

/* Retains the memory that contains an address: the driver's allocation, or all registered ranges; false without
 * memory. */
static bool keep_memory(struct launch_command *own, uint64_t address)
{
    if (!make_room(own, 1))
        return false;
    struct blr_allocation *allocation = blr_memory_find(own->launch.context, (const void *)(uintptr_t)address);
    if (allocation != NULL) {
        own->allocations[own->launch.allocation_count++] = allocation;
        return true;
    }
    for (;;) {
        uint32_t count = own->launch.allocation_count, room = own->room - count;
        uint32_t number = blr_registration_collect(own->launch.context, address, &own->allocations[count], room);
        if (number <= room) {
            own->launch.allocation_count += number;
            return true;
        }
        if (!make_room(own, number))
            return false;
    }
}

/* Retains the memory or image that an argument value names, if any, for the duration of the command; false without
 * memory. */
static bool keep_named(struct launch_command *own, const unsigned char *bytes, enum blr_spirv_argument_kind kind)
{
    uint64_t number;
    memcpy(&number, bytes, sizeof number);
    if ((kind == BLR_ARGUMENT_POINTER || kind == BLR_ARGUMENT_VALUE) && !keep_memory(own, number))
        return false;
    if (kind != BLR_ARGUMENT_POINTER && number >> 58 == BLR_KIND_IMAGE_HANDLE) {
        struct blr_error unused; /* a number that only resembles a handle is not an error */
        struct blr_error *before = blr_error_redirect(&unused);
        struct blr_image_view *view = blr_image_view_acquire(number);
        blr_error_redirect(before);
        if (view != NULL)
            own->views[own->view_count++] = view;
    }
    return true;
}

static uint64_t value_bytes(const struct blr_spirv_program *program)
{
    uint64_t bytes = 16;
    for (uint32_t i = 0; i < program->argument_count; i++)
        bytes += (program->arguments[i].size + 15) / 16 * 16;
    return bytes;
}

/* A command with room for a kernel's arguments, in one allocation; it takes over the reference to the kernel. */
static struct launch_command *new_command(struct blr_kernel *kernel)
{
    const struct blr_spirv_program *program = kernel->program;
    const size_t count = program->argument_count + 1u, front = (sizeof(struct launch_command) + 15) / 16 * 16;
    const size_t arrays = (4 * count * sizeof(uint64_t) + 15) / 16 * 16;
    struct launch_command *own = blr_command_new(front + arrays + value_bytes(program), run_launch, release);
    if (own == NULL) {
        blr_kernel_release(kernel);
        return NULL;
    }
    own->command.edges = own->command.inline_edges;
    unsigned char *next = (unsigned char *)own + front;
    own->command.is_repeatable = true;
    own->kernel = kernel;
    own->value_of = (const unsigned char **)(void *)next;
    own->local_offsets = (uint64_t *)(void *)(next + count * sizeof(uint64_t));
    own->views = (struct blr_image_view **)(void *)(next + 2 * count * sizeof(uint64_t));
    own->allocations = (struct blr_allocation **)(void *)(next + 3 * count * sizeof(uint64_t));
    own->room = (uint32_t)count;
    own->values = next + arrays;
    own->launch.allocations = own->allocations;
    return own;
}

static blr_result_t set_arguments(struct launch_command *own, const blr_launch_t *desc)
{
    const struct blr_spirv_program *program = own->kernel->program;
    struct blr_spirv_launch *launch = &own->launch;
    uint32_t count = program->argument_count;
    if (desc->argument_count != count)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%u arguments: kernel '%.80s' takes %u", desc->argument_count,
                        launch->name, count);
    if (count > 0 && (desc->arguments == NULL || desc->argument_sizes == NULL))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "arguments or argument_sizes is NULL: kernel '%.80s' takes %u",
                        launch->name, count);
    launch->values = own->value_of;
    launch->local_offsets = own->local_offsets;
    launch->local_bytes = program->uses_local ? (program->local_bytes + 127) / 128 * 128 : 0;
    unsigned char *next = own->values;
    for (uint32_t i = 0; i < count; i++) {
        const struct blr_spirv_argument *argument = &program->arguments[i];
        uint64_t size = desc->argument_sizes[i];
        bool local = argument->kind == BLR_ARGUMENT_LOCAL;
        if (local != (desc->arguments[i] == NULL))
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "argument %u ('%.60s') of kernel '%.80s' is %s", i,
                            argument->name, launch->name, local ? "local memory: give NULL and its size" : "NULL");
        if (local) {
            if (size > MAX_LOCAL_BYTES || launch->local_bytes + size > MAX_LOCAL_BYTES)
                return blr_fail(BLR_RESULT_INVALID_SIZE, "%" PRIu64 " bytes of local memory: %" PRIu64 " are the most", size,
                                MAX_LOCAL_BYTES);
            own->local_offsets[i] = launch->local_bytes;
            launch->local_bytes += (size + 127) / 128 * 128;
            continue;
        }
        if (size != argument->size)
            return blr_fail(BLR_RESULT_INVALID_SIZE,
                            "argument %u ('%.60s') of kernel '%.80s' has %" PRIu64 " bytes, %" PRIu64 " were given", i,
                            argument->name, launch->name, argument->size, size);
        memcpy(next, desc->arguments[i], size);
        own->value_of[i] = next;
        if (size == 8 && !keep_named(own, next, argument->kind))
            return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for the list of memory and images that kernel "
                                                      "'%.80s' uses", launch->name);
        next += (size + 15) / 16 * 16;
    }
    launch->local_bytes = (launch->local_bytes + LOCAL_UNIT - 1) / LOCAL_UNIT * LOCAL_UNIT;
    return BLR_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- the call */

static blr_result_t prepare(struct launch_command *own, const struct blr_context *context, const blr_launch_t *desc)
{
    if (own->kernel->module->context != context)
        return blr_fail(BLR_RESULT_INVALID_HANDLE, "the kernel is of another context than the queue");
    own->launch.program = own->kernel->program;
    own->launch.context = own->kernel->module->context;
    own->launch.run_batch = blr_spirv_best_set()->run_batch;
    own->launch.name = own->kernel->program->entry->name;
    blr_result_t result = blr_device_time_limit(&own->launch.timeout);
    if (result == BLR_RESULT_SUCCESS)
        result = set_sizes(own, desc);
    if (result == BLR_RESULT_SUCCESS)
        result = set_arguments(own, desc);
    return result;
}

static blr_result_t make(const struct blr_context *context, blr_kernel_t handle, const blr_launch_t *desc,
                         struct launch_command **launch)
{
    if (desc == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "launch is NULL: a description of the launch is needed");
    struct blr_kernel *kernel = blr_kernel_acquire(handle);
    if (kernel == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    struct launch_command *own = new_command(kernel);
    if (own == NULL)
        return BLR_RESULT_OUT_OF_MEMORY;
    blr_result_t result = prepare(own, context, desc);
    if (result == BLR_RESULT_SUCCESS)
        *launch = own;
    else
        blr_command_discard(&own->command);
    return result;
}

struct blr_command *blr_launch_new(const struct blr_context *context, blr_kernel_t kernel, const blr_launch_t *launch)
{
    struct launch_command *own;
    if (make(context, kernel, launch, &own) != BLR_RESULT_SUCCESS)
        return NULL;
    return &own->command;
}

blr_result_t blrEnqueueKernel(blr_queue_t handle, blr_kernel_t kernel, const blr_launch_t *launch, uint32_t num_waits,
                              const blr_event_t *waits, blr_event_t *event)
{
    struct blr_queue *queue = blr_queue_acquire(handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    struct launch_command *own;
    blr_result_t result = make(queue->context, kernel, launch, &own);
    if (result == BLR_RESULT_SUCCESS)
        result = blr_submit(queue, &own->command, num_waits, waits, event);
    blr_queue_release(queue);
    return result;
}
