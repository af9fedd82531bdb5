/* Allocations: kinds, alignment, limits, queries by address, refused frees, frees of memory in use. */
#include "fixture.h"

static blr_context_t context, other_context;

static void kinds_and_queries(void)
{
    static const blr_memory_kind_t kinds[] = {BLR_MEMORY_DEVICE, BLR_MEMORY_HOST, BLR_MEMORY_SHARED};
    for (int i = 0; i < 3; i++)
        for (uint64_t alignment = 0; alignment <= 1u << 22; alignment = alignment ? alignment * 4 : 1) {
            void *pointer = NULL;
            blr_memory_properties_t p;
            OK(blrMemoryAllocate(context, kinds[i], 1000, alignment, &pointer));
            CHECK((uintptr_t)pointer % (alignment ? alignment : 1) == 0);
            for (int byte = 0; byte < 1000; byte++)
                CHECK(((unsigned char *)pointer)[byte] == 0);
            memset(pointer, 0xa5, 1000);
            for (int offset = 0; offset < 1000; offset += 333) {
                OK(blrMemoryGetProperties(context, (char *)pointer + offset, &p));
                CHECK(p.kind == kinds[i] && p.base == (uintptr_t)pointer && p.size == 1000 && p.context == context);
            }
            OK(blrMemoryGetProperties(context, (char *)pointer + 1000, &p));
            CHECK(p.base != (uintptr_t)pointer);
            OK(blrMemoryGetProperties(context, (char *)pointer - 1, &p));
            CHECK(p.base != (uintptr_t)pointer);
            OK(blrMemoryFree(context, pointer));
            OK(blrMemoryGetProperties(context, pointer, &p));
            CHECK(p.kind == BLR_MEMORY_UNKNOWN && p.context == NULL && p.size == 0);
        }
    blr_memory_properties_t p;
    OK(blrMemoryGetProperties(context, &context, &p));
    CHECK(p.kind == BLR_MEMORY_UNKNOWN);
    OK(blrMemoryGetProperties(context, NULL, &p));
    CHECK(p.kind == BLR_MEMORY_UNKNOWN);
    FAILS(INVALID_ARGUMENT, blrMemoryGetProperties(context, &p, NULL), "NULL");
}

/* Thousands of allocations, freed in random order: each address is found in its own allocation only. */
static void many(void)
{
    enum { COUNT = 5000 };
    static void *pointers[COUNT];
    static uint64_t sizes[COUNT];
    uint32_t state = 11;
    uint64_t before = object_count();
    for (int i = 0; i < COUNT; i++) {
        sizes[i] = 1 + random_next(&state) % 700;
        OK(blrMemoryAllocate(context, BLR_MEMORY_DEVICE, sizes[i], 0, &pointers[i]));
    }
    CHECK_EQUAL(before + COUNT, object_count());
    for (int round = 0; round < 2 * COUNT; round++) {
        int i = (int)(random_next(&state) % COUNT);
        blr_memory_properties_t p;
        if (pointers[i] == NULL)
            continue;
        OK(blrMemoryGetProperties(context, (char *)pointers[i] + random_next(&state) % sizes[i], &p));
        CHECK(p.base == (uintptr_t)pointers[i] && p.size == sizes[i]);
        if (round % 3 == 0) {
            OK(blrMemoryFree(context, pointers[i]));
            FAILS(INVALID_ARGUMENT, blrMemoryFree(context, pointers[i]), "freed before");
            pointers[i] = NULL;
        }
    }
    for (int i = 0; i < COUNT; i++)
        if (pointers[i] != NULL)
            OK(blrMemoryFree(context, pointers[i]));
    CHECK_EQUAL(before, object_count());
}

static void refusals(void)
{
    blr_device_properties_t device;
    void *pointer = &device;
    uint64_t pitch = 0;
    OK(blrDeviceGetProperties(open_device(), &device));
    FAILS(INVALID_SIZE, blrMemoryAllocate(context, BLR_MEMORY_DEVICE, 0, 0, &pointer), "0 bytes");
    CHECK(pointer == NULL);
    FAILS(INVALID_ARGUMENT, blrMemoryAllocate(context, BLR_MEMORY_DEVICE, 64, 3, &pointer), "alignment 3");
    FAILS(INVALID_ARGUMENT, blrMemoryAllocate(context, BLR_MEMORY_DEVICE, 64, UINT64_C(1) << 62, &pointer), "alignment");
    FAILS(INVALID_ARGUMENT, blrMemoryAllocate(context, BLR_MEMORY_UNKNOWN, 64, 0, &pointer), "kind 0");
    FAILS(INVALID_ARGUMENT, blrMemoryAllocate(context, (blr_memory_kind_t)9, 64, 0, &pointer), "kind 9");
    FAILS(INVALID_ARGUMENT, blrMemoryAllocate(context, BLR_MEMORY_DEVICE, 64, 0, NULL), "NULL");
    const uint64_t absurd[] = {device.max_allocation_size + 1, device.global_memory_size * 4, UINT64_C(1) << 47,
                               INT64_MAX, UINT64_MAX - 4096, UINT64_MAX};
    for (int i = 0; i < 6; i++) {
        FAILS(OUT_OF_MEMORY, blrMemoryAllocate(context, BLR_MEMORY_SHARED, absurd[i], 0, &pointer), "at most");
        CHECK(pointer == NULL);
    }
    FAILS(INVALID_SIZE, blrMemoryAllocatePitched(context, 0, 4, 4, &pointer, &pitch), "at least 1");
    FAILS(INVALID_SIZE, blrMemoryAllocatePitched(context, 64, 0, 4, &pointer, &pitch), "at least 1");
    FAILS(INVALID_SIZE, blrMemoryAllocatePitched(context, 2097121, 1, 4, &pointer, &pitch), "at most");
    FAILS(INVALID_SIZE, blrMemoryAllocatePitched(context, 64, 65001, 4, &pointer, &pitch), "at most");
    FAILS(INVALID_ARGUMENT, blrMemoryAllocatePitched(context, 64, 4, 0, &pointer, &pitch), "element size 0");
    FAILS(INVALID_ARGUMENT, blrMemoryAllocatePitched(context, 64, 4, 17, &pointer, &pitch), "element size 17");
    FAILS(INVALID_ARGUMENT, blrMemoryAllocatePitched(context, 64, 4, 4, NULL, &pitch), "NULL");
    FAILS(INVALID_ARGUMENT, blrMemoryAllocatePitched(context, 64, 4, 4, &pointer, NULL), "NULL");

    int own = 0;
    FAILS(INVALID_ARGUMENT, blrMemoryFree(context, NULL), "not memory of this driver");
    FAILS(INVALID_ARGUMENT, blrMemoryFree(context, &own), "not memory of this driver");
    OK(blrMemoryAllocate(context, BLR_MEMORY_DEVICE, 64, 0, &pointer));
    FAILS(INVALID_ARGUMENT, blrMemoryFree(context, (char *)pointer + 8), "offset 8");
    FAILS(INVALID_HANDLE, blrMemoryFree(other_context, pointer), "another context");
    OK(blrMemoryFree(context, pointer));
}

static void pitched(void)
{
    for (uint64_t width = 1; width < 300; width += 7) {
        void *pointer = NULL;
        uint64_t pitch = 0;
        blr_memory_properties_t p;
        OK(blrMemoryAllocatePitched(context, width, 5, 4, &pointer, &pitch));
        CHECK(pitch % 32 == 0 && pitch >= width && pitch < width + 32);
        OK(blrMemoryGetProperties(context, pointer, &p));
        CHECK(p.kind == BLR_MEMORY_DEVICE && p.size >= pitch * 5);
        OK(blrMemoryFree(context, pointer));
    }
}

static void large(void)
{
    void *pointer = NULL;
    uint64_t size = (uint64_t)16 << 20;
    OK(blrMemoryAllocate(context, BLR_MEMORY_DEVICE, size, 0, &pointer));
    for (uint64_t i = 0; i < size; i += 4096)
        CHECK(((unsigned char *)pointer)[i] == 0);
    memset(pointer, 1, size);
    OK(blrMemoryFree(context, pointer));
}

/* Freed before a command that uses it starts: the command still accesses the memory. */
static void freed_while_used(void)
{
    blr_queue_t queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    blr_event_t gate = NULL;
    void *source = NULL, *destination = NULL;
    unsigned char result[256];
    OK(blrEventCreateUser(context, &gate));
    OK(blrMemoryAllocate(context, BLR_MEMORY_DEVICE, 256, 0, &source));
    OK(blrMemoryAllocate(context, BLR_MEMORY_SHARED, 256, 0, &destination));
    memset(source, 0x5a, 256);
    OK(blrEnqueueCopy(queue, destination, source, 256, 1, &gate, NULL));
    OK(blrEnqueueCopy(queue, result, destination, 256, 0, NULL, NULL));
    OK(blrMemoryFree(context, source));
    OK(blrMemoryFree(context, destination));
    FAILS(INVALID_ARGUMENT, blrMemoryFree(context, source), "freed before");
    FAILS(TIMEOUT, blrQueueWait(queue, MILLISECOND), "still has work");
    OK(blrEventSignalUser(gate, BLR_RESULT_SUCCESS));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    for (int i = 0; i < 256; i++)
        CHECK_EQUAL(0x5a, result[i]);
    OK(blrEventRelease(gate));
    OK(blrQueueDestroy(queue));
}

/* Objects of a destroyed context keep working. */
static void after_the_context(void)
{
    blr_context_t gone = open_context();
    void *pointer = NULL;
    blr_memory_properties_t p;
    uint64_t before = object_count();
    OK(blrMemoryAllocate(gone, BLR_MEMORY_DEVICE, 128, 0, &pointer));
    OK(blrContextDestroy(gone));
    memset(pointer, 3, 128);
    OK(blrMemoryGetProperties(gone, pointer, &p));
    CHECK(p.size == 128 && p.context == gone);
    OK(blrMemoryFree(gone, pointer));
    FAILS(INVALID_HANDLE, blrMemoryFree(gone, pointer), "destroyed");
    CHECK_EQUAL(before - 1, object_count());
}

int main(void)
{
    context = open_context();
    other_context = open_context();
    kinds_and_queries();
    many();
    refusals();
    pitched();
    large();
    freed_while_used();
    after_the_context();
    OK(blrContextDestroy(other_context));
    OK(blrContextDestroy(context));
    CHECK_EQUAL(0, object_count());
    return 0;
}
