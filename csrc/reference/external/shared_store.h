/* The store: memory that other processes can map, as ranges of one anonymous file. Pages are allocated at the first
 * access.
 *
 * Offsets are never reused: a range in the message of another process can become stale, but never name other memory.
 * The file starts with a token, by which a process verifies that it opened the right file; in front of each range lies
 * a page with its mark, by which it verifies that the range still exists. */
#ifndef BINDLESS_REFERENCE_EXTERNAL_SHARED_STORE_H
#define BINDLESS_REFERENCE_EXTERNAL_SHARED_STORE_H

#include "platform/shared.h"
#include "runtime/result.h"

#include <stdbool.h>

struct blr_store_range {
    uint64_t offset;
    uint64_t size; /* 0: no range */
};

/* The kinds of contents. */
enum blr_store_purpose { BLR_STORE_ZE_MEMORY = 1, BLR_STORE_ZE_EVENTS, BLR_STORE_CU_MEMORY, BLR_STORE_CU_EVENT };

/* The name of a range for other processes; fits into the 64 bytes of an IPC handle. */
struct blr_store_name {
    uint64_t magic;
    uint64_t token[2];
    uint32_t process;
    uint32_t file;
    uint64_t offset, size;
    uint32_t purpose;
    uint32_t detail;
};

/* Allocates a range of zeroed whole pages. Fails with OUT_OF_MEMORY when the file cannot be created or grown. */
BLR_SHARED blr_result_t blr_store_allocate(uint64_t size, struct blr_store_range *range);
BLR_SHARED void blr_store_free(const struct blr_store_range *range);

/* Maps a range of this process's store, at address unless it is NULL; NULL after blr_fail. */
BLR_SHARED void *blr_store_map(const struct blr_store_range *range, void *address);

/* Moves whole pages of private memory into a new range, mapped at the same addresses. Nothing may access them
 * meanwhile. Fails with OUT_OF_MEMORY. */
BLR_SHARED blr_result_t blr_store_move(void *pages, uint64_t size, struct blr_store_range *range);

BLR_SHARED struct blr_store_name blr_store_name(const struct blr_store_range *range, enum blr_store_purpose purpose, uint32_t detail);

/* Whether 64 bytes are a name with this purpose, and whether it is one of this process. */
BLR_SHARED bool blr_store_is_name(const struct blr_store_name *name, enum blr_store_purpose purpose);
BLR_SHARED bool blr_store_is_own(const struct blr_store_name *name);

/* Opens the file that has the range of a name, or maps the range. Fails with INVALID_ARGUMENT for an invalid name,
 * a range that was freed, and when the process has ended. */
BLR_SHARED blr_result_t blr_store_open_file(const struct blr_store_name *name, enum blr_store_purpose purpose, int *file);
BLR_SHARED blr_result_t blr_store_open(const struct blr_store_name *name, enum blr_store_purpose purpose, void **address);

#endif
