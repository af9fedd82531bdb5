/* Which devices and sub-devices there are, and which of them ZE_AFFINITY_MASK leaves. */
#ifndef BLZ_TOPOLOGY_H
#define BLZ_TOPOLOGY_H

#include "failure.h"

#define BLZ_TOPOLOGY_LIMIT 64u

struct blz_topology {
    uint32_t devices;
    uint32_t subdevices;                       /* of each device */
    uint64_t included[BLZ_TOPOLOGY_LIMIT];     /* bit s: sub-device s of the device is reported */
    bool whole[BLZ_TOPOLOGY_LIMIT];            /* the device itself was named, or all are reported */
};

/* Reads BINDLESS_LEVEL_ZERO_DEVICES; ZE_AFFINITY_MASK names ordinals D or D.S, and those that do not exist mean nothing. */
ze_result_t blz_topology_read(const char *devices, const char *mask, struct blz_topology *topology);

#endif
