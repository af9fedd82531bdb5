/* Virtual memory: ranges of addresses, files in memory as allocations, and mappings of these into those.
 *
 * A mapping is known to the reference driver, as registered memory, while access to it is given. */
#include "cuda_driver/driver/driver.h"
#include "cuda_driver/memory/memory.h"

#include <inttypes.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRANULARITY ((uint64_t)2 << 20)

struct allocation {
    struct bcu_resource resource;
    uint64_t size;
    int file;
    CUmemAllocationProp properties;
};

struct range {
    struct range *next;
    uint64_t base, size;
    struct allocation *allocation; /* of a mapping: retained */
    CUmemAccess_flags access;      /* to a mapping */
};

static blr_mutex_t mutex = BLR_MUTEX_INIT; /* guards both lists */
static struct range *reservations, *mappings;

static bool is_whole(uint64_t number) { return number % GRANULARITY == 0; }

/* The link to the range that starts at an address, or to the end of the list. */
static struct range **link_of(struct range **list, uint64_t base)
{
    while (*list != NULL && (*list)->base != base)
        list = &(*list)->next;
    return list;
}

static bool overlaps(const struct range *list, uint64_t base, uint64_t size)
{
    for (; list != NULL; list = list->next)
        if (base < list->base + list->size && list->base < base + size)
            return true;
    return false;
}

static bool contains(const struct range *list, uint64_t base, uint64_t size)
{
    for (; list != NULL; list = list->next)
        if (base >= list->base && base - list->base <= list->size && size <= list->size - (base - list->base))
            return true;
    return false;
}

static CUresult add_range(struct range **list, const struct range *description)
{
    struct range *range = blr_new(sizeof *range);
    if (range == NULL)
        return bcu_fail_memory("a range of addresses");
    *range = *description;
    range->next = *list;
    *list = range;
    return CUDA_SUCCESS;
}

/* Pages without access at an address, or anywhere for 0. */
static uint64_t reserve_pages(uint64_t base, uint64_t size)
{
    void *pages = mmap((void *)(uintptr_t)base, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (base != 0 ? MAP_FIXED : 0), -1, 0);
    return pages == MAP_FAILED ? 0 : (uint64_t)(uintptr_t)pages;
}

/* ---------------------------------------------------------------- addresses */

CUresult cuMemAddressReserve(CUdeviceptr *pointer, size_t size, size_t alignment, CUdeviceptr wish, unsigned long long flags)
{
    CUresult result = bcu_check_started();
    if (result != CUDA_SUCCESS)
        return result;
    (void)wish; /* it is a wish */
    if (pointer == NULL || flags != 0 || size == 0 || !is_whole(size) || (alignment & (alignment - 1)) != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes at a multiple of %zu with flags %llu: a multiple of %" PRIu64 ", and flags 0 are needed",
                        size, alignment, flags, GRANULARITY);
    const uint64_t unit = alignment > GRANULARITY ? alignment : GRANULARITY;
    const uint64_t whole = size > SIZE_MAX - unit ? 0 : reserve_pages(0, size + unit);
    if (whole == 0)
        return bcu_fail(CUDA_ERROR_OUT_OF_MEMORY, "%zu bytes of addresses", size);
    const uint64_t base = (whole + unit - 1) / unit * unit;
    if (base > whole)
        munmap((void *)(uintptr_t)whole, base - whole);
    munmap((void *)(uintptr_t)(base + size), whole + unit - base);
    blr_mutex_lock(&mutex);
    result = add_range(&reservations, &(struct range){.base = base, .size = size});
    blr_mutex_unlock(&mutex);
    if (result == CUDA_SUCCESS)
        *pointer = base;
    else
        munmap((void *)(uintptr_t)base, size);
    return result;
}

CUresult cuMemAddressFree(CUdeviceptr pointer, size_t size)
{
    CUresult result = CUDA_SUCCESS;
    blr_mutex_lock(&mutex);
    struct range **link = link_of(&reservations, pointer), *range = *link;
    if (range == NULL || range->size != size) {
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes at 0x%llx were not reserved", size, pointer);
    } else if (overlaps(mappings, pointer, size)) {
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "0x%llx has mappings: cuMemUnmap ends them", pointer);
    } else {
        *link = range->next;
        munmap((void *)(uintptr_t)range->base, range->size);
        blr_delete(range);
    }
    blr_mutex_unlock(&mutex);
    return result;
}

/* ---------------------------------------------------------------- allocations */

static void release(struct bcu_resource *resource)
{
    close(((struct allocation *)resource)->file);
    blr_delete(resource);
}

static CUresult check_properties(const CUmemAllocationProp *properties)
{
    if (properties == NULL)
        return bcu_fail_null("prop");
    if (properties->type != CU_MEM_ALLOCATION_TYPE_PINNED || (properties->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0 ||
        properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE || properties->location.id != 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "an allocation of type %d on %d of type %d with handles %d: pinned memory of device 0 is possible",
                        (int)properties->type, properties->location.id, (int)properties->location.type, (int)properties->requestedHandleTypes);
    return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *properties, CUmemAllocationGranularity_flags option)
{
    CUresult result = check_properties(properties);
    if (result != CUDA_SUCCESS)
        return result;
    if (granularity == NULL || option < CU_MEM_ALLOC_GRANULARITY_MINIMUM || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "granularity is NULL, or option is %d", (int)option);
    *granularity = GRANULARITY;
    return CUDA_SUCCESS;
}

/* Registers a file as an allocation, which owns it. */
static CUresult new_allocation(int file, uint64_t size, const CUmemAllocationProp *properties, CUmemGenericAllocationHandle *handle)
{
    struct allocation *allocation = file < 0 ? NULL : blr_new(sizeof *allocation);
    void *own = NULL;
    if (allocation == NULL) {
        if (file >= 0)
            close(file);
        return bcu_fail(CUDA_ERROR_OUT_OF_MEMORY, "an allocation of %" PRIu64 " bytes", size);
    }
    allocation->file = file;
    allocation->size = size;
    allocation->properties = *properties;
    CUresult result = bcu_resource_register(&allocation->resource, BCU_ALLOCATION, NULL, release, &own);
    if (result == CUDA_SUCCESS)
        *handle = (CUmemGenericAllocationHandle)(uintptr_t)own;
    return result;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *properties, unsigned long long flags)
{
    CUresult result = bcu_check_started();
    if (result == CUDA_SUCCESS)
        result = check_properties(properties);
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || flags != 0 || size == 0 || !is_whole(size))
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes with flags %llu: a multiple of %" PRIu64 ", and flags 0 are needed", size, flags, GRANULARITY);
    if (size > bcu_device.properties.max_allocation_size)
        return bcu_fail(CUDA_ERROR_OUT_OF_MEMORY, "%zu bytes: the device has %" PRIu64, size, bcu_device.properties.max_allocation_size);
    int file = memfd_create("bindless", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, (off_t)size) != 0) {
        close(file);
        file = -1;
    }
    return new_allocation(file, size, properties, handle);
}

static CUresult acquire(CUmemGenericAllocationHandle handle, struct allocation **allocation)
{
    CUresult result = bcu_resource_acquire((const void *)(uintptr_t)handle, BCU_ALLOCATION, allocation);
    return result == CUDA_SUCCESS ? result : bcu_fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is no allocation", handle);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    struct allocation *allocation;
    CUresult result = acquire(handle, &allocation);
    if (result != CUDA_SUCCESS)
        return result;
    bcu_resource_close(&allocation->resource);
    bcu_resource_release(&allocation->resource);
    return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *properties, CUmemGenericAllocationHandle handle)
{
    struct allocation *allocation;
    if (properties == NULL)
        return bcu_fail_null("prop");
    CUresult result = acquire(handle, &allocation);
    if (result != CUDA_SUCCESS)
        return result;
    *properties = allocation->properties;
    bcu_resource_release(&allocation->resource);
    return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void *file, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type, unsigned long long flags)
{
    struct allocation *allocation;
    if (file == NULL || flags != 0 || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "a handle of type %d with flags %llu: a file descriptor is possible", (int)type, flags);
    CUresult result = acquire(handle, &allocation);
    if (result != CUDA_SUCCESS)
        return result;
    if ((allocation->properties.requestedHandleTypes & CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == 0)
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "the allocation was made without requestedHandleTypes");
    else if ((*(int *)file = dup(allocation->file)) < 0)
        result = bcu_fail(CUDA_ERROR_OPERATING_SYSTEM, "no file descriptor is left");
    bcu_resource_release(&allocation->resource);
    return result;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *file, CUmemAllocationHandleType type)
{
    static const CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                   .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                                   .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    struct stat status;
    const int own = (int)(intptr_t)file;
    CUresult result = bcu_check_started();
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || fstat(own, &status) != 0 || status.st_size <= 0 ||
        !is_whole((uint64_t)status.st_size))
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%d of type %d is no descriptor of an allocation", own, (int)type);
    return new_allocation(dup(own), (uint64_t)status.st_size, &properties, handle);
}

/* ---------------------------------------------------------------- mappings */

CUresult cuMemMap(CUdeviceptr pointer, size_t size, size_t offset, CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    struct allocation *allocation;
    CUresult result = acquire(handle, &allocation);
    if (result != CUDA_SUCCESS)
        return result;
    blr_mutex_lock(&mutex);
    if (flags != 0 || size == 0 || !is_whole(pointer) || !is_whole(size) || !is_whole(offset) || offset > allocation->size || size > allocation->size - offset)
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes from byte %zu of %" PRIu64 " at 0x%llx, with flags %llu", size, offset, allocation->size,
                          pointer, flags);
    else if (!contains(reservations, pointer, size) || overlaps(mappings, pointer, size))
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes at 0x%llx are not reserved, or mapped already", size, pointer);
    else if (mmap((void *)(uintptr_t)pointer, size, PROT_NONE, MAP_SHARED | MAP_FIXED, allocation->file, (off_t)offset) == MAP_FAILED)
        result = bcu_fail(CUDA_ERROR_OUT_OF_MEMORY, "a mapping of %zu bytes", size);
    else
        result = add_range(&mappings, &(struct range){.base = pointer, .size = size, .allocation = allocation});
    blr_mutex_unlock(&mutex);
    if (result != CUDA_SUCCESS)
        bcu_resource_release(&allocation->resource);
    return result;
}

/* Changes who may access a mapping. Needs the mutex. */
static CUresult set_access(struct range *mapping, CUmemAccess_flags access)
{
    void *pages = (void *)(uintptr_t)mapping->base;
    const bool writes = access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    struct bcu_memory memory;
    CUresult result = CUDA_SUCCESS;
    if (access == mapping->access)
        return CUDA_SUCCESS;
    if (bcu_memory_forget(mapping->base, BCU_MEMORY_VIRTUAL, &memory))
        result = bcu_memory_release(&memory);
    mapping->access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    if (mprotect(pages, mapping->size, access == CU_MEM_ACCESS_FLAGS_PROT_NONE ? PROT_NONE : PROT_READ | (writes ? PROT_WRITE : 0)) != 0)
        return bcu_fail(CUDA_ERROR_OUT_OF_MEMORY, "access to %" PRIu64 " bytes", mapping->size);
    if (result != CUDA_SUCCESS || access == CU_MEM_ACCESS_FLAGS_PROT_NONE)
        return result;
    result = bcu_result(blrMemoryRegister(bcu_device.native, pages, mapping->size, writes));
    if (result != CUDA_SUCCESS)
        return result;
    memory = (struct bcu_memory){.kind = BCU_MEMORY_VIRTUAL, .base = mapping->base, .size = mapping->size, .writable = writes};
    result = bcu_memory_record(&memory);
    if (result == CUDA_SUCCESS)
        mapping->access = access;
    else
        bcu_memory_release(&memory);
    return result;
}

/* Work that uses memory ends before its mapping changes. */
static CUresult wait_for_work(void)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    return result != CUDA_SUCCESS ? result : bcu_context_wait(context);
}

/* Calls a function for the mappings of a range that they fill without a gap. */
static CUresult change(CUdeviceptr pointer, size_t size, CUmemAccess_flags access, bool ends)
{
    CUresult result = wait_for_work();
    uint64_t bytes = 0;
    if (result != CUDA_SUCCESS)
        return result;
    blr_mutex_lock(&mutex);
    for (const struct range *mapping = mappings; mapping != NULL; mapping = mapping->next)
        if (mapping->base >= pointer && mapping->base - pointer < size)
            bytes += mapping->size;
    if (size == 0 || bytes != size)
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes at 0x%llx are not those of whole mappings", size, pointer);
    for (struct range **link = &mappings; *link != NULL && result == CUDA_SUCCESS;) {
        struct range *mapping = *link;
        const bool is_in = mapping->base >= pointer && mapping->base - pointer < size;
        if (is_in)
            result = set_access(mapping, access);
        if (!is_in || !ends || result != CUDA_SUCCESS) {
            link = &mapping->next;
            continue;
        }
        *link = mapping->next;
        reserve_pages(mapping->base, mapping->size);
        bcu_resource_release(&mapping->allocation->resource);
        blr_delete(mapping);
    }
    blr_mutex_unlock(&mutex);
    return result;
}

CUresult cuMemSetAccess(CUdeviceptr pointer, size_t size, const CUmemAccessDesc *list, size_t count)
{
    CUresult result = CUDA_SUCCESS;
    if (list == NULL || count == 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "desc is NULL, or count is 0");
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        const CUmemAccess_flags access = list[i].flags;
        if (list[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || list[i].location.id != 0 ||
            (access != CU_MEM_ACCESS_FLAGS_PROT_NONE && access != CU_MEM_ACCESS_FLAGS_PROT_READ && access != CU_MEM_ACCESS_FLAGS_PROT_READWRITE))
            return bcu_fail(CUDA_ERROR_INVALID_VALUE, "access %d of location %d", (int)access, list[i].location.id);
        result = change(pointer, size, access, false);
    }
    return result;
}

CUresult cuMemUnmap(CUdeviceptr pointer, size_t size) { return change(pointer, size, CU_MEM_ACCESS_FLAGS_PROT_NONE, true); }

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr pointer)
{
    CUresult result = CUDA_SUCCESS;
    if (flags == NULL || location == NULL)
        return bcu_fail_null("flags or location");
    blr_mutex_lock(&mutex);
    const struct range *mapping = mappings;
    while (mapping != NULL && !(pointer >= mapping->base && pointer - mapping->base < mapping->size))
        mapping = mapping->next;
    if (mapping == NULL || location->type != CU_MEM_LOCATION_TYPE_DEVICE || location->id != 0)
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is not mapped, or the location is no device", pointer);
    else
        *flags = (unsigned long long)mapping->access;
    blr_mutex_unlock(&mutex);
    return result;
}
