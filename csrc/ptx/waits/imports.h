/* Functions of the executor by which threads wait for others: see csrc/reference/spirv/waits/waits.h. */
#ifndef BINDLESS_PTX_WAITS_IMPORTS_H
#define BINDLESS_PTX_WAITS_IMPORTS_H

#include "emit.h"

enum ptx_import { PTX_IMPORT_YIELD, PTX_IMPORT_BARRIER_WAIT, PTX_IMPORT_BARRIER_ARRIVE, PTX_IMPORT_MBARRIER };

/* Calls one with as many inputs as it takes; its result, or that of id 0. */
struct ptx_value ptx_call_import(struct ptx_emitter *emitter, enum ptx_import import, const struct ptx_value *inputs);

enum ptx_mbarrier_step {
    MBARRIER_INIT, MBARRIER_INVALIDATE, MBARRIER_ARRIVE, MBARRIER_DROP, MBARRIER_ARRIVE_EARLY, MBARRIER_TEST, MBARRIER_TEST_PARITY,
    MBARRIER_EXPECT_BYTES, MBARRIER_COMPLETE_BYTES
};

/* Whether barriers of a module have numbers or counts. */
bool ptx_has_numbered_barriers(const struct ptx_module *module);

#endif
