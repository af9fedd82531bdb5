/* Events and event pools: creation, destruction and IPC handles. */

#include "level_zero_driver/sync/event.h"

#include "level_zero_driver/sync/counter_event.h"
#include "level_zero_driver/driver/driver.h"
#include "level_zero_driver/command/executor.h"
#include "level_zero_driver/core/descriptor_chain.h"

#include <string.h>
#include <sys/mman.h>

#define POOL_FLAGS                                                                                                            \
    (ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP |                         \
     ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP)
#define SCOPE_FLAGS (ZE_EVENT_SCOPE_FLAG_SUBDEVICE | ZE_EVENT_SCOPE_FLAG_DEVICE | ZE_EVENT_SCOPE_FLAG_HOST)
#define MAX_EVENTS (1u << 20) /* of one pool */

/* ---------------------------------------------------------------- pools */

static void destroy_pool(struct blr_object *object)
{
    struct blz_event_pool *pool = (struct blz_event_pool *)object;
    if (pool->slots != NULL)
        munmap(pool->slots, pool->range.size);
    if (!pool->opened)
        blr_store_free(&pool->range);
    if (pool->context != NULL)
        blz_context_release(pool->context);
    blr_delete(pool);
}

ze_result_t blz_event_pool_acquire(ze_event_pool_handle_t handle, struct blz_event_pool **pool)
{
    return blz_acquire(handle, BLR_KIND_ZE_EVENT_POOL, pool);
}

static ze_result_t make_slots(struct blz_event_pool *pool)
{
    ze_result_t result = blz_result(blr_store_allocate((uint64_t)pool->count * sizeof *pool->slots, &pool->range));
    if (result != ZE_RESULT_SUCCESS)
        return result;
    pool->slots = blr_store_map(&pool->range, NULL);
    return pool->slots != NULL ? ZE_RESULT_SUCCESS : blz_fail_memory("the events of a pool");
}

/* The flags of the counter-based events of a pool; 0 for other events. */
static ze_result_t read_counter(const ze_event_pool_desc_t *desc, const ze_event_pool_counter_based_exp_desc_t *counter,
                                ze_event_counter_based_flags_t *flags)
{
    const uint32_t all_flags =
        ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_IMMEDIATE | ZE_EVENT_POOL_COUNTER_BASED_EXP_FLAG_NON_IMMEDIATE;
    *flags = 0;
    if (counter == NULL)
        return ZE_RESULT_SUCCESS;
    if ((counter->flags & ~all_flags) != 0)
        return blz_fail_enumeration("the flags of ze_event_pool_counter_based_exp_desc_t", counter->flags, "flags that are known are 0x3");
    if ((desc->flags & ZE_EVENT_POOL_FLAG_IPC) != 0)
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "counter-based events cannot be shared with other processes");
    *flags = counter->flags != 0 ? counter->flags : ZE_EVENT_COUNTER_BASED_FLAG_IMMEDIATE;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t create_pool(struct blz_context *context, const ze_event_pool_desc_t *desc, ze_event_counter_based_flags_t counter,
                               ze_event_pool_handle_t *handle)
{
    struct blz_event_pool *pool = blr_new(sizeof *pool);
    if (pool == NULL)
        return blz_fail_memory("an event pool");
    blz_context_retain(context);
    pool->context = context;
    pool->flags = desc->flags;
    pool->counter = counter;
    pool->count = desc->count;
    ze_result_t result = (pool->flags & ZE_EVENT_POOL_FLAG_IPC) != 0 ? make_slots(pool) : ZE_RESULT_SUCCESS;
    if (result != ZE_RESULT_SUCCESS) {
        destroy_pool(&pool->object);
        return result;
    }
    return blz_register(&pool->object, BLR_KIND_ZE_EVENT_POOL, destroy_pool, handle);
}

static ze_result_t check_devices(uint32_t count, ze_device_handle_t *devices)
{
    if (count > 0 && devices == NULL)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "phDevices is NULL with numDevices %u", count);
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        struct blz_device *device;
        result = blz_device_check(devices[i], &device);
    }
    return result;
}

ze_result_t zeEventPoolCreate(ze_context_handle_t context_handle, const ze_event_pool_desc_t *desc, uint32_t device_count,
                              ze_device_handle_t *devices, ze_event_pool_handle_t *handle)
{
    struct blz_context *context;
    ze_result_t result = blz_context_acquire(context_handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct blz_extension extensions[] = {{ZE_STRUCTURE_TYPE_COUNTER_BASED_EVENT_POOL_EXP_DESC, NULL}};
    ze_event_counter_based_flags_t counter = 0;
    result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, "desc", extensions, 1);
    if (result == ZE_RESULT_SUCCESS)
        result = check_devices(device_count, devices);
    if (result == ZE_RESULT_SUCCESS && handle == NULL)
        result = blz_fail_null("phEventPool");
    if (result == ZE_RESULT_SUCCESS && (desc->flags & ~(uint32_t)POOL_FLAGS) != 0)
        result = blz_fail_enumeration("desc->flags", desc->flags, "flags that are known are 0xf");
    if (result == ZE_RESULT_SUCCESS && (desc->count == 0 || desc->count > MAX_EVENTS))
        result = blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "a pool of %u events: 1 to %u are possible", desc->count, MAX_EVENTS);
    if (result == ZE_RESULT_SUCCESS)
        result = read_counter(desc, extensions[0].address, &counter);
    if (result == ZE_RESULT_SUCCESS)
        result = create_pool(context, desc, counter, handle);
    blz_context_release(context);
    return result;
}

/* Destroys or closes a pool; opened says which of the two the caller requests. */
static ze_result_t give_back(ze_event_pool_handle_t handle, bool opened)
{
    struct blz_event_pool *pool;
    ze_result_t result = blz_event_pool_acquire(handle, &pool);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    bool other = pool->opened != opened;
    blr_object_release(&pool->object);
    if (other)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the event pool was %s: call %s",
                        opened ? "created here" : "opened from another process",
                        opened ? "zeEventPoolDestroy" : "zeEventPoolCloseIpcHandle");
    return blz_destroy(handle, BLR_KIND_ZE_EVENT_POOL);
}

ze_result_t zeEventPoolDestroy(ze_event_pool_handle_t handle) { return give_back(handle, false); }

ze_result_t zeEventPoolCloseIpcHandle(ze_event_pool_handle_t handle) { return give_back(handle, true); }

ze_result_t zeEventPoolGetContextHandle(ze_event_pool_handle_t handle, ze_context_handle_t *context)
{
    struct blz_event_pool *pool;
    ze_result_t result = blz_event_pool_acquire(handle, &pool);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (context == NULL)
        result = blz_fail_null("phContext");
    else
        *context = blz_handle_of(&pool->context->object);
    blr_object_release(&pool->object);
    return result;
}

ze_result_t zeEventPoolGetFlags(ze_event_pool_handle_t handle, ze_event_pool_flags_t *flags)
{
    struct blz_event_pool *pool;
    ze_result_t result = blz_event_pool_acquire(handle, &pool);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (flags == NULL)
        result = blz_fail_null("pFlags");
    else
        *flags = pool->flags;
    blr_object_release(&pool->object);
    return result;
}

/* ---------------------------------------------------------------- pools of several processes */

ze_result_t zeEventPoolGetIpcHandle(ze_event_pool_handle_t handle, ze_ipc_event_pool_handle_t *ipc)
{
    struct blz_event_pool *pool;
    ze_result_t result = blz_event_pool_acquire(handle, &pool);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (ipc == NULL) {
        result = blz_fail_null("phIpc");
    } else if (pool->range.size == 0 || pool->opened) {
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "the event pool was %s: a pool that was created here with ZE_EVENT_POOL_FLAG_IPC is needed",
                          pool->opened ? "opened from another process" : "created without ZE_EVENT_POOL_FLAG_IPC");
    } else {
        const struct blr_store_name name = blr_store_name(&pool->range, BLR_STORE_ZE_EVENTS, pool->count);
        memset(ipc, 0, sizeof *ipc);
        memcpy(ipc, &name, sizeof name);
        memcpy(ipc->data + sizeof name, &pool->flags, sizeof pool->flags);
    }
    blr_object_release(&pool->object);
    return result;
}

ze_result_t zeEventPoolPutIpcHandle(ze_context_handle_t context_handle, ze_ipc_event_pool_handle_t ipc)
{
    struct blz_context *context;
    (void)ipc; /* an IPC handle holds no resource */
    ze_result_t result = blz_context_acquire(context_handle, &context);
    if (result == ZE_RESULT_SUCCESS)
        blz_context_release(context);
    return result;
}

static ze_result_t open_pool(struct blz_context *context, const ze_ipc_event_pool_handle_t *ipc, ze_event_pool_handle_t *handle)
{
    struct blr_store_name name;
    struct blz_event_pool *pool = blr_new(sizeof *pool);
    if (pool == NULL)
        return blz_fail_memory("an event pool");
    memcpy(&name, ipc, sizeof name);
    memcpy(&pool->flags, ipc->data + sizeof name, sizeof pool->flags);
    blz_context_retain(context);
    pool->context = context;
    pool->opened = true;
    void *slots = NULL;
    ze_result_t result = blz_result(blr_store_open(&name, BLR_STORE_ZE_EVENTS, &slots));
    if (result == ZE_RESULT_SUCCESS) {
        pool->slots = slots;
        pool->range = (struct blr_store_range){.offset = name.offset, .size = name.size};
        pool->count = name.detail;
        if (pool->count == 0 || pool->count > name.size / sizeof *pool->slots || (pool->flags & ~(uint32_t)POOL_FLAGS) != 0)
            result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "these 64 bytes are not an event pool handle of this driver");
    }
    if (result != ZE_RESULT_SUCCESS) {
        destroy_pool(&pool->object);
        return result;
    }
    return blz_register(&pool->object, BLR_KIND_ZE_EVENT_POOL, destroy_pool, handle);
}

ze_result_t zeEventPoolOpenIpcHandle(ze_context_handle_t context_handle, ze_ipc_event_pool_handle_t ipc,
                                     ze_event_pool_handle_t *handle)
{
    struct blz_context *context;
    ze_result_t result = blz_context_acquire(context_handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = handle == NULL ? blz_fail_null("phEventPool") : open_pool(context, &ipc, handle);
    blz_context_release(context);
    return result;
}

/* ---------------------------------------------------------------- events */

void blz_event_free(struct blr_object *object)
{
    struct blz_event *event = (struct blz_event *)object;
    if (event->source != NULL)
        blz_stream_release(event->source);
    if (event->latest != NULL)
        blz_event_release(event->latest);
    if (event->pool != NULL)
        blr_object_release(&event->pool->object);
    blr_delete(event);
}

ze_result_t blz_event_acquire(ze_event_handle_t handle, struct blz_event **event)
{
    return blz_acquire(handle, BLR_KIND_ZE_EVENT, event);
}

/* Guards the sources of all events. */
static blr_mutex_t source_mutex = BLR_MUTEX_INIT;

static void change_source(struct blz_event *event, const struct blz_stream *expected, struct blz_stream *stream)
{
    struct blz_stream *before = NULL;
    blr_mutex_lock(&source_mutex);
    if (expected == NULL || event->source == expected) {
        before = event->source;
        event->source = stream;
        if (stream != NULL)
            blz_stream_retain(stream);
    }
    blr_mutex_unlock(&source_mutex);
    if (before != NULL)
        blz_stream_release(before);
}

void blz_event_set_source(struct blz_event *event, struct blz_stream *stream) { change_source(event, NULL, stream); }

void blz_event_clear_source(struct blz_event *event, struct blz_stream *stream) { change_source(event, stream, NULL); }

void blz_event_help(struct blz_event *event)
{
    blr_mutex_lock(&source_mutex);
    struct blz_stream *stream = event->source;
    if (stream != NULL)
        blz_stream_retain(stream);
    blr_mutex_unlock(&source_mutex);
    if (stream == NULL)
        return;
    blz_stream_help(stream, event->slot);
    blz_stream_release(stream);
}

ze_result_t blz_event_check_scopes(ze_event_scope_flags_t signal, ze_event_scope_flags_t wait)
{
    if (((signal | wait) & ~(uint32_t)SCOPE_FLAGS) == 0)
        return ZE_RESULT_SUCCESS;
    return blz_fail_enumeration("desc->signal or desc->wait", signal | wait, "flags that are known are 0x7");
}

static ze_result_t create_event(struct blz_event_pool *pool, const ze_event_desc_t *desc, ze_event_handle_t *handle)
{
    if (desc->index >= pool->count)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "event %u of a pool of %u events", desc->index, pool->count);
    ze_result_t result = blz_event_check_scopes(desc->signal, desc->wait);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct blz_event *event = blr_new(sizeof *event);
    if (event == NULL)
        return blz_fail_memory("an event");
    blr_object_retain(&pool->object);
    event->pool = pool;
    event->slot = pool->slots != NULL ? &pool->slots[desc->index] : &event->own;
    event->desc = *desc;
    event->desc.pNext = NULL;
    event->stamps = pool->flags & (ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP | ZE_EVENT_POOL_FLAG_KERNEL_MAPPED_TIMESTAMP);
    event->counter = pool->counter;
    return blz_register(&event->object, BLR_KIND_ZE_EVENT, blz_event_free, handle);
}

ze_result_t zeEventCreate(ze_event_pool_handle_t pool_handle, const ze_event_desc_t *desc, ze_event_handle_t *handle)
{
    struct blz_event_pool *pool;
    ze_result_t result = blz_event_pool_acquire(pool_handle, &pool);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct blz_extension extensions[] = {{ZE_STRUCTURE_TYPE_EVENT_SYNC_MODE_DESC, NULL}};
    result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_EVENT_DESC, "desc", extensions, 1);
    if (result == ZE_RESULT_SUCCESS)
        result = handle == NULL ? blz_fail_null("phEvent") : create_event(pool, desc, handle);
    blr_object_release(&pool->object);
    return result;
}

ze_result_t zeEventDestroy(ze_event_handle_t handle) { return blz_destroy(handle, BLR_KIND_ZE_EVENT); }

ze_result_t blz_event_check_timestamps(const struct blz_event *event)
{
    if (event->stamps != 0)
        return ZE_RESULT_SUCCESS;
    return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                    "the event has no timestamps: its pool needs ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP, a counter-based event "
                    "ZE_EVENT_COUNTER_BASED_FLAG_DEVICE_TIMESTAMP");
}

void blz_event_timestamps(struct blz_event *event, ze_kernel_timestamp_result_t *result)
{
    ze_kernel_timestamp_data_t times = {0, 0};
    struct blz_event *point = blz_event_latest(event);
    if (point == NULL || !blz_slot_times(point->slot, &times.kernelStart, &times.kernelEnd))
        times = (ze_kernel_timestamp_data_t){0, 0};
    if (point != NULL)
        blz_event_release(point);
    result->global = times;
    result->context = times;
}
