/* A context: the owner of memory, images and queues. Each object made in a context retains it. */
#ifndef BINDLESS_REFERENCE_RUNTIME_CONTEXT_H
#define BINDLESS_REFERENCE_RUNTIME_CONTEXT_H

#include "platform/shared.h"
#include "runtime/object.h"

struct blr_context {
    struct blr_object object;
    const struct blr_context *apart; /* NULL, or this context: of another driver, whose memory is memory of the process to
                                      * the contexts of this one, and theirs to it */
};

/* The context with a reference added, or NULL after blr_fail. */
BLR_SHARED struct blr_context *blr_context_acquire(blr_context_t handle);

/* The same, also for a context that its caller has destroyed while objects made in it still retain it: needed to
 * free them. */
struct blr_context *blr_context_acquire_kept(blr_context_t handle);

/* Makes a new context one of another driver, over this one. */
BLR_SHARED blr_result_t blr_context_set_apart(blr_context_t handle);

void blr_context_retain(struct blr_context *context);
void blr_context_release(struct blr_context *context);

#endif
