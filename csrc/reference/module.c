#include "module.h"

#include "allocate.h"

#include <inttypes.h>
#include <string.h>

struct blr_module *blr_module_acquire(blr_module_t handle)
{
    return (struct blr_module *)blr_object_acquire(blr_handle_id(handle), BLR_KIND_MODULE);
}

static void destroy(struct blr_object *object)
{
    struct blr_module *module = (struct blr_module *)object;
    blr_arena_free(&module->spirv.arena);
    blr_context_release(module->context);
    blr_delete(module);
}

/* Reads and decodes the module whose words lie in its arena. Everything it makes lies there too. */
static blr_result_t build(struct blr_module *module, uint32_t *words, uint32_t count)
{
    struct blr_spirv_build build = {.arena = &module->spirv.arena, .words = words, .count = count};
    module->spirv.build = &build;
    if (setjmp(build.failed) != 0) {
        module->spirv.build = NULL;
        return build.result;
    }
    module->spirv.specialization_used =
        blr_spirv_allocate(&build, module->spirv.specialization_count + 1u, sizeof(bool));
    blr_spirv_read(&module->spirv);
    module->programs = blr_spirv_allocate(&build, module->spirv.entry_count + 1u, sizeof *module->programs);
    for (uint32_t i = 0; i < module->spirv.entry_count; i++)
        module->programs[i] = blr_spirv_decode(&module->spirv, &module->spirv.entries[i]);
    module->spirv.build = NULL;
    return BLR_RESULT_SUCCESS;
}

static uint32_t swapped(uint32_t word)
{
    return word >> 24 | (word >> 8 & 0xff00u) | (word << 8 & 0xff0000u) | word << 24;
}

static blr_result_t read_code(struct blr_module *module, const void *code, uint64_t size)
{
    if (size % 4 != 0 || size > BLR_ARENA_LIMIT / 2)
        return blr_fail(BLR_RESULT_BUILD_FAILED, "%" PRIu64 " bytes are no SPIR-V: it consists of words of 4 bytes", size);
    uint32_t *words = blr_arena_allocate(&module->spirv.arena, size + 4);
    if (words == NULL)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for a module of %" PRIu64 " bytes", size);
    memcpy(words, code, size);
    uint32_t count = (uint32_t)(size / 4);
    if (count > 0 && words[0] == swapped(BLR_SPIRV_MAGIC))
        for (uint32_t i = 0; i < count; i++)
            words[i] = swapped(words[i]);
    return build(module, words, count);
}

static blr_result_t create(struct blr_context *context, const void *code, uint64_t size, uint32_t num_specializations,
                           const blr_specialization_t *specializations, blr_module_t *handle)
{
    if (handle == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "module is NULL: a place for the result is needed");
    *handle = NULL;
    if (code == NULL || (num_specializations > 0 && specializations == NULL))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "code or specializations is NULL: SPIR-V is needed");
    struct blr_module *module = blr_new(sizeof *module);
    if (module == NULL)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for a module");
    struct blr_spirv_specialization *asked =
        blr_arena_allocate(&module->spirv.arena, (num_specializations + (size_t)1) * sizeof *asked);
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (asked == NULL)
        result = blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for %u specializations", num_specializations);
    for (uint32_t i = 0; result == BLR_RESULT_SUCCESS && i < num_specializations; i++) {
        if (specializations[i].value == NULL)
            result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the value of specialization %u is NULL", i);
        asked[i] = (struct blr_spirv_specialization){specializations[i].id, specializations[i].size,
                                                     specializations[i].value};
    }
    module->spirv.specializations = asked;
    module->spirv.specialization_count = num_specializations;
    if (result == BLR_RESULT_SUCCESS)
        result = read_code(module, code, size);
    if (result == BLR_RESULT_SUCCESS)
        result = blr_object_register(&module->object, BLR_KIND_MODULE, destroy);
    if (result != BLR_RESULT_SUCCESS) {
        blr_arena_free(&module->spirv.arena);
        blr_delete(module);
        return result;
    }
    blr_context_retain(context);
    module->context = context;
    *handle = (blr_module_t)(uintptr_t)module->object.id;
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrModuleCreate(blr_context_t context_handle, const void *code, uint64_t size,
                             uint32_t num_specializations, const blr_specialization_t *specializations,
                             blr_module_t *module)
{
    struct blr_context *context = blr_context_acquire(context_handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = create(context, code, size, num_specializations, specializations, module);
    blr_context_release(context);
    return result;
}

blr_result_t blrModuleDestroy(blr_module_t handle)
{
    struct blr_module *module = blr_module_acquire(handle);
    if (module == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    bool first = blr_object_close(&module->object);
    blr_object_release(&module->object);
    if (!first)
        return blr_fail(BLR_RESULT_INVALID_HANDLE, "the module was destroyed by another thread");
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrModuleGetKernelCount(blr_module_t handle, uint32_t *count)
{
    struct blr_module *module = blr_module_acquire(handle);
    if (module == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (count == NULL)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "count is NULL: a place for the result is needed");
    else
        *count = module->spirv.entry_count;
    blr_object_release(&module->object);
    return result;
}

blr_result_t blrModuleGetKernelName(blr_module_t handle, uint32_t index, const char **name)
{
    struct blr_module *module = blr_module_acquire(handle);
    if (module == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    if (name == NULL)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "name is NULL: a place for the result is needed");
    else if (index >= module->spirv.entry_count)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "kernel %u does not exist: the module has %u", index,
                          module->spirv.entry_count);
    else
        *name = module->spirv.entries[index].name;
    blr_object_release(&module->object);
    return result;
}
