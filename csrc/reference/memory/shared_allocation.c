/* Allocations that other processes map: their pages move into the store. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "memory/shared_allocation.h"

#include "memory/allocation.h"
#include "platform/threads.h"
#include "runtime/scheduler.h"

#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

static blr_mutex_t mutex = BLR_MUTEX_INIT; /* an allocation moves once */

static uint64_t length_of(const struct blr_pages *pages) { return pages->mapped > 0 ? pages->mapped : pages->size; }

/* Pages of the heap become private again before the heap has them back; where that fails, it never has. */
static void release(struct blr_allocation *allocation)
{
    struct blr_pages *pages = &allocation->pages;
    struct blr_store_range *range = allocation->owner;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (mmap(pages->base, length_of(pages), PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED)
        blr_pages_free(pages);
    blr_memory_unreserve(allocation->size);
    blr_store_free(range);
    blr_delete(range);
}

static blr_result_t move(struct blr_allocation *allocation)
{
    struct blr_store_range *range = blr_new(sizeof *range);
    if (range == NULL)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory to describe shared memory");
    blr_work_hold();
    blr_result_t result = blr_store_move(allocation->pages.base, length_of(&allocation->pages), range);
    blr_work_go_on();
    if (result != BLR_RESULT_SUCCESS) {
        blr_delete(range);
        return result;
    }
    allocation->owner = range;
    allocation->release = release;
    return BLR_RESULT_SUCCESS;
}

/* Whether the allocation is of this driver, and has its pages for itself. */
static bool is_apart(const struct blr_allocation *allocation)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    return allocation->release == NULL && allocation->base % page == 0 && length_of(&allocation->pages) % page == 0;
}

blr_result_t blr_memory_share(blr_context_t handle, const void *pointer, enum blr_store_purpose purpose, struct blr_store_name *name)
{
    struct blr_context *context = blr_context_acquire(handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    struct blr_allocation *allocation = blr_memory_find(context, pointer);
    blr_result_t result = BLR_RESULT_SUCCESS;
    blr_mutex_lock(&mutex);
    if (allocation == NULL || (allocation->release != release && !is_apart(allocation)))
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%p is no memory with pages of its own: it cannot be shared", pointer);
    else if (allocation->release != release)
        result = move(allocation);
    if (result == BLR_RESULT_SUCCESS)
        *name = blr_store_name(allocation->owner, purpose, 0);
    blr_mutex_unlock(&mutex);
    blr_memory_release(allocation);
    blr_context_release(context);
    return result;
}
