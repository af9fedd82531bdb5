/* Device memory: the ordered set of allocations, their lookup by address, and the public allocation functions. */
#include "memory/allocation.h"

#include "runtime/device.h"
#include "platform/threads.h"

#include <inttypes.h>

#define MAX_ALIGNMENT ((uint64_t)1 << 30)
#define MAX_ELEMENT_SIZE 16u
#define SAMPLER_TAIL 64u /* a sampler may read a whole register from the last pixel on */

static blr_mutex_t mutex = BLR_MUTEX_INIT;
static struct blr_allocation *root;
static uint32_t random_state = 2463534242u;
static _Atomic uint64_t allocations_alive;
static _Atomic uint64_t bytes_reserved;

/* ---------------------------------------------------------------- the ordered set */

static uint32_t next_priority(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

/* Splits a treap into the allocations below base and the remaining ones. */
static void split(struct blr_allocation *tree, uint64_t base, struct blr_allocation **below,
                  struct blr_allocation **rest)
{
    while (tree != NULL) {
        if (tree->base < base) {
            *below = tree;
            below = &tree->right;
            tree = tree->right;
        } else {
            *rest = tree;
            rest = &tree->left;
            tree = tree->left;
        }
    }
    *below = NULL;
    *rest = NULL;
}

static struct blr_allocation *merge(struct blr_allocation *low, struct blr_allocation *high)
{
    struct blr_allocation *merged = NULL, **place = &merged;
    while (low != NULL && high != NULL) {
        if (low->priority > high->priority) {
            *place = low;
            place = &low->right;
            low = low->right;
        } else {
            *place = high;
            place = &high->left;
            high = high->left;
        }
    }
    *place = low != NULL ? low : high;
    return merged;
}

static void insert(struct blr_allocation *allocation)
{
    struct blr_allocation **place = &root;
    allocation->priority = next_priority();
    while (*place != NULL && (*place)->priority > allocation->priority)
        place = allocation->base < (*place)->base ? &(*place)->left : &(*place)->right;
    split(*place, allocation->base, &allocation->left, &allocation->right);
    *place = allocation;
}

static void withdraw(struct blr_allocation *allocation)
{
    struct blr_allocation **place = &root;
    while (*place != allocation)
        place = allocation->base < (*place)->base ? &(*place)->left : &(*place)->right;
    *place = merge(allocation->left, allocation->right);
}

static struct blr_allocation *lookup(uint64_t address)
{
    struct blr_allocation *below = NULL;
    for (struct blr_allocation *node = root; node != NULL;) {
        if (node->base <= address) {
            below = node;
            node = node->right;
        } else {
            node = node->left;
        }
    }
    return below != NULL && address - below->base < below->size ? below : NULL;
}

/* ---------------------------------------------------------------- for the rest of the driver */

struct blr_allocation *blr_memory_find(const struct blr_context *context, const void *pointer)
{
    blr_mutex_lock(&mutex);
    struct blr_allocation *allocation = lookup((uint64_t)(uintptr_t)pointer);
    if (allocation != NULL && allocation->context->apart != context->apart)
        allocation = NULL;
    if (allocation != NULL)
        blr_memory_retain(allocation);
    blr_mutex_unlock(&mutex);
    return allocation;
}

void blr_memory_retain(struct blr_allocation *allocation)
{
    atomic_fetch_add_explicit(&allocation->references, 1, memory_order_relaxed);
}

void blr_memory_release(struct blr_allocation *allocation)
{
    if (allocation == NULL || atomic_fetch_sub_explicit(&allocation->references, 1, memory_order_acq_rel) != 1)
        return;
    if (allocation->release != NULL) {
        allocation->release(allocation);
    } else {
        blr_memory_unreserve(allocation->size);
        blr_pages_free(&allocation->pages);
    }
    blr_context_release(allocation->context);
    blr_delete(allocation);
    atomic_fetch_sub(&allocations_alive, 1);
}

struct blr_allocation *blr_memory_describe(struct blr_context *context, blr_memory_kind_t kind, void *base, uint64_t size,
                                           void (*release)(struct blr_allocation *allocation), void *owner)
{
    struct blr_allocation *own = blr_new(sizeof *own);
    if (own == NULL) {
        blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for the description of an allocation");
        return NULL;
    }
    atomic_init(&own->references, 1);
    own->kind = kind;
    own->base = (uint64_t)(uintptr_t)base;
    own->size = size;
    own->context = context;
    own->release = release;
    own->owner = owner;
    blr_context_retain(context);
    atomic_fetch_add(&allocations_alive, 1);
    return own;
}

blr_result_t blr_memory_adopt(struct blr_context *context, blr_memory_kind_t kind, void *base, uint64_t size,
                              void (*release)(struct blr_allocation *allocation), void *owner,
                              struct blr_allocation **allocation)
{
    struct blr_allocation *own = blr_memory_describe(context, kind, base, size, release, owner);
    if (own == NULL)
        return BLR_RESULT_OUT_OF_MEMORY;
    blr_mutex_lock(&mutex);
    insert(own);
    blr_mutex_unlock(&mutex);
    *allocation = own;
    return BLR_RESULT_SUCCESS;
}

bool blr_memory_withdraw(struct blr_allocation *allocation)
{
    blr_mutex_lock(&mutex);
    bool present = lookup(allocation->base) == allocation;
    if (present)
        withdraw(allocation);
    blr_mutex_unlock(&mutex);
    if (present)
        blr_memory_release(allocation);
    return present;
}

blr_result_t blr_memory_use(struct blr_context *context, const void *pointer, uint64_t size, const char *what,
                            struct blr_allocation **allocation)
{
    *allocation = NULL;
    if (pointer == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the %s is NULL: an address of %" PRIu64 " bytes is needed", what,
                        size);
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    if (address + size < address)
        return blr_fail(BLR_RESULT_INVALID_SIZE,
                        "the %s of %" PRIu64 " bytes at 0x%" PRIx64 " ends beyond the address space", what, size,
                        address);
    struct blr_allocation *memory = blr_memory_find(context, pointer);
    if (memory == NULL)
        return BLR_RESULT_SUCCESS;
    uint64_t offset = address - memory->base, whole = memory->size;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (memory->context != context)
        result = blr_fail(BLR_RESULT_INVALID_HANDLE,
                          "the %s at 0x%" PRIx64 " is memory of another context: allocate it in the queue's context, "
                          "or copy through memory of the host",
                          what, address);
    else if (size > whole - offset)
        result = blr_fail(BLR_RESULT_INVALID_SIZE,
                          "the %s of %" PRIu64 " bytes at offset %" PRIu64 " leaves its allocation of %" PRIu64
                          " bytes: at most %" PRIu64 " bytes are left there",
                          what, size, offset, whole, whole - offset);
    if (result != BLR_RESULT_SUCCESS)
        blr_memory_release(memory);
    else
        *allocation = memory;
    return result;
}

bool blr_memory_reserve(uint64_t size)
{
    uint64_t reserved = atomic_load(&bytes_reserved), limit = blr_device_memory_size();
    do {
        if (size > limit || reserved > limit - size)
            return false;
    } while (!atomic_compare_exchange_weak(&bytes_reserved, &reserved, reserved + size));
    return true;
}

void blr_memory_unreserve(uint64_t size) { atomic_fetch_sub(&bytes_reserved, size); }

uint64_t blr_memory_count(void) { return atomic_load(&allocations_alive); }

/* ---------------------------------------------------------------- the public functions */

blr_result_t blrGetObjectCount(uint64_t *count)
{
    if (count == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "count is NULL: an output pointer is required");
    *count = blr_object_count() + blr_memory_count();
    return BLR_RESULT_SUCCESS;
}

static const char *kind_name(blr_memory_kind_t kind)
{
    switch (kind) {
    case BLR_MEMORY_DEVICE: return "device";
    case BLR_MEMORY_HOST: return "host";
    case BLR_MEMORY_SHARED: return "shared";
    case BLR_MEMORY_UNKNOWN: break;
    }
    return "unknown";
}

static blr_result_t allocate(struct blr_context *context, blr_memory_kind_t kind, uint64_t size, uint64_t alignment,
                             void **pointer)
{
    if (kind != BLR_MEMORY_DEVICE && kind != BLR_MEMORY_HOST && kind != BLR_MEMORY_SHARED)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "memory kind %d: DEVICE (1), HOST (2) or SHARED (3) is needed",
                        (int)kind);
    if (size == 0)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "an allocation of 0 bytes: at least 1 is needed");
    if ((alignment & (alignment - 1)) != 0 || alignment > MAX_ALIGNMENT)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "alignment %" PRIu64 ": a power of two up to %" PRIu64 " is needed, or 0 for the default",
                        alignment, MAX_ALIGNMENT);
    uint64_t limit = blr_device_max_allocation();
    if (size > limit)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY,
                        "%" PRIu64 " bytes of %s memory: one allocation has at most %" PRIu64 " bytes on this machine",
                        size, kind_name(kind), limit);
    struct blr_allocation *allocation = blr_new(sizeof *allocation);
    if (allocation == NULL)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory to describe an allocation");
    bool reserved = blr_memory_reserve(size);
    if (!reserved ||
        !blr_pages_allocate(&allocation->pages, size + SAMPLER_TAIL, alignment < BLR_BASE_ALIGN ? BLR_BASE_ALIGN : alignment)) {
        if (reserved)
            blr_memory_unreserve(size);
        blr_delete(allocation);
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY,
                        "%" PRIu64 " bytes of %s memory cannot be allocated: %" PRIu64 " of the machine's %" PRIu64
                        " bytes are allocated here, %" PRIu64 " are free in the system",
                        size, kind_name(kind), atomic_load(&bytes_reserved), blr_device_memory_size(),
                        blr_memory_available());
    }
    allocation->references = 1;
    allocation->kind = kind;
    allocation->base = (uint64_t)(uintptr_t)allocation->pages.base;
    allocation->size = size;
    allocation->context = context;
    blr_context_retain(context);
    atomic_fetch_add(&allocations_alive, 1);
    *pointer = allocation->pages.base;
    blr_mutex_lock(&mutex);
    insert(allocation);
    blr_mutex_unlock(&mutex);
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrMemoryAllocate(blr_context_t handle, blr_memory_kind_t kind, uint64_t size, uint64_t alignment,
                               void **pointer)
{
    struct blr_context *context = blr_context_acquire(handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result;
    if (pointer == NULL) {
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "pointer is NULL: an output pointer is required");
    } else {
        *pointer = NULL;
        result = allocate(context, kind, size, alignment, pointer);
    }
    blr_context_release(context);
    return result;
}

static blr_result_t allocate_pitched(struct blr_context *context, uint64_t width, uint64_t height,
                                     uint32_t element_size, void **pointer, uint64_t *row_pitch)
{
    if (pointer == NULL || row_pitch == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%s is NULL: output pointers for pointer and row_pitch are "
                                                     "required",
                        pointer == NULL ? "pointer" : "row_pitch");
    *pointer = NULL;
    *row_pitch = 0;
    if (element_size == 0 || element_size > MAX_ELEMENT_SIZE)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "element size %u: 1 to %u bytes are needed", element_size,
                        MAX_ELEMENT_SIZE);
    if (width == 0 || height == 0)
        return blr_fail(BLR_RESULT_INVALID_SIZE,
                        "pitched memory of %" PRIu64 " bytes by %" PRIu64 " rows: both must be at least 1", width,
                        height);
    if (width > BLR_MAX_LINEAR_ROW_PITCH || height > BLR_MAX_LINEAR_HEIGHT)
        return blr_fail(BLR_RESULT_INVALID_SIZE,
                        "pitched memory of %" PRIu64 " bytes by %" PRIu64 " rows: at most %u bytes by %u rows", width,
                        height, BLR_MAX_LINEAR_ROW_PITCH, BLR_MAX_LINEAR_HEIGHT);
    uint64_t pitch = (width + BLR_ROW_PITCH_ALIGN - 1) / BLR_ROW_PITCH_ALIGN * BLR_ROW_PITCH_ALIGN;
    blr_result_t result = allocate(context, BLR_MEMORY_DEVICE, pitch * height, 0, pointer);
    if (result == BLR_RESULT_SUCCESS)
        *row_pitch = pitch;
    return result;
}

blr_result_t blrMemoryAllocatePitched(blr_context_t handle, uint64_t width_in_bytes, uint64_t height,
                                      uint32_t element_size, void **pointer, uint64_t *row_pitch)
{
    struct blr_context *context = blr_context_acquire(handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = allocate_pitched(context, width_in_bytes, height, element_size, pointer, row_pitch);
    blr_context_release(context);
    return result;
}

blr_result_t blrMemoryFree(blr_context_t handle, void *pointer)
{
    struct blr_context *context = blr_context_acquire_kept(handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    blr_mutex_lock(&mutex);
    struct blr_allocation *allocation = lookup(address);
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (allocation == NULL)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                          "0x%" PRIx64 " is not memory of this driver: it was freed before, or allocated elsewhere",
                          address);
    else if (allocation->base != address)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                          "0x%" PRIx64 " lies inside an allocation, at offset %" PRIu64
                          ": an allocation is freed by its start 0x%" PRIx64,
                          address, address - allocation->base, allocation->base);
    else if (allocation->context != context)
        result = blr_fail(BLR_RESULT_INVALID_HANDLE,
                          "0x%" PRIx64 " is memory of another context: it is freed in its own", address);
    else
        withdraw(allocation);
    blr_mutex_unlock(&mutex);
    if (result == BLR_RESULT_SUCCESS)
        blr_memory_release(allocation);
    blr_context_release(context);
    return result;
}

blr_result_t blrMemoryGetProperties(blr_context_t handle, const void *pointer, blr_memory_properties_t *properties)
{
    struct blr_context *context = blr_context_acquire_kept(handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    struct blr_allocation *allocation = properties == NULL ? NULL : blr_memory_find(context, pointer);
    blr_context_release(context);
    if (properties == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "properties is NULL: an output pointer is required");
    *properties = (blr_memory_properties_t){.kind = BLR_MEMORY_UNKNOWN};
    if (allocation == NULL)
        return BLR_RESULT_SUCCESS;
    properties->kind = allocation->kind;
    properties->base = allocation->base;
    properties->size = allocation->size;
    properties->context = (blr_context_t)(uintptr_t)allocation->context->object.id;
    blr_memory_release(allocation);
    return BLR_RESULT_SUCCESS;
}
