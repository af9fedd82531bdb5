/* Virtual memory of the CUDA driver: mappings side by side, aliases, access, and files of allocations. */
#include "cuda_fixture.h"

#include <sys/mman.h>
#include <unistd.h>

static const CUmemAllocationProp pinned = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                           .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                           .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};

static CUmemAccessDesc access_of(CUmemAccess_flags flags) { return (CUmemAccessDesc){{CU_MEM_LOCATION_TYPE_DEVICE, 0}, flags}; }

static void test_mappings(CUfunction add)
{
    CUmemAccessDesc both = access_of(CU_MEM_ACCESS_FLAGS_PROT_READWRITE), none = access_of(CU_MEM_ACCESS_FLAGS_PROT_NONE);
    CUmemGenericAllocationHandle first, second;
    CUdeviceptr base;
    size_t unit = 0;
    unsigned long long access = 9;
    SUCCEEDS(cuMemGetAllocationGranularity(&unit, &pinned, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    SUCCEEDS(cuMemAddressReserve(&base, 4 * unit, 4 * unit, 0, 0));
    CHECK_EQUAL(0, base % (4 * unit));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&first, unit + 1, &pinned, 0));
    SUCCEEDS(cuMemCreate(&first, unit, &pinned, 0));
    SUCCEEDS(cuMemCreate(&second, 2 * unit, &pinned, 0));
    SUCCEEDS(cuMemMap(base, unit, 0, first, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(base, unit, 0, second, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(base + unit, 2 * unit, unit, second, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemMap(base + 4 * unit, unit, 0, second, 0));
    SUCCEEDS(cuMemMap(base + unit, unit, unit, second, 0));
    SUCCEEDS(cuMemMap(base + 2 * unit, unit, 0, first, 0)); /* an alias */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(base, 3, 4));
    SUCCEEDS(cuMemSetAccess(base, 3 * unit, &both, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(base, 4 * unit, &both, 1));
    SUCCEEDS(cuMemGetAccess(&access, &both.location, base + unit + 5));
    CHECK_EQUAL(CU_MEM_ACCESS_FLAGS_PROT_READWRITE, access);

    /* across the border of two mappings: 32 elements on each side */
    CUdeviceptr border = base + unit - 128;
    unsigned values[64], more = 7;
    void *parameters[] = {&border, &more};
    SUCCEEDS(cuMemsetD32_v2(border, 100, 64));
    SUCCEEDS(cuLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, NULL, parameters, NULL));
    SUCCEEDS(cuCtxSynchronize());
    SUCCEEDS(cuMemcpyDtoH_v2(values, border, sizeof values));
    for (int i = 0; i < 64; i++)
        CHECK_EQUAL(107, values[i]);
    SUCCEEDS(cuMemcpyDtoH_v2(values, base + 3 * unit - 128, 128));
    for (int i = 0; i < 32; i++)
        CHECK_EQUAL(107, values[i]);

    /* the file of the second allocation has what the kernel wrote behind the border */
    int file = -1;
    SUCCEEDS(cuMemExportToShareableHandle(&file, second, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    unsigned *bytes = mmap(NULL, 2 * unit, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(bytes != MAP_FAILED && bytes[unit / 4] == 107 && bytes[unit / 4 + 31] == 107 && bytes[unit / 4 + 32] == 0 && bytes[0] == 0);
    bytes[unit / 4] = 5;
    SUCCEEDS(cuMemcpyDtoH_v2(values, base + unit, 4));
    CHECK_EQUAL(5, values[0]);
    CUmemGenericAllocationHandle same;
    SUCCEEDS(cuMemImportFromShareableHandle(&same, (void *)(intptr_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(file);
    SUCCEEDS(cuMemMap(base + 3 * unit, unit, unit, same, 0));
    SUCCEEDS(cuMemSetAccess(base + 3 * unit, unit, &both, 1));
    SUCCEEDS(cuMemcpyDtoH_v2(values, base + 3 * unit, 8));
    CHECK(values[0] == 5 && values[1] == 107);
    munmap(bytes, 2 * unit);

    /* mappings keep released allocations; their end does not end an alias */
    SUCCEEDS(cuMemRelease(first));
    SUCCEEDS(cuMemRelease(second));
    SUCCEEDS(cuMemRelease(same));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemRelease(first));
    SUCCEEDS(cuMemUnmap(base, unit));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(base, unit));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemsetD32_v2(base, 3, 4));
    SUCCEEDS(cuMemcpyDtoH_v2(values, base + 3 * unit - 128, 128));
    CHECK_EQUAL(107, values[0]);
    SUCCEEDS(cuMemSetAccess(base + unit, unit, &none, 1));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH_v2(values, base + unit, 4));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(base, 4 * unit));
    SUCCEEDS(cuMemUnmap(base + unit, 3 * unit));
    SUCCEEDS(cuMemAddressFree(base, 4 * unit));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(base, 4 * unit));
}

/* A kernel that writes where it may only read ends with a fault. */
static void test_read_only(CUfunction add)
{
    CUmemAccessDesc reads = access_of(CU_MEM_ACCESS_FLAGS_PROT_READ);
    CUmemGenericAllocationHandle allocation;
    CUdeviceptr base;
    size_t unit = 0;
    unsigned values[4], more = 1;
    SUCCEEDS(cuMemGetAllocationGranularity(&unit, &pinned, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    SUCCEEDS(cuMemAddressReserve(&base, unit, 0, 0, 0));
    SUCCEEDS(cuMemCreate(&allocation, unit, &pinned, 0));
    SUCCEEDS(cuMemMap(base, unit, 0, allocation, 0));
    SUCCEEDS(cuMemRelease(allocation));
    SUCCEEDS(cuMemSetAccess(base, unit, &reads, 1));
    SUCCEEDS(cuMemcpyDtoH_v2(values, base, sizeof values));
    CHECK(values[0] == 0 && values[3] == 0);
    void *parameters[] = {&base, &more};
    SUCCEEDS(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

int main(void)
{
    CUcontext context;
    CUmodule module;
    CUfunction add;
    SUCCEEDS(cuInit(0));
    SUCCEEDS(cuCtxCreate_v2(&context, 0, 0));
    SUCCEEDS(cuModuleLoadData(&module, add_ptx));
    SUCCEEDS(cuModuleGetFunction(&add, module, "add"));
    test_mappings(add);
    test_read_only(add);
    SUCCEEDS(cuCtxDestroy_v2(context));
    return 0;
}
