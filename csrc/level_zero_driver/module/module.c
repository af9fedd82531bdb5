/* Modules: creation, queries and destruction. */

#include "level_zero_driver/module/module.h"

#include "level_zero_driver/module/build_log.h"
#include "level_zero_driver/core/two_call_query.h"
#include "level_zero_driver/driver/driver.h"
#include "level_zero_driver/module/native_binary.h"
#include "reference/kernel/module.h"
#include "level_zero_driver/core/descriptor_chain.h"

#include <string.h>

ze_result_t blz_module_acquire(ze_module_handle_t handle, struct blz_module **module)
{
    return blz_acquire(handle, BLR_KIND_ZE_MODULE, module);
}

static void destroy(struct blr_object *object)
{
    struct blz_module *module = (struct blz_module *)object;
    blz_linked_release(module->linked);
    if (module->native != NULL)
        blrModuleDestroy(module->native);
    blz_module_sources_delete(&module->sources);
    if (module->context != NULL)
        blz_context_release(module->context);
    blr_delete(module);
}

/* ---------------------------------------------------------------- building */

static bool find_imports(blr_module_t handle)
{
    struct blr_module *native = blr_module_acquire(handle);
    bool result = false;
    for (uint32_t part = 0; part < native->part_count; part++)
        for (uint32_t id = 0; id < native->parts[part].bound; id++)
            result = result || blz_is_import(&native->parts[part].ids[id]);
    blr_object_release(&native->object);
    return result;
}

static ze_result_t compile(struct blz_context *context, const struct blz_module_source *source, blr_module_t *native)
{
    blr_specialization_t *values = blr_new((source->constant_count + 1u) * sizeof *values);
    if (values == NULL)
        return blz_fail_memory("specialization constants");
    for (uint32_t i = 0; i < source->constant_count; i++)
        values[i] = (blr_specialization_t){source->constants[i].id, source->constants[i].size, source->constants[i].value};
    blr_result_t result =
        blrModuleCompile(context->native, source->code, source->code_size, source->constant_count, values, native);
    blr_delete(values);
    return result == BLR_RESULT_OUT_OF_MEMORY ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : blz_result(result);
}

ze_result_t blz_link_result(blr_result_t result)
{
    return result == BLR_RESULT_BUILD_FAILED    ? ZE_RESULT_ERROR_MODULE_LINK_FAILURE
           : result == BLR_RESULT_OUT_OF_MEMORY ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY
                                                : blz_result(result);
}

/* Builds several inputs as one module, which keeps each input's kernels. */
static ze_result_t build_program(struct blz_module *module)
{
    const struct blz_module_sources *sources = &module->sources;
    blr_module_t *parts = blr_new(sources->count * sizeof *parts);
    if (parts == NULL)
        return blz_fail_memory("the inputs of a program");
    ze_result_t result = ZE_RESULT_SUCCESS;
    uint32_t compiled = 0;
    while (compiled < sources->count && result == ZE_RESULT_SUCCESS) {
        result = compile(module->context, &sources->each[compiled], &parts[compiled]);
        compiled += result == ZE_RESULT_SUCCESS;
    }
    if (result == ZE_RESULT_SUCCESS)
        result = blz_link_result(blrModuleLink(module->context->native, sources->count, parts, &module->native));
    while (compiled > 0)
        blrModuleDestroy(parts[--compiled]);
    blr_delete(parts);
    return result;
}

static ze_result_t build(struct blz_module *module)
{
    if (module->sources.count > 1)
        return build_program(module);
    ze_result_t result = compile(module->context, module->sources.each, &module->native);
    if (result == ZE_RESULT_SUCCESS)
        module->imports = find_imports(module->native);
    return result;
}

static ze_result_t create(struct blz_context *context, const ze_module_desc_t *desc, const ze_module_program_exp_desc_t *program,
                          ze_module_handle_t *handle, char **notes)
{
    struct blz_module *module = blr_new(sizeof *module);
    if (module == NULL)
        return blz_fail_memory("a module");
    module->context = context;
    blz_context_retain(context);
    ze_result_t result = blz_module_sources_read(desc, program, &module->sources);
    if (result == ZE_RESULT_SUCCESS)
        result = build(module);
    *notes = module->sources.log.bytes;
    module->sources.log = (struct blz_log_text){0};
    if (result == ZE_RESULT_SUCCESS)
        return blz_register(&module->object, BLR_KIND_ZE_MODULE, destroy, handle);
    destroy(&module->object);
    return result;
}

/* The build fails if its log cannot be created. */
static ze_result_t tell(ze_result_t result, const char *notes, ze_module_handle_t *module, ze_module_build_log_handle_t *log)
{
    ze_result_t outcome = blz_build_log_tell(result, notes, log);
    if (outcome == ZE_RESULT_SUCCESS || result != ZE_RESULT_SUCCESS)
        return result;
    zeModuleDestroy(*module);
    *module = NULL;
    return outcome;
}

ze_result_t zeModuleCreate(ze_context_handle_t context_handle, ze_device_handle_t device_handle, const ze_module_desc_t *desc,
                           ze_module_handle_t *handle, ze_module_build_log_handle_t *log)
{
    struct blz_context *context;
    struct blz_device *device;
    ze_result_t result = blz_place_acquire(context_handle, device_handle, &context, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct blz_extension program = {ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC, NULL};
    result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_MODULE_DESC, "desc", &program, 1);
    if (result == ZE_RESULT_SUCCESS && handle == NULL)
        result = blz_fail_null("phModule");
    if (result == ZE_RESULT_SUCCESS) {
        char *notes = NULL;
        *handle = NULL;
        result = create(context, desc, program.address, handle, &notes);
        if (log != NULL)
            result = tell(result, notes != NULL ? notes : "", handle, log);
        blr_delete(notes);
    }
    blz_context_release(context);
    return result;
}

ze_result_t zeModuleDestroy(ze_module_handle_t handle) { return blz_destroy(handle, BLR_KIND_ZE_MODULE); }

/* ---------------------------------------------------------------- queries */

ze_result_t zeModuleGetNativeBinary(ze_module_handle_t handle, size_t *size, uint8_t *binary)
{
    struct blz_module *module;
    ze_result_t result = blz_module_acquire(handle, &module);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    size_t written;
    unsigned char *bytes = blz_native_binary_write(&module->sources, &written);
    result = bytes == NULL ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : blz_copy_out(bytes, written, size, binary);
    blr_delete(bytes);
    blz_module_release(module);
    return result;
}

ze_result_t zeModuleGetKernelNames(ze_module_handle_t handle, uint32_t *count, const char **names)
{
    struct blz_module *module;
    ze_result_t result = blz_module_acquire(handle, &module);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    uint32_t available = 0, written = 0;
    result = blz_result(blrModuleGetKernelCount(module->native, &available));
    if (result == ZE_RESULT_SUCCESS)
        result = blz_count(available, count, names, &written);
    for (uint32_t i = 0; i < written && result == ZE_RESULT_SUCCESS; i++)
        result = blz_result(blrModuleGetKernelName(module->native, i, &names[i]));
    blz_module_release(module);
    return result;
}

ze_result_t zeModuleGetProperties(ze_module_handle_t handle, ze_module_properties_t *properties)
{
    struct blz_module *module;
    ze_result_t result = blz_module_acquire(handle, &module);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_properties(properties, ZE_STRUCTURE_TYPE_MODULE_PROPERTIES, "pModuleProperties");
    if (result == ZE_RESULT_SUCCESS)
        properties->flags = module->imports ? ZE_MODULE_PROPERTY_FLAG_IMPORTS : 0;
    blz_module_release(module);
    return result;
}

static bool is_export(const struct blr_spirv_id *id, int kind, const char *name)
{
    return (int)id->kind == kind && !id->imported && id->linkage != NULL && strcmp(id->linkage, name) == 0;
}

/* Finds a variable in global or constant memory by its export name. */
static const struct blr_spirv_variable *find_variable(const struct blr_module *native, const char *name)
{
    for (const struct blr_spirv_module *part = native->parts, *end = part + native->part_count; part < end; part++)
        for (uint32_t id = 0; id < part->bound; id++)
            if (is_export(&part->ids[id], BLR_ID_VARIABLE, name) && part->ids[id].variable->address != 0)
                return part->ids[id].variable;
    return NULL;
}

ze_result_t zeModuleGetGlobalPointer(ze_module_handle_t handle, const char *name, size_t *size, void **pointer)
{
    struct blz_module *module;
    ze_result_t result = blz_module_acquire(handle, &module);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (name == NULL) {
        result = blz_fail_null("pGlobalName");
    } else {
        struct blr_module *native = blr_module_acquire(module->native);
        const struct blr_spirv_variable *variable = find_variable(native, name);
        if (variable == NULL)
            result = blz_fail(ZE_RESULT_ERROR_INVALID_GLOBAL_NAME,
                              "the module exports no variable named '%.200s' in global memory", name);
        if (variable != NULL && size != NULL)
            *size = variable->holds->size;
        if (variable != NULL && pointer != NULL)
            *pointer = (void *)(uintptr_t)variable->address;
        blr_object_release(&native->object);
    }
    blz_module_release(module);
    return result;
}

/* The address of a function by its export name; 0 if there is none. */
static uint64_t find_function(const struct blr_module *native, const char *name)
{
    for (const struct blr_spirv_module *part = native->parts, *end = part + native->part_count; part < end; part++)
        for (uint32_t id = 0; id < part->bound; id++)
            if (is_export(&part->ids[id], BLR_ID_FUNCTION, name) && part->ids[id].has_address)
                return (uint64_t)(uintptr_t)(part->addresses + id);
    return 0;
}

ze_result_t zeModuleGetFunctionPointer(ze_module_handle_t handle, const char *name, void **function)
{
    struct blz_module *module;
    ze_result_t result = blz_module_acquire(handle, &module);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (name == NULL || function == NULL) {
        result = blz_fail_null(name == NULL ? "pFunctionName" : "pfnFunction");
    } else {
        struct blr_module *native = blr_module_acquire(module->native);
        const uint64_t address = find_function(native, name);
        if (address == 0)
            result = blz_fail(ZE_RESULT_ERROR_INVALID_FUNCTION_NAME, "the module exports no function named '%.200s'", name);
        else
            *function = (void *)(uintptr_t)address;
        blr_object_release(&native->object);
    }
    blz_module_release(module);
    return result;
}
