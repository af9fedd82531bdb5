/* An ordered map from ranges of addresses, or numbers, to values. Callers lock. */
#ifndef BINDLESS_CUDA_DRIVER_CORE_ADDRESS_MAP_H
#define BINDLESS_CUDA_DRIVER_CORE_ADDRESS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bcu_range {
    uint64_t base, size;
    void *value;
};

struct bcu_map {
    struct bcu_range *ranges; /* by base */
    size_t count, room;
};

/* False without memory. The range is disjoint from all others. */
bool bcu_map_add(struct bcu_map *map, uint64_t base, uint64_t size, void *value);

/* The value of the range that contains the address, or NULL. */
void *bcu_map_find(const struct bcu_map *map, uint64_t address);

/* Removes the range that starts at the address and returns its value, or NULL. */
void *bcu_map_remove(struct bcu_map *map, uint64_t base);

#endif
