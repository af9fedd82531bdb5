/* Addresses of variables and operands, loads, private memory, special registers. */
#include "emit.h"

#include <string.h>

#define MOST_SHARED_ALIGNMENT 256u /* that a variable in .shared memory has */

/* ---------------------------------------------------------------- state spaces */

enum ptx_space ptx_space_of(struct ptx_emitter *e)
{
    const struct ptx_instruction *i = e->instruction;
    for (uint32_t k = 0; k < i->modifier_count; k++) {
        const char *word = i->modifiers[k];
        if (strcmp(word, "global") == 0 || strcmp(word, "const") == 0)
            return PTX_SPACE_GLOBAL;
        if (strcmp(word, "shared") == 0 || strcmp(word, "shared::cta") == 0)
            return PTX_SPACE_SHARED;
        if (strcmp(word, "local") == 0)
            return PTX_SPACE_LOCAL;
        if (strcmp(word, "param") == 0 || strcmp(word, "param::entry") == 0 || strcmp(word, "param::func") == 0)
            return PTX_SPACE_PARAM;
        if (strcmp(word, "shared::cluster") == 0 && strcmp(i->name, "isspacep") != 0)
            ptx_refuse(e, "memory of a cluster of blocks");
        if (strcmp(word, "shared::cluster") == 0)
            return PTX_SPACE_SHARED; /* a block is a cluster of its own */
    }
    return PTX_SPACE_GENERIC;
}

uint32_t ptx_block_type(struct ptx_emitter *e, uint64_t size, uint64_t alignment)
{
    const uint64_t unit = alignment >= 8 ? 8 : alignment >= 4 ? 4 : alignment >= 2 ? 2 : 1;
    const uint32_t operands[2] = {ptx_scalar(e->words, ptx_integer((uint32_t)unit * 8)),
                                  ptx_bits_value(e, PTX_I64, (size + unit - 1) / unit).id};
    return ptx_declare(e->words, OP_TypeArray, 0, operands, 2);
}

/* Appends words to the start of the function. */
static struct ptx_buffer *at_start(struct ptx_emitter *e)
{
    struct ptx_buffer *before = e->out;
    e->out = &e->prologue;
    return before;
}

static struct ptx_value as_number(struct ptx_emitter *e, uint32_t pointer)
{
    return ptx_emit(e, OP_ConvertPtrToU, PTX_I64, &pointer, 1);
}

static void ask_alignment(struct ptx_emitter *e, uint32_t id, uint64_t alignment)
{
    const uint32_t operands[3] = {id, DECORATION_ALIGNMENT, (uint32_t)alignment};
    if (alignment > 8)
        ptx_append(e->build, &e->words->decorations, OP_Decorate, operands, 3);
}

uint32_t ptx_private(struct ptx_emitter *e, uint64_t size, uint64_t alignment)
{
    const uint32_t type = ptx_pointer(e->words, STORAGE_FUNCTION, ptx_block_type(e, size == 0 ? 1 : size, alignment));
    const uint32_t id = ptx_new_id(e->words), operands[3] = {type, id, STORAGE_FUNCTION};
    ptx_append(e->build, &e->variables, OP_Variable, operands, 3);
    ask_alignment(e, id, alignment);
    struct ptx_buffer *before = at_start(e);
    const uint32_t address = as_number(e, id).id;
    e->out = before;
    return address;
}

/* One variable of the work-group holds all shared variables: an address in that space is an offset in it. */
struct ptx_value ptx_shared_base(struct ptx_emitter *e)
{
    struct ptx_program *program = e->program;
    if (program->shared_variable == 0) {
        const uint64_t size = e->module->shared_bytes == 0 ? 1 : e->module->shared_bytes;
        const uint32_t type = ptx_pointer(e->words, STORAGE_WORKGROUP, ptx_block_type(e, size, 8));
        program->shared_variable = ptx_new_id(e->words);
        const uint32_t operands[3] = {type, program->shared_variable, STORAGE_WORKGROUP};
        ptx_append(e->build, &e->words->declarations, OP_Variable, operands, 3);
        ask_alignment(e, program->shared_variable, MOST_SHARED_ALIGNMENT);
    }
    if (e->shared_base == 0) {
        struct ptx_buffer *before = at_start(e);
        e->shared_base = as_number(e, program->shared_variable).id;
        e->out = before;
    }
    return (struct ptx_value){e->shared_base, PTX_I64};
}

struct ptx_value ptx_symbol_address(struct ptx_emitter *e, struct ptx_symbol *symbol)
{
    struct ptx_words *words = e->words;
    symbol = symbol->definition;
    switch (symbol->kind) {
    case PTX_SHARED: return ptx_bits_value(e, PTX_I64, symbol->offset);
    case PTX_FUNCTION: return ptx_bits_value(e, PTX_I64, symbol->function->address);
    case PTX_GLOBAL: {
        const uint32_t sum[3] = {OP_IAdd, e->program->globals_base, ptx_bits_value(e, PTX_I64, symbol->offset).id};
        return (struct ptx_value){ptx_declare(words, OP_SpecConstantOp, ptx_scalar(words, PTX_I64), sum, 3), PTX_I64};
    }
    case PTX_LOCAL:
    case PTX_ARGUMENT:
        if (e->local_addresses[symbol->number] == 0)
            e->local_addresses[symbol->number] = ptx_private(e, symbol->size, symbol->alignment);
        return (struct ptx_value){e->local_addresses[symbol->number], PTX_I64};
    case PTX_PARAMETER: {
        const uint32_t *list = symbol->is_result ? e->result_addresses : e->parameter_addresses;
        if (list[symbol->number] == 0)
            ptx_refuse(e, "the address of a parameter that is no memory");
        return (struct ptx_value){list[symbol->number], PTX_I64};
    }
    default: ptx_refuse(e, "the address of something that has none");
    }
}

struct ptx_value ptx_address(struct ptx_emitter *e, const struct ptx_operand *operand, enum ptx_space space)
{
    if (operand->kind != PTX_OPERAND_ADDRESS || operand->count == 0)
        ptx_refuse(e, "an address in brackets is needed");
    const struct ptx_operand *item = &operand->items[0];
    struct ptx_value address = ptx_read(e, item, PTX_U64);
    const bool is_shared = item->kind == PTX_OPERAND_SYMBOL && item->symbol->kind == PTX_SHARED;
    if (space == PTX_SPACE_SHARED || is_shared)
        address = ptx_op2(e, OP_IAdd, PTX_I64, ptx_shared_base(e), address);
    return address;
}

/* ---------------------------------------------------------------- accesses */

uint32_t ptx_as_pointer(struct ptx_emitter *e, struct ptx_value address, uint32_t type)
{
    return ptx_emit_typed(e, OP_ConvertUToPtr, ptx_pointer(e->words, STORAGE_GLOBAL, type), &address.id, 1);
}

struct ptx_value ptx_load(struct ptx_emitter *e, struct ptx_value address, enum ptx_kind kind)
{
    const uint32_t type = ptx_scalar(e->words, kind), operands[3] = {ptx_as_pointer(e, address, type), 2, ptx_bits_of(kind) / 8};
    return (struct ptx_value){ptx_emit_typed(e, OP_Load, type, operands, 3), kind};
}

/* A fault: nothing can write at address 0. */
void ptx_trap(struct ptx_emitter *e)
{
    const uint32_t type = ptx_scalar(e->words, PTX_I32);
    const uint32_t pointer = ptx_declare(e->words, OP_ConstantNull, ptx_pointer(e->words, STORAGE_GLOBAL, type), NULL, 0);
    const uint32_t operands[4] = {pointer, ptx_bits_value(e, PTX_I32, 0).id, 2, 4};
    ptx_emit_plain(e, OP_Store, operands, 4);
}

/* ---------------------------------------------------------------- special registers */

static uint32_t builtin_variable(struct ptx_emitter *e, uint32_t number, uint32_t type)
{
    uint32_t *place = &e->program->builtins[number];
    if (*place == 0) {
        *place = ptx_new_id(e->words);
        const uint32_t operands[3] = {ptx_pointer(e->words, STORAGE_INPUT, type), *place, STORAGE_INPUT};
        ptx_append(e->build, &e->words->declarations, OP_Variable, operands, 3);
        const uint32_t decoration[3] = {*place, DECORATION_BUILTIN, number};
        ptx_append(e->build, &e->words->decorations, OP_Decorate, decoration, 3);
    }
    return *place;
}

static struct ptx_value scalar_builtin(struct ptx_emitter *e, uint32_t number)
{
    const uint32_t type = ptx_scalar(e->words, PTX_I32), variable = builtin_variable(e, number, type);
    ptx_need(e->words, CAN_SUBGROUP_DISPATCH);
    return (struct ptx_value){ptx_emit_typed(e, OP_Load, type, &variable, 1), PTX_I32};
}

static struct ptx_value vector_builtin(struct ptx_emitter *e, uint32_t number, uint32_t component)
{
    if (component > 2)
        return ptx_bits_value(e, PTX_I32, number == BUILTIN_NUM_WORKGROUPS || number == BUILTIN_WORKGROUP_SIZE);
    const uint32_t type = ptx_vector(e->words, PTX_I64, 3), variable = builtin_variable(e, number, type);
    const uint32_t operands[2] = {ptx_emit_typed(e, OP_Load, type, &variable, 1), component};
    return ptx_op1(e, OP_UConvert, PTX_I32, ptx_emit(e, OP_CompositeExtract, PTX_I64, operands, 2));
}

static struct ptx_value clock_value(struct ptx_emitter *e)
{
    const uint32_t scope = ptx_bits_value(e, PTX_I32, 1).id;
    ptx_need(e->words, CAN_CLOCK);
    ptx_need_extension(e->words, "SPV_KHR_shader_clock");
    return ptx_emit(e, OP_ReadClockKHR, PTX_I64, &scope, 1);
}

struct ptx_value ptx_launch_address(struct ptx_emitter *e, uint32_t word)
{
    return ptx_op2(e, OP_IAdd, PTX_I64, ptx_shared_base(e), ptx_bits_value(e, PTX_I64, e->module->launch_offset + 8 * word));
}

bool ptx_is_of_launch(const char *name)
{
    static const char *const names[] = {"%dynamic_smem_size", "%total_smem_size", "%aggr_smem_size", "%envreg1", "%envreg2"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* %envreg1 and %envreg2 are the high and low half of the workspace's address, as cooperative_groups expects. */
static struct ptx_value of_launch(struct ptx_emitter *e, const char *name)
{
    struct ptx_value word = ptx_load(e, ptx_launch_address(e, strncmp(name, "%envreg", 7) != 0), PTX_I64);
    if (strcmp(name, "%envreg2") != 0 && strcmp(name, "%dynamic_smem_size") != 0)
        word = ptx_op2(e, OP_ShiftRightLogical, PTX_I64, word, ptx_bits_value(e, PTX_I64, 32));
    return ptx_resize(e, word, PTX_I32, false);
}

/* Those that stay the same in a work-item are read once, at its start. */
static struct ptx_value steady(struct ptx_emitter *e, const char *name, uint32_t component)
{
    static const struct {
        const char *name;
        uint32_t number;
    } vectors[] = {{"%tid", BUILTIN_LOCAL_ID}, {"%ntid", BUILTIN_WORKGROUP_SIZE}, {"%ctaid", BUILTIN_WORKGROUP_ID}, {"%nctaid", BUILTIN_NUM_WORKGROUPS}};
    for (unsigned i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (strcmp(vectors[i].name, name) == 0)
            return vector_builtin(e, vectors[i].number, component);
    if (ptx_is_of_launch(name))
        return of_launch(e, name);
    if (strcmp(name, PTX_GLOBAL_ID) == 0)
        return vector_builtin(e, BUILTIN_GLOBAL_ID, component);
    if (strcmp(name, "%warpid") == 0)
        return scalar_builtin(e, BUILTIN_SUBGROUP_ID);
    if (strcmp(name, "%nwarpid") == 0)
        return scalar_builtin(e, BUILTIN_NUM_SUBGROUPS);
    const struct ptx_value lane = scalar_builtin(e, BUILTIN_LANE), one = ptx_bits_value(e, PTX_I32, 1);
    if (strcmp(name, "%laneid") == 0)
        return lane;
    const struct ptx_value equal = ptx_op2(e, OP_ShiftLeftLogical, PTX_I32, one, lane), less = ptx_op2(e, OP_ISub, PTX_I32, equal, one);
    if (strcmp(name, "%lanemask_eq") == 0)
        return equal;
    if (strcmp(name, "%lanemask_lt") == 0)
        return less;
    if (strcmp(name, "%lanemask_ge") == 0)
        return ptx_op1(e, OP_Not, PTX_I32, less);
    const struct ptx_value most = ptx_op2(e, OP_BitwiseOr, PTX_I32, less, equal);
    if (strcmp(name, "%lanemask_le") == 0)
        return most;
    if (strcmp(name, "%lanemask_gt") == 0)
        return ptx_op1(e, OP_Not, PTX_I32, most);
    ptx_fail(e->build, e->instruction->line, "the special register '%s' is not known", name);
}

bool ptx_is_special(const struct ptx_emitter *e, struct ptx_value value, const char *name, uint32_t component)
{
    for (uint32_t i = 0; i < e->special_count; i++)
        if (e->specials[i].value.id == value.id)
            return e->specials[i].component == component && strcmp(e->specials[i].name, name) == 0;
    return false;
}

struct ptx_value ptx_special(struct ptx_emitter *e, const char *name, uint32_t component)
{
    if (strcmp(name, "WARP_SZ") == 0)
        return ptx_bits_value(e, PTX_I32, 32);
    if (strcmp(name, "%nsmid") == 0)
        return ptx_bits_value(e, PTX_I32, 1);
    if (strcmp(name, "%smid") == 0 || strcmp(name, "%envreg0") == 0)
        return ptx_bits_value(e, PTX_I32, 0);
    if (strcmp(name, "%gridid") == 0)
        return ptx_bits_value(e, PTX_I64, 0);
    if (strncmp(name, "%clock", 6) == 0 || strncmp(name, "%globaltimer", 12) == 0) {
        const struct ptx_value now = clock_value(e);
        const size_t length = strlen(name);
        if (strcmp(name + length - 3, "_hi") == 0)
            return ptx_op1(e, OP_UConvert, PTX_I32, ptx_op2(e, OP_ShiftRightLogical, PTX_I64, now, ptx_bits_value(e, PTX_I64, 32)));
        return strcmp(name, "%clock") == 0 || strcmp(name + length - 3, "_lo") == 0 ? ptx_op1(e, OP_UConvert, PTX_I32, now) : now;
    }
    for (uint32_t i = 0; i < e->special_count; i++)
        if (e->specials[i].component == component && strcmp(e->specials[i].name, name) == 0)
            return e->specials[i].value;
    struct ptx_buffer *before = at_start(e);
    const struct ptx_value value = steady(e, name, component);
    e->out = before;
    if (e->special_count < sizeof e->specials / sizeof *e->specials)
        e->specials[e->special_count++] = (struct ptx_steady){name, component, value};
    return value;
}
