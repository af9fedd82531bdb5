/* Counter-based events of the Level Zero driver: shared by threads, destroyed in use, and when memory runs out. */
#include "fixture.h"
#include "level_zero_tables.h"

#include "reference/platform/heap.h"
#include "reference/platform/threads.h"

#include <stdatomic.h>

static ze_event_handle_t new_counter_event(void)
{
    ze_event_handle_t event = NULL;
    ze_event_counter_based_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC,
                                          .flags = ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE};
    ZE_OK(ze.Event.pfnCounterBasedCreate(context, device, &desc, &event));
    return event;
}

static ze_command_list_handle_t new_in_order(void)
{
    ze_command_list_handle_t list = NULL;
    ze_command_queue_desc_t desc = queue_desc(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    desc.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
    ZE_OK(ze.CommandList.pfnCreateImmediate(context, device, &desc, &list));
    return list;
}

static ze_command_list_handle_t new_recorded(void)
{
    ze_command_list_handle_t list = NULL;
    ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, .flags = ZE_COMMAND_LIST_FLAG_IN_ORDER};
    ZE_OK(ze.CommandList.pfnCreate(context, device, &desc, &list));
    return list;
}

/* ---------------------------------------------------------------- threads */

struct crowd {
    ze_event_handle_t shared; /* signalled and waited for by all */
    _Atomic int failures;
};

static void one_of_the_crowd(void *argument)
{
    struct crowd *crowd = argument;
    uint64_t mine = 0, *memory = new_memory(8);
    ze_command_list_handle_t list = new_in_order(), other = new_in_order(), recorded = new_recorded();
    ze_command_queue_handle_t queue = new_queue(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_event_handle_t passed = new_counter_event();
    ZE_OK(ze.CommandList.pfnAppendMemoryCopy(recorded, &mine, memory, 8, passed, 0, NULL));
    ZE_OK(ze.CommandList.pfnAppendWaitOnEvents(recorded, 1, &passed));
    ZE_OK(ze.CommandList.pfnAppendSignalEvent(recorded, crowd->shared));
    ZE_OK(ze.CommandList.pfnClose(recorded));
    ZE_GIVES(NOT_READY, ze.Event.pfnQueryStatus(passed));
    for (uint64_t round = 1; round <= 60; round++) {
        ze_event_handle_t brief = new_counter_event();
        ZE_OK(ze.CommandList.pfnAppendMemoryFill(list, memory, &round, 8, 8, brief, 0, NULL));
        ZE_OK(ze.CommandList.pfnAppendBarrier(other, crowd->shared, 1, &brief));
        ZE_OK(ze.Event.pfnDestroy(brief));
        ZE_OK(ze.CommandList.pfnHostSynchronize(other, UINT64_MAX));
        ZE_OK(ze.CommandQueue.pfnExecuteCommandLists(queue, 1, &recorded, NULL));
        if (round % 3 == 0)
            ZE_OK(ze.Event.pfnHostSynchronize(crowd->shared, round % 2 == 0 ? UINT64_MAX : UINT64_MAX - 1));
        ZE_OK(ze.Event.pfnHostSynchronize(passed, UINT64_MAX));
        if (mine != round)
            atomic_fetch_add(&crowd->failures, 1);
    }
    ZE_OK(ze.CommandQueue.pfnSynchronize(queue, UINT64_MAX));
    ZE_OK(ze.CommandQueue.pfnDestroy(queue));
    ZE_OK(ze.CommandList.pfnDestroy(list));
    ZE_OK(ze.CommandList.pfnDestroy(other));
    ZE_OK(ze.CommandList.pfnDestroy(recorded));
    ZE_OK(ze.Event.pfnDestroy(passed));
    ZE_OK(ze.Mem.pfnFree(context, memory));
}

static void many_threads_share_an_event(void)
{
    enum { THREADS = 4 };
    struct crowd crowd = {.shared = new_counter_event()};
    blr_thread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(blr_thread_create(&threads[i], one_of_the_crowd, &crowd));
    for (int i = 0; i < THREADS; i++)
        blr_thread_join(threads[i]);
    CHECK_EQUAL(0, atomic_load(&crowd.failures));
    ZE_OK(ze.Event.pfnHostSynchronize(crowd.shared, UINT64_MAX));
    ZE_OK(ze.Event.pfnDestroy(crowd.shared));
}

/* ---------------------------------------------------------------- failures */

/* An append that fails leaves the event to what it followed. */
static void appends_that_fail_change_nothing(void)
{
    ze_event_handle_t event = new_counter_event();
    ze_command_list_handle_t lists[] = {new_in_order(), new_recorded()};
    for (int i = 0; i < 2; i++) {
        ZE_OK(ze.CommandList.pfnAppendBarrier(lists[0], NULL, 0, NULL));
        ZE_OK(ze.CommandList.pfnHostSynchronize(lists[0], UINT64_MAX));
        int failures = 0;
        for (long after = 1;; after++) {
            blr_allocate_fail_after(after);
            ze_result_t result = ze.CommandList.pfnAppendBarrier(lists[i], event, 0, NULL);
            blr_allocate_fail_after(0);
            if (result == ZE_RESULT_SUCCESS)
                break;
            CHECK_EQUAL(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, result);
            ZE_OK(ze.Event.pfnQueryStatus(event));
            failures++;
        }
        CHECK(failures >= 2);
    }
    ZE_GIVES(NOT_READY, ze.Event.pfnQueryStatus(event));
    for (int i = 0; i < 2; i++)
        ZE_OK(ze.CommandList.pfnDestroy(lists[i]));
    ZE_OK(ze.Event.pfnDestroy(event));
}

/* Who waits for an execution that could not begin gets its error; the next execution is one. */
static void executions_that_fail_end_their_events(void)
{
    ze_event_handle_t events[] = {new_counter_event(), new_counter_event()};
    ze_command_list_handle_t recorded = new_recorded(), empty = new_list(0);
    ze_command_queue_handle_t queue = new_queue(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    for (int i = 0; i < 2; i++)
        ZE_OK(ze.CommandList.pfnAppendBarrier(recorded, events[i], i, events));
    ZE_OK(ze.CommandList.pfnClose(recorded));
    ZE_OK(ze.CommandList.pfnClose(empty));
    ZE_OK(ze.CommandQueue.pfnExecuteCommandLists(queue, 1, &empty, NULL)); /* starts the thread */
    ZE_OK(ze.CommandQueue.pfnSynchronize(queue, UINT64_MAX));
    int failures = 0, ended = 0;
    for (long after = 1;; after++) {
        blr_allocate_fail_after(after);
        ze_result_t result = ze.CommandQueue.pfnExecuteCommandLists(queue, 1, &recorded, NULL);
        blr_allocate_fail_after(0);
        if (result == ZE_RESULT_SUCCESS)
            break;
        CHECK_EQUAL(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, result);
        failures++;
        for (int i = 0; i < 2; i++) {
            ze_result_t told = ze.Event.pfnHostSynchronize(events[i], 0);
            CHECK(told == ZE_RESULT_NOT_READY || told == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY);
            ended += told != ZE_RESULT_NOT_READY;
        }
    }
    CHECK(failures >= 2);
    for (int round = 0; round < 2; round++) {
        ZE_OK(ze.CommandQueue.pfnSynchronize(queue, UINT64_MAX));
        for (int i = 0; i < 2; i++)
            ZE_OK(ze.Event.pfnHostSynchronize(events[i], UINT64_MAX));
        ended = 0;
        for (long after = 1; round == 0; after++) { /* later executions have points of their own */
            blr_allocate_fail_after(after);
            ze_result_t result = ze.CommandQueue.pfnExecuteCommandLists(queue, 1, &recorded, NULL);
            blr_allocate_fail_after(0);
            if (result == ZE_RESULT_SUCCESS)
                break;
            ended += ze.Event.pfnHostSynchronize(events[0], 0) == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        }
        CHECK(round == 1 || ended > 0);
    }
    ZE_OK(ze.CommandQueue.pfnDestroy(queue));
    ZE_OK(ze.CommandList.pfnDestroy(recorded));
    ZE_OK(ze.CommandList.pfnDestroy(empty));
    for (int i = 0; i < 2; i++)
        ZE_OK(ze.Event.pfnDestroy(events[i]));
}

int main(void)
{
    open_driver();
    uint64_t objects = count_objects();
    many_threads_share_an_event();
    appends_that_fail_change_nothing();
    executions_that_fail_end_their_events();
    close_driver(objects);
    return 0;
}
