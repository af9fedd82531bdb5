/* Reused driver events: the creation of an event costs more than a short command. An event that a command signals, or
 * waits for, must not be reused before the command is complete: holders share an event by references. */
#ifndef BINDLESS_DRIVER_CALLS_LEVEL_ZERO_EVENTS_H
#define BINDLESS_DRIVER_CALLS_LEVEL_ZERO_EVENTS_H

#include <stdlib.h>

#include "../../reference/platform/threads.h"

enum { BINDLESS_EVENTS = 64 }; /* per ze_event_pool_handle_t */

typedef struct bindless_pool_part {
    struct bindless_pool_part *next;
    ze_event_pool_handle_t pool;
    uint32_t count; /* created events */
    bindless_event_t events[BINDLESS_EVENTS];
} bindless_pool_part_t;

struct bindless_pool {
    blr_mutex_t mutex;
    ze_context_handle_t context;
    ze_event_pool_flags_t flags;
    int closed;
    uint64_t in_use; /* events with references */
    bindless_pool_part_t *parts;
    bindless_event_t *unused;
};

static blr_mutex_t bindless_foreign_mutex = BLR_MUTEX_INIT; /* guards the references of events without a pool */
static int bindless_is_forked;

static void bindless_set_forked(void)
{
    bindless_is_forked = 1;
}

static int bindless_watch_forks(void)
{
    return blr_watch_forks(bindless_set_forked);
}

static bindless_pool_t *bindless_pool_create(ze_context_handle_t context, int timed)
{
    bindless_pool_t *pool = calloc(1, sizeof *pool);
    if (pool != NULL) {
        blr_mutex_init(&pool->mutex);
        pool->context = context;
        pool->flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | (timed ? ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP : 0);
    }
    return pool;
}

static void bindless_pool_delete(bindless_pool_t *pool)
{
    while (pool->parts != NULL) {
        bindless_pool_part_t *part = pool->parts;
        pool->parts = part->next;
        free(part);
    }
    blr_mutex_destroy(&pool->mutex);
    free(pool);
}

static ze_result_t bindless_pool_close(bindless_pool_t *pool)
{
    ze_result_t first = ZE_RESULT_SUCCESS;
    blr_mutex_lock(&pool->mutex);
    for (bindless_pool_part_t *part = pool->parts; part != NULL; part = part->next) {
        for (uint32_t i = 0; i < part->count; i++) {
            ze_result_t result = zeEventDestroy(part->events[i].handle);
            first = first == ZE_RESULT_SUCCESS ? result : first;
        }
        ze_result_t result = zeEventPoolDestroy(part->pool);
        first = first == ZE_RESULT_SUCCESS ? result : first;
    }
    pool->closed = 1;
    int is_last = pool->in_use == 0;
    blr_mutex_unlock(&pool->mutex);
    if (is_last) {
        bindless_pool_delete(pool);
    }
    return first;
}

/* Creates an event; the mutex is held. */
static ze_result_t bindless_event_create(bindless_pool_t *pool, bindless_event_t **created)
{
    bindless_pool_part_t *part = pool->parts;
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (part == NULL || part->count == BINDLESS_EVENTS) {
        const ze_event_pool_desc_t of_pool = {
            .stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC,
            .flags = pool->flags,
            .count = BINDLESS_EVENTS,
        };
        part = calloc(1, sizeof *part);
        if (part == NULL) {
            return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        }
        result = zeEventPoolCreate(pool->context, &of_pool, 0, NULL, &part->pool);
        if (result != ZE_RESULT_SUCCESS) {
            free(part);
            return result;
        }
        part->next = pool->parts;
        pool->parts = part;
    }
    const ze_event_desc_t of_event = {
        .stype = ZE_STRUCTURE_TYPE_EVENT_DESC,
        .index = part->count,
        .signal = ZE_EVENT_SCOPE_FLAG_HOST,
    };
    bindless_event_t *event = &part->events[part->count];
    result = zeEventCreate(part->pool, &of_event, &event->handle);
    if (result == ZE_RESULT_SUCCESS) {
        part->count++;
        event->pool = pool;
        *created = event;
    }
    return result;
}

static ze_result_t bindless_event_take(bindless_pool_t *pool, bindless_event_t **slot)
{
    ze_result_t result = ZE_RESULT_SUCCESS;
    blr_mutex_lock(&pool->mutex);
    bindless_event_t *event = pool->unused;
    if (event == NULL) {
        result = bindless_event_create(pool, &event);
    } else {
        result = zeEventHostReset(event->handle);
        if (result == ZE_RESULT_SUCCESS) {
            pool->unused = event->next;
        }
    }
    if (result == ZE_RESULT_SUCCESS) {
        event->references = 1;
        pool->in_use++;
        *slot = event;
    }
    blr_mutex_unlock(&pool->mutex);
    return result;
}

static ze_result_t bindless_event_adopt(ze_event_handle_t handle, int owned, bindless_event_t **adopted)
{
    bindless_event_t *event = calloc(1, sizeof *event);
    if (event == NULL) {
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    event->handle = handle;
    event->owned = owned;
    event->references = 1;
    *adopted = event;
    return ZE_RESULT_SUCCESS;
}

static void bindless_event_retain(bindless_event_t *event)
{
    blr_mutex_t *mutex = event->pool == NULL ? &bindless_foreign_mutex : &event->pool->mutex;
    blr_mutex_lock(mutex);
    event->references++;
    blr_mutex_unlock(mutex);
}

static void bindless_event_share(uint64_t number, bindless_event_t **shared)
{
    bindless_event_t *event = (bindless_event_t *)(uintptr_t)number;
    bindless_event_retain(event);
    *shared = event;
}

static void bindless_foreign_release(bindless_event_t *event)
{
    blr_mutex_lock(&bindless_foreign_mutex);
    int is_last = --event->references == 0;
    blr_mutex_unlock(&bindless_foreign_mutex);
    if (is_last && event->owned && !bindless_is_forked) {
        (void)zeEventDestroy(event->handle); /* a destructor has no caller that could receive the error */
    }
    if (is_last) {
        free(event);
    }
}

static int bindless_event_release(bindless_event_t *event)
{
    bindless_pool_t *pool = event->pool;
    if (pool == NULL) {
        bindless_foreign_release(event);
        return 0;
    }
    if (bindless_is_forked) { /* another thread of the parent may have held the mutex */
        return 0;
    }
    blr_mutex_lock(&pool->mutex);
    if (--event->references == 0) {
        event->next = pool->unused;
        pool->unused = event;
        pool->in_use--;
    }
    int is_last = pool->closed && pool->in_use == 0;
    blr_mutex_unlock(&pool->mutex);
    if (is_last) {
        bindless_pool_delete(pool);
    }
    return 0;
}

static void bindless_event_drop(bindless_event_t **slot)
{
    if (*slot != NULL) {
        (void)bindless_event_release(*slot);
    }
    *slot = NULL;
}

static uint32_t bindless_pool_count(bindless_pool_t *pool, int unused, uint32_t room, ze_event_handle_t *handles)
{
    uint32_t count = 0;
    blr_mutex_lock(&pool->mutex);
    for (const bindless_pool_part_t *part = pool->parts; part != NULL; part = part->next) {
        for (uint32_t i = 0; i < part->count; i++) {
            if (unused && part->events[i].references > 0) {
                continue;
            }
            if (count < room) {
                handles[count] = part->events[i].handle;
            }
            count++;
        }
    }
    blr_mutex_unlock(&pool->mutex);
    return count;
}

#endif
