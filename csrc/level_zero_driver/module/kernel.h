/* Kernels: a kernel of the reference driver with the state that Level Zero keeps per kernel: arguments, group size,
   offset. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_MODULE_KERNEL_H
#define BINDLESS_LEVEL_ZERO_DRIVER_MODULE_KERNEL_H

#include "level_zero_driver/module/module.h"
#include "reference/platform/threads.h"

struct blz_argument {
    blr_kernel_argument_t is;
    bool set;
    uint64_t size;           /* of local memory */
    unsigned char *value;    /* is.size bytes */
    struct blr_object *resource; /* image or sampler, retained */
};

struct blz_kernel {
    struct blr_object object;
    struct blz_module *module; /* retained */
    blr_kernel_t native;
    blr_kernel_properties_t properties;
    blr_mutex_t mutex;

    /* under the mutex */
    uint32_t group[3];
    uint32_t offset[3];
    ze_kernel_indirect_access_flags_t indirect;
    struct blz_argument *arguments;
};

ze_result_t blz_kernel_acquire(ze_kernel_handle_t handle, struct blz_kernel **kernel);
static inline void blz_kernel_release(struct blz_kernel *kernel) { blr_object_release(&kernel->object); }

/* The number of groups that are guaranteed to run concurrently, so that one can wait for another. The groups of a
 * launch run on the free threads, one after the other if necessary. */
#define BLZ_MAX_COOPERATIVE_GROUPS 1u

#endif
