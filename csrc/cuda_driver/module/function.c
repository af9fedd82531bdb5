/* Functions of modules, kernels of libraries: lookup, attributes and occupancy. */
#include "cuda_driver/driver/context.h"
#include "cuda_driver/driver/driver.h"
#include "cuda_driver/module/module.h"

#include <string.h>

static CUresult find(const void *handle, const char *name, void *out)
{
    struct bcu_module *module;
    if (out == NULL || name == NULL)
        return bcu_fail_null("the function or its name");
    CUresult result = bcu_module_acquire(handle, &module);
    if (result != CUDA_SUCCESS)
        return result;
    result = CUDA_ERROR_NOT_FOUND;
    for (uint32_t i = 0; i < module->ptx.entry_count && result != CUDA_SUCCESS; i++)
        if (strcmp(module->ptx.entries[i].name, name) == 0) {
            void *own = bcu_handle(&module->functions[i]->resource);
            memcpy(out, &own, sizeof own);
            result = CUDA_SUCCESS;
        }
    bcu_resource_release(&module->resource);
    return result == CUDA_SUCCESS ? result : bcu_fail(result, "no kernel is named '%.200s'", name);
}

static CUresult list(const void *handle, void **functions, unsigned room, unsigned *count)
{
    struct bcu_module *module;
    CUresult result = bcu_module_acquire(handle, &module);
    if (result != CUDA_SUCCESS)
        return result;
    for (uint32_t i = 0; functions != NULL && i < room && i < module->ptx.entry_count; i++)
        functions[i] = bcu_handle(&module->functions[i]->resource);
    if (count != NULL)
        *count = module->ptx.entry_count;
    bcu_resource_release(&module->resource);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    return result != CUDA_SUCCESS ? result : find(module, name, function);
}

CUresult cuModuleGetFunctionCount(unsigned int *count, CUmodule module)
{
    return count == NULL ? bcu_fail_null("count") : list(module, NULL, 0, count);
}

CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned int room, CUmodule module)
{
    return functions == NULL ? bcu_fail_null("functions") : list(module, (void **)functions, room, NULL);
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) { return find(library, name, kernel); }

CUresult cuLibraryGetKernelCount(unsigned int *count, CUlibrary library)
{
    return count == NULL ? bcu_fail_null("count") : list(library, NULL, 0, count);
}

CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int room, CUlibrary library)
{
    return kernels == NULL ? bcu_fail_null("kernels") : list(library, (void **)kernels, room, NULL);
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    struct bcu_function *own;
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result == CUDA_SUCCESS)
        result = function == NULL ? bcu_fail_null("pFunc") : bcu_function_acquire(kernel, &own);
    if (result != CUDA_SUCCESS)
        return result;
    *function = (CUfunction)kernel;
    bcu_resource_release(&own->resource);
    return CUDA_SUCCESS;
}

/* ---------------------------------------------------------------- queries */

CUresult cuFuncGetModule(CUmodule *module, CUfunction handle)
{
    struct bcu_function *function;
    if (module == NULL)
        return bcu_fail_null("hmod");
    CUresult result = bcu_function_acquire(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    *module = bcu_handle(&function->module->resource);
    bcu_resource_release(&function->resource);
    return CUDA_SUCCESS;
}

CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) { return cuFuncGetModule((CUmodule *)library, (CUfunction)kernel); }

CUresult cuFuncGetName(const char **name, CUfunction handle)
{
    struct bcu_function *function;
    if (name == NULL)
        return bcu_fail_null("name");
    CUresult result = bcu_function_acquire(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    *name = function->entry->name;
    bcu_resource_release(&function->resource);
    return CUDA_SUCCESS;
}

CUresult cuKernelGetName(const char **name, CUkernel kernel) { return cuFuncGetName(name, (CUfunction)kernel); }

CUresult cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *size)
{
    struct bcu_function *function;
    if (offset == NULL)
        return bcu_fail_null("paramOffset");
    CUresult result = bcu_function_acquire(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (index >= function->entry->parameter_count) {
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "parameter %zu of %u", index, function->entry->parameter_count);
    } else {
        *offset = function->entry->parameters[index].offset;
        if (size != NULL)
            *size = function->entry->parameters[index].size;
    }
    bcu_resource_release(&function->resource);
    return result;
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *size)
{
    return cuFuncGetParamInfo((CUfunction)kernel, index, offset, size);
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle)
{
    struct bcu_function *function;
    if (state == NULL)
        return bcu_fail_null("state");
    CUresult result = bcu_function_acquire(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    bcu_resource_release(&function->resource);
    return CUDA_SUCCESS;
}

CUresult cuFuncLoad(CUfunction handle)
{
    CUfunctionLoadingState state;
    return cuFuncIsLoaded(&state, handle);
}

/* ---------------------------------------------------------------- attributes */

static uint32_t largest_block(const struct bcu_function *function)
{
    const struct bindless_ptx_entry *entry = function->entry;
    uint32_t most = function->properties.max_work_group_size;
    const uint32_t *limit = entry->reqntid[0] != 0 ? entry->reqntid : entry->maxntid;
    if (limit[0] == 0)
        return most;
    uint32_t threads = limit[0] * (limit[1] != 0 ? limit[1] : 1) * (limit[2] != 0 ? limit[2] : 1);
    return threads < most ? threads : most;
}

/* Registers of a thread: the executor has none; a count that no limit of the device depends on. */
#define REGISTERS 32

static CUresult get(const struct bcu_function *function, CUfunction_attribute attribute, int *value)
{
    const struct bindless_ptx_entry *entry = function->entry;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = (int)largest_block(function); break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)entry->shared_bytes; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = 0;
        for (uint32_t i = 0; i < function->module->ptx.global_count; i++)
            if (function->module->ptx.globals[i].is_const)
                *value += (int)function->module->ptx.globals[i].size;
        break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)entry->local_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = REGISTERS; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = (int)function->module->ptx.target; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = bcu_device.capability; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = function->dynamic_shared != 0 ? function->dynamic_shared
                                               : (int)(BCU_SHARED_DEFAULT - (entry->shared_bytes < BCU_SHARED_DEFAULT ? entry->shared_bytes : BCU_SHARED_DEFAULT));
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = function->carveout; break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *value = 0; break;
    default: return bcu_fail(CUDA_ERROR_INVALID_VALUE, "function attribute %d", (int)attribute);
    }
    return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle)
{
    struct bcu_function *function;
    if (value == NULL)
        return bcu_fail_null("pi");
    CUresult result = bcu_function_acquire(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    result = get(function, attribute, value);
    bcu_resource_release(&function->resource);
    return result;
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
    struct bcu_function *function;
    CUresult result = bcu_function_acquire(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) {
        if (value < 0 || (uint64_t)value + function->entry->shared_bytes > BCU_SHARED_LIMIT)
            result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "%d bytes of dynamic shared memory, and %llu static ones: %u in all are possible",
                              value, (unsigned long long)function->entry->shared_bytes, BCU_SHARED_LIMIT);
        else
            function->dynamic_shared = value;
    } else if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
        if (value < -1 || value > 100)
            result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "a carveout of %d percent", value);
        else
            function->carveout = value;
    } else {
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "attribute %d is not settable", (int)attribute);
    }
    bcu_resource_release(&function->resource);
    return result;
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device)
{
    CUresult result = bcu_check_device(device);
    return result != CUDA_SUCCESS ? result : cuFuncGetAttribute(value, attribute, (CUfunction)kernel);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device)
{
    CUresult result = bcu_check_device(device);
    return result != CUDA_SUCCESS ? result : cuFuncSetAttribute((CUfunction)kernel, attribute, value);
}

CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config)
{
    struct bcu_function *function;
    if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "cache configuration %d", (int)config);
    CUresult result = bcu_function_acquire(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    function->cache = config;
    bcu_resource_release(&function->resource);
    return CUDA_SUCCESS;
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device)
{
    CUresult result = bcu_check_device(device);
    return result != CUDA_SUCCESS ? result : cuFuncSetCacheConfig((CUfunction)kernel, config);
}

/* ---------------------------------------------------------------- occupancy: of the multiprocessor whose limits the device reports */

int bcu_function_blocks(const struct bcu_function *function, int threads, size_t dynamic)
{
    enum { THREADS = 2048, BLOCKS = 32, WARP = 32, SHARED = 233472, RESERVED = 1024, ALL_REGISTERS = 65536 };
    if (threads <= 0 || (uint32_t)threads > largest_block(function))
        return 0;
    int whole = (threads + WARP - 1) / WARP * WARP, blocks = THREADS / whole;
    uint64_t shared = function->entry->shared_bytes + dynamic + RESERVED;
    if (shared > BCU_SHARED_LIMIT + RESERVED)
        return 0;
    if (blocks > BLOCKS)
        blocks = BLOCKS;
    if ((uint64_t)blocks > SHARED / shared)
        blocks = (int)(SHARED / shared);
    return blocks < ALL_REGISTERS / (REGISTERS * whole) ? blocks : ALL_REGISTERS / (REGISTERS * whole);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction handle, int threads, size_t dynamic,
                                                              unsigned int flags)
{
    struct bcu_function *function;
    if (blocks == NULL || threads <= 0 || flags > 1)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "numBlocks is NULL, or blocks of %d threads, or flags of %u", threads, flags);
    CUresult result = bcu_function_acquire(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    *blocks = bcu_function_blocks(function, threads, dynamic);
    bcu_resource_release(&function->resource);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction handle, int threads, size_t dynamic)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, handle, threads, dynamic, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction handle, CUoccupancyB2DSize size_of, size_t dynamic,
                                                   int limit, unsigned int flags)
{
    struct bcu_function *function;
    if (grid == NULL || block == NULL || flags > 1)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "minGridSize or blockSize is NULL, or flags are %u", flags);
    CUresult result = bcu_function_acquire(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    int most = (int)largest_block(function), best = 0, processors = 0;
    if (limit > 0 && limit < most)
        most = limit;
    *block = most;
    *grid = 1;
    cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
    for (int threads = most; threads > 0; threads = threads > 32 ? (threads - 1) / 32 * 32 : 0) {
        int blocks = bcu_function_blocks(function, threads, size_of != NULL ? size_of(threads) : dynamic);
        if (blocks * threads > best) {
            best = blocks * threads;
            *block = threads;
            *grid = blocks * processors;
        }
    }
    bcu_resource_release(&function->resource);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction handle, CUoccupancyB2DSize size_of, size_t dynamic, int limit)
{
    return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, handle, size_of, dynamic, limit, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic, CUfunction handle, int blocks, int threads)
{
    struct bcu_function *function;
    if (dynamic == NULL || blocks <= 0 || threads <= 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%d blocks of %d threads, or no output pointer", blocks, threads);
    CUresult result = bcu_function_acquire(handle, &function);
    if (result != CUDA_SUCCESS)
        return result;
    uint64_t share = 233472u / (unsigned)blocks, own = function->entry->shared_bytes + 1024;
    *dynamic = share > own ? share - own : 0;
    if (*dynamic > BCU_SHARED_LIMIT - function->entry->shared_bytes)
        *dynamic = BCU_SHARED_LIMIT - function->entry->shared_bytes;
    bcu_resource_release(&function->resource);
    return CUDA_SUCCESS;
}
