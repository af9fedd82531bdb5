/*
 * The thread pool that parallelises single commands: one thread for each processor available to the process, or as many
 * as BINDLESS_REFERENCE_THREADS says.
 *
 * The thread that calls blr_parallel_for is one of them, so a pool of n has n - 1 helpers, started at first use.
 * Concurrent calls share the helpers.
 */
#ifndef BINDLESS_REFERENCE_PLATFORM_THREAD_POOL_H
#define BINDLESS_REFERENCE_PLATFORM_THREAD_POOL_H

#include "runtime/result.h"

#include <stdbool.h>

/* Processes [begin, end). Returns false to stop the distribution of further parts. */
typedef bool (*blr_range_function_t)(void *argument, uint64_t begin, uint64_t end);

/* Number of threads of the pool; fails when the environment variable is not a number from 1 to 1024. */
blr_result_t blr_thread_pool_size(uint32_t *size);

/* Splits [0, total) into parts of grain items and runs them on this thread and the helpers, distributed in ascending
 * order. Returns when all distributed parts are complete. If a part requests a stop, every part before it is
 * complete too. */
void blr_parallel_for(uint64_t total, uint64_t grain, blr_range_function_t function, void *argument);

/* A grain that gives each thread several parts of at least smallest items. */
uint64_t blr_parallel_grain(uint64_t total, uint64_t smallest);

#endif
