/* Classes of values: the least class that all writers of a register agree on. */
#include "spirv/native/value_classes.h"

#include "platform/heap.h"

#include <string.h>

#define MOST_OPERATIONS 2048u /* compilers take seconds for more */
#define MOST_VALUES (1u << 16)
#define MOST_REGISTER_BYTES ((uint64_t)1 << 20)

struct blr_native_value *blr_native_value_at(const struct blr_native_values *values, uint32_t place, uint32_t size)
{
    const uint32_t column = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    return &values->values[place / BLR_LANES * 4 + column];
}

uint32_t blr_native_components(const struct blr_native_values *values, uint32_t number)
{
    const struct blr_spirv_op *op = &values->program->ops[number];
    const struct blr_recipe *recipe = &values->recipes[number];
    uint32_t most = op->count / BLR_LANES;
    if (recipe->kind == BLR_RECIPE_STORE)
        return (uint32_t)(op->literal >> 8 & UINT32_MAX);
    for (uint32_t k = 0; recipe->kind == BLR_RECIPE_IMAGE && k < recipe->operands; k++)
        most = recipe->image[k].components > most ? recipe->image[k].components : most;
    return most;
}

struct blr_native_value *blr_native_operand(const struct blr_native_values *values, uint32_t number, uint32_t k, uint32_t c)
{
    const struct blr_recipe *recipe = &values->recipes[number];
    if (k >= recipe->operands + (recipe->kind == BLR_RECIPE_STORE))
        return NULL;
    return values->operands[values->first_operand[number] + k * blr_native_components(values, number) + c];
}

/* Where an operation reads component c of operand k. */
static void operand_place(const struct blr_native_values *values, uint32_t number, uint32_t k, uint32_t c, uint32_t *from, uint32_t *bytes)
{
    const struct blr_spirv_op *op = &values->program->ops[number];
    const struct blr_recipe *recipe = &values->recipes[number];
    uint32_t size = recipe->size, place = op->in[k];
    switch (recipe->kind) {
    case BLR_RECIPE_STORE:
        if (k == 1)
            size = op->literal & 0xff, place += c * size * BLR_LANES;
        break;
    case BLR_RECIPE_SELECT: size = k == 0 ? 1 : op->element, place += c * size * BLR_LANES; break;
    case BLR_RECIPE_CHOOSE: size = k == 0 ? 1 : op->element, place += k == 0 ? 0 : c * size * BLR_LANES; break;
    case BLR_RECIPE_INDEX: size = k == 0 ? 8 : size; break;
    case BLR_RECIPE_AXIS: place = op->in[k == 0 ? 0 : 1 + (op->literal & 0xff)]; break;
    case BLR_RECIPE_OFFSET:
    case BLR_RECIPE_LOAD: break;
    case BLR_RECIPE_IMAGE: /* of fewer components, the last one again */
        size = recipe->image[k].size;
        place += (c < recipe->image[k].components ? c : recipe->image[k].components - 1u) * size * BLR_LANES;
        break;
    default: place += c * size * BLR_LANES;
    }
    *from = place;
    *bytes = size;
}

struct blr_native_value *blr_native_result(const struct blr_native_values *values, uint32_t number, uint32_t c)
{
    const struct blr_spirv_op *op = &values->program->ops[number];
    if (values->recipes[number].kind == BLR_RECIPE_STORE || c >= op->count / BLR_LANES)
        return NULL;
    if (!blr_native_blends(op))
        return values->results[number] + c;
    return blr_native_value_at(values, op->result + c * op->element * BLR_LANES, op->element);
}

/* ---------------------------------------------------------------- sums as OR */

/* How the one operation that writes a value computes it; NULL for none or several. */
static const struct blr_recipe *recipe_of(const struct blr_native_values *values, const struct blr_native_value *x)
{
    return x->writers == 1 ? &values->recipes[x->writer] : NULL;
}

/* Operand k of the operation that writes a value. */
static const struct blr_native_value *source_of(const struct blr_native_values *values, const struct blr_native_value *x, uint32_t k)
{
    return blr_native_operand(values, x->writer, k, x->component);
}

static bool find_constant(const struct blr_native_values *values, const struct blr_native_value *x, uint64_t *number)
{
    for (uint32_t i = 0; i < values->program->preset_count; i++) {
        const struct blr_spirv_preset *preset = &values->program->presets[i];
        if (preset->kind == BLR_PRESET_BYTES && blr_native_value_at(values, preset->place, preset->size) == x) {
            *number = preset->bytes;
            return true;
        }
    }
    return false;
}

/* The value that copies and conversions of integers have led to x. */
static const struct blr_native_value *origin(const struct blr_native_values *values, const struct blr_native_value *x)
{
    const struct blr_recipe *recipe;
    for (uint32_t step = 0; step < values->program->op_count && (recipe = recipe_of(values, x)) != NULL; step++) {
        if (recipe->kind != BLR_RECIPE_COPY && (recipe->kind != BLR_RECIPE_CONVERT || recipe->type == 'f' || recipe->to == 'f'))
            break;
        x = source_of(values, x, 0);
    }
    return x;
}

/* The only edge that leads to a block, and the block that it leaves; NULL for none or several. */
static const struct blr_spirv_edge *only_edge(const struct blr_spirv_program *program, uint32_t to, uint32_t *from)
{
    const struct blr_spirv_edge *only = NULL;
    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct blr_spirv_block *block = &program->blocks[b];
        for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++) {
            if (program->edges[e].target != to)
                continue;
            if (only != NULL)
                return NULL;
            only = &program->edges[e];
            *from = b;
        }
    }
    return only;
}

/* Whether a block runs where x has been less than a constant up to the limit. */
static bool is_below(const struct blr_native_values *values, uint32_t block, const struct blr_native_value *x, uint64_t limit)
{
    const struct blr_spirv_program *program = values->program;
    const struct blr_spirv_edge *edge;
    x = origin(values, x);
    for (uint32_t step = 0; step < program->block_count && (edge = only_edge(program, block, &block)) != NULL; step++) {
        const struct blr_spirv_block *from = &program->blocks[block];
        if (from->kind != BLR_END_CHOICE || edge != &program->edges[from->first_edge])
            continue;
        const struct blr_native_value *condition = values->conditions[block];
        const struct blr_recipe *recipe = recipe_of(values, condition);
        uint64_t bound;
        if (recipe != NULL && (recipe->opcode == BLR_OP_ULessThan || recipe->opcode == BLR_OP_SLessThan) &&
            find_constant(values, source_of(values, condition, 1), &bound) && bound <= limit &&
            origin(values, source_of(values, condition, 0)) == x)
            return true;
    }
    return false;
}

/* Which component of the built-in variables x is, if it counts the work-items of a group. */
static bool counts_items(const struct blr_native_values *values, const struct blr_native_value *x, uint32_t *component)
{
    const struct blr_spirv_program *program = values->program;
    *component = 0;
    for (uint32_t i = 0; i < program->builtin_count; *component += program->builtins[i++].components)
        if (blr_native_value_at(values, program->builtins[i].place, program->builtins[i].size) == x)
            return program->builtins[i].what == BLR_BUILTIN_LOCAL_INVOCATION_ID ||
                   program->builtins[i].what == BLR_BUILTIN_LOCAL_INVOCATION_INDEX;
    return false;
}

bool blr_native_is_below_bound(const struct blr_native_values *values, const struct blr_native_value *condition, uint32_t *component)
{
    const struct blr_recipe *recipe = recipe_of(values, condition);
    if (recipe == NULL || (recipe->opcode != BLR_OP_ULessThan && recipe->opcode != BLR_OP_SLessThan))
        return false;
    const struct blr_native_value *x = source_of(values, condition, 0), *bound = source_of(values, condition, 1);
    for (uint32_t step = 0; step < values->program->op_count && x->size >= 4 && (recipe = recipe_of(values, x)) != NULL; step++) {
        if (recipe->kind != BLR_RECIPE_COPY && (recipe->kind != BLR_RECIPE_CONVERT || recipe->type == 'f' || recipe->to == 'f'))
            break;
        x = source_of(values, x, 0);
    }
    return bound->preset && bound->class == BLR_CLASS_UNIFORM && counts_items(values, x, component);
}

/* Whether x | y is x + y: x is a product or is shifted to the left, above all bits of y, or it is below all of them. */
static bool is_sum(const struct blr_native_values *values, uint32_t number, const struct blr_native_value *x,
                   const struct blr_native_value *y)
{
    const struct blr_recipe *recipe = recipe_of(values, x);
    uint64_t bits, factor;
    uint32_t block = 0;
    if (!find_constant(values, y, &bits) || bits == 0)
        return false;
    if (recipe != NULL && recipe->operands == 2 && find_constant(values, source_of(values, x, 1), &factor)) {
        if (recipe->opcode == BLR_OP_ShiftLeftLogical && factor < 64 && bits >> factor == 0)
            return true;
        if (recipe->opcode == BLR_OP_IMul && bits < (factor & (0 - factor)))
            return true;
    }
    while (block < values->program->block_count &&
           (number < values->program->blocks[block].first || number >= values->program->blocks[block].end))
        block++;
    return block < values->program->block_count && is_below(values, block, x, bits & (0 - bits));
}

/* ---------------------------------------------------------------- strides */

#define MOST_SOURCES 16u

/* Of positive strides alone, which no conversion changes. */
static bool find_stride(const struct blr_native_values *values, const struct blr_native_value *x, uint32_t depth, uint64_t *stride)
{
    const struct blr_recipe *recipe = recipe_of(values, x);
    uint64_t other = 0;
    *stride = x->class == BLR_CLASS_LINEAR;
    if (x->class == BLR_CLASS_UNIFORM || x->preset)
        return x->class != BLR_CLASS_LANES;
    if (recipe == NULL || depth == 0 || x->class == BLR_CLASS_LANES || !find_stride(values, source_of(values, x, 0), depth - 1, stride))
        return false;
    const bool adds = recipe->opcode == BLR_OP_IAdd || recipe->opcode == BLR_OP_BitwiseOr;
    switch (recipe->kind) {
    case BLR_RECIPE_COPY:
    case BLR_RECIPE_CONVERT:
    case BLR_RECIPE_OFFSET:
    case BLR_RECIPE_AXIS: break;
    case BLR_RECIPE_INDEX: other = values->program->ops[x->writer].literal; break;
    case BLR_RECIPE_VALUE: other = 1; break;
    default: return false;
    }
    if (other != 0) {
        uint64_t second;
        if (other > INT32_MAX || (recipe->kind == BLR_RECIPE_VALUE && !adds) ||
            !find_stride(values, source_of(values, x, 1), depth - 1, &second))
            return false;
        *stride += second * other;
    }
    return *stride <= (uint64_t)INT32_MAX >> (x->size < 4 ? 32 - 8 * x->size : 0);
}

bool blr_native_stride_of(const struct blr_native_values *values, const struct blr_native_value *x, uint64_t *stride)
{
    return x->class == BLR_CLASS_LINEAR && !x->preset && find_stride(values, x, MOST_SOURCES, stride);
}

/* ---------------------------------------------------------------- local memory */

/* How the one operation that writes a value before each of its uses computes it, behind copies; NULL for none or several.
 * Of values that blocks share, the kernel's first block is sure to write. */
static const struct blr_recipe *surely_from(const struct blr_native_values *values, const struct blr_native_value **x)
{
    const struct blr_spirv_block *first = &values->program->blocks[values->program->first_block];
    for (uint32_t step = 0; step < values->program->op_count; step++) {
        const struct blr_recipe *recipe = recipe_of(values, *x);
        if (recipe == NULL || ((*x)->crosses && ((*x)->writer < first->first || (*x)->writer >= first->end)))
            return NULL;
        if (recipe->kind != BLR_RECIPE_COPY)
            return recipe;
        *x = source_of(values, *x, 0);
    }
    return NULL;
}

bool blr_native_is_within_local(const struct blr_native_values *values, uint32_t number, uint32_t size)
{
    const struct blr_spirv_program *program = values->program;
    const struct blr_native_value *x = blr_native_operand(values, number, 0, 0), *index, *base;
    const struct blr_recipe *recipe = surely_from(values, &x);
    uint64_t length;
    if (recipe == NULL || recipe->kind != BLR_RECIPE_INDEX)
        return false;
    const uint64_t stride = program->ops[x->writer].literal;
    base = source_of(values, x, 0);
    index = source_of(values, x, 1);
    recipe = surely_from(values, &index);
    if (recipe == NULL || recipe->kind != BLR_RECIPE_AXIS || !find_constant(values, source_of(values, index, 1), &length) ||
        length > UINT32_MAX || stride > UINT32_MAX || size > stride)
        return false;
    surely_from(values, &base);
    for (uint32_t i = 0; i < program->preset_count; i++) {
        const struct blr_spirv_preset *preset = &program->presets[i];
        if (preset->kind == BLR_PRESET_LOCAL && blr_native_value_at(values, preset->place, preset->size) == base)
            return preset->offset <= program->local_bytes && length * stride <= program->local_bytes - preset->offset;
    }
    return false;
}

/* ---------------------------------------------------------------- classes */

enum blr_native_class blr_native_class_of(const struct blr_native_values *values, uint32_t number, uint32_t c)
{
    const struct blr_spirv_op *op = &values->program->ops[number];
    const struct blr_recipe *recipe = &values->recipes[number];
    const struct blr_native_value *x;
    enum blr_native_class class[4] = {0, 0, 0, 0}, most = BLR_CLASS_UNIFORM;
    for (uint32_t k = 0; k < 4 && (x = blr_native_operand(values, number, k, c)) != NULL; k++) {
        class[k] = x->class;
        most = x->class > most ? x->class : most;
    }
    if (recipe->kind == BLR_RECIPE_LOAD || recipe->kind == BLR_RECIPE_STORE)
        return class[0];
    if (recipe->kind == BLR_RECIPE_IMAGE)
        return BLR_CLASS_LANES;
    if (most != BLR_CLASS_LINEAR)
        return most;
    switch (recipe->kind) {
    case BLR_RECIPE_COPY:
    case BLR_RECIPE_OFFSET: return BLR_CLASS_LINEAR;
    case BLR_RECIPE_AXIS: return class[1] == BLR_CLASS_UNIFORM ? BLR_CLASS_LINEAR : BLR_CLASS_LANES;
    case BLR_RECIPE_INDEX: return class[1] == BLR_CLASS_UNIFORM || recipe->size == 8 ? BLR_CLASS_LINEAR : BLR_CLASS_LANES;
    case BLR_RECIPE_CONVERT: return recipe->type != 'f' && recipe->to != 'f' ? BLR_CLASS_LINEAR : BLR_CLASS_LANES;
    case BLR_RECIPE_VALUE: break;
    default: return BLR_CLASS_LANES;
    }
    switch (recipe->opcode) {
    case BLR_OP_IAdd:
    case BLR_OP_ISub:
    case BLR_OP_SNegate: return op->element == 1 ? BLR_CLASS_LANES : BLR_CLASS_LINEAR;
    case BLR_OP_IMul: return class[0] + class[1] == BLR_CLASS_LINEAR ? BLR_CLASS_LINEAR : BLR_CLASS_LANES;
    case BLR_OP_ShiftLeftLogical: return class[1] == BLR_CLASS_UNIFORM ? BLR_CLASS_LINEAR : BLR_CLASS_LANES;
    case BLR_OP_BitwiseOr: {
        const struct blr_native_value *left = blr_native_operand(values, number, 0, c);
        const struct blr_native_value *right = blr_native_operand(values, number, 1, c);
        return is_sum(values, number, left, right) || is_sum(values, number, right, left) ? BLR_CLASS_LINEAR : BLR_CLASS_LANES;
    }
    default: return BLR_CLASS_LANES;
    }
}

static void raise(struct blr_native_value *value, enum blr_native_class class, bool *changed)
{
    if (class > value->class) {
        value->class = class;
        *changed = true;
    }
}

/* Whether one operation computes a value from the launch's numbers alone: it is the same whenever it is written, so that it
 * needs no lanes where they diverge. */
static bool is_settled(const struct blr_native_values *values, const struct blr_native_value *x, uint32_t depth)
{
    const struct blr_recipe *recipe = recipe_of(values, x);
    const struct blr_native_value *from;
    if (x->preset)
        return x->class == BLR_CLASS_UNIFORM;
    if (recipe == NULL || depth == 0 || recipe->kind == BLR_RECIPE_LOAD || recipe->kind == BLR_RECIPE_CALL ||
        recipe->kind == BLR_RECIPE_IMAGE)
        return false;
    for (uint32_t k = 0; (from = source_of(values, x, k)) != NULL; k++)
        if (!is_settled(values, from, depth - 1))
            return false;
    return true;
}

static void visit(struct blr_native_values *values, uint32_t first, uint32_t end, bool diverges, bool *changed)
{
    for (uint32_t n = first; n < end; n++) {
        const struct blr_spirv_op *op = &values->program->ops[n];
        for (uint32_t c = 0; c < blr_native_components(values, n) && blr_native_result(values, n, c) != NULL; c++) {
            enum blr_native_class class = blr_native_class_of(values, n, c);
            if (values->recipes[n].kind == BLR_RECIPE_LOAD && class == BLR_CLASS_LINEAR)
                class = BLR_CLASS_LANES;
            if (blr_native_blends(op) && diverges && !is_settled(values, blr_native_result(values, n, c), MOST_SOURCES))
                class = BLR_CLASS_LANES;
            raise(blr_native_result(values, n, c), class, changed);
        }
    }
}

static void classify(struct blr_native_values *values)
{
    const struct blr_spirv_program *program = values->program;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < program->block_count; b++) {
            const struct blr_spirv_block *block = &program->blocks[b];
            const bool chooses = block->kind == BLR_END_CHOICE || block->kind == BLR_END_SWITCH;
            visit(values, block->first, block->end, values->diverges[b], &changed);
            bool diverges = values->diverges[b];
            if (chooses && values->conditions[b]->class != BLR_CLASS_UNIFORM)
                diverges = true;
            if (block->kind == BLR_END_BARRIER || block->kind == BLR_END_RETURN)
                continue; /* all living lanes meet at a barrier */
            for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++) {
                const struct blr_spirv_edge *edge = &program->edges[e];
                visit(values, edge->first_move, edge->end_move, diverges, &changed);
                if (diverges && !values->diverges[edge->target]) {
                    values->diverges[edge->target] = true;
                    changed = true;
                }
            }
        }
    }
}

static bool is_of_sub_groups(enum blr_spirv_builtin what)
{
    switch (what) {
    case BLR_BUILTIN_SUBGROUP_SIZE:
    case BLR_BUILTIN_SUBGROUP_ID:
    case BLR_BUILTIN_SUBGROUP_LOCAL_INVOCATION_ID:
    case BLR_BUILTIN_SUBGROUP_EQ_MASK:
    case BLR_BUILTIN_SUBGROUP_GE_MASK:
    case BLR_BUILTIN_SUBGROUP_GT_MASK:
    case BLR_BUILTIN_SUBGROUP_LE_MASK:
    case BLR_BUILTIN_SUBGROUP_LT_MASK: return true;
    default: return false;
    }
}

static void mark_presets(struct blr_native_values *values)
{
    const struct blr_spirv_program *program = values->program;
    for (uint32_t i = 0; i < program->preset_count; i++)
        blr_native_value_at(values, program->presets[i].place, program->presets[i].size)->preset = true;
    for (uint32_t i = 0; i < program->builtin_count; i++) {
        const struct blr_spirv_builtin_use *use = &program->builtins[i];
        for (uint32_t c = 0; c < use->components; c++) {
            struct blr_native_value *value = blr_native_value_at(values, use->place + c * use->size * BLR_LANES, use->size);
            value->preset = true;
            value->class = (use->what == BLR_BUILTIN_GLOBAL_INVOCATION_ID && c == 0) ||
                           (use->what == BLR_BUILTIN_LOCAL_INVOCATION_ID && c == 0) ||
                           use->what == BLR_BUILTIN_GLOBAL_LINEAR_ID || use->what == BLR_BUILTIN_LOCAL_INVOCATION_INDEX
                               ? BLR_CLASS_LINEAR : BLR_CLASS_UNIFORM;
        }
        values->failed |= is_of_sub_groups(use->what);
    }
}

/* Names the operands and results of an operation. within: by register, the last result in the block, or NULL. */
static void name(struct blr_native_values *values, uint32_t n, struct blr_native_value **within)
{
    const struct blr_spirv_op *op = &values->program->ops[n];
    const struct blr_recipe *recipe = &values->recipes[n];
    const uint32_t components = blr_native_components(values, n);
    const uint32_t operands = recipe->operands + (recipe->kind == BLR_RECIPE_STORE);
    uint32_t place, size;
    values->first_operand[n] = values->operand_count;
    for (uint32_t k = 0; k < operands; k++)
        for (uint32_t c = 0; c < components; c++) {
            operand_place(values, n, k, c, &place, &size);
            struct blr_native_value *common = blr_native_value_at(values, place, size);
            struct blr_native_value *x = within[common - values->values] != NULL ? within[common - values->values] : common;
            x->used = true;
            values->operands[values->operand_count++] = x;
        }
    if (recipe->kind == BLR_RECIPE_STORE)
        return;
    values->results[n] = &values->values[values->count];
    for (uint32_t c = 0; c < op->count / BLR_LANES; c++) {
        struct blr_native_value *common = blr_native_value_at(values, op->result + c * op->element * BLR_LANES, op->element);
        values->failed |= common->preset;
        if (blr_native_blends(op)) {
            common->used = common->crosses = true;
            common->writers++;
            common->writer = n;
            common->component = c;
            within[common - values->values] = NULL;
            continue;
        }
        struct blr_native_value *own = &values->values[values->count];
        *own = (struct blr_native_value){.used = true, .place = common->place, .size = common->size, .number = values->count++,
                                         .writers = 1, .writer = n, .component = c};
        within[common - values->values] = own;
    }
}

static void name_values(struct blr_native_values *values, struct blr_native_value **within, uint32_t registers)
{
    const struct blr_spirv_program *program = values->program;
    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct blr_spirv_block *block = &program->blocks[b];
        memset(within, 0, registers * sizeof *within);
        for (uint32_t n = block->first; n < block->end; n++)
            name(values, n, within);
        struct blr_native_value *common =
            blr_native_value_at(values, block->condition, block->kind == BLR_END_SWITCH ? block->size : 1);
        values->conditions[b] = within[common - values->values] != NULL ? within[common - values->values] : common;
        if (block->kind == BLR_END_CHOICE || block->kind == BLR_END_SWITCH)
            values->conditions[b]->used = true;
        for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++)
            for (uint32_t n = program->edges[e].first_move; n < program->edges[e].end_move; n++)
                name(values, n, within);
    }
}

/* Finds out whether all operations have translations, and how many values they need. */
static void examine(struct blr_native_values *values)
{
    const struct blr_spirv_program *program = values->program;
    for (uint32_t n = 0; n < program->op_count; n++) {
        values->recipes[n] = blr_recipe_of(&program->ops[n]);
        values->failed |= values->recipes[n].kind == BLR_RECIPE_NONE;
        values->room += blr_native_components(values, n);
    }
    for (uint32_t b = 0; b < program->block_count; b++) {
        const struct blr_spirv_block *block = &program->blocks[b];
        values->failed |= block->meets || block->yields;
        for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++) {
            const struct blr_spirv_edge *edge = &program->edges[e];
            values->failed |= block->kind == BLR_END_BARRIER && edge->first_move != edge->end_move;
            for (uint32_t n = edge->first_move; n < edge->end_move; n++)
                values->failed |= values->recipes[n].kind != BLR_RECIPE_COPY || !blr_native_blends(&program->ops[n]);
        }
    }
}

bool blr_native_values_new(struct blr_native_values *values, const struct blr_spirv_program *program)
{
    *values = (struct blr_native_values){.program = program};
    values->failed = program->op_count > MOST_OPERATIONS || program->register_bytes > MOST_REGISTER_BYTES ||
                     program->private_bytes > 0;
    if (values->failed)
        return true;
    const uint32_t registers = (uint32_t)(program->register_bytes / BLR_LANES + 1) * 4;
    values->recipes = blr_new((program->op_count + 1u) * sizeof *values->recipes);
    if (values->recipes == NULL)
        return false;
    examine(values);
    if (values->failed || values->room > MOST_VALUES) {
        values->failed = true;
        return true;
    }
    values->values = blr_new(((size_t)registers + values->room) * sizeof *values->values);
    values->diverges = blr_new((program->block_count + 1u) * sizeof *values->diverges);
    values->operands = blr_new((4 * (size_t)values->room + 1) * sizeof *values->operands);
    values->first_operand = blr_new((program->op_count + 1u) * sizeof *values->first_operand);
    values->results = blr_new((program->op_count + 1u) * sizeof *values->results);
    values->conditions = blr_new((program->block_count + 1u) * sizeof *values->conditions);
    struct blr_native_value **within = blr_new(registers * sizeof *within);
    const bool ready = values->values != NULL && values->diverges != NULL && values->operands != NULL &&
                       values->first_operand != NULL && values->results != NULL && values->conditions != NULL && within != NULL;
    if (ready) {
        for (uint32_t v = 0; v < registers; v++)
            values->values[v] = (struct blr_native_value){.place = v / 4 * BLR_LANES, .size = 1u << v % 4, .number = v};
        values->count = values->shared = registers;
        mark_presets(values);
        name_values(values, within, registers);
        if (!values->failed)
            classify(values);
    }
    blr_delete(within);
    return ready;
}

void blr_native_values_free(struct blr_native_values *values)
{
    blr_delete(values->recipes);
    blr_delete(values->values);
    blr_delete(values->diverges);
    blr_delete(values->operands);
    blr_delete(values->first_operand);
    blr_delete(values->results);
    blr_delete(values->conditions);
}
