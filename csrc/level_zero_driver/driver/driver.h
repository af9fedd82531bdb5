/* The driver, its devices, and the environment variables that configure them.
 *
 * BINDLESS_LEVEL_ZERO_DEVICES  D or DxS: number of devices, and of sub-devices of each; 1 by default. All of them
 *                              are the processors of this machine, for programs that need several devices.
 * BINDLESS_LEVEL_ZERO_TYPE     cpu (the default) or gpu: the reported device type, for programs that look for a GPU.
 *                              A device of type gpu does not report the flag INTEGRATED.
 * BINDLESS_LEVEL_ZERO_IDENTITY an Intel GPU of identity.c, whose numbers the devices report; of type GPU then, unless
 *                              BINDLESS_LEVEL_ZERO_TYPE says otherwise.
 * BINDLESS_LEVEL_ZERO_STRICT   1: calls that Level Zero forbids and Intel's driver takes are errors (blz_tolerate).
 * ZE_FLAT_DEVICE_HIERARCHY     COMPOSITE (the default), FLAT or COMBINED: devices or sub-devices are reported as devices.
 * ZE_AFFINITY_MASK             the devices and sub-devices to report.
 */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_DRIVER_DRIVER_H
#define BINDLESS_LEVEL_ZERO_DRIVER_DRIVER_DRIVER_H

#include "level_zero_driver/core/handle.h"
#include "level_zero_driver/driver/identity.h"
#include "reference/runtime/context.h"

#define BLZ_MAX_DEVICES 64u

struct blz_device {
    struct blr_object object;
    blr_device_properties_t limits; /* of the reference device */
    struct blz_device *root;        /* NULL for a root device */
    uint32_t ordinal;               /* index among the machine's devices; part of the uuid */
    uint32_t subdevice_id;
    uint32_t subdevice_count;
    struct blz_device *subdevices[BLZ_MAX_DEVICES];
};

struct blz_driver {
    struct blr_object object;
    blr_device_t native;
    blr_context_t native_context;  /* one context of the reference driver, shared by all contexts */
    struct blr_context *reference; /* the object that native_context names, retained */
    ze_device_type_t type;
    const struct blz_identity *identity; /* NULL: their own */
    uint32_t device_count;
    struct blz_device *devices[BLZ_MAX_DEVICES];
};

/* Returns the driver, created by the first call; NULL after blz_fail. */
struct blz_driver *blz_driver_open(void);
struct blz_driver *blz_driver(void);

/* Devices exist as long as the driver: the caller releases nothing. */
ze_result_t blz_device_check(ze_device_handle_t handle, struct blz_device **device);

/* Computes the number of entries to write of the available ones, by Level Zero's count-then-fill convention. */
ze_result_t blz_count(uint32_t available, uint32_t *count, const void *entries, uint32_t *written);

#endif
