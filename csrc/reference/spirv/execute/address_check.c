/* Address checks: the ranges that a worker used last, then allocations and registered memory. */
#include "memory/host_registration.h"
#include "spirv/execute/interpreter.h"

static void remember(struct blr_spirv_worker *worker, struct blr_spirv_range range)
{
    struct blr_spirv_range *place;
    if (worker->range_count < BLR_SPIRV_CACHED_RANGES) {
        place = &worker->ranges[worker->range_count++];
    } else {
        place = &worker->ranges[worker->range_next++ % BLR_SPIRV_CACHED_RANGES];
        blr_memory_release(place->allocation);
    }
    *place = range;
}

static bool find_variable(struct blr_spirv_worker *worker, uint64_t address, uint64_t size)
{
    const struct blr_spirv_program *program = worker->launch->program;
    for (uint32_t n = 0; n < program->module_count; n++)
        for (uint32_t i = 0; i < program->modules[n].variable_count; i++) {
            const struct blr_spirv_variable *variable = program->modules[n].variables[i];
            const uint64_t end = variable->address + variable->holds->size;
            if (variable->address != 0 && blr_spirv_within(address, size, variable->address, end)) {
                remember(worker, (struct blr_spirv_range){.begin = variable->address,
                                                          .end = end,
                                                          .writable = variable->storage == BLR_STORAGE_CROSS_WORKGROUP});
                return true;
            }
        }
    return false;
}

static bool usable(const struct blr_spirv_launch *launch, const struct blr_allocation *allocation, uint64_t address,
                   uint64_t size, bool write)
{
    const enum blr_memory_access access = blr_memory_access(allocation);
    return allocation->context == launch->context &&
           (access == BLR_ACCESS_READ_WRITE || (access == BLR_ACCESS_READ && !write)) &&
           blr_spirv_within(address, size, allocation->base, allocation->base + allocation->size);
}

static bool find_allocation(struct blr_spirv_worker *worker, uint64_t address, uint64_t size, bool write)
{
    const struct blr_spirv_launch *launch = worker->launch;
    struct blr_allocation *allocation = NULL;
    /* Arguments may point into memory that was freed after the submission: the command retains it. */
    for (uint32_t i = 0; i < launch->allocation_count && allocation == NULL; i++)
        if (usable(launch, launch->allocations[i], address, size, write)) {
            allocation = launch->allocations[i];
            blr_memory_retain(allocation);
        }
    if (allocation == NULL)
        allocation = blr_memory_find(launch->context, (const void *)(uintptr_t)address);
    if (allocation == NULL)
        allocation = blr_registration_find(launch->context, address, size, write);
    if (allocation == NULL)
        return false;
    if (!usable(launch, allocation, address, size, write)) {
        blr_memory_release(allocation);
        return false;
    }
    remember(worker, (struct blr_spirv_range){.begin = allocation->base,
                                              .end = allocation->base + allocation->size,
                                              .writable = blr_memory_access(allocation) == BLR_ACCESS_READ_WRITE,
                                              .allocation = allocation});
    return true;
}

bool blr_spirv_window(struct blr_spirv_batch *batch, uint64_t address, uint64_t size, bool write, uint64_t *begin, uint64_t *end)
{
    struct blr_spirv_worker *worker = batch->worker;
    *begin = (uint64_t)(uintptr_t)worker->local;
    *end = *begin + worker->launch->local_bytes;
    if (blr_spirv_within(address, size, *begin, *end))
        return true;
    for (int pass = 0;; pass++) {
        for (uint32_t i = 0; i < worker->range_count; i++) {
            const struct blr_spirv_range *range = &worker->ranges[i];
            if (blr_spirv_within(address, size, range->begin, range->end) && (range->writable || !write)) {
                *begin = range->begin;
                *end = range->end;
                return true;
            }
        }
        if (pass > 0)
            return false;
        uint64_t own = worker->launch->program->private_bytes;
        for (uint32_t i = 0; own > 0 && i < worker->batch_count; i++) {
            *begin = (uint64_t)(uintptr_t)worker->batches[i].private_memory;
            *end = *begin + own * BLR_LANES;
            if (blr_spirv_within(address, size, *begin, *end))
                return true;
        }
        if (!find_variable(worker, address, size) && !find_allocation(worker, address, size, write))
            return false;
    }
}

bool blr_spirv_reachable(struct blr_spirv_batch *batch, uint64_t address, uint64_t size, bool write)
{
    uint64_t begin, end;
    return blr_spirv_window(batch, address, size, write, &begin, &end);
}
