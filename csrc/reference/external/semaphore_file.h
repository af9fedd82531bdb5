/*
 * Semaphores of other interfaces and processes, imported from a file descriptor:
 *
 *   binary     an eventfd: a signal adds 1, a wait resets the count. Or a semaphore exported by SwiftShader, recognised
 *              by its file's name: a mutex, a condition and a flag in shared memory. A wait clears the flag.
 *   timeline   a file (memfd) that begins with a 64-bit counter, which only increases. A signal sets it; a wait ends
 *              when it reaches a value. Other processes wake the futex at its low 32 bits when they signal; without
 *              that, the change is noticed within 10 ms.
 *
 * Semaphores of other drivers have neither form and cannot be imported.
 */
#ifndef BINDLESS_REFERENCE_EXTERNAL_SEMAPHORE_FILE_H
#define BINDLESS_REFERENCE_EXTERNAL_SEMAPHORE_FILE_H

#include "platform/shared.h"
#include "runtime/result.h"

#include <stdatomic.h>
#include <stdbool.h>

struct blr_shared_flag;

struct blr_semaphore {
    int file;                     /* duplicated descriptor, owned */
    _Atomic uint32_t signals;     /* signals of this process: orders writes before a signal, reads after a wait */
    _Atomic uint64_t *timeline;   /* mapped counter, or NULL */
    struct blr_shared_flag *flag; /* mapped semaphore of SwiftShader, or NULL */
};

/* Opens a semaphore of a kind; the caller keeps ownership of the given descriptor. A timeline begins at an offset of whole
 * pages, other semaphores at 0. */
BLR_SHARED blr_result_t blr_semaphore_open(struct blr_semaphore *semaphore, bool timeline, int file, uint64_t offset);
BLR_SHARED void blr_semaphore_close(struct blr_semaphore *semaphore);

/* Waits until the deadline of blr_clock_now at most, then fails with TIMEOUT. UNKNOWN when reading the descriptor
 * fails. value is used for timelines only. */
BLR_SHARED blr_result_t blr_semaphore_wait(struct blr_semaphore *semaphore, uint64_t value, uint64_t deadline);
BLR_SHARED blr_result_t blr_semaphore_signal(struct blr_semaphore *semaphore, uint64_t value);

/* blrExternalSemaphoreImport for a timeline at an offset of the file. */
BLR_SHARED blr_result_t blr_timeline_import(blr_context_t context, int32_t file, uint64_t offset, blr_external_semaphore_t *semaphore);

/* Fails with UNKNOWN after a timeout; the message names the semaphore by its handle and gives its current state. */
BLR_SHARED blr_result_t blr_semaphore_fail_late(const struct blr_semaphore *semaphore, uint64_t handle, uint64_t value, double seconds);

#endif
