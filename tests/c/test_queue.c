/* Queues: asynchronous execution, in order or out of order, and failures that reach dependent commands. */
#include "fixture.h"
#include "platform/threads.h"

static blr_context_t context;

/* ---------------------------------------------------------------- tools */

struct rendezvous {
    blr_mutex_t mutex;
    blr_condition_t changed;
    int arrived;
    int expected;
};

static void rendezvous_init(struct rendezvous *meeting, int expected)
{
    blr_mutex_init(&meeting->mutex);
    blr_condition_init(&meeting->changed);
    meeting->arrived = 0;
    meeting->expected = expected;
}

static void rendezvous_destroy(struct rendezvous *meeting)
{
    blr_condition_destroy(&meeting->changed);
    blr_mutex_destroy(&meeting->mutex);
}

/* Returns when the expected number of threads is inside; fails the test otherwise. */
static void meet(void *data)
{
    struct rendezvous *meeting = data;
    uint64_t deadline = blr_clock_now() + 20 * SECOND;
    blr_mutex_lock(&meeting->mutex);
    meeting->arrived++;
    blr_condition_broadcast(&meeting->changed);
    while (meeting->arrived < meeting->expected && blr_clock_now() < deadline)
        blr_condition_wait(&meeting->changed, &meeting->mutex, deadline);
    CHECK(meeting->arrived >= meeting->expected);
    blr_mutex_unlock(&meeting->mutex);
}

static void meet_twice(void *data)
{
    struct rendezvous **meetings = data;
    meet(meetings[0]);
    meet(meetings[1]);
}

static void rest_a_moment(void)
{
    static blr_mutex_t mutex = BLR_MUTEX_INIT;
    blr_condition_t never;
    blr_condition_init(&never);
    blr_mutex_lock(&mutex);
    blr_condition_wait(&never, &mutex, blr_clock_now() + MILLISECOND / 10);
    blr_mutex_unlock(&mutex);
    blr_condition_destroy(&never);
}

struct trace {
    _Atomic int next;
    int order[4096];
};

struct step {
    struct trace *trace;
    int number;
};

static void record(void *data)
{
    struct step *step = data;
    step->trace->order[atomic_fetch_add(&step->trace->next, 1)] = step->number;
}

static void fail_with_text(void *data) { OK(blrHostFunctionFail(BLR_RESULT_INVALID_SIZE, data)); }

static void add_one(void *data) { atomic_fetch_add((_Atomic int *)data, 1); }

/* ---------------------------------------------------------------- order */

static void submission_returns_first(void)
{
    blr_queue_t queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    struct rendezvous meeting;
    blr_event_t event = NULL;
    rendezvous_init(&meeting, 2);
    OK(blrEnqueueHostFunction(queue, meet, &meeting, 0, NULL, &event)); /* ends only when this thread joins too */
    CHECK(status_of(event) != BLR_EVENT_COMPLETE);
    CHECK_EQUAL(BLR_RESULT_NOT_READY, blrQueueQuery(queue));
    CHECK_EQUAL(BLR_RESULT_NOT_READY, blrEventGetTimestamps(event, &(uint64_t){0}, &(uint64_t){0}, &(uint64_t){0}));
    FAILS(TIMEOUT, blrEventWait(event, 0), "not complete");
    FAILS(TIMEOUT, blrQueueWait(queue, MILLISECOND), "still has work");
    meet(&meeting);
    OK(blrEventWait(event, BLR_TIMEOUT_INFINITE));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    OK(blrQueueQuery(queue));
    OK(blrEventRelease(event));
    OK(blrQueueDestroy(queue));
    rendezvous_destroy(&meeting);
}

static void in_order(void)
{
    enum { COUNT = 4000 };
    static struct trace trace;
    static struct step steps[COUNT];
    blr_queue_t queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    atomic_store(&trace.next, 0);
    for (int i = 0; i < COUNT; i++) {
        steps[i] = (struct step){&trace, i};
        OK(blrEnqueueHostFunction(queue, record, &steps[i], 0, NULL, NULL));
    }
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    CHECK_EQUAL(COUNT, atomic_load(&trace.next));
    for (int i = 0; i < COUNT; i++)
        CHECK_EQUAL(i, trace.order[i]);
    OK(blrQueueDestroy(queue));
}

static void out_of_order_overlaps(void)
{
    for (int together = 2; together <= 16; together *= 2) {
        blr_queue_t queue = open_queue(context, BLR_QUEUE_OUT_OF_ORDER);
        struct rendezvous meeting;
        rendezvous_init(&meeting, together);
        for (int i = 0; i < together; i++)
            OK(blrEnqueueHostFunction(queue, meet, &meeting, 0, NULL, NULL));
        OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
        OK(blrQueueDestroy(queue));
        rendezvous_destroy(&meeting);
    }
}

/* Host functions that wait do not delay copies submitted after them. */
static void copies_pass_waiting_functions(void)
{
    enum { FUNCTIONS = 6, COPIES = 8 };
    blr_queue_t queue = open_queue(context, BLR_QUEUE_OUT_OF_ORDER);
    blr_event_t events[COPIES];
    struct rendezvous meeting;
    unsigned char from[COPIES] = "copies", to[COPIES] = "";
    rendezvous_init(&meeting, FUNCTIONS + 1);
    for (int i = 0; i < COPIES; i++) {
        if (i < FUNCTIONS)
            OK(blrEnqueueHostFunction(queue, meet, &meeting, 0, NULL, NULL));
        OK(blrEnqueueCopy(queue, to + i, from + i, 1, 0, NULL, &events[i]));
    }
    /* Polled without a wait, because a waiting thread would run the copies itself. */
    uint64_t deadline = clock_ns() + 10 * SECOND;
    for (int i = 0; i < COPIES; i++) {
        while (status_of(events[i]) != BLR_EVENT_COMPLETE && clock_ns() < deadline)
            rest_a_moment();
        CHECK(status_of(events[i]) == BLR_EVENT_COMPLETE);
        OK(blrEventRelease(events[i]));
    }
    CHECK(memcmp(from, to, COPIES) == 0);
    CHECK_EQUAL(BLR_RESULT_NOT_READY, blrQueueQuery(queue));
    meet(&meeting);
    OK(blrQueueDestroy(queue));
    rendezvous_destroy(&meeting);
}

/* With every worker blocked, only waiting threads can run copies: they do so exactly when that brings them to the
 * end of their own wait in time. */
static void waiting_threads_help(void)
{
    enum { WORKERS = 16, SMALL = 64 << 10, LARGE = 3 << 20 }; /* the submitting thread copies fewer than SMALL bytes itself */
    blr_queue_t queue = open_queue(context, BLR_QUEUE_OUT_OF_ORDER);
    blr_event_t small = NULL, large = NULL, gate = NULL, gated = NULL, later = NULL;
    struct rendezvous all_busy, leave;
    unsigned char *from = calloc(2, LARGE), *to = from + LARGE;
    CHECK(from != NULL);
    memset(from, 1, LARGE);
    rendezvous_init(&all_busy, WORKERS + 1);
    rendezvous_init(&leave, WORKERS + 1);
    struct rendezvous *both[2] = {&all_busy, &leave};
    for (int i = 0; i < WORKERS; i++)
        OK(blrEnqueueHostFunction(queue, meet_twice, both, 0, NULL, NULL));
    meet(&all_busy);
    OK(blrEnqueueCopy(queue, to, from, SMALL, 0, NULL, &small));
    FAILS(TIMEOUT, blrEventWait(small, 0), "not complete");
    CHECK(status_of(small) == BLR_EVENT_SUBMITTED);
    OK(blrEventWait(small, 10 * SECOND));
    OK(blrEnqueueCopy(queue, to, from, LARGE, 0, NULL, &large));
    FAILS(TIMEOUT, blrEventWait(large, 5 * MILLISECOND), "not complete"); /* might take longer than the timeout */
    CHECK(status_of(large) == BLR_EVENT_SUBMITTED);
    OK(blrEventWait(large, BLR_TIMEOUT_INFINITE));
    CHECK(memcmp(from, to, LARGE) == 0);
    OK(blrEventCreateUser(context, &gate));
    OK(blrEnqueueCopy(queue, to, from, SMALL, 1, &gate, &gated));
    OK(blrEnqueueCopy(queue, to, from, SMALL, 0, NULL, &later));
    FAILS(TIMEOUT, blrEventWait(gated, 5 * MILLISECOND), "not complete");
    CHECK(status_of(later) == BLR_EVENT_SUBMITTED); /* does not serve that wait */
    OK(blrEventSignalUser(gate, BLR_RESULT_SUCCESS));
    OK(blrEventWait(gated, BLR_TIMEOUT_INFINITE));
    OK(blrEventWait(later, BLR_TIMEOUT_INFINITE));
    meet(&leave);
    OK(blrQueueDestroy(queue));
    OK(blrEventRelease(small));
    OK(blrEventRelease(large));
    OK(blrEventRelease(gate));
    OK(blrEventRelease(gated));
    OK(blrEventRelease(later));
    rendezvous_destroy(&all_busy);
    rendezvous_destroy(&leave);
    free(from);
}

/* The submitting thread runs a very short command itself, unless it waits for another one. */
static void small_work_is_done_at_once(void)
{
    for (int flags = BLR_QUEUE_OUT_OF_ORDER; flags <= BLR_QUEUE_IN_ORDER; flags++) {
        blr_queue_t queue = open_queue(context, (blr_queue_flags_t)flags);
        blr_event_t gate = NULL, gated = NULL, small = NULL, next = NULL;
        unsigned char from[64], to[64] = {0}, other[64] = {0};
        fill_random(from, sizeof from, 9);
        OK(blrEnqueueCopy(queue, to, from, sizeof to, 0, NULL, &small));
        CHECK(status_of(small) == BLR_EVENT_COMPLETE);
        CHECK(memcmp(to, from, sizeof to) == 0);
        OK(blrEventRelease(small));
        OK(blrEventCreateUser(context, &gate));
        OK(blrEnqueueCopy(queue, other, from, sizeof other, 1, &gate, &gated));
        OK(blrEnqueueFill(queue, to, from, 4, 16, 0, NULL, &next));
        CHECK(status_of(gated) == BLR_EVENT_SUBMITTED);
        CHECK(status_of(next) == (flags == BLR_QUEUE_IN_ORDER ? BLR_EVENT_SUBMITTED : BLR_EVENT_COMPLETE));
        OK(blrEventSignalUser(gate, BLR_RESULT_SUCCESS));
        OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
        CHECK(memcmp(other, from, sizeof other) == 0);
        CHECK(memcmp(to, from, 4) == 0 && memcmp(to + 60, from, 4) == 0);
        OK(blrQueueDestroy(queue));
        OK(blrEventRelease(gate));
        OK(blrEventRelease(gated));
        OK(blrEventRelease(next));
    }
}

static void queues_overlap(void)
{
    enum { QUEUES = 6 };
    blr_queue_t queues[QUEUES];
    struct rendezvous meeting;
    rendezvous_init(&meeting, QUEUES);
    for (int i = 0; i < QUEUES; i++) {
        queues[i] = open_queue(context, BLR_QUEUE_IN_ORDER);
        OK(blrEnqueueHostFunction(queues[i], meet, &meeting, 0, NULL, NULL));
    }
    for (int i = 0; i < QUEUES; i++) {
        OK(blrQueueWait(queues[i], BLR_TIMEOUT_INFINITE));
        OK(blrQueueDestroy(queues[i]));
    }
    rendezvous_destroy(&meeting);
}

/* A random graph in an out-of-order queue: no command runs before those it waits for. */
static void dependencies_hold(void)
{
    enum { COUNT = 1500, WAITS = 6 };
    static struct trace trace;
    static struct step steps[COUNT];
    static blr_event_t events[COUNT];
    static int waited[COUNT][WAITS], wait_counts[COUNT], position[COUNT];
    blr_queue_t queues[2] = {open_queue(context, BLR_QUEUE_OUT_OF_ORDER), open_queue(context, BLR_QUEUE_OUT_OF_ORDER)};
    uint32_t state = 5;
    atomic_store(&trace.next, 0);
    for (int i = 0; i < COUNT; i++) {
        blr_event_t waits[WAITS];
        wait_counts[i] = i == 0 ? 0 : (int)(random_next(&state) % (WAITS + 1));
        for (int k = 0; k < wait_counts[i]; k++) {
            waited[i][k] = (int)(random_next(&state) % (uint32_t)i);
            waits[k] = events[waited[i][k]];
        }
        steps[i] = (struct step){&trace, i};
        OK(blrEnqueueHostFunction(queues[random_next(&state) % 2], record, &steps[i], (uint32_t)wait_counts[i], waits,
                                  &events[i]));
    }
    OK(blrQueueWait(queues[0], BLR_TIMEOUT_INFINITE));
    OK(blrQueueWait(queues[1], BLR_TIMEOUT_INFINITE));
    CHECK_EQUAL(COUNT, atomic_load(&trace.next));
    for (int i = 0; i < COUNT; i++)
        position[trace.order[i]] = i;
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < wait_counts[i]; k++) {
            uint64_t submitted, started, ended, cause_ended;
            CHECK(position[waited[i][k]] < position[i]);
            OK(blrEventGetTimestamps(events[waited[i][k]], &submitted, &started, &cause_ended));
            OK(blrEventGetTimestamps(events[i], &submitted, &started, &ended));
            CHECK(cause_ended <= started && submitted <= started && started <= ended);
        }
    for (int i = 0; i < COUNT; i++)
        OK(blrEventRelease(events[i]));
    OK(blrQueueDestroy(queues[0]));
    OK(blrQueueDestroy(queues[1]));
}

static void barriers(void)
{
    enum { GROUPS = 20, MEMBERS = 5 };
    for (int flags = BLR_QUEUE_OUT_OF_ORDER; flags <= BLR_QUEUE_IN_ORDER; flags++) {
        static struct trace trace;
        static struct step steps[GROUPS * MEMBERS];
        blr_queue_t queue = open_queue(context, (blr_queue_flags_t)flags);
        blr_event_t gate = NULL, last = NULL;
        OK(blrEventCreateUser(context, &gate));
        atomic_store(&trace.next, 0);
        for (int group = 0; group < GROUPS; group++) {
            for (int i = 0; i < MEMBERS; i++) {
                steps[group * MEMBERS + i] = (struct step){&trace, group};
                OK(blrEnqueueHostFunction(queue, record, &steps[group * MEMBERS + i], group == 0, &gate, NULL));
            }
            OK(blrEnqueueBarrier(queue, 0, NULL, group == GROUPS - 1 ? &last : NULL));
        }
        FAILS(TIMEOUT, blrEventWait(last, 5 * MILLISECOND), "not complete");
        CHECK_EQUAL(0, atomic_load(&trace.next));
        OK(blrEventSignalUser(gate, BLR_RESULT_SUCCESS));
        OK(blrEventWait(last, BLR_TIMEOUT_INFINITE));
        CHECK_EQUAL(GROUPS * MEMBERS, atomic_load(&trace.next));
        for (int i = 0; i < GROUPS * MEMBERS; i++)
            CHECK_EQUAL(i / MEMBERS, trace.order[i]);
        OK(blrEventRelease(last));
        OK(blrEventRelease(gate));
        OK(blrQueueDestroy(queue));
    }
}

/* A wait covers the commands submitted before it, not later ones. */
static void wait_ends_despite_later_work(void)
{
    blr_queue_t queue = open_queue(context, BLR_QUEUE_OUT_OF_ORDER);
    blr_event_t gate = NULL;
    _Atomic int count = 0;
    OK(blrEventCreateUser(context, &gate));
    OK(blrEnqueueHostFunction(queue, add_one, &count, 0, NULL, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    CHECK_EQUAL(1, atomic_load(&count));
    OK(blrEnqueueHostFunction(queue, add_one, &count, 1, &gate, NULL));
    FAILS(TIMEOUT, blrQueueWait(queue, MILLISECOND), "still has work");
    OK(blrEventSignalUser(gate, BLR_RESULT_SUCCESS));
    OK(blrQueueDestroy(queue)); /* waits */
    CHECK_EQUAL(2, atomic_load(&count));
    OK(blrEventRelease(gate));
}

/* ---------------------------------------------------------------- failures */

static void failures_reach_dependents(void)
{
    for (int flags = BLR_QUEUE_OUT_OF_ORDER; flags <= BLR_QUEUE_IN_ORDER; flags++) {
        blr_queue_t queue = open_queue(context, (blr_queue_flags_t)flags);
        blr_queue_t other = open_queue(context, BLR_QUEUE_IN_ORDER);
        blr_event_t failing = NULL, dependent = NULL, distant = NULL, unrelated = NULL;
        _Atomic int ran = 0, ran_free = 0;
        blr_result_t code;
        const char *text;
        OK(blrEnqueueHostFunction(queue, fail_with_text, "the first reason", 0, NULL, &failing));
        OK(blrEnqueueHostFunction(queue, add_one, &ran, 1, &failing, &dependent));
        OK(blrEnqueueHostFunction(other, add_one, &ran, 1, &dependent, &distant));
        OK(blrEnqueueHostFunction(queue, add_one, &ran_free, 0, NULL, &unrelated));
        OK(blrEventWait(unrelated, BLR_TIMEOUT_INFINITE));
        FAILS(DEPENDENCY_FAILED, blrEventWait(distant, BLR_TIMEOUT_INFINITE), "INVALID_SIZE: the first reason");
        FAILS(DEPENDENCY_FAILED, blrEventWait(dependent, BLR_TIMEOUT_INFINITE), "the first reason");
        CHECK(status_of(failing) == BLR_EVENT_FAILED && status_of(dependent) == BLR_EVENT_FAILED);
        OK(blrEventGetError(dependent, &code, &text));
        CHECK(code == BLR_RESULT_DEPENDENCY_FAILED && strstr(text, "the first reason") != NULL);
        OK(blrEventGetError(unrelated, &code, &text));
        CHECK(code == BLR_RESULT_SUCCESS && *text == '\0');
        CHECK(atomic_load(&ran) == 0 && atomic_load(&ran_free) == 1);
        /* The cause itself is not yet reported. */
        FAILS(INVALID_SIZE, blrQueueWait(queue, BLR_TIMEOUT_INFINITE), "the first reason");
        OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
        OK(blrQueueWait(other, BLR_TIMEOUT_INFINITE));
        OK(blrEventRelease(failing));
        OK(blrEventRelease(dependent));
        OK(blrEventRelease(distant));
        OK(blrEventRelease(unrelated));
        OK(blrQueueDestroy(queue));
        OK(blrQueueDestroy(other));
    }
}

static void each_failure_is_told_once(void)
{
    blr_queue_t queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    blr_queue_t other = open_queue(context, BLR_QUEUE_IN_ORDER);
    blr_event_t first = NULL, second = NULL;
    _Atomic int ran = 0;
    blr_result_t code;
    const char *text;
    OK(blrEnqueueHostFunction(queue, fail_with_text, "one", 0, NULL, &first));
    OK(blrEnqueueHostFunction(queue, fail_with_text, "two", 0, NULL, &second));
    OK(blrEnqueueHostFunction(queue, fail_with_text, "three", 0, NULL, NULL));
    OK(blrEnqueueHostFunction(queue, add_one, &ran, 1, &first, NULL)); /* repeats "one" */
    OK(blrEnqueueHostFunction(queue, fail_with_text, "four", 0, NULL, NULL));
    OK(blrEnqueueHostFunction(other, add_one, &ran, 1, &first, NULL));
    OK(blrEnqueueHostFunction(other, add_one, &ran, 1, &first, NULL));
    FAILS(INVALID_SIZE, blrEventWait(second, BLR_TIMEOUT_INFINITE), "two");
    FAILS(INVALID_SIZE, blrQueueWait(queue, BLR_TIMEOUT_INFINITE), "one");
    FAILS(INVALID_SIZE, blrQueueWait(queue, BLR_TIMEOUT_INFINITE), "three");
    OK(blrQueueTakeFailure(queue, &code, &text));
    CHECK(code == BLR_RESULT_INVALID_SIZE && strcmp(text, "four") == 0);
    OK(blrQueueTakeFailure(queue, &code, &text));
    CHECK(code == BLR_RESULT_SUCCESS && *text == '\0');
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    /* The other queue reports once that its command did not run. */
    FAILS(DEPENDENCY_FAILED, blrQueueWait(other, BLR_TIMEOUT_INFINITE), "one");
    OK(blrQueueWait(other, BLR_TIMEOUT_INFINITE));
    CHECK_EQUAL(0, atomic_load(&ran));
    FAILS(INVALID_ARGUMENT, blrQueueTakeFailure(queue, NULL, &text), "NULL");
    FAILS(INVALID_ARGUMENT, blrQueueTakeFailure(queue, &code, NULL), "NULL");
    OK(blrEventRelease(first));
    OK(blrEventRelease(second));
    OK(blrQueueDestroy(queue));
    OK(blrQueueDestroy(other));
}

/* A command that fails only because of a reported failure is not reported again, even when it ends later. */
static void later_dependents_are_not_told(void)
{
    blr_queue_t queue = open_queue(context, BLR_QUEUE_OUT_OF_ORDER);
    blr_event_t gate = NULL, failing = NULL, dependent = NULL;
    blr_result_t code = BLR_RESULT_SUCCESS;
    const char *text = NULL;
    OK(blrEventCreateUser(context, &gate));
    OK(blrEnqueueHostFunction(queue, fail_with_text, "told early", 0, NULL, &failing));
    blr_event_t waits[] = {failing, gate};
    OK(blrEnqueueBarrier(queue, 2, waits, &dependent));
    for (uint64_t deadline = clock_ns() + 10 * SECOND; code == BLR_RESULT_SUCCESS && clock_ns() < deadline;)
        OK(blrQueueTakeFailure(queue, &code, &text));
    CHECK(code == BLR_RESULT_INVALID_SIZE && strcmp(text, "told early") == 0);
    OK(blrEventSignalUser(gate, BLR_RESULT_SUCCESS));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    CHECK(status_of(dependent) == BLR_EVENT_FAILED);
    OK(blrEventRelease(gate));
    OK(blrEventRelease(failing));
    OK(blrEventRelease(dependent));
    OK(blrQueueDestroy(queue));
}

static void unseen_failures_do_not_leak(void)
{
    uint64_t before = object_count();
    blr_queue_t queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    for (int i = 0; i < 50; i++)
        OK(blrEnqueueHostFunction(queue, fail_with_text, "unseen", 0, NULL, NULL));
    OK(blrQueueDestroy(queue));
    CHECK_EQUAL(before, object_count());
}

/* ---------------------------------------------------------------- misuse */

static blr_queue_t inner_queue;
static blr_event_t inner_event;

static void wait_inside(void *data)
{
    (void)data;
    FAILS(INVALID_ARGUMENT, blrQueueWait(inner_queue, BLR_TIMEOUT_INFINITE), "wait for itself");
    FAILS(INVALID_ARGUMENT, blrQueueDestroy(inner_queue), "wait for itself");
    FAILS(INVALID_ARGUMENT, blrEventWait(inner_event, BLR_TIMEOUT_INFINITE), "wait for itself");
    FAILS(INVALID_ARGUMENT, blrHostFunctionFail(BLR_RESULT_SUCCESS, "no"), "error code is required");
    FAILS(INVALID_ARGUMENT, blrHostFunctionFail(BLR_RESULT_UNKNOWN, NULL), "NULL");
}

static void submit_inside(void *data) { OK(blrEnqueueHostFunction(inner_queue, add_one, data, 0, NULL, NULL)); }

static void calls_from_host_functions(void)
{
    _Atomic int count = 0;
    blr_event_t gate = NULL;
    inner_queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    OK(blrEventCreateUser(context, &gate));
    OK(blrEnqueueHostFunction(inner_queue, wait_inside, NULL, 1, &gate, NULL));
    OK(blrEnqueueBarrier(inner_queue, 0, NULL, &inner_event));
    OK(blrEventSignalUser(gate, BLR_RESULT_SUCCESS));
    OK(blrQueueWait(inner_queue, BLR_TIMEOUT_INFINITE));
    OK(blrEnqueueHostFunction(inner_queue, submit_inside, &count, 0, NULL, NULL));
    OK(blrQueueWait(inner_queue, BLR_TIMEOUT_INFINITE)); /* for the outer one */
    OK(blrQueueDestroy(inner_queue));                    /* for the inner one */
    CHECK_EQUAL(1, atomic_load(&count));
    OK(blrEventRelease(inner_event));
    OK(blrEventRelease(gate));
    FAILS(INVALID_ARGUMENT, blrHostFunctionFail(BLR_RESULT_UNKNOWN, "outside"), "no host function is running");
}

static void bad_arguments(void)
{
    blr_queue_t queue = NULL;
    blr_event_t event = (blr_event_t)&queue;
    FAILS(INVALID_ARGUMENT, blrQueueCreate(context, (blr_queue_flags_t)7, &queue), "flags 7");
    FAILS(INVALID_ARGUMENT, blrQueueCreate(context, BLR_QUEUE_IN_ORDER, NULL), "NULL");
    queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    FAILS(INVALID_ARGUMENT, blrEnqueueBarrier(queue, 3, NULL, &event), "waits is NULL");
    CHECK(event == NULL);
    FAILS(INVALID_ARGUMENT, blrEnqueueHostFunction(queue, NULL, NULL, 0, NULL, NULL), "NULL");
    OK(blrQueueWait(queue, 0));
    OK(blrQueueDestroy(queue));
}

static void many_waits(void)
{
    enum { COUNT = 100 };
    blr_event_t gates[COUNT], event = NULL;
    blr_queue_t queue = open_queue(context, BLR_QUEUE_OUT_OF_ORDER);
    for (int i = 0; i < COUNT; i++)
        OK(blrEventCreateUser(context, &gates[i]));
    OK(blrEnqueueBarrier(queue, COUNT, gates, &event));
    for (int i = 0; i < COUNT; i++) {
        CHECK(status_of(event) == BLR_EVENT_SUBMITTED);
        OK(blrEventSignalUser(gates[i], BLR_RESULT_SUCCESS));
    }
    OK(blrEventWait(event, BLR_TIMEOUT_INFINITE));
    for (int i = 0; i < COUNT; i++)
        OK(blrEventRelease(gates[i]));
    OK(blrEventRelease(event));
    OK(blrQueueDestroy(queue));
}

/* Ten thousand commands across two queues, each waiting for the one before. */
static void long_chain(void)
{
    enum { COUNT = 10000 };
    blr_queue_t queues[2] = {open_queue(context, BLR_QUEUE_OUT_OF_ORDER), open_queue(context, BLR_QUEUE_IN_ORDER)};
    blr_event_t previous = NULL;
    _Atomic int count = 0;
    for (int i = 0; i < COUNT; i++) {
        blr_event_t event = NULL;
        OK(blrEnqueueHostFunction(queues[i % 2], add_one, &count, previous != NULL, &previous, &event));
        if (previous != NULL)
            OK(blrEventRelease(previous));
        previous = event;
    }
    OK(blrEventWait(previous, BLR_TIMEOUT_INFINITE));
    CHECK_EQUAL(COUNT, atomic_load(&count));
    OK(blrEventRelease(previous));
    OK(blrQueueDestroy(queues[0]));
    OK(blrQueueDestroy(queues[1]));
}

int main(void)
{
    context = open_context();
    submission_returns_first();
    in_order();
    out_of_order_overlaps();
    copies_pass_waiting_functions();
    waiting_threads_help();
    small_work_is_done_at_once();
    queues_overlap();
    dependencies_hold();
    barriers();
    wait_ends_despite_later_work();
    failures_reach_dependents();
    each_failure_is_told_once();
    later_dependents_are_not_told();
    unseen_failures_do_not_leak();
    calls_from_host_functions();
    bad_arguments();
    many_waits();
    long_chain();
    OK(blrContextDestroy(context));
    CHECK_EQUAL(0, object_count());
    return 0;
}
