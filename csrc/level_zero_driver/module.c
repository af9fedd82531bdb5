#include "module.h"

#include "build_log.h"
#include "build_options.h"
#include "copy_out.h"
#include "driver.h"
#include "reference/module.h"
#include "spirv_scan.h"
#include "structure.h"

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
    blr_delete(module->source.constants);
    blr_delete(module->source.code);
    if (module->context != NULL)
        blz_context_release(module->context);
    blr_delete(module);
}

/* ---------------------------------------------------------------- what a module is made of */

static uint32_t swapped(uint32_t word)
{
    return word >> 24 | (word >> 8 & 0xff00u) | (word << 8 & 0xff0000u) | word << 24;
}

static ze_result_t copy_code(const ze_module_desc_t *desc, struct blz_module_source *source)
{
    source->code = blr_new(desc->inputSize);
    if (source->code == NULL)
        return blz_fail_memory("a module");
    source->code_size = desc->inputSize;
    memcpy(source->code, desc->pInputModule, desc->inputSize);
    uint32_t word = 0;
    if (source->code_size >= sizeof word)
        memcpy(&word, source->code, sizeof word);
    if (word != swapped(BLR_SPIRV_MAGIC))
        return ZE_RESULT_SUCCESS;
    for (size_t i = 0; i + sizeof word <= source->code_size; i += sizeof word) {
        memcpy(&word, source->code + i, sizeof word);
        word = swapped(word);
        memcpy(source->code + i, &word, sizeof word);
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t copy_constants(const ze_module_constants_t *given, struct blz_module_source *source)
{
    if (given == NULL || given->numConstants == 0)
        return ZE_RESULT_SUCCESS;
    if (given->pConstantIds == NULL || given->pConstantValues == NULL)
        return blz_fail_null(given->pConstantIds == NULL ? "desc->pConstants->pConstantIds" : "desc->pConstants->pConstantValues");
    if (given->numConstants > BLZ_MAX_CONSTANTS)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "desc->pConstants->numConstants is %u: at most %u are possible",
                        given->numConstants, BLZ_MAX_CONSTANTS);
    source->constants = blr_new(given->numConstants * sizeof *source->constants);
    if (source->constants == NULL)
        return blz_fail_memory("specialization constants");
    for (uint32_t i = 0; i < given->numConstants; i++) {
        struct blz_constant *constant = &source->constants[i];
        if (given->pConstantValues[i] == NULL)
            return blz_fail_null("an element of desc->pConstants->pConstantValues");
        constant->id = given->pConstantIds[i];
        constant->size = blz_spirv_constant_size(source->code, source->code_size, constant->id);
        if (constant->size < 1 || constant->size > sizeof constant->value)
            constant->size = 1; /* there is no such constant, and the build will say so */
        memcpy(constant->value, given->pConstantValues[i], constant->size);
    }
    source->constant_count = given->numConstants;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t read_source(const ze_module_desc_t *desc, struct blz_module_source *source)
{
    if (desc->pInputModule == NULL)
        return blz_fail_null("desc->pInputModule");
    if (desc->inputSize == 0)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "desc->inputSize is 0: a module has bytes");
    if (desc->format == ZE_MODULE_FORMAT_NATIVE)
        return blz_native_binary_read(desc->pInputModule, desc->inputSize, source);
    if (desc->format != ZE_MODULE_FORMAT_IL_SPIRV)
        return blz_fail_enumeration("desc->format", desc->format,
                                    "ZE_MODULE_FORMAT_IL_SPIRV (0) and ZE_MODULE_FORMAT_NATIVE (1) are known");
    ze_result_t result = copy_code(desc, source);
    return result == ZE_RESULT_SUCCESS ? copy_constants(desc->pConstants, source) : result;
}

/* ---------------------------------------------------------------- building */

static bool find_imports(blr_module_t handle)
{
    struct blr_module *native = blr_module_acquire(handle);
    bool found = false;
    for (uint32_t part = 0; part < native->part_count; part++)
        for (uint32_t id = 0; id < native->parts[part].bound; id++)
            found = found || blz_is_import(&native->parts[part].ids[id]);
    blr_object_release(&native->object);
    return found;
}

static ze_result_t build(struct blz_module *module)
{
    const struct blz_module_source *source = &module->source;
    blr_specialization_t *values = blr_new((source->constant_count + 1u) * sizeof *values);
    if (values == NULL)
        return blz_fail_memory("specialization constants");
    for (uint32_t i = 0; i < source->constant_count; i++)
        values[i] = (blr_specialization_t){source->constants[i].id, source->constants[i].size, source->constants[i].value};
    blr_result_t result = blrModuleCompile(module->context->native, source->code, source->code_size, source->constant_count,
                                           values, &module->native);
    blr_delete(values);
    if (result == BLR_RESULT_SUCCESS)
        module->imports = find_imports(module->native);
    return result == BLR_RESULT_OUT_OF_MEMORY ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : blz_result(result);
}

static ze_result_t create(struct blz_context *context, const ze_module_desc_t *desc, ze_module_handle_t *handle)
{
    struct blz_module *module = blr_new(sizeof *module);
    if (module == NULL)
        return blz_fail_memory("a module");
    module->context = context;
    blz_context_retain(context);
    ze_result_t result = read_source(desc, &module->source);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_build_options_check(desc->pBuildFlags);
    if (result == ZE_RESULT_SUCCESS)
        result = build(module);
    if (result == ZE_RESULT_SUCCESS)
        return blz_register(&module->object, BLR_KIND_ZE_MODULE, destroy, handle);
    destroy(&module->object);
    return result;
}

/* A log that cannot be made takes the module with it. */
static ze_result_t tell(ze_result_t result, ze_module_handle_t *module, ze_module_build_log_handle_t *log)
{
    ze_result_t told = blz_build_log_tell(result, log);
    if (told == ZE_RESULT_SUCCESS || result != ZE_RESULT_SUCCESS)
        return result;
    zeModuleDestroy(*module);
    *module = NULL;
    return told;
}

ze_result_t zeModuleCreate(ze_context_handle_t context_handle, ze_device_handle_t device_handle, const ze_module_desc_t *desc,
                           ze_module_handle_t *handle, ze_module_build_log_handle_t *log)
{
    struct blz_context *context;
    struct blz_device *device;
    ze_result_t result = blz_place_acquire(context_handle, device_handle, &context, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_MODULE_DESC, "desc", NULL, 0);
    if (result == ZE_RESULT_SUCCESS && handle == NULL)
        result = blz_fail_null("phModule");
    if (result == ZE_RESULT_SUCCESS) {
        *handle = NULL;
        result = create(context, desc, handle);
        if (log != NULL)
            result = tell(result, handle, log);
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
    unsigned char *made = blz_native_binary_write(&module->source, &written);
    result = made == NULL ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : blz_copy_out(made, written, size, binary);
    blr_delete(made);
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

/* A variable of the module in global or constant memory, by the name that it is exported under. */
static const struct blr_spirv_variable *find_variable(const struct blr_module *native, const char *name)
{
    const struct blr_spirv_module *part = &native->parts[0];
    for (uint32_t id = 0; id < part->bound; id++)
        if (part->ids[id].kind == BLR_ID_VARIABLE && !part->ids[id].imported && part->ids[id].linkage != NULL &&
            strcmp(part->ids[id].linkage, name) == 0 && part->ids[id].variable->address != 0)
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
                              "the module has no variable named '%.200s' in global memory that it exports", name);
        if (variable != NULL && size != NULL)
            *size = variable->holds->size;
        if (variable != NULL && pointer != NULL)
            *pointer = (void *)(uintptr_t)variable->address;
        blr_object_release(&native->object);
    }
    blz_module_release(module);
    return result;
}

/* Functions have no addresses here. */
ze_result_t zeModuleGetFunctionPointer(ze_module_handle_t handle, const char *name, void **function)
{
    struct blz_module *module;
    ze_result_t result = blz_module_acquire(handle, &module);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (name == NULL || function == NULL)
        result = blz_fail_null(name == NULL ? "pFunctionName" : "pfnFunction");
    else
        result = blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                          "the address of '%.200s': kernels of this device cannot call functions by address", name);
    blz_module_release(module);
    return result;
}
