/* Linking of modules, and inspection of their imports and exports. */
#include "level_zero_driver/module/build_log.h"
#include "level_zero_driver/module/module.h"
#include "reference/kernel/module.h"
#include "reference/platform/threads.h"
#include "level_zero_driver/core/descriptor_chain.h"

#include <stdatomic.h>
#include <string.h>

#define MOST_MODULES 65536u

void blz_linked_release(struct blz_linked *linked)
{
    if (linked == NULL || atomic_fetch_sub(&linked->references, 1) != 1)
        return;
    blrModuleDestroy(linked->native);
    blr_delete(linked);
}

blr_module_t blz_module_native(const struct blz_module *module)
{
    struct blz_linked *linked = atomic_load(&module->linked);
    return linked != NULL ? linked->native : module->native;
}

/* ---------------------------------------------------------------- sets of modules */

struct set {
    uint32_t count;
    struct blz_module **modules; /* retained */
};

static void drop(struct set *set)
{
    for (uint32_t i = 0; i < set->count; i++)
        blz_module_release(set->modules[i]);
    blr_delete(set->modules);
}

static ze_result_t acquire(struct set *set, uint32_t count, ze_module_handle_t *handles)
{
    *set = (struct set){0};
    if (handles == NULL)
        return blz_fail_null("phModules");
    if (count == 0 || count > MOST_MODULES)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "numModules is %u: 1 to %u are possible", count, MOST_MODULES);
    set->modules = blr_new(count * sizeof *set->modules);
    if (set->modules == NULL)
        return blz_fail_memory("a set of modules");
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        result = blz_module_acquire(handles[i], &set->modules[i]);
        set->count += result == ZE_RESULT_SUCCESS;
        if (result == ZE_RESULT_SUCCESS && set->modules[i]->context != set->modules[0]->context)
            result = blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "modules of different contexts cannot be linked");
    }
    return result;
}

/* ---------------------------------------------------------------- linking */

static bool contains(blr_module_t whole, blr_module_t part)
{
    struct blr_module *linked = blr_module_acquire(whole);
    bool result = false;
    for (uint32_t i = 0; i < linked->object_count; i++)
        result = result || linked->objects[i]->object.id == blr_handle_id(part);
    blr_object_release(&linked->object);
    return result;
}

/* Collects the modules to link, each once: unlinked modules, and the members of earlier links. */
static uint32_t collect(const struct set *set, blr_module_t *natives)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        blr_module_t native = blz_module_native(set->modules[i]);
        bool there = false;
        for (uint32_t k = 0; k < count; k++)
            there = there || natives[k] == native;
        for (uint32_t k = 0; k < set->count; k++)
            there = there || (set->modules[k]->linked != NULL && set->modules[i]->linked == NULL &&
                              contains(blz_module_native(set->modules[k]), native));
        if (!there)
            natives[count++] = native;
    }
    return count;
}

/* A lock guards the link: a module is linked once. */
static ze_result_t link_set(const struct set *set)
{
    bool has_imports = false;
    for (uint32_t i = 0; i < set->count; i++)
        has_imports = has_imports || (set->modules[i]->imports && set->modules[i]->linked == NULL);
    if (!has_imports)
        return ZE_RESULT_SUCCESS;
    struct blz_linked *linked = blr_new(sizeof *linked);
    blr_module_t *natives = blr_new(set->count * sizeof *natives);
    ze_result_t result = ZE_RESULT_SUCCESS;
    if (linked == NULL || natives == NULL) {
        result = blz_fail_memory("linked modules");
    } else {
        uint32_t count = collect(set, natives);
        result = blz_link_result(blrModuleLink(set->modules[0]->context->native, count, natives, &linked->native));
    }
    blr_delete(natives);
    if (result != ZE_RESULT_SUCCESS) {
        blr_delete(linked);
        return result;
    }
    atomic_store(&linked->references, 1);
    for (uint32_t i = 0; i < set->count; i++)
        if (set->modules[i]->imports && set->modules[i]->linked == NULL) {
            atomic_fetch_add(&linked->references, 1);
            atomic_store(&set->modules[i]->linked, linked);
        }
    blz_linked_release(linked);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeModuleDynamicLink(uint32_t count, ze_module_handle_t *handles, ze_module_build_log_handle_t *log)
{
    static blr_mutex_t mutex = BLR_MUTEX_INIT;
    struct set set;
    ze_result_t result = acquire(&set, count, handles);
    if (result == ZE_RESULT_SUCCESS) {
        blr_mutex_lock(&mutex);
        result = link_set(&set);
        blr_mutex_unlock(&mutex);
        ze_result_t outcome = blz_build_log_tell(result, "", log);
        result = result == ZE_RESULT_SUCCESS ? outcome : result;
    }
    drop(&set);
    return result;
}

/* ---------------------------------------------------------------- inspection */

/* Iterates over the imports and exports of modules; starts as {0}. */
struct symbol {
    const char *name;
    bool imported;
    uint32_t module, part, next; /* position of the symbol, and the id after it */
};

static bool next_symbol(const struct set *set, struct symbol *symbol)
{
    for (; symbol->module < set->count; symbol->module++, symbol->part = 0) {
        const struct blz_module *module = set->modules[symbol->module];
        struct blr_module *native = blr_module_acquire(module->native);
        blr_object_release(&native->object); /* the Level Zero module retains it, and thereby the names */
        for (; symbol->part < native->part_count; symbol->part++, symbol->next = 0)
            while (symbol->next < native->parts[symbol->part].bound) {
                const struct blr_spirv_id *id = &native->parts[symbol->part].ids[symbol->next++];
                if (id->linkage == NULL || id->builtin != 0 || (id->imported && !module->imports))
                    continue; /* another input of the program exports it */
                symbol->name = id->linkage;
                symbol->imported = id->imported;
                return true;
            }
    }
    return false;
}

static bool is_exported(const struct set *set, const char *name)
{
    for (struct symbol symbol = {0}; next_symbol(set, &symbol);)
        if (!symbol.imported && strcmp(symbol.name, name) == 0)
            return true;
    return false;
}

static void inspect(const struct set *set, ze_linkage_inspection_ext_flags_t flags, struct blz_log_text *text)
{
    for (struct symbol symbol = {0}; !text->failed && next_symbol(set, &symbol);) {
        if (!symbol.imported && (flags & ZE_LINKAGE_INSPECTION_EXT_FLAG_EXPORTS) != 0)
            blz_log_add(text, "export ", symbol.name);
        if (symbol.imported && (flags & ZE_LINKAGE_INSPECTION_EXT_FLAG_IMPORTS) != 0)
            blz_log_add(text, "import ", symbol.name);
        if (symbol.imported && (flags & ZE_LINKAGE_INSPECTION_EXT_FLAG_UNRESOLVABLE_IMPORTS) != 0 && !is_exported(set, symbol.name))
            blz_log_add(text, "unresolvable import ", symbol.name);
    }
}

ze_result_t zeModuleInspectLinkageExt(ze_linkage_inspection_ext_desc_t *desc, uint32_t count, ze_module_handle_t *handles,
                                      ze_module_build_log_handle_t *log)
{
    struct set set = {0};
    ze_result_t result = blz_descriptor(desc, ZE_STRUCTURE_TYPE_LINKAGE_INSPECTION_EXT_DESC, "pInspectDesc", NULL, 0);
    if (result == ZE_RESULT_SUCCESS && (desc->flags == 0 || (desc->flags & ~(uint32_t)7) != 0))
        result = blz_fail_enumeration("pInspectDesc->flags", desc->flags, "some of the ZE_LINKAGE_INSPECTION_EXT_FLAGs (0x7) are needed");
    if (result == ZE_RESULT_SUCCESS && log == NULL)
        result = blz_fail_null("phLog");
    if (result == ZE_RESULT_SUCCESS)
        result = acquire(&set, count, handles);
    if (result == ZE_RESULT_SUCCESS) {
        struct blz_log_text text = {0};
        inspect(&set, desc->flags, &text);
        result = text.failed ? blz_fail_memory("a log of linkage") : blz_build_log_create(text.bytes != NULL ? text.bytes : "", log);
        blr_delete(text.bytes);
    }
    drop(&set);
    return result;
}
