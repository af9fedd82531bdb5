/*
 * Objects that callers hold, and the handles that name them.
 *
 * A handle is not an address: it encodes the object's kind, its slot in a table and the generation of that slot. A
 * destroyed, mistyped or invented handle is therefore recognised without touching memory, from any thread, without a
 * lock. Image handles are the same numbers.
 *
 *   bit 63      0
 *   bits 58-62  kind
 *   bits 26-57  generation, never 0
 *   bits 0-25   slot in the table
 *
 * Objects are reference-counted. The caller holds one reference: blr_object_close gives it back and invalidates the
 * handle, while commands and other objects may still retain the object.
 */
#ifndef BINDLESS_REFERENCE_RUNTIME_OBJECT_H
#define BINDLESS_REFERENCE_RUNTIME_OBJECT_H

#include "platform/shared.h"
#include "runtime/result.h"

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
    /* kinds of the Level Zero driver, which uses the same table */
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
    /* kinds of the CUDA driver, which has a table of its own; its other objects are of the kinds above */
    BLR_KIND_CU_MIPMAP,
    BLR_KIND_CU_LINK,
    BLR_KIND_CU_GRAPH,
    BLR_KIND_CU_NODE,
    BLR_KIND_CU_POOL,
    BLR_KIND_COUNT,
    /* that share the number of a kind that only the other table has: five bits have no more */
    BLR_KIND_CU_USER_OBJECT = BLR_KIND_ZE_FENCE,
    BLR_KIND_CU_ALLOCATION = BLR_KIND_ZE_PHYSICAL_MEMORY,
    BLR_KIND_CU_IMPORT = BLR_KIND_ZE_EVENT_POOL
};

struct blr_object {
    uint64_t id;
    void (*destroy)(struct blr_object *object);
};

/* Assigns the object's id and adds the caller's reference. The last release calls destroy. */
BLR_SHARED blr_result_t blr_object_register(struct blr_object *object, enum blr_kind kind,
                                 void (*destroy)(struct blr_object *object));

/* The object with a reference added, or NULL after blr_fail(INVALID_HANDLE). */
BLR_SHARED struct blr_object *blr_object_acquire(uint64_t id, enum blr_kind kind);

/* The same, also for an object that its caller has destroyed while other objects retain it. */
struct blr_object *blr_object_acquire_kept(uint64_t id, enum blr_kind kind);

BLR_SHARED void blr_object_retain(struct blr_object *object);
BLR_SHARED void blr_object_release(struct blr_object *object);

/* Invalidates the handle and gives back the caller's reference; false when another thread did so first. */
BLR_SHARED bool blr_object_close(struct blr_object *object);

/* Number of existing objects, without devices. */
uint64_t blr_object_count(void);

/* True in a process forked from one that had objects: fork does not copy worker threads, and locks may be held. */
BLR_SHARED bool blr_process_forked(void);
blr_result_t blr_fail_forked(void);

/* Records that threads were started: from now on a fork makes the child's copy of the driver unusable. */
BLR_SHARED void blr_process_has_threads(void);

static inline uint64_t blr_handle_id(const void *handle) { return (uint64_t)(uintptr_t)handle; }

#endif
