/* Decoding of an entry point to a program: inlining of calls, block by block. */
#include "spirv/compile/builder.h"
#include "spirv/execute/interpreter.h"

#include <string.h>

#define MOST_EFFORT ((uint64_t)1 << 28) /* limit of decoded words; a function counts once for each call */
#define MOST_BLOCKS (1u << 18)

static uint32_t word_at(const struct blr_spirv_builder *b, uint32_t word) { return b->build->words[word]; }

void blr_spirv_spend(struct blr_spirv_builder *b, uint32_t word, uint32_t effort)
{
    b->effort += effort;
    if (b->effort > MOST_EFFORT)
        blr_spirv_refuse(b->build, word, "the kernel '%.80s' has too many calls, or too many edges between its blocks",
                         b->program->entry->name);
}

/* ---------------------------------------------------------------- blocks and edges */

uint32_t blr_spirv_new_part(struct blr_spirv_builder *b)
{
    if (b->part_count >= MOST_BLOCKS)
        blr_spirv_refuse(b->build, b->program->entry->word, "the kernel '%.80s' has more than %u blocks with its calls in place",
                         b->program->entry->name, MOST_BLOCKS);
    b->parts = blr_spirv_grow(b->build, b->parts, b->part_count, &b->part_capacity, sizeof *b->parts);
    b->parts[b->part_count] = (struct blr_spirv_part){.condition = BLR_NONE, .edges_in = BLR_NONE, .meeting = BLR_NONE, .behind = BLR_NONE, .kind = BLR_END_RETURN};
    return b->part_count++;
}

void blr_spirv_open_part(struct blr_spirv_builder *b, uint32_t part)
{
    b->current = part;
    b->parts[part].first = b->parts[part].end = b->step_count;
}

struct blr_spirv_part *blr_spirv_close_part(struct blr_spirv_builder *b, enum blr_spirv_end kind)
{
    struct blr_spirv_part *part = &b->parts[b->current];
    part->end = b->step_count;
    part->kind = kind;
    part->first_edge = b->branch_count;
    return part;
}

void blr_spirv_add_edge(struct blr_spirv_builder *b, uint32_t label, uint32_t target)
{
    b->branches = blr_spirv_grow(b->build, b->branches, b->branch_count, &b->branch_capacity, sizeof *b->branches);
    b->branches[b->branch_count] = (struct blr_spirv_branch){
        .from = b->current, .target = target, .label = label, .next_in = b->parts[target].edges_in};
    b->parts[target].edges_in = b->branch_count++;
    b->parts[b->current].edge_count++;
}

struct blr_spirv_step *blr_spirv_meeting(struct blr_spirv_builder *b, uint32_t word)
{
    uint32_t behind = blr_spirv_new_part(b);
    b->program->has_barriers = true;
    blr_spirv_close_part(b, BLR_END_BARRIER)->meeting = b->step_count;
    blr_spirv_add_edge(b, 0, behind);
    blr_spirv_step(b, word);
    blr_spirv_open_part(b, behind);
    return &b->steps[b->step_count - 1];
}

uint32_t blr_spirv_bridge(struct blr_spirv_builder *b, uint32_t target)
{
    uint32_t part = blr_spirv_new_part(b);
    blr_spirv_open_part(b, part);
    blr_spirv_close_part(b, BLR_END_BRANCH);
    blr_spirv_add_edge(b, 0, target);
    return part;
}

static uint32_t part_of(struct blr_spirv_builder *b, uint32_t word, uint32_t label)
{
    if (label == 0 || label >= b->module->bound || b->module->ids[label].kind != BLR_ID_LABEL || b->labels[label] == 0 ||
        &b->module->functions[b->module->ids[label].owner] != b->function)
        blr_spirv_refuse(b->build, word, "%%%u is no block of this function", label);
    return b->labels[label] - 1;
}

/* ---------------------------------------------------------------- ends of blocks */

/* Ends the current block with its only possible edge. The other edges stay in their targets' lists
 * without a source block: the check of phis needs them. */
static void settle(struct blr_spirv_builder *b, uint32_t edge)
{
    struct blr_spirv_part *part = &b->parts[b->current];
    part->kind = BLR_END_BRANCH;
    part->condition = BLR_NONE;
    part->first_edge += edge;
    part->edge_count = 1;
}

static void decode_switch(struct blr_spirv_builder *b, uint32_t word, uint32_t label)
{
    blr_spirv_require_words(b->module, word, 3);
    struct blr_spirv_ref selector = blr_spirv_operand(b, word, word_at(b, word + 1));
    uint32_t length = blr_spirv_length_at(b->build, word);
    if (selector.type->kind != BLR_TYPE_INT)
        blr_spirv_refuse(b->build, word, "%%%u is not an integer", word_at(b, word + 1));
    uint32_t words = selector.type->scalar_size > 4 ? 2 : 1;
    if ((length - 3) % (words + 1) != 0)
        blr_spirv_refuse(b->build, word, "%u words do not form complete cases", length - 3);
    uint32_t cases = (length - 3) / (words + 1);
    uint64_t *literals = blr_spirv_allocate(b->build, cases + 1u, sizeof *literals);
    uint32_t chosen = 0;
    struct blr_spirv_part *part = blr_spirv_close_part(b, BLR_END_SWITCH);
    part->condition = selector.value - 1;
    part->condition_lane = selector.lane;
    part->size = selector.type->scalar_size;
    part->literals = literals;
    blr_spirv_add_edge(b, label, part_of(b, word, word_at(b, word + 2)));
    uint64_t mask = part->size == 8 ? UINT64_MAX : ((uint64_t)1 << part->size * 8) - 1, number = 0;
    const unsigned char *bytes = blr_spirv_known_bytes(b, selector);
    if (bytes != NULL)
        memcpy(&number, bytes, part->size);
    for (uint32_t i = 0; i < cases; i++) {
        uint32_t at = word + 3 + i * (words + 1);
        literals[i] = (word_at(b, at) | (words == 2 ? (uint64_t)word_at(b, at + 1) << 32 : 0)) & mask;
        blr_spirv_add_edge(b, label, part_of(b, word, word_at(b, at + words)));
        if (bytes != NULL && literals[i] == number)
            bytes = NULL, chosen = i + 1;
    }
    if (blr_spirv_known_bytes(b, selector) != NULL)
        settle(b, chosen);
}

static void decode_choice(struct blr_spirv_builder *b, uint32_t word, uint32_t label)
{
    blr_spirv_require_words(b->module, word, 4);
    struct blr_spirv_ref condition = blr_spirv_operand(b, word, word_at(b, word + 1));
    if (condition.type->kind != BLR_TYPE_BOOL)
        blr_spirv_refuse(b->build, word, "%%%u is no boolean", word_at(b, word + 1));
    struct blr_spirv_part *part = blr_spirv_close_part(b, BLR_END_CHOICE);
    part->condition = condition.value - 1;
    part->condition_lane = condition.lane;
    blr_spirv_add_edge(b, label, part_of(b, word, word_at(b, word + 2)));
    blr_spirv_add_edge(b, label, part_of(b, word, word_at(b, word + 3)));
    const unsigned char *bytes = blr_spirv_known_bytes(b, condition);
    if (bytes != NULL)
        settle(b, *bytes != 0 ? 0 : 1);
}

/* ---------------------------------------------------------------- functions */

static void decode_return(struct blr_spirv_builder *b, uint32_t word, uint32_t label, const struct blr_spirv_call *call)
{
    if (call == NULL) {
        blr_spirv_close_part(b, BLR_END_RETURN);
        return;
    }
    struct blr_spirv_ref value = {0};
    if (blr_spirv_opcode_at(b->build, word) == BLR_OP_ReturnValue) {
        blr_spirv_require_words(b->module, word, 2);
        value = blr_spirv_operand(b, word, word_at(b, word + 1));
    }
    if ((value.value != 0) != call->returns_value ||
        (call->returns_value && !blr_spirv_same(b->module, value.type, call->type)))
        blr_spirv_refuse(b->build, word, "the type of its value is not the function's return type");
    if (call->returns_value)
        blr_spirv_copy(b, word, call->result, 0, value, b->module->ids[call->type->id].of_type);
    blr_spirv_close_part(b, BLR_END_BRANCH);
    blr_spirv_add_edge(b, label, call->continuation);
}

void blr_spirv_enter(struct blr_spirv_builder *b, uint32_t unit)
{
    b->unit = unit;
    b->module = b->units[unit].module;
    b->refs = b->units[unit].refs;
    b->labels = b->units[unit].labels;
    b->build->words = b->module->words;
    b->build->count = b->module->count;
    if (b->build->module != 0)
        b->build->module = unit + 1;
}

/* ---------------------------------------------------------------- phis */

/* Assigns a block's phis for one edge. All sources are read before any phi is written. */
static void move_phis(struct blr_spirv_builder *b, struct blr_spirv_branch *branch, uint32_t phi, uint32_t count)
{
    struct blr_spirv_ref *sources = blr_spirv_allocate(b->build, count, sizeof *sources);
    branch->first_move = b->step_count;
    for (int pass = 0; pass < 2; pass++) {
        uint32_t at = phi;
        for (uint32_t i = 0; i < count; at += blr_spirv_length_at(b->build, at)) {
            if (blr_spirv_opcode_at(b->build, at) != BLR_OP_Phi)
                continue;
            struct blr_spirv_type *type = blr_spirv_result_type(b, at);
            if (pass == 0) {
                uint32_t source = 0;
                blr_spirv_spend(b, at, blr_spirv_length_at(b->build, at));
                for (uint32_t w = at + 3; w < at + blr_spirv_length_at(b->build, at); w += 2)
                    if (word_at(b, w + 1) == branch->label)
                        source = word_at(b, w);
                if (source == 0)
                    blr_spirv_refuse(b->build, at, "no value for the edge from %%%u", branch->label);
                sources[i] = blr_spirv_operand(b, at, source);
                if (!blr_spirv_same(b->module, sources[i].type, type))
                    blr_spirv_refuse(b->build, at, "%%%u is of another type", source);
            }
            i++;
        }
        if (pass == 0) {
            /* A source that is a phi of the same block is copied first. */
            at = phi;
            for (uint32_t i = 0; i < count; at += blr_spirv_length_at(b->build, at)) {
                if (blr_spirv_opcode_at(b->build, at) != BLR_OP_Phi)
                    continue;
                uint32_t own = b->refs[word_at(b, at + 2)].value;
                struct blr_spirv_type *type = blr_spirv_result_type(b, at);
                bool overwritten = sources[i].value != own && b->values[sources[i].value - 1].first == phi;
                if (overwritten) {
                    struct blr_spirv_ref copy = {.value = blr_spirv_new_value(b, type->lane_bytes) + 1, .type = type};
                    blr_spirv_copy(b, at, copy, 0, sources[i], type);
                    sources[i] = copy;
                }
                i++;
            }
            continue;
        }
        at = phi;
        for (uint32_t i = 0; i < count; at += blr_spirv_length_at(b->build, at)) {
            if (blr_spirv_opcode_at(b->build, at) != BLR_OP_Phi)
                continue;
            struct blr_spirv_ref to = b->refs[word_at(b, at + 2)];
            if (to.value != sources[i].value || to.lane != sources[i].lane)
                blr_spirv_copy(b, at, to, 0, sources[i], blr_spirv_result_type(b, at));
            i++;
        }
    }
    branch->end_move = b->step_count;
}

/* Decodes the phis of the block whose label is at word. */
static void decode_phis(struct blr_spirv_builder *b, uint32_t word)
{
    uint32_t first = 0, count = 0, at = word + blr_spirv_length_at(b->build, word);
    for (;; at += blr_spirv_length_at(b->build, at)) {
        unsigned opcode = blr_spirv_opcode_at(b->build, at);
        if (opcode == BLR_OP_Phi) {
            if (count++ == 0)
                first = at;
            b->values[b->refs[word_at(b, at + 2)].value - 1].first = first;
        } else if (opcode != BLR_OP_Line && opcode != BLR_OP_NoLine && opcode != BLR_OP_Nop) {
            break;
        }
    }
    uint32_t part = b->labels[word_at(b, word + 1)] - 1;
    for (uint32_t e = b->parts[part].edges_in; count > 0 && e != BLR_NONE; e = b->branches[e].next_in)
        move_phis(b, &b->branches[e], first, count);
    for (at = first; count > 0; at += blr_spirv_length_at(b->build, at))
        if (blr_spirv_opcode_at(b->build, at) == BLR_OP_Phi) {
            b->values[b->refs[word_at(b, at + 2)].value - 1].first = 0;
            count--;
        }
}

/* ---------------------------------------------------------------- instructions */

static void unknown(struct blr_spirv_builder *b, uint32_t word) { blr_spirv_unsupported(b->build, word, NULL); }

static void decode_barrier(struct blr_spirv_builder *b, uint32_t word, uint32_t label)
{
    blr_spirv_require_words(b->module, word, 4);
    uint64_t scope = blr_spirv_constant_number(b->module, word, word_at(b, word + 1));
    if (scope == 3 || scope == 4) { /* the work-items of a sub-group run in lockstep, unless some wait for others */
        blr_spirv_gather(b);
        return;
    }
    if (scope != 2)
        blr_spirv_unsupported(b->build, word, "a barrier with a scope larger than the work-group");
    b->program->has_barriers = true;
    uint32_t behind = blr_spirv_new_part(b);
    blr_spirv_close_part(b, BLR_END_BARRIER);
    blr_spirv_add_edge(b, label, behind);
    blr_spirv_open_part(b, behind);
}

static void decode_function_variable(struct blr_spirv_builder *b, uint32_t word)
{
    blr_spirv_require_words(b->module, word, 4);
    struct blr_spirv_type *pointer = blr_spirv_result_type(b, word);
    if (pointer->kind != BLR_TYPE_POINTER || pointer->storage != BLR_STORAGE_FUNCTION ||
        word_at(b, word + 3) != BLR_STORAGE_FUNCTION)
        blr_spirv_unsupported(b->build, word, "variables of functions must have storage class Function");
    struct blr_spirv_type *holds = blr_spirv_type(b->module, word, pointer->element);
    struct blr_spirv_ref address = blr_spirv_private(b, word, pointer, holds, blr_spirv_alignment(b->module, word), NULL);
    blr_spirv_bind(b, word, address);
    if (blr_spirv_length_at(b->build, word) > 4)
        blr_spirv_store(b, word, address, blr_spirv_operand(b, word, word_at(b, word + 4)), holds);
}

/* Instructions without effect and result. */
static bool says_nothing(unsigned opcode)
{
    switch (opcode) {
    case BLR_OP_Nop:
    case BLR_OP_Line:
    case BLR_OP_NoLine:
    case BLR_OP_LoopMerge:
    case BLR_OP_SelectionMerge:
    case BLR_OP_LifetimeStart:
    case BLR_OP_LifetimeStop:
    case BLR_OP_MemoryBarrier: /* lanes and threads see each other's writes at once, or at a barrier */
    case BLR_OP_ControlBarrierArriveINTEL: /* the matching wait executes the barrier */
    case BLR_OP_AssumeTrueKHR:
    case BLR_OP_Phi: return true;
    default: return false;
    }
}

static void decode_instruction(struct blr_spirv_builder *b, uint32_t word, uint32_t label, const struct blr_spirv_call *call)
{
    unsigned opcode = blr_spirv_opcode_at(b->build, word);
    if (says_nothing(opcode))
        return;
    switch (opcode) {
    case BLR_OP_Branch:
        blr_spirv_require_words(b->module, word, 2);
        blr_spirv_close_part(b, BLR_END_BRANCH);
        blr_spirv_add_edge(b, label, part_of(b, word, word_at(b, word + 1)));
        return;
    case BLR_OP_BranchConditional: decode_choice(b, word, label); return;
    case BLR_OP_Switch: decode_switch(b, word, label); return;
    case BLR_OP_Return:
    case BLR_OP_ReturnValue: decode_return(b, word, label, call); return;
    case BLR_OP_Unreachable: blr_spirv_close_part(b, BLR_END_RETURN); return;
    case BLR_OP_FunctionCall: blr_spirv_decode_call(b, word); return;
    case BLR_OP_FunctionPointerCallINTEL: blr_spirv_decode_pointer_call(b, word); return;
    case BLR_OP_ControlBarrier:
    case BLR_OP_ControlBarrierWaitINTEL: decode_barrier(b, word, label); return;
    case BLR_OP_Variable: decode_function_variable(b, word); return;
    case BLR_OP_ExtInst:
        if (!blr_spirv_decode_extended(b, word))
            unknown(b, word);
        return;
    default: break;
    }
    if (!blr_spirv_decode_composite(b, word) && !blr_spirv_decode_bits(b, word) && !blr_spirv_decode_arithmetic(b, word) &&
        !blr_spirv_decode_memory(b, word) && !blr_spirv_decode_atomic(b, word) && !blr_spirv_decode_image(b, word) &&
        !blr_spirv_decode_group(b, word) && !blr_spirv_decode_clock(b, word))
        unknown(b, word);
}

/* Creates a block for every label of the function and a value for every phi; resets the state of earlier calls. */
static void prepare_function(struct blr_spirv_builder *b, const struct blr_spirv_function *function)
{
    uint32_t at = function->body;
    for (; at < function->end; at += blr_spirv_length_at(b->build, at)) {
        unsigned opcode = blr_spirv_opcode_at(b->build, at);
        if (opcode == BLR_OP_Label) {
            b->labels[word_at(b, at + 1)] = blr_spirv_new_part(b) + 1;
        } else if (blr_spirv_opcode_makes(opcode) == 'V') {
            b->refs[word_at(b, at + 2)] = (struct blr_spirv_ref){0};
            if (opcode == BLR_OP_Phi) {
                if (blr_spirv_length_at(b->build, at) % 2 == 0)
                    blr_spirv_refuse(b->build, at, "a value without its predecessor block");
                blr_spirv_result(b, at);
            }
        }
    }
}

void blr_spirv_decode_function(struct blr_spirv_builder *b, uint32_t word, struct blr_spirv_function *function,
                            const struct blr_spirv_call *call)
{
    const struct blr_spirv_function *caller = b->function;
    uint32_t before = b->part_count;
    blr_spirv_spend(b, word, function->end - function->body);
    prepare_function(b, function);
    *blr_spirv_is_open(b, b->unit, function) = true;
    b->depth++;
    if (call != NULL) { /* edge from the call to the first block */
        blr_spirv_close_part(b, BLR_END_BRANCH);
        blr_spirv_add_edge(b, 0, before);
    }
    b->function = function;
    uint32_t label = 0;
    for (uint32_t at = function->body; at < function->end; at += blr_spirv_length_at(b->build, at)) {
        if (blr_spirv_opcode_at(b->build, at) == BLR_OP_Label) {
            label = word_at(b, at + 1);
            blr_spirv_open_part(b, b->labels[label] - 1);
        } else {
            decode_instruction(b, at, label, call);
        }
    }
    for (uint32_t at = function->body; at < function->end; at += blr_spirv_length_at(b->build, at))
        if (blr_spirv_opcode_at(b->build, at) == BLR_OP_Label)
            decode_phis(b, at);
    *blr_spirv_is_open(b, b->unit, function) = false;
    b->depth--;
    b->function = caller;
}

/* ---------------------------------------------------------------- kernels */

static enum blr_spirv_argument_kind argument_kind(const struct blr_spirv_type *type)
{
    switch (type->kind) {
    case BLR_TYPE_POINTER: return type->storage == BLR_STORAGE_WORKGROUP ? BLR_ARGUMENT_LOCAL : BLR_ARGUMENT_POINTER;
    case BLR_TYPE_IMAGE: return BLR_ARGUMENT_IMAGE;
    case BLR_TYPE_SAMPLER: return BLR_ARGUMENT_SAMPLER;
    default: return BLR_ARGUMENT_VALUE;
    }
}

static void decode_parameter(struct blr_spirv_builder *b, uint32_t word, uint32_t number,
                             struct blr_spirv_argument *argument)
{
    uint32_t id = word_at(b, word + 2);
    const struct blr_spirv_id *entry = &b->module->ids[id];
    struct blr_spirv_type *type = blr_spirv_type(b->module, word, word_at(b, word + 1));
    argument->name = entry->name != NULL ? entry->name : "";
    argument->kind = argument_kind(type);
    argument->size = type->size;
    if (argument->kind == BLR_ARGUMENT_LOCAL)
        b->program->uses_local = true;
    if (entry->by_value && type->kind == BLR_TYPE_POINTER) {
        const struct blr_spirv_type *holds = blr_spirv_type(b->module, word, type->element);
        argument->kind = BLR_ARGUMENT_VALUE;
        argument->by_value = true;
        argument->size = holds->size;
        b->refs[id] = blr_spirv_private(b, word, type, holds, 0, &argument->private_offset);
        return;
    }
    if (type->kind == BLR_TYPE_POINTER && type->storage == BLR_STORAGE_FUNCTION)
        blr_spirv_unsupported(b->build, word, "a kernel parameter that points to private memory");
    if (type->kind == BLR_TYPE_SAMPLED_IMAGE || type->kind == BLR_TYPE_EVENT)
        blr_spirv_unsupported(b->build, word, "a kernel's parameter of this type");
    const struct blr_spirv_leaf *leaves = blr_spirv_leaves(b->module, word, type);
    uint32_t value = blr_spirv_new_value(b, type->lane_bytes);
    b->values[value].preset = true;
    for (uint32_t i = 0; i < type->scalars; i++)
        blr_spirv_fill(b, (struct blr_spirv_filling){.value = value,
                                                     .lane = leaves[i].lane,
                                                     .preset = {.kind = BLR_PRESET_ARGUMENT,
                                                                .size = leaves[i].size,
                                                                .argument = number,
                                                                .offset = leaves[i].offset}});
    b->refs[id] = (struct blr_spirv_ref){.value = value + 1, .type = type};
}

const struct blr_spirv_program *blr_spirv_decode(struct blr_spirv_module *modules, uint32_t count, uint32_t number,
                                                 const struct blr_spirv_entry *entry)
{
    struct blr_spirv_module *module = &modules[number];
    struct blr_spirv_build *build = module->build;
    struct blr_spirv_function *function = module->ids[entry->function].function;
    struct blr_spirv_program *program = blr_spirv_allocate(build, 1, sizeof *program);
    struct blr_spirv_builder builder = {.build = build, .program = program, .function = function};
    builder.units = blr_spirv_allocate(build, count, sizeof *builder.units);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t offset = (program->local_bytes + 127) / 128 * 128;
        builder.units[i] = (struct blr_spirv_unit){.module = &modules[i], .local_offset = offset};
        builder.units[i].refs = blr_spirv_allocate(build, modules[i].bound, sizeof *builder.refs);
        builder.units[i].labels = blr_spirv_allocate(build, modules[i].bound, sizeof *builder.labels);
        builder.units[i].open = blr_spirv_allocate(build, modules[i].function_count + 1u, sizeof *builder.units[i].open);
        program->local_bytes = offset + modules[i].local_size;
    }
    blr_spirv_enter(&builder, number);
    program->entry = entry;
    program->is_independent = module->is_independent;
    program->sub_group_size = entry->sub_group_size != 0 ? entry->sub_group_size : BLR_LANES;
    program->modules = modules;
    program->module_count = count;
    if (function->body == 0)
        blr_spirv_refuse(build, function->word, "the kernel '%.80s' is declared and not defined", entry->name);
    if (module->ids[function->type->element].of_type->kind != BLR_TYPE_VOID)
        blr_spirv_refuse(build, function->word, "the kernel '%.80s' returns a value", entry->name);
    struct blr_spirv_argument *arguments = blr_spirv_allocate(build, function->type->count + 1u, sizeof *arguments);
    uint32_t parameters = 0;
    for (uint32_t at = function->parameters; parameters < function->type->count; at += blr_spirv_length_at(build, at))
        if (blr_spirv_opcode_at(build, at) == BLR_OP_FunctionParameter) {
            decode_parameter(&builder, at, parameters, &arguments[parameters]);
            parameters++;
        }
    program->arguments = arguments;
    program->argument_count = parameters;
    blr_spirv_open_part(&builder, blr_spirv_new_part(&builder)); /* the entry, which is no loop header */
    blr_spirv_close_part(&builder, BLR_END_BRANCH);
    builder.parts[0].first_edge = 0;
    builder.branches = blr_spirv_grow(build, NULL, 0, &builder.branch_capacity, sizeof *builder.branches);
    builder.parts[0].edge_count = 1;
    builder.branches[0] = (struct blr_spirv_branch){.from = 0, .target = 1, .next_in = BLR_NONE};
    builder.branch_count = 1;
    blr_spirv_choose_shared(&builder, function);
    blr_spirv_decode_function(&builder, function->word, function, NULL);
    blr_spirv_end_shared(&builder);
    blr_spirv_check_undefined(&builder);
    uint32_t *order = blr_spirv_allocate(build, 2 * builder.part_count, sizeof *order);
    uint32_t blocks = blr_spirv_order(&builder, order);
    blocks = blr_spirv_join(&builder, order, blocks);
    blr_spirv_finish(&builder, order, blocks);
    return program;
}
