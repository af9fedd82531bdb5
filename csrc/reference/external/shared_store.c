/* The store: an anonymous file whose ranges other processes can map. */

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "external/shared_store.h"

#include "platform/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x32306c7a73646e62)

static blr_mutex_t mutex = BLR_MUTEX_INIT;
static int store = -1;
static uint64_t end;
static uint64_t token[2];

static uint64_t page_size(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

static blr_result_t fail(const char *what, uint64_t size)
{
    return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "%s for %" PRIu64 " bytes of shared memory: %s", what, size, strerror(errno));
}

static blr_result_t open_store(void)
{
    int opened = memfd_create("bindless-store", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (opened < 0)
        return fail("no file", 0);
    bool good = getrandom(token, sizeof token, 0) == (ssize_t)sizeof token && ftruncate(opened, (off_t)page_size()) == 0 &&
                pwrite(opened, token, sizeof token, 0) == (ssize_t)sizeof token &&
                fcntl(opened, F_ADD_SEALS, F_SEAL_SHRINK) == 0; /* no peer takes pages away */
    if (!good) {
        blr_result_t result = fail("no token", 0);
        close(opened);
        return result;
    }
    store = opened;
    end = page_size();
    return BLR_RESULT_SUCCESS;
}

/* The mark of a range is its own offset. */
static bool write_mark(uint64_t offset)
{
    return pwrite(store, &offset, sizeof offset, (off_t)(offset - page_size())) == (ssize_t)sizeof offset;
}

blr_result_t blr_store_allocate(uint64_t size, struct blr_store_range *range)
{
    uint64_t page = page_size(), length = (size + page - 1) / page * page;
    *range = (struct blr_store_range){0};
    blr_mutex_lock(&mutex);
    blr_result_t result = store < 0 ? open_store() : BLR_RESULT_SUCCESS;
    if (result == BLR_RESULT_SUCCESS && (length < size || length > (uint64_t)INT64_MAX - end - page))
        result = blr_fail(BLR_RESULT_OUT_OF_MEMORY, "%" PRIu64 " bytes of shared memory", size);
    if (result == BLR_RESULT_SUCCESS && (ftruncate(store, (off_t)(end + page + length)) != 0 || !write_mark(end + page)))
        result = fail("no room", size);
    if (result == BLR_RESULT_SUCCESS) {
        *range = (struct blr_store_range){.offset = end + page, .size = length};
        end += page + length;
    }
    blr_mutex_unlock(&mutex);
    return result;
}

void blr_store_free(const struct blr_store_range *range)
{
    const uint64_t page = page_size();
    if (range->size > 0)
        fallocate(store, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(range->offset - page), (off_t)(range->size + page));
}

static void *map(int opened, const struct blr_store_range *range, void *address)
{
    void *pages = mmap(address, range->size, PROT_READ | PROT_WRITE, MAP_SHARED | (address != NULL ? MAP_FIXED : 0), opened,
                        (off_t)range->offset);
    if (pages != MAP_FAILED)
        return pages;
    fail("no mapping", range->size);
    return NULL;
}

void *blr_store_map(const struct blr_store_range *range, void *address) { return map(store, range, address); }

/* Copies pages, and skips pages of zeros so that they stay unallocated. */
static void copy_pages(unsigned char *to, const unsigned char *from, uint64_t size)
{
    static const unsigned char zeros[4096];
    for (uint64_t at = 0; at < size; at += sizeof zeros) {
        uint64_t length = size - at < sizeof zeros ? size - at : sizeof zeros;
        if (memcmp(from + at, zeros, length) != 0)
            memcpy(to + at, from + at, length);
    }
}

blr_result_t blr_store_move(void *pages, uint64_t size, struct blr_store_range *range)
{
    struct blr_store_range own;
    blr_result_t result = blr_store_allocate(size, &own);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    void *place = blr_store_map(&own, NULL);
    if (place != NULL) {
        copy_pages(place, pages, size);
        munmap(place, own.size);
        place = blr_store_map(&own, pages);
    }
    if (place == NULL) {
        blr_store_free(&own);
        return BLR_RESULT_OUT_OF_MEMORY;
    }
    *range = own;
    return BLR_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- names */

struct blr_store_name blr_store_name(const struct blr_store_range *range, enum blr_store_purpose purpose, uint32_t detail)
{
    return (struct blr_store_name){
        .magic = MAGIC,
        .token = {token[0], token[1]},
        .process = (uint32_t)getpid(),
        .file = (uint32_t)store,
        .offset = range->offset,
        .size = range->size,
        .purpose = (uint32_t)purpose,
        .detail = detail,
    };
}

bool blr_store_is_name(const struct blr_store_name *name, enum blr_store_purpose purpose)
{
    const uint64_t page = page_size();
    return name->magic == MAGIC && name->purpose == (uint32_t)purpose && name->size > 0 && name->size % page == 0 &&
           name->offset >= 2 * page && name->offset % page == 0;
}

bool blr_store_is_own(const struct blr_store_name *name)
{
    blr_mutex_lock(&mutex);
    bool is_own = store >= 0 && memcmp(name->token, token, sizeof token) == 0;
    blr_mutex_unlock(&mutex);
    return is_own;
}

static blr_result_t check_file(const struct blr_store_name *name, int file)
{
    struct stat status;
    uint64_t content[2] = {0, 0}, mark = 0;
    if (pread(file, content, sizeof content, 0) != (ssize_t)sizeof content || memcmp(content, name->token, sizeof content) != 0 ||
        fstat(file, &status) != 0 || (uint64_t)status.st_size < name->size || name->offset > (uint64_t)status.st_size - name->size)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "process %" PRIu32 " is not the process that created the handle", name->process);
    if (pread(file, &mark, sizeof mark, (off_t)(name->offset - page_size())) != (ssize_t)sizeof mark || mark != name->offset)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "process %" PRIu32 " has freed the memory of the handle", name->process);
    return BLR_RESULT_SUCCESS;
}

/* Opens another process's store through /proc. */
blr_result_t blr_store_open_file(const struct blr_store_name *name, enum blr_store_purpose purpose, int *file)
{
    char path[64];
    if (!blr_store_is_name(name, purpose))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "these 64 bytes are not a handle of this kind from this driver");
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/fd/%" PRIu32, name->process, name->file);
    int opened = open(path, O_RDWR | O_CLOEXEC);
    if (opened < 0)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "the memory of process %" PRIu32 " cannot be opened: %s; it must run as the same user and in the "
                        "same namespace",
                        name->process, strerror(errno));
    blr_result_t result = check_file(name, opened);
    if (result == BLR_RESULT_SUCCESS)
        *file = opened;
    else
        close(opened);
    return result;
}

blr_result_t blr_store_open(const struct blr_store_name *name, enum blr_store_purpose purpose, void **address)
{
    int file;
    blr_result_t result = blr_store_open_file(name, purpose, &file);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    *address = map(file, &(struct blr_store_range){.offset = name->offset, .size = name->size}, NULL);
    close(file);
    return *address != NULL ? BLR_RESULT_SUCCESS : BLR_RESULT_OUT_OF_MEMORY;
}
