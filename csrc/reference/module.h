/* Modules of SPIR-V and the kernels in them. All of a module is decoded when it is made and never changes. */
#ifndef BLR_MODULE_H
#define BLR_MODULE_H

#include "context.h"
#include "spirv_program.h"

/* A kernel's name, and its program unless it needs what is in another module. */
struct blr_module_kernel {
    const char *name;
    const struct blr_spirv_program *program;
};

struct blr_module {
    struct blr_object object;
    struct blr_context *context;      /* retained */
    struct blr_arena arena;
    struct blr_spirv_module *parts;   /* one, or all that are linked */
    uint32_t part_count;
    struct blr_module **objects;      /* that were linked: the variables are theirs; retained */
    uint32_t object_count;
    struct blr_module_kernel *kernels;
    uint32_t kernel_count;
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
