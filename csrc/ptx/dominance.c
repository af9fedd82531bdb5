/*
 * Dominators of blocks and their frontiers ("A Simple, Fast Dominance Algorithm", Cooper, Harvey and Kennedy, 2001), and the
 * blocks that define each variable.
 */
#include "emit.h"

#include <string.h>

static uint32_t common(struct ptx_emitter *e, uint32_t a, uint32_t b)
{
    while (a != b) {
        ptx_spend(e->build, 1);
        if (e->blocks[a].number > e->blocks[b].number)
            a = e->blocks[a].dominator;
        else
            b = e->blocks[b].dominator;
    }
    return a;
}

static void find_frontiers(struct ptx_emitter *e)
{
    for (uint32_t n = 1; n < e->order_count; n++) {
        const uint32_t block = e->order[n];
        const struct ptx_block *own = &e->blocks[block];
        for (uint32_t k = 0; k < own->predecessor_count && own->predecessor_count > 1; k++)
            for (uint32_t at = own->predecessors[k]; at != own->dominator; at = e->blocks[at].dominator) {
                struct ptx_block *runner = &e->blocks[at];
                ptx_spend(e->build, 1);
                if (runner->frontier_count > 0 && runner->frontier[runner->frontier_count - 1] == block)
                    break; /* another predecessor came by */
                runner->frontier = ptx_grow(e->build, runner->frontier, runner->frontier_count, &runner->frontier_capacity, sizeof block);
                runner->frontier[runner->frontier_count++] = block;
            }
    }
}

void ptx_find_dominators(struct ptx_emitter *e)
{
    bool *ready = ptx_allocate(e->build, e->block_count, sizeof *ready);
    ready[0] = true; /* the first block, which nothing leads to */
    for (bool changes = true; changes;) {
        changes = false;
        for (uint32_t n = 1; n < e->order_count; n++) {
            struct ptx_block *own = &e->blocks[e->order[n]];
            uint32_t dominator = UINT32_MAX;
            for (uint32_t k = 0; k < own->predecessor_count; k++)
                if (ready[own->predecessors[k]])
                    dominator = dominator == UINT32_MAX ? own->predecessors[k] : common(e, dominator, own->predecessors[k]);
            changes = changes || !ready[e->order[n]] || own->dominator != dominator;
            own->dominator = dominator;
            ready[e->order[n]] = true;
        }
        ptx_spend(e->build, e->order_count);
    }
    find_frontiers(e);
}

/* ---------------------------------------------------------------- definitions */

static void add_site(struct ptx_emitter *e, uint32_t variable, uint32_t block)
{
    struct ptx_sites *sites = &e->sites[variable];
    if (sites->count > 0 && sites->blocks[sites->count - 1] == block)
        return;
    sites->blocks = ptx_grow(e->build, sites->blocks, sites->count, &sites->capacity, sizeof block);
    sites->blocks[sites->count++] = block;
}

/* The variables that an operand's place makes a result. */
static void add_results(struct ptx_emitter *e, const struct ptx_operand *operand, uint32_t block, bool is_address)
{
    if (operand->kind == PTX_OPERAND_REGISTER && !is_address)
        add_site(e, operand->number, block);
    if (operand->kind == PTX_OPERAND_SYMBOL) {
        const struct ptx_symbol *symbol = operand->symbol;
        if ((symbol->kind == PTX_ARGUMENT || (symbol->kind == PTX_PARAMETER && symbol->is_result)) && !symbol->is_array)
            add_site(e, ptx_variable_of(e, symbol), block);
    }
    for (uint32_t k = 0; k < operand->count; k++)
        add_results(e, &operand->items[k], block, is_address || operand->kind == PTX_OPERAND_ADDRESS);
}

void ptx_find_sites(struct ptx_emitter *e)
{
    const struct ptx_function *function = e->function;
    e->sites = ptx_allocate(e->build, (uint64_t)function->register_count + function->local_count + function->result_count, sizeof *e->sites);
    for (uint32_t n = 0; n < function->parameter_count; n++)
        if (function->parameters[n]->kind == PTX_REGISTER)
            add_site(e, function->parameters[n]->number, 0);
    for (uint32_t n = 0; n < e->order_count; n++) {
        const struct ptx_block *own = &e->blocks[e->order[n]];
        for (uint32_t k = own->first; k < own->end; k++) {
            const struct ptx_instruction *i = &function->instructions[k];
            if (i->operand_count > 0)
                add_results(e, &i->operands[0], e->order[n], false);
            if (ptx_has(i, "cc"))
                add_site(e, e->carry, e->order[n]);
        }
    }
}
