/* External memory and semaphores: layouts, sizes, invalid descriptors, threads that wait and signal. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "fixture.h"
#include "external/swiftshader_semaphore.h"
#include "platform/threads.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

static int make_file(const char *name, uint64_t size, unsigned char **bytes)
{
    int file = memfd_create(name, MFD_CLOEXEC);
    CHECK(file >= 0 && ftruncate(file, (off_t)size) == 0);
    *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(*bytes != MAP_FAILED);
    return file;
}

static blr_external_memory_t import_memory(blr_context_t context, int file, uint64_t size)
{
    blr_external_memory_t memory = NULL;
    OK(blrExternalMemoryImport(context, file, size, &memory));
    return memory;
}

/* ---------------------------------------------------------------- memory */

/* The offset of pixel (x, y, z) of a level in each exporter's layout, for images of 4 bytes per pixel. */
struct layout {
    const char *name;
    uint64_t data; /* of the first byte in the file */
    uint64_t row[3], slice[3], level[3]; /* of 9 x 7 x 5 pixels with 3 levels */
    uint64_t size;
};

static const struct layout layouts[] = {
    {"bytes", 0, {36, 16, 8}, {252, 48, 8}, {0, 1260, 1356}, 1364},
    {"SwiftShader.Memory.7", 0, {40, 16, 8}, {320, 64, 16}, {0, 1600, 1728}, 1744},
    {"llvmpipe memory fd", 4096, {64, 64, 64}, {512, 256, 256}, {0, 2560, 3072}, 3328},
};

static void write_header(unsigned char *bytes, uint64_t size)
{
    uint64_t numbers[2] = {size, 4096};
    memcpy(bytes, numbers, sizeof numbers);
    memset(bytes + 16, 0xab, 20);
    bytes[4089] = 1; /* the allocator's layout */
}

static void test_layout(const struct layout *layout)
{
    uint64_t before = object_count(), size = layout->data + layout->size;
    blr_context_t context = open_context();
    blr_queue_t queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    unsigned char *bytes;
    int file = make_file(layout->name, size, &bytes);
    if (layout->data > 0)
        write_header(bytes, size);
    blr_external_memory_t memory = import_memory(context, file, layout->size), larger = NULL;
    FAILS(INVALID_SIZE, blrExternalMemoryImport(context, file, layout->size + 1, &larger), "the memory of file descriptor");
    close(file);
    blr_image_desc_t desc = plain_desc(9, 7, 5, BLR_CHANNEL_UNSIGNED_INT8, 4);
    desc.type = BLR_IMAGE_MIPMAP;
    desc.num_levels = 3;
    blr_image_t image = NULL, level = NULL;
    OK(blrExternalMemoryMapImage(memory, &desc, &image));
    OK(blrExternalMemoryRelease(memory));
    for (uint32_t number = 0; number < 3; number++) {
        uint32_t width = 9u >> number, height = 7u >> number, depth = number == 2 ? 1 : 5u >> number;
        uint32_t pixels[9 * 7 * 5];
        for (uint32_t i = 0; i < 9 * 7 * 5; i++)
            pixels[i] = 1000 * (number + 1) + i;
        OK(blrImageGetLevel(image, number, &level));
        blr_copy_region_t region = {.source = {.pointer = pixels},
                                    .destination = {.image = level},
                                    .extent = {width, height, depth},
                                    .pixel_size = 4};
        OK(blrEnqueueCopyImage(queue, &region, 0, NULL, NULL));
        OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
        for (uint32_t z = 0; z < depth; z++)
            for (uint32_t y = 0; y < height; y++)
                for (uint32_t x = 0; x < width; x++) {
                    uint32_t found;
                    memcpy(&found, bytes + layout->data + layout->level[number] + z * layout->slice[number] + y * layout->row[number] + 4 * x,
                           sizeof found);
                    CHECK_EQUAL(1000 * (number + 1) + (z * height + y) * width + x, found);
                }
    }
    OK(blrImageDestroy(image));
    OK(blrQueueDestroy(queue));
    OK(blrContextDestroy(context));
    munmap(bytes, size);
    CHECK_EQUAL(before, object_count());
}

static void test_ranges(void)
{
    uint64_t before = object_count();
    blr_context_t context = open_context();
    blr_queue_t queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    unsigned char *bytes, value = 7;
    int file = make_file("bytes", 10000, &bytes);
    blr_external_memory_t memory = import_memory(context, file, 9000);
    void *first = NULL, *second = NULL;
    blr_memory_properties_t properties;
    OK(blrExternalMemoryMapLinear(memory, 5000, 4000, &first));
    OK(blrExternalMemoryMapLinear(memory, 5000, 4000, &second));
    CHECK(first != second);
    OK(blrMemoryGetProperties(context, first, &properties));
    CHECK(properties.kind == BLR_MEMORY_DEVICE && properties.size == 4000 && properties.base == (uint64_t)(uintptr_t)first);
    FAILS(INVALID_SIZE, blrExternalMemoryMapLinear(memory, 5000, 4001, &second), "9000 bytes");
    FAILS(INVALID_SIZE, blrExternalMemoryMapLinear(memory, UINT64_MAX, 2, &second), "9000 bytes");
    FAILS(INVALID_SIZE, blrExternalMemoryMapLinear(memory, 0, 0, &second), "9000 bytes");
    OK(blrExternalMemoryRelease(memory));
    FAILS(INVALID_HANDLE, blrExternalMemoryMapLinear(memory, 0, 1, &second), "destroyed");
    OK(blrEnqueueFill(queue, first, &value, 1, 4000, 0, NULL, NULL));
    OK(blrMemoryFree(context, first)); /* the fill retains it */
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    CHECK(bytes[4999] == 0 && bytes[5000] == 7 && bytes[8999] == 7 && bytes[9000] == 0);
    OK(blrMemoryFree(context, second));
    OK(blrQueueDestroy(queue));
    OK(blrContextDestroy(context));
    close(file);
    munmap(bytes, 10000);
    CHECK_EQUAL(before, object_count());
}

static void test_what_is_no_memory(void)
{
    blr_context_t context = open_context();
    blr_external_memory_t memory = NULL;
    unsigned char *bytes;
    int file = make_file("llvmpipe memory fd", 8192, &bytes), pipes[2];
    FAILS(UNSUPPORTED, blrExternalMemoryImport(context, file, 100, &memory), "header");
    write_header(bytes, 8192);
    memory = import_memory(context, file, 4096);
    blr_image_desc_t desc = plain_desc(33, 32, 0, BLR_CHANNEL_UNSIGNED_INT8, 4);
    blr_image_t image = NULL;
    FAILS(INVALID_SIZE, blrExternalMemoryMapImage(memory, &desc, &image), "6144 bytes");
    desc.type = BLR_IMAGE_ARRAY;
    desc.array_size = 2;
    FAILS(UNSUPPORTED, blrExternalMemoryMapImage(memory, &desc, &image), "MIPMAP");
    FAILS(INVALID_ARGUMENT, blrExternalMemoryMapImage(memory, NULL, &image), "NULL");
    FAILS(INVALID_ARGUMENT, blrExternalMemoryMapImage(memory, &desc, NULL), "NULL");
    FAILS(INVALID_ARGUMENT, blrExternalMemoryMapLinear(memory, 0, 1, NULL), "NULL");
    OK(blrExternalMemoryRelease(memory));
    FAILS(INVALID_HANDLE, blrExternalMemoryRelease(memory), "destroyed");
    close(file);
    munmap(bytes, 8192);
    FAILS(INVALID_ARGUMENT, blrExternalMemoryImport(context, file, 100, &memory), "not an open file descriptor");
    FAILS(INVALID_ARGUMENT, blrExternalMemoryImport(context, -1, 100, &memory), "not an open file descriptor");
    CHECK(pipe(pipes) == 0);
    FAILS(INVALID_ARGUMENT, blrExternalMemoryImport(context, pipes[0], 100, &memory), "memfd");
    file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    FAILS(INVALID_ARGUMENT, blrExternalMemoryImport(context, file, 100, &memory), "reading and writing");
    close(file);
    close(pipes[0]);
    close(pipes[1]);
    FAILS(INVALID_ARGUMENT, blrExternalMemoryImport(context, 0, 100, NULL), "NULL");
    OK(blrContextDestroy(context));
}

/* ---------------------------------------------------------------- semaphores */

/* SwiftShader's struct of pthread objects, declared independently of the driver. */
struct flag {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int users;
    _Bool set;
};

static int make_flag(struct flag **flag)
{
    unsigned char *bytes;
    int file = make_file("SwiftShader.Semaphore.1", 4096, &bytes);
    pthread_mutexattr_t mutex;
    pthread_condattr_t condition;
    *flag = (struct flag *)bytes;
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&(*flag)->mutex, &mutex);
    pthread_condattr_init(&condition);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&(*flag)->changed, &condition);
    (*flag)->users = 1;
    return file;
}

static blr_external_semaphore_t import_semaphore(blr_context_t context, blr_semaphore_type_t type, int file)
{
    blr_external_semaphore_t semaphore = NULL;
    OK(blrExternalSemaphoreImport(context, type, file, &semaphore));
    return semaphore;
}

/* Two queues change one number in alternation, each after the other's signal. */
static void test_turns(blr_semaphore_type_t type, const int files[2])
{
    enum { TURNS = 200 };
    uint64_t before = object_count();
    blr_context_t context = open_context();
    blr_queue_t queues[2];
    blr_external_semaphore_t semaphores[2];
    void *memory = NULL;
    OK(blrMemoryAllocate(context, BLR_MEMORY_SHARED, 64, 0, &memory));
    for (int i = 0; i < 2; i++) {
        queues[i] = open_queue(context, BLR_QUEUE_IN_ORDER);
        semaphores[i] = import_semaphore(context, type, files[i]);
    }
    uint64_t *copies = calloc(TURNS, sizeof *copies);
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        OK(blrEnqueueFill(queues[0], memory, &turn, sizeof turn, 1, 0, NULL, NULL));
        OK(blrEnqueueSemaphoreSignal(queues[0], semaphores[0], turn + 1, 0, NULL, NULL));
        OK(blrEnqueueSemaphoreWait(queues[1], semaphores[0], turn + 1, 0, NULL, NULL));
        OK(blrEnqueueCopy(queues[1], &copies[turn], memory, sizeof turn, 0, NULL, NULL));
        OK(blrEnqueueSemaphoreSignal(queues[1], semaphores[1], turn + 1, 0, NULL, NULL));
        OK(blrEnqueueSemaphoreWait(queues[0], semaphores[1], turn + 1, 0, NULL, NULL));
    }
    for (int i = 0; i < 2; i++) {
        OK(blrExternalSemaphoreRelease(semaphores[i])); /* the commands retain them */
        FAILS(INVALID_HANDLE, blrExternalSemaphoreRelease(semaphores[i]), "destroyed");
    }
    for (int i = 0; i < 2; i++) {
        OK(blrQueueWait(queues[i], BLR_TIMEOUT_INFINITE));
        OK(blrQueueDestroy(queues[i]));
    }
    for (uint64_t turn = 0; turn < TURNS; turn++)
        CHECK_EQUAL(turn, copies[turn]);
    free(copies);
    OK(blrMemoryFree(context, memory));
    OK(blrContextDestroy(context));
    CHECK_EQUAL(before, object_count());
}

#if !defined(__GLIBC__)
static void test_locks_of_glibc(int file)
{
    blr_context_t context = open_context();
    blr_external_semaphore_t semaphore = NULL;
    FAILS(UNSUPPORTED, blrExternalSemaphoreImport(context, BLR_SEMAPHORE_BINARY, file, &semaphore), "without glibc");
    OK(blrContextDestroy(context));
}
#endif

static void test_all_turns(void)
{
    unsigned char *numbers[2];
    int events[2] = {eventfd(0, EFD_CLOEXEC), eventfd(0, EFD_CLOEXEC)};
    int timelines[2] = {make_file("timeline", 8, &numbers[0]), make_file("timeline", 8, &numbers[1])};
    struct flag *flags[2];
    int shared[2] = {make_flag(&flags[0]), make_flag(&flags[1])};
    test_turns(BLR_SEMAPHORE_BINARY, events);
    test_turns(BLR_SEMAPHORE_TIMELINE, timelines);
#if defined(__GLIBC__)
    test_turns(BLR_SEMAPHORE_BINARY, shared);
#else
    test_locks_of_glibc(shared[0]);
#endif
    for (int i = 0; i < 2; i++) {
        CHECK(flags[i]->users == 1 && !flags[i]->set);
        munmap(flags[i], 4096);
        munmap(numbers[i], 8);
        close(events[i]);
        close(timelines[i]);
        close(shared[i]);
    }
}

/* A wait without a signal does not block the host or other queues, and fails after its timeout. */
static void test_never_signalled(void)
{
    blr_context_t context = open_context();
    blr_queue_t queue = open_queue(context, BLR_QUEUE_OUT_OF_ORDER), other = open_queue(context, BLR_QUEUE_IN_ORDER);
    int file = eventfd(0, EFD_CLOEXEC);
    blr_external_semaphore_t semaphore = import_semaphore(context, BLR_SEMAPHORE_BINARY, file);
    blr_event_t waits[3];
    uint32_t numbers[2] = {0, 0};
    char name[64];
    snprintf(name, sizeof name, "semaphore 0x%" PRIxPTR " was", (uintptr_t)semaphore);
    setenv("BINDLESS_REFERENCE_TIMEOUT", "0.2", 1);
    for (int i = 0; i < 3; i++)
        OK(blrEnqueueSemaphoreWait(queue, semaphore, 0, 0, NULL, &waits[i]));
    unsetenv("BINDLESS_REFERENCE_TIMEOUT");
    OK(blrEnqueueFill(queue, &numbers[0], &(uint32_t){5}, 4, 1, 0, NULL, NULL));
    OK(blrEnqueueFill(other, &numbers[1], &(uint32_t){6}, 4, 1, 0, NULL, NULL));
    OK(blrQueueWait(other, BLR_TIMEOUT_INFINITE));
    FAILS(TIMEOUT, blrEventWait(waits[0], 1000000), "not complete");
    for (int i = 0; i < 3; i++) {
        FAILS(UNKNOWN, blrEventWait(waits[i], BLR_TIMEOUT_INFINITE), "was not signalled within 0.2 seconds");
        FAILS(UNKNOWN, blrEventWait(waits[i], BLR_TIMEOUT_INFINITE), name);
        OK(blrEventRelease(waits[i]));
    }
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    CHECK(numbers[0] == 5 && numbers[1] == 6);
    OK(blrExternalSemaphoreRelease(semaphore));
    close(file);
    OK(blrQueueDestroy(queue));
    OK(blrQueueDestroy(other));
    OK(blrContextDestroy(context));
}

static void test_what_is_no_semaphore(void)
{
    blr_context_t context = open_context(), another = open_context();
    blr_queue_t queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    blr_external_semaphore_t semaphore = NULL;
    unsigned char *bytes;
    struct flag *flag;
    int event = eventfd(0, EFD_CLOEXEC), empty = memfd_create("empty", MFD_CLOEXEC), shared = make_flag(&flag);
    int named = make_file("SwiftShader.Semaphore.2", 4096, &bytes), tiny = memfd_create("SwiftShader.Semaphore.3", MFD_CLOEXEC);
    FAILS(INVALID_ARGUMENT, blrExternalSemaphoreImport(context, BLR_SEMAPHORE_TIMELINE, event, &semaphore), "not a timeline");
    FAILS(INVALID_ARGUMENT, blrExternalSemaphoreImport(context, BLR_SEMAPHORE_TIMELINE, empty, &semaphore), "8 bytes");
    FAILS(INVALID_ARGUMENT, blrExternalSemaphoreImport(context, BLR_SEMAPHORE_TIMELINE, shared, &semaphore), "SwiftShader");
    FAILS(INVALID_ARGUMENT, blrExternalSemaphoreImport(context, BLR_SEMAPHORE_BINARY, empty, &semaphore), "eventfd");
#if defined(__GLIBC__)
    FAILS(INVALID_ARGUMENT, blrExternalSemaphoreImport(context, BLR_SEMAPHORE_BINARY, named, &semaphore), "contents");
    FAILS(INVALID_ARGUMENT, blrExternalSemaphoreImport(context, BLR_SEMAPHORE_BINARY, tiny, &semaphore), "size");
#endif
    FAILS(INVALID_ARGUMENT, blrExternalSemaphoreImport(context, BLR_SEMAPHORE_BINARY, 12345, &semaphore), "not an open file");
    FAILS(INVALID_ARGUMENT, blrExternalSemaphoreImport(context, (blr_semaphore_type_t)2, event, &semaphore), "TIMELINE");
    FAILS(INVALID_ARGUMENT, blrExternalSemaphoreImport(context, BLR_SEMAPHORE_BINARY, event, NULL), "NULL");
    FAILS(INVALID_HANDLE, blrEnqueueSemaphoreWait(queue, NULL, 0, 0, NULL, NULL), "NULL");
    semaphore = import_semaphore(another, BLR_SEMAPHORE_BINARY, event);
    FAILS(INVALID_HANDLE, blrEnqueueSemaphoreSignal(queue, semaphore, 0, 0, NULL, NULL), "another context");
    OK(blrExternalSemaphoreRelease(semaphore));
    munmap(bytes, 4096);
    munmap(flag, 4096);
    const int files[] = {event, empty, shared, named, tiny};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        close(files[i]);
    OK(blrQueueDestroy(queue));
    OK(blrContextDestroy(context));
    OK(blrContextDestroy(another));
}

int main(void)
{
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        test_layout(&layouts[i]);
    test_ranges();
    test_what_is_no_memory();
    test_all_turns();
    test_never_signalled();
    test_what_is_no_semaphore();
    return 0;
}
