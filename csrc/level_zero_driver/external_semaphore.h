/*
 * Semaphores of other interfaces and processes, by a file descriptor:
 *
 *   ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_OPAQUE_FD                  an eventfd. Signalling adds 1, a wait takes what is there: the values of
 *                                                             the calls' parameters do not count.
 *   ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_VK_TIMELINE_SEMAPHORE_FD   a file (memfd) that begins with a number of 64 bits, which only grows.
 *                                                             Signalling sets it, a wait ends when it has come to a value. Whoever
 *                                                             changes it elsewhere wakes the futex at its low 32 bits, or is seen
 *                                                             within a hundredth of a second.
 *
 * That is what a processor has of them: no other driver's semaphores are either.
 */
#ifndef BLZ_EXTERNAL_SEMAPHORE_H
#define BLZ_EXTERNAL_SEMAPHORE_H

#include "handle.h"

#include <stdatomic.h>

struct blz_semaphore {
    struct blr_object object;
    int file;                   /* a descriptor of its own */
    _Atomic uint32_t signals;   /* of this process: what was written before one is seen after a wait for it */
    _Atomic uint64_t *timeline; /* the mapped number, or NULL for an eventfd */
};

/* Waits at most so many nanoseconds: NOT_READY then. UNKNOWN for a descriptor that fails. */
ze_result_t blz_semaphore_wait(struct blz_semaphore *semaphore, uint64_t value, uint64_t timeout);
ze_result_t blz_semaphore_signal(struct blz_semaphore *semaphore, uint64_t value);

#endif
