/* Main paths with the n-th allocation failing, for every n: OUT_OF_MEMORY with an error text, and no leaks. */
#include "fixture.h"

#include "platform/heap.h"

/* Objects of a run, so that it can end at any point. */
struct held {
    blr_context_t context;
    blr_queue_t queues[2];
    blr_event_t events[8];
    blr_image_t images[2];
    blr_image_handle_t handles[2];
    void *memory[2];
};

static void drop(struct held *held)
{
    for (int i = 0; i < 8; i++)
        if (held->events[i] != NULL)
            OK(blrEventRelease(held->events[i]));
    for (int i = 0; i < 2; i++)
        if (held->queues[i] != NULL)
            OK(blrQueueDestroy(held->queues[i]));
    for (int i = 0; i < 2; i++)
        if (held->handles[i] != 0)
            OK(blrImageHandleDestroy(held->context, held->handles[i]));
    for (int i = 0; i < 2; i++)
        if (held->images[i] != NULL)
            OK(blrImageDestroy(held->images[i]));
    for (int i = 0; i < 2; i++)
        if (held->memory[i] != NULL)
            OK(blrMemoryFree(held->context, held->memory[i]));
    if (held->context != NULL)
        OK(blrContextDestroy(held->context));
}

static void fail_on_purpose(void *data) { (void)blrHostFunctionFail(BLR_RESULT_INVALID_SIZE, data); }

/* Returns the code of the first call that fails; it must be OUT_OF_MEMORY with an error text. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        blr_result_t result_ = (call);                                                                                 \
        if (result_ != BLR_RESULT_SUCCESS) {                                                                           \
            check_result(__FILE__, __LINE__, #call, BLR_RESULT_OUT_OF_MEMORY, result_, "memory");                      \
            return;                                                                                                    \
        }                                                                                                              \
    } while (0)

static unsigned char bytes[4096];
static int32_t places[64][2];
static float values[64];

static void path(struct held *held)
{
    blr_device_t device = open_device();
    blr_image_desc_t desc = plain_desc(8, 8, 0, BLR_CHANNEL_FP32, 1), mips = desc;
    blr_sampler_desc_t sampler = plain_sampler();
    mips.type = BLR_IMAGE_MIPMAP;
    mips.num_levels = 3;
    TRY(blrContextCreate(device, &held->context));
    TRY(blrQueueCreate(held->context, BLR_QUEUE_IN_ORDER, &held->queues[0]));
    TRY(blrQueueCreate(held->context, BLR_QUEUE_OUT_OF_ORDER, &held->queues[1]));
    TRY(blrMemoryAllocate(held->context, BLR_MEMORY_DEVICE, 512, 0, &held->memory[0]));
    TRY(blrMemoryAllocatePitched(held->context, 32, 8, 4, &held->memory[1], &(uint64_t){0}));
    TRY(blrImageCreate(held->context, &desc, &held->images[0]));
    TRY(blrImageCreate(held->context, &mips, &held->images[1]));
    TRY(blrUnsampledImageCreate(held->context, held->images[0], &desc, &held->handles[0]));
    TRY(blrSampledImageCreateFromMemory(held->context, held->memory[1], 32, &desc, &sampler, &held->handles[1]));
    TRY(blrEventCreateUser(held->context, &held->events[0]));
    TRY(blrEnqueueCopy(held->queues[0], held->memory[0], bytes, 512, 1, &held->events[0], &held->events[1]));
    TRY(blrEnqueueFill(held->queues[1], held->memory[1], bytes, 4, 8, 0, NULL, &held->events[2]));
    TRY(blrEnqueueBarrier(held->queues[1], 0, NULL, NULL));
    blr_event_t many[20];
    for (int i = 0; i < 20; i++)
        many[i] = held->events[1 + i % 2];
    TRY(blrEnqueueBarrier(held->queues[1], 20, many, &held->events[3]));
    OK(blrEventSignalUser(held->events[0], BLR_RESULT_SUCCESS));
    blr_copy_region_t region = {.extent = {8, 8, 1}, .pixel_size = 4};
    region.source.pointer = bytes;
    region.destination.pointer = bytes + 4; /* overlapping: the copy allocates a snapshot when it runs */
    TRY(blrEnqueueCopyImage(held->queues[0], &region, 0, NULL, &held->events[4]));
    blr_image_call_t call = {.operation = BLR_OPERATION_FETCH, .handle = held->handles[0], .count = 64,
                             .coordinates = places, .values = values, .value_type = BLR_ELEMENT_F32,
                             .value_channels = 1};
    TRY(blrEnqueueImageCall(held->queues[0], &call, 0, NULL, &held->events[5]));
    TRY(blrEnqueueHostFunction(held->queues[0], fail_on_purpose, "on purpose", 0, NULL, &held->events[6]));
    TRY(blrEventWait(held->events[4], BLR_TIMEOUT_INFINITE));
    TRY(blrEventWait(held->events[5], BLR_TIMEOUT_INFINITE));
    blr_result_t code = blrEventWait(held->events[6], BLR_TIMEOUT_INFINITE);
    CHECK_EQUAL(BLR_RESULT_INVALID_SIZE, code); /* even without memory for the error text */
    TRY(blrQueueWait(held->queues[0], BLR_TIMEOUT_INFINITE));
    TRY(blrQueueWait(held->queues[1], BLR_TIMEOUT_INFINITE));
}

int main(void)
{
    struct held warm = {0};
    path(&warm); /* allocates the handle table once */
    drop(&warm);
    CHECK_EQUAL(0, object_count());
    int64_t n = 1;
    for (;; n++) {
        struct held held = {0};
        blr_allocate_fail_after(n);
        path(&held);
        bool reached = blr_allocate_count() >= n;
        blr_allocate_fail_after(0);
        drop(&held);
        CHECK_EQUAL(0, object_count());
        if (!reached)
            break;
    }
    CHECK(n > 30); /* the path has more than 30 allocations */
    struct held again = {0};
    path(&again);
    drop(&again);
    return 0;
}
