/* Binary semaphores shared with SwiftShader: a process-shared mutex, condition and flag in mapped memory. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "external/swiftshader_semaphore.h"

#include "platform/threads.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

struct blr_shared_flag {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int32_t users;
    uint8_t set;
};

#define LONGEST_LOCK ((uint64_t)10 * 1000000000) /* nanoseconds: the lock is held briefly, unless its holder died */

#if defined(__GLIBC__)

/* Absolute time for condition and mutex, which use the real-time clock. */
static struct timespec day_time(uint64_t from_now)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    uint64_t nanoseconds = (uint64_t)time.tv_nsec + from_now;
    time.tv_sec += (time_t)(nanoseconds / 1000000000u);
    time.tv_nsec = (long)(nanoseconds % 1000000000u);
    return time;
}

static blr_result_t lock(struct blr_shared_flag *flag)
{
    struct timespec latest = day_time(LONGEST_LOCK);
    int reason = pthread_mutex_timedlock(&flag->mutex, &latest);
    if (reason == 0)
        return BLR_RESULT_SUCCESS;
    return blr_fail(BLR_RESULT_UNKNOWN, "the lock of a semaphore of SwiftShader cannot be acquired: %s; its holder "
                                        "may have died",
                    strerror(reason));
}

blr_result_t blr_shared_flag_open(struct blr_shared_flag **flag, int file, int fd)
{
    struct stat status;
    if (fstat(file, &status) != 0 || status.st_size < (off_t)sizeof **flag)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "file descriptor %d has the name of a semaphore of SwiftShader, "
                                                     "but not its size", fd);
    struct blr_shared_flag *mapped = mmap(NULL, sizeof *mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "file descriptor %d cannot be mapped: %s", fd, strerror(errno));
    blr_result_t result = lock(mapped);
    if (result == BLR_RESULT_SUCCESS) {
        if (mapped->users < 1 || mapped->set > 1)
            result = blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                              "file descriptor %d has the name of a semaphore of SwiftShader, but not its contents",
                              fd);
        else
            mapped->users++;
        pthread_mutex_unlock(&mapped->mutex);
    }
    if (result == BLR_RESULT_SUCCESS)
        *flag = mapped;
    else
        munmap(mapped, sizeof *mapped);
    return result;
}

void blr_shared_flag_close(struct blr_shared_flag *flag)
{
    bool last = false;
    if (lock(flag) == BLR_RESULT_SUCCESS) {
        last = --flag->users == 0;
        pthread_mutex_unlock(&flag->mutex);
    }
    if (last) {
        pthread_cond_destroy(&flag->changed);
        pthread_mutex_destroy(&flag->mutex);
    }
    munmap(flag, sizeof *flag);
}

blr_result_t blr_shared_flag_wait(struct blr_shared_flag *flag, uint64_t deadline)
{
    blr_result_t result = lock(flag);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    while (!flag->set) {
        uint64_t now = blr_clock_now();
        if (now >= deadline) {
            result = BLR_RESULT_TIMEOUT;
            break;
        }
        uint64_t rest = deadline - now, maximum = 1000000000u;
        struct timespec latest = day_time(rest < maximum ? rest : maximum);
        pthread_cond_timedwait(&flag->changed, &flag->mutex, &latest);
    }
    if (result == BLR_RESULT_SUCCESS)
        flag->set = 0;
    pthread_mutex_unlock(&flag->mutex);
    return result;
}

blr_result_t blr_shared_flag_signal(struct blr_shared_flag *flag)
{
    blr_result_t result = lock(flag);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    flag->set = 1;
    pthread_cond_broadcast(&flag->changed);
    pthread_mutex_unlock(&flag->mutex);
    return BLR_RESULT_SUCCESS;
}

#else

static blr_result_t fail_library(void)
{
    return blr_fail(BLR_RESULT_UNSUPPORTED, "semaphores of SwiftShader consist of glibc's locks: this driver was "
                                            "built without glibc");
}

blr_result_t blr_shared_flag_open(struct blr_shared_flag **flag, int file, int fd)
{
    (void)flag, (void)file, (void)fd;
    return fail_library();
}

void blr_shared_flag_close(struct blr_shared_flag *flag) { (void)flag; }

blr_result_t blr_shared_flag_wait(struct blr_shared_flag *flag, uint64_t deadline)
{
    (void)flag, (void)deadline;
    return fail_library();
}

blr_result_t blr_shared_flag_signal(struct blr_shared_flag *flag)
{
    (void)flag;
    return fail_library();
}

#endif
