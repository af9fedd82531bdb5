#include "level_zero_driver/sync/counter_event.h"

#include "level_zero_driver/driver/driver.h"
#include "level_zero_driver/core/intel_extensions.h"
#include "reference/platform/threads.h"
#include "level_zero_driver/core/descriptor_chain.h"

#define COUNTER_FLAGS                                                                                                         \
    (ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE | ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE |                                       \
     ZE_EVENT_COUNTER_BASED_FLAG_HOST_VISIBLE | STAMP_FLAGS)
#define STAMP_FLAGS (ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP | ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP)

/* Guards latest and begun of all events. */
static blr_mutex_t mutex = BLR_MUTEX_INIT;

/* Needs the mutex. */
static struct blz_event *retain_latest(struct blz_event *event)
{
    while (event != NULL && event->counter != 0)
        event = event->latest;
    if (event != NULL)
        blr_object_retain(&event->object);
    return event;
}

struct blz_event *blz_event_latest(struct blz_event *event)
{
    blr_mutex_lock(&mutex);
    struct blz_event *point = retain_latest(event);
    blr_mutex_unlock(&mutex);
    return point;
}

struct blz_event *blz_event_to_wait(struct blz_event *event, bool recorded)
{
    if (!recorded)
        return blz_event_latest(event);
    blr_mutex_lock(&mutex);
    struct blz_event *point = event->counter != 0 ? event->latest : event;
    if (point != NULL)
        blr_object_retain(&point->object);
    blr_mutex_unlock(&mutex);
    return point;
}

void blz_event_follow(struct blz_event *event, struct blz_event *point)
{
    blr_object_retain(&point->object);
    blr_mutex_lock(&mutex);
    struct blz_event *before = event->latest;
    event->latest = point;
    blr_mutex_unlock(&mutex);
    if (before != NULL)
        blz_event_release(before);
}

/* An event without a handle. */
static struct blz_event *new_point(void)
{
    ze_event_handle_t handle;
    struct blz_event *point = blr_new(sizeof *point);
    if (point == NULL) {
        blz_fail_memory("the tracking point of a counter-based event");
        return NULL;
    }
    point->slot = &point->own;
    if (blz_register(&point->object, BLR_KIND_ZE_EVENT, blz_event_free, &handle) != ZE_RESULT_SUCCESS)
        return NULL;
    blr_object_retain(&point->object);
    blr_object_close(&point->object);
    return point;
}

ze_result_t blz_event_point(bool recorded, struct blz_event **point)
{
    struct blz_event *event = new_point();
    *point = event;
    if (event == NULL || !recorded)
        return event == NULL ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_SUCCESS;
    event->counter = ZE_EVENT_COUNTER_BASED_FLAG_NON_IMMEDIATE;
    event->latest = new_point();
    if (event->latest != NULL)
        return ZE_RESULT_SUCCESS;
    blz_event_release(event);
    *point = NULL;
    return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

/* The first execution has the point that was there when the command was recorded. */
ze_result_t blz_event_begin(struct blz_event *recorded, struct blz_event **point)
{
    blr_mutex_lock(&mutex);
    bool first = !recorded->begun;
    recorded->begun = true;
    *point = first ? retain_latest(recorded) : NULL;
    blr_mutex_unlock(&mutex);
    if (first)
        return ZE_RESULT_SUCCESS;
    *point = new_point();
    if (*point == NULL)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    blz_event_follow(recorded, *point);
    return ZE_RESULT_SUCCESS;
}

ze_result_t blz_event_check_settable(const struct blz_event *event)
{
    if (event->counter == 0)
        return ZE_RESULT_SUCCESS;
    return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the event is counter-based: only commands of in-order command lists signal it, and "
                                                      "nothing resets it");
}

/* ---------------------------------------------------------------- creation */

static ze_result_t check_flags(const ze_event_counter_based_desc_t *desc)
{
    if ((desc->flags & ZE_EVENT_COUNTER_BASED_FLAG_IPC) != 0)
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "counter-based events cannot be shared with other processes");
    if ((desc->flags & ~(uint32_t)COUNTER_FLAGS) != 0)
        return blz_fail_enumeration("desc->flags", desc->flags, "flags that are possible are 0x37");
    if ((desc->flags & STAMP_FLAGS) == STAMP_FLAGS)
        return blz_fail_enumeration("desc->flags", desc->flags, "timestamps of the device or of the host, not both");
    return blz_event_check_scopes(desc->signal, desc->wait);
}

static ze_result_t make(const ze_event_counter_based_desc_t *desc, ze_event_handle_t *handle)
{
    struct blz_event *event = blr_new(sizeof *event);
    if (event == NULL)
        return blz_fail_memory("an event");
    event->slot = &event->own;
    event->desc = (ze_event_desc_t){.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .signal = desc->signal, .wait = desc->wait};
    event->counter = desc->flags != 0 ? desc->flags : ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE;
    event->stamps = (desc->flags & ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP) != 0 ? ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP
                    : (desc->flags & ZE_EVENT_COUNTER_BASED_FLAG_HOST_TIMESTAMP) != 0 ? ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP
                                                                                      : 0;
    return blz_register(&event->object, BLR_KIND_ZE_EVENT, blz_event_free, handle);
}

static ze_result_t create(ze_context_handle_t context_handle, ze_device_handle_t device_handle,
                          const ze_event_counter_based_desc_t *desc, ze_structure_type_t stype, ze_event_handle_t *handle)
{
    struct blz_context *context;
    struct blz_device *device;
    ze_result_t result = blz_place_acquire(context_handle, device_handle, &context, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct blz_extension extensions[] = {
        {ZE_STRUCTURE_TYPE_EVENT_SYNC_MODE_DESC, NULL},
        {ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_SYNC_ALLOCATION_DESC, NULL},
        {ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_EXTERNAL_AGGREGATE_STORAGE_DESC, NULL},
    };
    result = blz_descriptor(desc, stype, "desc", extensions, sizeof extensions / sizeof *extensions);
    if (result == ZE_RESULT_SUCCESS)
        result = check_flags(desc);
    if (result == ZE_RESULT_SUCCESS && (extensions[1].address != NULL || extensions[2].address != NULL))
        result = blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "counter-based events keep their counters themselves: see ze_device_event_properties_t");
    if (result == ZE_RESULT_SUCCESS)
        result = handle == NULL ? blz_fail_null("phEvent") : make(desc, handle);
    blz_context_release(context);
    return result;
}

ze_result_t zeEventCounterBasedCreate(ze_context_handle_t context, ze_device_handle_t device, const ze_event_counter_based_desc_t *desc,
                                      ze_event_handle_t *handle)
{
    return create(context, device, desc, ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC, handle);
}

ze_result_t blz_counter_event_create_intel(ze_context_handle_t context, ze_device_handle_t device,
                                           const ze_event_counter_based_desc_t *desc, ze_event_handle_t *handle)
{
    return create(context, device, desc, (ze_structure_type_t)BLZ_INTEL_COUNTER_BASED_EVENT_DESC, handle);
}
