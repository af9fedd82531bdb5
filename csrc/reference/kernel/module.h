/* SPIR-V modules and their kernels. A module is decoded completely at creation and is immutable afterwards. */
#ifndef BINDLESS_REFERENCE_KERNEL_MODULE_H
#define BINDLESS_REFERENCE_KERNEL_MODULE_H

#include "platform/shared.h"
#include "runtime/context.h"
#include "spirv/native/native_code.h"
#include "spirv/native/native_slot.h"
#include "spirv/program.h"
#include "platform/threads.h"

/* A kernel's name, and its program, or NULL while it has unresolved imports. */
struct blr_module_kernel {
    const char *name;
    const struct blr_spirv_program *program;
};

struct blr_module {
    struct blr_object object;
    struct blr_context *context;      /* retained */
    struct blr_arena arena;
    struct blr_spirv_module *parts;   /* one part, or all parts of a linked module */
    uint32_t part_count;
    struct blr_module **objects;      /* linked modules, which own the variables; retained */
    uint32_t object_count;
    struct blr_module_kernel *kernels;
    uint32_t kernel_count;
};

struct blr_kernel {
    struct blr_object object;
    struct blr_module *module; /* retained */
    const struct blr_spirv_program *program;
    uint32_t max_work_group_size;
    blr_mutex_t mutex;
    struct blr_spirv_worker *idle; /* idle workers of completed launches; guarded by the mutex */
    uint64_t idle_bytes;
    struct blr_native_slot *_Atomic native; /* where the kernel's native code will be, or NULL */
};

struct blr_spirv_launch;
struct blr_spirv_worker;

BLR_SHARED struct blr_module *blr_module_acquire(blr_module_t handle);
/* The kernel of a name, or NULL. */
BLR_SHARED const struct blr_module_kernel *blr_module_find_kernel(const struct blr_module *module, const char *name);
struct blr_kernel *blr_kernel_acquire(blr_kernel_t handle);
void blr_kernel_release(struct blr_kernel *kernel);

/* A worker for a launch of the kernel, from the idle ones or a new one; NULL after blr_fail. */
struct blr_spirv_worker *blr_kernel_take_worker(struct blr_kernel *kernel, struct blr_spirv_launch *launch);
/* Returns a worker to the idle ones when its launch is done. */
void blr_kernel_leave_worker(struct blr_kernel *kernel, struct blr_spirv_worker *worker);

#endif
