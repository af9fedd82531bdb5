/* Contexts, and the stack of current ones of each thread. A context's record lives as long as the process. */
#ifndef BINDLESS_CUDA_DRIVER_DRIVER_CONTEXT_H
#define BINDLESS_CUDA_DRIVER_DRIVER_CONTEXT_H

#include "cuda_driver/core/resource.h"

struct bcu_stream;

struct bcu_context {
    struct blr_object object;
    bool is_primary;
    _Atomic bool active;
    unsigned flags, version;
    _Atomic unsigned attachments;             /* of cuCtxAttach */
    unsigned long long id;
    blr_mutex_t mutex;
    struct bcu_resource *resources;           /* under the mutex */
    struct bcu_stream *legacy;                /* made at its first use */
    size_t limits[16];
    CUfunc_cache cache;
    _Atomic int failure;                      /* a CUresult that every later call returns */
    struct bcu_context *earlier;              /* of the records of destroyed contexts */
};

static inline CUcontext bcu_context_handle(const struct bcu_context *context)
{
    return (CUcontext)(uintptr_t)context->object.id;
}

/* The calling thread's current context. Fails without one, and with the failure that the context has. */
CUresult bcu_context_current(struct bcu_context **context);

/* The context of a handle, NULL being the current one. */
CUresult bcu_context_find(CUcontext handle, struct bcu_context **context);

/* Takes the failures of the context's streams; returns the context's failure. */
CUresult bcu_context_failure(struct bcu_context *context);

/* Records a failure that every later call returns. */
CUresult bcu_context_fail(struct bcu_context *context, CUresult result);

/* Waits for the work of all streams. */
CUresult bcu_context_wait(struct bcu_context *context);

#endif
