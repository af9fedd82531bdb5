/* Shared virtual memory of a context, and the list of it for launches: kernels may use listed memory through addresses
 * found in memory. An empty list is invalid, so the first piece lives as long as the context. */
#ifndef BINDLESS_DRIVER_CALLS_OPENCL_SHARED_VIRTUAL_H
#define BINDLESS_DRIVER_CALLS_OPENCL_SHARED_VIRTUAL_H

#include "opencl/event_list.h"

enum { BINDLESS_FIRST_PIECE = 64 /* bytes */ };

/* Makes room for one more piece; the lock is held. */
static int bindless_list_grow(bindless_context_t *context)
{
    if (context->count == context->capacity) {
        size_t capacity = context->capacity < 16 ? 16 : 2 * context->capacity;
        void **list = realloc(context->list, capacity * sizeof *list);
        if (list == NULL) {
            return 0;
        }
        context->list = list;
        context->capacity = capacity;
    }
    if (context->count == 0) {
        context->list[0] = clSVMAlloc(context->handle, CL_MEM_READ_WRITE, BINDLESS_FIRST_PIECE, 0);
        context->count = context->list[0] != NULL;
    }
    return context->count > 0;
}

/* One at a time: NVIDIA's driver fails an allocation during the end of another. */
static void *bindless_allocate_shared_virtual(bindless_context_t *context, cl_svm_mem_flags flags, size_t size,
                                              cl_uint alignment)
{
    void *memory = NULL;
    blr_mutex_lock(&context->lock->mutex);
    if (bindless_list_grow(context) && (memory = clSVMAlloc(context->handle, flags, size, alignment)) != NULL) {
        context->list[context->count++] = memory;
        context->changes++;
    }
    blr_mutex_unlock(&context->lock->mutex);
    return memory;
}

/* No launch may list the memory meanwhile: drivers read listed memory. */
static void bindless_free_shared_virtual(bindless_context_t *context, void *memory)
{
    blr_mutex_lock(&context->lock->mutex);
    size_t i = context->count;
    while (i > 0 && context->list[i - 1] != memory) {
        i--;
    }
    if (i > 0) {
        memmove(context->list + i - 1, context->list + i, (context->count - i) * sizeof *context->list);
        context->count--;
        context->changes++;
    }
    clSVMFree(context->handle, memory);
    blr_mutex_unlock(&context->lock->mutex);
}

/* Ends the list with its context. */
static void bindless_end_shared_virtual(bindless_context_t *context)
{
    blr_mutex_lock(&context->lock->mutex);
    if (context->count > 0) {
        clSVMFree(context->handle, context->list[0]);
    }
    free(context->list);
    context->list = NULL;
    context->count = context->capacity = 0;
    blr_mutex_unlock(&context->lock->mutex);
}

#endif
