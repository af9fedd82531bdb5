/* Functions: their parameters, their blocks, and the words of both. */
#include "emit.h"

#include <string.h>

static const struct ptx_handler *const handlers[] = {
    ptx_integer_handlers, ptx_bit_handlers, ptx_float_handlers, ptx_move_handlers, ptx_memory_handlers,
    ptx_atomic_handlers, ptx_warp_handlers, ptx_texture_handlers, ptx_control_handlers,
    ptx_video_handlers, ptx_barrier_handlers, ptx_mbarrier_handlers};

static void emit_instruction(struct ptx_emitter *e, const struct ptx_instruction *i, bool is_decided)
{
    e->instruction = i;
    e->build->line = i->line;
    e->guard.id = 0;
    if (i->is_guarded && !is_decided) {
        e->guard = ptx_get(e, i->guard);
        if (i->guard_negated)
            e->guard = ptx_op1(e, OP_LogicalNot, PTX_BOOL, e->guard);
    }
    for (uint32_t k = 0; k < sizeof handlers / sizeof *handlers; k++)
        for (const struct ptx_handler *handler = handlers[k]; handler->name != NULL; handler++)
            if (strcmp(handler->name, i->name) == 0) {
                handler->run(e);
                e->guard.id = 0;
                return;
            }
    ptx_refuse(e, "it is not supported");
}

/* ---------------------------------------------------------------- ends of blocks */

static void emit_return(struct ptx_emitter *e)
{
    const struct ptx_function *function = e->function;
    if (!function->is_entry && function->result_count == 1 && !function->results[0]->is_array) {
        const struct ptx_value value = ptx_get(e, ptx_variable_of(e, function->results[0]));
        ptx_emit_plain(e, OP_ReturnValue, &value.id, 1);
        return;
    }
    ptx_emit_plain(e, OP_Return, NULL, 0);
}

static void emit_switch(struct ptx_emitter *e, const struct ptx_block *own)
{
    struct ptx_buffer operands = {0};
    ptx_push(e->build, &operands, ptx_operand(e, 0, PTX_U32).id);
    ptx_push(e->build, &operands, e->blocks[own->successors[0]].label);
    for (uint32_t k = 1; k < own->successor_count; k++) {
        ptx_push(e->build, &operands, k);
        ptx_push(e->build, &operands, e->blocks[own->successors[k]].label);
    }
    ptx_append(e->build, e->out, OP_Switch, operands.words, operands.count);
}

static void emit_end(struct ptx_emitter *e, const struct ptx_block *own)
{
    e->instruction = own->last;
    if (own->last != NULL)
        e->build->line = own->last->line;
    if (own->kind == PTX_END_CHOICE) {
        const uint32_t yes = e->blocks[own->successors[0]].label, no = e->blocks[own->successors[1]].label;
        const struct ptx_value guard = ptx_get(e, own->last->guard);
        if (yes == no)
            ptx_jump(e, yes);
        else
            ptx_choose(e, guard, own->last->guard_negated ? no : yes, own->last->guard_negated ? yes : no);
    } else if (own->kind == PTX_END_SWITCH) {
        emit_switch(e, own);
    } else if (own->successor_count > 0) {
        ptx_jump(e, e->blocks[own->successors[0]].label);
    } else if (own->kind == PTX_END_RETURN) {
        emit_return(e);
    } else {
        if (strcmp(own->last->name, "trap") == 0)
            ptx_trap(e);
        ptx_emit_plain(e, e->function->is_entry && strcmp(own->last->name, "exit") == 0 ? OP_Return : OP_Unreachable, NULL, 0);
    }
}

/* ---------------------------------------------------------------- parameters */

/* A parameter of a function whose address is taken gets memory. */
static uint32_t spill(struct ptx_emitter *e, struct ptx_value value, uint64_t alignment)
{
    const uint32_t address = ptx_private(e, ptx_bits_of(value.kind) / 8, alignment);
    struct ptx_buffer *before = e->out;
    e->out = &e->prologue;
    const uint32_t type = ptx_scalar(e->words, value.kind);
    const uint32_t operands[4] = {ptx_as_pointer(e, (struct ptx_value){address, PTX_I64}, type), value.id, 2, ptx_bits_of(value.kind) / 8};
    ptx_emit_plain(e, OP_Store, operands, 4);
    e->out = before;
    return address;
}

static void begin_function(struct ptx_emitter *e, struct ptx_buffer *heading)
{
    struct ptx_function *function = e->function;
    struct ptx_symbol *result = function->result_count > 0 ? function->results[0] : NULL;
    ptx_declare_function(e, function);
    const uint32_t returned = result != NULL && !result->is_array ? ptx_scalar(e->words, ptx_kind_of(result->type)) : ptx_void(e->words);
    const uint32_t operands[4] = {returned, function->ids[e->level], 0, function->type_id};
    ptx_append(e->build, heading, OP_Function, operands, 4);
    for (uint32_t k = 0; k < function->parameter_count; k++) {
        const struct ptx_symbol *symbol = function->parameters[k];
        const struct ptx_value value = {ptx_new_id(e->words), symbol->is_array ? PTX_I64 : ptx_kind_of(symbol->type)};
        const uint32_t parameter[2] = {ptx_scalar(e->words, value.kind), value.id};
        ptx_append(e->build, heading, OP_FunctionParameter, parameter, 2);
        e->parameters[k] = value.id;
        if (symbol->kind == PTX_REGISTER)
            ptx_set(e, symbol->number, value);
        else if (symbol->is_array)
            e->parameter_addresses[k] = value.id;
        else if (e->aggregates[k].in_memory)
            e->parameter_addresses[k] = spill(e, value, symbol->alignment);
    }
    if (result != NULL && result->is_array) {
        const uint32_t parameter[2] = {ptx_scalar(e->words, PTX_I64), ptx_new_id(e->words)};
        ptx_append(e->build, heading, OP_FunctionParameter, parameter, 2);
        e->result_addresses[0] = parameter[1];
    }
}

/* The words of the launch: parameters of an entry, which copies them to shared memory, where each function reads them. */
static void take_launch(struct ptx_emitter *e, struct ptx_buffer *type, struct ptx_buffer *parameters)
{
    struct ptx_buffer *before = e->out;
    const uint32_t word = ptx_scalar(e->words, PTX_I64);
    e->out = &e->prologue;
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t parameter[2] = {word, ptx_new_id(e->words)};
        ptx_push(e->build, type, word);
        ptx_append(e->build, parameters, OP_FunctionParameter, parameter, 2);
        const uint32_t store[4] = {ptx_as_pointer(e, ptx_launch_address(e, k), word), parameter[1], 2, 8};
        ptx_emit_plain(e, OP_Store, store, 4);
    }
    e->out = before;
}

static void begin_entry(struct ptx_emitter *e, struct ptx_buffer *heading)
{
    struct ptx_function *function = e->function;
    struct ptx_buffer type = {0}, parameters = {0};
    ptx_push(e->build, &type, ptx_void(e->words));
    for (uint32_t k = 0; k < function->parameter_count; k++) {
        bool by_value;
        const uint32_t own = ptx_entry_parameter_type(e, k, &by_value), id = ptx_new_id(e->words), operands[2] = {own, id};
        ptx_push(e->build, &type, own);
        ptx_append(e->build, &parameters, OP_FunctionParameter, operands, 2);
        ptx_append_text(e->build, &e->words->names, OP_Name, &id, 1, function->parameters[k]->name, NULL, 0);
        e->parameters[k] = id;
        if (by_value) {
            const uint32_t attribute[3] = {id, DECORATION_PARAMETER, 2};
            ptx_append(e->build, &e->words->decorations, OP_Decorate, attribute, 3);
            struct ptx_buffer *before = e->out;
            e->out = &e->prologue;
            e->parameter_addresses[k] = ptx_emit(e, OP_ConvertPtrToU, PTX_I64, &id, 1).id;
            e->out = before;
        }
    }
    if (function->reads_launch)
        take_launch(e, &type, &parameters);
    if (function->uses_dynamic_shared) { /* its memory follows the static variables */
        const uint32_t own = ptx_pointer(e->words, STORAGE_WORKGROUP, ptx_scalar(e->words, PTX_I8));
        const uint32_t operands[2] = {own, ptx_new_id(e->words)};
        ptx_push(e->build, &type, own);
        ptx_append(e->build, &parameters, OP_FunctionParameter, operands, 2);
    }
    function->type_id = ptx_declare(e->words, OP_TypeFunction, 0, type.words, type.count);
    function->ids = ptx_allocate(e->build, 1, sizeof *function->ids);
    function->ids[0] = ptx_new_id(e->words);
    const uint32_t operands[4] = {ptx_void(e->words), function->ids[0], 0, function->type_id};
    ptx_append(e->build, heading, OP_Function, operands, 4);
    for (uint32_t k = 0; k < parameters.count; k++)
        ptx_push(e->build, heading, parameters.words[k]);
}

/* ---------------------------------------------------------------- functions */

static void append_words(struct ptx_emitter *e, const struct ptx_buffer *from)
{
    for (uint32_t k = 0; k < from->count; k++)
        ptx_push(e->build, &e->words->functions, from->words[k]);
}

static void write_out(struct ptx_emitter *e, const struct ptx_buffer *heading)
{
    struct ptx_buffer *functions = &e->words->functions;
    append_words(e, heading);
    for (uint32_t n = 0; n < e->order_count; n++) {
        const struct ptx_block *own = &e->blocks[e->order[n]];
        ptx_append(e->build, functions, OP_Label, &own->label, 1);
        if (n == 0) {
            append_words(e, &e->variables);
            append_words(e, &e->prologue);
        }
        ptx_append_phis(e, e->order[n], functions);
        append_words(e, &own->words);
    }
    ptx_append(e->build, functions, OP_FunctionEnd, NULL, 0);
}

void ptx_emit_function(struct ptx_emitter *e)
{
    struct ptx_function *function = e->function;
    struct ptx_buffer heading = {0};
    if (e->level == 0) {
        function->registers = ptx_grow(e->build, function->registers, function->register_count, &function->register_capacity,
                                       sizeof *function->registers);
        function->registers[function->register_count++].type = PTX_PRED;
    }
    e->carry = function->register_count - 1;
    e->parameters = ptx_allocate(e->build, function->parameter_count + 1u, sizeof *e->parameters);
    e->parameter_addresses = ptx_allocate(e->build, function->parameter_count + 1u, sizeof *e->parameter_addresses);
    e->result_addresses = ptx_allocate(e->build, function->result_count + 1u, sizeof *e->result_addresses);
    e->local_addresses = ptx_allocate(e->build, function->local_count + 1u, sizeof *e->local_addresses);
    e->build->line = function->line;
    ptx_find_blocks(e);
    ptx_find_dominators(e);
    ptx_find_sites(e);
    ptx_survey_parameters(e);
    e->block = 0;
    e->out = &e->blocks[0].words;
    if (function->is_entry)
        begin_entry(e, &heading);
    else
        begin_function(e, &heading);
    for (uint32_t n = 0; n < e->order_count; n++) {
        e->block = e->order[n];
        struct ptx_block *own = &e->blocks[e->block];
        e->out = &own->words;
        for (uint32_t k = own->first; k < own->end; k++) {
            const struct ptx_instruction *i = &function->instructions[k];
            if (i->name[0] != '\0' && i != own->last)
                emit_instruction(e, i, own->is_decided);
        }
        emit_end(e, own);
    }
    ptx_finish_phis(e);
    write_out(e, &heading);
}
