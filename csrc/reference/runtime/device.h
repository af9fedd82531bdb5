/* The only device: this machine's processors, with the limits of the GPU whose arithmetic the driver reproduces. */
#ifndef BINDLESS_REFERENCE_RUNTIME_DEVICE_H
#define BINDLESS_REFERENCE_RUNTIME_DEVICE_H

#include "platform/shared.h"
#include "runtime/object.h"

#define BLR_MAX_IMAGE_1D_WIDTH 131072u
#define BLR_MAX_IMAGE_2D_WIDTH 131072u
#define BLR_MAX_IMAGE_2D_HEIGHT 65536u
#define BLR_MAX_IMAGE_3D_EXTENT 16384u
#define BLR_MAX_CUBEMAP_EXTENT 32768u /* width and height */
#define BLR_MAX_LAYERS 2048u
#define BLR_MAX_MIPMAP_EXTENT 32768u
#define BLR_ROW_PITCH_ALIGN 32u
#define BLR_BASE_ALIGN 512u
#define BLR_MAX_LINEAR_1D_WIDTH 268435456u
#define BLR_MAX_LINEAR_WIDTH 131072u
#define BLR_MAX_LINEAR_HEIGHT 65000u
#define BLR_MAX_LINEAR_ROW_PITCH 2097120u
#define BLR_MAX_ANISOTROPY 16.0f

struct blr_device {
    struct blr_object object;
    blr_device_properties_t properties;
};

struct blr_device *blr_device_acquire(blr_device_t handle);

BLR_SHARED uint64_t blr_device_memory_size(void);
BLR_SHARED uint64_t blr_device_max_allocation(void);

/* Whether BINDLESS_REFERENCE_FILTERING selected exact filtering when the device was first queried. */
bool blr_device_exact_filtering(void);

/* Time limit in seconds of commands that may not terminate, from BINDLESS_REFERENCE_TIMEOUT; 0: no limit. */
BLR_SHARED blr_result_t blr_device_time_limit(double *seconds);

#endif
