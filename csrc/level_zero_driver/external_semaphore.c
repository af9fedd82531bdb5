#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "external_semaphore.h"

#include "driver.h"
#include "reference/threads.h"
#include "structure.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define LOOK_AGAIN ((uint64_t)10000000) /* nanoseconds */

/* ---------------------------------------------------------------- import */

static void destroy(struct blr_object *object)
{
    struct blz_semaphore *semaphore = (struct blz_semaphore *)object;
    if (semaphore->timeline != NULL)
        munmap((void *)semaphore->timeline, sizeof *semaphore->timeline);
    if (semaphore->file >= 0)
        close(semaphore->file);
    blr_delete(semaphore);
}

static bool is_eventfd(int file)
{
    char path[64], target[64] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    ssize_t length = readlink(path, target, sizeof target - 1);
    return length > 0 && strstr(target, "[eventfd]") != NULL;
}

static ze_result_t open_timeline(struct blz_semaphore *semaphore, int given)
{
    struct stat status;
    if (fstat(semaphore->file, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size < (off_t)sizeof *semaphore->timeline)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                        "file descriptor %d is no timeline: a file that begins with a number of 8 bytes is needed", given);
    void *mapped = mmap(NULL, sizeof *semaphore->timeline, PROT_READ | PROT_WRITE, MAP_SHARED, semaphore->file, 0);
    if (mapped == MAP_FAILED)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "file descriptor %d cannot be mapped: %s", given, strerror(errno));
    semaphore->timeline = mapped;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t import(const ze_external_semaphore_ext_desc_t *desc, const ze_external_semaphore_fd_ext_desc_t *given,
                          ze_external_semaphore_ext_handle_t *handle)
{
    bool timeline = desc->flags == ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_VK_TIMELINE_SEMAPHORE_FD;
    if (desc->flags == 0 || (desc->flags & ~(uint32_t)0x1ff) != 0)
        return blz_fail_enumeration("desc->flags", desc->flags, "one of the ZE_EXTERNAL_SEMAPHORE_EXT_FLAGs is needed");
    if (!timeline && desc->flags != ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_OPAQUE_FD)
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                        "desc->flags is 0x%x: OPAQUE_FD (1) or VK_TIMELINE_SEMAPHORE_FD (128) is supported", desc->flags);
    if (given == NULL)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "desc: chain a ze_external_semaphore_fd_ext_desc_t with the descriptor");
    struct blz_semaphore *semaphore = blr_new(sizeof *semaphore);
    if (semaphore == NULL)
        return blz_fail_memory("a semaphore");
    semaphore->file = fcntl(given->fd, F_DUPFD_CLOEXEC, 0);
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (semaphore->file < 0)
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "%d is no open file descriptor: %s", given->fd, strerror(errno));
    else if (timeline)
        result = open_timeline(semaphore, given->fd);
    else if (!is_eventfd(semaphore->file))
        result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                          "file descriptor %d is no semaphore of a processor: an eventfd is needed", given->fd);
    if (result == ZE_RESULT_SUCCESS)
        return blz_register(&semaphore->object, BLR_KIND_ZE_SEMAPHORE, destroy, handle);
    destroy(&semaphore->object);
    return result;
}

ze_result_t zeDeviceImportExternalSemaphoreExt(ze_device_handle_t device_handle, const ze_external_semaphore_ext_desc_t *desc,
                                               ze_external_semaphore_ext_handle_t *handle)
{
    struct blz_device *device;
    struct blz_extension extensions[] = {{ZE_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_FD_EXT_DESC, NULL},
                                         {ZE_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_WIN32_EXT_DESC, NULL}};
    ze_result_t result = blz_device_check(device_handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_EXT_DESC, "desc", extensions, 2);
    if (result == ZE_RESULT_SUCCESS && handle == NULL)
        result = blz_fail_null("phSemaphore");
    return result == ZE_RESULT_SUCCESS ? import(desc, extensions[0].found, handle) : result;
}

ze_result_t zeDeviceReleaseExternalSemaphoreExt(ze_external_semaphore_ext_handle_t handle)
{
    return blz_destroy(handle, BLR_KIND_ZE_SEMAPHORE);
}

/* ---------------------------------------------------------------- eventfds */

static ze_result_t fail_file(const struct blz_semaphore *semaphore, const char *what)
{
    return blz_fail(ZE_RESULT_ERROR_UNKNOWN, "an external semaphore (file descriptor %d) cannot be %s: %s", semaphore->file, what,
                    strerror(errno));
}

/* Whether the count was taken: another reader may have been first. */
static ze_result_t take_count(const struct blz_semaphore *semaphore, bool *taken)
{
    uint64_t count;
    struct iovec place = {&count, sizeof count};
    ssize_t length = preadv2(semaphore->file, &place, 1, -1, RWF_NOWAIT);
    if (length < 0 && errno == EOPNOTSUPP) /* old kernels */
        length = read(semaphore->file, &count, sizeof count);
    *taken = length == (ssize_t)sizeof count;
    return *taken || errno == EAGAIN || errno == EINTR ? ZE_RESULT_SUCCESS : fail_file(semaphore, "waited for");
}

static ze_result_t wait_count(const struct blz_semaphore *semaphore, uint64_t timeout)
{
    uint64_t begun = blr_clock_now();
    for (;;) {
        uint64_t spent = blr_clock_now() - begun;
        if (spent > timeout)
            return ZE_RESULT_NOT_READY;
        uint64_t left = (timeout - spent) / 1000000 + 1;
        struct pollfd place = {semaphore->file, POLLIN, 0};
        int ready = poll(&place, 1, left > 1000 ? 1000 : (int)left);
        bool taken = false;
        if (ready < 0 && errno != EINTR)
            return fail_file(semaphore, "waited for");
        if (ready > 0) {
            ze_result_t result = take_count(semaphore, &taken);
            if (taken || result != ZE_RESULT_SUCCESS)
                return result;
        }
    }
}

/* ---------------------------------------------------------------- timelines */

static ze_result_t wait_value(const struct blz_semaphore *semaphore, uint64_t value, uint64_t timeout)
{
    uint64_t begun = blr_clock_now();
    for (;;) {
        uint64_t now = atomic_load(semaphore->timeline);
        if (now >= value)
            return ZE_RESULT_SUCCESS;
        if (blr_clock_now() - begun > timeout)
            return ZE_RESULT_NOT_READY;
        struct timespec pause = {0, (long)LOOK_AGAIN};
        syscall(SYS_futex, semaphore->timeline, FUTEX_WAIT, (uint32_t)now, &pause, NULL, 0);
    }
}

static void raise_value(const struct blz_semaphore *semaphore, uint64_t value)
{
    uint64_t now = atomic_load(semaphore->timeline);
    while (now < value && !atomic_compare_exchange_weak(semaphore->timeline, &now, value))
        ;
    syscall(SYS_futex, semaphore->timeline, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---------------------------------------------------------------- both */

ze_result_t blz_semaphore_wait(struct blz_semaphore *semaphore, uint64_t value, uint64_t timeout)
{
    ze_result_t result =
        semaphore->timeline != NULL ? wait_value(semaphore, value, timeout) : wait_count(semaphore, timeout);
    atomic_load_explicit(&semaphore->signals, memory_order_acquire);
    return result;
}

ze_result_t blz_semaphore_signal(struct blz_semaphore *semaphore, uint64_t value)
{
    const uint64_t one = 1;
    atomic_fetch_add_explicit(&semaphore->signals, 1, memory_order_release);
    if (semaphore->timeline != NULL) {
        raise_value(semaphore, value);
        return ZE_RESULT_SUCCESS;
    }
    while (write(semaphore->file, &one, sizeof one) != (ssize_t)sizeof one)
        if (errno != EINTR)
            return fail_file(semaphore, "signalled");
    return ZE_RESULT_SUCCESS;
}
