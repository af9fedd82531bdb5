/* Modules: what they were made of, and the reference driver's module. */
#ifndef BLZ_MODULE_H
#define BLZ_MODULE_H

#include "context.h"
#include "module_source.h"
#include "reference/module.h"

/* Several modules as one, in which imports are what the others export. Shared by those that import something. */
struct blz_linked {
    _Atomic uint32_t references;
    blr_module_t native;
};

struct blz_module {
    struct blr_object object;
    struct blz_context *context;        /* retained */
    struct blz_module_sources sources;
    blr_module_t native;
    bool imports;                       /* functions or variables of other modules, which are to be linked to it */
    struct blz_linked *_Atomic linked;  /* once it is, for good */
};

ze_result_t blz_module_acquire(ze_module_handle_t handle, struct blz_module **module);
static inline void blz_module_release(struct blz_module *module) { blr_object_release(&module->object); }

/* Built-in variables are declared as imports, and are none. */
static inline bool blz_is_import(const struct blr_spirv_id *id) { return id->imported && id->builtin == 0; }

/* What a failed link is: MODULE_LINK_FAILURE where modules do not fit together. */
ze_result_t blz_link_result(blr_result_t result);

void blz_linked_release(struct blz_linked *linked);

/* The module that has the kernels: the one that it is linked into, or its own. */
blr_module_t blz_module_native(const struct blz_module *module);

#endif
