/*
 * Threads, locks, conditions and the monotonic clock; the only file that distinguishes POSIX and Windows.
 *
 * Locks and conditions are initialised statically (BLR_MUTEX_INIT) or by their init function. Conditions use the
 * monotonic clock; a deadline is in nanoseconds of blr_clock_now, UINT64_MAX for none. New threads have the default
 * rounding and denormal modes, independent of the starting thread's.
 */
#ifndef BINDLESS_REFERENCE_PLATFORM_THREADS_H
#define BINDLESS_REFERENCE_PLATFORM_THREADS_H

#include "fp_environment.h"

#include <stdbool.h>
#include <stdint.h>

#define BLR_NO_DEADLINE UINT64_MAX

enum { BLR_THREAD_STACK = 8 << 20 }; /* bytes: tasks keep tables and the lanes of a batch on the stack */

/* Lets the processor's other thread run between two looks at a value that is polled. */
static inline void blr_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

typedef void (*blr_thread_function_t)(void *argument);

#if defined(_WIN32)

#include <process.h>
#include <stdlib.h>
#include <windows.h>

typedef struct blr_mutex {
    SRWLOCK lock;
} blr_mutex_t;
typedef struct blr_condition {
    CONDITION_VARIABLE variable;
} blr_condition_t;
typedef HANDLE blr_thread_t;

#define BLR_MUTEX_INIT {SRWLOCK_INIT}

static inline void blr_mutex_init(blr_mutex_t *mutex) { InitializeSRWLock(&mutex->lock); }
static inline void blr_mutex_destroy(blr_mutex_t *mutex) { (void)mutex; }
static inline void blr_mutex_lock(blr_mutex_t *mutex) { AcquireSRWLockExclusive(&mutex->lock); }
static inline void blr_mutex_unlock(blr_mutex_t *mutex) { ReleaseSRWLockExclusive(&mutex->lock); }

static inline void blr_condition_init(blr_condition_t *condition) { InitializeConditionVariable(&condition->variable); }
static inline void blr_condition_destroy(blr_condition_t *condition) { (void)condition; }
static inline void blr_condition_signal(blr_condition_t *condition) { WakeConditionVariable(&condition->variable); }
static inline void blr_condition_broadcast(blr_condition_t *condition) { WakeAllConditionVariable(&condition->variable); }

static inline void blr_thread_yield(void) { SwitchToThread(); }

static inline uint64_t blr_clock_now(void)
{
    LARGE_INTEGER count, frequency;
    QueryPerformanceCounter(&count);
    QueryPerformanceFrequency(&frequency);
    uint64_t seconds = (uint64_t)count.QuadPart / (uint64_t)frequency.QuadPart;
    uint64_t rest = (uint64_t)count.QuadPart % (uint64_t)frequency.QuadPart;
    return seconds * 1000000000u + rest * 1000000000u / (uint64_t)frequency.QuadPart;
}

/* False when the deadline passed. */
static inline bool blr_condition_wait(blr_condition_t *condition, blr_mutex_t *mutex, uint64_t deadline)
{
    DWORD milliseconds = INFINITE;
    if (deadline != BLR_NO_DEADLINE) {
        uint64_t now = blr_clock_now();
        if (now >= deadline)
            return false;
        uint64_t rest = (deadline - now + 999999u) / 1000000u;
        milliseconds = rest >= INFINITE ? INFINITE - 1 : (DWORD)rest;
    }
    return SleepConditionVariableSRW(&condition->variable, &mutex->lock, milliseconds, 0) != 0;
}

struct blr_thread_start {
    blr_thread_function_t function;
    void *argument;
};

static inline unsigned __stdcall blr_thread_entry(void *pointer)
{
    struct blr_thread_start start = *(struct blr_thread_start *)pointer;
    free(pointer);
    blr_environment_set_default();
    start.function(start.argument);
    return 0;
}

static inline bool blr_thread_create(blr_thread_t *thread, blr_thread_function_t function, void *argument)
{
    struct blr_thread_start *start = malloc(sizeof *start);
    if (start == NULL)
        return false;
    start->function = function;
    start->argument = argument;
    *thread = (HANDLE)_beginthreadex(NULL, BLR_THREAD_STACK, blr_thread_entry, start, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    if (*thread == NULL)
        free(start);
    return *thread != NULL;
}

static inline void blr_thread_join(blr_thread_t thread)
{
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
}

static inline void blr_thread_detach(blr_thread_t thread) { CloseHandle(thread); }

static inline int blr_watch_forks(void (*in_child)(void)) { return in_child == NULL; /* this system has no fork */ }

#else

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

typedef struct blr_mutex {
    pthread_mutex_t lock;
} blr_mutex_t;
typedef struct blr_condition {
    pthread_cond_t variable;
} blr_condition_t;
typedef pthread_t blr_thread_t;

#define BLR_MUTEX_INIT {PTHREAD_MUTEX_INITIALIZER}

/* Calls a function in the child of each fork, before any other code of this process; 0, or an error. */
static inline int blr_watch_forks(void (*in_child)(void)) { return pthread_atfork(NULL, NULL, in_child); }

static inline void blr_mutex_init(blr_mutex_t *mutex) { pthread_mutex_init(&mutex->lock, NULL); }
static inline void blr_mutex_destroy(blr_mutex_t *mutex) { pthread_mutex_destroy(&mutex->lock); }
static inline void blr_mutex_lock(blr_mutex_t *mutex) { pthread_mutex_lock(&mutex->lock); }
static inline void blr_mutex_unlock(blr_mutex_t *mutex) { pthread_mutex_unlock(&mutex->lock); }

static inline void blr_condition_init(blr_condition_t *condition)
{
#if defined(__APPLE__)
    pthread_cond_init(&condition->variable, NULL);
#else
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&condition->variable, &attributes);
    pthread_condattr_destroy(&attributes);
#endif
}
static inline void blr_condition_destroy(blr_condition_t *condition) { pthread_cond_destroy(&condition->variable); }
static inline void blr_condition_signal(blr_condition_t *condition) { pthread_cond_signal(&condition->variable); }
static inline void blr_condition_broadcast(blr_condition_t *condition) { pthread_cond_broadcast(&condition->variable); }

static inline void blr_thread_yield(void) { sched_yield(); }

static inline uint64_t blr_clock_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* False when the deadline passed. */
static inline bool blr_condition_wait(blr_condition_t *condition, blr_mutex_t *mutex, uint64_t deadline)
{
    if (deadline == BLR_NO_DEADLINE)
        return pthread_cond_wait(&condition->variable, &mutex->lock) == 0;
    uint64_t now = blr_clock_now();
    if (now >= deadline)
        return false;
#if defined(__APPLE__)
    uint64_t rest = deadline - now;
    struct timespec time = {.tv_sec = (time_t)(rest / 1000000000u), .tv_nsec = (long)(rest % 1000000000u)};
    return pthread_cond_timedwait_relative_np(&condition->variable, &mutex->lock, &time) == 0;
#else
    struct timespec time = {.tv_sec = (time_t)(deadline / 1000000000u), .tv_nsec = (long)(deadline % 1000000000u)};
    return pthread_cond_timedwait(&condition->variable, &mutex->lock, &time) == 0;
#endif
}

struct blr_thread_start {
    blr_thread_function_t function;
    void *argument;
};

static inline void *blr_thread_entry(void *pointer)
{
    struct blr_thread_start start = *(struct blr_thread_start *)pointer;
    free(pointer);
    blr_environment_set_default();
    start.function(start.argument);
    return NULL;
}

/* Gives a thread the stack that it needs, where the default is smaller: musl's is 128 KiB, macOS's 512 KiB. */
static inline bool blr_thread_has_stack(pthread_attr_t *attributes)
{
    size_t size = 0;
    return pthread_attr_getstacksize(attributes, &size) == 0 &&
           (size >= BLR_THREAD_STACK || pthread_attr_setstacksize(attributes, BLR_THREAD_STACK) == 0);
}

/* The new thread blocks all signals: the program's own threads handle them. */
static inline bool blr_thread_create(blr_thread_t *thread, blr_thread_function_t function, void *argument)
{
    struct blr_thread_start *start = malloc(sizeof *start);
    if (start == NULL)
        return false;
    start->function = function;
    start->argument = argument;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_t attributes;
    bool success = pthread_attr_init(&attributes) == 0;
    if (success) {
        success = blr_thread_has_stack(&attributes) && pthread_create(thread, &attributes, blr_thread_entry, start) == 0;
        pthread_attr_destroy(&attributes);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!success)
        free(start);
    return success;
}

static inline void blr_thread_join(blr_thread_t thread) { pthread_join(thread, NULL); }
static inline void blr_thread_detach(blr_thread_t thread) { pthread_detach(thread); }

#endif

/* The time a number of nanoseconds from now, without overflow. */
static inline uint64_t blr_clock_deadline(uint64_t timeout)
{
    uint64_t now = blr_clock_now();
    /* A deadline centuries away counts as none; it must also fit the operating system's time type. */
    return timeout > (uint64_t)INT64_MAX / 2 ? BLR_NO_DEADLINE : now + timeout;
}

#endif
