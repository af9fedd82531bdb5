/* Linking: imports of modules are resolved by name from the exports of the others. */
#include "spirv/parse/module.h"

#include <stdlib.h>
#include <string.h>

struct export {
    const char *name;
    uint32_t module;
    const struct blr_spirv_id *id;
};

static int by_name(const void *one, const void *two)
{
    const struct export *a = one, *b = two;
    int order = strcmp(a->name, b->name);
    return order != 0 ? order : (a->module > b->module) - (a->module < b->module);
}

static bool is_global(const struct blr_spirv_id *id)
{
    return id->kind == BLR_ID_FUNCTION ||
           (id->kind == BLR_ID_VARIABLE && id->variable->builtin < 0 &&
            (id->variable->storage == BLR_STORAGE_UNIFORM_CONSTANT ||
             id->variable->storage == BLR_STORAGE_CROSS_WORKGROUP));
}

static const struct export *find(const struct export *exports, uint32_t count, const char *name)
{
    uint32_t low = 0;
    for (uint32_t high = count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (strcmp(exports[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && strcmp(exports[low].name, name) == 0 ? &exports[low] : NULL;
}

/* Collects the exports of all modules, sorted by name. */
static uint32_t collect(struct blr_spirv_module *modules, uint32_t count, struct export **exports)
{
    struct blr_spirv_build *build = modules->build;
    uint32_t number = 0, capacity = 0;
    *exports = NULL;
    for (uint32_t n = 0; n < count; n++)
        for (uint32_t i = 0; i < modules[n].bound; i++) {
            const struct blr_spirv_id *id = &modules[n].ids[i];
            if (id->linkage == NULL || id->imported || !is_global(id) ||
                (id->kind == BLR_ID_FUNCTION && id->function->body == 0))
                continue;
            *exports = blr_spirv_grow(build, *exports, number, &capacity, sizeof **exports);
            (*exports)[number++] = (struct export){.name = id->linkage, .module = n, .id = id};
        }
    if (number > 0)
        qsort(*exports, number, sizeof **exports, by_name);
    return number;
}

void blr_spirv_link(struct blr_spirv_module *modules, uint32_t count)
{
    struct blr_spirv_build *build = modules->build;
    struct export *exports;
    uint32_t number = collect(modules, count, &exports);
    for (uint32_t i = 1; i < number; i++)
        if (strcmp(exports[i - 1].name, exports[i].name) == 0 && !(exports[i - 1].id->link_once && exports[i].id->link_once))
            blr_spirv_refuse(build, 0, "'%.80s' is defined twice, in modules %u and %u of those that are linked",
                             exports[i].name, exports[i - 1].module + 1, exports[i].module + 1);
    for (uint32_t n = 0; n < count; n++)
        for (uint32_t i = 0; i < modules[n].bound; i++) {
            const struct blr_spirv_id *id = &modules[n].ids[i];
            const struct export *export = id->imported && is_global(id) ? find(exports, number, id->linkage) : NULL;
            if (export == NULL)
                continue;
            struct blr_spirv_module *its = &modules[export->module];
            if (id->kind != export->id->kind)
                blr_spirv_refuse(build, 0, "'%.80s' is a function in one module and a variable in another", export->name);
            if (id->kind == BLR_ID_FUNCTION) {
                id->function->definition = export->id->function;
                id->function->definition_module = export->module;
                continue;
            }
            const struct blr_spirv_variable *variable = export->id->variable;
            if (variable->storage != id->variable->storage ||
                !blr_spirv_alike(&modules[n], modules[n].ids[id->variable->holds->id].of_type, its,
                                 its->ids[variable->holds->id].of_type))
                blr_spirv_refuse(build, 0, "the variable '%.80s' has another type in the module that defines it", export->name);
            id->variable->definition = variable;
        }
}

/* ---------------------------------------------------------------- types across modules */

bool blr_spirv_alike(struct blr_spirv_module *module, struct blr_spirv_type *type, struct blr_spirv_module *other,
                     struct blr_spirv_type *its)
{
    if (module == other)
        return blr_spirv_same(module, type, its);
    const struct blr_spirv_type *scalar = blr_spirv_scalar(module, type), *its_scalar = blr_spirv_scalar(other, its);
    if (type->kind != its->kind || type->size != its->size || type->scalars != its->scalars ||
        type->lane_bytes != its->lane_bytes || scalar->kind != its_scalar->kind || type->dimension != its->dimension ||
        type->arrayed != its->arrayed || type->depths != its->depths)
        return false;
    if (type->kind == BLR_TYPE_SAMPLED_IMAGE)
        return blr_spirv_alike(module, module->ids[type->element].of_type, other, other->ids[its->element].of_type);
    if (type->kind == BLR_TYPE_POINTER)
        return type->storage == its->storage;
    if (type->scalars == 0)
        return true;
    const struct blr_spirv_leaf *leaves = blr_spirv_leaves(module, type->word, type);
    const struct blr_spirv_leaf *its_leaves = blr_spirv_leaves(other, its->word, its);
    for (uint32_t i = 0; i < type->scalars; i++)
        if (leaves[i].offset != its_leaves[i].offset || leaves[i].lane != its_leaves[i].lane ||
            leaves[i].size != its_leaves[i].size || leaves[i].boolean != its_leaves[i].boolean)
            return false;
    return true;
}
