/* A launch as one call: sets the changed arguments, enqueues the kernel and flushes the queue. In Python every call
 * and every converted argument takes time, and a lock would be held meanwhile. */
#ifndef BINDLESS_OPENCL_LAUNCH_H
#define BINDLESS_OPENCL_LAUNCH_H

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

/* Sets the changed arguments; the lock is held. */
static cl_int bindless_set_changed(bindless_kernel_t *kernel, const char *values)
{
    int known = kernel->known && kernel->generation == *kernel->now;
    if (!known && kernel->listed) {
        return BINDLESS_IN_PYTHON;
    }
    kernel->known = 0;
    for (cl_uint i = 0; i < kernel->count; i++) {
        const bindless_argument_t *argument = &kernel->arguments[i];
        const char *value = values + argument->offset;
        if (known && memcmp(kernel->values + argument->offset, value, argument->size) == 0) {
            continue;
        }
        if (bindless_is_object(kernel, argument, value)) {
            return BINDLESS_IN_PYTHON;
        }
        cl_int result = bindless_set_argument(kernel->kernel, i, argument->kind, argument->size, value);
        if (result != CL_SUCCESS) {
            return result;
        }
    }
    memcpy(kernel->values, values, kernel->size);
    kernel->known = 1;
    kernel->generation = *kernel->now;
    return CL_SUCCESS;
}

/* Sets all arguments as Python resolved them, and records their values if they are plain bytes; the lock is held. */
static cl_int bindless_set_all(bindless_kernel_t *kernel, const char *values, const bindless_settings_t *settings)
{
    if (settings->generation != *kernel->now) {
        return BINDLESS_IN_PYTHON;
    }
    kernel->known = 0;
    if (settings->listed > 0) {
        cl_int result = clSetKernelExecInfo(kernel->kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS,
                                            settings->listed * sizeof *settings->list, settings->list);
        if (result != CL_SUCCESS) {
            return result;
        }
    }
    for (cl_uint i = 0; i < settings->count; i++) {
        const bindless_setting_t *row = &settings->rows[i];
        cl_int result = bindless_set_argument(kernel->kernel, i, row->kind, row->size, row->value);
        if (result != CL_SUCCESS) {
            return result;
        }
    }
    if (values != NULL) {
        memcpy(kernel->values, values, kernel->size);
        kernel->known = 1;
        kernel->generation = settings->generation;
    }
    return CL_SUCCESS;
}

static cl_int bindless_enqueue(bindless_kernel_t *kernel, cl_command_queue queue, const bindless_range_t *range,
                               const char *values, const bindless_settings_t *settings, cl_uint count,
                               const cl_event *waits, cl_event *event)
{
    blr_mutex_lock(&kernel->lock->mutex);
    cl_int result = settings != NULL ? bindless_set_all(kernel, values, settings) : bindless_set_changed(kernel, values);
    if (result == CL_SUCCESS) {
        result = clEnqueueNDRangeKernel(queue, kernel->kernel, range->dimensions, range->offset, range->whole,
                                        range->grouped ? range->group : NULL, count, waits, event);
    }
    blr_mutex_unlock(&kernel->lock->mutex);
    if (result == CL_SUCCESS) {
        (void)clFlush(queue); /* the event reports a failure of the command */
    }
    return result;
}

/* Submits a repeated launch; its event is the last one of the queue. */
static int bindless_submit(const void *description)
{
    const bindless_launch_t *launch = description;
    if (!bindless_events_reserve(launch->events)) {
        return CL_OUT_OF_HOST_MEMORY;
    }
    cl_event event = NULL;
    cl_int result =
        bindless_enqueue(launch->kernel, launch->queue, launch->range, launch->values, NULL, 0, NULL, &event);
    if (result == CL_SUCCESS) {
        bindless_events_add(launch->events, event);
    }
    return result;
}

/* One at a time: NVIDIA's driver fails an allocation during the end of another. */
static void *bindless_allocate_shared_virtual(bindless_lock_t *lock, cl_context context, cl_svm_mem_flags flags,
                                              size_t size, cl_uint alignment)
{
    blr_mutex_lock(&lock->mutex);
    void *memory = clSVMAlloc(context, flags, size, alignment);
    blr_mutex_unlock(&lock->mutex);
    return memory;
}

/* No launch may list the memory meanwhile: drivers read listed memory. */
static void bindless_free_shared_virtual(bindless_lock_t *lock, cl_context context, void *memory)
{
    blr_mutex_lock(&lock->mutex);
    clSVMFree(context, memory);
    blr_mutex_unlock(&lock->mutex);
}

#endif
