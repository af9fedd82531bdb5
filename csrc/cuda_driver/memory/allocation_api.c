/* The functions that allocate, register and free memory. */
#include "cuda_driver/driver/driver.h"
#include "cuda_driver/memory/memory.h"

#include <inttypes.h>

static CUresult allocate(enum bcu_memory_kind kind, size_t size, unsigned flags, uint64_t *address)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (size == 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "an allocation of 0 bytes");
    struct bcu_memory memory = {.kind = kind, .size = size, .context = context, .flags = flags};
    return bcu_memory_allocate(&memory, address);
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t size)
{
    uint64_t address = 0;
    if (pointer == NULL)
        return bcu_fail_null("dptr");
    CUresult result = allocate(BCU_MEMORY_DEVICE, size, 0, &address);
    if (result == CUDA_SUCCESS)
        *pointer = address;
    return result;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height, unsigned int element)
{
    uint64_t address = 0;
    if (pointer == NULL || pitch == NULL)
        return bcu_fail_null("dptr or pPitch");
    if (width == 0 || height == 0 || (element != 4 && element != 8 && element != 16))
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%zu x %zu bytes with elements of %u: 4, 8 or 16 are possible", width, height, element);
    if (width > SIZE_MAX - 511 || (width + 511) / 512 * 512 > SIZE_MAX / height)
        return bcu_fail(CUDA_ERROR_OUT_OF_MEMORY, "%zu x %zu bytes", width, height);
    size_t row = (width + 511) / 512 * 512;
    CUresult result = allocate(BCU_MEMORY_DEVICE, row * height, 0, &address);
    if (result == CUDA_SUCCESS) {
        *pointer = address;
        *pitch = row;
    }
    return result;
}

CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t size, unsigned int flags)
{
    uint64_t address = 0;
    if (pointer == NULL)
        return bcu_fail_null("dptr");
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "flags are %u: CU_MEM_ATTACH_GLOBAL (1) or _HOST (2) is needed", flags);
    CUresult result = allocate(BCU_MEMORY_MANAGED, size, flags, &address);
    if (result == CUDA_SUCCESS)
        *pointer = address;
    return result;
}

CUresult cuMemHostAlloc(void **pointer, size_t size, unsigned int flags)
{
    uint64_t address = 0;
    if (pointer == NULL)
        return bcu_fail_null("pp");
    if ((flags & ~7u) != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%x: 0 to 7 are known", flags);
    CUresult result = allocate(BCU_MEMORY_HOST, size, flags | CU_MEMHOSTALLOC_DEVICEMAP, &address);
    if (result == CUDA_SUCCESS)
        *pointer = (void *)(uintptr_t)address;
    return result;
}

CUresult cuMemAllocHost_v2(void **pointer, size_t size) { return cuMemHostAlloc(pointer, size, 0); }

/* Work that uses memory ends before the memory does. */
static CUresult free_memory(uint64_t address, const enum bcu_memory_kind *kinds, unsigned count)
{
    struct bcu_context *context;
    struct bcu_memory memory;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS || address == 0)
        return result;
    if (!bcu_memory_find(address, &memory) || memory.base != address)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "0x%" PRIx64 " is no allocation", address);
    if (memory.context != NULL)
        result = bcu_context_wait(memory.context);
    if (result != CUDA_SUCCESS)
        return result;
    for (unsigned i = 0; i < count; i++)
        if (bcu_memory_forget(address, kinds[i], &memory))
            return bcu_memory_release(&memory);
    return bcu_fail(CUDA_ERROR_INVALID_VALUE, "0x%" PRIx64 " was not allocated by a function of this kind", address);
}

CUresult cuMemFree_v2(CUdeviceptr pointer)
{
    static const enum bcu_memory_kind kinds[] = {BCU_MEMORY_DEVICE, BCU_MEMORY_MANAGED, BCU_MEMORY_ASYNC, BCU_MEMORY_EXTERNAL};
    return free_memory(pointer, kinds, sizeof kinds / sizeof kinds[0]);
}

CUresult cuMemFreeHost(void *pointer)
{
    static const enum bcu_memory_kind kinds[] = {BCU_MEMORY_HOST};
    return free_memory((uint64_t)(uintptr_t)pointer, kinds, 1);
}

CUresult cuMemHostRegister_v2(void *pointer, size_t size, unsigned int flags)
{
    struct bcu_context *context;
    struct bcu_memory other;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (pointer == NULL || size == 0 || (flags & ~15u) != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes at %p with flags 0x%x", size, pointer, flags);
    uint64_t base = (uint64_t)(uintptr_t)pointer;
    if (bcu_memory_find(base, &other) || bcu_memory_find(base + size - 1, &other))
        return bcu_fail(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "%p is known memory", pointer);
    bool writable = (flags & CU_MEMHOSTREGISTER_READ_ONLY) == 0;
    result = bcu_result(blrMemoryRegister(bcu_device.native, pointer, size, writable));
    if (result != CUDA_SUCCESS)
        return result;
    struct bcu_memory memory = {.kind = BCU_MEMORY_REGISTERED, .base = base, .size = size, .context = context,
                                .flags = flags | CU_MEMHOSTREGISTER_DEVICEMAP, .writable = writable};
    result = bcu_memory_record(&memory);
    if (result != CUDA_SUCCESS)
        bcu_memory_release(&memory);
    return result;
}

CUresult cuMemHostUnregister(void *pointer)
{
    static const enum bcu_memory_kind kinds[] = {BCU_MEMORY_REGISTERED};
    struct bcu_memory memory;
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!bcu_memory_find((uint64_t)(uintptr_t)pointer, &memory) || memory.kind != BCU_MEMORY_REGISTERED)
        return bcu_fail(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "%p is not registered", pointer);
    return free_memory((uint64_t)(uintptr_t)pointer, kinds, 1);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *pointer, unsigned int flags)
{
    struct bcu_context *context;
    struct bcu_memory memory;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (device == NULL || flags != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "pdptr is NULL, or flags are not 0");
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    if (!bcu_memory_find(address, &memory) || memory.kind == BCU_MEMORY_DEVICE)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%p is no page-locked memory", pointer);
    *device = address;
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned int *flags, void *pointer)
{
    struct bcu_context *context;
    struct bcu_memory memory;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags == NULL)
        return bcu_fail_null("pFlags");
    if (!bcu_memory_find((uint64_t)(uintptr_t)pointer, &memory) || memory.kind != BCU_MEMORY_HOST)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%p is not of cuMemHostAlloc", pointer);
    *flags = memory.flags;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr pointer)
{
    struct bcu_context *context;
    struct bcu_memory memory;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!bcu_memory_find(pointer, &memory))
        return bcu_fail(CUDA_ERROR_NOT_FOUND, "0x%llx is no memory of this driver", pointer);
    if (base != NULL)
        *base = memory.base;
    if (size != NULL)
        *size = memory.size;
    return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *available, size_t *total)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (available == NULL || total == NULL)
        return bcu_fail_null("free or total");
    uint64_t used = bcu_memory_used();
    *total = bcu_device.properties.global_memory_size;
    *available = used < *total ? *total - used : 0;
    return CUDA_SUCCESS;
}
