/* Faults of calls of pointers to functions. */
#include "spirv/execute/interpreter.h"
#include "spirv/execute/operations.h"

#include <inttypes.h>

/* The name of the function at an address, or NULL. */
static const char *function_at(const struct blr_spirv_program *program, uint64_t address)
{
    for (uint32_t n = 0; n < program->module_count; n++) {
        const struct blr_spirv_module *module = &program->modules[n];
        const uint64_t first = (uint64_t)(uintptr_t)module->addresses;
        if (module->addresses == NULL || address < first || address - first >= module->bound)
            continue;
        const struct blr_spirv_id *id = &module->ids[address - first];
        if (id->has_address)
            return id->linkage != NULL ? id->linkage : id->name != NULL ? id->name : "";
    }
    return NULL;
}

void blr_spirv_run_wrong_call(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    (void)result;
    const uint32_t lane = (uint32_t)__builtin_ctzll(batch->mask);
    const uint64_t *addresses = blr_register(batch, op->in[0]);
    const char *name = function_at(batch->worker->launch->program, addresses[lane]);
    if (name != NULL)
        blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT,
                        "calls the function '%.80s' by pointer, with other types than it has or while it runs", name);
    else
        blr_spirv_fault(batch, op, lane, BLR_RESULT_KERNEL_FAULT,
                        "calls the address 0x%" PRIx64 ", which is no function of the module", addresses[lane]);
}

void blr_spirv_run_check_call(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    (void)result;
    const uint32_t *sites = blr_register(batch, op->in[0]);
    uint64_t open = 0;
    for (uint32_t i = 0; i < BLR_LANES; i++)
        open |= (uint64_t)(sites[i] != 0) << i;
    if ((open &= batch->mask) != 0)
        blr_spirv_fault(batch, op, (uint32_t)__builtin_ctzll(open), BLR_RESULT_KERNEL_FAULT,
                        "calls a function while it runs: recursion is not supported");
}
