/* Batches: recorded commands run as one command, repeatedly, on the current contents of memory. */
#include "fixture.h"
#include "platform/threads.h"

static blr_context_t context;

static void *allocate(uint64_t size)
{
    void *memory = NULL;
    OK(blrMemoryAllocate(context, BLR_MEMORY_DEVICE, size, 0, &memory));
    return memory;
}

/* source -> middle -> destination; then clears the middle. */
static blr_batch_t record(blr_queue_t queue, unsigned char *destination, unsigned char *middle, const unsigned char *source,
                          uint64_t size)
{
    const unsigned char nothing = 0;
    blr_batch_t batch = NULL;
    blr_event_t event = (blr_event_t)(uintptr_t)1;
    OK(blrQueueBeginRecording(queue));
    OK(blrEnqueueCopy(queue, middle, source, size, 0, NULL, &event));
    CHECK(event == NULL);
    OK(blrEnqueueBarrier(queue, 0, NULL, NULL));
    OK(blrEnqueueCopy(queue, destination, middle, size, 0, NULL, NULL));
    OK(blrEnqueueFill(queue, middle, &nothing, 1, size, 0, NULL, NULL));
    OK(blrQueueEndRecording(queue, &batch));
    CHECK(batch != NULL);
    return batch;
}

static void runs_again_and_again(void)
{
    static const uint64_t sizes[] = {16, 100000, 3 << 20};
    for (int s = 0; s < 3; s++) {
        const uint64_t size = sizes[s];
        blr_queue_t ordered = open_queue(context, BLR_QUEUE_IN_ORDER), other = open_queue(context, BLR_QUEUE_OUT_OF_ORDER);
        unsigned char *source = allocate(size), *middle = allocate(size), *destination = allocate(size);
        memset(middle, 5, size);
        memset(destination, 6, size);
        blr_batch_t batch = record(ordered, destination, middle, source, size);
        OK(blrQueueQuery(ordered));
        CHECK(middle[0] == 5 && destination[size - 1] == 6); /* no command has run */
        for (uint32_t seed = 1; seed <= 3; seed++) {
            blr_event_t event = NULL;
            uint64_t submitted = 0, started = 0, ended = 0;
            fill_random(source, size, seed);
            OK(blrEnqueueBatch(seed == 2 ? other : ordered, batch, 0, NULL, &event));
            OK(blrEventWait(event, BLR_TIMEOUT_INFINITE));
            CHECK(memcmp(source, destination, size) == 0);
            CHECK(middle[0] == 0 && middle[size - 1] == 0);
            OK(blrEventGetTimestamps(event, &submitted, &started, &ended));
            CHECK(submitted <= started && started <= ended);
            OK(blrEventRelease(event));
        }
        OK(blrEnqueueCopy(ordered, destination, middle, size, 0, NULL, NULL)); /* the queue executes commands again */
        OK(blrQueueWait(ordered, BLR_TIMEOUT_INFINITE));
        CHECK(destination[size / 2] == 0);
        OK(blrBatchDestroy(batch));
        FAILS(INVALID_HANDLE, blrEnqueueBatch(ordered, batch, 0, NULL, NULL), "was destroyed");
        OK(blrQueueDestroy(ordered));
        OK(blrQueueDestroy(other));
        OK(blrMemoryFree(context, source));
        OK(blrMemoryFree(context, middle));
        OK(blrMemoryFree(context, destination));
    }
}

/* Runs of one batch are serialised across queues, also after a failed run; the batch is deleted when its last run
 * ends. */
static void runs_follow_each_other(void)
{
    enum { SIZE = 64 };
    blr_queue_t queues[2] = {open_queue(context, BLR_QUEUE_IN_ORDER), open_queue(context, BLR_QUEUE_OUT_OF_ORDER)};
    unsigned char *source = allocate(SIZE), *middle = allocate(SIZE), *destination = allocate(SIZE);
    blr_batch_t batch = record(queues[0], destination, middle, source, SIZE);
    for (int failing = 0; failing < 2; failing++) {
        blr_event_t gate = NULL, first = NULL, second = NULL;
        memset(destination, 0, SIZE);
        fill_random(source, SIZE, 3);
        OK(blrEventCreateUser(context, &gate));
        OK(blrEnqueueBatch(queues[0], batch, 1, &gate, &first));
        OK(blrEnqueueBatch(queues[1], batch, 0, NULL, &second));
        FAILS(TIMEOUT, blrEventWait(second, MILLISECOND), "not complete");
        CHECK(status_of(first) == BLR_EVENT_SUBMITTED && destination[0] == 0);
        OK(blrEventSignalUser(gate, failing ? BLR_RESULT_UNKNOWN : BLR_RESULT_SUCCESS));
        OK(blrEventWait(second, BLR_TIMEOUT_INFINITE));
        if (failing)
            FAILS(DEPENDENCY_FAILED, blrEventWait(first, BLR_TIMEOUT_INFINITE), "not run");
        else
            OK(blrEventWait(first, BLR_TIMEOUT_INFINITE));
        CHECK(memcmp(source, destination, SIZE) == 0);
        OK(blrEventRelease(gate));
        OK(blrEventRelease(first));
        OK(blrEventRelease(second));
    }
    blr_event_t gate = NULL, last = NULL;
    OK(blrEventCreateUser(context, &gate));
    fill_random(source, SIZE, 4);
    OK(blrEnqueueBatch(queues[1], batch, 1, &gate, &last));
    OK(blrBatchDestroy(batch));
    OK(blrMemoryFree(context, middle)); /* the batch retains it */
    OK(blrEventSignalUser(gate, BLR_RESULT_SUCCESS));
    OK(blrEventWait(last, BLR_TIMEOUT_INFINITE));
    CHECK(memcmp(source, destination, SIZE) == 0);
    OK(blrEventRelease(gate));
    OK(blrEventRelease(last));
    OK(blrMemoryFree(context, source));
    OK(blrMemoryFree(context, destination));
    for (int i = 0; i < 2; i++)
        OK(blrQueueDestroy(queues[i]));
}

/* A fetch outside the image, between two fills: the second does not run. */
static void the_first_failure_ends_a_run(void)
{
    blr_queue_t queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    blr_image_desc_t desc = plain_desc(8, 8, 0, BLR_CHANNEL_FP32, 1);
    blr_image_t image = NULL;
    blr_image_handle_t handle = 0;
    int32_t *where = allocate(8);
    float *value = allocate(4);
    unsigned char *filled = allocate(2);
    const unsigned char one = 1, none = 0;
    OK(blrImageCreate(context, &desc, &image));
    OK(blrUnsampledImageCreate(context, image, &desc, &handle));
    const blr_image_call_t call = {.operation = BLR_OPERATION_FETCH,
                                   .type = BLR_IMAGE_STANDARD,
                                   .handle = handle,
                                   .count = 1,
                                   .coordinates = where,
                                   .values = value,
                                   .value_type = BLR_ELEMENT_F32,
                                   .value_channels = 1};
    blr_batch_t batch = NULL;
    OK(blrQueueBeginRecording(queue));
    OK(blrEnqueueFill(queue, filled, &one, 1, 1, 0, NULL, NULL));
    OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
    OK(blrEnqueueFill(queue, filled + 1, &one, 1, 1, 0, NULL, NULL));
    OK(blrQueueEndRecording(queue, &batch));
    for (int round = 0; round < 4; round++) {
        const bool outside = round % 2 == 1;
        blr_event_t event = NULL;
        where[0] = outside ? 8 : 7;
        where[1] = 0;
        OK(blrEnqueueFill(queue, filled, &none, 1, 2, 0, NULL, NULL));
        OK(blrEnqueueBatch(queue, batch, 0, NULL, &event));
        if (outside)
            FAILS(OUT_OF_RANGE, blrEventWait(event, BLR_TIMEOUT_INFINITE), "item 0 names the pixel (8, 0)");
        else
            OK(blrEventWait(event, BLR_TIMEOUT_INFINITE));
        CHECK(filled[0] == 1 && filled[1] == !outside);
        OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE)); /* the failure is already reported */
        OK(blrEventRelease(event));
    }
    OK(blrBatchDestroy(batch));
    OK(blrImageHandleDestroy(context, handle));
    OK(blrImageDestroy(image));
    OK(blrMemoryFree(context, where));
    OK(blrMemoryFree(context, value));
    OK(blrMemoryFree(context, filled));
    OK(blrQueueDestroy(queue));
}

static void never(void *data) { *(int *)data = 1; }

static void what_cannot_be(void)
{
    blr_queue_t queue = open_queue(context, BLR_QUEUE_IN_ORDER), free_queue = open_queue(context, BLR_QUEUE_OUT_OF_ORDER);
    blr_batch_t batch = NULL, none = NULL;
    blr_event_t event = NULL;
    unsigned char bytes[2] = {1, 2};
    int called = 0;
    FAILS(INVALID_ARGUMENT, blrQueueBeginRecording(free_queue), "BLR_QUEUE_IN_ORDER");
    FAILS(INVALID_ARGUMENT, blrQueueEndRecording(queue, &batch), "is not recording");
    FAILS(INVALID_HANDLE, blrQueueBeginRecording(NULL), "queue is NULL");
    FAILS(INVALID_HANDLE, blrEnqueueBatch(queue, NULL, 0, NULL, NULL), "batch is NULL");
    FAILS(INVALID_HANDLE, blrEnqueueBatch(queue, (blr_batch_t)queue, 0, NULL, NULL), "names a queue where a batch is needed");
    FAILS(INVALID_HANDLE, blrBatchDestroy(NULL), "batch is NULL");
    OK(blrEnqueueCopy(queue, bytes, bytes + 1, 1, 0, NULL, &event));
    OK(blrQueueBeginRecording(queue));
    FAILS(INVALID_ARGUMENT, blrQueueBeginRecording(queue), "already recording");
    FAILS(INVALID_ARGUMENT, blrEnqueueCopy(queue, bytes, bytes + 1, 1, 1, &event, NULL), "1 events in the wait list");
    FAILS(UNSUPPORTED, blrEnqueueHostFunction(queue, never, &called, 0, NULL, NULL), "cannot be recorded");
    FAILS(INVALID_SIZE, blrEnqueueFill(queue, bytes, bytes, 0, 1, 0, NULL, NULL), "a pattern of 0 bytes");
    OK(blrQueueEndRecording(queue, &batch)); /* empty */
    OK(blrEnqueueBatch(queue, batch, 1, &event, NULL));
    OK(blrQueueBeginRecording(queue));
    FAILS(UNSUPPORTED, blrEnqueueBatch(queue, batch, 0, NULL, NULL), "cannot be recorded into another");
    OK(blrEnqueueCopy(queue, bytes, bytes + 1, 1, 0, NULL, NULL));
    OK(blrQueueEndRecording(queue, NULL));
    FAILS(INVALID_ARGUMENT, blrQueueEndRecording(queue, &none), "is not recording");
    blr_context_t other = open_context();
    blr_queue_t foreign = open_queue(other, BLR_QUEUE_IN_ORDER);
    FAILS(INVALID_HANDLE, blrEnqueueBatch(foreign, batch, 0, NULL, NULL), "of another context");
    OK(blrQueueBeginRecording(foreign));
    OK(blrEnqueueFill(foreign, bytes, bytes, 1, 1, 0, NULL, NULL));
    OK(blrQueueDestroy(foreign)); /* and the batch that it recorded */
    OK(blrContextDestroy(other));
    CHECK_EQUAL(0, called);
    OK(blrQueueDestroy(queue));
    OK(blrQueueDestroy(free_queue));
    OK(blrBatchDestroy(batch));
    OK(blrEventRelease(event));
}

/* ---------------------------------------------------------------- threads */

enum { THREADS = 4, ROUNDS = 200 };

struct share {
    blr_queue_t queue;
    blr_batch_t batch;
};

static void submit_often(void *data)
{
    const struct share *share = data;
    for (int i = 0; i < ROUNDS; i++)
        OK(blrEnqueueBatch(share->queue, share->batch, 0, NULL, NULL));
    OK(blrQueueWait(share->queue, BLR_TIMEOUT_INFINITE));
}

/* A row that moves up by one cell per run: concurrent runs would lose cells. */
static void threads_share_a_batch(void)
{
    enum { CELLS = THREADS * ROUNDS + 1 };
    blr_queue_t recorder = open_queue(context, BLR_QUEUE_IN_ORDER);
    uint32_t *row = allocate(CELLS * sizeof *row);
    struct share shares[THREADS];
    blr_thread_t threads[THREADS];
    blr_batch_t batch = NULL;
    for (uint32_t i = 0; i < CELLS; i++)
        row[i] = i;
    OK(blrQueueBeginRecording(recorder));
    OK(blrEnqueueCopy(recorder, row, row + 1, (CELLS - 1) * sizeof *row, 0, NULL, NULL));
    OK(blrQueueEndRecording(recorder, &batch));
    for (int i = 0; i < THREADS; i++) {
        shares[i] = (struct share){open_queue(context, i % 2 ? BLR_QUEUE_IN_ORDER : BLR_QUEUE_OUT_OF_ORDER), batch};
        CHECK(blr_thread_create(&threads[i], submit_often, &shares[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        blr_thread_join(threads[i]);
        OK(blrQueueDestroy(shares[i].queue));
    }
    for (uint32_t i = 0; i < CELLS; i++)
        CHECK_EQUAL(CELLS - 1, row[i]);
    OK(blrBatchDestroy(batch));
    OK(blrMemoryFree(context, row));
    OK(blrQueueDestroy(recorder));
}

int main(void)
{
    context = open_context();
    runs_again_and_again();
    runs_follow_each_other();
    the_first_failure_ends_a_run();
    what_cannot_be();
    threads_share_a_batch();
    OK(blrContextDestroy(context));
    CHECK_EQUAL(0, object_count());
    return 0;
}
