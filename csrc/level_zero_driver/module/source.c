/* Sources of modules: reading of descriptors, and hashing. */

#include "level_zero_driver/module/source.h"

#include "level_zero_driver/module/build_options.h"
#include "level_zero_driver/module/native_binary.h"
#include "level_zero_driver/module/ocloc_binary.h"
#include "reference/platform/heap.h"
#include "reference/spirv/opcodes.h"
#include "level_zero_driver/module/spec_constant_sizes.h"

#include <string.h>

#define MOST_INPUTS 65536u

ze_result_t blz_module_sources_make(uint32_t count, struct blz_module_sources *sources)
{
    sources->each = blr_new(count * sizeof *sources->each);
    if (sources->each == NULL)
        return blz_fail_memory("the inputs of a module");
    sources->count = count;
    return ZE_RESULT_SUCCESS;
}

void blz_module_sources_delete(struct blz_module_sources *sources)
{
    for (uint32_t i = 0; i < sources->count; i++) {
        blr_delete(sources->each[i].constants);
        blr_delete(sources->each[i].code);
    }
    blr_delete(sources->each);
    blr_delete(sources->log.bytes);
    *sources = (struct blz_module_sources){0};
}

/* ---------------------------------------------------------------- one input */

static uint32_t swap_bytes(uint32_t word)
{
    return word >> 24 | (word >> 8 & 0xff00u) | (word << 8 & 0xff0000u) | word << 24;
}

static ze_result_t copy_code(const uint8_t *code, size_t size, struct blz_module_source *source)
{
    source->code = blr_new(size);
    if (source->code == NULL)
        return blz_fail_memory("a module");
    source->code_size = size;
    memcpy(source->code, code, size);
    uint32_t word = 0;
    if (size >= sizeof word)
        memcpy(&word, source->code, sizeof word);
    if (word != swap_bytes(BLR_SPIRV_MAGIC))
        return ZE_RESULT_SUCCESS;
    for (size_t i = 0; i + sizeof word <= size; i += sizeof word) {
        memcpy(&word, source->code + i, sizeof word);
        word = swap_bytes(word);
        memcpy(source->code + i, &word, sizeof word);
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t copy_constants(const ze_module_constants_t *list, struct blz_module_source *source)
{
    if (list == NULL || list->numConstants == 0)
        return ZE_RESULT_SUCCESS;
    if (list->pConstantIds == NULL || list->pConstantValues == NULL)
        return blz_fail_null(list->pConstantIds == NULL ? "pConstants->pConstantIds" : "pConstants->pConstantValues");
    if (list->numConstants > BLZ_MAX_CONSTANTS)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "pConstants->numConstants is %u: at most %u are possible",
                        list->numConstants, BLZ_MAX_CONSTANTS);
    source->constants = blr_new(list->numConstants * sizeof *source->constants);
    if (source->constants == NULL)
        return blz_fail_memory("specialization constants");
    for (uint32_t i = 0; i < list->numConstants; i++) {
        struct blz_constant *constant = &source->constants[i];
        if (list->pConstantValues[i] == NULL)
            return blz_fail_null("an element of pConstants->pConstantValues");
        constant->id = list->pConstantIds[i];
        constant->size = blz_spirv_constant_size(source->code, source->code_size, constant->id);
        if (constant->size < 1 || constant->size > sizeof constant->value)
            constant->size = 1; /* no such constant exists; the build reports it */
        memcpy(constant->value, list->pConstantValues[i], constant->size);
    }
    source->constant_count = list->numConstants;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t read_input(const uint8_t *code, size_t size, const ze_module_constants_t *constants, const char *options,
                              struct blz_module_source *source, struct blz_log_text *log)
{
    if (code == NULL)
        return blz_fail_null("the input of a module");
    if (size == 0)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "inputSize is 0: at least 1 byte is needed");
    ze_result_t result = copy_code(code, size, source);
    if (result == ZE_RESULT_SUCCESS)
        result = copy_constants(constants, source);
    return result == ZE_RESULT_SUCCESS ? blz_build_options_check(options, log) : result;
}

/* ---------------------------------------------------------------- all inputs */

static ze_result_t read_program(const ze_module_program_exp_desc_t *program, struct blz_module_sources *sources)
{
    if (program->count == 0 || program->count > MOST_INPUTS)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "the count of a program's inputs is %u: 1 to %u are possible", program->count,
                        MOST_INPUTS);
    if (program->inputSizes == NULL || program->pInputModules == NULL)
        return blz_fail_null(program->inputSizes == NULL ? "inputSizes of a program" : "pInputModules of a program");
    ze_result_t result = blz_module_sources_make(program->count, sources);
    for (uint32_t i = 0; i < program->count && result == ZE_RESULT_SUCCESS; i++)
        result = read_input(program->pInputModules[i], program->inputSizes[i],
                            program->pConstants != NULL ? program->pConstants[i] : NULL,
                            program->pBuildFlags != NULL ? program->pBuildFlags[i] : NULL, &sources->each[i],
                            &sources->log);
    return result;
}

ze_result_t blz_module_sources_read(const ze_module_desc_t *desc, const ze_module_program_exp_desc_t *program,
                                    struct blz_module_sources *sources)
{
    *sources = (struct blz_module_sources){0};
    if (desc->format != ZE_MODULE_FORMAT_IL_SPIRV && desc->format != ZE_MODULE_FORMAT_NATIVE)
        return blz_fail_enumeration("desc->format", desc->format,
                                    "ZE_MODULE_FORMAT_IL_SPIRV (0) and ZE_MODULE_FORMAT_NATIVE (1) are known");
    if (program != NULL && desc->format == ZE_MODULE_FORMAT_NATIVE)
        return blz_fail_enumeration("desc->format", desc->format, "ZE_MODULE_FORMAT_IL_SPIRV (0) is needed for a program");
    if (program != NULL)
        return read_program(program, sources);
    const uint8_t *code = desc->pInputModule;
    size_t size = desc->inputSize;
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (desc->format == ZE_MODULE_FORMAT_NATIVE && code == NULL)
        return blz_fail_null("desc->pInputModule");
    const bool is_ocloc = desc->format == ZE_MODULE_FORMAT_NATIVE && blz_is_ocloc_binary(code, size);
    if (is_ocloc)
        result = blz_ocloc_binary_read(code, size, &code, &size);
    if (desc->format == ZE_MODULE_FORMAT_IL_SPIRV || is_ocloc) {
        if (result == ZE_RESULT_SUCCESS)
            result = blz_module_sources_make(1, sources);
        return result == ZE_RESULT_SUCCESS
                   ? read_input(code, size, desc->pConstants, desc->pBuildFlags, sources->each, &sources->log)
                   : result;
    }
    result = blz_native_binary_read(desc->pInputModule, desc->inputSize, sources);
    return result == ZE_RESULT_SUCCESS ? blz_build_options_check(desc->pBuildFlags, &sources->log) : result;
}

/* ---------------------------------------------------------------- hash */

/* FNV-1a. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t blz_module_sources_hash(const struct blz_module_sources *sources)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint32_t i = 0; i < sources->count; i++) {
        const struct blz_module_source *source = &sources->each[i];
        hash = hash_bytes(hash, &source->code_size, sizeof source->code_size);
        hash = hash_bytes(hash, source->constants, source->constant_count * sizeof *source->constants);
        hash = hash_bytes(hash, source->code, source->code_size);
    }
    return hash;
}
