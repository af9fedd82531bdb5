/*
 * A launch as one call: what has changed among the arguments is set, the kernel enqueued, the queue flushed. Python pays
 * for every call and every argument that it converts.
 */
#ifndef BINDLESS_OPENCL_LAUNCH_H
#define BINDLESS_OPENCL_LAUNCH_H

#include "opencl_additions.h"

static cl_int bindless_set_argument(bindless_kernel_t *kernel, cl_uint index, const char *value)
{
    const bindless_argument_t *argument = &kernel->arguments[index];
    if (argument->kind == BINDLESS_VALUE) {
        return clSetKernelArg(kernel->kernel, index, argument->size, value);
    }
    uint64_t address = 0;
    memcpy(&address, value, sizeof address);
    if (address >= kernel->numbers) {
        return BINDLESS_OTHER_ADDRESS;
    }
    const void *pointer = (const void *)(uintptr_t)address;
    if (argument->kind == BINDLESS_UNIFIED_ADDRESS) {
        return clSetKernelArgMemPointerINTEL(kernel->kernel, index, pointer);
    }
    if (pointer == NULL) { /* no buffer: NVIDIA's driver leaves the argument as it was otherwise */
        return clSetKernelArg(kernel->kernel, index, argument->size, NULL);
    }
    return clSetKernelArgSVMPointer(kernel->kernel, index, pointer);
}

static cl_int bindless_set_arguments(bindless_kernel_t *kernel, const char *values)
{
    int known = kernel->known;
    kernel->known = 0;
    for (cl_uint i = 0; i < kernel->count; i++) {
        size_t offset = kernel->arguments[i].offset, size = kernel->arguments[i].size;
        if (known && memcmp(kernel->values + offset, values + offset, size) == 0) {
            continue;
        }
        cl_int result = bindless_set_argument(kernel, i, values + offset);
        if (result != CL_SUCCESS) {
            return result;
        }
        memcpy(kernel->values + offset, values + offset, size);
    }
    kernel->known = 1;
    return CL_SUCCESS;
}

/* The event of a launch; NULL if there is none, and kernel->result says why. Without values the arguments are set. */
static cl_event bindless_launch(bindless_kernel_t *kernel, cl_command_queue queue, const bindless_range_t *range,
                                const char *values, cl_uint count, const cl_event *waits)
{
    cl_event event = NULL;
    kernel->result = values == NULL ? CL_SUCCESS : bindless_set_arguments(kernel, values);
    if (kernel->result == CL_SUCCESS) {
        kernel->result = clEnqueueNDRangeKernel(queue, kernel->kernel, range->dimensions, NULL, range->whole,
                                                range->grouped ? range->group : NULL, count, waits, &event);
    }
    if (kernel->result != CL_SUCCESS) {
        return NULL;
    }
    (void)clFlush(queue); /* what can go wrong with it is told by the event */
    return event;
}

/* CL_COMPLETE, a larger number for a command that is not, or the negative code of a failure, its own or the query's. */
static void bindless_ask_events(cl_uint count, const cl_event *events, cl_int *statuses)
{
    for (cl_uint i = 0; i < count; i++) {
        cl_int status = CL_QUEUED;
        cl_int result = clGetEventInfo(events[i], CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
        statuses[i] = result == CL_SUCCESS ? status : result;
    }
}

#endif
