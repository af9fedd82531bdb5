/* Memory allocation: page mappings for large blocks, the heap for small ones, the machine's memory limits, and
 * injected failures for tests. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "platform/heap.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#include <malloc.h>
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

/* Smallest allocation with a mapping of its own, in huge pages where the system offers them. Sanitizers watch only
 * the heap, so builds with them allocate everything there. */
#define MAPPED_FROM ((uint64_t)2 << 20)
#if defined(_WIN32) || defined(__SANITIZE_ADDRESS__)
#define USE_MAPPINGS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define USE_MAPPINGS 0
#else
#define USE_MAPPINGS 1
#endif
#else
#define USE_MAPPINGS 1
#endif

#if defined(BLR_TESTING)
static _Atomic int64_t fail_at;
static _Atomic int64_t allocations;

void blr_allocate_fail_after(int64_t count)
{
    atomic_store(&allocations, 0);
    atomic_store(&fail_at, count);
}

int64_t blr_allocate_count(void) { return atomic_load(&allocations); }

bool blr_allocate_will_fail(void) { return atomic_load(&fail_at) > 0; }

static bool allocation_fails(void) { return atomic_fetch_add(&allocations, 1) + 1 == atomic_load(&fail_at); }
#else
static bool allocation_fails(void) { return false; }
#endif

void *blr_new(size_t size) { return allocation_fails() ? NULL : calloc(1, size); }

void blr_delete(void *pointer) { free(pointer); }

char *blr_copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = blr_new(size);
    if (copy != NULL)
        memcpy(copy, text, size);
    return copy;
}

static uint64_t page_size(void)
{
#if defined(_WIN32)
    return 4096;
#else
    return (uint64_t)sysconf(_SC_PAGESIZE);
#endif
}

static void *heap_allocate(uint64_t size, uint64_t alignment, bool zeroed)
{
#if defined(_WIN32)
    void *base = _aligned_malloc((size_t)size, (size_t)alignment);
#else
    void *base = NULL;
    if (posix_memalign(&base, (size_t)alignment, (size_t)size) != 0)
        base = NULL;
#endif
    if (base != NULL && zeroed)
        memset(base, 0, (size_t)size);
    return base;
}

#if USE_MAPPINGS
static void *map(uint64_t size, uint64_t alignment, uint64_t *mapped)
{
    uint64_t page = page_size();
    uint64_t length = (size + page - 1) & ~(page - 1);
    if (length < size || length + alignment < length)
        return NULL;
    char *whole = mmap(NULL, length + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (whole == MAP_FAILED)
        return NULL;
    uint64_t before = (alignment - (uint64_t)(uintptr_t)whole % alignment) % alignment;
    if (before > 0)
        munmap(whole, before);
    if (alignment - before > 0)
        munmap(whole + before + length, alignment - before);
#if defined(MADV_HUGEPAGE)
    madvise(whole + before, length, MADV_HUGEPAGE);
#endif
    *mapped = length;
    return whole + before;
}
#endif

static int allocate(struct blr_pages *pages, uint64_t size, uint64_t alignment, bool zeroed)
{
    *pages = (struct blr_pages){0};
    if (allocation_fails() || size > SIZE_MAX / 2 || alignment > SIZE_MAX / 4)
        return 0;
    if (size >= MAPPED_FROM && size > blr_memory_available())
        return 0;
    const uint64_t page = page_size();
    if (alignment >= page) /* no other memory lies in its last page */
        size = (size + page - 1) / page * page;
#if USE_MAPPINGS
    if (size >= MAPPED_FROM)
        pages->base = map(size, alignment < MAPPED_FROM ? MAPPED_FROM : alignment, &pages->mapped);
    else
#endif
        pages->base = heap_allocate(size, alignment, zeroed);
    pages->size = size;
    return pages->base != NULL;
}

int blr_pages_allocate(struct blr_pages *pages, uint64_t size, uint64_t alignment)
{
    return allocate(pages, size, alignment, true);
}

int blr_pages_allocate_dirty(struct blr_pages *pages, uint64_t size, uint64_t alignment)
{
    return allocate(pages, size, alignment, false);
}

void blr_pages_free(struct blr_pages *pages)
{
    if (pages->base == NULL)
        return;
#if defined(_WIN32)
    _aligned_free(pages->base);
#else
    if (pages->mapped > 0)
        munmap(pages->base, pages->mapped);
    else
        free(pages->base);
#endif
    *pages = (struct blr_pages){0};
}

#if defined(__linux__)
/* Reads the number that a file holds; false for a missing file or a word such as "max". */
static bool read_number(const char *path, uint64_t *value)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    unsigned long long number = 0;
    bool success = fscanf(file, "%llu", &number) == 1;
    fclose(file);
    *value = number;
    return success;
}

static uint64_t group_limit(void)
{
    uint64_t limit = 0;
    if (read_number("/sys/fs/cgroup/memory.max", &limit) ||
        read_number("/sys/fs/cgroup/memory/memory.limit_in_bytes", &limit))
        return limit;
    return UINT64_MAX;
}
#endif

uint64_t blr_memory_physical(void)
{
#if defined(_WIN32)
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? status.ullTotalPhys : (uint64_t)1 << 32;
#else
    long pages = sysconf(_SC_PHYS_PAGES);
    long size = sysconf(_SC_PAGESIZE);
    uint64_t physical = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : (uint64_t)1 << 32;
#if defined(__linux__)
    uint64_t limit = group_limit();
    if (limit < physical)
        physical = limit;
#endif
    return physical;
#endif
}

uint64_t blr_memory_available(void)
{
#if defined(_WIN32)
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? status.ullAvailPhys : UINT64_MAX;
#elif defined(__linux__)
    uint64_t available = UINT64_MAX;
    FILE *file = fopen("/proc/meminfo", "re");
    if (file != NULL) {
        char line[128];
        unsigned long long kibibytes = 0;
        while (fgets(line, sizeof line, file) != NULL)
            if (sscanf(line, "MemAvailable: %llu kB", &kibibytes) == 1) {
                available = kibibytes * 1024u;
                break;
            }
        fclose(file);
    }
    uint64_t limit = group_limit();
    if (limit < available)
        available = limit;
    return available;
#else
    return blr_memory_physical();
#endif
}
