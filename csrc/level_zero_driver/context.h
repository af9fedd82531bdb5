/*
 * A context. Whatever is made in it keeps it alive.
 *
 * What frees memory and other objects, or shares them, minds whose context they are of. Commands do not, nor do queries of memory: programs
 * launch kernels of one context from lists of another, and pass them memory of a third. So all contexts share one of the reference driver's.
 */
#ifndef BLZ_CONTEXT_H
#define BLZ_CONTEXT_H

#include "driver.h"

struct blz_context {
    struct blr_object object;
    blr_context_t native;          /* the driver's */
    struct blr_context *reference; /* what native names */
    bool permanent;                /* the driver's default context: nobody destroys it */
};

/* With a reference added. */
ze_result_t blz_context_acquire(ze_context_handle_t handle, struct blz_context **context);

/* The context as above, and a device; on failure of either nothing is acquired. */
ze_result_t blz_place_acquire(ze_context_handle_t context_handle, ze_device_handle_t device_handle, struct blz_context **context,
                              struct blz_device **device);

static inline void blz_context_retain(struct blz_context *context) { blr_object_retain(&context->object); }
static inline void blz_context_release(struct blz_context *context) { blr_object_release(&context->object); }

ze_result_t blz_context_create_permanent(ze_context_handle_t *handle);

#endif
