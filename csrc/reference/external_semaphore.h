/*
 * Semaphores of other interfaces and processes, by a file descriptor:
 *
 *   binary     an eventfd: signalling adds 1, a wait takes what is there;
 *              or a semaphore that SwiftShader exports, known by its file's name: a lock, a condition and a flag in memory
 *              that processes share. A wait takes the flag back.
 *   timeline   a file (memfd) that begins with a number of 64 bits, which only grows. Signalling sets it, a wait ends when it
 *              has come to a value. Whoever changes it elsewhere wakes the futex at its low 32 bits, or is seen within a
 *              hundredth of a second.
 *
 * That is what a processor has of them: no other driver's semaphores are any of these.
 */
#ifndef BLR_EXTERNAL_SEMAPHORE_H
#define BLR_EXTERNAL_SEMAPHORE_H

#include "result.h"

#include <stdatomic.h>
#include <stdbool.h>

struct blr_shared_flag;

struct blr_semaphore {
    int file;                     /* a descriptor of its own */
    _Atomic uint32_t signals;     /* of this process: what was written before one is seen after a wait for it */
    _Atomic uint64_t *timeline;   /* the mapped number, or NULL */
    struct blr_shared_flag *flag; /* SwiftShader's, mapped, or NULL */
};

/* Opens a semaphore of a kind; the descriptor given stays the caller's. */
blr_result_t blr_semaphore_open(struct blr_semaphore *semaphore, bool timeline, int file);
void blr_semaphore_close(struct blr_semaphore *semaphore);

/* Waits at most until the deadline of blr_clock_now: TIMEOUT then. UNKNOWN for a descriptor that fails. value counts for
 * timelines alone. */
blr_result_t blr_semaphore_wait(struct blr_semaphore *semaphore, uint64_t value, uint64_t deadline);
blr_result_t blr_semaphore_signal(struct blr_semaphore *semaphore, uint64_t value);

/* Fails with UNKNOWN, for the wait is over, and a sentence that says by its handle which semaphore a wait was for, and how
 * it stands. */
blr_result_t blr_semaphore_fail_late(const struct blr_semaphore *semaphore, uint64_t handle, uint64_t value, double seconds);

#endif
