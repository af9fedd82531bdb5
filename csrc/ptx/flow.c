/* Blocks of a function: where they end, what follows, and an order in which each follows one that leads to it. */
#include "emit.h"

#include <string.h>

static uint32_t new_block(struct ptx_emitter *e, uint32_t first)
{
    e->blocks = ptx_grow(e->build, e->blocks, e->block_count, &e->block_capacity, sizeof *e->blocks);
    e->blocks[e->block_count] = (struct ptx_block){.first = first, .end = first};
    return e->block_count++;
}

static void add_successor(struct ptx_emitter *e, uint32_t block, uint32_t target)
{
    struct ptx_block *own = &e->blocks[block];
    own->successors = ptx_grow(e->build, own->successors, own->successor_count, &own->successor_capacity, sizeof target);
    own->successors[own->successor_count++] = target;
}

/* The block of the label that a name means at an instruction. */
static uint32_t target_of(struct ptx_emitter *e, const struct ptx_instruction *i, const char *name, const uint32_t *at)
{
    const struct ptx_symbol *label = name != NULL ? ptx_find(e->module, i->scope, name) : NULL;
    if (label == NULL || label->kind != PTX_LABEL)
        ptx_fail(e->build, i->line, "the label '%.80s' is not defined", name != NULL ? name : "");
    return at[label->number];
}

static bool is_one_of(const char *name, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

static bool ends(const char *name)
{
    static const char *const list[] = {"bra", "brx", "ret", "exit", "trap", NULL};
    return is_one_of(name, list);
}

/* Whether a guard decides if the instruction executes at all: it touches memory, or other lanes. */
static bool is_effective(const char *name)
{
    static const char *const list[] = {"ld", "ldu", "st", "atom", "red", "call", "bar", "barrier", "tex", "tld4", "txq", "suld",
                                       "sust", "suq", "shfl", "vote", "match", "redux", "activemask", "elect", "nanosleep", "mbarrier", "cp",
                                       "brkpt", NULL};
    return is_one_of(name, list);
}

static void end_block(struct ptx_emitter *e, uint32_t block, const struct ptx_instruction *i)
{
    struct ptx_block *own = &e->blocks[block];
    own->last = i;
    own->kind = strcmp(i->name, "bra") == 0   ? PTX_END_BRANCH
                : strcmp(i->name, "brx") == 0 ? PTX_END_SWITCH
                : strcmp(i->name, "ret") == 0 ? PTX_END_RETURN
                                              : PTX_END_STOP;
}

/* A block for a guarded instruction, beside the current one; returns the block behind both. */
static uint32_t divert(struct ptx_emitter *e, uint32_t block, uint32_t k, const struct ptx_instruction *i)
{
    e->blocks[block].kind = PTX_END_CHOICE;
    e->blocks[block].last = i;
    const uint32_t inner = new_block(e, k);
    e->blocks[inner].end = k + 1;
    e->blocks[inner].is_decided = true;
    const uint32_t behind = new_block(e, k + 1);
    add_successor(e, block, inner);
    add_successor(e, block, behind);
    if (ends(i->name))
        end_block(e, inner, i);
    else
        add_successor(e, inner, behind);
    return behind;
}

static void split(struct ptx_emitter *e, uint32_t *at)
{
    const struct ptx_function *function = e->function;
    uint32_t block = new_block(e, 0);
    for (uint32_t k = 0; k < function->instruction_count; k++) {
        const struct ptx_instruction *i = &function->instructions[k];
        if (i->name[0] == '\0') {
            const uint32_t next = new_block(e, k + 1);
            if (e->blocks[block].last == NULL)
                add_successor(e, block, next);
            block = next;
            at[k] = block;
        } else if (ends(i->name) && !i->is_guarded) {
            end_block(e, block, i);
            e->blocks[block].end = k + 1;
            block = new_block(e, k + 1);
        } else if (strcmp(i->name, "bra") == 0) {
            e->blocks[block].kind = PTX_END_CHOICE;
            e->blocks[block].last = i;
            block = new_block(e, k + 1);
        } else if (i->is_guarded && (ends(i->name) || is_effective(i->name))) {
            block = divert(e, block, k, i);
        } else {
            e->blocks[block].end = k + 1;
        }
    }
    e->blocks[block].kind = PTX_END_RETURN;
}

/* Successors that labels name. */
static void connect(struct ptx_emitter *e, const uint32_t *at)
{
    for (uint32_t n = 0; n < e->block_count; n++) {
        const struct ptx_block *own = &e->blocks[n];
        const struct ptx_instruction *i = own->last;
        if (i == NULL || own->successor_count > 0)
            continue;
        if (strcmp(i->name, "bra") == 0) {
            if (i->operand_count != 1)
                ptx_fail(e->build, i->line, "a branch takes one label");
            add_successor(e, n, target_of(e, i, i->operands[0].name, at));
            if (own->kind == PTX_END_CHOICE)
                add_successor(e, n, n + 1);
        } else if (own->kind == PTX_END_SWITCH) {
            const char *name = i->operand_count == 2 ? i->operands[1].name : NULL;
            const struct ptx_symbol *list = name != NULL ? ptx_find(e->module, i->scope, name) : NULL;
            if (list == NULL || list->kind != PTX_TARGETS || list->target_count == 0)
                ptx_fail(e->build, i->line, "a branch by index takes a list of .branchtargets");
            for (uint32_t t = 0; t < list->target_count; t++)
                add_successor(e, n, target_of(e, i, list->targets[t]->name, at));
        }
    }
}

/* Depth-first search: the order is that of the reversed ends. */
static void search(struct ptx_emitter *e)
{
    uint32_t *path = ptx_allocate(e->build, e->block_count, sizeof *path);
    uint32_t *next = ptx_allocate(e->build, e->block_count, sizeof *next);
    uint32_t depth = 0, filled = e->block_count;
    e->order = ptx_allocate(e->build, e->block_count, sizeof *e->order);
    path[depth++] = 0;
    e->blocks[0].is_reached = true;
    while (depth > 0) {
        const uint32_t block = path[depth - 1];
        const struct ptx_block *own = &e->blocks[block];
        if (next[block] < own->successor_count) {
            const uint32_t target = own->successors[own->successor_count - 1 - next[block]++];
            if (!e->blocks[target].is_reached) {
                e->blocks[target].is_reached = true;
                path[depth++] = target;
            }
            continue;
        }
        e->order[--filled] = block;
        depth--;
    }
    e->order += filled;
    e->order_count = e->block_count - filled;
}

static void add_predecessor(struct ptx_emitter *e, uint32_t block, uint32_t from)
{
    struct ptx_block *own = &e->blocks[block];
    if (own->predecessor_count > 0 && own->predecessors[own->predecessor_count - 1] == from)
        return; /* two edges from one block */
    own->predecessors = ptx_grow(e->build, own->predecessors, own->predecessor_count, &own->predecessor_capacity, sizeof from);
    own->predecessors[own->predecessor_count++] = from;
}

void ptx_find_blocks(struct ptx_emitter *e)
{
    uint32_t *at = ptx_allocate(e->build, e->function->instruction_count + 1u, sizeof *at);
    const uint32_t entry = new_block(e, 0); /* which no branch leads to */
    split(e, at);
    add_successor(e, entry, entry + 1);
    connect(e, at);
    search(e);
    for (uint32_t n = 0; n < e->order_count; n++) {
        const uint32_t block = e->order[n];
        e->blocks[block].number = n;
        for (uint32_t k = 0; k < e->blocks[block].successor_count; k++)
            add_predecessor(e, e->blocks[block].successors[k], block);
        e->blocks[block].label = e->blocks[block].last_label = ptx_new_id(e->words);
    }
}
