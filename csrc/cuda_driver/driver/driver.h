/* The driver: initialisation, the one device, and the reference driver's context, which all contexts share. */
#ifndef BINDLESS_CUDA_DRIVER_DRIVER_DRIVER_H
#define BINDLESS_CUDA_DRIVER_DRIVER_DRIVER_H

#include "cuda_driver/core/result.h"

#define BCU_VERSION 13000 /* of the API */

struct bcu_device {
    blr_device_t reference;
    blr_context_t native;
    blr_device_properties_t properties;
    int capability; /* 90 for 9.0 */
};

extern struct bcu_device bcu_device;

/* NOT_INITIALIZED before cuInit. */
CUresult bcu_check_started(void);

/* The same, and that the ordinal is a device's. */
CUresult bcu_check_device(CUdevice device);

#endif
