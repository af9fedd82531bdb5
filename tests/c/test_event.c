/* Events: user events, references, timestamps, timeouts, waits without processor time. */
#include "fixture.h"
#include "platform/threads.h"

#include <time.h>

static blr_context_t context;
static blr_queue_t queue;

static void user_events(void)
{
    blr_event_t event = NULL, command = NULL;
    uint64_t a, b, c, before = clock_ns();
    blr_result_t code;
    const char *text;
    OK(blrEventCreateUser(context, &event));
    CHECK(status_of(event) == BLR_EVENT_SUBMITTED);
    OK(blrEventGetError(event, &code, &text));
    CHECK_EQUAL(BLR_RESULT_NOT_READY, code);
    CHECK_EQUAL(BLR_RESULT_NOT_READY, blrEventGetTimestamps(event, &a, &b, &c));
    FAILS(TIMEOUT, blrEventWait(event, 3 * MILLISECOND), "not complete");
    CHECK(clock_ns() - before >= 3 * MILLISECOND);
    FAILS(INVALID_ARGUMENT, blrEventSignalUser(event, BLR_RESULT_NOT_READY), "result 1");
    FAILS(INVALID_ARGUMENT, blrEventSignalUser(event, (blr_result_t)99), "result 99");
    OK(blrEventSignalUser(event, BLR_RESULT_SUCCESS));
    FAILS(INVALID_ARGUMENT, blrEventSignalUser(event, BLR_RESULT_SUCCESS), "already signalled");
    OK(blrEventWait(event, 0));
    CHECK(status_of(event) == BLR_EVENT_COMPLETE);
    OK(blrEventGetTimestamps(event, &a, &b, &c));
    CHECK(before <= a && a <= b && b <= c && c <= clock_ns());
    FAILS(INVALID_ARGUMENT, blrEventGetTimestamps(event, NULL, &b, &c), "NULL");
    FAILS(INVALID_ARGUMENT, blrEventGetStatus(event, NULL), "NULL");
    FAILS(INVALID_ARGUMENT, blrEventGetError(event, NULL, &text), "NULL");
    OK(blrEventRelease(event));
    FAILS(INVALID_ARGUMENT, blrEventCreateUser(context, NULL), "NULL");

    OK(blrEnqueueBarrier(queue, 0, NULL, &command));
    FAILS(INVALID_ARGUMENT, blrEventSignalUser(command, BLR_RESULT_SUCCESS), "belongs to a command");
    OK(blrEventRelease(command));
}

static void failed_user_events(void)
{
    blr_event_t event = NULL, dependent = NULL;
    OK(blrEventCreateUser(context, &event));
    OK(blrEnqueueBarrier(queue, 1, &event, &dependent));
    OK(blrEventSignalUser(event, BLR_RESULT_OUT_OF_RANGE));
    FAILS(OUT_OF_RANGE, blrEventWait(event, 0), "signalled with OUT_OF_RANGE");
    FAILS(DEPENDENCY_FAILED, blrEventWait(dependent, BLR_TIMEOUT_INFINITE), "OUT_OF_RANGE");
    OK(blrEventRelease(event));
    OK(blrEventRelease(dependent));

    /* Released before a signal: a command that waits for it ends. */
    OK(blrEventCreateUser(context, &event));
    OK(blrEnqueueBarrier(queue, 1, &event, &dependent));
    OK(blrEventRelease(event));
    FAILS(DEPENDENCY_FAILED, blrEventWait(dependent, BLR_TIMEOUT_INFINITE), "released before");
    OK(blrEventRelease(dependent));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
}

static void references(void)
{
    blr_event_t event = NULL;
    uint64_t before = object_count();
    OK(blrEventCreateUser(context, &event));
    OK(blrEventRetain(event));
    OK(blrEventRetain(event));
    OK(blrEventRelease(event));
    OK(blrEventRelease(event));
    OK(blrEventSignalUser(event, BLR_RESULT_SUCCESS));
    OK(blrEventRelease(event));
    FAILS(INVALID_HANDLE, blrEventRelease(event), "destroyed");
    FAILS(INVALID_HANDLE, blrEventRetain(event), "destroyed");
    CHECK_EQUAL(before, object_count());
}

/* Released before its command runs: the command still runs. */
static void released_early(void)
{
    blr_event_t gate = NULL, event = NULL;
    unsigned char from[16] = "fifteen letters", to[16] = "";
    OK(blrEventCreateUser(context, &gate));
    OK(blrEnqueueCopy(queue, to, from, 16, 1, &gate, &event));
    OK(blrEventRelease(event));
    FAILS(INVALID_HANDLE, blrEventWait(event, 0), "destroyed");
    OK(blrEventSignalUser(gate, BLR_RESULT_SUCCESS));
    OK(blrEventRelease(gate));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    CHECK(memcmp(from, to, 16) == 0);
}

static blr_event_t shared_event;
static _Atomic int woken;

static void wait_for_it(void *argument)
{
    (void)argument;
    OK(blrEventWait(shared_event, BLR_TIMEOUT_INFINITE));
    atomic_fetch_add(&woken, 1);
}

static void many_waiters(void)
{
    enum { THREADS = 8 };
    blr_thread_t threads[THREADS];
    OK(blrEventCreateUser(context, &shared_event));
    for (int i = 0; i < THREADS; i++)
        CHECK(blr_thread_create(&threads[i], wait_for_it, NULL));
    FAILS(TIMEOUT, blrEventWait(shared_event, 10 * MILLISECOND), "not complete");
    CHECK_EQUAL(0, atomic_load(&woken));
    OK(blrEventSignalUser(shared_event, BLR_RESULT_SUCCESS));
    for (int i = 0; i < THREADS; i++)
        blr_thread_join(threads[i]);
    CHECK_EQUAL(THREADS, atomic_load(&woken));
    OK(blrEventRelease(shared_event));
}

static uint64_t processor_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

/* Waiting 300 ms for an event, with idle workers, costs hardly any processor time. */
static void waiting_is_idle(void)
{
    blr_event_t event = NULL, dependent = NULL;
    OK(blrEventCreateUser(context, &event));
    OK(blrEnqueueBarrier(queue, 1, &event, &dependent));
    uint64_t wall = clock_ns(), busy = processor_time();
    FAILS(TIMEOUT, blrEventWait(dependent, 150 * MILLISECOND), "not complete");
    FAILS(TIMEOUT, blrQueueWait(queue, 150 * MILLISECOND), "still has work");
    CHECK(clock_ns() - wall >= 300 * MILLISECOND);
    CHECK(processor_time() - busy < 60 * MILLISECOND);
    OK(blrEventSignalUser(event, BLR_RESULT_SUCCESS));
    OK(blrEventWait(dependent, BLR_TIMEOUT_INFINITE));
    OK(blrEventRelease(event));
    OK(blrEventRelease(dependent));
}

/* An event outlives its queue and its context. */
static void outlives(void)
{
    blr_context_t own = open_context();
    blr_queue_t own_queue = open_queue(own, BLR_QUEUE_OUT_OF_ORDER);
    blr_event_t event = NULL;
    uint64_t a, b, c;
    OK(blrEnqueueBarrier(own_queue, 0, NULL, &event));
    OK(blrContextDestroy(own));
    OK(blrQueueDestroy(own_queue));
    OK(blrEventWait(event, 0));
    OK(blrEventGetTimestamps(event, &a, &b, &c));
    CHECK(a <= b && b <= c);
    /* A command of another context can still wait for it. */
    OK(blrEnqueueBarrier(queue, 1, &event, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    OK(blrEventRelease(event));
}

int main(void)
{
    context = open_context();
    queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    user_events();
    failed_user_events();
    references();
    released_early();
    many_waiters();
    waiting_is_idle();
    outlives();
    OK(blrQueueDestroy(queue));
    OK(blrContextDestroy(context));
    CHECK_EQUAL(0, object_count());
    return 0;
}
