/* The record of all memory: allocation, lookup and release. */
#include "cuda_driver/memory/memory.h"

#include "cuda_driver/core/address_map.h"
#include "cuda_driver/driver/driver.h"

#include <inttypes.h>
#include <unistd.h>

static blr_mutex_t mutex = BLR_MUTEX_INIT;
static struct bcu_map map;
static uint64_t used, last_id;

static bool is_of_host(enum bcu_memory_kind kind) { return kind == BCU_MEMORY_HOST || kind == BCU_MEMORY_REGISTERED; }

bool bcu_memory_find(uint64_t address, struct bcu_memory *memory)
{
    blr_mutex_lock(&mutex);
    const struct bcu_memory *entry = bcu_map_find(&map, address);
    if (entry != NULL)
        *memory = *entry;
    blr_mutex_unlock(&mutex);
    return entry != NULL;
}

uint64_t bcu_memory_room(const struct bcu_memory *memory, uint64_t address)
{
    uint64_t room = memory->size - (address - memory->base);
    struct bcu_memory next = *memory;
    while (next.kind == BCU_MEMORY_VIRTUAL && bcu_memory_find(next.base + next.size, &next) && next.kind == BCU_MEMORY_VIRTUAL)
        room += next.size;
    return room;
}

CUresult bcu_memory_check(CUdeviceptr address, uint64_t size, const char *name)
{
    struct bcu_memory memory;
    if (!bcu_memory_find(address, &memory))
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%s is 0x%llx: no memory of this driver", name, address);
    if (size > bcu_memory_room(&memory, address))
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%s is 0x%llx: %" PRIu64 " bytes go beyond the end of its %" PRIu64 " bytes", name,
                        address, size, memory.size);
    return CUDA_SUCCESS;
}

CUresult bcu_memory_record(const struct bcu_memory *description)
{
    struct bcu_memory *memory = blr_new(sizeof *memory);
    if (memory == NULL)
        return bcu_fail_memory("the record of an allocation");
    *memory = *description;
    blr_mutex_lock(&mutex);
    memory->id = ++last_id;
    bool added = bcu_map_add(&map, memory->base, memory->size, memory);
    if (added && !is_of_host(memory->kind))
        used += memory->size;
    blr_mutex_unlock(&mutex);
    if (added)
        return CUDA_SUCCESS;
    blr_delete(memory);
    return bcu_fail_memory("the record of an allocation");
}

CUresult bcu_memory_allocate(const struct bcu_memory *description, uint64_t *address)
{
    struct bcu_memory memory = *description;
    void *pointer = NULL;
    blr_memory_kind_t kind = memory.kind == BCU_MEMORY_HOST      ? BLR_MEMORY_HOST
                             : memory.kind == BCU_MEMORY_MANAGED ? BLR_MEMORY_SHARED
                                                                 : BLR_MEMORY_DEVICE;
    if (memory.size > bcu_device.properties.max_allocation_size)
        return bcu_fail(CUDA_ERROR_OUT_OF_MEMORY, "%" PRIu64 " bytes: the device has %" PRIu64, memory.size,
                        bcu_device.properties.max_allocation_size);
    const uint64_t alignment = memory.kind == BCU_MEMORY_DEVICE ? (uint64_t)sysconf(_SC_PAGESIZE) : 0; /* cuIpcGetMemHandle shares pages */
    CUresult result = bcu_result(blrMemoryAllocate(bcu_device.native, kind, memory.size, alignment, &pointer));
    if (result != CUDA_SUCCESS)
        return result;
    memory.base = (uint64_t)(uintptr_t)pointer;
    memory.writable = true;
    result = bcu_memory_record(&memory);
    if (result != CUDA_SUCCESS)
        blrMemoryFree(bcu_device.native, pointer);
    else
        *address = memory.base;
    return result;
}

bool bcu_memory_forget(uint64_t base, enum bcu_memory_kind kind, struct bcu_memory *memory)
{
    blr_mutex_lock(&mutex);
    struct bcu_memory *entry = bcu_map_find(&map, base);
    bool right = entry != NULL && entry->base == base && entry->kind == kind;
    if (right) {
        bcu_map_remove(&map, base);
        *memory = *entry;
        if (!is_of_host(kind))
            used -= entry->size;
    }
    blr_mutex_unlock(&mutex);
    if (right)
        blr_delete(entry);
    return right;
}

CUresult bcu_memory_release(const struct bcu_memory *memory)
{
    void *pointer = (void *)(uintptr_t)memory->base;
    if (memory->kind == BCU_MEMORY_REGISTERED || memory->kind == BCU_MEMORY_VIRTUAL)
        return bcu_result(blrMemoryUnregister(bcu_device.native, pointer, memory->size, memory->writable));
    return bcu_result(blrMemoryFree(bcu_device.native, pointer));
}

void bcu_memory_free_all(struct bcu_context *context)
{
    for (;;) {
        struct bcu_memory memory;
        bool any = false;
        blr_mutex_lock(&mutex);
        for (size_t i = 0; i < map.count && !any; i++) {
            const struct bcu_memory *one = map.ranges[i].value;
            any = one->context == context && one->kind != BCU_MEMORY_MODULE;
            memory = *one;
        }
        blr_mutex_unlock(&mutex);
        if (!any)
            return;
        if (bcu_memory_forget(memory.base, memory.kind, &memory))
            bcu_memory_release(&memory);
    }
}

uint64_t bcu_memory_used(void)
{
    blr_mutex_lock(&mutex);
    uint64_t now = used;
    blr_mutex_unlock(&mutex);
    return now;
}

bool bcu_memory_set_sync(uint64_t address, bool value)
{
    blr_mutex_lock(&mutex);
    struct bcu_memory *entry = bcu_map_find(&map, address);
    if (entry != NULL)
        entry->sync_operations = value;
    blr_mutex_unlock(&mutex);
    return entry != NULL;
}
