/* Registered ranges of ordinary process memory, by context. */
#include "memory/host_registration.h"

#include "platform/threads.h"

#include <inttypes.h>
#include <string.h>

static blr_mutex_t mutex = BLR_MUTEX_INIT;
static struct blr_allocation **ranges; /* unordered, each with the caller's reference */
static uint32_t capacity;
static _Atomic uint32_t count; /* modified under the mutex */

/* Whether no range is registered: true in most processes, and every launch asks. */
static bool none(void) { return atomic_load_explicit(&count, memory_order_acquire) == 0; }

static bool holds(const struct blr_allocation *range, uint64_t address, uint64_t size)
{
    return address >= range->base && size <= range->size && address - range->base <= range->size - size;
}

/* ---------------------------------------------------------------- for the rest of the driver */

struct blr_allocation *blr_registration_find(const struct blr_context *context, uint64_t address, uint64_t size,
                                             bool write)
{
    struct blr_allocation *range = NULL;
    if (none())
        return NULL;
    blr_mutex_lock(&mutex);
    for (uint32_t i = 0; i < count && range == NULL; i++)
        if (ranges[i]->context == context && holds(ranges[i], address, size) &&
            (!write || blr_memory_access(ranges[i]) == BLR_ACCESS_READ_WRITE))
            range = ranges[i];
    if (range != NULL)
        blr_memory_retain(range);
    blr_mutex_unlock(&mutex);
    return range;
}

uint32_t blr_registration_collect(const struct blr_context *context, uint64_t address, struct blr_allocation **list,
                                  uint32_t room)
{
    uint32_t number = 0;
    if (none())
        return 0;
    blr_mutex_lock(&mutex);
    for (uint32_t i = 0; i < count; i++)
        if (ranges[i]->context == context && holds(ranges[i], address, 1)) {
            if (number < room)
                list[number] = ranges[i];
            number++;
        }
    for (uint32_t i = 0; number <= room && i < number; i++)
        blr_memory_retain(list[i]);
    blr_mutex_unlock(&mutex);
    return number;
}

/* ---------------------------------------------------------------- the public functions */

static void leave(struct blr_allocation *range) { (void)range; /* Release function: the memory belongs to the caller */ }

/* Adds a range; false without memory. Under the mutex. */
static bool add(struct blr_allocation *range)
{
    if (count == capacity) {
        uint32_t larger = capacity == 0 ? 16 : 2 * capacity;
        struct blr_allocation **copy = blr_new(larger * sizeof *copy);
        if (copy == NULL)
            return false;
        if (count > 0)
            memcpy(copy, ranges, count * sizeof *copy);
        blr_delete(ranges);
        ranges = copy;
        capacity = larger;
    }
    ranges[count] = range;
    count++;
    return true;
}

/* Removes a range; NULL if none is equal to it. Under the mutex. */
static struct blr_allocation *take(const struct blr_context *context, uint64_t address, uint64_t size,
                                   enum blr_memory_access access)
{
    for (uint32_t i = 0; i < count; i++) {
        struct blr_allocation *range = ranges[i];
        if (range->context != context || range->base != address || range->size != size ||
            blr_memory_access(range) != access)
            continue;
        count--;
        ranges[i] = ranges[count];
        if (count == 0) {
            blr_delete(ranges);
            ranges = NULL;
            capacity = 0;
        }
        return range;
    }
    return NULL;
}

static blr_result_t check(const void *pointer, uint64_t size, uint32_t writable)
{
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    if (pointer == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "pointer is NULL: the address of memory is needed");
    if (writable > 1)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "writable is %u: 0 or 1 is needed", writable);
    if (size == 0)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "0 bytes at 0x%" PRIx64 ": at least 1 is needed", address);
    if (address + (size - 1) < address)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "%" PRIu64 " bytes at 0x%" PRIx64 " end beyond the address space", size,
                        address);
    return BLR_RESULT_SUCCESS;
}

static blr_result_t refuse_own(const struct blr_context *context, const void *pointer, uint64_t size)
{
    struct blr_allocation *first = blr_memory_find(context, pointer);
    struct blr_allocation *last = blr_memory_find(context, (const char *)pointer + (size - 1));
    bool own = first != NULL || last != NULL;
    blr_memory_release(first);
    blr_memory_release(last);
    if (!own)
        return BLR_RESULT_SUCCESS;
    return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                    "%" PRIu64 " bytes at 0x%" PRIx64 " hold memory of this driver: kernels of its context reach that as it "
                    "is, only other memory of the process is registered",
                    size, (uint64_t)(uintptr_t)pointer);
}

static blr_result_t enter(struct blr_context *context, void *pointer, uint64_t size, uint32_t writable)
{
    blr_result_t result = check(pointer, size, writable);
    if (result == BLR_RESULT_SUCCESS)
        result = refuse_own(context, pointer, size);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    struct blr_allocation *range = blr_memory_describe(context, BLR_MEMORY_UNKNOWN, pointer, size, leave, NULL);
    if (range == NULL)
        return BLR_RESULT_OUT_OF_MEMORY;
    atomic_store(&range->access, writable ? BLR_ACCESS_READ_WRITE : BLR_ACCESS_READ);
    blr_mutex_lock(&mutex);
    bool added = add(range);
    blr_mutex_unlock(&mutex);
    if (added)
        return BLR_RESULT_SUCCESS;
    blr_memory_release(range);
    return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for the list of registered memory");
}

blr_result_t blrMemoryRegister(blr_context_t handle, void *pointer, uint64_t size, uint32_t writable)
{
    struct blr_context *context = blr_context_acquire(handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = enter(context, pointer, size, writable);
    blr_context_release(context);
    return result;
}

blr_result_t blrMemoryUnregister(blr_context_t handle, void *pointer, uint64_t size, uint32_t writable)
{
    struct blr_context *context = blr_context_acquire_kept(handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = check(pointer, size, writable);
    if (result == BLR_RESULT_SUCCESS) {
        uint64_t address = (uint64_t)(uintptr_t)pointer;
        blr_mutex_lock(&mutex);
        struct blr_allocation *range = take(context, address, size, writable ? BLR_ACCESS_READ_WRITE : BLR_ACCESS_READ);
        blr_mutex_unlock(&mutex);
        if (range != NULL)
            blr_memory_release(range);
        else
            result = blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                              "%" PRIu64 " bytes at 0x%" PRIx64 " are not registered here for %s: give what was given to "
                              "blrMemoryRegister, once for each call of it",
                              size, address, writable ? "reading and writing" : "reading alone");
    }
    blr_context_release(context);
    return result;
}
