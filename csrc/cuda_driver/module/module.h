/* Modules: PTX compiled to a module of the reference driver, its variables and its functions. A library is a module
 * without a context, a kernel is a function of one. */
#ifndef BINDLESS_CUDA_DRIVER_MODULE_MODULE_H
#define BINDLESS_CUDA_DRIVER_MODULE_MODULE_H

#include "cuda_driver/core/resource.h"
#include "ptx/ptx.h"

#define BCU_SHARED_DEFAULT 49152u /* bytes of shared memory without CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
#define BCU_SHARED_LIMIT 232448u

struct bcu_module;

struct bcu_function {
    struct bcu_resource resource;
    struct bcu_module *module;   /* owns the function */
    blr_kernel_t kernel;
    const struct bindless_ptx_entry *entry;
    blr_kernel_properties_t properties;
    _Atomic int dynamic_shared, carveout, cache;
    struct bcu_old_launch *old;  /* owned, or NULL (old_launch.c) */
};

struct bcu_module {
    struct bcu_resource resource;
    struct bindless_ptx_module ptx;
    blr_module_t native;
    uint64_t globals;            /* address of the memory of all variables, or 0 */
    struct bcu_function **functions; /* as entries; made with the module */
    bool is_library;
};

CUresult bcu_module_acquire(const void *handle, struct bcu_module **module);
CUresult bcu_function_acquire(const void *handle, struct bcu_function **function);

/* How many blocks of a size, with dynamic shared memory, a multiprocessor has room for. */
int bcu_function_blocks(const struct bcu_function *function, int threads, size_t dynamic);

/* Compiles texts, and registers the module in the context, or as a library. */
struct bcu_log;
CUresult bcu_module_new(struct bcu_context *context, bool is_library, const char *const *texts, const size_t *sizes, uint32_t count,
                        struct bcu_log *log, void *handle);

#endif
