/*
 * The driver, its devices and what environment variables say about them.
 *
 * BINDLESS_LEVEL_ZERO_DEVICES  D or DxS: how many devices are reported, and of how many sub-devices each; 1 by default. All of
 *                              them are the processors of this machine: for programs that are written for several.
 * BINDLESS_LEVEL_ZERO_TYPE     cpu (the default) or gpu: what the devices say they are, for programs that look for a GPU. As GPUs
 *                              they do not say that they are integrated.
 * ZE_FLAT_DEVICE_HIERARCHY     whether devices are reported, or their sub-devices.
 * ZE_AFFINITY_MASK             which of them.
 */
#ifndef BLZ_DRIVER_H
#define BLZ_DRIVER_H

#include "handle.h"
#include "reference/context.h"

#define BLZ_MAX_DEVICES 64u

struct blz_device {
    struct blr_object object;
    blr_device_properties_t limits; /* of the reference device */
    struct blz_device *root;        /* NULL for a root device */
    uint32_t ordinal;               /* among those of the machine, for the uuid */
    uint32_t subdevice_id;
    uint32_t subdevice_count;
    struct blz_device *subdevices[BLZ_MAX_DEVICES];
};

struct blz_driver {
    struct blr_object object;
    blr_device_t native;
    blr_context_t native_context;  /* of all contexts: one of the reference driver's */
    struct blr_context *reference; /* what it names, retained */
    ze_device_type_t type;
    uint32_t device_count;
    struct blz_device *devices[BLZ_MAX_DEVICES];
};

/* The driver, made when it is first asked for; NULL after blz_fail. */
struct blz_driver *blz_driver_open(void);
struct blz_driver *blz_driver(void);

/* Devices are always there: nothing is to be released. */
ze_result_t blz_device_check(ze_device_handle_t handle, struct blz_device **device);

/* Count-then-fill: how many entries are to be written of available ones, by Level Zero's rule. */
ze_result_t blz_count(uint32_t available, uint32_t *count, const void *entries, uint32_t *written);

#endif
