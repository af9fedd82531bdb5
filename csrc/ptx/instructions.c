/* Bodies of functions: labels, scopes and instructions with their operands. */
#include "reader.h"

#include <string.h>

/* ---------------------------------------------------------------- operands */

static struct ptx_operand read_operand(struct ptx_reader *reader);

/* Operands up to a closing character. */
static void read_items(struct ptx_reader *reader, struct ptx_operand *whole, char closing)
{
    uint32_t capacity = 0;
    if (++reader->nesting > PTX_DEEPEST)
        ptx_fail(reader->build, reader->line, "operands are nested deeper than %u", PTX_DEEPEST);
    while (!ptx_accept(reader, closing)) {
        whole->items = ptx_grow(reader->build, whole->items, whole->count, &capacity, sizeof *whole->items);
        whole->items[whole->count++] = read_operand(reader);
        if (!ptx_accept(reader, ',') && ptx_peek(reader) != closing)
            ptx_fail(reader->build, reader->line, "',' or '%c' is expected", closing);
    }
    reader->nesting--;
}

static const char *const specials[] = {
    "%tid", "%ntid", "%ctaid", "%nctaid", "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "%clock", "%clock_hi",
    "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%lanemask_eq", "%lanemask_le", "%lanemask_lt",
    "%lanemask_ge", "%lanemask_gt", "%dynamic_smem_size", "%total_smem_size", "%aggr_smem_size", "%envreg0",
    "%envreg1", "%envreg2", "WARP_SZ"};

#define VECTORS 4u /* those with components come first */
#define SPECIALS (sizeof specials / sizeof *specials)

/* The place in the list of special registers; SPECIALS for none. */
static size_t place_of(const char *name)
{
    size_t place = 0;
    while (place < SPECIALS && strcmp(specials[place], name) != 0)
        place++;
    return place;
}

static void note_shared(struct ptx_reader *reader, struct ptx_symbol *symbol)
{
    struct ptx_function *function = reader->function;
    for (uint32_t i = 0; i < function->shared_count; i++)
        if (function->shared[i] == symbol)
            return;
    function->shared = ptx_grow(reader->build, function->shared, function->shared_count, &function->shared_capacity,
                                sizeof *function->shared);
    function->shared[function->shared_count++] = symbol;
}

static struct ptx_operand read_named(struct ptx_reader *reader)
{
    const char *name = ptx_name(reader);
    struct ptx_operand operand = {.name = name};
    if (strcmp(name, "_") == 0)
        return operand; /* a sink */
    const struct ptx_symbol *own = ptx_find_register(reader, name);
    if (own != NULL) {
        operand.kind = PTX_OPERAND_REGISTER;
        operand.number = own->number;
        if (reader->at < reader->end && *reader->at == '.')
            ptx_fail(reader->build, reader->line, "a component of the register '%.80s'", name);
        return operand;
    }
    if (place_of(name) < SPECIALS) {
        operand.kind = PTX_OPERAND_SPECIAL;
        operand.component = 3;
        if (reader->at < reader->end && *reader->at == '.') {
            const char *component = ptx_word(reader);
            const bool has_components = place_of(name) < VECTORS;
            if (!has_components || component[0] == '\0' || component[1] != '\0' || strchr("xyz", component[0]) == NULL)
                ptx_fail(reader->build, reader->line, "'%.40s' has no component '.%.40s'", name, component);
            operand.component = (uint32_t)(component[0] - 'x');
        }
        return operand;
    }
    if (name[0] == '%')
        ptx_fail(reader->build, reader->line, "'%.80s' is no register", name);
    struct ptx_symbol *symbol = ptx_find(reader->module, reader->scope, name);
    if (symbol == NULL || symbol->kind == PTX_LABEL) {
        operand.kind = PTX_OPERAND_LABEL;
        return operand;
    }
    operand.kind = PTX_OPERAND_SYMBOL;
    operand.symbol = symbol;
    symbol->is_used = true;
    if (symbol->kind == PTX_SHARED)
        note_shared(reader, symbol);
    return operand;
}

/* -1, -1.5: a number with its sign. */
static struct ptx_operand read_negative(struct ptx_reader *reader)
{
    struct ptx_operand operand = ptx_number(reader);
    if (operand.kind == PTX_OPERAND_INTEGER)
        operand.bits = 0 - operand.bits;
    else
        operand.bits ^= (uint64_t)1 << (operand.kind == PTX_OPERAND_SINGLE ? 31 : 63);
    return operand;
}

static struct ptx_operand read_plain(struct ptx_reader *reader)
{
    struct ptx_operand operand = {.kind = PTX_OPERAND_VECTOR};
    const char c = ptx_peek(reader);
    switch (c) {
    case '{':
        reader->at++;
        read_items(reader, &operand, '}');
        return operand;
    case '[':
        reader->at++;
        operand.kind = PTX_OPERAND_ADDRESS;
        read_items(reader, &operand, ']');
        return operand;
    case '(':
        reader->at++;
        operand.kind = PTX_OPERAND_LIST;
        read_items(reader, &operand, ')');
        return operand;
    case '!':
        reader->at++;
        operand = read_named(reader);
        operand.negated = true;
        return operand;
    case '-': reader->at++; return read_negative(reader);
    case '~':
        operand.kind = PTX_OPERAND_INTEGER;
        operand.bits = (uint64_t)ptx_constant(reader);
        return operand;
    default: return ptx_at_number(reader) ? ptx_number(reader) : read_named(reader);
    }
}

static struct ptx_operand read_operand(struct ptx_reader *reader)
{
    struct ptx_operand operand = read_plain(reader);
    const char c = ptx_peek(reader);
    if (c == '|') {
        struct ptx_operand pair = {.kind = PTX_OPERAND_PAIR, .count = 2};
        reader->at++;
        pair.items = ptx_allocate(reader->build, 2, sizeof *pair.items);
        pair.items[0] = operand;
        pair.items[1] = read_plain(reader);
        return pair;
    }
    if (c == '+' || c == '-') {
        if (operand.kind == PTX_OPERAND_INTEGER || operand.kind == PTX_OPERAND_REGISTER || operand.kind == PTX_OPERAND_SYMBOL) {
            const bool minus = ptx_accept(reader, '-');
            if (!minus)
                ptx_expect(reader, '+');
            const uint64_t more = (uint64_t)ptx_constant(reader);
            operand.bits += minus ? 0 - more : more;
        }
    }
    return operand;
}

/* ---------------------------------------------------------------- instructions */

static struct ptx_instruction *add_instruction(struct ptx_reader *reader)
{
    struct ptx_function *function = reader->function;
    function->instructions = ptx_grow(reader->build, function->instructions, function->instruction_count,
                                      &function->instruction_capacity, sizeof *function->instructions);
    struct ptx_instruction *instruction = &function->instructions[function->instruction_count++];
    *instruction = (struct ptx_instruction){.name = "", .scope = reader->scope, .line = reader->line};
    return instruction;
}

static void read_guard(struct ptx_reader *reader, struct ptx_instruction *instruction)
{
    instruction->is_guarded = true;
    instruction->guard_negated = ptx_accept(reader, '!');
    const char *name = ptx_name(reader);
    const struct ptx_symbol *symbol = ptx_find_register(reader, name);
    if (symbol == NULL || symbol->type != PTX_PRED)
        ptx_fail(reader->build, reader->line, "'%.80s' is no predicate", name);
    instruction->guard = symbol->number;
}

static void read_modifiers(struct ptx_reader *reader, struct ptx_instruction *instruction)
{
    while (reader->at < reader->end && *reader->at == '.') {
        const char *word = ptx_word(reader);
        const enum ptx_type type = ptx_type_of(word, strlen(word));
        if (instruction->modifier_count == PTX_MOST_MODIFIERS)
            ptx_fail(reader->build, reader->line, "more than %u modifiers", PTX_MOST_MODIFIERS);
        instruction->modifiers[instruction->modifier_count++] = word;
        if (type != PTX_NONE && instruction->type_count < 4)
            instruction->types[instruction->type_count++] = type;
    }
}

static void read_instruction(struct ptx_reader *reader, const char *name, struct ptx_instruction instruction)
{
    instruction.name = name;
    instruction.line = reader->line;
    instruction.scope = reader->scope;
    read_modifiers(reader, &instruction);
    while (!ptx_accept(reader, ';')) {
        if (instruction.operand_count == PTX_MOST_OPERANDS)
            ptx_fail(reader->build, reader->line, "more than %u operands of '%.40s'", PTX_MOST_OPERANDS, name);
        instruction.operands[instruction.operand_count++] = read_operand(reader);
        if (!ptx_accept(reader, ',') && ptx_peek(reader) != ';')
            ptx_fail(reader->build, reader->line, "',' or ';' is expected behind an operand of '%.40s'", name);
    }
    ptx_check_form(reader->build, &instruction);
    *add_instruction(reader) = instruction;
}

/* ---------------------------------------------------------------- labels and directives */

static void read_targets(struct ptx_reader *reader, struct ptx_symbol *list)
{
    struct ptx_operand names = {.kind = PTX_OPERAND_LIST};
    list->kind = PTX_TARGETS;
    read_items(reader, &names, ';');
    for (uint32_t i = 0; i < names.count; i++) {
        struct ptx_symbol *target = ptx_allocate(reader->build, 1, sizeof *target);
        target->name = names.items[i].name != NULL ? names.items[i].name : "";
        list->targets = ptx_grow(reader->build, list->targets, list->target_count, &list->target_capacity, sizeof *list->targets);
        list->targets[list->target_count++] = target;
    }
}

/* (.param .b32 _) _ (.param .b64 _, .param .b32 _) */
static void read_signature(struct ptx_reader *reader, struct ptx_function *prototype, bool results)
{
    while (!ptx_accept(reader, ')')) {
        const uint32_t outer = reader->scope;
        reader->scope = ptx_scope_new(reader->module, 0);
        ptx_word(reader); /* param or reg */
        struct ptx_symbol *symbol = ptx_read_parameter(reader, PTX_PARAMETER);
        reader->scope = outer;
        if (results) {
            prototype->results = ptx_grow(reader->build, prototype->results, prototype->result_count, &prototype->result_capacity,
                                          sizeof *prototype->results);
            prototype->results[prototype->result_count++] = symbol;
        } else {
            prototype->parameters = ptx_grow(reader->build, prototype->parameters, prototype->parameter_count,
                                             &prototype->parameter_capacity, sizeof *prototype->parameters);
            prototype->parameters[prototype->parameter_count++] = symbol;
        }
        if (!ptx_accept(reader, ',') && ptx_peek(reader) != ')')
            ptx_fail(reader->build, reader->line, "',' or ')' is expected");
    }
}

static void read_prototype(struct ptx_reader *reader, struct ptx_symbol *symbol)
{
    symbol->kind = PTX_PROTOTYPE;
    symbol->function = ptx_allocate(reader->build, 1, sizeof *symbol->function);
    if (ptx_accept(reader, '('))
        read_signature(reader, symbol->function, true);
    ptx_name(reader);
    ptx_expect(reader, '(');
    read_signature(reader, symbol->function, false);
    ptx_skip_behind(reader, ';');
}

static void read_label(struct ptx_reader *reader, const char *name)
{
    reader->build->line = reader->line;
    struct ptx_symbol *symbol = ptx_define(reader->module, reader->scope, name, PTX_LABEL);
    if (ptx_peek(reader) == '.') {
        const struct ptx_reader before = *reader;
        const char *word = ptx_word(reader);
        if (strcmp(word, "branchtargets") == 0 || strcmp(word, "calltargets") == 0) {
            read_targets(reader, symbol);
            return;
        }
        if (strcmp(word, "callprototype") == 0) {
            read_prototype(reader, symbol);
            return;
        }
        *reader = before;
    }
    symbol->number = reader->function->instruction_count;
    add_instruction(reader);
}

static void skip_line(struct ptx_reader *reader)
{
    while (reader->at < reader->end && *reader->at != '\n')
        reader->at++;
}

static void read_directive(struct ptx_reader *reader)
{
    const struct ptx_symbol none = {0};
    struct ptx_symbol linkage = none;
    const char *word = ptx_word(reader);
    if (strcmp(word, "reg") == 0)
        ptx_read_registers(reader);
    else if (strcmp(word, "local") == 0)
        ptx_read_variable(reader, PTX_LOCAL, &linkage);
    else if (strcmp(word, "param") == 0)
        ptx_read_variable(reader, PTX_ARGUMENT, &linkage);
    else if (strcmp(word, "shared") == 0)
        ptx_read_variable(reader, PTX_SHARED, &linkage);
    else if (strcmp(word, "global") == 0)
        ptx_read_variable(reader, PTX_GLOBAL, &linkage);
    else if (strcmp(word, "const") == 0) {
        linkage.is_const = true;
        ptx_read_variable(reader, PTX_GLOBAL, &linkage);
    } else if (strcmp(word, "loc") == 0 || strcmp(word, "file") == 0)
        skip_line(reader);
    else if (strcmp(word, "pragma") == 0)
        ptx_skip_behind(reader, ';');
    else
        ptx_fail(reader->build, reader->line, "the directive '.%.40s' in a function", word);
}

void ptx_read_body(struct ptx_reader *reader)
{
    uint32_t depth = 0;
    const uint32_t outer = reader->scope;
    for (;;) {
        const char c = ptx_peek(reader);
        reader->build->line = reader->line;
        if (c == '{') {
            reader->at++;
            depth++;
            reader->scope = ptx_scope_new(reader->module, reader->scope);
        } else if (c == '}') {
            reader->at++;
            if (depth-- == 0)
                break;
            reader->scope = reader->module->scopes[reader->scope].parent;
        } else if (c == '.') {
            read_directive(reader);
        } else if (c == ';') {
            reader->at++;
        } else {
            struct ptx_instruction instruction = {0};
            if (ptx_accept(reader, '@'))
                read_guard(reader, &instruction);
            const char *name = ptx_name(reader);
            if (!instruction.is_guarded && ptx_accept(reader, ':'))
                read_label(reader, name);
            else
                read_instruction(reader, name, instruction);
        }
    }
    reader->scope = outer;
}
