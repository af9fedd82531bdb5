/* Modules: compilation, variables, life, and the functions that load them. */
#include "cuda_driver/module/module.h"

#include "cuda_driver/driver/driver.h"
#include "cuda_driver/memory/memory.h"
#include "cuda_driver/module/image.h"

#include <stdlib.h>
#include <string.h>

CUresult bcu_module_acquire(const void *handle, struct bcu_module **module) { return bcu_resource_acquire(handle, BCU_MODULE, module); }

CUresult bcu_function_acquire(const void *handle, struct bcu_function **function)
{
    return bcu_resource_acquire(handle, BCU_FUNCTION, function);
}

/* ---------------------------------------------------------------- life */

static void release_function(struct bcu_resource *resource)
{
    struct bcu_function *function = (struct bcu_function *)resource;
    if (function->kernel != NULL)
        blrKernelDestroy(function->kernel);
    blr_delete(function->old);
    blr_delete(function);
}

static void release_module(struct bcu_resource *resource)
{
    struct bcu_module *module = (struct bcu_module *)resource;
    struct bcu_memory memory;
    for (uint32_t i = 0; module->functions != NULL && i < module->ptx.entry_count; i++)
        if (module->functions[i] != NULL)
            bcu_resource_close(&module->functions[i]->resource);
    if (module->native != NULL)
        blrModuleDestroy(module->native);
    if (module->globals != 0 && bcu_memory_forget(module->globals, BCU_MEMORY_MODULE, &memory))
        bcu_memory_release(&memory);
    blr_delete(module->functions);
    bindless_ptx_destroy(&module->ptx);
    blr_delete(module);
}

/* Prepares the memory of all variables. */
static CUresult place_variables(struct bcu_module *module, struct bcu_context *context)
{
    const struct bindless_ptx_module *ptx = &module->ptx;
    if (ptx->globals_bytes == 0)
        return CUDA_SUCCESS;
    struct bcu_memory memory = {.kind = BCU_MEMORY_MODULE, .size = ptx->globals_bytes, .context = context};
    CUresult result = bcu_memory_allocate(&memory, &module->globals);
    if (result != CUDA_SUCCESS)
        return result;
    unsigned char *bytes = (unsigned char *)(uintptr_t)module->globals;
    memcpy(bytes, ptx->globals_image, ptx->globals_bytes);
    for (uint32_t i = 0; i < ptx->relocation_count; i++) {
        const struct bindless_ptx_relocation *r = &ptx->relocations[i];
        uint64_t value = (module->globals + r->addend) >> r->shift;
        memcpy(bytes + r->offset, &value, r->size);
    }
    return CUDA_SUCCESS;
}

static CUresult make_function(struct bcu_module *module, uint32_t index)
{
    struct bcu_function *function = blr_new(sizeof *function);
    if (function == NULL)
        return bcu_fail_memory("a function");
    function->module = module;
    function->entry = &module->ptx.entries[index];
    function->carveout = -1;
    CUresult result = bcu_result(blrKernelCreate(module->native, function->entry->name, &function->kernel));
    if (result == CUDA_SUCCESS)
        result = bcu_result(blrKernelGetProperties(function->kernel, &function->properties));
    if (result != CUDA_SUCCESS) {
        release_function(&function->resource);
        return result;
    }
    result = bcu_resource_register(&function->resource, BCU_FUNCTION, NULL, release_function, NULL);
    if (result == CUDA_SUCCESS)
        module->functions[index] = function;
    return result;
}

/* Whether the code has the constant for the address of the variables: it lacks one that nothing uses. */
static bool uses_address(const struct bindless_ptx_module *ptx)
{
    enum { HEADER = 5, DECORATE = 71, SPEC_ID = 1 };
    for (size_t i = HEADER; i < ptx->word_count && ptx->words[i] >> 16 != 0; i += ptx->words[i] >> 16)
        if ((ptx->words[i] & 0xffff) == DECORATE && i + 3 < ptx->word_count && ptx->words[i + 2] == SPEC_ID &&
            ptx->words[i + 3] == BINDLESS_PTX_GLOBALS_ID)
            return true;
    return false;
}

static CUresult build(struct bcu_module *module, struct bcu_context *context, struct bcu_log *log)
{
    const struct bindless_ptx_module *ptx = &module->ptx;
    CUresult result = place_variables(module, context);
    if (result != CUDA_SUCCESS)
        return result;
    blr_specialization_t address = {BINDLESS_PTX_GLOBALS_ID, sizeof module->globals, &module->globals};
    blr_result_t built = blrModuleCreate(bcu_device.native, ptx->words, ptx->word_count * sizeof *ptx->words,
                                         uses_address(ptx) ? 1 : 0, &address, &module->native);
    if (built != BLR_RESULT_SUCCESS) {
        const char *message = "";
        blrGetLastError(NULL, &message);
        bcu_log_fail(log, message);
        return bcu_result(built);
    }
    module->functions = blr_new((ptx->entry_count + 1) * sizeof *module->functions);
    if (module->functions == NULL)
        return bcu_fail_memory("the functions of a module");
    for (uint32_t i = 0; i < ptx->entry_count && result == CUDA_SUCCESS; i++)
        result = make_function(module, i);
    return result;
}

CUresult bcu_module_new(struct bcu_context *context, bool is_library, const char *const *texts, const size_t *sizes, uint32_t count,
                        struct bcu_log *log, void *handle)
{
    struct bcu_module *module = blr_new(sizeof *module);
    if (module == NULL)
        return bcu_fail_memory("a module");
    struct bindless_ptx_options options = {.target = (uint32_t)bcu_device.capability,
                                           .heap_bytes = context != NULL ? context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] : 0};
    bool good = count == 1 ? bindless_ptx_compile(texts[0], sizes[0], &options, &module->ptx)
                           : bindless_ptx_link(texts, sizes, count, &options, &module->ptx);
    module->is_library = is_library;
    CUresult result = CUDA_SUCCESS;
    if (!good) {
        bcu_log_fail(log, module->ptx.log != NULL ? module->ptx.log : "no memory for the compilation");
        result = bcu_fail(CUDA_ERROR_INVALID_PTX, "%s", module->ptx.log != NULL ? module->ptx.log : "no memory");
    } else {
        result = build(module, context, log);
    }
    if (result != CUDA_SUCCESS) {
        release_module(&module->resource);
        return result;
    }
    bcu_log_end(log);
    return bcu_resource_register(&module->resource, BCU_MODULE, context, release_module, handle);
}

/* ---------------------------------------------------------------- load and unload */

static CUresult load(struct bcu_context *context, bool is_library, const void *image, size_t size, unsigned count,
                     const CUjit_option *options, void **values, void *handle)
{
    struct bcu_log log;
    struct bcu_texts texts;
    CUresult result = bcu_log_read(count, options, values, &log);
    if (result == CUDA_SUCCESS)
        result = bcu_image_read(image, size, &log, &texts);
    else
        return result;
    if (result == CUDA_SUCCESS)
        result = bcu_module_new(context, is_library, texts.texts, texts.sizes, texts.count, &log, handle);
    bcu_texts_free(&texts);
    return result;
}

CUresult cuModuleLoadDataEx(CUmodule *handle, const void *image, unsigned int count, CUjit_option *options, void **values)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || image == NULL)
        return bcu_fail_null("module or image");
    return load(context, false, image, 0, count, options, values, handle);
}

CUresult cuModuleLoadData(CUmodule *handle, const void *image) { return cuModuleLoadDataEx(handle, image, 0, NULL, NULL); }

CUresult cuModuleLoadFatBinary(CUmodule *handle, const void *image) { return cuModuleLoadDataEx(handle, image, 0, NULL, NULL); }

CUresult cuModuleLoad(CUmodule *handle, const char *path)
{
    struct bcu_context *context;
    char *text;
    size_t size;
    CUresult result = bcu_context_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || path == NULL)
        return bcu_fail_null("module or fname");
    result = bcu_file_read(path, &text, &size);
    if (result != CUDA_SUCCESS)
        return result;
    result = load(context, false, text, size, 0, NULL, NULL, handle);
    free(text);
    return result;
}

static CUresult unload(const void *handle, bool is_library)
{
    struct bcu_module *module;
    CUresult result = bcu_module_acquire(handle, &module);
    if (result != CUDA_SUCCESS)
        return result;
    bool right = module->is_library == is_library;
    struct bcu_context *context = module->resource.context;
    if (right && context != NULL && context->failure == CUDA_SUCCESS)
        bcu_context_wait(context); /* kernels use the module's variables */
    bcu_resource_release(&module->resource);
    return right ? bcu_resource_destroy(handle, BCU_MODULE) : bcu_fail(CUDA_ERROR_INVALID_HANDLE, "a module and a library differ");
}

CUresult cuModuleUnload(CUmodule handle)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    return result != CUDA_SUCCESS ? result : unload(handle, false);
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    CUresult result = bcu_check_started();
    if (result != CUDA_SUCCESS)
        return result;
    if (mode == NULL)
        return bcu_fail_null("mode");
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}

/* ---------------------------------------------------------------- libraries */

CUresult cuLibraryLoadData(CUlibrary *handle, const void *image, CUjit_option *options, void **values, unsigned int count,
                           CUlibraryOption *library_options, void **library_values, unsigned int library_count)
{
    CUresult result = bcu_check_started();
    (void)library_values;
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || image == NULL || (library_count > 0 && library_options == NULL))
        return bcu_fail_null("library, code or libraryOptions");
    return load(NULL, true, image, 0, count, options, values, handle);
}

CUresult cuLibraryLoadFromFile(CUlibrary *handle, const char *path, CUjit_option *options, void **values, unsigned int count,
                               CUlibraryOption *library_options, void **library_values, unsigned int library_count)
{
    CUresult result = bcu_check_started();
    char *text;
    size_t size;
    (void)library_values;
    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || path == NULL || (library_count > 0 && library_options == NULL))
        return bcu_fail_null("library, fileName or libraryOptions");
    result = bcu_file_read(path, &text, &size);
    if (result != CUDA_SUCCESS)
        return result;
    result = load(NULL, true, text, size, count, options, values, handle);
    free(text);
    return result;
}

CUresult cuLibraryUnload(CUlibrary handle) { return unload(handle, true); }

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary handle)
{
    struct bcu_module *own;
    if (module == NULL)
        return bcu_fail_null("pMod");
    CUresult result = bcu_module_acquire(handle, &own);
    if (result != CUDA_SUCCESS)
        return result;
    *module = (CUmodule)handle;
    bcu_resource_release(&own->resource);
    return CUDA_SUCCESS;
}

/* ---------------------------------------------------------------- variables */

static CUresult find_variable(const void *handle, const char *name, bool managed, CUdeviceptr *address, size_t *size)
{
    struct bcu_module *module;
    if (name == NULL)
        return bcu_fail_null("name");
    CUresult result = bcu_module_acquire(handle, &module);
    if (result != CUDA_SUCCESS)
        return result;
    result = CUDA_ERROR_NOT_FOUND;
    for (uint32_t i = 0; i < module->ptx.global_count && result != CUDA_SUCCESS; i++) {
        const struct bindless_ptx_global *global = &module->ptx.globals[i];
        if (strcmp(global->name, name) != 0 || (managed && !global->is_managed))
            continue;
        if (address != NULL)
            *address = module->globals + global->offset;
        if (size != NULL)
            *size = global->size;
        result = CUDA_SUCCESS;
    }
    bcu_resource_release(&module->resource);
    return result == CUDA_SUCCESS ? result : bcu_fail(result, "no variable is named '%.200s'", name);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *size, CUmodule module, const char *name)
{
    struct bcu_context *context;
    CUresult result = bcu_context_current(&context);
    return result != CUDA_SUCCESS ? result : find_variable(module, name, false, address, size);
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *size, CUlibrary library, const char *name)
{
    return find_variable(library, name, false, address, size);
}

CUresult cuLibraryGetManaged(CUdeviceptr *address, size_t *size, CUlibrary library, const char *name)
{
    return find_variable(library, name, true, address, size);
}
