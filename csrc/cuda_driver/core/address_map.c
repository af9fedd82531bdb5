/* The map of addresses: a sorted array. */
#include "cuda_driver/core/address_map.h"

#include <stdlib.h>
#include <string.h>

/* Index of the first range with a base above the address. */
static size_t above(const struct bcu_map *map, uint64_t address)
{
    size_t low = 0, high = map->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (map->ranges[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool bcu_map_add(struct bcu_map *map, uint64_t base, uint64_t size, void *value)
{
    if (map->count == map->room) {
        size_t room = map->room == 0 ? 64 : 2 * map->room;
        struct bcu_range *ranges = realloc(map->ranges, room * sizeof *ranges);
        if (ranges == NULL)
            return false;
        map->ranges = ranges;
        map->room = room;
    }
    size_t index = above(map, base);
    memmove(&map->ranges[index + 1], &map->ranges[index], (map->count - index) * sizeof *map->ranges);
    map->ranges[index] = (struct bcu_range){base, size, value};
    map->count++;
    return true;
}

void *bcu_map_find(const struct bcu_map *map, uint64_t address)
{
    size_t index = above(map, address);
    if (index == 0)
        return NULL;
    const struct bcu_range *range = &map->ranges[index - 1];
    return address - range->base < range->size ? range->value : NULL;
}

void *bcu_map_remove(struct bcu_map *map, uint64_t base)
{
    size_t index = above(map, base);
    if (index == 0 || map->ranges[index - 1].base != base)
        return NULL;
    void *value = map->ranges[index - 1].value;
    memmove(&map->ranges[index - 1], &map->ranges[index], (map->count - index) * sizeof *map->ranges);
    map->count--;
    return value;
}
