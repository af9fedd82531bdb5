/* The handle table: registration, lookup and reference counts of objects, and detection of forked processes. */
#include "runtime/object.h"

#include "platform/heap.h"
#include "platform/threads.h"

#include <inttypes.h>
#include <stdatomic.h>

_Static_assert(sizeof(void *) == 8, "handles are 64-bit numbers kept in pointers");

#define INDEX_BITS 26
#define GENERATION_BITS 32
#define SEGMENT_BITS 12
#define SEGMENT_SIZE (1u << SEGMENT_BITS)
#define SEGMENT_COUNT (1u << (INDEX_BITS - SEGMENT_BITS))
#define NO_SLOT UINT32_MAX

/* Bits of a slot's state: the generation, the open flag, and the reference count. */
#define OPEN ((uint64_t)1 << 31)
#define REFERENCES (OPEN - 1)

struct slot {
    _Atomic uint64_t state;
    struct blr_object *object;
    uint32_t next_free;
};

static const char *const kind_names[BLR_KIND_COUNT] = {
    [BLR_KIND_DEVICE] = "device", [BLR_KIND_CONTEXT] = "context", [BLR_KIND_QUEUE] = "queue",
    [BLR_KIND_EVENT] = "event",   [BLR_KIND_IMAGE] = "image",     [BLR_KIND_IMAGE_HANDLE] = "image handle",
    [BLR_KIND_MODULE] = "module", [BLR_KIND_KERNEL] = "kernel",
    [BLR_KIND_EXTERNAL_MEMORY] = "external memory", [BLR_KIND_EXTERNAL_SEMAPHORE] = "external semaphore",
    [BLR_KIND_BATCH] = "batch",
    [BLR_KIND_ZE_DRIVER] = "driver", [BLR_KIND_ZE_DEVICE] = "device", [BLR_KIND_ZE_CONTEXT] = "context",
    [BLR_KIND_ZE_QUEUE] = "command queue", [BLR_KIND_ZE_LIST] = "command list", [BLR_KIND_ZE_EVENT_POOL] = "event pool",
    [BLR_KIND_ZE_EVENT] = "event", [BLR_KIND_ZE_FENCE] = "fence or user object", [BLR_KIND_ZE_PHYSICAL_MEMORY] = "physical memory",
    [BLR_KIND_ZE_IMAGE] = "image", [BLR_KIND_ZE_SAMPLER] = "sampler", [BLR_KIND_ZE_MODULE] = "module",
    [BLR_KIND_ZE_BUILD_LOG] = "module build log", [BLR_KIND_ZE_KERNEL] = "kernel",
    [BLR_KIND_ZE_SEMAPHORE] = "external semaphore",
    [BLR_KIND_CU_MIPMAP] = "mipmapped array", [BLR_KIND_CU_LINK] = "linker", [BLR_KIND_CU_GRAPH] = "graph",
    [BLR_KIND_CU_NODE] = "node of a graph", [BLR_KIND_CU_POOL] = "memory pool",
};

/* Segments are never freed, so that a stale handle can always be looked up. */
static struct slot *_Atomic segments[SEGMENT_COUNT];
static blr_mutex_t table_mutex = BLR_MUTEX_INIT;
static uint32_t slots_used;
static uint32_t free_first = NO_SLOT, free_last = NO_SLOT;
static _Atomic uint64_t objects_alive;
static _Atomic bool has_threads;
static _Atomic bool forked;

_Static_assert(BLR_KIND_COUNT <= 32, "kinds have five bits");

/* Drivers and devices are never destroyed. */
static bool is_permanent(unsigned kind)
{
    return kind == BLR_KIND_DEVICE || kind == BLR_KIND_ZE_DRIVER || kind == BLR_KIND_ZE_DEVICE;
}

static struct slot *slot_at(uint32_t index)
{
    struct slot *segment = atomic_load_explicit(&segments[index >> SEGMENT_BITS], memory_order_acquire);
    return segment == NULL ? NULL : &segment[index & (SEGMENT_SIZE - 1)];
}

static uint32_t index_of(uint64_t id) { return (uint32_t)(id & (((uint64_t)1 << INDEX_BITS) - 1)); }
static uint32_t generation_of(uint64_t id) { return (uint32_t)(id >> INDEX_BITS); }
static unsigned kind_of(uint64_t id) { return (unsigned)(id >> (INDEX_BITS + GENERATION_BITS)); }

#if !defined(_WIN32)
static void mark_forked_child(void)
{
    if (atomic_load(&has_threads) || blr_object_count() > 0)
        atomic_store(&forked, true);
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, mark_forked_child); }
#endif

bool blr_process_forked(void) { return atomic_load_explicit(&forked, memory_order_relaxed); }

blr_result_t blr_fail_forked(void)
{
    return blr_fail(BLR_RESULT_INVALID_HANDLE,
                    "this process was forked from one that was using the reference driver, and a forked copy of it "
                    "has no worker threads: use the driver only in the parent, or start the child with spawn");
}

void blr_process_has_threads(void) { atomic_store(&has_threads, true); }

/* Takes a free slot, the longest unused one first so that generations advance slowly. Needs the lock. */
static struct slot *take_slot(uint32_t *index)
{
    if (free_first != NO_SLOT && slots_used >= SEGMENT_SIZE) {
        *index = free_first;
        struct slot *slot = slot_at(*index);
        free_first = slot->next_free;
        if (free_first == NO_SLOT)
            free_last = NO_SLOT;
        return slot;
    }
    if (slots_used == SEGMENT_COUNT * SEGMENT_SIZE)
        return NULL;
    if (slots_used % SEGMENT_SIZE == 0) {
        struct slot *segment = blr_new(SEGMENT_SIZE * sizeof *segment);
        if (segment == NULL)
            return NULL;
        atomic_store_explicit(&segments[slots_used >> SEGMENT_BITS], segment, memory_order_release);
#if !defined(_WIN32)
        if (slots_used == 0)
            watch_forks();
#endif
    }
    *index = slots_used++;
    struct slot *slot = slot_at(*index);
    atomic_store_explicit(&slot->state, (uint64_t)1 << 32, memory_order_relaxed);
    return slot;
}

blr_result_t blr_object_register(struct blr_object *object, enum blr_kind kind,
                                 void (*destroy)(struct blr_object *object))
{
    uint32_t index = 0;
    blr_mutex_lock(&table_mutex);
    struct slot *slot = take_slot(&index);
    blr_mutex_unlock(&table_mutex);
    if (slot == NULL)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for the handle of a %s", kind_names[kind]);
    uint64_t generation = atomic_load_explicit(&slot->state, memory_order_relaxed) >> 32;
    object->id = (uint64_t)kind << (INDEX_BITS + GENERATION_BITS) | generation << INDEX_BITS | index;
    object->destroy = destroy;
    slot->object = object;
    if (!is_permanent(kind))
        atomic_fetch_add(&objects_alive, 1);
    atomic_store_explicit(&slot->state, generation << 32 | OPEN | 1, memory_order_release);
    return BLR_RESULT_SUCCESS;
}

static struct blr_object *acquire(uint64_t id, enum blr_kind kind, uint64_t mask)
{
    if (blr_process_forked()) {
        blr_fail_forked();
        return NULL;
    }
    const char *name = kind_names[kind];
    if (id == 0) {
        blr_fail(BLR_RESULT_INVALID_HANDLE, "the %s is NULL: a %s made by this driver is needed", name, name);
        return NULL;
    }
    unsigned own_kind = kind_of(id);
    if (own_kind != (unsigned)kind && own_kind > 0 && own_kind < BLR_KIND_COUNT) {
        blr_fail(BLR_RESULT_INVALID_HANDLE, "0x%" PRIx64 " names a %s where a %s is needed", id, kind_names[own_kind],
                 name);
        return NULL;
    }
    struct slot *slot = own_kind == (unsigned)kind ? slot_at(index_of(id)) : NULL;
    uint32_t generation = generation_of(id);
    uint64_t state = slot == NULL ? 0 : atomic_load_explicit(&slot->state, memory_order_relaxed);
    if (slot == NULL || generation == 0 || generation > state >> 32) {
        blr_fail(BLR_RESULT_INVALID_HANDLE, "0x%" PRIx64 " is not a %s: this driver never made such a handle", id,
                 name);
        return NULL;
    }
    for (;;) {
        if (state >> 32 != generation || (state & mask) == 0 || (state & REFERENCES) == 0) {
            blr_fail(BLR_RESULT_INVALID_HANDLE, "the %s 0x%" PRIx64 " was destroyed: a live one is needed", name, id);
            return NULL;
        }
        if (atomic_compare_exchange_weak_explicit(&slot->state, &state, state + 1, memory_order_acquire,
                                                  memory_order_relaxed))
            break;
    }
    struct blr_object *object = slot->object;
    if (object->id == id)
        return object;
    blr_object_release(object); /* the slot is valid, the kind differs */
    blr_fail(BLR_RESULT_INVALID_HANDLE, "0x%" PRIx64 " is not a %s: this driver never made such a handle", id, name);
    return NULL;
}

struct blr_object *blr_object_acquire(uint64_t id, enum blr_kind kind) { return acquire(id, kind, OPEN); }

struct blr_object *blr_object_acquire_kept(uint64_t id, enum blr_kind kind) { return acquire(id, kind, REFERENCES); }

void blr_object_retain(struct blr_object *object)
{
    atomic_fetch_add_explicit(&slot_at(index_of(object->id))->state, 1, memory_order_relaxed);
}

void blr_object_release(struct blr_object *object)
{
    uint32_t index = index_of(object->id);
    struct slot *slot = slot_at(index);
    unsigned kind = kind_of(object->id);
    uint64_t before = atomic_fetch_sub_explicit(&slot->state, 1, memory_order_acq_rel);
    if ((before & REFERENCES) != 1)
        return;
    object->destroy(object);
    uint64_t generation = (uint64_t)(uint32_t)(before >> 32) + 1;
    if (generation >> 32 != 0)
        generation = 1;
    atomic_store_explicit(&slot->state, generation << 32, memory_order_release);
    if (!is_permanent(kind))
        atomic_fetch_sub(&objects_alive, 1);
    blr_mutex_lock(&table_mutex);
    slot->object = NULL;
    slot->next_free = NO_SLOT;
    if (free_last == NO_SLOT)
        free_first = index;
    else
        slot_at(free_last)->next_free = index;
    free_last = index;
    blr_mutex_unlock(&table_mutex);
}

bool blr_object_close(struct blr_object *object)
{
    struct slot *slot = slot_at(index_of(object->id));
    if ((atomic_fetch_and_explicit(&slot->state, ~OPEN, memory_order_acq_rel) & OPEN) == 0)
        return false;
    blr_object_release(object);
    return true;
}

uint64_t blr_object_count(void) { return atomic_load(&objects_alive); }
