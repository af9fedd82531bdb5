/* Modules of SPIR-V and the kernels in them. All of a module is decoded when it is made and never changes. */
#ifndef BLR_MODULE_H
#define BLR_MODULE_H

#include "context.h"
#include "spirv_program.h"

struct blr_module {
    struct blr_object object;
    struct blr_context *context; /* retained */
    struct blr_spirv_module spirv;
    const struct blr_spirv_program **programs; /* one for each entry point */
};

struct blr_kernel {
    struct blr_object object;
    struct blr_module *module; /* retained */
    const struct blr_spirv_program *program;
    uint32_t max_work_group_size;
};

struct blr_module *blr_module_acquire(blr_module_t handle);
struct blr_kernel *blr_kernel_acquire(blr_kernel_t handle);
void blr_kernel_release(struct blr_kernel *kernel);

#endif
