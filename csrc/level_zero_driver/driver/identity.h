/* The Intel GPU that the devices of this driver claim to be, for programs that choose code by the numbers of a device. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_DRIVER_IDENTITY_H
#define BINDLESS_LEVEL_ZERO_DRIVER_DRIVER_IDENTITY_H

#include "level_zero_driver/core/result.h"

struct blz_identity {
    const char *key;  /* the value of BINDLESS_LEVEL_ZERO_IDENTITY */
    const char *name;
    uint32_t device_id;
    uint32_t ip_version; /* architecture, release and revision in 10, 8 and 6 bits, with 8 bits between the last two */
    uint32_t slices, subslices, eus; /* subslices of a slice, execution units of a subslice */
    uint32_t threads, width;         /* of an execution unit */
};

#define BLZ_INTEL_VENDOR 0x8086u
#define BLZ_INTEL_DRIVER_VERSION (1u << 24 | 13u << 16 | 35563u) /* of the compute runtime 25.40.35563 */

/* Finds the GPU by its key; NULL for an empty key or NULL. */
ze_result_t blz_identity_read(const char *key, const struct blz_identity **identity);

#endif
