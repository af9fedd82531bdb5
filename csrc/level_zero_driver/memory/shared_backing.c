/* The store: an anonymous file whose ranges other processes can map. */

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "level_zero_driver/memory/shared_backing.h"

#include "reference/platform/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x31306c7a73646e62)

_Static_assert(sizeof(struct blz_store_name) <= sizeof(ze_ipc_mem_handle_t), "names travel in handles");

static blr_mutex_t mutex = BLR_MUTEX_INIT;
static int file = -1;
static uint64_t end;
static uint64_t token[2];

static uint64_t page_size(void) { return (uint64_t)sysconf(_SC_PAGESIZE); }

static ze_result_t fail(const char *what, uint64_t size)
{
    return blz_fail(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "%s for %" PRIu64 " bytes of shared memory: %s", what, size,
                    strerror(errno));
}

static ze_result_t open_file(void)
{
    int opened = memfd_create("bindless-level-zero", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (opened < 0)
        return fail("no file", 0);
    bool good = getrandom(token, sizeof token, 0) == (ssize_t)sizeof token && ftruncate(opened, (off_t)page_size()) == 0 &&
                pwrite(opened, token, sizeof token, 0) == (ssize_t)sizeof token &&
                fcntl(opened, F_ADD_SEALS, F_SEAL_SHRINK) == 0; /* no peer takes pages away */
    if (!good) {
        ze_result_t result = fail("no token", 0);
        close(opened);
        return result;
    }
    file = opened;
    end = page_size();
    return ZE_RESULT_SUCCESS;
}

ze_result_t blz_store_allocate(uint64_t size, struct blz_store_range *range)
{
    uint64_t page = page_size(), length = (size + page - 1) / page * page;
    *range = (struct blz_store_range){0};
    blr_mutex_lock(&mutex);
    ze_result_t result = file < 0 ? open_file() : ZE_RESULT_SUCCESS;
    if (result == ZE_RESULT_SUCCESS && (length < size || length > (uint64_t)INT64_MAX - end))
        result = blz_fail(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "%" PRIu64 " bytes of shared memory", size);
    if (result == ZE_RESULT_SUCCESS && ftruncate(file, (off_t)(end + length)) != 0)
        result = fail("no room", size);
    if (result == ZE_RESULT_SUCCESS) {
        *range = (struct blz_store_range){.offset = end, .size = length};
        end += length;
    }
    blr_mutex_unlock(&mutex);
    return result;
}

void blz_store_free(const struct blz_store_range *range)
{
    if (range->size > 0)
        fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)range->offset, (off_t)range->size);
}

static void *map(int opened, const struct blz_store_range *range, void *address)
{
    void *mapped = mmap(address, range->size, PROT_READ | PROT_WRITE, MAP_SHARED | (address != NULL ? MAP_FIXED : 0), opened,
                        (off_t)range->offset);
    if (mapped != MAP_FAILED)
        return mapped;
    fail("no mapping", range->size);
    return NULL;
}

void *blz_store_map(const struct blz_store_range *range, void *address) { return map(file, range, address); }

ze_result_t blz_store_name(const struct blz_store_range *range, uint32_t purpose, uint32_t detail, struct blz_store_name *name)
{
    *name = (struct blz_store_name){
        .magic = MAGIC,
        .token = {token[0], token[1]},
        .process = (uint32_t)getpid(),
        .file = (uint32_t)file,
        .offset = range->offset,
        .size = range->size,
        .purpose = purpose,
        .detail = detail,
    };
    return ZE_RESULT_SUCCESS;
}

/* Opens another process's store through /proc. */
static int open_other(const struct blz_store_name *name)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%" PRIu32 "/fd/%" PRIu32, name->process, name->file);
    return open(path, O_RDWR | O_CLOEXEC);
}

ze_result_t blz_store_open(const struct blz_store_name *name, uint32_t purpose, void **address)
{
    uint64_t page = page_size(), content[2] = {0, 0};
    if (name->magic != MAGIC || name->purpose != purpose || name->size == 0 || name->size % page != 0 || name->offset % page != 0)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "these 64 bytes are not a handle of this kind from this driver");
    int opened = open_other(name);
    if (opened < 0)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                        "the memory of process %" PRIu32 " cannot be opened: %s; it must run as the same user and in the "
                        "same namespace",
                        name->process, strerror(errno));
    struct stat status;
    struct blz_store_range range = {.offset = name->offset, .size = name->size};
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (pread(opened, content, sizeof content, 0) != (ssize_t)sizeof content ||
        memcmp(content, name->token, sizeof content) != 0 || fstat(opened, &status) != 0 ||
        (uint64_t)status.st_size < range.size || range.offset > (uint64_t)status.st_size - range.size)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "process %" PRIu32 " is not the process that created the handle",
                          name->process);
    else if ((*address = map(opened, &range, NULL)) == NULL)
        result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    close(opened);
    return result;
}
