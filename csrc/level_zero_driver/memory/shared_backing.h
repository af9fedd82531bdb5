/* The store: memory that other processes can map, as ranges of one anonymous file. Pages are allocated at the first
 * access.
 *
 * Offsets are never reused: a range in the message of another process can become stale, but never name other memory.
 * The file starts with a token, by which a process verifies that it opened the right file. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_MEMORY_SHARED_BACKING_H
#define BINDLESS_LEVEL_ZERO_DRIVER_MEMORY_SHARED_BACKING_H

#include "level_zero_driver/core/result.h"

struct blz_store_range {
    uint64_t offset;
    uint64_t size; /* 0: no range */
};

/* The name of a range in IPC handles; fits into 64 bytes. */
struct blz_store_name {
    uint64_t magic;
    uint64_t token[2];
    uint32_t process;
    uint32_t file;
    uint64_t offset, size;
    uint32_t purpose; /* the kind of contents */
    uint32_t detail;
};

/* Allocates a range of zeroed whole pages. Fails with OUT_OF_HOST_MEMORY when the file cannot be created or grown. */
ze_result_t blz_store_allocate(uint64_t size, struct blz_store_range *range);
void blz_store_free(const struct blz_store_range *range);

/* Maps a range of this process's store, at address unless it is NULL; NULL after blz_fail. */
void *blz_store_map(const struct blz_store_range *range, void *address);

ze_result_t blz_store_name(const struct blz_store_range *range, uint32_t purpose, uint32_t detail, struct blz_store_name *name);

/* Maps the range that a name of any process refers to. Fails with INVALID_ARGUMENT for an invalid name, or when the
   process has ended. */
ze_result_t blz_store_open(const struct blz_store_name *name, uint32_t purpose, void **address);

#endif
