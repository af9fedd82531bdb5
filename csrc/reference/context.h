/* A context: the owner of memory, images and queues. Whatever is made in one keeps it alive. */
#ifndef BLR_CONTEXT_H
#define BLR_CONTEXT_H

#include "object.h"

struct blr_context {
    struct blr_object object;
};

/* With a reference added, or NULL after blr_fail. */
struct blr_context *blr_context_acquire(blr_context_t handle);

/* Also a context that its caller has destroyed and that something made in it keeps: for freeing that. */
struct blr_context *blr_context_acquire_kept(blr_context_t handle);

void blr_context_retain(struct blr_context *context);
void blr_context_release(struct blr_context *context);

#endif
