/* A context: the owner of memory, images and queues. Each object made in a context retains it. */
#ifndef BINDLESS_REFERENCE_RUNTIME_CONTEXT_H
#define BINDLESS_REFERENCE_RUNTIME_CONTEXT_H

#include "runtime/object.h"

struct blr_context {
    struct blr_object object;
};

/* The context with a reference added, or NULL after blr_fail. */
struct blr_context *blr_context_acquire(blr_context_t handle);

/* The same, also for a context that its caller has destroyed while objects made in it still retain it: needed to
 * free them. */
struct blr_context *blr_context_acquire_kept(blr_context_t handle);

void blr_context_retain(struct blr_context *context);
void blr_context_release(struct blr_context *context);

#endif
