/*
 * Order of blocks for execution, in which diverged lanes reconverge as early as possible.
 *
 * Each block follows all its predecessors, except along edges that close a loop, and all blocks of a loop precede the
 * loop's exits. Such an order exists for any graph: the strongly connected components in topological order, each headed
 * by the block through which it is entered and ordered recursively without the edges back to that block. A component
 * with several entries (an irreducible loop) is headed by the first of them.
 *
 * Lanes that return to a loop's header must not overtake lanes that are still in the loop: all back edges lead to an
 * empty block after the loop's other blocks, and from there to the header.
 */
#include "spirv/compile/builder.h"

#include <string.h>

#define DEEPEST 64u /* deeper loops keep the order found: correct, but slower */

struct flow {
    struct blr_spirv_builder *builder;
    uint32_t *region;    /* by block: its current region, 0 for none */
    uint32_t *index;     /* by block: its index in the search, 0 for not visited */
    uint32_t *low;
    bool *stacked;
    uint32_t *stack;     /* stack of components */
    uint32_t *path;      /* path of the search */
    uint32_t *next_edge; /* by block: number of visited edges */
    uint32_t *order;
    uint32_t count;
    uint32_t regions;
};

/* The blocks to which a block of a function leads: of a call, the one behind it. */
static uint32_t successors(const struct blr_spirv_part *part) { return part->is_end ? 0 : part->edge_count; }

static uint32_t successor(const struct blr_spirv_builder *builder, const struct blr_spirv_part *part, uint32_t k)
{
    return part->behind != BLR_NONE ? part->behind : builder->branches[part->first_edge + k].target;
}

static uint32_t *numbers(struct flow *flow)
{
    return blr_spirv_allocate(flow->builder->build, flow->builder->part_count, sizeof(uint32_t));
}

struct component {
    uint32_t first, count; /* range of a component in the list that find_components fills */
};

/* Finds the strongly connected components of a region in reverse topological order. The root of each, through which
 * the search entered it, comes last. Edges to header are ignored. */
static uint32_t find_components(struct flow *flow, const uint32_t *blocks, uint32_t count, uint32_t region,
                                uint32_t header, uint32_t *list, struct component *components)
{
    struct blr_spirv_builder *builder = flow->builder;
    uint32_t clock = 0, filled = 0, number = 0, stack_size = 0;
    for (uint32_t i = 0; i < count; i++) {
        flow->index[blocks[i]] = 0;
        flow->next_edge[blocks[i]] = 0;
    }
    for (uint32_t start = 0; start < count; start++) {
        if (flow->index[blocks[start]] != 0)
            continue;
        uint32_t depth = 0;
        flow->path[depth++] = blocks[start];
        while (depth > 0) {
            uint32_t block = flow->path[depth - 1];
            const struct blr_spirv_part *part = &builder->parts[block];
            if (flow->index[block] == 0) {
                flow->index[block] = flow->low[block] = ++clock;
                flow->stack[stack_size++] = block;
                flow->stacked[block] = true;
            }
            bool deeper = false;
            while (flow->next_edge[block] < successors(part)) {
                uint32_t target = successor(builder, part, flow->next_edge[block]++);
                if (target == header || flow->region[target] != region)
                    continue;
                if (flow->index[target] == 0) {
                    flow->path[depth++] = target;
                    deeper = true;
                    break;
                }
                if (flow->stacked[target] && flow->index[target] < flow->low[block])
                    flow->low[block] = flow->index[target];
            }
            if (deeper)
                continue;
            depth--;
            if (depth > 0 && flow->low[block] < flow->low[flow->path[depth - 1]])
                flow->low[flow->path[depth - 1]] = flow->low[block];
            if (flow->low[block] != flow->index[block])
                continue;
            components[number].first = filled;
            uint32_t member;
            do {
                member = flow->stack[--stack_size];
                flow->stacked[member] = false;
                list[filled++] = member;
            } while (member != block);
            components[number].count = filled - components[number].first;
            number++;
        }
    }
    return number;
}

/* Redirects the edges from a loop's blocks to its header through a new last block, unless only the last block has
 * such an edge. */
static void gather_returns(struct flow *flow, const uint32_t *blocks, uint32_t count)
{
    struct blr_spirv_builder *builder = flow->builder;
    const uint32_t root = blocks[0];
    bool early = false;
    for (uint32_t i = 0; i + 1 < count; i++)
        for (uint32_t k = 0; k < builder->parts[blocks[i]].edge_count; k++)
            early = early || builder->branches[builder->parts[blocks[i]].first_edge + k].target == root;
    if (!early)
        return;
    uint32_t last = blr_spirv_bridge(builder, root);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < builder->parts[blocks[i]].edge_count; k++) {
            struct blr_spirv_branch *branch = &builder->branches[builder->parts[blocks[i]].first_edge + k];
            if (branch->target == root)
                branch->target = last;
        }
    flow->order[flow->count++] = last;
}

static void order_region(struct flow *flow, const uint32_t *blocks, uint32_t count, uint32_t header, uint32_t depth)
{
    if (count == 0)
        return;
    uint32_t region = ++flow->regions;
    for (uint32_t i = 0; i < count; i++)
        flow->region[blocks[i]] = region;
    uint32_t *list = blr_spirv_allocate(flow->builder->build, count, sizeof *list);
    struct component *components = blr_spirv_allocate(flow->builder->build, count, sizeof *components);
    uint32_t number = find_components(flow, blocks, count, region, header, list, components);
    while (number-- > 0) {
        uint32_t *members = list + components[number].first, size = components[number].count;
        uint32_t root = members[size - 1], start = flow->count;
        flow->order[flow->count++] = root;
        if (depth < DEEPEST) {
            /* Reverses the remaining blocks, so that the nested search starts with the one visited first. */
            for (uint32_t i = 0; i < (size - 1) / 2; i++) {
                uint32_t other = members[i];
                members[i] = members[size - 2 - i];
                members[size - 2 - i] = other;
            }
            order_region(flow, members, size - 1, root, depth + 1);
        } else {
            for (uint32_t i = size - 1; i-- > 0;)
                flow->order[flow->count++] = members[i];
        }
        gather_returns(flow, flow->order + start, flow->count - start);
    }
}

/* The blocks of a function that are reachable from its first. */
static uint32_t reach(struct flow *flow, uint32_t first, uint32_t *blocks)
{
    struct blr_spirv_builder *builder = flow->builder;
    uint32_t count = 0;
    blocks[count++] = first;
    flow->region[first] = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const struct blr_spirv_part *part = &builder->parts[blocks[i]];
        for (uint32_t k = 0; k < successors(part); k++) {
            uint32_t target = successor(builder, part, k);
            if (flow->region[target] == 0) {
                flow->region[target] = UINT32_MAX;
                blocks[count++] = target;
            }
        }
    }
    return count;
}

uint32_t blr_spirv_order(struct blr_spirv_builder *builder, uint32_t *order)
{
    struct flow flow = {.builder = builder, .order = order};
    flow.region = numbers(&flow);
    flow.index = numbers(&flow);
    flow.low = numbers(&flow);
    flow.stack = numbers(&flow);
    flow.path = numbers(&flow);
    flow.next_edge = numbers(&flow);
    flow.stacked = blr_spirv_allocate(builder->build, builder->part_count, sizeof(bool));
    uint32_t *reached = numbers(&flow);
    for (uint32_t n = 0; n < builder->shared_count; n++)
        order_region(&flow, reached, reach(&flow, builder->shared[n]->first, reached), BLR_NONE, 0);
    order_region(&flow, reached, reach(&flow, 0, reached), BLR_NONE, 0);
    for (uint32_t i = 0; i < builder->part_count; i++)
        builder->parts[i].number = BLR_NONE;
    for (uint32_t i = 0; i < flow.count; i++)
        builder->parts[order[i]].number = i;
    return flow.count;
}
