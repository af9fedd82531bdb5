/* Command queue groups of a device, and the limits of its queues. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_DRIVER_DEVICE_H
#define BINDLESS_LEVEL_ZERO_DRIVER_DRIVER_DEVICE_H

#include "level_zero_driver/driver/driver.h"
#include "reference/memory/parallel_copy.h"

#define BLZ_MAX_FILL_PATTERN BLR_MAX_PATTERN
#define BLZ_NATIVE_KERNEL_UUID {'b', 'i', 'n', 'd', 'l', 'e', 's', 's', '-', 's', 'p', 'i', 'r', 'v', 0, 1}

/* One group for all commands, and one for copies only. */
#define BLZ_QUEUE_GROUPS 2u

struct blz_queue_group {
    ze_command_queue_group_property_flags_t flags;
    uint32_t queues;
};

/* Returns NULL for an invalid ordinal. */
const struct blz_queue_group *blz_queue_group(uint32_t ordinal);

#endif
