/*
 * The threads that share the work of one command: as many as the process may use processors.
 *
 * BINDLESS_REFERENCE_THREADS sets their number. The thread that calls blr_parallel_for is one of them, so a pool of
 * n has n - 1 helpers, started when work first needs them. Several calls may run at once; they share the helpers.
 */
#ifndef BLR_THREAD_POOL_H
#define BLR_THREAD_POOL_H

#include "result.h"

#include <stdbool.h>

/* Works on [begin, end). Returns false to say that no further part needs to be handed out. */
typedef bool (*blr_range_function_t)(void *argument, uint64_t begin, uint64_t end);

/* Threads of the pool; fails when the environment variable is not a number from 1 to 1024. */
blr_result_t blr_thread_pool_size(uint32_t *size);

/* Splits [0, total) into parts of grain and runs them on this thread and the helpers, in ascending order of their
 * start. Returns when all parts that were handed out are done: when one asked to stop, every part before it was
 * handed out and is done too. */
void blr_parallel_for(uint64_t total, uint64_t grain, blr_range_function_t function, void *argument);

/* A grain for so many items that gives each thread several parts of at least smallest items. */
uint64_t blr_parallel_grain(uint64_t total, uint64_t smallest);

#endif
