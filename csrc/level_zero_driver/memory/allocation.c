/* Allocations: creation, lookup and free. */

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "level_zero_driver/memory/allocation.h"

#include "level_zero_driver/memory/external_memory.h"
#include "reference/runtime/device.h"

#include <inttypes.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((uint64_t)2 << 20)
#define SAMPLER_TAIL ((uint64_t)64) /* a sampler may read a whole register that starts at the last pixel */
#define MAX_ALIGNMENT ((uint64_t)1 << 30)

uint64_t blz_page_size(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

static void release(struct blr_allocation *allocation)
{
    struct blz_memory *memory = allocation->owner;
    if (memory->unmap != NULL)
        memory->unmap(memory);
    else
        munmap(memory->mapping, memory->mapped);
    if (!memory->imported)
        blr_store_free(&memory->range);
    blr_memory_unreserve(memory->reserved);
    blz_external_delete(memory->external);
    blr_delete(memory);
}

ze_result_t blz_memory_take(struct blz_context *context, const struct blz_memory *description, uint64_t size, void **pointer)
{
    static _Atomic uint64_t last_id;
    static const blr_memory_kind_t kinds[] = {
        [ZE_MEMORY_TYPE_HOST] = BLR_MEMORY_HOST,
        [ZE_MEMORY_TYPE_DEVICE] = BLR_MEMORY_DEVICE,
        [ZE_MEMORY_TYPE_SHARED] = BLR_MEMORY_SHARED,
    };
    struct blr_allocation *allocation;
    struct blz_memory *memory = blr_new(sizeof *memory);
    if (memory == NULL)
        return blz_fail_memory("the description of an allocation");
    *memory = *description;
    memory->id = atomic_fetch_add(&last_id, 1) + 1;
    memory->context = context->object.id;
    blr_result_t result = blr_memory_adopt(context->reference, kinds[memory->type], memory->mapping, size, release, memory,
                                           &allocation);
    if (result != BLR_RESULT_SUCCESS) {
        blr_delete(memory);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *pointer = memory->mapping;
    return ZE_RESULT_SUCCESS;
}

static void *map(uint64_t length, uint64_t alignment)
{
    uint64_t gap = alignment <= blz_page_size() ? 0 : alignment; /* mappings start at pages */
    char *whole = mmap(NULL, length + gap, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (whole == MAP_FAILED)
        return NULL;
    if (gap == 0)
        return whole;
    uint64_t before = (alignment - (uint64_t)(uintptr_t)whole % alignment) % alignment;
    if (before > 0)
        munmap(whole, before);
    if (alignment - before > 0)
        munmap(whole + before + length, alignment - before);
    if (length >= HUGE_PAGE)
        madvise(whole + before, length, MADV_HUGEPAGE);
    return whole + before;
}

static ze_result_t check_size(uint64_t size, uint64_t alignment)
{
    uint64_t limit = blr_device_max_allocation();
    if (size == 0 || size > limit)
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "an allocation of %" PRIu64 " bytes: 1 to %" PRIu64 " are possible here",
                        size, limit);
    if ((alignment & (alignment - 1)) != 0 || alignment > MAX_ALIGNMENT)
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                        "alignment %" PRIu64 ": a power of two up to %" PRIu64 " is needed, or 0 for the default", alignment,
                        MAX_ALIGNMENT);
    return ZE_RESULT_SUCCESS;
}

ze_result_t blz_memory_allocate(struct blz_context *context, struct blz_device *device, ze_memory_type_t type, uint64_t size,
                                uint64_t alignment, void **pointer)
{
    ze_result_t result = check_size(size, alignment);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint64_t page = blz_page_size(), length = (size + SAMPLER_TAIL + page - 1) / page * page;
    uint64_t minimum = length >= HUGE_PAGE ? HUGE_PAGE : page;
    struct blz_memory description = {.device = device, .type = type, .mapped = length, .reserved = length};
    bool reserved = (length < HUGE_PAGE || length <= blr_memory_available()) && blr_memory_reserve(length);
    if (reserved)
        description.mapping = map(length, alignment < minimum ? minimum : alignment);
    if (description.mapping == NULL)
        result = blz_fail(type == ZE_MEMORY_TYPE_HOST ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
                          "%" PRIu64 " bytes are not available: the device has %" PRIu64 " bytes in all", size,
                          blr_device_memory_size());
    else
        result = blz_memory_take(context, &description, size, pointer);
    if (result != ZE_RESULT_SUCCESS) {
        if (description.mapping != NULL)
            munmap(description.mapping, length);
        if (reserved)
            blr_memory_unreserve(length);
    }
    return result;
}

ze_result_t blz_memory_find(struct blz_context *context, const void *pointer, struct blr_allocation **allocation,
                            struct blz_memory **memory)
{
    struct blr_allocation *candidate = blr_memory_find(context->reference, pointer);
    if (candidate != NULL && ((struct blz_memory *)candidate->owner)->context == context->object.id) {
        *allocation = candidate;
        *memory = candidate->owner;
        return ZE_RESULT_SUCCESS;
    }
    blr_memory_release(candidate);
    return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                    "%p is in no allocation of the context: it was freed, belongs to another context, or was never allocated", pointer);
}

ze_result_t blz_memory_free(struct blz_context *context, void *pointer, bool imported)
{
    struct blr_allocation *allocation = NULL;
    struct blz_memory *memory = NULL;
    ze_result_t result = blz_memory_find(context, pointer, &allocation, &memory);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (memory->unmap != NULL)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%p was mapped, not allocated: call zeVirtualMemUnmap", pointer);
    else if (memory->imported != imported)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%p was %s: call %s", pointer,
                          imported ? "allocated here" : "opened from another process", imported ? "zeMemFree" : "zeMemCloseIpcHandle");
    else if (allocation->base != (uint64_t)(uintptr_t)pointer)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%p lies inside an allocation: free it by its start 0x%" PRIx64,
                          pointer, allocation->base);
    else if (!blr_memory_withdraw(allocation))
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%p was freed by another thread", pointer);
    blr_memory_release(allocation);
    return result;
}
