/* Modules: creation from SPIR-V, linking, and their kernels' names. */
#include "kernel/module.h"

#include "platform/heap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct blr_module *blr_module_acquire(blr_module_t handle)
{
    return (struct blr_module *)blr_object_acquire(blr_handle_id(handle), BLR_KIND_MODULE);
}

const struct blr_module_kernel *blr_module_find_kernel(const struct blr_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->kernel_count; i++)
        if (strcmp(module->kernels[i].name, name) == 0)
            return &module->kernels[i];
    return NULL;
}

/* Frees a module, complete or not. */
static void discard(struct blr_module *module)
{
    for (uint32_t i = 0; i < module->object_count; i++)
        blr_object_release(&module->objects[i]->object);
    blr_arena_free(&module->arena);
    blr_delete(module);
}

static void destroy(struct blr_object *object)
{
    struct blr_module *module = (struct blr_module *)object;
    blr_context_release(module->context);
    discard(module);
}

/* ---------------------------------------------------------------- building */

static void select_part(struct blr_module *module, struct blr_spirv_build *build, uint32_t part)
{
    build->words = module->parts[part].words;
    build->count = module->parts[part].count;
    build->module = module->part_count > 1 ? part + 1 : 0;
}

/* Parses all parts and resolves their imports from each other. */
static blr_result_t read_parts(struct blr_module *module, struct blr_spirv_build *build)
{
    if (setjmp(build->failed) != 0)
        return build->result;
    for (uint32_t i = 0; i < module->part_count; i++) {
        struct blr_spirv_module *part = &module->parts[i];
        select_part(module, build, i);
        part->build = build;
        part->specialization_used = blr_spirv_allocate(build, part->specialization_count + 1u, sizeof(bool));
        blr_spirv_read(part);
        module->kernel_count += part->entry_count;
    }
    module->kernels = blr_spirv_allocate(build, module->kernel_count + 1u, sizeof *module->kernels);
    blr_spirv_link(module->parts, module->part_count);
    return BLR_RESULT_SUCCESS;
}

static blr_result_t decode_entry(struct blr_module *module, struct blr_spirv_build *build, uint32_t part,
                                 const struct blr_spirv_entry *entry, struct blr_module_kernel *kernel)
{
    if (setjmp(build->failed) != 0)
        return build->result;
    select_part(module, build, part);
    kernel->name = entry->name;
    kernel->program = blr_spirv_decode(module->parts, module->part_count, part, entry);
    return BLR_RESULT_SUCCESS;
}

static int by_name(const void *one, const void *two)
{
    return strcmp(((const struct blr_module_kernel *)one)->name, ((const struct blr_module_kernel *)two)->name);
}

/* Parses and decodes all parts; the arena holds their words and everything made from them. If later is set, kernels
 * with unresolved imports have no program and wait for linking. */
static blr_result_t build(struct blr_module *module, bool later)
{
    struct blr_spirv_build build = {.arena = &module->arena};
    blr_result_t result = read_parts(module, &build);
    struct blr_module_kernel *kernel = module->kernels;
    for (uint32_t i = 0; result == BLR_RESULT_SUCCESS && i < module->part_count; i++)
        for (uint32_t k = 0; result == BLR_RESULT_SUCCESS && k < module->parts[i].entry_count; k++) {
            build.unresolved = false;
            result = decode_entry(module, &build, i, &module->parts[i].entries[k], kernel++);
            if (result == BLR_RESULT_BUILD_FAILED && build.unresolved && later)
                result = BLR_RESULT_SUCCESS;
        }
    for (uint32_t i = 0; i < module->part_count; i++)
        module->parts[i].build = NULL;
    if (result != BLR_RESULT_SUCCESS || module->part_count < 2)
        return result;
    qsort(module->kernels, module->kernel_count, sizeof *module->kernels, by_name);
    for (uint32_t i = 1; i < module->kernel_count; i++)
        if (strcmp(module->kernels[i - 1].name, module->kernels[i].name) == 0)
            return blr_fail(BLR_RESULT_BUILD_FAILED, "two of the modules that are linked have a kernel '%.80s'",
                            module->kernels[i].name);
    return BLR_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- one module */

static uint32_t swap_bytes(uint32_t word)
{
    return word >> 24 | (word >> 8 & 0xff00u) | (word << 8 & 0xff0000u) | word << 24;
}

static blr_result_t copy_code(struct blr_module *module, const void *code, uint64_t size)
{
    if (size % 4 != 0 || size > BLR_ARENA_LIMIT / 2)
        return blr_fail(BLR_RESULT_BUILD_FAILED, "%" PRIu64 " bytes are not SPIR-V, which consists of words of 4 "
                                                            "bytes", size);
    uint32_t *words = blr_arena_allocate(&module->arena, size + 4);
    if (words == NULL)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for a module of %" PRIu64 " bytes", size);
    memcpy(words, code, size);
    uint32_t count = (uint32_t)(size / 4);
    if (count > 0 && words[0] == swap_bytes(BLR_SPIRV_MAGIC))
        for (uint32_t i = 0; i < count; i++)
            words[i] = swap_bytes(words[i]);
    module->parts->words = words;
    module->parts->count = count;
    return BLR_RESULT_SUCCESS;
}

/* Copies the values of specialization constants. Valid values are at most as large as a scalar; larger ones are
 * truncated here, and the build refuses them by their size. */
static blr_result_t copy_specializations(struct blr_module *module, uint32_t count, const blr_specialization_t *list)
{
    struct blr_spirv_specialization *copies = blr_arena_allocate(&module->arena, (count + (size_t)1) * sizeof *copies);
    unsigned char *values = blr_arena_allocate(&module->arena, (count + (size_t)1) * 8);
    if (copies == NULL || values == NULL)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for %u specializations", count);
    for (uint32_t i = 0; i < count; i++, values += 8) {
        if (list[i].value == NULL)
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the value of specialization %u is NULL", i);
        memcpy(values, list[i].value, list[i].size < 8 ? list[i].size : 8);
        copies[i] = (struct blr_spirv_specialization){list[i].id, list[i].size, values};
    }
    module->parts->specializations = copies;
    module->parts->specialization_count = count;
    return BLR_RESULT_SUCCESS;
}

/* A module with room for a number of parts; NULL after blr_fail. */
static struct blr_module *new_module(uint32_t parts)
{
    struct blr_module *module = blr_new(sizeof *module);
    if (module != NULL)
        module->parts = blr_arena_allocate(&module->arena, parts * sizeof *module->parts);
    if (module != NULL && module->parts != NULL) {
        module->part_count = parts;
        return module;
    }
    if (module != NULL)
        discard(module);
    blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for a module");
    return NULL;
}

/* Creates the handle of a built module, or frees the module after a failure. */
static blr_result_t publish(struct blr_module *module, struct blr_context *context, blr_result_t result, blr_module_t *handle)
{
    if (result == BLR_RESULT_SUCCESS)
        result = blr_object_register(&module->object, BLR_KIND_MODULE, destroy);
    if (result != BLR_RESULT_SUCCESS) {
        discard(module);
        return result;
    }
    blr_context_retain(context);
    module->context = context;
    *handle = (blr_module_t)(uintptr_t)module->object.id;
    return BLR_RESULT_SUCCESS;
}

static blr_result_t create(blr_context_t context_handle, const void *code, uint64_t size, uint32_t num_specializations,
                           const blr_specialization_t *specializations, bool later, blr_module_t *handle)
{
    struct blr_context *context = blr_context_acquire(context_handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_OUT_OF_MEMORY;
    struct blr_module *module = NULL;
    if (handle == NULL)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "module is NULL: an output pointer is required");
    else if (code == NULL || (num_specializations > 0 && specializations == NULL))
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "code or specializations is NULL: SPIR-V is needed");
    else
        module = new_module(1);
    if (handle != NULL)
        *handle = NULL;
    if (module != NULL) {
        result = copy_specializations(module, num_specializations, specializations);
        if (result == BLR_RESULT_SUCCESS)
            result = copy_code(module, code, size);
        if (result == BLR_RESULT_SUCCESS)
            result = build(module, later);
        result = publish(module, context, result, handle);
    }
    blr_context_release(context);
    return result;
}

blr_result_t blrModuleCreate(blr_context_t context, const void *code, uint64_t size, uint32_t num_specializations,
                             const blr_specialization_t *specializations, blr_module_t *module)
{
    return create(context, code, size, num_specializations, specializations, false, module);
}

blr_result_t blrModuleCompile(blr_context_t context, const void *code, uint64_t size, uint32_t num_specializations,
                              const blr_specialization_t *specializations, blr_module_t *module)
{
    return create(context, code, size, num_specializations, specializations, true, module);
}

/* ---------------------------------------------------------------- several modules */

/* Acquires the modules to be linked, and sums the number of their parts. */
static blr_result_t acquire_objects(struct blr_context *context, uint32_t count, const blr_module_t *handles,
                                    struct blr_module **objects, uint32_t *acquired, uint64_t *parts)
{
    for (*acquired = 0; *acquired < count; ++*acquired) {
        struct blr_module *object = blr_module_acquire(handles[*acquired]);
        if (object == NULL)
            return BLR_RESULT_INVALID_HANDLE;
        objects[*acquired] = object;
        *parts += object->part_count;
        if (object->context != context) {
            ++*acquired;
            return blr_fail(BLR_RESULT_INVALID_HANDLE, "module %u is of another context", *acquired - 1);
        }
    }
    return *parts < UINT32_MAX / 2 ? BLR_RESULT_SUCCESS
                                   : blr_fail(BLR_RESULT_INVALID_ARGUMENT, "too many modules to be linked");
}

/* A module that consists of other modules' parts; it retains those modules. */
static struct blr_module *join(struct blr_module **objects, uint32_t count, uint32_t parts)
{
    struct blr_module *module = new_module(parts);
    if (module == NULL)
        return NULL;
    module->objects = blr_arena_allocate(&module->arena, count * sizeof *module->objects);
    if (module->objects == NULL) {
        discard(module);
        blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for %u modules", count);
        return NULL;
    }
    struct blr_spirv_module *part = module->parts;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < objects[i]->part_count; k++, part++) {
            const struct blr_spirv_module *original = &objects[i]->parts[k];
            *part = (struct blr_spirv_module){.words = original->words,
                                              .count = original->count,
                                              .original = original,
                                              .specializations = original->specializations,
                                              .specialization_count = original->specialization_count};
        }
        blr_object_retain(&objects[i]->object);
        module->objects[module->object_count++] = objects[i];
    }
    return module;
}

blr_result_t blrModuleLink(blr_context_t context_handle, uint32_t num_modules, const blr_module_t *modules,
                           blr_module_t *linked)
{
    struct blr_context *context = blr_context_acquire(context_handle);
    if (context == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_SUCCESS;
    struct blr_module **objects = NULL, *module = NULL;
    uint32_t acquired = 0;
    uint64_t parts = 0;
    if (linked != NULL)
        *linked = NULL;
    if (linked == NULL || num_modules == 0 || modules == NULL)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "linked or modules is NULL, or num_modules 0: modules to link "
                                                       "and an output pointer are required");
    else if ((objects = blr_new(num_modules * sizeof *objects)) == NULL)
        result = blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for %u modules", num_modules);
    if (result == BLR_RESULT_SUCCESS)
        result = acquire_objects(context, num_modules, modules, objects, &acquired, &parts);
    if (result == BLR_RESULT_SUCCESS) {
        module = join(objects, num_modules, (uint32_t)parts);
        result = module == NULL ? BLR_RESULT_OUT_OF_MEMORY : publish(module, context, build(module, false), linked);
    }
    for (uint32_t i = 0; i < acquired; i++)
        blr_object_release(&objects[i]->object);
    blr_delete(objects);
    blr_context_release(context);
    return result;
}

/* ---------------------------------------------------------------- queries */

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
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "count is NULL: an output pointer is required");
    else
        *count = module->kernel_count;
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
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "name is NULL: an output pointer is required");
    else if (index >= module->kernel_count)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "kernel %u does not exist: the module has %u", index,
                          module->kernel_count);
    else
        *name = module->kernels[index].name;
    blr_object_release(&module->object);
    return result;
}
