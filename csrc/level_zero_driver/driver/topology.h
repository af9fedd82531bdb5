/* The devices and sub-devices of the machine, and the selection by ZE_FLAT_DEVICE_HIERARCHY and ZE_AFFINITY_MASK. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_DRIVER_TOPOLOGY_H
#define BINDLESS_LEVEL_ZERO_DRIVER_DRIVER_TOPOLOGY_H

#include "level_zero_driver/core/result.h"

#define BLZ_TOPOLOGY_LIMIT 64u

/* ZE_FLAT_DEVICE_HIERARCHY: what zeDeviceGet reports. */
enum blz_hierarchy {
    BLZ_COMPOSITE, /* devices, which have sub-devices */
    BLZ_FLAT,      /* what has no sub-devices, as devices of their own */
    BLZ_COMBINED,  /* the same, and from there a way to the device that they are part of */
};

struct blz_topology {
    enum blz_hierarchy hierarchy;
    uint32_t devices;
    uint32_t subdevices;                       /* of each device */
    uint64_t included[BLZ_TOPOLOGY_LIMIT];     /* bit s: sub-device s of the device is reported */
    bool whole[BLZ_TOPOLOGY_LIMIT];            /* the device itself is selected, or all are */
};

/* Reads BINDLESS_LEVEL_ZERO_DEVICES and ZE_FLAT_DEVICE_HIERARCHY. ZE_AFFINITY_MASK names ordinals D or D.S, or those of sub-devices of
 * all devices where the hierarchy is not composite; ordinals that do not exist mean nothing. */
ze_result_t blz_topology_read(const char *devices, const char *hierarchy, const char *mask, struct blz_topology *topology);

#endif
