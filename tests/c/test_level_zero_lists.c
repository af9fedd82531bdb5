/* Command lists, queues, events and fences of the Level Zero driver: order, waits, threads, failures. */
#include "fixture.h"
#include "level_zero_tables.h"

#include "reference/platform/threads.h"

#include <stdatomic.h>

#define SECOND UINT64_C(1000000000)

/* ---------------------------------------------------------------- regular lists */

static void a_list_runs_as_often_as_it_is_executed(void)
{
    enum { BYTES = 1 << 16 };
    unsigned char *a = new_memory(BYTES), *b = new_memory(BYTES), one = 1;
    ze_command_list_handle_t list = new_list(0);
    ze_command_queue_handle_t queue = new_queue(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ZE_OK(ze.CommandList.pfnAppendMemoryFill(list, a, &one, 1, BYTES, NULL, 0, NULL));
    ZE_OK(ze.CommandList.pfnAppendBarrier(list, NULL, 0, NULL));
    ZE_OK(ze.CommandList.pfnAppendMemoryCopy(list, b, a, BYTES, NULL, 0, NULL));
    ZE_FAILS(INVALID_ARGUMENT, ze.CommandQueue.pfnExecuteCommandLists(queue, 1, &list, NULL), "not closed");
    ZE_OK(ze.CommandList.pfnClose(list));
    ZE_FAILS(INVALID_ARGUMENT, ze.CommandList.pfnAppendBarrier(list, NULL, 0, NULL), "closed");
    for (int round = 0; round < 5; round++) {
        memset(b, 0, BYTES);
        ze_command_list_handle_t lists[] = {list, list, list};
        ZE_OK(ze.CommandQueue.pfnExecuteCommandLists(queue, 3, lists, NULL));
        ZE_OK(ze.CommandQueue.pfnSynchronize(queue, UINT64_MAX));
        for (int i = 0; i < BYTES; i++)
            CHECK(b[i] == 1);
    }
    ZE_OK(ze.CommandList.pfnReset(list));
    memset(b, 7, BYTES);
    ZE_OK(ze.CommandList.pfnClose(list));
    ZE_OK(ze.CommandQueue.pfnExecuteCommandLists(queue, 1, &list, NULL));
    ZE_OK(ze.CommandQueue.pfnSynchronize(queue, UINT64_MAX));
    CHECK(b[0] == 7 && b[BYTES - 1] == 7);
    ZE_OK(ze.CommandList.pfnDestroy(list));
    ZE_OK(ze.CommandQueue.pfnDestroy(queue));
    ZE_OK(ze.Mem.pfnFree(context, a));
    ZE_OK(ze.Mem.pfnFree(context, b));
}

static void memory_is_kept_while_commands_use_it(void)
{
    enum { BYTES = 1 << 20 };
    unsigned char *a = new_memory(BYTES), *b = malloc(BYTES), nine = 9;
    ze_event_pool_handle_t pool = new_pool(0, 1);
    ze_event_handle_t go = new_event(pool, 0);
    ze_command_list_handle_t list = new_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ZE_OK(ze.CommandList.pfnAppendMemoryFill(list, a, &nine, 1, BYTES, NULL, 1, &go));
    ZE_OK(ze.CommandList.pfnAppendMemoryCopy(list, b, a, BYTES, NULL, 0, NULL));
    ZE_OK(ze.Mem.pfnFree(context, a));
    ZE_FAILS(INVALID_ARGUMENT, ze.Mem.pfnFree(context, a), "freed");
    ZE_GIVES(NOT_READY, ze.CommandList.pfnHostSynchronize(list, 0));
    ZE_GIVES(NOT_READY, ze.CommandList.pfnHostSynchronize(list, 1000));
    ZE_OK(ze.Event.pfnHostSignal(go));
    ZE_OK(ze.CommandList.pfnHostSynchronize(list, UINT64_MAX));
    CHECK(b[0] == 9 && b[BYTES - 1] == 9);
    free(b);
    ZE_OK(ze.CommandList.pfnDestroy(list));
    ZE_OK(ze.Event.pfnDestroy(go));
    ZE_OK(ze.EventPool.pfnDestroy(pool));
}

/* Events and their pool may be destroyed while commands wait for them, and new ones may take their slots. */
static void events_are_kept_while_commands_use_them(void)
{
    ze_event_pool_handle_t pool = new_pool(0, 2);
    ze_event_handle_t go = new_event(pool, 0), other = new_event(pool, 1);
    ze_command_list_handle_t list = new_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ZE_OK(ze.CommandList.pfnAppendWaitOnEvents(list, 1, &go));
    ZE_OK(ze.CommandList.pfnAppendWaitOnEvents(list, 1, &other));
    ZE_OK(ze.Event.pfnHostSignal(other));
    ZE_OK(ze.Event.pfnDestroy(other));
    other = new_event(pool, 1); /* not signalled, and not used by the list */
    ZE_GIVES(NOT_READY, ze.Event.pfnQueryStatus(other));
    ZE_OK(ze.EventPool.pfnDestroy(pool));
    ZE_GIVES(NOT_READY, ze.CommandList.pfnHostSynchronize(list, 1000));
    ZE_OK(ze.Event.pfnHostSignal(go));
    ZE_OK(ze.Event.pfnDestroy(go));
    ZE_OK(ze.CommandList.pfnHostSynchronize(list, UINT64_MAX));
    ZE_GIVES(NOT_READY, ze.Event.pfnQueryStatus(other));
    ZE_OK(ze.Event.pfnDestroy(other));
    ZE_OK(ze.CommandList.pfnDestroy(list));
}

static void a_list_goes_to_queues_of_its_group_alone(void)
{
    ze_command_list_handle_t list = new_list(1), immediate = new_immediate(ZE_COMMAND_QUEUE_MODE_DEFAULT);
    ze_command_queue_handle_t queue = new_queue(ZE_COMMAND_QUEUE_MODE_DEFAULT);
    ZE_OK(ze.CommandList.pfnClose(list));
    ZE_FAILS(INVALID_COMMAND_LIST_TYPE, ze.CommandQueue.pfnExecuteCommandLists(queue, 1, &list, NULL), "group 1");
    ZE_FAILS(INVALID_COMMAND_LIST_TYPE, ze.CommandQueue.pfnExecuteCommandLists(queue, 1, &immediate, NULL), "immediate");
    ZE_FAILS(INVALID_SIZE, ze.CommandQueue.pfnExecuteCommandLists(queue, 0, &list, NULL), "at least one");
    ZE_FAILS(INVALID_NULL_POINTER, ze.CommandQueue.pfnExecuteCommandLists(queue, 1, NULL, NULL), "phCommandLists");
    ZE_OK(ze.CommandList.pfnDestroy(list));
    ZE_OK(ze.CommandList.pfnDestroy(immediate));
    ZE_OK(ze.CommandQueue.pfnDestroy(queue));
}

/* Other queues take both kinds of lists. */
static void explicit_queues_take_explicit_lists_only(void)
{
    ze_command_queue_desc_t desc = queue_desc(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    desc.flags = ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY;
    ze_command_list_desc_t explicit_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, .flags = ZE_COMMAND_LIST_FLAG_EXPLICIT_ONLY};
    ze_command_queue_handle_t queue, plain = new_queue(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_handle_t immediate, explicit, list = new_list(0);
    ZE_OK(ze.CommandQueue.pfnCreate(context, device, &desc, &queue));
    ZE_OK(ze.CommandList.pfnCreate(context, device, &explicit_desc, &explicit));
    ZE_OK(ze.CommandList.pfnCreateImmediate(context, device, &desc, &immediate));
    ZE_OK(ze.CommandList.pfnClose(list));
    ZE_OK(ze.CommandList.pfnClose(explicit));
    ze_command_list_handle_t both[] = {explicit, list};
    ZE_FAILS(INVALID_COMMAND_LIST_TYPE, ze.CommandQueue.pfnExecuteCommandLists(queue, 2, both, NULL), "EXPLICIT_ONLY");
    ZE_FAILS(INVALID_COMMAND_LIST_TYPE, ze.CommandListExp.pfnImmediateAppendCommandListsExp(immediate, 1, &list, NULL, 0, NULL),
             "EXPLICIT_ONLY");
    ZE_OK(ze.CommandQueue.pfnExecuteCommandLists(queue, 1, &explicit, NULL));
    ZE_OK(ze.CommandListExp.pfnImmediateAppendCommandListsExp(immediate, 1, &explicit, NULL, 0, NULL));
    ZE_OK(ze.CommandQueue.pfnExecuteCommandLists(plain, 2, both, NULL));
    ZE_OK(ze.CommandList.pfnDestroy(list));
    ZE_OK(ze.CommandList.pfnDestroy(explicit));
    ZE_OK(ze.CommandList.pfnDestroy(immediate));
    ZE_OK(ze.CommandQueue.pfnDestroy(plain));
    ZE_OK(ze.CommandQueue.pfnDestroy(queue));
}

static void copies_of_lists_run_alike(void)
{
    uint64_t *value = new_memory(8);
    uint8_t one = 1;
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, .flags = ZE_COMMAND_LIST_FLAG_EXP_CLONEABLE};
    ze_command_list_handle_t list, copy;
    ze_command_queue_handle_t queue = new_queue(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ZE_OK(ze.CommandList.pfnCreate(context, device, &desc, &list));
    ZE_OK(ze.CommandList.pfnAppendMemoryFill(list, value, &one, 1, 8, NULL, 0, NULL));
    ZE_FAILS(INVALID_ARGUMENT, ze.CommandListExp.pfnCreateCloneExp(list, &copy), "not closed");
    ZE_OK(ze.CommandList.pfnClose(list));
    ZE_OK(ze.CommandListExp.pfnCreateCloneExp(list, &copy));
    ZE_OK(ze.CommandList.pfnDestroy(list));
    *value = 0;
    ZE_OK(ze.CommandQueue.pfnExecuteCommandLists(queue, 1, &copy, NULL));
    CHECK(*value == UINT64_C(0x0101010101010101));
    ZE_OK(ze.CommandList.pfnDestroy(copy));
    ZE_OK(ze.CommandQueue.pfnDestroy(queue));
    ZE_OK(ze.Mem.pfnFree(context, value));
}

static void immediate_lists_execute_regular_ones(void)
{
    uint64_t *value = new_memory(16), copy[2] = {0, 0};
    uint8_t one = 1, two = 2;
    ze_command_list_handle_t lists[] = {new_list(0), new_list(0)}, immediate = new_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_event_pool_handle_t pool = new_pool(0, 2);
    ze_event_handle_t go = new_event(pool, 0), done = new_event(pool, 1);
    ZE_OK(ze.CommandList.pfnAppendMemoryFill(lists[0], value, &one, 1, 16, NULL, 0, NULL));
    ZE_OK(ze.CommandList.pfnAppendMemoryFill(lists[1], value, &two, 1, 8, NULL, 0, NULL));
    ZE_FAILS(INVALID_ARGUMENT, ze.CommandListExp.pfnImmediateAppendCommandListsExp(immediate, 2, lists, done, 1, &go), "not closed");
    ZE_OK(ze.CommandList.pfnClose(lists[0]));
    ZE_OK(ze.CommandList.pfnClose(lists[1]));
    ZE_FAILS(INVALID_COMMAND_LIST_TYPE, ze.CommandListExp.pfnImmediateAppendCommandListsExp(lists[0], 1, lists, NULL, 0, NULL), "regular");
    ZE_FAILS(INVALID_SIZE, ze.CommandListExp.pfnImmediateAppendCommandListsExp(immediate, 0, lists, NULL, 0, NULL), "at least one");
    ZE_OK(ze.CommandListExp.pfnImmediateAppendCommandListsExp(immediate, 2, lists, done, 1, &go));
    ZE_OK(ze.CommandList.pfnAppendMemoryCopy(immediate, copy, value, 16, NULL, 0, NULL));
    ZE_GIVES(NOT_READY, ze.Event.pfnQueryStatus(done));
    ZE_OK(ze.Event.pfnHostSignal(go));
    ZE_OK(ze.Event.pfnHostSynchronize(done, UINT64_MAX));
    ZE_OK(ze.CommandList.pfnHostSynchronize(immediate, UINT64_MAX));
    CHECK(copy[0] == UINT64_C(0x0202020202020202) && copy[1] == UINT64_C(0x0101010101010101));
    for (int i = 0; i < 2; i++)
        ZE_OK(ze.CommandList.pfnDestroy(lists[i]));
    ZE_OK(ze.CommandList.pfnDestroy(immediate));
    ZE_OK(ze.Event.pfnDestroy(go));
    ZE_OK(ze.Event.pfnDestroy(done));
    ZE_OK(ze.EventPool.pfnDestroy(pool));
    ZE_OK(ze.Mem.pfnFree(context, value));
}

/* ---------------------------------------------------------------- events */

static void an_event_has_two_states(void)
{
    ze_event_pool_handle_t pool = new_pool(ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 4);
    ze_event_handle_t event = new_event(pool, 3);
    ZE_GIVES(NOT_READY, ze.Event.pfnQueryStatus(event));
    ZE_GIVES(NOT_READY, ze.Event.pfnHostSynchronize(event, 1000000));
    ZE_OK(ze.Event.pfnHostReset(event));
    ZE_OK(ze.Event.pfnHostSignal(event));
    ZE_OK(ze.Event.pfnHostSignal(event));
    ZE_OK(ze.Event.pfnQueryStatus(event));
    ZE_OK(ze.Event.pfnHostSynchronize(event, UINT64_MAX));
    ZE_OK(ze.Event.pfnHostReset(event));
    ZE_GIVES(NOT_READY, ze.Event.pfnQueryStatus(event));
    ze_event_handle_t out = NULL;
    ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = 4};
    ZE_FAILS(INVALID_ARGUMENT, ze.Event.pfnCreate(pool, &desc, &out), "a pool of 4");
    ze_kernel_timestamp_result_t times;
    ZE_FAILS(INVALID_ARGUMENT, ze.Event.pfnQueryKernelTimestamp(event, &times), "KERNEL_TIMESTAMP");
    ZE_OK(ze.EventPool.pfnDestroy(pool)); /* its events retain it */
    ZE_OK(ze.Event.pfnHostSignal(event));
    ZE_OK(ze.Event.pfnDestroy(event));
}

static void lists_wait_for_each_other(void)
{
    enum { ROUNDS = 200 };
    ze_event_pool_handle_t pool = new_pool(0, 2);
    ze_event_handle_t ping = new_event(pool, 0), pong = new_event(pool, 1);
    ze_command_list_handle_t left = new_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t right = new_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    uint64_t *values = new_memory(ROUNDS * sizeof *values);
    for (int i = 0; i < ROUNDS; i++) {
        ZE_OK(ze.CommandList.pfnAppendWriteGlobalTimestamp(left, &values[i], ping, 0, NULL));
        ZE_OK(ze.CommandList.pfnAppendWaitOnEvents(left, 1, &pong));
        ZE_OK(ze.CommandList.pfnAppendEventReset(left, pong));
        ZE_OK(ze.CommandList.pfnAppendWaitOnEvents(right, 1, &ping));
        ZE_OK(ze.CommandList.pfnAppendEventReset(right, ping));
        ZE_OK(ze.CommandList.pfnAppendSignalEvent(right, pong));
    }
    ZE_OK(ze.CommandList.pfnHostSynchronize(left, UINT64_MAX));
    ZE_OK(ze.CommandList.pfnHostSynchronize(right, UINT64_MAX));
    for (int i = 1; i < ROUNDS; i++)
        CHECK(values[i] >= values[i - 1]);
    ZE_OK(ze.CommandList.pfnDestroy(left));
    ZE_OK(ze.CommandList.pfnDestroy(right));
    ZE_OK(ze.Event.pfnDestroy(ping));
    ZE_OK(ze.Event.pfnDestroy(pong));
    ZE_OK(ze.EventPool.pfnDestroy(pool));
    ZE_OK(ze.Mem.pfnFree(context, values));
}

static void timestamps_enclose_the_command(void)
{
    enum { BYTES = 1 << 22 };
    unsigned char *memory = new_memory(BYTES), zero = 0;
    uint64_t host[2], before, after;
    ze_event_pool_handle_t pool = new_pool(ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP, 2);
    ze_event_handle_t first = new_event(pool, 0), second = new_event(pool, 1);
    ze_command_list_handle_t list = new_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_kernel_timestamp_result_t *told = new_memory(3 * sizeof *told), asked;
    ZE_GIVES(NOT_READY, ze.Event.pfnQueryKernelTimestamp(first, &asked));
    ZE_OK(ze.Device.pfnGetGlobalTimestamps(device, &host[0], &before));
    ZE_OK(ze.CommandList.pfnAppendMemoryFill(list, memory, &zero, 1, BYTES, first, 0, NULL));
    ZE_OK(ze.CommandList.pfnAppendMemoryFill(list, memory, &zero, 1, BYTES, second, 1, &first));
    ze_event_handle_t events[] = {first, second};
    size_t offsets[] = {2 * sizeof *told, 0};
    ZE_OK(ze.CommandList.pfnAppendQueryKernelTimestamps(list, 2, events, told, offsets, NULL, 2, events));
    ZE_OK(ze.CommandList.pfnHostSynchronize(list, UINT64_MAX));
    ZE_OK(ze.Device.pfnGetGlobalTimestamps(device, &host[1], &after));
    ZE_OK(ze.Event.pfnQueryKernelTimestamp(first, &asked));
    CHECK(memcmp(&asked, &told[2], sizeof asked) == 0);
    CHECK(before <= asked.global.kernelStart && asked.global.kernelStart < asked.global.kernelEnd);
    CHECK(asked.global.kernelEnd <= told[0].global.kernelStart && told[0].global.kernelEnd <= after);
    CHECK(asked.context.kernelStart == asked.global.kernelStart && asked.context.kernelEnd == asked.global.kernelEnd);
    uint32_t count = 0;
    ZE_OK(ze.EventExp.pfnQueryTimestampsExp(second, device, &count, NULL));
    CHECK_EQUAL(1, count);
    ZE_OK(ze.EventExp.pfnQueryTimestampsExp(second, device, &count, &asked));
    CHECK(memcmp(&asked, &told[0], sizeof asked) == 0);
    ze_synchronized_timestamp_result_ext_t mapped = {.global = {0, 0}};
    ze_event_query_kernel_timestamps_results_ext_properties_t results = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_QUERY_KERNEL_TIMESTAMPS_RESULTS_EXT_PROPERTIES,
        .pKernelTimestampsBuffer = &asked,
        .pSynchronizedTimestampsBuffer = &mapped};
    ZE_OK(ze.Event.pfnQueryKernelTimestampsExt(second, device, &count, &results));
    CHECK(mapped.global.kernelStart == asked.global.kernelStart && host[0] <= mapped.global.kernelStart);
    ZE_OK(ze.CommandList.pfnDestroy(list));
    ZE_OK(ze.Event.pfnDestroy(first));
    ZE_OK(ze.Event.pfnDestroy(second));
    ZE_OK(ze.EventPool.pfnDestroy(pool));
    ZE_OK(ze.Mem.pfnFree(context, memory));
    ZE_OK(ze.Mem.pfnFree(context, told));
}

/* ---------------------------------------------------------------- fences */

static void fences_tell_of_the_work_before_them(void)
{
    ze_command_queue_handle_t queue = new_queue(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS), other = new_queue(ZE_COMMAND_QUEUE_MODE_DEFAULT);
    ze_command_list_handle_t list = new_list(0);
    ze_event_pool_handle_t pool = new_pool(0, 1);
    ze_event_handle_t go = new_event(pool, 0);
    ze_fence_handle_t fence, signalled;
    ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    ZE_OK(ze.Fence.pfnCreate(queue, &desc, &fence));
    desc.flags = ZE_FENCE_FLAG_SIGNALED;
    ZE_OK(ze.Fence.pfnCreate(queue, &desc, &signalled));
    ZE_OK(ze.Fence.pfnQueryStatus(signalled));
    ZE_OK(ze.Fence.pfnReset(signalled));
    ZE_GIVES(NOT_READY, ze.Fence.pfnQueryStatus(signalled));
    ZE_OK(ze.CommandList.pfnAppendWaitOnEvents(list, 1, &go));
    ZE_OK(ze.CommandList.pfnClose(list));
    ZE_FAILS(INVALID_SYNCHRONIZATION_OBJECT, ze.CommandQueue.pfnExecuteCommandLists(other, 1, &list, fence), "another");
    ZE_OK(ze.CommandQueue.pfnExecuteCommandLists(queue, 1, &list, fence));
    ZE_GIVES(NOT_READY, ze.Fence.pfnQueryStatus(fence));
    ZE_GIVES(NOT_READY, ze.Fence.pfnHostSynchronize(fence, 100000));
    ZE_OK(ze.Event.pfnHostSignal(go));
    ZE_OK(ze.Fence.pfnHostSynchronize(fence, UINT64_MAX));
    ZE_OK(ze.Fence.pfnQueryStatus(fence));
    ZE_OK(ze.Fence.pfnReset(fence));
    ZE_OK(ze.CommandQueue.pfnExecuteCommandLists(queue, 1, &list, fence));
    ZE_OK(ze.Fence.pfnHostSynchronize(fence, UINT64_MAX));
    ZE_OK(ze.Fence.pfnDestroy(fence));
    ZE_OK(ze.Fence.pfnDestroy(signalled));
    ZE_OK(ze.CommandList.pfnDestroy(list));
    ZE_OK(ze.CommandQueue.pfnDestroy(queue));
    ZE_OK(ze.CommandQueue.pfnDestroy(other));
    ZE_OK(ze.Event.pfnDestroy(go));
    ZE_OK(ze.EventPool.pfnDestroy(pool));
}

/* ---------------------------------------------------------------- destruction */

/* A queue may be destroyed with work that waits for an unsignalled event; the work runs after the signal. */
static void work_outlives_its_queue(void)
{
    uint32_t *value = new_memory(4);
    uint32_t seven = 7;
    ze_event_pool_handle_t pool = new_pool(0, 2);
    ze_event_handle_t go = new_event(pool, 0), done = new_event(pool, 1);
    ze_command_list_handle_t list = new_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ZE_OK(ze.CommandList.pfnAppendMemoryFill(list, value, &seven, 4, 4, done, 1, &go));
    ZE_OK(ze.CommandList.pfnDestroy(list));
    ZE_FAILS(INVALID_ARGUMENT, ze.CommandList.pfnAppendBarrier(list, NULL, 0, NULL), "destroyed");
    ZE_GIVES(NOT_READY, ze.Event.pfnQueryStatus(done));
    ZE_OK(ze.Event.pfnHostSignal(go));
    ZE_OK(ze.Event.pfnHostSynchronize(done, UINT64_MAX));
    CHECK_EQUAL(7, *value);
    ZE_OK(ze.Event.pfnDestroy(go));
    ZE_OK(ze.Event.pfnDestroy(done));
    ZE_OK(ze.EventPool.pfnDestroy(pool));
    ZE_OK(ze.Mem.pfnFree(context, value));
}

static void a_queue_that_is_destroyed_does_its_work(void)
{
    enum { BYTES = 1 << 22 };
    unsigned char *memory = malloc(BYTES), five = 5;
    memset(memory, 0, BYTES);
    ze_command_list_handle_t list = new_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    for (int i = 0; i < 8; i++)
        ZE_OK(ze.CommandList.pfnAppendMemoryFill(list, memory, &five, 1, BYTES, NULL, 0, NULL));
    ZE_OK(ze.CommandList.pfnDestroy(list));
    CHECK(memory[0] == 5 && memory[BYTES - 1] == 5);
    free(memory);
}

/* ---------------------------------------------------------------- threads */

struct crowd {
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t shared;
    uint64_t *counters;
    _Atomic int failures;
};

static void one_of_the_crowd(void *argument)
{
    struct crowd *crowd = argument;
    uint64_t mine = 0;
    ze_command_list_handle_t list = new_list(0);
    ze_event_pool_handle_t pool = new_pool(0, 2);
    ze_event_handle_t event = new_event(pool, 0), passed = new_event(pool, 1);
    uint64_t *memory = new_memory(8);
    for (uint64_t round = 1; round <= 60; round++) {
        ZE_OK(ze.CommandList.pfnReset(list));
        ZE_OK(ze.CommandList.pfnAppendMemoryFill(list, memory, &round, 8, 8, NULL, 0, NULL));
        ZE_OK(ze.CommandList.pfnAppendMemoryCopy(list, &mine, memory, 8, event, 0, NULL));
        ZE_OK(ze.CommandList.pfnClose(list));
        ZE_OK(ze.CommandQueue.pfnExecuteCommandLists(crowd->queue, 1, &list, NULL));
        ZE_OK(ze.CommandList.pfnAppendBarrier(crowd->shared, passed, 0, NULL));
        ZE_OK(ze.Event.pfnHostSynchronize(passed, round % 2 == 0 ? UINT64_MAX : UINT64_MAX - 1)); /* with and without a helping thread */
        ZE_OK(ze.Event.pfnHostReset(passed));
        if (round % 3 == 0)
            ZE_OK(ze.CommandQueue.pfnSynchronize(crowd->queue, UINT64_MAX));
        if (round % 5 == 0)
            ze.CommandList.pfnHostSynchronize(crowd->shared, 1);
        ZE_OK(ze.Event.pfnHostSynchronize(event, UINT64_MAX));
        if (mine != round)
            atomic_fetch_add(&crowd->failures, 1);
        ZE_OK(ze.Event.pfnHostReset(event));
    }
    ZE_OK(ze.CommandList.pfnDestroy(list));
    ZE_OK(ze.Event.pfnDestroy(event));
    ZE_OK(ze.Event.pfnDestroy(passed));
    ZE_OK(ze.EventPool.pfnDestroy(pool));
    ZE_OK(ze.Mem.pfnFree(context, memory));
}

static void many_threads_share_a_queue(void)
{
    enum { THREADS = 4 };
    struct crowd crowd = {.queue = new_queue(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS),
                          .shared = new_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS)};
    blr_thread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(blr_thread_create(&threads[i], one_of_the_crowd, &crowd));
    for (int i = 0; i < THREADS; i++)
        blr_thread_join(threads[i]);
    CHECK_EQUAL(0, atomic_load(&crowd.failures));
    ZE_OK(ze.CommandList.pfnHostSynchronize(crowd.shared, UINT64_MAX));
    ZE_OK(ze.CommandQueue.pfnDestroy(crowd.queue));
    ZE_OK(ze.CommandList.pfnDestroy(crowd.shared));
}

int main(void)
{
    open_driver();
    uint64_t objects = count_objects();
    a_list_runs_as_often_as_it_is_executed();
    memory_is_kept_while_commands_use_it();
    events_are_kept_while_commands_use_them();
    a_list_goes_to_queues_of_its_group_alone();
    explicit_queues_take_explicit_lists_only();
    copies_of_lists_run_alike();
    immediate_lists_execute_regular_ones();
    an_event_has_two_states();
    lists_wait_for_each_other();
    timestamps_enclose_the_command();
    fences_tell_of_the_work_before_them();
    work_outlives_its_queue();
    a_queue_that_is_destroyed_does_its_work();
    many_threads_share_a_queue();
    close_driver(objects);
    return 0;
}
