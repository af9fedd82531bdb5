/* Modules with imports: compilation, linking, lifetimes. */
#include "fixture.h"

#include "platform/heap.h"

static blr_context_t context;
static blr_queue_t queue;

enum { VOID = 1, UINT, POINTER, KERNEL_TYPE, FUNCTION_TYPE, KERNEL, LABEL, DATA, OLD, NEW, TOTAL, VALUE, SEVEN, F, F_LABEL, X, Y, BOUND };

struct words {
    uint32_t word[256];
    uint32_t count;
};

static void put(struct words *words, uint32_t opcode, uint32_t operands, const uint32_t *operand)
{
    CHECK(words->count + operands + 1 <= 256);
    words->word[words->count++] = (operands + 1) << 16 | opcode;
    for (uint32_t i = 0; i < operands; i++)
        words->word[words->count++] = operand[i];
}
#define PUT(words, opcode, ...)                                                                                        \
    do {                                                                                                               \
        const uint32_t operands_[] = {__VA_ARGS__};                                                                    \
        put(words, opcode, sizeof operands_ / 4, operands_);                                                           \
    } while (0)

#define WORD(a, b, c) ((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16)
enum { EXPORT = 0, IMPORT = 1 };

static void start(struct words *w, bool has_kernel)
{
    *w = (struct words){.word = {0x07230203u, 0x00010400u, 0, BOUND, 0}, .count = 5};
    PUT(w, 17, 6);
    PUT(w, 14, 2, 2);
    if (has_kernel)
        PUT(w, 15, 6, KERNEL, WORD('r', 'u', 'n'), 0);
    PUT(w, 71, F, 41, WORD('f', 0, 0), has_kernel ? IMPORT : EXPORT); /* OpDecorate LinkageAttributes "f" */
    PUT(w, 71, TOTAL, 41, WORD('t', 0, 0), has_kernel ? IMPORT : EXPORT);
    PUT(w, 19, VOID);
    PUT(w, 21, UINT, 32, 0);
    PUT(w, 32, POINTER, 5, UINT);
    PUT(w, 33, KERNEL_TYPE, VOID, POINTER);
    PUT(w, 33, FUNCTION_TYPE, UINT, UINT);
    PUT(w, 43, UINT, SEVEN, 7);
}

/* total += 7; *data = f(total) */
static void user(struct words *w)
{
    start(w, true);
    PUT(w, 59, POINTER, TOTAL, 5);
    PUT(w, 54, UINT, F, 0, FUNCTION_TYPE);
    PUT(w, 55, UINT, X);
    put(w, 56, 0, NULL);
    PUT(w, 54, VOID, KERNEL, 0, KERNEL_TYPE);
    PUT(w, 55, POINTER, DATA);
    PUT(w, 248, LABEL);
    PUT(w, 61, UINT, OLD, TOTAL);
    PUT(w, 128, UINT, NEW, OLD, SEVEN);
    PUT(w, 62, TOTAL, NEW);
    PUT(w, 57, UINT, VALUE, F, NEW);
    PUT(w, 62, DATA, VALUE);
    put(w, 253, 0, NULL);
    put(w, 56, 0, NULL);
}

/* total = 7; f(x) = x x 7 */
static void library(struct words *w)
{
    start(w, false);
    PUT(w, 59, POINTER, TOTAL, 5, SEVEN);
    PUT(w, 54, UINT, F, 0, FUNCTION_TYPE);
    PUT(w, 55, UINT, X);
    PUT(w, 248, F_LABEL);
    PUT(w, 132, UINT, Y, X, SEVEN);
    PUT(w, 254, Y);
    put(w, 56, 0, NULL);
}

static blr_module_t compile(const struct words *w)
{
    blr_module_t module;
    OK(blrModuleCompile(context, w->word, w->count * 4u, 0, NULL, &module));
    return module;
}

static uint32_t run(blr_module_t module, uint32_t *data)
{
    blr_kernel_t kernel;
    blr_event_t event;
    OK(blrKernelCreate(module, "run", &kernel));
    const void *arguments[] = {&data};
    const uint64_t sizes[] = {sizeof data};
    blr_launch_t launch = {.dimensions = 1, .global_size = {1}, .argument_count = 1, .arguments = arguments, .argument_sizes = sizes};
    OK(blrEnqueueKernel(queue, kernel, &launch, 0, NULL, &event));
    OK(blrEventWait(event, BLR_TIMEOUT_INFINITE));
    OK(blrEventRelease(event));
    OK(blrKernelDestroy(kernel));
    return *data;
}

static void linked_modules(void)
{
    struct words one, two;
    user(&one);
    library(&two);
    blr_module_t parts[2] = {compile(&one), compile(&two)}, linked, again;
    blr_kernel_t kernel = NULL;
    uint32_t *data, count;
    OK(blrMemoryAllocate(context, BLR_MEMORY_SHARED, 4, 0, (void **)&data));
    FAILS(BUILD_FAILED, blrModuleCreate(context, one.word, one.count * 4u, 0, NULL, &linked), "'t' is declared and not defined");
    FAILS(BUILD_FAILED, blrKernelCreate(parts[0], "run", &kernel), "of other modules");
    OK(blrModuleGetKernelCount(parts[0], &count));
    CHECK_EQUAL(1, count);
    OK(blrModuleLink(context, 2, parts, &linked));
    OK(blrModuleGetKernelCount(linked, &count));
    CHECK_EQUAL(1, count);
    CHECK_EQUAL(14 * 7, run(linked, data));
    /* Another link shares the same variables; both retain them when the modules are destroyed. */
    OK(blrModuleLink(context, 2, parts, &again));
    CHECK_EQUAL(21 * 7, run(again, data));
    OK(blrModuleDestroy(parts[0]));
    OK(blrModuleDestroy(parts[1]));
    CHECK_EQUAL(28 * 7, run(linked, data));
    /* A linked module can be linked again. */
    blr_module_t third;
    OK(blrModuleLink(context, 1, &linked, &third));
    OK(blrModuleDestroy(linked));
    OK(blrModuleDestroy(again));
    CHECK_EQUAL(35 * 7, run(third, data));
    OK(blrModuleDestroy(third));
    OK(blrMemoryFree(context, data));
}

static void links_that_are_refused(void)
{
    struct words one, two;
    user(&one);
    library(&two);
    blr_module_t parts[3] = {compile(&one), compile(&two), compile(&two)}, linked = parts[0];
    FAILS(INVALID_ARGUMENT, blrModuleLink(context, 0, parts, &linked), "num_modules 0");
    CHECK(linked == NULL);
    FAILS(INVALID_ARGUMENT, blrModuleLink(context, 1, NULL, &linked), "NULL");
    FAILS(INVALID_ARGUMENT, blrModuleLink(context, 1, parts, NULL), "NULL");
    FAILS(INVALID_HANDLE, blrModuleLink(NULL, 1, parts, &linked), "context");
    FAILS(BUILD_FAILED, blrModuleLink(context, 1, parts, &linked), "'t' is declared and not defined");
    FAILS(BUILD_FAILED, blrModuleLink(context, 3, parts, &linked), "defined twice, in modules 2 and 3");
    OK(blrModuleDestroy(parts[2]));
    FAILS(INVALID_HANDLE, blrModuleLink(context, 3, parts, &linked), "module");
    blr_context_t other = open_context();
    FAILS(INVALID_HANDLE, blrModuleLink(other, 2, parts, &linked), "module 0 is of another context");
    OK(blrContextDestroy(other));
    OK(blrModuleDestroy(parts[0]));
    OK(blrModuleDestroy(parts[1]));
}

static void without_memory(void)
{
    struct words one, two;
    user(&one);
    library(&two);
    uint64_t before = object_count(), n;
    bool reached = false;
    for (n = 1; !reached; n++) {
        blr_module_t parts[2] = {NULL, NULL}, linked = NULL;
        blr_allocate_fail_after(n);
        blr_result_t result = blrModuleCompile(context, one.word, one.count * 4u, 0, NULL, &parts[0]);
        if (result == BLR_RESULT_SUCCESS)
            result = blrModuleCompile(context, two.word, two.count * 4u, 0, NULL, &parts[1]);
        if (result == BLR_RESULT_SUCCESS)
            result = blrModuleLink(context, 2, parts, &linked);
        reached = result == BLR_RESULT_SUCCESS;
        blr_allocate_fail_after(0);
        CHECK(reached || result == BLR_RESULT_OUT_OF_MEMORY);
        for (int i = 0; i < 2; i++)
            if (parts[i] != NULL)
                OK(blrModuleDestroy(parts[i]));
        if (linked != NULL)
            OK(blrModuleDestroy(linked));
        CHECK_EQUAL(before, object_count());
    }
    CHECK(n > 5);
}

int main(void)
{
    context = open_context();
    queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    linked_modules();
    links_that_are_refused();
    without_memory();
    OK(blrQueueDestroy(queue));
    OK(blrContextDestroy(context));
    CHECK_EQUAL(0, object_count());
    return 0;
}
