/* The thread pool: helpers, their number, and parallel loops. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "platform/thread_pool.h"

#include "runtime/object.h"
#include "platform/threads.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__linux__)
#include <sched.h>
#endif
#if !defined(_WIN32)
#include <unistd.h>
#endif

#define MAX_THREADS 1024
#define PARTS_PER_THREAD 8

/* A blr_parallel_for in progress, on the caller's stack. */
struct job {
    struct job *next;
    blr_range_function_t function;
    void *argument;
    uint64_t total;
    uint64_t grain;
    _Atomic uint64_t handed_out;
    uint32_t helpers; /* helpers at work on it; guarded by the lock */
    blr_condition_t finished;
};

static blr_mutex_t mutex = BLR_MUTEX_INIT;
static blr_condition_t work;
static struct job *jobs;
static uint32_t helpers_started;
static uint32_t helpers_idle;
static bool configured;
static bool valid;
static uint32_t pool_size;
static char given_text[64];

/* Number of processors that the control group permits; UINT32_MAX without a limit. */
static uint32_t group_processors(void)
{
    uint32_t limit = UINT32_MAX;
#if defined(__linux__)
    FILE *file = fopen("/sys/fs/cgroup/cpu.max", "re");
    if (file == NULL)
        return limit;
    unsigned long long quota = 0, period = 0;
    if (fscanf(file, "%llu %llu", &quota, &period) == 2 && quota > 0 && period > 0)
        limit = (uint32_t)((quota + period - 1) / period);
    fclose(file);
#endif
    return limit;
}

static uint32_t processors(void)
{
#if defined(_WIN32)
    SYSTEM_INFO system;
    GetSystemInfo(&system);
    return system.dwNumberOfProcessors;
#else
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (uint32_t)CPU_COUNT(&set);
#endif
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
#endif
}

static void configure(void)
{
    const char *text = getenv("BINDLESS_REFERENCE_THREADS");
    configured = true;
    valid = true;
    blr_condition_init(&work);
    if (text == NULL || *text == '\0') {
        uint32_t own = processors(), group = group_processors();
        pool_size = own < group ? own : group;
    } else {
        char *end = NULL;
        errno = 0;
        long number = strtol(text, &end, 10);
        valid = errno == 0 && *end == '\0' && number >= 1 && number <= MAX_THREADS;
        pool_size = valid ? (uint32_t)number : 1;
        size_t length = 0;
        for (; length + 1 < sizeof given_text && text[length] != '\0'; length++)
            given_text[length] = text[length];
        given_text[length] = '\0';
    }
    if (pool_size > MAX_THREADS)
        pool_size = MAX_THREADS;
}

blr_result_t blr_thread_pool_size(uint32_t *size)
{
    blr_mutex_lock(&mutex);
    if (!configured)
        configure();
    *size = pool_size;
    bool ok = valid;
    blr_mutex_unlock(&mutex);
    if (!ok)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "BINDLESS_REFERENCE_THREADS is '%s': a number from 1 to %d is needed; unset it to use every "
                        "processor",
                        given_text, MAX_THREADS);
    return BLR_RESULT_SUCCESS;
}

static void run_parts(struct job *job)
{
    for (;;) {
        uint64_t begin = atomic_fetch_add_explicit(&job->handed_out, job->grain, memory_order_relaxed);
        if (begin >= job->total)
            return;
        uint64_t end = job->total - begin < job->grain ? job->total : begin + job->grain;
        if (!job->function(job->argument, begin, end))
            atomic_store_explicit(&job->handed_out, job->total, memory_order_relaxed);
    }
}

static bool has_parts(struct job *job)
{
    return atomic_load_explicit(&job->handed_out, memory_order_relaxed) < job->total;
}

static struct job *find_job(void)
{
    for (struct job *job = jobs; job != NULL; job = job->next)
        if (has_parts(job))
            return job;
    return NULL;
}

static void help(void *argument)
{
    (void)argument;
    blr_mutex_lock(&mutex);
    for (;;) {
        struct job *job = find_job();
        if (job == NULL) {
            helpers_idle++;
            blr_condition_wait(&work, &mutex, BLR_NO_DEADLINE);
            helpers_idle--;
            continue;
        }
        job->helpers++;
        blr_mutex_unlock(&mutex);
        run_parts(job);
        blr_mutex_lock(&mutex);
        if (--job->helpers == 0)
            blr_condition_signal(&job->finished);
    }
}

/* Wakes up to number helpers; starts threads up to the pool's size. Needs the lock. */
static void call_helpers(uint64_t number)
{
    for (uint32_t idle = helpers_idle; idle > 0 && number > 0; idle--, number--)
        blr_condition_signal(&work);
    while (number > 0 && helpers_started + 1 < pool_size) {
        blr_thread_t thread;
        blr_process_has_threads();
        if (!blr_thread_create(&thread, help, NULL))
            return; /* fewer threads do the work */
        blr_thread_detach(thread);
        helpers_started++;
        number--;
    }
}

void blr_parallel_for(uint64_t total, uint64_t grain, blr_range_function_t function, void *argument)
{
    uint32_t size = 1;
    if (grain == 0)
        grain = 1;
    if (total <= grain || blr_thread_pool_size(&size) != BLR_RESULT_SUCCESS || size == 1) {
        for (uint64_t begin = 0; begin < total;) {
            uint64_t end = total - begin < grain ? total : begin + grain;
            if (!function(argument, begin, end))
                return;
            begin = end;
        }
        return;
    }
    uint64_t parts = (total - 1) / grain + 1;
    struct job job = {.function = function, .argument = argument, .total = total, .grain = grain};
    blr_condition_init(&job.finished);
    blr_mutex_lock(&mutex);
    struct job **last = &jobs;
    while (*last != NULL)
        last = &(*last)->next;
    *last = &job;
    call_helpers(parts - 1 < size - 1 ? parts - 1 : size - 1);
    blr_mutex_unlock(&mutex);
    run_parts(&job);
    blr_mutex_lock(&mutex);
    for (struct job **link = &jobs; *link != NULL; link = &(*link)->next)
        if (*link == &job) {
            *link = job.next;
            break;
        }
    while (job.helpers > 0)
        blr_condition_wait(&job.finished, &mutex, BLR_NO_DEADLINE);
    blr_mutex_unlock(&mutex);
    blr_condition_destroy(&job.finished);
}

uint64_t blr_parallel_grain(uint64_t total, uint64_t smallest)
{
    uint32_t size = 1;
    if (blr_thread_pool_size(&size) != BLR_RESULT_SUCCESS)
        size = 1;
    uint64_t grain = total / ((uint64_t)size * PARTS_PER_THREAD) + 1;
    return grain < smallest ? smallest : grain;
}
