/*
 * Every object that a caller can hold, and the handles that name them.
 *
 * A handle is not an address: it is a number made of the object's kind, its place in a table and the generation of
 * that place. So a handle that was destroyed, that is of another kind or that was made up is recognised without
 * touching memory, from any thread, without a lock. Image handles are the same numbers.
 *
 *   bit 63      0
 *   bits 58-62  kind
 *   bits 26-57  generation, never 0
 *   bits 0-25   place in the table
 *
 * An object lives while it has references. One of them is the caller's: blr_object_close takes it back, and from then
 * on the handle names nothing, though commands and other objects may keep the object itself.
 */
#ifndef BLR_OBJECT_H
#define BLR_OBJECT_H

#include "result.h"

#include <stdbool.h>

enum blr_kind {
    BLR_KIND_DEVICE = 1,
    BLR_KIND_CONTEXT,
    BLR_KIND_QUEUE,
    BLR_KIND_EVENT,
    BLR_KIND_IMAGE,
    BLR_KIND_IMAGE_HANDLE,
    BLR_KIND_MODULE,
    BLR_KIND_KERNEL,
    BLR_KIND_EXTERNAL_MEMORY,
    BLR_KIND_EXTERNAL_SEMAPHORE,
    BLR_KIND_BATCH,
    /* of the Level Zero driver, which keeps its objects in the same table */
    BLR_KIND_ZE_DRIVER,
    BLR_KIND_ZE_DEVICE,
    BLR_KIND_ZE_CONTEXT,
    BLR_KIND_ZE_QUEUE,
    BLR_KIND_ZE_LIST,
    BLR_KIND_ZE_EVENT_POOL,
    BLR_KIND_ZE_EVENT,
    BLR_KIND_ZE_FENCE,
    BLR_KIND_ZE_PHYSICAL_MEMORY,
    BLR_KIND_ZE_IMAGE,
    BLR_KIND_ZE_SAMPLER,
    BLR_KIND_ZE_MODULE,
    BLR_KIND_ZE_BUILD_LOG,
    BLR_KIND_ZE_KERNEL,
    BLR_KIND_ZE_SEMAPHORE,
    BLR_KIND_COUNT
};

struct blr_object {
    uint64_t id;
    void (*destroy)(struct blr_object *object);
};

/* Gives the object its id and the caller's reference. destroy runs when the last reference goes. */
blr_result_t blr_object_register(struct blr_object *object, enum blr_kind kind,
                                 void (*destroy)(struct blr_object *object));

/* The object with a reference added, or NULL after blr_fail(INVALID_HANDLE). */
struct blr_object *blr_object_acquire(uint64_t id, enum blr_kind kind);

/* The same, and also for an object that its caller has destroyed while other objects keep it. */
struct blr_object *blr_object_acquire_kept(uint64_t id, enum blr_kind kind);

void blr_object_retain(struct blr_object *object);
void blr_object_release(struct blr_object *object);

/* Makes the handle invalid and gives back the caller's reference; false when another thread was first. */
bool blr_object_close(struct blr_object *object);

/* Objects in existence, devices not counted. */
uint64_t blr_object_count(void);

/* True in a process forked from one that had objects: its worker threads and locks did not come along. */
bool blr_process_forked(void);
blr_result_t blr_fail_forked(void);

/* From now on a fork makes the child's copy of the driver unusable (threads were started). */
void blr_process_has_threads(void);

static inline uint64_t blr_handle_id(const void *handle) { return (uint64_t)(uintptr_t)handle; }

#endif
