/*
 * The driver's objects and their handles: the reference driver's table of objects, which recognises a handle that was
 * destroyed, is of another kind or was made up without touching memory.
 *
 * Every object starts with a struct blr_object. A handle acquired is released with blr_object_release.
 */
#ifndef BLZ_HANDLE_H
#define BLZ_HANDLE_H

#include "failure.h"
#include "reference/allocate.h"
#include "reference/object.h"

/* The object of a handle with a reference added. INVALID_NULL_HANDLE for NULL, INVALID_ARGUMENT for what is none. */
ze_result_t blz_acquire(const void *handle, enum blr_kind kind, void *object);

/* Gives a new object, which has its kind's struct zeroed but for what it holds, its handle. When that fails, destroy is
 * called, which gives back what the object holds and the object. handle is the address of a handle. */
ze_result_t blz_register(struct blr_object *object, enum blr_kind kind, void (*destroy)(struct blr_object *object),
                         void *handle);

/* Makes the handle invalid and gives back the caller's reference. The object stays while others use it. */
ze_result_t blz_destroy(const void *handle, enum blr_kind kind);

static inline void *blz_handle_of(const struct blr_object *object) { return (void *)(uintptr_t)object->id; }

#endif
