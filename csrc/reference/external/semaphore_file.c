/* External semaphores: eventfds, shared flags of SwiftShader, and timelines in a mapped file. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "external/semaphore_file.h"

#include "external/shared_file.h"
#include "external/swiftshader_semaphore.h"
#include "platform/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#if !defined(RWF_NOWAIT)
#define RWF_NOWAIT 8
#endif

#define LOOK_AGAIN 10000000L /* nanoseconds between two reads of a timeline */

/* ---------------------------------------------------------------- opening */

/* The name of an eventfd in /proc is anon_inode:[eventfd]. */
static bool is_eventfd(int file) { return blr_file_is_named(file, "anon_inode:[eventfd]"); }

static blr_result_t open_timeline(struct blr_semaphore *semaphore, int fd, uint64_t offset)
{
    struct stat status;
    if (fstat(semaphore->file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < (off_t)(offset + sizeof *semaphore->timeline))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "file descriptor %d is not a timeline: a file that begins with a number of 8 bytes is "
                        "required", fd);
    if (blr_file_is_named(semaphore->file, BLR_SHARED_FLAG_NAME))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "file descriptor %d is a binary semaphore of SwiftShader, not a timeline: import it as a "
                        "binary semaphore", fd);
    if (blr_file_is_named(semaphore->file, BLR_SWIFTSHADER_MEMORY) || blr_file_is_named(semaphore->file, BLR_LLVMPIPE_MEMORY))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "file descriptor %d is memory of a Vulkan driver, not a "
                                                     "timeline: import it as memory",
                        fd);
    if (!blr_file_is_writable(semaphore->file))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "file descriptor %d is not open for both reading and writing, as a timeline has to be", fd);
    void *mapped = mmap(NULL, sizeof *semaphore->timeline, PROT_READ | PROT_WRITE, MAP_SHARED, semaphore->file, (off_t)offset);
    if (mapped == MAP_FAILED)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "file descriptor %d cannot be mapped: %s", fd, strerror(errno));
    semaphore->timeline = mapped;
    return BLR_RESULT_SUCCESS;
}

blr_result_t blr_semaphore_open(struct blr_semaphore *semaphore, bool timeline, int file, uint64_t offset)
{
    semaphore->timeline = NULL;
    semaphore->flag = NULL;
    semaphore->file = fcntl(file, F_DUPFD_CLOEXEC, 0);
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (semaphore->file < 0)
        result = blr_file_fail_open(file);
    else if (timeline)
        result = open_timeline(semaphore, file, offset);
    else if (blr_file_is_named(semaphore->file, BLR_SHARED_FLAG_NAME))
        result = blr_shared_flag_open(&semaphore->flag, semaphore->file, file);
    else if (!is_eventfd(semaphore->file))
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                          "file descriptor %d is not a supported semaphore: an eventfd or a semaphore of SwiftShader "
                          "is required", file);
    if (result != BLR_RESULT_SUCCESS)
        blr_semaphore_close(semaphore);
    return result;
}

void blr_semaphore_close(struct blr_semaphore *semaphore)
{
    if (semaphore->timeline != NULL)
        munmap((void *)semaphore->timeline, sizeof *semaphore->timeline);
    if (semaphore->flag != NULL)
        blr_shared_flag_close(semaphore->flag);
    if (semaphore->file >= 0)
        close(semaphore->file);
    semaphore->file = -1;
    semaphore->timeline = NULL;
    semaphore->flag = NULL;
}

/* ---------------------------------------------------------------- eventfds */

static blr_result_t fail_file(const struct blr_semaphore *semaphore, const char *what)
{
    return blr_fail(BLR_RESULT_UNKNOWN, "an external semaphore (file descriptor %d) cannot be %s: %s", semaphore->file, what,
                    strerror(errno));
}

/* Reads the eventfd's count; *success is false if another reader was first. musl has preadv2 since 1.2.5 alone. */
static blr_result_t take_count(const struct blr_semaphore *semaphore, bool *success)
{
    uint64_t count;
    struct iovec place = {&count, sizeof count};
    ssize_t length = (ssize_t)syscall(SYS_preadv2, semaphore->file, &place, 1L, -1L, 0L, (long)RWF_NOWAIT);
    if (length < 0 && errno == EOPNOTSUPP) /* old kernels */
        length = read(semaphore->file, &count, sizeof count);
    *success = length == (ssize_t)sizeof count;
    return *success || errno == EAGAIN || errno == EINTR ? BLR_RESULT_SUCCESS : fail_file(semaphore, "waited for");
}

static blr_result_t wait_count(const struct blr_semaphore *semaphore, uint64_t deadline)
{
    for (;;) {
        uint64_t now = blr_clock_now(), milliseconds = now >= deadline ? 0 : (deadline - now) / 1000000 + 1;
        struct pollfd place = {semaphore->file, POLLIN, 0};
        int ready = poll(&place, 1, milliseconds > 1000 ? 1000 : (int)milliseconds);
        bool success = false;
        if (ready < 0 && errno != EINTR)
            return fail_file(semaphore, "waited for");
        if (ready > 0) {
            blr_result_t result = take_count(semaphore, &success);
            if (success || result != BLR_RESULT_SUCCESS)
                return result;
        }
        if (milliseconds == 0)
            return BLR_RESULT_TIMEOUT;
    }
}

static blr_result_t add_count(const struct blr_semaphore *semaphore)
{
    const uint64_t one = 1;
    struct pollfd place = {semaphore->file, POLLOUT, 0};
    if (poll(&place, 1, 0) == 0) /* the count is full: the eventfd is signalled, and a further increment would block */
        return BLR_RESULT_SUCCESS;
    while (write(semaphore->file, &one, sizeof one) != (ssize_t)sizeof one)
        if (errno != EINTR)
            return fail_file(semaphore, "signalled");
    return BLR_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- timelines */

static blr_result_t wait_value(const struct blr_semaphore *semaphore, uint64_t value, uint64_t deadline)
{
    for (;;) {
        uint64_t now = atomic_load(semaphore->timeline);
        if (now >= value)
            return BLR_RESULT_SUCCESS;
        if (blr_clock_now() >= deadline)
            return BLR_RESULT_TIMEOUT;
        struct timespec pause = {0, LOOK_AGAIN};
        syscall(SYS_futex, semaphore->timeline, FUTEX_WAIT, (uint32_t)now, &pause, NULL, 0);
    }
}

static void raise_value(const struct blr_semaphore *semaphore, uint64_t value)
{
    uint64_t now = atomic_load(semaphore->timeline);
    while (now < value && !atomic_compare_exchange_weak(semaphore->timeline, &now, value))
        ;
    syscall(SYS_futex, semaphore->timeline, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---------------------------------------------------------------- all kinds */

blr_result_t blr_semaphore_wait(struct blr_semaphore *semaphore, uint64_t value, uint64_t deadline)
{
    blr_result_t result = semaphore->timeline != NULL ? wait_value(semaphore, value, deadline)
                          : semaphore->flag != NULL   ? blr_shared_flag_wait(semaphore->flag, deadline)
                                                      : wait_count(semaphore, deadline);
    atomic_load_explicit(&semaphore->signals, memory_order_acquire);
    return result;
}

blr_result_t blr_semaphore_signal(struct blr_semaphore *semaphore, uint64_t value)
{
    atomic_fetch_add_explicit(&semaphore->signals, 1, memory_order_release);
    if (semaphore->timeline != NULL) {
        raise_value(semaphore, value);
        return BLR_RESULT_SUCCESS;
    }
    return semaphore->flag != NULL ? blr_shared_flag_signal(semaphore->flag) : add_count(semaphore);
}

blr_result_t blr_semaphore_fail_late(const struct blr_semaphore *semaphore, uint64_t handle, uint64_t value, double seconds)
{
    if (semaphore->timeline != NULL)
        return blr_fail(BLR_RESULT_UNKNOWN,
                        "the external timeline semaphore 0x%" PRIx64 " did not reach %" PRIu64 " within %g seconds: "
                        "it is at %" PRIu64,
                        handle, value, seconds, atomic_load(semaphore->timeline));
    return blr_fail(BLR_RESULT_UNKNOWN, "the external binary semaphore 0x%" PRIx64 "%s was not signalled within %g seconds", handle,
                    semaphore->flag != NULL ? " of SwiftShader" : "", seconds);
}
