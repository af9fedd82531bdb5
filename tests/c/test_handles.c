/* Every function with a handle parameter, called with NULL, made-up numbers, handles of other kinds and destroyed
   ones. */
#include "fixture.h"
#include "platform/threads.h"

static blr_device_t device;
static blr_context_t context;
static blr_queue_t queue;
static blr_event_t event;
static blr_image_t image;
static blr_image_handle_t handle;
static blr_image_desc_t desc;

static void nothing(void *data) { (void)data; }

enum kind { DEVICE_KIND, CONTEXT_KIND, QUEUE_KIND, EVENT_KIND, IMAGE_KIND, HANDLE_KIND };

/* Calls a function of a kind with the given handle. */
static blr_result_t call(enum kind kind, int function, void *bad)
{
    static unsigned char bytes[64];
    void *pointer = NULL;
    uint64_t number = 0;
    uint32_t word = 0;
    blr_device_properties_t properties;
    blr_memory_properties_t memory;
    blr_sampler_desc_t sampler = plain_sampler();
    blr_context_t new_context;
    blr_queue_t new_queue;
    blr_event_t new_event;
    blr_image_t new_image;
    blr_image_handle_t new_handle;
    blr_image_desc_t own;
    blr_event_status_t status;
    blr_result_t code;
    const char *text;
    blr_copy_region_t region = {.extent = {1, 1, 1}, .pixel_size = 4};
    region.source.pointer = bytes;
    region.destination.pointer = bytes + 32;
    blr_image_call_t image_call = {.operation = BLR_OPERATION_FETCH, .handle = handle, .value_type = BLR_ELEMENT_F32,
                                   .value_channels = 4};
    switch (kind) {
    case DEVICE_KIND:
        switch (function) {
        case 0: return blrDeviceGetProperties(bad, &properties);
        case 1: return blrDeviceSupportsFormat(bad, BLR_CHANNEL_FP32, 4, &word);
        case 2: return blrDeviceGetTimestamp(bad, &number);
        case 3: return blrContextCreate(bad, &new_context);
        }
        break;
    case CONTEXT_KIND:
        switch (function) {
        case 0: return blrContextDestroy(bad);
        case 1: return blrMemoryAllocate(bad, BLR_MEMORY_DEVICE, 64, 0, &pointer);
        case 2: return blrMemoryAllocatePitched(bad, 64, 4, 4, &pointer, &number);
        case 3: return blrMemoryFree(bad, bytes);
        case 4: return blrMemoryGetProperties(bad, bytes, &memory);
        case 5: return blrQueueCreate(bad, BLR_QUEUE_IN_ORDER, &new_queue);
        case 6: return blrEventCreateUser(bad, &new_event);
        case 7: return blrImageCreate(bad, &desc, &new_image);
        case 8: return blrUnsampledImageCreate(bad, image, &desc, &new_handle);
        case 9: return blrSampledImageCreate(bad, image, &desc, &sampler, &new_handle);
        case 10: return blrSampledImageCreateFromMemory(bad, bytes, 64, &desc, &sampler, &new_handle);
        case 11: return blrImageHandleDestroy(bad, handle);
        }
        break;
    case QUEUE_KIND:
        switch (function) {
        case 0: return blrQueueDestroy(bad);
        case 1: return blrQueueWait(bad, 0);
        case 2: return blrQueueQuery(bad);
        case 3: return blrQueueTakeFailure(bad, &code, &text);
        case 4: return blrEnqueueBarrier(bad, 0, NULL, NULL);
        case 5: return blrEnqueueCopy(bad, bytes, bytes + 32, 8, 0, NULL, NULL);
        case 6: return blrEnqueueFill(bad, bytes, bytes + 32, 1, 8, 0, NULL, NULL);
        case 7: return blrEnqueueHostFunction(bad, nothing, NULL, 0, NULL, NULL);
        case 8: return blrEnqueueCopyImage(bad, &region, 0, NULL, NULL);
        case 9: return blrEnqueueImageCall(bad, &image_call, 0, NULL, NULL);
        }
        break;
    case EVENT_KIND: {
        blr_event_t wait = bad;
        switch (function) {
        case 0: return blrEventWait(bad, 0);
        case 1: return blrEventGetStatus(bad, &status);
        case 2: return blrEventGetTimestamps(bad, &number, &number, &number);
        case 3: return blrEventRetain(bad);
        case 4: return blrEventRelease(bad);
        case 5: return blrEventSignalUser(bad, BLR_RESULT_SUCCESS);
        case 6: return blrEventGetError(bad, &code, &text);
        case 7: return blrEnqueueBarrier(queue, 1, &wait, NULL);
        case 8: return blrEnqueueCopy(queue, bytes, bytes + 32, 8, 1, &wait, NULL);
        case 9: return blrEnqueueFill(queue, bytes, bytes + 32, 1, 8, 1, &wait, NULL);
        case 10: return blrEnqueueHostFunction(queue, nothing, NULL, 1, &wait, NULL);
        case 11: return blrEnqueueCopyImage(queue, &region, 1, &wait, NULL);
        case 12: return blrEnqueueImageCall(queue, &image_call, 1, &wait, NULL);
        }
        break;
    }
    case IMAGE_KIND:
        region.source.image = bad;
        switch (function) {
        case 0: return blrImageDestroy(bad);
        case 1: return blrImageGetDesc(bad, &own);
        case 2: return blrImageGetLevel(bad, 0, &new_image);
        case 3: return blrImageGetPointer(bad, &pointer);
        case 4: return blrUnsampledImageCreate(context, bad, &desc, &new_handle);
        case 5: return blrSampledImageCreate(context, bad, &desc, &sampler, &new_handle);
        case 6: return bad == NULL ? BLR_RESULT_INVALID_HANDLE : blrEnqueueCopyImage(queue, &region, 0, NULL, NULL);
        case 7:
            region.source.image = NULL;
            region.destination.image = bad;
            return bad == NULL ? BLR_RESULT_INVALID_HANDLE : blrEnqueueCopyImage(queue, &region, 0, NULL, NULL);
        }
        break;
    case HANDLE_KIND:
        image_call.handle = (blr_image_handle_t)(uintptr_t)bad;
        switch (function) {
        case 0: return blrImageHandleDestroy(context, (blr_image_handle_t)(uintptr_t)bad);
        case 1: return blrEnqueueImageCall(queue, &image_call, 0, NULL, NULL);
        }
        break;
    }
    return BLR_RESULT_UNKNOWN; /* no such function */
}

static const int function_counts[] = {4, 12, 10, 13, 8, 2};

static void refuse_everywhere(enum kind kind, void *bad, const char *text)
{
    for (int function = 0; function < function_counts[kind]; function++) {
        blr_result_t result = call(kind, function, bad);
        if (result != BLR_RESULT_INVALID_HANDLE) {
            fprintf(stderr, "kind %d, function %d, handle %p\n", kind, function, bad);
            FAILS(INVALID_HANDLE, result, NULL);
        }
        if (text != NULL)
            FAILS(INVALID_HANDLE, result, text);
    }
    CHECK_EQUAL(BLR_RESULT_UNKNOWN, call(kind, function_counts[kind], bad));
}

static void refuse_foreign_numbers(void)
{
    void *const own[] = {device, context, queue, event, image, (void *)(uintptr_t)handle};
    uint32_t state = 7;
    for (enum kind kind = DEVICE_KIND; kind <= HANDLE_KIND; kind++) {
        refuse_everywhere(kind, NULL, kind == IMAGE_KIND ? NULL : "NULL");
        refuse_everywhere(kind, (void *)(uintptr_t)1, "never made");
        refuse_everywhere(kind, (void *)(uintptr_t)UINT64_MAX, "never made");
        refuse_everywhere(kind, &state, NULL);
        for (enum kind other = DEVICE_KIND; other <= HANDLE_KIND; other++)
            if (other != kind)
                refuse_everywhere(kind, own[other], "where a");
        for (int i = 0; i < 2000; i++) {
            uint64_t number = (uint64_t)random_next(&state) << 32 | random_next(&state);
            /* A valid handle with one bit changed. */
            if (i % 2 == 0)
                number = (uint64_t)(uintptr_t)own[kind] ^ (uint64_t)1 << (i / 2 % 64);
            if (number != (uint64_t)(uintptr_t)own[kind]) {
                bool real = false;
                for (enum kind other = DEVICE_KIND; other <= HANDLE_KIND; other++)
                    real = real || number == (uint64_t)(uintptr_t)own[other];
                if (!real)
                    refuse_everywhere(kind, (void *)(uintptr_t)number, NULL);
            }
        }
    }
}

static void refuse_destroyed(void)
{
    void *const gone[] = {NULL, context, queue, event, image, (void *)(uintptr_t)handle};
    uint64_t before = object_count();
    CHECK(before > 0);
    OK(blrEventRelease(event));
    OK(blrImageHandleDestroy(context, handle));
    OK(blrImageDestroy(image));
    refuse_everywhere(EVENT_KIND, gone[EVENT_KIND], "destroyed");
    refuse_everywhere(HANDLE_KIND, gone[HANDLE_KIND], "destroyed");
    refuse_everywhere(IMAGE_KIND, gone[IMAGE_KIND], "destroyed");
    OK(blrQueueDestroy(queue));
    refuse_everywhere(QUEUE_KIND, gone[QUEUE_KIND], "destroyed");
    OK(blrContextDestroy(context));
    refuse_everywhere(CONTEXT_KIND, gone[CONTEXT_KIND], "destroyed");
    CHECK_EQUAL(0, object_count());
}

/* A reused table slot gets a new handle, and the old one stays invalid. */
static void never_repeat(void)
{
    enum { ROUNDS = 20000 };
    blr_context_t first = NULL, other = NULL;
    OK(blrContextCreate(device, &first));
    OK(blrContextDestroy(first));
    for (int i = 0; i < ROUNDS; i++) {
        OK(blrContextCreate(device, &other));
        CHECK(other != first);
        OK(blrContextDestroy(other));
    }
    FAILS(INVALID_HANDLE, blrContextDestroy(first), "destroyed");
    CHECK_EQUAL(0, object_count());
}

enum { SHARED_CONTEXTS = 64, RACERS = 8 };
static _Atomic(blr_context_t) shared[SHARED_CONTEXTS];
static _Atomic int destroyed;

/* Several threads destroy and use the same objects: each object is destroyed exactly once. */
static void race(void *argument)
{
    (void)argument;
    for (int i = 0; i < SHARED_CONTEXTS; i++) {
        blr_context_t one = atomic_load(&shared[i]);
        blr_memory_properties_t properties;
        blr_result_t result = blrMemoryGetProperties(one, &shared, &properties);
        CHECK(result == BLR_RESULT_SUCCESS || result == BLR_RESULT_INVALID_HANDLE);
        result = blrContextDestroy(one);
        CHECK(result == BLR_RESULT_SUCCESS || result == BLR_RESULT_INVALID_HANDLE);
        if (result == BLR_RESULT_SUCCESS)
            atomic_fetch_add(&destroyed, 1);
    }
}

static void destroy_once(void)
{
    for (int round = 0; round < 20; round++) {
        blr_thread_t threads[RACERS];
        atomic_store(&destroyed, 0);
        for (int i = 0; i < SHARED_CONTEXTS; i++) {
            blr_context_t made = NULL;
            OK(blrContextCreate(device, &made));
            atomic_store(&shared[i], made);
        }
        for (int i = 0; i < RACERS; i++)
            CHECK(blr_thread_create(&threads[i], race, NULL));
        for (int i = 0; i < RACERS; i++)
            blr_thread_join(threads[i]);
        CHECK_EQUAL(SHARED_CONTEXTS, atomic_load(&destroyed));
    }
    CHECK_EQUAL(0, object_count());
}

int main(void)
{
    device = open_device();
    context = open_context();
    queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    desc = plain_desc(8, 8, 0, BLR_CHANNEL_FP32, 4);
    OK(blrImageCreate(context, &desc, &image));
    OK(blrUnsampledImageCreate(context, image, &desc, &handle));
    OK(blrEnqueueBarrier(queue, 0, NULL, &event));
    OK(blrEventWait(event, BLR_TIMEOUT_INFINITE));
    CHECK(handle != 0);
    refuse_foreign_numbers();
    refuse_destroyed();
    never_repeat();
    destroy_once();
    return 0;
}
