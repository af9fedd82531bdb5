/* Reservations of virtual memory, and mappings of physical memory into them.
 *
 * A mapping is an allocation. An unmap removes its address at once, and the range can be mapped again; the old pages
 * stay visible where nothing new is mapped, until the last command that retains them is deleted. A list that is
 * executed again uses the current mapping. Commands check access rights; the host may access any mapped page. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "level_zero_driver/memory/virtual_memory.h"

#include "level_zero_driver/memory/allocation.h"
#include "level_zero_driver/memory/physical_memory.h"
#include "reference/platform/threads.h"

#include <inttypes.h>
#include <sys/mman.h>

struct reservation {
    struct reservation *next;
    struct blz_context *context; /* retained */
    uint64_t base, size;
    uint32_t users;              /* the program, and each mapping */
    bool freed;
    struct mapping *mappings;
};

struct mapping {
    struct mapping *next; /* the next older mapping */
    struct reservation *reservation;
    struct blz_physical *physical; /* retained */
    uint64_t base, size, offset; /* in the physical memory */
    struct blr_allocation *allocation; /* NULL after the unmap */
    ze_memory_access_attribute_t access;
};

/* Guards all reservations and mappings. Not held while an allocation is released, because the release calls back
   into this file. */
static blr_mutex_t mutex = BLR_MUTEX_INIT;
static struct reservation *reservations;
static _Atomic uint32_t reservation_count;

static bool is_aligned(uint64_t value) { return value % blz_page_size() == 0; }

static ze_result_t check_pages(uint64_t address, uint64_t size, const char *name)
{
    uint64_t page = blz_page_size();
    if (!is_aligned(address))
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, "%s is 0x%" PRIx64 ": a multiple of the page size %" PRIu64 " is needed", name,
                        address, page);
    if (size == 0 || !is_aligned(size) || address + size < address)
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "%" PRIu64 " bytes at %s: a multiple of the page size %" PRIu64 " is needed", size, name,
                        page);
    return ZE_RESULT_SUCCESS;
}

static bool overlap(uint64_t base, uint64_t size, uint64_t other, uint64_t other_size)
{
    return base < other + other_size && other < base + size;
}

/* ---------------------------------------------------------------- reservations */

/* Reserved pages without a mapping read as zero: samplers may read slightly beyond a mapping. */
static void *reserve_pages(void *address, uint64_t size, int fixed)
{
    void *pages = mmap(address, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
    return pages == MAP_FAILED ? NULL : pages;
}

/* Finds the reservation that contains the whole range. Needs the mutex. */
static struct reservation *find(const struct blz_context *context, uint64_t base, uint64_t size)
{
    for (struct reservation *r = reservations; r != NULL; r = r->next)
        if (!r->freed && r->context == context && base >= r->base && base - r->base < r->size && size <= r->size - (base - r->base))
            return r;
    blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%" PRIu64 " bytes at 0x%" PRIx64 " are in no reservation of the context", size, base);
    return NULL;
}

/* Drops one user of a reservation, and frees it with the last one. Needs the mutex. */
static void leave(struct reservation *reservation)
{
    if (--reservation->users > 0)
        return;
    struct reservation **link = &reservations;
    while (*link != reservation)
        link = &(*link)->next;
    *link = reservation->next;
    atomic_fetch_sub(&reservation_count, 1);
    munmap((void *)(uintptr_t)reservation->base, reservation->size + blz_page_size());
    blz_context_release(reservation->context);
    blr_delete(reservation);
}

bool blz_virtual_is_reserved(uint64_t address, uint64_t size)
{
    if (atomic_load_explicit(&reservation_count, memory_order_relaxed) == 0)
        return false;
    bool reserved = false;
    blr_mutex_lock(&mutex);
    for (const struct reservation *r = reservations; r != NULL && !reserved; r = r->next)
        reserved = overlap(address, size, r->base, r->size);
    blr_mutex_unlock(&mutex);
    return reserved;
}

static ze_result_t reserve(struct blz_context *context, const void *start, size_t size, void **pointer)
{
    ze_result_t result = check_pages((uint64_t)(uintptr_t)start, size, "pStart");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct reservation *reservation = blr_new(sizeof *reservation);
    if (reservation == NULL)
        return blz_fail_memory("a reservation");
    uint64_t page = blz_page_size();
    void *pages = size > SIZE_MAX - page ? NULL : reserve_pages((void *)(uintptr_t)start, size + page, 0);
    if (pages == NULL) {
        blr_delete(reservation);
        return blz_fail(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "the address space has no range of %zu bytes", size);
    }
    blz_context_retain(context);
    *reservation = (struct reservation){.context = context, .base = (uint64_t)(uintptr_t)pages, .size = size, .users = 1};
    blr_mutex_lock(&mutex);
    reservation->next = reservations;
    reservations = reservation;
    atomic_fetch_add(&reservation_count, 1);
    blr_mutex_unlock(&mutex);
    *pointer = pages;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeVirtualMemReserve(ze_context_handle_t handle, const void *start, size_t size, void **pointer)
{
    struct blz_context *context;
    ze_result_t result = blz_context_acquire(handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = pointer == NULL ? blz_fail_null("pptr") : reserve(context, start, size, pointer);
    blz_context_release(context);
    return result;
}

ze_result_t zeVirtualMemQueryPageSize(ze_context_handle_t handle, ze_device_handle_t device_handle, size_t size, size_t *page)
{
    struct blz_context *context;
    struct blz_device *device;
    ze_result_t result = blz_place_acquire(handle, device_handle, &context, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (page == NULL)
        result = blz_fail_null("pagesize");
    else if (size == 0)
        result = blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "size is 0: at least 1 byte is needed");
    if (result == ZE_RESULT_SUCCESS)
        *page = blz_page_size();
    blz_context_release(context);
    return result;
}

/* ---------------------------------------------------------------- mapping */

/* Restores the pages of a range: those of the mappings from older on that commands still retain, else reserved
   pages. Needs the mutex. */
static void show(const struct mapping *older, uint64_t base, uint64_t size)
{
    while (older != NULL && !overlap(base, size, older->base, older->size))
        older = older->next;
    if (older == NULL) {
        reserve_pages((void *)(uintptr_t)base, size, MAP_FIXED);
        return;
    }
    const uint64_t end = base + size, older_end = older->base + older->size;
    const uint64_t from = older->base > base ? older->base : base, to = older_end < end ? older_end : end;
    if (blz_physical_map(older->physical, older->offset + (from - older->base), to - from, (void *)(uintptr_t)from) == NULL)
        reserve_pages((void *)(uintptr_t)from, to - from, MAP_FIXED);
    if (from > base)
        show(older->next, base, from - base);
    if (to < end)
        show(older->next, to, end - to);
}

/* Removes the pages of a mapping (older follows it in the list), except where newer mappings cover them. Needs the
   mutex. */
static void take_away(const struct mapping *newer, const struct mapping *older, uint64_t base, uint64_t size)
{
    while (newer != older && !overlap(base, size, newer->base, newer->size))
        newer = newer->next;
    if (newer == older) {
        show(older, base, size);
        return;
    }
    const uint64_t end = base + size, newer_end = newer->base + newer->size;
    if (newer->base > base)
        take_away(newer->next, older, base, newer->base - base);
    if (newer_end < end)
        take_away(newer->next, older, newer_end, end - newer_end);
}

/* Called with the last reference to a mapping's allocation. */
static void release_mapping(struct blz_memory *memory)
{
    struct mapping *mapping = memory->owner;
    blr_mutex_lock(&mutex);
    struct mapping **link = &mapping->reservation->mappings;
    while (*link != mapping)
        link = &(*link)->next;
    *link = mapping->next;
    take_away(mapping->reservation->mappings, mapping->next, mapping->base, mapping->size);
    leave(mapping->reservation);
    blr_mutex_unlock(&mutex);
    blr_object_release(&mapping->physical->object);
    blr_delete(mapping);
}

static enum blr_memory_access access_of(ze_memory_access_attribute_t access)
{
    return access == ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE  ? BLR_ACCESS_READ_WRITE
           : access == ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY ? BLR_ACCESS_READ
                                                           : BLR_ACCESS_NONE;
}

static ze_result_t check_access(ze_memory_access_attribute_t access)
{
    if (access >= ZE_MEMORY_ACCESS_ATTRIBUTE_NONE && access <= ZE_MEMORY_ACCESS_ATTRIBUTE_READONLY)
        return ZE_RESULT_SUCCESS;
    return blz_fail_enumeration("access", access, "0 (none), 1 (read and write) or 2 (read only) is needed");
}

/* Maps the pages of a new mapping, which is not yet an allocation. Needs the mutex. */
static ze_result_t place(struct blz_context *context, uint64_t base, uint64_t size, struct blz_physical *physical, uint64_t offset,
                         struct mapping *mapping)
{
    struct reservation *reservation = find(context, base, size);
    if (reservation == NULL)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    for (const struct mapping *other = reservation->mappings; other != NULL; other = other->next)
        if (other->allocation != NULL && overlap(base, size, other->base, other->size))
            return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "%" PRIu64 " bytes at 0x%" PRIx64 " overlap a mapping at 0x%" PRIx64, size, base, other->base);
    if (blz_physical_map(physical, offset, size, (void *)(uintptr_t)base) == NULL)
        return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    *mapping = (struct mapping){.next = reservation->mappings, .reservation = reservation, .physical = physical, .base = base, .size = size,
                                .offset = offset};
    reservation->mappings = mapping;
    reservation->users++;
    blr_object_retain(&physical->object);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t map(struct blz_context *context, uint64_t base, uint64_t size, struct blz_physical *physical, uint64_t offset,
                       ze_memory_access_attribute_t access)
{
    if (physical->context != context)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the physical memory belongs to another context");
    if (!is_aligned(offset) || offset > physical->size || size > physical->size - offset)
        return blz_fail(is_aligned(offset) ? ZE_RESULT_ERROR_INVALID_SIZE : ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                        "%" PRIu64 " bytes from offset %" PRIu64 " of physical memory of %" PRIu64 " bytes: whole pages within it are needed",
                        size, offset, physical->size);
    struct mapping *mapping = blr_new(sizeof *mapping);
    if (mapping == NULL)
        return blz_fail_memory("a mapping");
    struct blz_memory description = {.device = physical->device,
                                     .type = physical->type,
                                     .mapping = (void *)(uintptr_t)base,
                                     .mapped = size,
                                     .unmap = release_mapping,
                                     .owner = mapping};
    void *pointer = NULL;
    struct blr_allocation *allocation = NULL;
    blr_mutex_lock(&mutex);
    ze_result_t result = place(context, base, size, physical, offset, mapping);
    bool placed = result == ZE_RESULT_SUCCESS;
    if (placed)
        result = blz_memory_take(context, &description, size, &pointer);
    if (result == ZE_RESULT_SUCCESS) {
        allocation = blr_memory_find(context->reference, pointer);
        atomic_store(&allocation->access, access_of(access));
        mapping->allocation = allocation;
        mapping->access = access;
    }
    blr_mutex_unlock(&mutex);
    if (allocation != NULL)
        blr_memory_release(allocation); /* its address keeps it alive until the unmap */
    else if (placed)
        release_mapping(&description);
    else
        blr_delete(mapping);
    return result;
}

ze_result_t zeVirtualMemMap(ze_context_handle_t handle, const void *pointer, size_t size, ze_physical_mem_handle_t physical_handle,
                            size_t offset, ze_memory_access_attribute_t access)
{
    struct blz_context *context;
    struct blz_physical *physical = NULL;
    ze_result_t result = blz_context_acquire(handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (pointer == NULL)
        result = blz_fail_null("ptr");
    if (result == ZE_RESULT_SUCCESS)
        result = check_pages((uint64_t)(uintptr_t)pointer, size, "ptr");
    if (result == ZE_RESULT_SUCCESS)
        result = check_access(access);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_physical_acquire(physical_handle, &physical);
    if (result == ZE_RESULT_SUCCESS) {
        result = map(context, (uint64_t)(uintptr_t)pointer, size, physical, offset, access);
        blr_object_release(&physical->object);
    }
    blz_context_release(context);
    return result;
}

/* ---------------------------------------------------------------- what lies in a range */

/* Checks that every mapping in a range lies wholly in it. Needs the mutex. */
static ze_result_t check_whole(const struct reservation *reservation, uint64_t base, uint64_t size)
{
    for (const struct mapping *m = reservation->mappings; m != NULL; m = m->next)
        if (m->allocation != NULL && overlap(base, size, m->base, m->size) && (m->base < base || m->base + m->size > base + size))
            return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_SIZE,
                            "%" PRIu64 " bytes at 0x%" PRIx64 " cut the mapping of %" PRIu64 " bytes at 0x%" PRIx64 ": ranges of whole mappings are "
                            "possible",
                            size, base, m->size, m->base);
    return ZE_RESULT_SUCCESS;
}

/* Finds the live mapping that contains an address. Needs the mutex. */
static struct mapping *mapping_at(const struct reservation *reservation, uint64_t address)
{
    for (struct mapping *m = reservation->mappings; m != NULL; m = m->next)
        if (m->allocation != NULL && address >= m->base && address - m->base < m->size)
            return m;
    return NULL;
}

/* Unmaps every mapping in a range of a reservation; the reservation stays. */
static void unmap_all(struct reservation *reservation, uint64_t base, uint64_t size)
{
    for (;;) {
        struct blr_allocation *allocation = NULL;
        blr_mutex_lock(&mutex);
        for (struct mapping *m = reservation->mappings; m != NULL && allocation == NULL; m = m->next)
            if (m->allocation != NULL && overlap(base, size, m->base, m->size)) {
                allocation = m->allocation;
                m->allocation = NULL;
            }
        blr_mutex_unlock(&mutex);
        if (allocation == NULL)
            return;
        blr_memory_withdraw(allocation);
    }
}

ze_result_t zeVirtualMemUnmap(ze_context_handle_t handle, const void *pointer, size_t size)
{
    struct blz_context *context;
    ze_result_t result = blz_context_acquire(handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint64_t base = (uint64_t)(uintptr_t)pointer;
    struct reservation *reservation = NULL;
    result = pointer == NULL ? blz_fail_null("ptr") : check_pages(base, size, "ptr");
    if (result == ZE_RESULT_SUCCESS) {
        blr_mutex_lock(&mutex);
        reservation = find(context, base, size);
        if (reservation == NULL)
            result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
        else if ((result = check_whole(reservation, base, size)) == ZE_RESULT_SUCCESS)
            reservation->users++;
        blr_mutex_unlock(&mutex);
    }
    if (result == ZE_RESULT_SUCCESS) {
        unmap_all(reservation, base, size);
        blr_mutex_lock(&mutex);
        leave(reservation);
        blr_mutex_unlock(&mutex);
    }
    blz_context_release(context);
    return result;
}

ze_result_t zeVirtualMemFree(ze_context_handle_t handle, const void *pointer, size_t size)
{
    struct blz_context *context;
    ze_result_t result = blz_context_acquire(handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint64_t base = (uint64_t)(uintptr_t)pointer;
    struct reservation *reservation = NULL;
    result = pointer == NULL ? blz_fail_null("ptr") : check_pages(base, size, "ptr");
    if (result == ZE_RESULT_SUCCESS) {
        blr_mutex_lock(&mutex);
        reservation = find(context, base, size);
        if (reservation == NULL)
            result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
        else if (reservation->base != base || reservation->size != size)
            result = blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "%zu bytes at %p: the reservation has %" PRIu64 " bytes at 0x%" PRIx64
                              ", and is freed as a whole", size, pointer, reservation->size, reservation->base);
        else
            reservation->freed = true;
        blr_mutex_unlock(&mutex);
    }
    if (result == ZE_RESULT_SUCCESS) {
        unmap_all(reservation, base, size);
        blr_mutex_lock(&mutex);
        leave(reservation);
        blr_mutex_unlock(&mutex);
    }
    blz_context_release(context);
    return result;
}

/* ---------------------------------------------------------------- access */

static ze_result_t set_access(struct reservation *reservation, uint64_t base, uint64_t size, ze_memory_access_attribute_t access)
{
    ze_result_t result = check_whole(reservation, base, size);
    for (struct mapping *m = reservation->mappings; m != NULL && result == ZE_RESULT_SUCCESS; m = m->next)
        if (m->allocation != NULL && overlap(base, size, m->base, m->size)) {
            m->access = access;
            atomic_store(&m->allocation->access, access_of(access));
        }
    return result;
}

ze_result_t zeVirtualMemSetAccessAttribute(ze_context_handle_t handle, const void *pointer, size_t size,
                                           ze_memory_access_attribute_t access)
{
    struct blz_context *context;
    ze_result_t result = blz_context_acquire(handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint64_t base = (uint64_t)(uintptr_t)pointer;
    result = pointer == NULL ? blz_fail_null("ptr") : check_pages(base, size, "ptr");
    if (result == ZE_RESULT_SUCCESS)
        result = check_access(access);
    if (result == ZE_RESULT_SUCCESS) {
        blr_mutex_lock(&mutex);
        struct reservation *reservation = find(context, base, size);
        result = reservation == NULL ? ZE_RESULT_ERROR_INVALID_ARGUMENT : set_access(reservation, base, size, access);
        blr_mutex_unlock(&mutex);
    }
    blz_context_release(context);
    return result;
}

/* Returns the access at an address (none without a mapping), and the address where pages with this access end. Needs
   the mutex. */
static ze_memory_access_attribute_t access_at(const struct reservation *reservation, uint64_t address, uint64_t *end)
{
    const struct mapping *here = mapping_at(reservation, address);
    *end = here != NULL ? here->base + here->size : reservation->base + reservation->size;
    for (const struct mapping *m = reservation->mappings; here == NULL && m != NULL; m = m->next)
        if (m->allocation != NULL && m->base > address && m->base < *end)
            *end = m->base;
    return here != NULL ? here->access : ZE_MEMORY_ACCESS_ATTRIBUTE_NONE;
}

/* Returns the access at an address, and for how many bytes it applies. */
static void get_access(const struct reservation *reservation, uint64_t base, uint64_t size, ze_memory_access_attribute_t *access,
                       size_t *same)
{
    uint64_t end, behind;
    *access = access_at(reservation, base, &end);
    while (end < base + size && access_at(reservation, end, &behind) == *access)
        end = behind;
    *same = end < base + size ? end - base : size;
}

ze_result_t zeVirtualMemGetAccessAttribute(ze_context_handle_t handle, const void *pointer, size_t size,
                                           ze_memory_access_attribute_t *access, size_t *same)
{
    struct blz_context *context;
    ze_result_t result = blz_context_acquire(handle, &context);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint64_t base = (uint64_t)(uintptr_t)pointer;
    if (pointer == NULL || access == NULL || same == NULL)
        result = blz_fail_null(pointer == NULL ? "ptr" : access == NULL ? "access" : "outSize");
    if (result == ZE_RESULT_SUCCESS)
        result = check_pages(base, size, "ptr");
    if (result == ZE_RESULT_SUCCESS) {
        blr_mutex_lock(&mutex);
        const struct reservation *reservation = find(context, base, size);
        if (reservation == NULL)
            result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
        else
            get_access(reservation, base, size, access, same);
        blr_mutex_unlock(&mutex);
    }
    blz_context_release(context);
    return result;
}
