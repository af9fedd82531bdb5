/*
 * Variables in static single assignment. Phis are possible where definitions of a variable meet (dominance.c), and exist
 * where one is read. A phi of one value is that value.
 */
#include "emit.h"

enum ptx_kind ptx_kind_of(enum ptx_type type)
{
    const uint32_t bits = ptx_bits(type);
    if (type == PTX_PRED)
        return PTX_BOOL;
    if (ptx_class(type) == 'f')
        return bits == 16 ? PTX_H : bits == 32 ? PTX_F : PTX_D;
    return ptx_integer(bits);
}

uint32_t ptx_variable_of(const struct ptx_emitter *e, const struct ptx_symbol *symbol)
{
    const struct ptx_function *function = e->function;
    if (symbol->kind == PTX_REGISTER)
        return symbol->number;
    return function->register_count + symbol->number + (symbol->is_result ? function->local_count : 0);
}

enum ptx_kind ptx_variable_kind(const struct ptx_emitter *e, uint32_t variable)
{
    const struct ptx_function *function = e->function;
    if (variable < function->register_count)
        return ptx_kind_of(function->registers[variable].type);
    variable -= function->register_count;
    return ptx_kind_of(variable < function->local_count ? function->locals[variable]->type
                                                        : function->results[variable - function->local_count]->type);
}

/* ---------------------------------------------------------------- definitions */

static struct ptx_definition *slot_of(struct ptx_emitter *e, uint64_t key)
{
    uint64_t hash = key * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
    for (uint32_t k = (uint32_t)hash & (e->definition_room - 1);; k = (k + 1) & (e->definition_room - 1))
        if (e->definitions[k].key == key || e->definitions[k].key == 0)
            return &e->definitions[k];
}

static void define(struct ptx_emitter *e, uint32_t block, uint32_t variable, uint32_t id)
{
    if (2 * (e->definition_count + 1) > e->definition_room) {
        struct ptx_definition *old = e->definitions;
        const uint32_t room = e->definition_room;
        e->definition_room = room == 0 ? 256 : 2 * room;
        e->definitions = ptx_allocate(e->build, e->definition_room, sizeof *e->definitions);
        for (uint32_t k = 0; k < room; k++)
            if (old[k].key != 0)
                *slot_of(e, old[k].key) = old[k];
    }
    const uint64_t key = 1 + ((uint64_t)block << 32 | variable);
    struct ptx_definition *slot = slot_of(e, key);
    e->definition_count += slot->key == 0;
    *slot = (struct ptx_definition){.key = key, .id = id};
}

static uint32_t defined(struct ptx_emitter *e, uint32_t block, uint32_t variable)
{
    if (e->definition_room == 0)
        return 0;
    const struct ptx_definition *slot = slot_of(e, 1 + ((uint64_t)block << 32 | variable));
    return slot->key != 0 ? slot->id : 0;
}

/* ---------------------------------------------------------------- places of phis */

#define START 0x80000000u /* of a variable: its value at a block's start */

/* A phi that exists when it is read. */
#define POSSIBLE UINT32_MAX

/* Marks the blocks where the definitions of a variable meet: the iterated frontier of dominance. */
static void place_phis(struct ptx_emitter *e, uint32_t variable)
{
    const struct ptx_sites *sites = &e->sites[variable];
    uint32_t *list = NULL, count = 0, capacity = 0;
    for (uint32_t k = 0; k < sites->count; k++) {
        list = ptx_grow(e->build, list, count, &capacity, sizeof *list);
        list[count++] = sites->blocks[k];
    }
    for (uint32_t k = 0; k < count; k++) {
        const struct ptx_block *own = &e->blocks[list[k]];
        ptx_spend(e->build, own->frontier_count + 1u);
        for (uint32_t n = 0; n < own->frontier_count; n++) {
            const uint32_t block = own->frontier[n];
            if (defined(e, block, variable | START) != 0)
                continue;
            define(e, block, variable | START, POSSIBLE);
            list = ptx_grow(e->build, list, count, &capacity, sizeof *list);
            list[count++] = block;
        }
    }
    e->sites[variable].is_placed = true;
}

static uint32_t new_phi(struct ptx_emitter *e, uint32_t block, uint32_t variable)
{
    e->phis = ptx_grow(e->build, e->phis, e->phi_count, &e->phi_capacity, sizeof *e->phis);
    const uint32_t id = ptx_new_id(e->words);
    e->phis[e->phi_count] = (struct ptx_phi){.block = block, .variable = variable, .id = id, .next = e->blocks[block].first_phi};
    e->blocks[block].first_phi = ++e->phi_count;
    define(e, block, variable | START, id);
    return id;
}

/* The id of a variable at the end of a block. */
static uint32_t value_in(struct ptx_emitter *e, uint32_t block, uint32_t variable)
{
    uint32_t at = block, id;
    if (!e->sites[variable].is_placed)
        place_phis(e, variable);
    while ((id = defined(e, at, variable)) == 0) {
        id = defined(e, at, variable | START);
        ptx_spend(e->build, 1);
        if (id == POSSIBLE)
            id = new_phi(e, at, variable);
        if (id == 0 && at == 0)
            id = ptx_declare(e->words, OP_ConstantNull, ptx_scalar(e->words, ptx_variable_kind(e, variable)), NULL, 0);
        if (id != 0)
            break;
        at = e->blocks[at].dominator;
    }
    define(e, block, variable, id);
    return id;
}

struct ptx_value ptx_get(struct ptx_emitter *e, uint32_t variable)
{
    return (struct ptx_value){.id = value_in(e, e->block, variable), .kind = ptx_variable_kind(e, variable)};
}

void ptx_set(struct ptx_emitter *e, uint32_t variable, struct ptx_value value) { define(e, e->block, variable, value.id); }

/* ---------------------------------------------------------------- phis */

struct representatives {
    struct ptx_emitter *emitter;
    uint32_t *phi_of; /* by id: 1 + the number of its phi */
    uint32_t count;
};

/* What an id equals, behind phis of one value. */
static uint32_t resolve(const struct representatives *own, uint32_t id)
{
    while (id < own->count && own->phi_of[id] != 0 && own->emitter->phis[own->phi_of[id] - 1].same != 0)
        id = own->emitter->phis[own->phi_of[id] - 1].same;
    return id;
}

static bool simplify(const struct representatives *own, struct ptx_phi *phi)
{
    uint32_t only = 0;
    for (uint32_t k = 0; k < own->emitter->blocks[phi->block].predecessor_count; k++) {
        const uint32_t id = resolve(own, phi->operands[k]);
        phi->operands[k] = id;
        if (id == phi->id || id == only)
            continue;
        if (only != 0)
            return false;
        only = id;
    }
    phi->same = only;
    return only != 0;
}

void ptx_finish_phis(struct ptx_emitter *e)
{
    for (uint32_t n = 0; n < e->phi_count; n++) { /* operands may need more phis */
        const struct ptx_block *own = &e->blocks[e->phis[n].block];
        uint32_t *operands = ptx_allocate(e->build, own->predecessor_count, sizeof *operands);
        for (uint32_t k = 0; k < own->predecessor_count; k++)
            operands[k] = value_in(e, own->predecessors[k], e->phis[n].variable);
        e->phis[n].operands = operands;
    }
    struct representatives all = {.emitter = e, .count = e->words->bound};
    all.phi_of = ptx_allocate(e->build, all.count, sizeof *all.phi_of);
    for (uint32_t n = 0; n < e->phi_count; n++)
        all.phi_of[e->phis[n].id] = n + 1;
    bool changes = true;
    while (changes) {
        changes = false;
        for (uint32_t n = 0; n < e->phi_count; n++)
            if (e->phis[n].same == 0)
                changes = simplify(&all, &e->phis[n]) || changes;
        ptx_spend(e->build, e->phi_count);
    }
    for (uint32_t n = 0; n < e->phi_count; n++) {
        struct ptx_phi *phi = &e->phis[n];
        phi->same = phi->same != 0 ? resolve(&all, phi->same) : 0;
        for (uint32_t k = 0; k < e->blocks[phi->block].predecessor_count; k++)
            phi->operands[k] = resolve(&all, phi->operands[k]);
    }
}

void ptx_append_phis(struct ptx_emitter *e, uint32_t block, struct ptx_buffer *buffer)
{
    const struct ptx_block *own = &e->blocks[block];
    struct ptx_buffer copies = {0};
    for (uint32_t n = own->first_phi; n != 0; n = e->phis[n - 1].next) {
        const struct ptx_phi *phi = &e->phis[n - 1];
        const uint32_t type = ptx_scalar(e->words, ptx_variable_kind(e, phi->variable));
        if (phi->same != 0) {
            const uint32_t copy[3] = {type, phi->id, phi->same};
            ptx_append(e->build, &copies, OP_CopyObject, copy, 3);
            continue;
        }
        struct ptx_buffer operands = {0};
        ptx_push(e->build, &operands, type);
        ptx_push(e->build, &operands, phi->id);
        for (uint32_t k = 0; k < own->predecessor_count; k++) {
            ptx_push(e->build, &operands, phi->operands[k]);
            ptx_push(e->build, &operands, e->blocks[own->predecessors[k]].last_label);
        }
        ptx_append(e->build, buffer, OP_Phi, operands.words, operands.count);
    }
    for (uint32_t k = 0; k < copies.count; k++)
        ptx_push(e->build, buffer, copies.words[k]);
}
