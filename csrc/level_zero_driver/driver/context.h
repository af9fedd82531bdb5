/* A context. Every object created in a context keeps the context alive.
 *
 * Calls that free or share memory and other objects check the context. Commands and memory queries do not: programs
 * launch kernels of one context from lists of another, and pass them memory of a third. Therefore all contexts share
 * one context of the reference driver. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_DRIVER_CONTEXT_H
#define BINDLESS_LEVEL_ZERO_DRIVER_DRIVER_CONTEXT_H

#include "level_zero_driver/driver/driver.h"

struct blz_context {
    struct blr_object object;
    blr_context_t native;          /* the driver's */
    struct blr_context *reference; /* the object that native names */
    bool permanent;                /* the driver's default context, which cannot be destroyed */
};

/* Adds a reference. */
ze_result_t blz_context_acquire(ze_context_handle_t handle, struct blz_context **context);

/* Acquires a context, as above, and checks a device; on failure nothing is acquired. */
ze_result_t blz_place_acquire(ze_context_handle_t context_handle, ze_device_handle_t device_handle, struct blz_context **context,
                              struct blz_device **device);

static inline void blz_context_retain(struct blz_context *context) { blr_object_retain(&context->object); }
static inline void blz_context_release(struct blz_context *context) { blr_object_release(&context->object); }

ze_result_t blz_context_create_permanent(ze_context_handle_t *handle);

#endif
