/*
 * The binary semaphore that SwiftShader exports: a page of memory (a memfd) which processes map, with a lock and a condition of the
 * system's threads library that work between processes, a count of those that use it, and the flag. It works where this driver
 * and SwiftShader have the same threads library, glibc's.
 */
#ifndef BLR_SHARED_FLAG_H
#define BLR_SHARED_FLAG_H

#include "result.h"

/* How the file's name begins. */
#define BLR_SHARED_FLAG_NAME "/memfd:SwiftShader.Semaphore."

struct blr_shared_flag;

/* Maps it and counts itself as a user. given is the number to name in a failure. */
blr_result_t blr_shared_flag_open(struct blr_shared_flag **flag, int file, int given);
void blr_shared_flag_close(struct blr_shared_flag *flag);

/* Takes the flag back once it is set; TIMEOUT at the deadline of blr_clock_now. */
blr_result_t blr_shared_flag_wait(struct blr_shared_flag *flag, uint64_t deadline);
blr_result_t blr_shared_flag_signal(struct blr_shared_flag *flag);

#endif
