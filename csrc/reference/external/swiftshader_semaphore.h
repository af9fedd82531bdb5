/*
 * The binary semaphore exported by SwiftShader: a page of shared memory (a memfd) that holds a process-shared mutex and
 * condition of the system's threads library, a user count, and the flag. It requires that this driver and SwiftShader
 * use the same threads library, glibc's.
 */
#ifndef BINDLESS_REFERENCE_EXTERNAL_SWIFTSHADER_SEMAPHORE_H
#define BINDLESS_REFERENCE_EXTERNAL_SWIFTSHADER_SEMAPHORE_H

#include "runtime/result.h"

/* Prefix of the file's name. */
#define BLR_SHARED_FLAG_NAME "/memfd:SwiftShader.Semaphore."

struct blr_shared_flag;

/* Maps the page and increments its user count. fd is the descriptor's number for error messages. */
blr_result_t blr_shared_flag_open(struct blr_shared_flag **flag, int file, int fd);
void blr_shared_flag_close(struct blr_shared_flag *flag);

/* Waits until the flag is set, and clears it; TIMEOUT at the deadline of blr_clock_now. */
blr_result_t blr_shared_flag_wait(struct blr_shared_flag *flag, uint64_t deadline);
blr_result_t blr_shared_flag_signal(struct blr_shared_flag *flag);

#endif
