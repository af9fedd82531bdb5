/* SPIR-V modules built word by word: refusals, reflection, launches and their refusals. */
#include "fixture.h"

#include "platform/heap.h"

#include <stdlib.h>

static blr_context_t context;
static blr_queue_t queue;

/* ---------------------------------------------------------------- words */

struct words {
    uint32_t word[1024];
    uint32_t count;
};

static void put(struct words *words, uint32_t opcode, uint32_t operands, const uint32_t *operand)
{
    CHECK(words->count + operands + 1 <= 1024);
    words->word[words->count++] = (operands + 1) << 16 | opcode;
    for (uint32_t i = 0; i < operands; i++)
        words->word[words->count++] = operand[i];
}
#define PUT(words, opcode, ...)                                                                                        \
    do {                                                                                                               \
        const uint32_t operands_[] = {__VA_ARGS__};                                                                    \
        put(words, opcode, sizeof operands_ / 4, operands_);                                                           \
    } while (0)

enum { VOID = 1, UINT, ULONG, POINTER, FUNCTION, KERNEL, LABEL, DATA, VALUE, SEVEN, SUM, VECTOR, BUILTIN_POINTER, ID, LOADED,
       FIRST, PLACE, OTHER, BOUND = 64 };

static void start(struct words *w)
{
    *w = (struct words){.word = {0x07230203u, 0x00010400u, 0, BOUND, 0}, .count = 5};
    PUT(w, 17, 6);                                      /* OpCapability Kernel */
    PUT(w, 14, 2, 2);                                   /* OpMemoryModel Physical64 OpenCL */
    PUT(w, 15, 6, KERNEL, 0x00646461u, BUILTIN_POINTER);/* OpEntryPoint Kernel "add" */
    PUT(w, 5, DATA, 0x61746164u, 0);                    /* OpName "data" */
    PUT(w, 71, OTHER, 11, 28);                          /* OpDecorate BuiltIn GlobalInvocationId */
    PUT(w, 19, VOID);
    PUT(w, 21, UINT, 32, 0);
    PUT(w, 21, ULONG, 64, 0);
    PUT(w, 32, POINTER, 5, UINT);                       /* CrossWorkgroup */
    PUT(w, 33, FUNCTION, VOID, POINTER, UINT);
    PUT(w, 23, VECTOR, ULONG, 3);
    PUT(w, 32, BUILTIN_POINTER, 1, VECTOR);             /* Input */
    PUT(w, 59, BUILTIN_POINTER, OTHER, 1);
    PUT(w, 43, UINT, SEVEN, 7);
}

static void head(struct words *w)
{
    PUT(w, 54, VOID, KERNEL, 0, FUNCTION);
    PUT(w, 55, POINTER, DATA);
    PUT(w, 55, UINT, VALUE);
    PUT(w, 248, LABEL);
}

static void tail(struct words *w)
{
    put(w, 253, 0, NULL);
    put(w, 56, 0, NULL);
}

/* data[id] = value + 7 */
static void add_kernel(struct words *w)
{
    start(w);
    head(w);
    PUT(w, 61, VECTOR, LOADED, OTHER);
    PUT(w, 81, ULONG, FIRST, LOADED, 0);
    PUT(w, 70, POINTER, PLACE, DATA, FIRST);
    PUT(w, 128, UINT, SUM, VALUE, SEVEN);
    PUT(w, 62, PLACE, SUM);
    tail(w);
}

static void refused(const struct words *w, const char *why)
{
    blr_module_t module = NULL;
    FAILS(BUILD_FAILED, blrModuleCreate(context, w->word, w->count * 4u, 0, NULL, &module), why);
    CHECK(module == NULL);
}

/* ---------------------------------------------------------------- refusals */

static void modules_that_are_none(void)
{
    struct words w;
    blr_module_t module = NULL;
    add_kernel(&w);
    FAILS(BUILD_FAILED, blrModuleCreate(context, w.word, w.count * 4u - 1, 0, NULL, &module), "words of 4");
    FAILS(INVALID_ARGUMENT, blrModuleCreate(context, NULL, 4, 0, NULL, &module), "NULL");
    FAILS(INVALID_ARGUMENT, blrModuleCreate(context, w.word, 4, 0, NULL, NULL), "NULL");
    FAILS(INVALID_HANDLE, blrModuleCreate(NULL, w.word, 4, 0, NULL, &module), "context");
    w.word[0] = 1;
    refused(&w, "not SPIR-V");
    add_kernel(&w);
    w.word[1] = 0x00020000u;
    refused(&w, "version 2.0");
    add_kernel(&w);
    w.word[3] = 1u << 30;
    refused(&w, "bound");
    add_kernel(&w);
    w.word[3] = 5;
    refused(&w, "out of the module's bound");
    add_kernel(&w);
    w.word[5] = 0xffff0000u | 17;
    refused(&w, "of which the module has");
    add_kernel(&w);
    w.word[5] = 17;
    refused(&w, "0 words");
}

static void types_that_do_not_fit(void)
{
    struct words w;
    start(&w);
    PUT(&w, 21, UINT, 32, 0);
    refused(&w, "is defined already");
    start(&w);
    PUT(&w, 21, 30, 24, 0);
    refused(&w, "24 bits");
    start(&w);
    PUT(&w, 23, 30, UINT, 5);
    refused(&w, "5 components");
    start(&w);
    PUT(&w, 28, 30, UINT, 31); /* an array whose length is not a constant */
    refused(&w, "no constant");
    start(&w);
    PUT(&w, 43, ULONG, 31, 0, 1u << 30);
    PUT(&w, 28, 30, UINT, 31);
    refused(&w, "an array of");
    start(&w);
    PUT(&w, 30, 30, 30); /* a struct that contains itself */
    refused(&w, "no type that is known");
    start(&w);
    PUT(&w, 44, VECTOR, 30, SEVEN, SEVEN, SEVEN);
    refused(&w, "no constant of type");
    start(&w);
    PUT(&w, 59, POINTER, 30, 4);
    refused(&w, "storage class");
}

static void functions_that_do_not_fit(void)
{
    struct words w;
    start(&w);
    head(&w);
    refused(&w, "no end");
    start(&w);
    head(&w);
    put(&w, 56, 0, NULL);
    refused(&w, "the last block has no end");
    start(&w);
    head(&w);
    PUT(&w, 249, 40); /* branches to a block that does not exist */
    put(&w, 56, 0, NULL);
    refused(&w, "no block of this function");
    start(&w);
    head(&w);
    PUT(&w, 128, UINT, SUM, 40, SEVEN); /* an operand that no instruction defines */
    tail(&w);
    refused(&w, "no value");
    start(&w);
    head(&w);
    PUT(&w, 128, UINT, SUM, SUM, SEVEN); /* used before its definition */
    tail(&w);
    refused(&w, "before it is known");
    start(&w);
    head(&w);
    PUT(&w, 128, ULONG, SUM, VALUE, SEVEN);
    tail(&w);
    refused(&w, "types of its operands");
    start(&w);
    head(&w);
    PUT(&w, 61, VECTOR, LOADED, OTHER);
    PUT(&w, 81, ULONG, FIRST, LOADED, 3);
    tail(&w);
    refused(&w, "element 3");
    start(&w);
    head(&w);
    PUT(&w, 61, ULONG, LOADED, DATA);
    tail(&w);
    refused(&w, "does not point to");
    start(&w);
    head(&w);
    PUT(&w, 57, VOID, SUM, KERNEL, DATA, VALUE);
    tail(&w);
    refused(&w, "calls itself");
    start(&w);
    head(&w);
    PUT(&w, 245, UINT, SUM, SEVEN, 40); /* a phi without a value for its predecessor: the block has none */
    PUT(&w, 249, LABEL);
    put(&w, 56, 0, NULL);
    refused(&w, "no value for the edge");
    start(&w);
    head(&w);
    PUT(&w, 4000, UINT, SUM);
    tail(&w);
    refused(&w, "(instruction 4000): not supported");
}

/* Functions that call the next one twice, 30 deep: a thousand million calls, of which few are put in place. */
static void calls_that_multiply(void)
{
    blr_module_t module = NULL;
    enum { FIRST_FUNCTION = 200, DEPTH = 30, PLAIN = 45 };
    struct words w;
    start(&w);
    w.word[3] = 400;
    PUT(&w, 33, PLAIN, VOID);
    for (uint32_t i = 0; i < DEPTH; i++) {
        uint32_t f = FIRST_FUNCTION + 5 * i;
        PUT(&w, 54, VOID, f, 0, PLAIN);
        PUT(&w, 248, f + 1);
        if (i + 1 < DEPTH) {
            PUT(&w, 57, VOID, f + 2, f + 5);
            PUT(&w, 57, VOID, f + 3, f + 5);
        }
        put(&w, 253, 0, NULL);
        put(&w, 56, 0, NULL);
    }
    head(&w);
    PUT(&w, 57, VOID, SUM, FIRST_FUNCTION);
    tail(&w);
    OK(blrModuleCreate(context, w.word, w.count * 4u, 0, NULL, &module));
    OK(blrModuleDestroy(module));
}

/* ---------------------------------------------------------------- kernels */

static blr_kernel_t open_kernel(blr_module_t *module)
{
    struct words w;
    blr_kernel_t kernel = NULL;
    add_kernel(&w);
    OK(blrModuleCreate(context, w.word, w.count * 4u, 0, NULL, module));
    OK(blrKernelCreate(*module, "add", &kernel));
    return kernel;
}

static void reflection(void)
{
    blr_module_t module;
    blr_kernel_t kernel = open_kernel(&module), other;
    blr_kernel_properties_t properties;
    blr_kernel_argument_t argument;
    const char *name = NULL;
    uint32_t count = 0;
    OK(blrModuleGetKernelCount(module, &count));
    CHECK(count == 1);
    OK(blrModuleGetKernelName(module, 0, &name));
    CHECK(strcmp(name, "add") == 0);
    FAILS(INVALID_ARGUMENT, blrModuleGetKernelName(module, 1, &name), "has 1");
    OK(blrKernelGetProperties(kernel, &properties));
    CHECK(properties.argument_count == 2 && properties.max_work_group_size == 1024 && properties.sub_group_size == 64);
    OK(blrKernelGetArgument(kernel, 0, &argument));
    CHECK(argument.kind == BLR_ARGUMENT_KIND_POINTER && argument.size == 8 && strcmp(argument.name, "data") == 0);
    OK(blrKernelGetArgument(kernel, 1, &argument));
    CHECK(argument.kind == BLR_ARGUMENT_KIND_VALUE && argument.size == 4 && argument.name[0] == '\0');
    FAILS(INVALID_ARGUMENT, blrKernelGetArgument(kernel, 2, &argument), "has 2");
    FAILS(INVALID_ARGUMENT, blrKernelCreate(module, "sub", &other), "'sub'");
    OK(blrModuleDestroy(module));
    FAILS(INVALID_HANDLE, blrModuleDestroy(module), "module");
    FAILS(INVALID_HANDLE, blrKernelCreate(module, "add", &other), "module");
    OK(blrKernelGetProperties(kernel, &properties)); /* it retains its module */
    OK(blrKernelDestroy(kernel));
    FAILS(INVALID_HANDLE, blrKernelGetProperties(kernel, &properties), "kernel");
}

static void launches(void)
{
    enum { COUNT = 10000 };
    blr_module_t module;
    blr_kernel_t kernel = open_kernel(&module);
    uint32_t *data = NULL, value = 35;
    OK(blrMemoryAllocate(context, BLR_MEMORY_SHARED, COUNT * 4, 0, (void **)&data));
    const void *arguments[] = {&data, &value};
    const uint64_t sizes[] = {8, 4};
    blr_launch_t launch = {.dimensions = 1, .global_size = {COUNT}, .argument_count = 2, .arguments = arguments,
                           .argument_sizes = sizes};
    OK(blrEnqueueKernel(queue, kernel, &launch, 0, NULL, NULL));
    OK(blrKernelDestroy(kernel)); /* the command retains it */
    OK(blrModuleDestroy(module));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    for (int i = 0; i < COUNT; i++)
        CHECK(data[i] == 42);
    kernel = open_kernel(&module);

    /* Memory freed right away stays until the kernel ends. */
    uint32_t *gone = NULL;
    OK(blrMemoryAllocate(context, BLR_MEMORY_DEVICE, COUNT * 4, 0, (void **)&gone));
    arguments[0] = &gone;
    OK(blrEnqueueKernel(queue, kernel, &launch, 0, NULL, NULL));
    OK(blrMemoryFree(context, gone));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    OK(blrEnqueueKernel(queue, kernel, &launch, 0, NULL, NULL)); /* now the address is invalid */
    FAILS(KERNEL_FAULT, blrQueueWait(queue, BLR_TIMEOUT_INFINITE), "kernel 'add', item_id (0): writes 4");
    arguments[0] = &data;

    launch.local_size[0] = 33;
    FAILS(INVALID_SIZE, blrEnqueueKernel(queue, kernel, &launch, 0, NULL, NULL), "does not divide");
    launch.local_size[0] = 5000;
    FAILS(INVALID_SIZE, blrEnqueueKernel(queue, kernel, &launch, 0, NULL, NULL), "at most 1024");
    launch.local_size[0] = 100;
    launch.argument_count = 1;
    FAILS(INVALID_ARGUMENT, blrEnqueueKernel(queue, kernel, &launch, 0, NULL, NULL), "takes 2");
    launch.argument_count = 2;
    launch.dimensions = 4;
    FAILS(INVALID_ARGUMENT, blrEnqueueKernel(queue, kernel, &launch, 0, NULL, NULL), "dimensions");
    launch.dimensions = 3;
    launch.global_size[1] = launch.global_size[2] = (uint64_t)1 << 40;
    FAILS(INVALID_SIZE, blrEnqueueKernel(queue, kernel, &launch, 0, NULL, NULL), "work-items");
    launch.dimensions = 1;
    const uint64_t wrong[] = {8, 8};
    launch.argument_sizes = wrong;
    FAILS(INVALID_SIZE, blrEnqueueKernel(queue, kernel, &launch, 0, NULL, NULL), "has 4 bytes, 8");
    launch.argument_sizes = sizes;
    arguments[1] = NULL;
    FAILS(INVALID_ARGUMENT, blrEnqueueKernel(queue, kernel, &launch, 0, NULL, NULL), "NULL");
    arguments[1] = &value;
    launch.global_size[0] = 0;
    OK(blrEnqueueKernel(queue, kernel, &launch, 0, NULL, NULL));
    launch.global_size[0] = 200;
    launch.global_offset[0] = COUNT - 200;
    value = 1;
    OK(blrEnqueueKernel(queue, kernel, &launch, 0, NULL, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    CHECK(data[COUNT - 201] == 42 && data[COUNT - 200] == 8 && data[COUNT - 1] == 8);
    OK(blrKernelDestroy(kernel));
    OK(blrModuleDestroy(module));
    OK(blrMemoryFree(context, data));
}

/* The next launch reuses commands, events and registers. */
static void without_allocations(void)
{
    enum { COUNT = 256 };
    blr_module_t module;
    blr_kernel_t kernel = open_kernel(&module);
    uint32_t *data = NULL, value = 35;
    OK(blrMemoryAllocate(context, BLR_MEMORY_SHARED, COUNT * 4, 0, (void **)&data));
    const void *arguments[] = {&data, &value};
    const uint64_t sizes[] = {8, 4};
    const blr_launch_t launch = {.dimensions = 1, .global_size = {COUNT}, .argument_count = 2, .arguments = arguments,
                                 .argument_sizes = sizes};
    for (int i = 0; i < 102; i++) {
        blr_event_t event;
        value = (uint32_t)i;
        OK(blrEnqueueKernel(queue, kernel, &launch, 0, NULL, &event));
        OK(blrEventWait(event, BLR_TIMEOUT_INFINITE));
        OK(blrEventRelease(event));
        OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
        CHECK(data[0] == value + 7 && data[COUNT - 1] == value + 7);
        if (i == 1)
            blr_allocate_fail_after(0); /* resets the counter */
    }
    CHECK_EQUAL(0, blr_allocate_count());
    OK(blrKernelDestroy(kernel));
    OK(blrModuleDestroy(module));
    OK(blrMemoryFree(context, data));
}

/* The path from the module to the end of a launch with the n-th allocation failing, for every n. */
static void without_memory(void)
{
    struct words w;
    uint32_t *data = NULL, value = 35;
    int64_t n = 1;
    add_kernel(&w);
    OK(blrMemoryAllocate(context, BLR_MEMORY_SHARED, 400, 0, (void **)&data));
    const void *arguments[] = {&data, &value};
    const uint64_t sizes[] = {8, 4}, before = object_count();
    blr_launch_t launch = {.dimensions = 1, .global_size = {100}, .argument_count = 2, .arguments = arguments,
                           .argument_sizes = sizes};
    for (bool reached = true; reached; n++) {
        blr_module_t module = NULL;
        blr_kernel_t kernel = NULL;
        blr_event_t event = NULL;
        blr_allocate_fail_after(n);
        blr_result_t result = blrModuleCreate(context, w.word, w.count * 4u, 0, NULL, &module);
        if (result == BLR_RESULT_SUCCESS)
            result = blrKernelCreate(module, "add", &kernel);
        if (result == BLR_RESULT_SUCCESS)
            result = blrEnqueueKernel(queue, kernel, &launch, 0, NULL, &event);
        if (result == BLR_RESULT_SUCCESS)
            result = blrEventWait(event, BLR_TIMEOUT_INFINITE);
        reached = blr_allocate_count() >= n;
        blr_allocate_fail_after(0);
        CHECK_EQUAL(reached ? BLR_RESULT_OUT_OF_MEMORY : BLR_RESULT_SUCCESS, result);
        if (event != NULL)
            OK(blrEventRelease(event));
        if (kernel != NULL)
            OK(blrKernelDestroy(kernel));
        if (module != NULL)
            OK(blrModuleDestroy(module));
        while (blrQueueWait(queue, BLR_TIMEOUT_INFINITE) != BLR_RESULT_SUCCESS)
            ;
        while (object_count() != before) /* the thread that ran it releases the references */
            ;
    }
    CHECK(n > 10);
    CHECK(data[99] == 42);
    OK(blrMemoryFree(context, data));
}

/* Instructions on constants, with any alignment of their registers. */
static void constants_from_constants(void)
{
    for (uint32_t count = 1; count < 12; count++) {
        struct words w;
        blr_module_t module;
        start(&w);
        for (uint32_t i = 0; i < count; i++)
            PUT(&w, 52, UINT, BOUND - 1 - i, 128, SEVEN, i == 0 ? SEVEN : BOUND - i); /* OpSpecConstantOp IAdd */
        head(&w);
        PUT(&w, 62, DATA, BOUND - count);
        tail(&w);
        OK(blrModuleCreate(context, w.word, w.count * 4u, 0, NULL, &module));
        OK(blrModuleDestroy(module));
    }
}

int main(void)
{
    context = open_context();
    queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    modules_that_are_none();
    types_that_do_not_fit();
    functions_that_do_not_fit();
    calls_that_multiply();
    reflection();
    launches();
    constants_from_constants();
    without_allocations();
    without_memory();
    OK(blrQueueDestroy(queue));
    OK(blrContextDestroy(context));
    CHECK_EQUAL(0, object_count());
    return 0;
}
