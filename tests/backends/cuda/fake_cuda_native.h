/* The fake driver's virtual memory, memory of two processes, peers and cooperative launches. Part of fake_cuda.c.
 *
 * Physical memory is a file in memory, mapped for real, so that what is not mapped, or not accessible, faults. */
#include <sys/mman.h>
#include <unistd.h>

#define PAGE ((size_t)2 << 20) /* what NVIDIA's driver has */

static void note_two(const char *call, uint64_t a, uint64_t b)
{
    char line[128];
    snprintf(line, sizeof line, "%s %llu %llu", call, (unsigned long long)a, (unsigned long long)b);
    note(line);
}

EXPORT CUresult cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *prop, CUmemAllocationGranularity_flags option)
{
    ENTER_CONTEXT("cuMemGetAllocationGranularity");
    if (prop->type != CU_MEM_ALLOCATION_TYPE_PINNED || prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE || option != CU_MEM_ALLOC_GRANULARITY_MINIMUM)
        return CUDA_ERROR_INVALID_VALUE;
    *out = PAGE;
    return 0;
}
EXPORT CUresult cuMemAddressReserve(CUdeviceptr *out, size_t size, size_t alignment, CUdeviceptr address, unsigned long long flags)
{
    ENTER_CONTEXT("cuMemAddressReserve");
    if (size == 0 || size % PAGE || alignment || address || flags) return CUDA_ERROR_INVALID_VALUE;
    if (size > ((size_t)1 << 46)) return CUDA_ERROR_OUT_OF_MEMORY;
    char *place = mmap(NULL, size + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) return CUDA_ERROR_OUT_OF_MEMORY;
    size_t before = -(uintptr_t)place % PAGE;
    if (before) munmap(place, before);
    if (PAGE - before) munmap(place + before + size, PAGE - before);
    *out = (uintptr_t)place + before;
    note_two("cuMemAddressReserve", size, 0);
    return 0;
}
EXPORT CUresult cuMemAddressFree(CUdeviceptr address, size_t size)
{
    ENTER_CONTEXT("cuMemAddressFree");
    note_two("cuMemAddressFree", size, 0);
    return munmap((void *)(uintptr_t)address, size) ? CUDA_ERROR_INVALID_VALUE : 0;
}
EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t size, const CUmemAllocationProp *prop, unsigned long long flags)
{
    ENTER_CONTEXT("cuMemCreate");
    if (size == 0 || size % PAGE || flags || prop->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
    if (size > ((size_t)1 << 32)) return CUDA_ERROR_OUT_OF_MEMORY;
    int file = memfd_create("fake", 0);
    if (file < 0 || ftruncate(file, (off_t)size)) return CUDA_ERROR_OUT_OF_MEMORY;
    *out = (CUmemGenericAllocationHandle)file + 1;
    note_two("cuMemCreate", size, (uint64_t)prop->location.id);
    return 0;
}
EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    ENTER_CONTEXT("cuMemRelease");
    note("cuMemRelease");
    return close((int)handle - 1) ? CUDA_ERROR_INVALID_VALUE : 0;
}
EXPORT CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    ENTER_CONTEXT("cuMemMap");
    if (size == 0 || size % PAGE || address % PAGE || offset || flags) return CUDA_ERROR_INVALID_VALUE;
    note_two("cuMemMap", size, offset);
    return mmap((void *)(uintptr_t)address, size, PROT_NONE, MAP_SHARED | MAP_FIXED, (int)handle - 1, 0) == MAP_FAILED ? CUDA_ERROR_INVALID_VALUE : 0;
}
EXPORT CUresult cuMemUnmap(CUdeviceptr address, size_t size)
{
    ENTER_CONTEXT("cuMemUnmap");
    note_two("cuMemUnmap", size, 0);
    return mmap((void *)(uintptr_t)address, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED ? CUDA_ERROR_INVALID_VALUE : 0;
}
EXPORT CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *desc, size_t count)
{
    ENTER_CONTEXT("cuMemSetAccess");
    if (count != 1 || desc->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
    note_two("cuMemSetAccess", size, (uint64_t)desc->flags);
    int protection = desc->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE ? PROT_READ | PROT_WRITE : desc->flags == CU_MEM_ACCESS_FLAGS_PROT_READ ? PROT_READ : PROT_NONE;
    return mprotect((void *)(uintptr_t)address, size, protection) ? CUDA_ERROR_INVALID_VALUE : 0;
}

/* A handle holds the address; "other processes" are this one. */
EXPORT CUresult cuIpcGetMemHandle(CUipcMemHandle *out, CUdeviceptr address)
{
    ENTER_CONTEXT("cuIpcGetMemHandle");
    allocation *found = allocation_of(address);
    if (!found || found->base != address) return CUDA_ERROR_INVALID_VALUE;
    memset(out, 0, sizeof *out);
    memcpy(out->reserved, &address, sizeof address);
    note("cuIpcGetMemHandle");
    return 0;
}
EXPORT CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *out, CUipcMemHandle handle, unsigned flags)
{
    ENTER_CONTEXT("cuIpcOpenMemHandle");
    memcpy(out, handle.reserved, sizeof *out);
    if (flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS || !allocation_of(*out)) return CUDA_ERROR_INVALID_VALUE;
    note("cuIpcOpenMemHandle");
    return 0;
}
EXPORT CUresult cuIpcCloseMemHandle(CUdeviceptr address)
{
    ENTER_CONTEXT("cuIpcCloseMemHandle");
    note("cuIpcCloseMemHandle");
    return allocation_of(address) ? 0 : CUDA_ERROR_INVALID_VALUE;
}

EXPORT CUresult cuDeviceCanAccessPeer(int *out, CUdevice device, CUdevice peer) { ENTER("cuDeviceCanAccessPeer"); *out = device != peer && !without_peers; return 0; }
EXPORT CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags)
{
    ENTER_CONTEXT("cuCtxEnablePeerAccess");
    const context *other = (const context *)peer;
    if (flags || other == current || without_peers) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    if (peers[current->device][other->device]) return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    peers[current->device][other->device] = 1;
    note_two("cuCtxEnablePeerAccess", (uint64_t)current->device, (uint64_t)other->device);
    return 0;
}
EXPORT CUresult cuDeviceGetP2PAttribute(int *out, CUdevice_P2PAttribute attribute, CUdevice device, CUdevice peer)
{
    ENTER("cuDeviceGetP2PAttribute");
    if (device == peer) return CUDA_ERROR_INVALID_DEVICE;
    *out = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
    return 0;
}

EXPORT CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *out, CUfunction f, int threads, size_t shared)
{
    (void)f;
    *out = (int)(2048 / (threads > 0 ? threads : 1)) / (shared > 1024 ? 2 : 1);
    return 0;
}
EXPORT CUresult cuLaunchCooperativeKernel(CUfunction h, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, CUstream s, void **parameters)
{
    note("cuLaunchCooperativeKernel");
    return cuLaunchKernel(h, gx, gy, gz, bx, by, bz, shared, s, parameters, NULL);
}
EXPORT CUresult cuFuncSetCacheConfig(CUfunction f, CUfunc_cache config)
{
    ENTER_CONTEXT("cuFuncSetCacheConfig");
    note_two(((function *)f)->name, (uint64_t)config, 0);
    return 0;
}
