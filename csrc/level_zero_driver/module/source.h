/* Sources of modules: SPIR-V with specialization constants; a program has several inputs. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_MODULE_SOURCE_H
#define BINDLESS_LEVEL_ZERO_DRIVER_MODULE_SOURCE_H

#include "level_zero_driver/module/build_log.h"

#define BLZ_MAX_CONSTANTS 4096u

/* The value of a specialization constant. */
struct blz_constant {
    uint32_t id;
    uint32_t size; /* bytes: 1 to 8 */
    unsigned char value[8];
};

/* One input. It owns the arrays; blr_delete frees them. */
struct blz_module_source {
    unsigned char *code; /* SPIR-V in the processor's byte order */
    size_t code_size;
    struct blz_constant *constants;
    uint32_t constant_count;
};

/* All inputs of a module. */
struct blz_module_sources {
    struct blz_module_source *each;
    uint32_t count;
    struct blz_log_text log; /* notes about the descriptor */
};

/* Allocates count empty inputs. */
ze_result_t blz_module_sources_make(uint32_t count, struct blz_module_sources *sources);
void blz_module_sources_delete(struct blz_module_sources *sources);

/* Reads a descriptor with a checked chain; program is the chained program description, or NULL. Also checks the
 * build options. The caller deletes the sources, also after a failure. */
ze_result_t blz_module_sources_read(const ze_module_desc_t *desc, const ze_module_program_exp_desc_t *program,
                                    struct blz_module_sources *sources);

/* A hash that is equal for equal inputs in every process. */
uint64_t blz_module_sources_hash(const struct blz_module_sources *sources);

#endif
