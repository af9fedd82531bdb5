/* Registered host memory: accesses that succeed and accesses that fail, overlapping ranges, registrations that end
 * while launches are pending or running, threads. */
#include "fixture.h"

#include "platform/heap.h"
#include "platform/threads.h"

#define OPCODE(opcode, operands) ((operands + 1u) << 16 | (opcode))

/* out[id] = in[id] + value */
static const uint32_t add_words[] = {
    0x07230203u, 0x00010400u, 0, 32, 0,
    OPCODE(17, 1), 6,                              /* OpCapability Kernel */
    OPCODE(14, 2), 2, 2,                           /* OpMemoryModel Physical64 OpenCL */
    OPCODE(15, 4), 6, 10, 0x00646461u, 9,          /* OpEntryPoint Kernel %10 "add" %9 */
    OPCODE(71, 3), 9, 11, 28,                      /* OpDecorate %9 BuiltIn GlobalInvocationId */
    OPCODE(19, 1), 1,                              /* %1 = OpTypeVoid */
    OPCODE(21, 3), 2, 32, 0,                       /* %2 = OpTypeInt 32 */
    OPCODE(21, 3), 3, 64, 0,                       /* %3 = OpTypeInt 64 */
    OPCODE(32, 3), 4, 5, 2,                        /* %4 = OpTypePointer CrossWorkgroup %2 */
    OPCODE(33, 5), 5, 1, 4, 4, 2,                  /* %5 = OpTypeFunction void (%4, %4, %2) */
    OPCODE(23, 3), 6, 3, 3,                        /* %6 = OpTypeVector %3 3 */
    OPCODE(32, 3), 7, 1, 6,                        /* %7 = OpTypePointer Input %6 */
    OPCODE(59, 3), 7, 9, 1,                        /* %9 = OpVariable Input */
    OPCODE(54, 4), 1, 10, 0, 5,                    /* %10 = OpFunction */
    OPCODE(55, 2), 4, 11,                          /* %11 = out */
    OPCODE(55, 2), 4, 12,                          /* %12 = in */
    OPCODE(55, 2), 2, 13,                          /* %13 = value */
    OPCODE(248, 1), 14,
    OPCODE(61, 3), 6, 15, 9,                       /* %15 = OpLoad %9 */
    OPCODE(81, 4), 3, 16, 15, 0,                   /* %16 = OpCompositeExtract %15 0 */
    OPCODE(70, 4), 4, 17, 12, 16,                  /* %17 = OpInBoundsPtrAccessChain in %16 */
    OPCODE(61, 3), 2, 18, 17,                      /* %18 = OpLoad */
    OPCODE(128, 4), 2, 19, 18, 13,                 /* %19 = OpIAdd %18 value */
    OPCODE(70, 4), 4, 20, 11, 16,                  /* %20 = OpInBoundsPtrAccessChain out %16 */
    OPCODE(62, 2), 20, 19,                         /* OpStore */
    OPCODE(253, 0),
    OPCODE(56, 0),
};

enum { COUNT = 1000, BYTES = 4 * COUNT };

static blr_context_t context, other_context;
static blr_queue_t queue;
static blr_module_t module;
static blr_kernel_t add;
static uint32_t in[COUNT], out[COUNT];

static blr_result_t submit(blr_queue_t to, uint32_t *result, const uint32_t *source, uint64_t count, uint32_t value,
                           blr_event_t after)
{
    const void *arguments[] = {&result, &source, &value};
    const uint64_t sizes[] = {8, 8, 4};
    blr_launch_t launch = {.dimensions = 1, .global_size = {count}, .argument_count = 3, .arguments = arguments,
                           .argument_sizes = sizes};
    return blrEnqueueKernel(to, add, &launch, after != NULL, &after, NULL);
}

static blr_result_t run(uint32_t *result, const uint32_t *source, uint64_t count, uint32_t value)
{
    OK(submit(queue, result, source, count, value, NULL));
    return blrQueueWait(queue, BLR_TIMEOUT_INFINITE);
}

static void fill(void)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        in[i] = i * i;
        out[i] = 0xffffffffu;
    }
}

static void expect(uint32_t first, uint32_t end, uint32_t value)
{
    for (uint32_t i = 0; i < COUNT; i++)
        CHECK_EQUAL(i >= first && i < end ? i * i + value : 0xffffffffu, out[i]);
}

static void reached_while_registered(void)
{
    blr_memory_properties_t p;
    uint64_t before = object_count();
    fill();
    FAILS(KERNEL_FAULT, run(out, in, COUNT, 1), "reads 4 bytes");
    OK(blrMemoryRegister(context, in, BYTES, 0));
    FAILS(KERNEL_FAULT, run(out, in, COUNT, 1), "writes 4 bytes");
    OK(blrMemoryRegister(context, out, BYTES, 1));
    CHECK_EQUAL(before + 2, object_count());
    expect(0, 0, 0);
    OK(run(out, in, COUNT, 1));
    expect(0, COUNT, 1);
    OK(blrMemoryGetProperties(context, out, &p));
    CHECK(p.kind == BLR_MEMORY_UNKNOWN && p.size == 0 && p.context == NULL);
    FAILS(INVALID_ARGUMENT, blrMemoryFree(context, out), "not memory of this driver");

    /* From inside the range, and up to its end. */
    fill();
    OK(run(out + 300, in + 300, COUNT - 300, 2));
    expect(300, COUNT, 2);
    char place[64];
    snprintf(place, sizeof place, "item_id (700): reads 4 bytes at 0x%" PRIx64, (uint64_t)(uintptr_t)(in + COUNT));
    FAILS(KERNEL_FAULT, run(out + 300, in + 300, COUNT - 299, 2), place);

    /* Registered read-only. */
    fill();
    FAILS(KERNEL_FAULT, run(in, out, COUNT, 3), "only to be read");
    CHECK(in[0] == 0 && in[COUNT - 1] == (COUNT - 1) * (COUNT - 1));

    OK(blrMemoryUnregister(context, in, BYTES, 0));
    OK(blrMemoryUnregister(context, out, BYTES, 1));
    FAILS(KERNEL_FAULT, run(out, in, COUNT, 1), "reads 4 bytes");
    CHECK_EQUAL(before, object_count());
}

static void overlapping(void)
{
    fill();
    OK(blrMemoryRegister(context, in, BYTES / 2, 0));
    OK(blrMemoryRegister(context, in + COUNT / 4, BYTES * 3 / 4, 0));
    OK(blrMemoryRegister(context, out, BYTES, 0));
    OK(blrMemoryRegister(context, out, BYTES, 1));
    OK(blrMemoryRegister(context, out, BYTES, 1)); /* overlapping registrations: the one with write access allows writes */
    OK(run(out, in, COUNT, 4));
    expect(0, COUNT, 4);
    OK(blrMemoryUnregister(context, out, BYTES, 1));
    OK(run(out, in, COUNT, 5));
    expect(0, COUNT, 5);
    OK(run(out, out, COUNT, 1)); /* read through one, written through the other */
    expect(0, COUNT, 6);
    OK(blrMemoryUnregister(context, out, BYTES, 1));
    FAILS(INVALID_ARGUMENT, blrMemoryUnregister(context, out, BYTES, 1), "not registered here for reading and writing");
    FAILS(KERNEL_FAULT, run(out, in, COUNT, 7), "only to be read");
    expect(0, COUNT, 6);
    OK(blrMemoryUnregister(context, in, BYTES / 2, 0));
    OK(blrMemoryRegister(context, out, BYTES, 1));
    FAILS(KERNEL_FAULT, run(out, in, COUNT, 6), "reads 4 bytes");
    OK(run(out + COUNT / 4, in + COUNT / 4, COUNT * 3 / 4, 7));
    for (uint32_t i = COUNT / 4; i < COUNT; i++)
        CHECK_EQUAL(i * i + 7, out[i]);
    OK(blrMemoryUnregister(context, in + COUNT / 4, BYTES * 3 / 4, 0));
    OK(blrMemoryUnregister(context, out, BYTES, 0));
    OK(blrMemoryUnregister(context, out, BYTES, 1));
}

/* Many ranges around one address: a launch retains them all. */
static void unregistered_while_pending(void)
{
    enum { MANY = 40 };
    uint64_t before = object_count();
    blr_event_t gate = NULL;
    fill();
    OK(blrEventCreateUser(context, &gate));
    for (uint32_t i = 1; i <= MANY; i++)
        OK(blrMemoryRegister(context, in, BYTES / MANY * i, 0));
    OK(blrMemoryRegister(context, out, BYTES, 0));
    OK(blrMemoryRegister(context, out, BYTES, 1));
    OK(submit(queue, out, in, COUNT, 8, gate));
    for (uint32_t i = 1; i <= MANY; i++)
        OK(blrMemoryUnregister(context, in, BYTES / MANY * i, 0));
    OK(blrMemoryUnregister(context, out, BYTES, 1));
    OK(blrMemoryUnregister(context, out, BYTES, 0));
    expect(0, 0, 0);
    OK(blrEventSignalUser(gate, BLR_RESULT_SUCCESS));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    expect(0, COUNT, 8);
    FAILS(KERNEL_FAULT, run(out, in, COUNT, 1), "reads 4 bytes");
    OK(blrEventRelease(gate));
    while (object_count() != before) /* the thread that ran it releases the references */
        ;
}

static void unregistered_while_running(void)
{
    enum { LARGE = 200000, ROUNDS = 8 };
    static uint32_t from[LARGE], to[LARGE];
    for (uint32_t i = 0; i < LARGE; i++)
        from[i] = i;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        OK(blrMemoryRegister(context, from, sizeof from, 0));
        OK(blrMemoryRegister(context, to, sizeof to, 1));
        OK(submit(queue, to, from, LARGE, round, NULL));
        OK(blrMemoryUnregister(context, from, sizeof from, 0));
        OK(blrMemoryUnregister(context, to, sizeof to, 1));
        OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
        for (uint32_t i = 0; i < LARGE; i++)
            CHECK(to[i] == i + round);
    }
}

static void refusals(void)
{
    void *own = NULL;
    FAILS(INVALID_HANDLE, blrMemoryRegister(NULL, in, 4, 0), "context");
    FAILS(INVALID_HANDLE, blrMemoryUnregister((blr_context_t)queue, in, 4, 0), "");
    FAILS(INVALID_ARGUMENT, blrMemoryRegister(context, NULL, 4, 0), "NULL");
    FAILS(INVALID_ARGUMENT, blrMemoryUnregister(context, NULL, 4, 0), "NULL");
    FAILS(INVALID_ARGUMENT, blrMemoryRegister(context, in, 4, 2), "writable is 2");
    FAILS(INVALID_SIZE, blrMemoryRegister(context, in, 0, 0), "0 bytes");
    FAILS(INVALID_SIZE, blrMemoryRegister(context, in, UINT64_MAX, 0), "beyond the address space");
    FAILS(INVALID_ARGUMENT, blrMemoryUnregister(context, in, BYTES, 0), "not registered here for reading alone");
    OK(blrMemoryAllocate(context, BLR_MEMORY_SHARED, BYTES, 0, &own));
    FAILS(INVALID_ARGUMENT, blrMemoryRegister(context, own, 4, 1), "hold memory of this driver");
    FAILS(INVALID_ARGUMENT, blrMemoryRegister(context, (char *)own - 8, 16, 1), "hold memory of this driver");
    OK(blrMemoryFree(context, own));

    /* Of another context, size or address. */
    fill();
    OK(blrMemoryRegister(other_context, in, BYTES, 0));
    OK(blrMemoryRegister(context, out, BYTES, 1));
    FAILS(KERNEL_FAULT, run(out, in, COUNT, 1), "reads 4 bytes");
    FAILS(INVALID_ARGUMENT, blrMemoryUnregister(context, in, BYTES, 0), "not registered");
    FAILS(INVALID_ARGUMENT, blrMemoryUnregister(context, out, BYTES - 4, 1), "not registered");
    FAILS(INVALID_ARGUMENT, blrMemoryUnregister(context, out + 1, BYTES, 1), "not registered");
    FAILS(INVALID_ARGUMENT, blrMemoryUnregister(context, out, BYTES, 0), "not registered");
    OK(blrMemoryUnregister(other_context, in, BYTES, 0));
    OK(blrMemoryUnregister(context, out, BYTES, 1));
}

static void after_the_context(void)
{
    uint64_t before = object_count();
    blr_context_t gone = open_context();
    OK(blrMemoryRegister(gone, in, BYTES, 0));
    OK(blrContextDestroy(gone));
    FAILS(INVALID_HANDLE, blrMemoryRegister(gone, in, BYTES, 0), "destroyed");
    OK(blrMemoryUnregister(gone, in, BYTES, 0));
    FAILS(INVALID_HANDLE, blrMemoryUnregister(gone, in, BYTES, 0), "destroyed");
    CHECK_EQUAL(before, object_count());
}

/* Threads register parts of one array, and each an array of its own. */
static void work(void *argument)
{
    enum { ROUNDS = 100 };
    const uint32_t number = *(const uint32_t *)argument;
    static const uint64_t multiple = 17;
    uint32_t *own = malloc(BYTES);
    blr_queue_t to = open_queue(context, BLR_QUEUE_IN_ORDER);
    CHECK(own != NULL);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t first = (number * 31 + round) % 500, count = 100 + round;
        OK(blrMemoryRegister(context, in + first, count * 4u, 0));
        OK(blrMemoryRegister(context, own, BYTES, 1));
        OK(submit(to, own, in + first, count, number, NULL));
        if (round % multiple == 0) { /* other threads register parts of the array meanwhile */
            OK(blrMemoryUnregister(context, in + first, count * 4u, 0));
            OK(blrMemoryUnregister(context, own, BYTES, 1));
        }
        OK(blrQueueWait(to, BLR_TIMEOUT_INFINITE));
        for (uint32_t i = 0; i < count; i++)
            CHECK(own[i] == (first + i) * (first + i) + number);
        if (round % multiple != 0) {
            OK(blrMemoryUnregister(context, own, BYTES, 1));
            OK(blrMemoryUnregister(context, in + first, count * 4u, 0));
        }
    }
    OK(blrQueueDestroy(to));
    free(own);
}

static void threads(void)
{
    enum { THREADS = 6 };
    blr_thread_t started[THREADS];
    uint32_t numbers[THREADS];
    fill();
    for (uint32_t i = 0; i < THREADS; i++) {
        numbers[i] = i;
        CHECK(blr_thread_create(&started[i], work, &numbers[i]));
    }
    for (uint32_t i = 0; i < THREADS; i++)
        blr_thread_join(started[i]);
}

/* The n-th allocation fails, for every n. */
static void without_memory(void)
{
    uint64_t before = object_count();
    bool reached = true;
    for (int64_t n = 1; reached; n++) {
        fill();
        blr_allocate_fail_after(n);
        blr_result_t result = blrMemoryRegister(context, in, BYTES, 0);
        bool first = result == BLR_RESULT_SUCCESS, second = false;
        if (first)
            result = blrMemoryRegister(context, out, BYTES, 1);
        second = first && result == BLR_RESULT_SUCCESS;
        if (second)
            result = submit(queue, out, in, COUNT, 9, NULL);
        if (second && result == BLR_RESULT_SUCCESS)
            result = blrQueueWait(queue, BLR_TIMEOUT_INFINITE);
        reached = blr_allocate_count() >= n;
        blr_allocate_fail_after(0);
        CHECK_EQUAL(reached ? BLR_RESULT_OUT_OF_MEMORY : BLR_RESULT_SUCCESS, result);
        while (blrQueueWait(queue, BLR_TIMEOUT_INFINITE) != BLR_RESULT_SUCCESS)
            ;
        if (second)
            OK(blrMemoryUnregister(context, out, BYTES, 1));
        if (first)
            OK(blrMemoryUnregister(context, in, BYTES, 0));
        while (object_count() != before) /* the thread that ran it releases the references */
            ;
    }
    expect(0, COUNT, 9);
}

int main(void)
{
    context = open_context();
    other_context = open_context();
    queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    OK(blrModuleCreate(context, add_words, sizeof add_words, 0, NULL, &module));
    OK(blrKernelCreate(module, "add", &add));
    reached_while_registered();
    overlapping();
    unregistered_while_pending();
    unregistered_while_running();
    refusals();
    after_the_context();
    threads();
    without_memory();
    OK(blrKernelDestroy(add));
    OK(blrModuleDestroy(module));
    OK(blrQueueDestroy(queue));
    OK(blrContextDestroy(other_context));
    OK(blrContextDestroy(context));
    CHECK_EQUAL(0, object_count());
    return 0;
}
