/* External memory files: recognition of the exporter from a file descriptor, and mapping. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "external/shared_file.h"
#include "external/swiftshader_semaphore.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Header of llvmpipe's memory. The rest of its first page is zero, except for a mark of its allocator in the last
 * bytes. */
struct llvmpipe_header {
    uint64_t file_size;
    uint64_t data_offset;
    uint8_t uuid[20];
};

#define LLVMPIPE_DATA_OFFSET 4096u
#define LLVMPIPE_MARK 64u

#if !defined(F_SEAL_FUTURE_WRITE) /* Linux 5.1 */
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

bool blr_file_is_named(int file, const char *name)
{
    char path[64], target[256] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    ssize_t length = readlink(path, target, sizeof target - 1);
    return length > 0 && strncmp(target, name, strlen(name)) == 0;
}

blr_result_t blr_file_fail_open(int file)
{
    if (errno == EBADF)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%d is not an open file descriptor", file);
    return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "file descriptor %d cannot be duplicated: %s", file, strerror(errno));
}

bool blr_file_is_writable(int file)
{
    int flags = fcntl(file, F_GETFL);
    return flags < 0 || (flags & O_ACCMODE) == O_RDWR;
}

static bool is_zero(const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0)
            return false;
    return true;
}

/* Whether the file begins with llvmpipe's header (its size, the data offset and the exporter's identifier) in an
 * otherwise empty page. */
static bool has_llvmpipe_header(int file, uint64_t size)
{
    unsigned char page[LLVMPIPE_DATA_OFFSET];
    struct llvmpipe_header header;
    if (size <= sizeof page || pread(file, page, sizeof page, 0) != (ssize_t)sizeof page)
        return false;
    memcpy(&header, page, sizeof header);
    size_t end = offsetof(struct llvmpipe_header, uuid) + sizeof header.uuid;
    return header.file_size == size && header.data_offset == sizeof page && !is_zero(header.uuid, sizeof header.uuid) &&
           is_zero(page + end, sizeof page - LLVMPIPE_MARK - end);
}

static blr_result_t look(struct blr_external_file *external, int fd)
{
    struct stat status;
    int file = external->file;
    if (fstat(file, &status) != 0)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "file descriptor %d names no memory: %s", fd, strerror(errno));
    bool mappable = S_ISREG(status.st_mode) || blr_file_is_named(file, "/dmabuf:");
    off_t end = mappable ? lseek(file, 0, SEEK_END) : -1;
    if (end < 0)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "file descriptor %d names no memory: a memfd, shared memory or a dma_buf is required", fd);
    if (!blr_file_is_writable(file))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "file descriptor %d is not open for both reading and writing, as shared memory has to be", fd);
    int seals = fcntl(file, F_GET_SEALS);
    if (seals > 0 && (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the memory of file descriptor %d is sealed against writes", fd);
    if (blr_file_is_named(file, BLR_SHARED_FLAG_NAME))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "file descriptor %d is a binary semaphore of SwiftShader, not memory: import it as a "
                        "semaphore", fd);
    external->size = (uint64_t)end;
    if (blr_file_is_named(file, BLR_SWIFTSHADER_MEMORY)) {
        external->exporter = BLR_EXPORTER_SWIFTSHADER;
    } else if (has_llvmpipe_header(file, external->size)) {
        external->exporter = BLR_EXPORTER_LLVMPIPE;
        external->offset = LLVMPIPE_DATA_OFFSET;
        external->size -= LLVMPIPE_DATA_OFFSET;
    } else if (blr_file_is_named(file, BLR_LLVMPIPE_MEMORY)) {
        return blr_fail(BLR_RESULT_UNSUPPORTED,
                        "the memory of file descriptor %d is llvmpipe's, but does not begin with the header of the versions "
                        "that are known here (22.3)", fd);
    }
    return BLR_RESULT_SUCCESS;
}

blr_result_t blr_external_open(struct blr_external_file *external, int file)
{
    *external = (struct blr_external_file){.file = fcntl(file, F_DUPFD_CLOEXEC, 0)};
    if (external->file < 0)
        return blr_file_fail_open(file);
    blr_result_t result = look(external, file);
    if (result != BLR_RESULT_SUCCESS)
        blr_external_close(external);
    return result;
}

void blr_external_close(struct blr_external_file *external)
{
    if (external->file >= 0)
        close(external->file);
    external->file = -1;
}

blr_result_t blr_external_map(const struct blr_external_file *external, uint64_t offset, uint64_t size,
                              struct blr_mapping *mapping)
{
    off_t end = lseek(external->file, 0, SEEK_END);
    if (end >= 0 && (uint64_t)end < external->offset + offset + size)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "%" PRIu64 " bytes from offset %" PRIu64 " of external memory cannot be mapped: its exporter has made it "
                        "smaller since it was imported, %" PRIu64 " bytes", size, offset, (uint64_t)end);
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = (external->offset + offset) / page * page;
    uint64_t lead = external->offset + offset - start, length = (lead + size + page - 1) / page * page;
    char *pages = mmap(NULL, length + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no addresses for %" PRIu64 " bytes of external memory: %s", size,
                        strerror(errno));
    *mapping = (struct blr_mapping){pages + lead, pages, length + page};
    if (mmap(pages, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, external->file, (off_t)start) != MAP_FAILED)
        return BLR_RESULT_SUCCESS;
    int reason = errno;
    blr_external_unmap(mapping);
    return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%" PRIu64 " bytes of external memory cannot be mapped: %s", size,
                    strerror(reason));
}

void blr_external_unmap(struct blr_mapping *mapping) { munmap(mapping->pages, mapping->length); }
