/* A launch as one call: sets the changed arguments and enqueues the kernel. In Python every call and every converted
 * argument takes time, and a lock would be held meanwhile. */
#ifndef BINDLESS_DRIVER_CALLS_OPENCL_LAUNCH_H
#define BINDLESS_DRIVER_CALLS_OPENCL_LAUNCH_H

#include "opencl/event_list.h"

static cl_int bindless_set_argument(cl_kernel kernel, cl_uint index, int kind, size_t size, const void *value)
{
    if (kind != BINDLESS_UNIFIED_ADDRESS && kind != BINDLESS_SHARED_VIRTUAL_ADDRESS) {
        return clSetKernelArg(kernel, index, size, value);
    }
    uint64_t address = 0;
    memcpy(&address, value, sizeof address);
    const void *pointer = (const void *)(uintptr_t)address;
    if (kind == BINDLESS_UNIFIED_ADDRESS) {
        return clSetKernelArgMemPointerINTEL(kernel, index, pointer);
    }
    if (pointer == NULL) { /* no buffer: with NULL NVIDIA's driver would leave the argument unchanged */
        const cl_mem none = NULL;
        return clSetKernelArg(kernel, index, sizeof none, &none);
    }
    return clSetKernelArgSVMPointer(kernel, index, pointer);
}

/* Returns whether Python must resolve the value to a driver object. */
static int bindless_is_object(const bindless_kernel_t *kernel, const bindless_argument_t *argument, const char *value)
{
    uint64_t address = 0;
    if (argument->kind == BINDLESS_UNIFIED_ADDRESS || argument->kind == BINDLESS_SHARED_VIRTUAL_ADDRESS) {
        memcpy(&address, value, sizeof address);
    }
    return argument->kind == BINDLESS_OBJECT || address >= kernel->numbers;
}

/* The place of an argument's number in the kernel's cache. */
static bindless_object_t *bindless_object_row(bindless_kernel_t *kernel, cl_uint index, uint64_t number)
{
    return &kernel->objects[(2 * number + index) % BINDLESS_OBJECTS];
}

/* Adds the driver objects that Python found to the cache; the lock is held. */
static void bindless_remember(bindless_kernel_t *kernel, const char *values, const bindless_settings_t *settings)
{
    for (cl_uint i = 0; i < kernel->count; i++) {
        const bindless_argument_t *argument = &kernel->arguments[i];
        const void *object = settings->rows[i].value;
        if (bindless_is_object(kernel, argument, values + argument->offset)) {
            bindless_object_t row = {0, settings->generation, i, 1, NULL};
            memcpy(&row.number, values + argument->offset, sizeof row.number);
            if (object != NULL) {
                memcpy(&row.object, object, sizeof row.object);
            }
            *bindless_object_row(kernel, i, row.number) = row;
        }
    }
}

static void bindless_find_objects(bindless_kernel_t *kernel, const char *values, const bindless_settings_t *settings)
{
    blr_mutex_lock(&kernel->lock->mutex);
    bindless_remember(kernel, values, settings);
    blr_mutex_unlock(&kernel->lock->mutex);
}

/* Returns the address of the driver object that Python found for a number; NULL where it has to find it. */
static const void *bindless_known_object(bindless_kernel_t *kernel, cl_uint index, const char *value)
{
    uint64_t number = 0;
    memcpy(&number, value, sizeof number);
    const bindless_object_t *row = bindless_object_row(kernel, index, number);
    int is_valid = row->is_valid && row->number == number && row->index == index &&
                   row->generation == kernel->context->generation;
    return is_valid ? &row->object : NULL;
}

/* Sets the changed arguments; the lock is held. */
static cl_int bindless_set_changed(bindless_kernel_t *kernel, const char *values)
{
    uint64_t generation = kernel->context->generation;
    int is_valid = kernel->is_valid && kernel->generation == generation;
    kernel->is_valid = 0;
    for (cl_uint i = 0; i < kernel->count; i++) {
        const bindless_argument_t *argument = &kernel->arguments[i];
        const char *value = values + argument->offset;
        if (is_valid && memcmp(kernel->values + argument->offset, value, argument->size) == 0) {
            continue;
        }
        cl_int result;
        if (bindless_is_object(kernel, argument, value)) {
            const void *object = bindless_known_object(kernel, i, value);
            if (object == NULL) {
                return BINDLESS_IN_PYTHON;
            }
            result = clSetKernelArg(kernel->kernel, i, sizeof object, object);
        } else {
            result = bindless_set_argument(kernel->kernel, i, argument->kind, argument->size, value);
        }
        if (result != CL_SUCCESS) {
            return result;
        }
    }
    memcpy(kernel->values, values, kernel->size);
    kernel->is_valid = 1;
    kernel->generation = generation;
    return CL_SUCCESS;
}

/* Sets all arguments as Python resolved them, and records their values if they are plain bytes; the lock is held. */
static cl_int bindless_set_all(bindless_kernel_t *kernel, const char *values, const bindless_settings_t *settings)
{
    if (settings->generation != kernel->context->generation) {
        return BINDLESS_IN_PYTHON;
    }
    kernel->is_valid = 0;
    for (cl_uint i = 0; i < settings->count; i++) {
        const bindless_setting_t *row = &settings->rows[i];
        cl_int result = bindless_set_argument(kernel->kernel, i, row->kind, row->size, row->value);
        if (result != CL_SUCCESS) {
            return result;
        }
    }
    if (values != NULL) {
        bindless_remember(kernel, values, settings);
        memcpy(kernel->values, values, kernel->size);
        kernel->is_valid = 1;
        kernel->generation = settings->generation;
    }
    return CL_SUCCESS;
}

/* Gives the kernel the context's list of shared virtual memory, if it has changed; the lock is held. */
static cl_int bindless_set_list(bindless_kernel_t *kernel)
{
    const bindless_context_t *context = kernel->context;
    if (!kernel->listed || kernel->changes == context->changes) {
        return CL_SUCCESS;
    }
    cl_int result = clSetKernelExecInfo(kernel->kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS,
                                        context->count * sizeof *context->list, context->list);
    if (result == CL_SUCCESS) {
        kernel->changes = context->changes;
    }
    return result;
}

static cl_int bindless_enqueue(bindless_kernel_t *kernel, cl_command_queue queue, const bindless_range_t *range,
                               const char *values, const bindless_settings_t *settings, cl_uint count,
                               const cl_event *waits, cl_event *event)
{
    blr_mutex_lock(&kernel->lock->mutex);
    cl_int result = settings != NULL && settings->foreign ? CL_SUCCESS : bindless_set_list(kernel);
    if (result == CL_SUCCESS) {
        result = settings != NULL ? bindless_set_all(kernel, values, settings) : bindless_set_changed(kernel, values);
    }
    if (result == CL_SUCCESS) {
        result = clEnqueueNDRangeKernel(queue, kernel->kernel, range->dimensions, range->offset, range->whole,
                                        range->grouped ? range->group : NULL, count, waits, event);
    }
    blr_mutex_unlock(&kernel->lock->mutex);
    return result;
}

static int bindless_submit_launch(const void *description)
{
    const bindless_launch_t *launch = description;
    bindless_queue_t *queue = launch->queue;
    if (!bindless_takes_commands(queue, launch->kernel->context)) {
        return BINDLESS_IN_PYTHON;
    }
    cl_uint count = (cl_uint)queue->wait_count;
    const cl_event *waits = count > 0 ? queue->waits : NULL;
    return bindless_submitted(queue, bindless_enqueue(launch->kernel, queue->handle, launch->range, launch->values,
                                                      NULL, count, waits, &queue->last_event));
}

#endif
