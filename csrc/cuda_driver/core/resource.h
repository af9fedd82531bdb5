/* What a context owns: streams, events, arrays, modules and the like. The context's end destroys them.
 *
 * Handles are those of the reference driver's table, of which this library has its own: it recognises a destroyed
 * handle, one of another kind and an invented one without a memory access. */
#ifndef BINDLESS_CUDA_DRIVER_CORE_RESOURCE_H
#define BINDLESS_CUDA_DRIVER_CORE_RESOURCE_H

#include "cuda_driver/core/result.h"
#include "reference/platform/heap.h"
#include "reference/platform/threads.h"
#include "reference/runtime/object.h"

#include <stdatomic.h>

struct bcu_context;

/* Kinds of the table, by this driver's names. */
enum bcu_kind {
    BCU_CONTEXT = BLR_KIND_CONTEXT,
    BCU_STREAM = BLR_KIND_QUEUE,
    BCU_EVENT = BLR_KIND_EVENT,
    BCU_ARRAY = BLR_KIND_IMAGE,
    BCU_MIPMAP = BLR_KIND_CU_MIPMAP,
    BCU_MODULE = BLR_KIND_MODULE,
    BCU_FUNCTION = BLR_KIND_KERNEL,
    BCU_LINK = BLR_KIND_CU_LINK,
    BCU_GRAPH = BLR_KIND_CU_GRAPH,
    BCU_NODE = BLR_KIND_CU_NODE,
    BCU_EXECUTABLE = BLR_KIND_BATCH,
    BCU_POOL = BLR_KIND_CU_POOL,
    BCU_USER_OBJECT = BLR_KIND_CU_USER_OBJECT,
    BCU_ALLOCATION = BLR_KIND_CU_ALLOCATION,
    BCU_IMPORT = BLR_KIND_CU_IMPORT,
    BCU_EXTERNAL_MEMORY = BLR_KIND_EXTERNAL_MEMORY,
    BCU_EXTERNAL_SEMAPHORE = BLR_KIND_EXTERNAL_SEMAPHORE,
};

struct bcu_resource {
    struct blr_object object;
    enum bcu_kind kind;
    struct bcu_context *context;              /* NULL for a resource of the process */
    struct bcu_resource *previous, *next;     /* of the context, guarded by its mutex */
    void (*release)(struct bcu_resource *resource); /* frees the struct */
};

/* Adds a resource, zeroed except for its own members, to a context. On failure it is released. handle is the address
 * of a handle. */
CUresult bcu_resource_register(struct bcu_resource *resource, enum bcu_kind kind, struct bcu_context *context,
                               void (*release)(struct bcu_resource *resource), void *handle);

/* Returns the resource of a handle and adds a reference; resource is the address of a pointer. */
CUresult bcu_resource_acquire(const void *handle, enum bcu_kind kind, void *resource);

static inline void bcu_resource_retain(struct bcu_resource *resource) { blr_object_retain(&resource->object); }
static inline void bcu_resource_release(struct bcu_resource *resource) { blr_object_release(&resource->object); }

/* Invalidates the handle and gives back the caller's reference; false when another thread did so first. */
bool bcu_resource_close(struct bcu_resource *resource);

/* The same by handle. */
CUresult bcu_resource_destroy(const void *handle, enum bcu_kind kind);

static inline void *bcu_handle(const struct bcu_resource *resource) { return (void *)(uintptr_t)resource->object.id; }

#endif
