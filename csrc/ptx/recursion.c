/* Functions that may call themselves: the strongly connected components of the calls (Tarjan). */
#include "module.h"

struct search {
    struct ptx_module *module;
    uint32_t *low, *order, *next; /* by number of the function; order: 0 before the visit */
    struct ptx_function **stack, **path;
    uint32_t stack_count, depth, clock, components;
};

/* Call k of a function: a callee, then all functions with an address if it calls pointers. NULL behind the last. */
static struct ptx_function *callee_at(const struct ptx_module *module, const struct ptx_function *function, uint32_t k)
{
    if (k < function->callee_count)
        return function->callees[k];
    k -= function->callee_count;
    return function->calls_pointers && k < module->function_count ? module->functions[k] : NULL;
}

static bool is_callee(const struct ptx_function *function, const struct ptx_function *callee, uint32_t k)
{
    return callee->has_body && (k < function->callee_count || callee->address != 0);
}

static void enter(struct search *search, struct ptx_function *function)
{
    search->order[function->number] = search->low[function->number] = ++search->clock;
    search->stack[search->stack_count++] = function;
    search->path[search->depth++] = function;
}

static void leave(struct search *search, struct ptx_function *function)
{
    const uint32_t own = function->number;
    search->depth--;
    if (search->depth > 0) {
        const uint32_t outer = search->path[search->depth - 1]->number;
        search->low[outer] = search->low[own] < search->low[outer] ? search->low[own] : search->low[outer];
    }
    if (search->low[own] != search->order[own])
        return;
    struct ptx_function *member;
    const bool several = search->stack[search->stack_count - 1] != function;
    search->components++;
    do {
        member = search->stack[--search->stack_count];
        member->component = search->components;
        member->is_recursive = member->is_recursive || several;
    } while (member != function);
}

void ptx_find_recursion(struct ptx_module *module)
{
    const uint32_t count = module->function_count;
    struct search search = {.module = module};
    search.low = ptx_allocate(module->build, count, sizeof *search.low);
    search.order = ptx_allocate(module->build, count, sizeof *search.order);
    search.next = ptx_allocate(module->build, count, sizeof *search.next);
    search.stack = ptx_allocate(module->build, count, sizeof *search.stack);
    search.path = ptx_allocate(module->build, count, sizeof *search.path);
    for (uint32_t n = 0; n < count; n++)
        module->functions[n]->number = n;
    for (uint32_t n = 0; n < count; n++) {
        if (search.order[n] == 0)
            enter(&search, module->functions[n]);
        while (search.depth > 0) {
            struct ptx_function *own = search.path[search.depth - 1];
            const uint32_t k = search.next[own->number]++;
            struct ptx_function *callee = callee_at(module, own, k);
            ptx_spend(module->build, 1);
            if (callee == NULL) {
                leave(&search, own);
                continue;
            }
            if (!is_callee(own, callee, k))
                continue;
            own->is_recursive = own->is_recursive || callee == own;
            if (search.order[callee->number] == 0)
                enter(&search, callee);
            else if (callee->component == 0 && search.order[callee->number] < search.low[own->number])
                search.low[own->number] = search.order[callee->number];
        }
    }
}
