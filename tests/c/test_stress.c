/* Sixteen threads on shared and private objects: random creation, use and destruction. */
#include "fixture.h"
#include "platform/threads.h"

enum { THREADS = 16, ROUNDS = 600, SHARED_EVENTS = 32, PIXELS = 64 };

static blr_context_t context;
static blr_queue_t shared_queues[4];
static _Atomic(blr_event_t) shared_events[SHARED_EVENTS];
static _Atomic int counted;
static _Atomic int submitted;

static void count_one(void *data) { atomic_fetch_add((_Atomic int *)data, 1); }

static void fail_now(void *data) { OK(blrHostFunctionFail(BLR_RESULT_UNKNOWN, data)); }

/* Replaces the event in a slot and releases the old one; every event is released once. */
static void exchange(uint32_t place, blr_event_t event)
{
    blr_event_t old = atomic_exchange(&shared_events[place % SHARED_EVENTS], event);
    if (old != NULL)
        OK(blrEventRelease(old));
}

/* Adds a reference to a shared event; NULL when its owner released it first. */
static blr_event_t borrow(uint32_t place)
{
    blr_event_t event = atomic_load(&shared_events[place % SHARED_EVENTS]);
    return event != NULL && blrEventRetain(event) == BLR_RESULT_SUCCESS ? event : NULL;
}

/* Writes a number everywhere, copies it out and checks it: a private in-order queue must not reorder. */
static void image_round(blr_queue_t queue, uint32_t number)
{
    blr_image_desc_t desc = plain_desc(PIXELS, 0, 0, BLR_CHANNEL_UNSIGNED_INT32, 1);
    blr_image_t image = NULL;
    blr_image_handle_t handle = 0;
    uint32_t colours[PIXELS], back[PIXELS];
    int32_t places[PIXELS];
    for (int i = 0; i < PIXELS; i++) {
        colours[i] = number + (uint32_t)i;
        places[i] = i;
    }
    OK(blrImageCreate(context, &desc, &image));
    OK(blrUnsampledImageCreate(context, image, &desc, &handle));
    blr_image_call_t call = {.operation = BLR_OPERATION_WRITE, .handle = handle, .count = PIXELS, .coordinates = places,
                             .values = colours, .value_type = BLR_ELEMENT_U32, .value_channels = 1};
    blr_copy_region_t region = {.source.image = image, .destination.pointer = back, .extent = {PIXELS, 1, 1},
                                .pixel_size = 4};
    OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
    OK(blrEnqueueCopyImage(queue, &region, 0, NULL, NULL));
    if (number % 2 == 0) { /* destroyed before or after the work */
        OK(blrImageHandleDestroy(context, handle));
        OK(blrImageDestroy(image));
    }
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    CHECK(memcmp(colours, back, sizeof back) == 0);
    if (number % 2 != 0) {
        OK(blrImageDestroy(image));
        OK(blrImageHandleDestroy(context, handle));
    }
}

static void memory_round(blr_queue_t queue, uint32_t number)
{
    uint64_t size = 1000 + number % 5000;
    void *memory = NULL;
    unsigned char *back = malloc(size);
    CHECK(back != NULL);
    OK(blrMemoryAllocate(context, BLR_MEMORY_SHARED, size, 0, &memory));
    OK(blrEnqueueFill(queue, memory, &number, 1, size, 0, NULL, NULL));
    OK(blrEnqueueCopy(queue, back, memory, size, 0, NULL, NULL));
    OK(blrMemoryFree(context, memory));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    for (uint64_t i = 0; i < size; i++)
        CHECK(back[i] == (unsigned char)number);
    free(back);
}

static void live(void *argument)
{
    uint32_t state = (uint32_t)(uintptr_t)argument * 2654435761u + 1;
    blr_queue_t own = open_queue(context, BLR_QUEUE_IN_ORDER);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t number = random_next(&state);
        blr_queue_t shared = shared_queues[number >> 8 & 3];
        blr_event_t event = NULL, wait = NULL;
        switch (number % 8) {
        case 0: image_round(own, number >> 3); break;
        case 1: memory_round(own, number >> 3); break;
        case 2: { /* work that waits for another thread's event, which may have failed */
            wait = borrow(number >> 12);
            OK(blrEnqueueHostFunction(shared, count_one, &counted, wait != NULL, &wait, &event));
            blr_result_t result = blrEventWait(event, BLR_TIMEOUT_INFINITE);
            CHECK(result == BLR_RESULT_SUCCESS || (wait != NULL && result == BLR_RESULT_DEPENDENCY_FAILED));
            if (result == BLR_RESULT_SUCCESS)
                atomic_fetch_add(&submitted, 1);
            OK(blrEventRelease(event));
            break;
        }
        case 3:
            OK(blrEnqueueBarrier(shared, 0, NULL, &event));
            exchange(number >> 12, event);
            event = NULL;
            break;
        case 4:
            OK(blrEnqueueHostFunction(shared, fail_now, "on purpose", 0, NULL, &event));
            FAILS(UNKNOWN, blrEventWait(event, BLR_TIMEOUT_INFINITE), "on purpose");
            exchange(number >> 12, event);
            break;
        case 5: { /* a user event that other threads wait for */
            blr_event_t gate = NULL;
            OK(blrEventCreateUser(context, &gate));
            OK(blrEnqueueHostFunction(shared, count_one, &counted, 1, &gate, &event));
            OK(blrEventSignalUser(gate, BLR_RESULT_SUCCESS));
            OK(blrEventRelease(gate));
            OK(blrEventWait(event, BLR_TIMEOUT_INFINITE));
            atomic_fetch_add(&submitted, 1);
            OK(blrEventRelease(event));
            break;
        }
        case 6: { /* a short-lived queue */
            blr_queue_t brief = open_queue(context, (blr_queue_flags_t)(number >> 9 & 1));
            for (int i = 0; i < 5; i++)
                OK(blrEnqueueHostFunction(brief, count_one, &counted, 0, NULL, NULL));
            atomic_fetch_add(&submitted, 5);
            OK(blrQueueDestroy(brief));
            break;
        }
        case 7: {
            blr_result_t result = blrQueueWait(shared, number >> 9 & 1 ? MILLISECOND : BLR_TIMEOUT_INFINITE);
            CHECK(result == BLR_RESULT_SUCCESS || result == BLR_RESULT_TIMEOUT || result == BLR_RESULT_UNKNOWN ||
                  result == BLR_RESULT_DEPENDENCY_FAILED);
            break;
        }
        }
        if (wait != NULL)
            OK(blrEventRelease(wait));
    }
    OK(blrQueueDestroy(own));
}

int main(void)
{
    blr_thread_t threads[THREADS];
    context = open_context();
    for (int i = 0; i < 4; i++)
        shared_queues[i] = open_queue(context, (blr_queue_flags_t)(i & 1));
    for (int i = 0; i < THREADS; i++)
        CHECK(blr_thread_create(&threads[i], live, (void *)(uintptr_t)(i + 1)));
    for (int i = 0; i < THREADS; i++)
        blr_thread_join(threads[i]);
    for (uint32_t i = 0; i < SHARED_EVENTS; i++)
        exchange(i, NULL);
    for (int i = 0; i < 4; i++)
        OK(blrQueueDestroy(shared_queues[i]));
    CHECK_EQUAL(atomic_load(&submitted), atomic_load(&counted));
    OK(blrContextDestroy(context));
    CHECK_EQUAL(0, object_count());
    return 0;
}
