/* What kernels read and write: every address is looked up before it is touched. */
#include "registration.h"
#include "spirv_lanes.h"
#include "spirv_operations.h"

#include <inttypes.h>
#include <string.h>

/* ---------------------------------------------------------------- ranges */

static bool within(uint64_t address, uint64_t size, uint64_t begin, uint64_t end)
{
    return address >= begin && address <= end && size <= end - address;
}

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
            if (variable->address != 0 && within(address, size, variable->address, end)) {
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
           within(address, size, allocation->base, allocation->base + allocation->size);
}

static bool find_allocation(struct blr_spirv_worker *worker, uint64_t address, uint64_t size, bool write)
{
    const struct blr_spirv_launch *launch = worker->launch;
    struct blr_allocation *allocation = NULL;
    /* Arguments may point into memory that was freed after the submission: the command keeps it. */
    for (uint32_t i = 0; i < launch->allocation_count && allocation == NULL; i++)
        if (usable(launch, launch->allocations[i], address, size, write)) {
            allocation = launch->allocations[i];
            blr_memory_retain(allocation);
        }
    if (allocation == NULL)
        allocation = blr_memory_find((const void *)(uintptr_t)address);
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

bool blr_spirv_reachable(struct blr_spirv_batch *batch, uint64_t address, uint64_t size, bool write)
{
    struct blr_spirv_worker *worker = batch->worker;
    for (int pass = 0;; pass++) {
        for (uint32_t i = 0; i < worker->range_count; i++) {
            const struct blr_spirv_range *range = &worker->ranges[i];
            if (within(address, size, range->begin, range->end) && (range->writable || !write))
                return true;
        }
        if (pass > 0)
            return false;
        uint64_t local = (uint64_t)(uintptr_t)worker->local;
        if (within(address, size, local, local + worker->launch->local_bytes))
            return true;
        uint64_t own = worker->launch->program->private_bytes;
        for (uint32_t i = 0; own > 0 && i < worker->batch_count; i++) {
            uint64_t first = (uint64_t)(uintptr_t)worker->batches[i].private_memory;
            if (within(address, size, first, first + own * BLR_LANES))
                return true;
        }
        if (!find_variable(worker, address, size) && !find_allocation(worker, address, size, write))
            return false;
    }
}

static void out_of_reach(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, uint32_t lane, uint64_t address,
                         uint64_t size, bool write)
{
    blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT,
                    "%s %" PRIu64 " bytes at 0x%" PRIx64 ", which is %s: kernels reach memory of malloc_device, malloc_host "
                    "and malloc_shared of the queue's context, and memory registered there, up to its end",
                    write ? "writes" : "reads", size, address,
                    blr_spirv_reachable(batch, address, size, false) ? "constant or only to be read" : "no memory that kernels reach");
}

/* Checks size bytes at the address of every lane of the mask, together where possible. Lanes that have none of their
 * own get one that is good. False after a fault. */
static bool check(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, const uint64_t *addresses, uint64_t size,
                  bool write, uint64_t *good)
{
    uint64_t low = UINT64_MAX, high = 0;
    if (batch->mask == BLR_ALL_LANES) {
        for (uint32_t i = 0; i < BLR_LANES; i++) {
            good[i] = addresses[i];
            low = addresses[i] < low ? addresses[i] : low;
            high = addresses[i] > high ? addresses[i] : high;
        }
    } else {
        for (uint32_t i = 0; i < BLR_LANES; i++) {
            if ((batch->mask >> i & 1) == 0)
                continue;
            low = addresses[i] < low ? addresses[i] : low;
            high = addresses[i] > high ? addresses[i] : high;
        }
        for (uint32_t i = 0; i < BLR_LANES; i++)
            good[i] = batch->mask >> i & 1 ? addresses[i] : low;
    }
    if (high <= UINT64_MAX - size && blr_spirv_reachable(batch, low, high - low + size, write))
        return true;
    for (uint32_t i = 0; i < BLR_LANES; i++)
        if ((batch->mask >> i & 1) != 0 && !blr_spirv_reachable(batch, addresses[i], size, write)) {
            out_of_reach(batch, op, i, addresses[i], size, write);
            return false;
        }
    return true;
}

/* ---------------------------------------------------------------- loads */

#define GATHER(T)                                                                                                      \
    do {                                                                                                               \
        T *restrict r = (T *)result;                                                                                   \
        for (uint32_t c = 0; c < components; c++, r += BLR_LANES)                                                      \
            for (uint32_t i = 0; i < BLR_LANES; i++)                                                                   \
                memcpy(&r[i], (const void *)(uintptr_t)(good[i] + c * sizeof(T)), sizeof(T));                          \
    } while (0)

void blr_spirv_run_load(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const uint64_t *addresses = blr_register(batch, op->in[0]);
    uint32_t components = op->count / BLR_LANES;
    uint64_t good[BLR_LANES];
    if (!check(batch, op, addresses, (uint64_t)components * op->element, false, good)) {
        memset(result, 0, (size_t)op->count * op->element);
        return;
    }
    switch (op->element) {
    case 1: GATHER(uint8_t); break;
    case 2: GATHER(uint16_t); break;
    case 4: GATHER(uint32_t); break;
    default: GATHER(uint64_t); break;
    }
    for (uint32_t i = 0; op->literal != 0 && i < op->count; i++)
        result[i] = result[i] != 0;
}

/* ---------------------------------------------------------------- stores */

#define SCATTER(T)                                                                                                     \
    for (uint32_t c = 0; c < components; c++) {                                                                        \
        const T *source = (const T *)values + c * BLR_LANES;                                                           \
        if (batch->mask == BLR_ALL_LANES) {                                                                            \
            for (uint32_t i = 0; i < BLR_LANES; i++)                                                                   \
                memcpy((void *)(uintptr_t)(good[i] + c * sizeof(T)), &source[i], sizeof(T));                           \
        } else {                                                                                                       \
            for (uint32_t i = 0; i < BLR_LANES; i++)                                                                   \
                if (batch->mask >> i & 1)                                                                              \
                    memcpy((void *)(uintptr_t)(good[i] + c * sizeof(T)), &source[i], sizeof(T));                       \
        }                                                                                                              \
    }

void blr_spirv_run_store(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    (void)result;
    const uint64_t *addresses = blr_register(batch, op->in[0]);
    const unsigned char *values = blr_register(batch, op->in[1]);
    uint32_t size = (uint32_t)(op->literal & 0xff), components = (uint32_t)(op->literal >> 8 & 0xffffffff);
    uint64_t good[BLR_LANES];
    if (!check(batch, op, addresses, (uint64_t)components * size, true, good))
        return;
    switch (size) {
    case 1: SCATTER(uint8_t); break;
    case 2: SCATTER(uint16_t); break;
    case 4: SCATTER(uint32_t); break;
    default: SCATTER(uint64_t); break;
    }
}

void blr_spirv_run_move_memory(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    (void)result;
    const uint64_t *to = blr_register(batch, op->in[0]), *from = blr_register(batch, op->in[1]);
    const uint64_t *sizes = blr_register(batch, op->in[2]);
    for (uint32_t i = 0; i < BLR_LANES; i++) {
        if ((batch->mask >> i & 1) == 0 || sizes[i] == 0)
            continue;
        bool readable = blr_spirv_reachable(batch, from[i], sizes[i], false);
        if (!readable || !blr_spirv_reachable(batch, to[i], sizes[i], true)) {
            out_of_reach(batch, op, i, readable ? to[i] : from[i], sizes[i], readable);
            return;
        }
        memmove((void *)(uintptr_t)to[i], (const void *)(uintptr_t)from[i], sizes[i]);
    }
}

/* The storage class that an address is of. */
static enum blr_spirv_storage storage_of(const struct blr_spirv_batch *batch, uint64_t address)
{
    const struct blr_spirv_worker *worker = batch->worker;
    const uint64_t local = (uint64_t)(uintptr_t)worker->local, own = (uint64_t)(uintptr_t)batch->private_memory;
    if (within(address, 1, local, local + worker->launch->local_bytes))
        return BLR_STORAGE_WORKGROUP;
    if (within(address, 1, own, own + worker->launch->program->private_bytes * BLR_LANES))
        return BLR_STORAGE_FUNCTION;
    return BLR_STORAGE_CROSS_WORKGROUP;
}

void blr_spirv_run_explicit_cast(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const uint64_t *addresses = blr_register(batch, op->in[0]);
    uint64_t *restrict r = (uint64_t *)result;
    for (uint32_t i = 0; i < BLR_LANES; i++)
        r[i] = storage_of(batch, addresses[i]) == op->literal ? addresses[i] : 0;
}

void blr_spirv_run_semantics(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    const uint64_t *addresses = blr_register(batch, op->in[0]);
    uint32_t *restrict r = (uint32_t *)result;
    for (uint32_t i = 0; i < BLR_LANES; i++) {
        enum blr_spirv_storage storage = storage_of(batch, addresses[i]);
        r[i] = storage == BLR_STORAGE_WORKGROUP       ? BLR_SEMANTICS_WORK_GROUP_MEMORY
               : storage == BLR_STORAGE_CROSS_WORKGROUP ? BLR_SEMANTICS_GLOBAL_MEMORY
                                                        : 0;
    }
}
