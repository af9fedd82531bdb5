/*
 * Memory that other processes can map: ranges of one file without a name, whose pages exist once they are touched.
 *
 * Ranges are never given out twice, so that an address in a message of another process can become stale but never
 * mean something else. The file starts with a token, by which a process knows that it opened the right one.
 */
#ifndef BLZ_STORE_H
#define BLZ_STORE_H

#include "failure.h"

struct blz_store_range {
    uint64_t offset;
    uint64_t size; /* 0: no range */
};

/* What a range is called in the handles that processes pass to each other: fits into 64 bytes. */
struct blz_store_name {
    uint64_t magic;
    uint64_t token[2];
    uint32_t process;
    uint32_t file;
    uint64_t offset, size;
    uint32_t purpose; /* what the range holds */
    uint32_t detail;
};

/* A range of whole pages, of zeros. OUT_OF_HOST_MEMORY when there is no file to be had. */
ze_result_t blz_store_allocate(uint64_t size, struct blz_store_range *range);
void blz_store_free(const struct blz_store_range *range);

/* Maps a range of this process's store, at an address when that is not NULL; NULL after blz_fail. */
void *blz_store_map(const struct blz_store_range *range, void *address);

ze_result_t blz_store_name(const struct blz_store_range *range, uint32_t purpose, uint32_t detail, struct blz_store_name *name);

/* Maps the range that a name of any process says. INVALID_ARGUMENT for one that is none, or of a process that is gone. */
ze_result_t blz_store_open(const struct blz_store_name *name, uint32_t purpose, void **address);

#endif
