/* Fuzzer of SPIR-V modules: the driver refuses or runs arbitrary bytes without crashes, leaks or accesses out of
 * bounds.
 *
 * Built with -DBINDLESS_FUZZ=ON and clang: fuzz_spirv CORPUS -max_len=65536 -timeout=20. Every kernel of a module
 * that builds runs over a few work-items, with one buffer for all its pointers. */
#include <bindless/reference.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_SIZE 65536u
#define MOST_ARGUMENTS 64u

static blr_context_t context;
static blr_queue_t queue;
static blr_module_t library;
static void *buffer;

static void prepare(void)
{
    /* A function f, which adds its argument to a variable t. */
    static const uint32_t code[] = {0x07230203u, 0x00010400u, 0, 12, 0, 0x20011, 6, 0x3000e, 2, 2,
                                    0x50047, 1, 41, 0x66, 0, 0x50047, 2, 41, 0x74, 0, /* OpDecorate LinkageAttributes Export */
                                    0x40015, 3, 32, 0, 0x40020, 4, 5, 3, 0x40021, 5, 3, 3, 0x4002b, 3, 6, 7, 0x5003b, 4, 2, 5, 6,
                                    0x50036, 3, 1, 0, 5, 0x30037, 3, 7, 0x200f8, 8, 0x4003d, 3, 9, 2, 0x50080, 3, 10, 9, 7,
                                    0x3003e, 2, 10, 0x200fe, 10, 0x10038};
    blr_device_t device;
    if (context != NULL)
        return;
    setenv("BINDLESS_REFERENCE_TIMEOUT", "0.02", 0);
    setenv("BINDLESS_REFERENCE_THREADS", "1", 0);
    if (blrDeviceGet(0, &device) || blrContextCreate(device, &context) ||
        blrQueueCreate(context, BLR_QUEUE_IN_ORDER, &queue) ||
        blrMemoryAllocate(context, BLR_MEMORY_SHARED, BUFFER_SIZE, 0, &buffer) ||
        blrModuleCompile(context, code, sizeof code, 0, NULL, &library))
        abort();
}

static void run_kernel(blr_module_t module, const char *name)
{
    blr_kernel_t kernel;
    blr_kernel_properties_t properties;
    if (blrKernelCreate(module, name, &kernel))
        return; /* the module is invalid on its own */
    if (blrKernelGetProperties(kernel, &properties))
        abort();
    const void *arguments[MOST_ARGUMENTS];
    uint64_t sizes[MOST_ARGUMENTS];
    static unsigned char value[BUFFER_SIZE];
    uint64_t address = (uint64_t)(uintptr_t)buffer;
    bool fits = properties.argument_count <= MOST_ARGUMENTS;
    for (uint32_t i = 0; fits && i < properties.argument_count; i++) {
        blr_kernel_argument_t argument;
        if (blrKernelGetArgument(kernel, i, &argument))
            abort();
        bool local = argument.kind == BLR_ARGUMENT_KIND_LOCAL;
        sizes[i] = local ? 256 : argument.size;
        arguments[i] = local ? NULL : argument.kind == BLR_ARGUMENT_KIND_POINTER ? (const void *)&address : value;
        fits = sizes[i] <= sizeof value;
    }
    blr_launch_t launch = {.dimensions = 1,
                           .global_size = {properties.required_work_group_size[0] ? properties.required_work_group_size[0] : 200},
                           .argument_count = properties.argument_count,
                           .arguments = arguments,
                           .argument_sizes = sizes};
    blr_event_t event;
    if (fits && blrEnqueueKernel(queue, kernel, &launch, 0, NULL, &event) == BLR_RESULT_SUCCESS) {
        blrEventWait(event, BLR_TIMEOUT_INFINITE);
        blrEventRelease(event);
        blrQueueWait(queue, BLR_TIMEOUT_INFINITE); /* the queue keeps failures until a wait returns them */
    }
    blrKernelDestroy(kernel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    blr_module_t module;
    uint32_t count;
    prepare();
    if (blrModuleCompile(context, data, size, 0, NULL, &module) != BLR_RESULT_SUCCESS)
        return 0;
    /* Linked alone, a module is equal to the result of blrModuleCreate; linked with our functions, it may have more. */
    blr_module_t linked, both[2] = {module, library};
    bool links = blrModuleLink(context, 2, both, &linked) == BLR_RESULT_SUCCESS ||
                 blrModuleLink(context, 1, &module, &linked) == BLR_RESULT_SUCCESS;
    if (blrModuleGetKernelCount(links ? linked : module, &count))
        abort();
    for (uint32_t i = 0; i < count; i++) {
        const char *name;
        if (blrModuleGetKernelName(links ? linked : module, i, &name))
            abort();
        run_kernel(links ? linked : module, name);
    }
    blrModuleDestroy(module);
    if (links)
        blrModuleDestroy(linked);
    uint64_t objects;
    if (blrGetObjectCount(&objects) || objects > 50) /* context, queue, buffer, and objects whose release is in progress */
        abort();
    return 0;
}
