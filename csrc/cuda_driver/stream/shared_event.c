/* Events between processes. The number of the last record that is done is a timeline, on which processes wait. Records are
 * done in the order of their numbers. */
#include "cuda_driver/stream/shared_event.h"

#include "cuda_driver/driver/driver.h"
#include "cuda_driver/stream/event.h"
#include "reference/external/semaphore_file.h"
#include "reference/external/shared_store.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct numbers {
    _Atomic uint64_t done; /* the timeline */
    _Atomic uint64_t last; /* of the last record */
};

struct bcu_shared_event {
    struct blr_store_range range; /* of an event that was made here; size 0: it was opened */
    struct numbers *numbers;
    size_t mapped;
    blr_external_semaphore_t timeline;
    blr_event_t native;           /* completes with record `number`; or NULL */
    uint64_t number;
    blr_queue_t queue;            /* that runs it behind its other commands, or NULL */
};

/* A queue of all events: its commands wait for their events alone. It lives as long as the process. */
static CUresult common_queue(blr_queue_t *queue)
{
    static blr_mutex_t mutex = BLR_MUTEX_INIT;
    static blr_queue_t own;
    CUresult result = CUDA_SUCCESS;
    blr_mutex_lock(&mutex);
    if (own == NULL)
        result = bcu_result(blrQueueCreate(bcu_device.native, BLR_QUEUE_OUT_OF_ORDER, &own));
    *queue = own;
    blr_mutex_unlock(&mutex);
    return result;
}

void bcu_shared_event_delete(struct bcu_shared_event *event)
{
    if (event->native != NULL)
        blrEventRelease(event->native);
    if (event->timeline != NULL)
        blrExternalSemaphoreRelease(event->timeline);
    if (event->numbers != NULL)
        munmap(event->numbers, event->mapped);
    blr_store_free(&event->range);
    blr_delete(event);
}

/* Maps the page of a name, of this process or of another one. */
static CUresult map(const struct blr_store_name *name, const struct blr_store_range *range, struct bcu_shared_event **event)
{
    struct bcu_shared_event *own = blr_new(sizeof *own);
    int file;
    if (own == NULL) {
        blr_store_free(range);
        return bcu_fail_memory("an event between processes");
    }
    own->range = *range;
    CUresult result = bcu_result(blr_store_open_file(name, BLR_STORE_CU_EVENT, &file));
    if (result == CUDA_SUCCESS) {
        result = bcu_result(blr_timeline_import(bcu_device.native, file, name->offset, &own->timeline));
        close(file);
    }
    void *numbers = NULL;
    if (result == CUDA_SUCCESS)
        result = bcu_result(blr_store_open(name, BLR_STORE_CU_EVENT, &numbers));
    own->numbers = numbers;
    own->mapped = name->size;
    if (result == CUDA_SUCCESS)
        *event = own;
    else
        bcu_shared_event_delete(own);
    return result;
}

CUresult bcu_shared_event_new(struct bcu_shared_event **event)
{
    struct blr_store_range range;
    CUresult result = bcu_result(blr_store_allocate(sizeof(struct numbers), &range));
    if (result != CUDA_SUCCESS)
        return result;
    const struct blr_store_name name = blr_store_name(&range, BLR_STORE_CU_EVENT, 0);
    return map(&name, &range, event);
}

/* Replaces the event that completes with a record. */
static void set_native(struct bcu_shared_event *event, uint64_t number, blr_event_t native, blr_queue_t queue)
{
    if (event->native != NULL)
        blrEventRelease(event->native);
    event->native = native;
    event->number = number;
    event->queue = queue;
}

/* An event that completes when the timeline reaches a number; NULL where it has. */
static CUresult wait_for(struct bcu_shared_event *event, uint64_t number, blr_event_t *native)
{
    *native = NULL;
    if (atomic_load(&event->numbers->done) >= number)
        return CUDA_SUCCESS;
    if (event->native == NULL || event->number != number) {
        blr_queue_t queue;
        blr_event_t arrival;
        CUresult result = common_queue(&queue);
        if (result == CUDA_SUCCESS)
            result = bcu_result(blrEnqueueSemaphoreWait(queue, event->timeline, number, 0, NULL, &arrival));
        if (result != CUDA_SUCCESS)
            return result;
        set_native(event, number, arrival, NULL);
    }
    *native = event->native;
    return bcu_result(blrEventRetain(event->native));
}

/* Signals behind the queue's work, and behind an event without the queue's waiting for it. */
static CUresult signal_apart(struct bcu_shared_event *event, uint64_t number, blr_event_t before, blr_queue_t queue, uint32_t count,
                             const blr_event_t *waits, blr_event_t *native)
{
    blr_queue_t common;
    blr_event_t signal;
    CUresult result = common_queue(&common);
    if (result == CUDA_SUCCESS)
        result = bcu_result(blrEnqueueBarrier(queue, count, waits, native));
    if (result != CUDA_SUCCESS)
        return result;
    const blr_event_t both[2] = {*native, before};
    result = bcu_result(blrEnqueueSemaphoreSignal(common, event->timeline, number, 2, both, &signal));
    if (result == CUDA_SUCCESS)
        set_native(event, number, signal, NULL);
    else
        blrEventRelease(*native);
    return result;
}

CUresult bcu_shared_event_record(struct bcu_shared_event *event, blr_queue_t queue, uint32_t count, const blr_event_t *waits,
                                 blr_event_t *native)
{
    blr_event_t before;
    const uint64_t number = atomic_fetch_add(&event->numbers->last, 1) + 1;
    CUresult result = wait_for(event, number - 1, &before);
    if (result != CUDA_SUCCESS)
        return result;
    if (before != NULL && event->queue != queue) {
        result = signal_apart(event, number, before, queue, count, waits, native);
    } else {
        result = bcu_result(blrEnqueueSemaphoreSignal(queue, event->timeline, number, count, waits, native));
        if (result == CUDA_SUCCESS)
            result = bcu_result(blrEventRetain(*native));
        if (result == CUDA_SUCCESS)
            set_native(event, number, *native, queue);
    }
    if (before != NULL)
        blrEventRelease(before);
    return result;
}

blr_event_t bcu_shared_event_native(struct bcu_shared_event *event)
{
    blr_event_t native;
    return wait_for(event, atomic_load(&event->numbers->last), &native) == CUDA_SUCCESS ? native : NULL;
}

/* ---------------------------------------------------------------- handles */

_Static_assert(sizeof(struct blr_store_name) <= sizeof(CUipcEventHandle), "names travel in handles");

CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event_handle)
{
    struct bcu_event *event;
    if (handle == NULL)
        return bcu_fail_null("pHandle");
    CUresult result = bcu_resource_acquire(event_handle, BCU_EVENT, &event);
    if (result != CUDA_SUCCESS)
        return result;
    if (event->shared == NULL || event->shared->range.size == 0) {
        result = bcu_fail(CUDA_ERROR_INVALID_HANDLE, "the event was %s: one that was made here with CU_EVENT_INTERPROCESS is needed",
                          event->shared == NULL ? "made without CU_EVENT_INTERPROCESS" : "opened from another process");
    } else {
        const struct blr_store_name name = blr_store_name(&event->shared->range, BLR_STORE_CU_EVENT, 0);
        memset(handle, 0, sizeof *handle);
        memcpy(handle, &name, sizeof name);
    }
    bcu_resource_release(&event->resource);
    return result;
}

CUresult cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle)
{
    struct bcu_context *context;
    struct bcu_shared_event *shared;
    struct blr_store_name name;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (event == NULL)
        return bcu_fail_null("phEvent");
    memcpy(&name, &handle, sizeof name);
    if (blr_store_is_name(&name, BLR_STORE_CU_EVENT) && blr_store_is_own(&name))
        return bcu_fail(CUDA_ERROR_INVALID_CONTEXT, "the handle is of this process: another one opens it");
    result = map(&name, &(struct blr_store_range){0}, &shared);
    if (result == CUDA_ERROR_INVALID_VALUE)
        result = CUDA_ERROR_MAP_FAILED;
    return result != CUDA_SUCCESS ? result : bcu_event_create(context, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS, shared, event);
}
