/* Kernels of fuzzed modules: each runs over a few work-items, with one buffer for all its pointers. */
#ifndef BINDLESS_TESTS_C_FUZZ_KERNELS_H
#define BINDLESS_TESTS_C_FUZZ_KERNELS_H

#include <bindless/reference.h>

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BUFFER_SIZE 65536u
#define MOST_ARGUMENTS 64u

static blr_context_t context;
static blr_queue_t queue;
static void *buffer;

/* Creates what all runs use. */
static void open_device(void)
{
    blr_device_t device;
    setenv("BINDLESS_REFERENCE_TIMEOUT", "0.02", 0);
    setenv("BINDLESS_REFERENCE_THREADS", "1", 0);
    if (blrDeviceGet(0, &device) || blrContextCreate(device, &context) ||
        blrQueueCreate(context, BLR_QUEUE_IN_ORDER, &queue) ||
        blrMemoryAllocate(context, BLR_MEMORY_SHARED, BUFFER_SIZE, 0, &buffer))
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
    uint64_t size;
    if (blrKernelGetNativeText(kernel, NULL, &size)) /* it is written for its size */
        abort();
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

static void run_kernels(blr_module_t module)
{
    uint32_t count;
    if (blrModuleGetKernelCount(module, &count))
        abort();
    for (uint32_t i = 0; i < count; i++) {
        const char *name;
        if (blrModuleGetKernelName(module, i, &name))
            abort();
        run_kernel(module, name);
    }
}

static void require_no_leaks(void)
{
    uint64_t objects;
    if (blrGetObjectCount(&objects) || objects > 50) /* context, queue, buffer, and objects whose release is in progress */
        abort();
}

#endif
