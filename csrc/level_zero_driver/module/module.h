/* Modules: their sources, and the module of the reference driver. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_MODULE_MODULE_H
#define BINDLESS_LEVEL_ZERO_DRIVER_MODULE_MODULE_H

#include "level_zero_driver/driver/context.h"
#include "level_zero_driver/module/source.h"
#include "reference/kernel/module.h"

/* Several linked modules, in which imports resolve to the exports of the others. Shared by the modules with imports. */
struct blz_linked {
    _Atomic uint32_t references;
    blr_module_t native;
};

struct blz_module {
    struct blr_object object;
    struct blz_context *context;        /* retained */
    struct blz_module_sources sources;
    blr_module_t native;
    bool imports;                       /* has functions or variables that a link must resolve */
    struct blz_linked *_Atomic linked;  /* set once by the link */
};

ze_result_t blz_module_acquire(ze_module_handle_t handle, struct blz_module **module);
static inline void blz_module_release(struct blz_module *module) { blr_object_release(&module->object); }

/* Built-in variables have import linkage but need no link. */
static inline bool blz_is_import(const struct blr_spirv_id *id) { return id->imported && id->builtin == 0; }

/* Maps the result of a failed link: MODULE_LINK_FAILURE for modules that do not fit together. */
ze_result_t blz_link_result(blr_result_t result);

void blz_linked_release(struct blz_linked *linked);

/* Returns the module that holds the kernels: the linked one after a link, else its own. */
blr_module_t blz_module_native(const struct blz_module *module);

#endif
