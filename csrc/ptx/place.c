/* Names that texts share, the callees of functions, and the places of variables. */
#include "module.h"

#include <string.h>

/* ---------------------------------------------------------------- names of several texts */

static bool is_defined(const struct ptx_symbol *symbol)
{
    return symbol->kind == PTX_FUNCTION ? symbol->function->has_body : !symbol->is_extern;
}

static bool is_shared_name(const struct ptx_symbol *symbol) { return symbol->is_visible || symbol->is_weak || symbol->is_extern; }

/* Links each shared name to its definition: a strong one, or the first weak one. */
static void link_names(struct ptx_module *module)
{
    const uint32_t scope = ptx_scope_new(module, 0);
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < module->symbol_count; i++) {
            struct ptx_symbol *symbol = module->symbols[i];
            if (!is_shared_name(symbol) || !is_defined(symbol) || symbol->is_dynamic || symbol->is_weak != (pass == 1))
                continue;
            module->build->text = symbol->text;
            if (ptx_find(module, scope, symbol->name) == NULL)
                ptx_define(module, scope, symbol->name, symbol->kind)->definition = symbol;
            else if (pass == 0)
                ptx_fail(module->build, symbol->line, "'%.80s' is defined twice", symbol->name);
        }
    for (uint32_t i = 0; i < module->symbol_count; i++) {
        struct ptx_symbol *symbol = module->symbols[i];
        struct ptx_symbol *own = is_shared_name(symbol) ? ptx_find(module, scope, symbol->name) : NULL;
        if (own != NULL && own->kind == symbol->kind)
            symbol->definition = own->definition;
    }
}

/* ---------------------------------------------------------------- callees */

static void add_callee(struct ptx_module *module, struct ptx_function *function, struct ptx_function *callee)
{
    function->callees = ptx_grow(module->build, function->callees, function->callee_count, &function->callee_capacity, sizeof callee);
    function->callees[function->callee_count++] = callee;
}

static void visit(struct ptx_module *module, struct ptx_function *function, const struct ptx_operand *operand, bool is_target)
{
    if (operand->kind == PTX_OPERAND_SYMBOL && operand->symbol->kind == PTX_FUNCTION) {
        struct ptx_symbol *symbol = operand->symbol->definition;
        if (is_target)
            add_callee(module, function, symbol->function);
        else
            symbol->is_addressed = true;
    }
    if (operand->kind == PTX_OPERAND_SPECIAL && ptx_is_of_launch(operand->name))
        function->reads_launch = true;
    for (uint32_t k = 0; k < operand->count; k++)
        visit(module, function, &operand->items[k], false);
}

static void find_callees(struct ptx_module *module)
{
    for (uint32_t n = 0; n < module->function_count; n++) {
        struct ptx_function *function = module->functions[n];
        for (uint32_t k = 0; k < function->instruction_count; k++) {
            const struct ptx_instruction *i = &function->instructions[k];
            const bool calls = strcmp(i->name, "call") == 0;
            for (uint32_t o = 0; o < i->operand_count; o++)
                visit(module, function, &i->operands[o], calls);
            for (uint32_t o = 0; calls && o < i->operand_count && o < 2; o++)
                function->calls_pointers = function->calls_pointers || i->operands[o].kind == PTX_OPERAND_REGISTER;
        }
    }
    uint64_t address = 0;
    for (uint32_t n = 0; n < module->symbol_count; n++) {
        struct ptx_symbol *symbol = module->symbols[n];
        for (uint32_t k = 0; k < symbol->reference_count; k++)
            symbol->references[k].symbol->definition->is_addressed = true;
    }
    for (uint32_t n = 0; n < module->function_count; n++)
        if (module->functions[n]->symbol->definition->is_addressed && !module->functions[n]->is_entry)
            module->functions[n]->address = address += 16;
}

/* Marks all functions that a call of this one may reach. */
static void reach(struct ptx_module *module, struct ptx_function *function, struct ptx_function **list, uint32_t *count)
{
    bool pointers = false;
    for (uint32_t n = 0; n < module->function_count; n++)
        module->functions[n]->is_marked = false;
    *count = 0;
    list[(*count)++] = function;
    function->is_marked = true;
    for (uint32_t at = 0; at < *count; at++) {
        const struct ptx_function *own = list[at];
        ptx_spend(module->build, own->callee_count + 1u);
        for (uint32_t k = 0; k < own->callee_count; k++)
            if (own->callees[k]->has_body && !own->callees[k]->is_marked) {
                own->callees[k]->is_marked = true;
                list[(*count)++] = own->callees[k];
            }
        if (!own->calls_pointers || pointers)
            continue;
        pointers = true;
        for (uint32_t n = 0; n < module->function_count; n++)
            if (module->functions[n]->address != 0 && !module->functions[n]->is_marked) {
                module->functions[n]->is_marked = true;
                list[(*count)++] = module->functions[n];
            }
    }
}

/* Gives each entry the shared variables of all functions that it may call. */
static void gather_shared(struct ptx_module *module)
{
    struct ptx_function **list = ptx_allocate(module->build, module->function_count + 1u, sizeof(struct ptx_function *));
    for (uint32_t n = 0; n < module->function_count; n++) {
        struct ptx_function *entry = module->functions[n];
        uint32_t count;
        if (!entry->is_entry)
            continue;
        reach(module, entry, list, &count);
        ptx_spend(module->build, module->function_count);
        for (uint32_t k = 0; k < count; k++) {
            entry->reads_launch = entry->reads_launch || list[k]->reads_launch;
            for (uint32_t s = 0; s < list[k]->shared_count; s++) {
                const struct ptx_symbol *symbol = list[k]->shared[s]->definition;
                ptx_spend(module->build, 1);
                entry->uses_dynamic_shared = entry->uses_dynamic_shared || symbol->is_dynamic;
                entry->static_shared += k == 0 || !symbol->is_dynamic ? symbol->size : 0;
            }
        }
    }
}

/* ---------------------------------------------------------------- memory */

static uint64_t align(uint64_t offset, uint64_t alignment) { return (offset + alignment - 1) / alignment * alignment; }

void ptx_place(struct ptx_module *module)
{
    link_names(module);
    find_callees(module);
    module->globals_alignment = 256;
    for (uint32_t n = 0; n < module->symbol_count; n++) {
        struct ptx_symbol *symbol = module->symbols[n];
        uint64_t *end = symbol->kind == PTX_GLOBAL ? &module->globals_bytes : &module->shared_bytes;
        if (symbol->kind == PTX_FUNCTION || symbol->is_dynamic)
            continue;
        module->build->text = symbol->text;
        if (!is_defined(symbol->definition) && symbol->is_used)
            ptx_fail(module->build, symbol->line, "the variable '%.80s' is not defined", symbol->name);
        if (symbol->definition != symbol || symbol->is_extern)
            continue;
        symbol->offset = align(*end, symbol->alignment);
        *end = symbol->offset + symbol->size;
        if (symbol->kind == PTX_GLOBAL && symbol->alignment > module->globals_alignment)
            module->globals_alignment = symbol->alignment;
    }
    for (uint32_t n = 0; n < module->function_count && module->launch_offset == 0; n++)
        if (module->functions[n]->reads_launch) {
            module->launch_offset = align(module->shared_bytes == 0 ? 1 : module->shared_bytes, 8);
            module->shared_bytes = module->launch_offset + 16;
        }
    for (uint32_t n = 0; n < module->symbol_count; n++) {
        struct ptx_symbol *symbol = module->symbols[n];
        if (symbol->is_dynamic) { /* the loader places the launch's memory at a multiple of 128 */
            module->has_dynamic_shared = true;
            symbol->offset = align(module->shared_bytes == 0 ? 1 : align(module->shared_bytes, 8), 128);
        }
    }
    gather_shared(module);
    ptx_find_recursion(module);
}
