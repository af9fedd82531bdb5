/* Objects of the driver and their handles, kept in the reference driver's handle table. The table rejects destroyed
 * handles, handles of another kind and made-up values without a memory access.
 *
 * Every object starts with a struct blr_object. blr_object_release releases an acquired handle. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_CORE_HANDLE_H
#define BINDLESS_LEVEL_ZERO_DRIVER_CORE_HANDLE_H

#include "level_zero_driver/core/result.h"
#include "reference/platform/heap.h"
#include "reference/runtime/object.h"

/* Returns the object of a handle and adds a reference. Fails with INVALID_NULL_HANDLE for NULL, with
   INVALID_ARGUMENT for an invalid handle. */
ze_result_t blz_acquire(const void *handle, enum blr_kind kind, void *object);

/* Assigns a handle to a new object, whose struct is zeroed except for what the object holds. On failure it calls
 * destroy, which releases what the object holds and the object. handle is the address of a handle. */
ze_result_t blz_register(struct blr_object *object, enum blr_kind kind, void (*destroy)(struct blr_object *object),
                         void *handle);

/* Invalidates the handle and releases the caller's reference. The object lives until the last reference is released. */
ze_result_t blz_destroy(const void *handle, enum blr_kind kind);

static inline void *blz_handle_of(const struct blr_object *object) { return (void *)(uintptr_t)object->id; }

#endif
