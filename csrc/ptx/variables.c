/* Variables: their types, sizes and initial values; registers. */
#include "reader.h"

#include <string.h>

#define MOST_BYTES ((uint64_t)1 << 30)

/* ---------------------------------------------------------------- declarations */

struct declaration {
    enum ptx_type type;
    uint32_t vector;
    uint64_t alignment;
    bool is_pointer, is_managed;
};

static uint64_t read_alignment(struct ptx_reader *reader)
{
    const int64_t alignment = ptx_constant(reader);
    if (alignment <= 0 || alignment > 65536 || (alignment & (alignment - 1)) != 0)
        ptx_fail(reader->build, reader->line, "an alignment is a power of two up to 65536");
    return (uint64_t)alignment;
}

/* Everything between the state space and the name: .align 8 .v2 .b32, .u64 .ptr .global .align 16. */
static struct declaration read_declaration(struct ptx_reader *reader)
{
    struct declaration result = {.vector = 1};
    while (ptx_peek(reader) == '.') {
        const char *word = ptx_word(reader);
        const enum ptx_type type = ptx_type_of(word, strlen(word));
        if (type != PTX_NONE)
            result.type = type;
        else if (strcmp(word, "align") == 0) {
            const uint64_t alignment = read_alignment(reader);
            result.alignment = result.is_pointer ? result.alignment : alignment;
        } else if (strcmp(word, "v2") == 0)
            result.vector = 2;
        else if (strcmp(word, "v4") == 0)
            result.vector = 4;
        else if (strcmp(word, "ptr") == 0)
            result.is_pointer = true;
        else if (strcmp(word, "attribute") == 0) {
            result.is_managed = true;
            ptx_skip_behind(reader, ')');
        } else if (!result.is_pointer)
            ptx_fail(reader->build, reader->line, "'.%.40s' in a declaration", word);
    }
    if (result.type == PTX_NONE)
        ptx_fail(reader->build, reader->line, "a declaration without a type");
    return result;
}

/* The dimensions of an array behind its name; 0 for one without a size. */
static uint64_t read_dimensions(struct ptx_reader *reader, bool *is_array)
{
    uint64_t count = 1;
    while (ptx_accept(reader, '[')) {
        *is_array = true;
        if (ptx_accept(reader, ']')) {
            count = 0;
            continue;
        }
        const int64_t dimension = ptx_constant(reader);
        if (dimension < 0 || (uint64_t)dimension > MOST_BYTES || count * (uint64_t)dimension > MOST_BYTES)
            ptx_fail(reader->build, reader->line, "an array of more than 1 GiB");
        count *= (uint64_t)dimension;
        ptx_expect(reader, ']');
    }
    return count;
}

static void set_layout(struct ptx_reader *reader, struct ptx_symbol *symbol, const struct declaration *declaration)
{
    const uint64_t element = (ptx_bits(declaration->type) + 7) / 8;
    uint64_t count = read_dimensions(reader, &symbol->is_array) * declaration->vector;
    symbol->is_array = symbol->is_array || declaration->vector > 1;
    symbol->type = declaration->type;
    symbol->alignment = declaration->alignment > element * declaration->vector ? declaration->alignment
                        : declaration->alignment != 0 && symbol->is_array      ? declaration->alignment
                                                                               : element * declaration->vector;
    symbol->size = count * element;
    symbol->is_pointer = declaration->is_pointer;
    symbol->is_managed = declaration->is_managed;
    if (symbol->size > MOST_BYTES)
        ptx_fail(reader->build, reader->line, "a variable of more than 1 GiB");
}

struct ptx_symbol *ptx_read_parameter(struct ptx_reader *reader, enum ptx_symbol_kind kind)
{
    const struct declaration declaration = read_declaration(reader);
    struct ptx_symbol *symbol = ptx_define(reader->module, reader->scope, ptx_name(reader), kind);
    set_layout(reader, symbol, &declaration);
    return symbol;
}

/* ---------------------------------------------------------------- initial values */

struct filler {
    struct ptx_symbol *symbol;
    uint64_t at;
    uint32_t element;
};

static void put(struct ptx_reader *reader, struct filler *filler, uint64_t bits)
{
    struct ptx_symbol *symbol = filler->symbol;
    if (filler->at + filler->element > symbol->size)
        ptx_fail(reader->build, reader->line, "more initial values than '%.80s' has elements", symbol->name);
    for (uint32_t i = 0; i < filler->element; i++)
        symbol->bytes[filler->at + i] = (unsigned char)(i < 8 ? bits >> 8 * i : 0);
    filler->at += filler->element;
}

/* generic(name) + 4, 0xFF00(name), name: an address, of which a mask selects bytes. */
static void put_address(struct ptx_reader *reader, struct filler *filler, uint64_t mask)
{
    const char *name = ptx_name(reader);
    bool closes = false;
    if (strcmp(name, "generic") == 0 && ptx_accept(reader, '(')) {
        name = ptx_name(reader);
        closes = true;
    }
    struct ptx_symbol *symbol = ptx_find(reader->module, reader->scope, name), *whole = filler->symbol;
    if (symbol == NULL)
        ptx_fail(reader->build, reader->line, "'%.80s' is not defined", name);
    symbol->is_addressed = true;
    uint64_t addend = 0;
    if (closes)
        ptx_expect(reader, ')');
    if (ptx_peek(reader) == '+' || ptx_peek(reader) == '-') {
        const bool minus = ptx_accept(reader, '-');
        if (!minus)
            ptx_expect(reader, '+');
        addend = (uint64_t)ptx_constant(reader);
        addend = minus ? 0 - addend : addend;
    }
    uint32_t shift = 0;
    while (mask != 0 && (mask & 1) == 0 && shift < 63) {
        mask >>= 1;
        shift++;
    }
    whole->references = ptx_grow(reader->build, whole->references, whole->reference_count, &whole->reference_capacity,
                                 sizeof *whole->references);
    whole->references[whole->reference_count++] =
        (struct ptx_reference){.symbol = symbol, .offset = filler->at, .addend = addend, .size = filler->element, .shift = shift};
    put(reader, filler, 0);
}

static uint64_t as_element(struct ptx_reader *reader, struct ptx_operand number, enum ptx_type type)
{
    if (ptx_class(type) != 'f' || number.kind == PTX_OPERAND_INTEGER)
        return number.bits;
    double value;
    float single;
    uint32_t bits = (uint32_t)number.bits;
    memcpy(&single, &bits, sizeof single);
    memcpy(&value, &number.bits, sizeof value);
    if (number.kind == PTX_OPERAND_SINGLE)
        value = (double)single;
    if (ptx_bits(type) == 64) {
        memcpy(&number.bits, &value, sizeof value);
    } else if (ptx_bits(type) == 32) {
        single = number.kind == PTX_OPERAND_SINGLE ? single : (float)value;
        memcpy(&bits, &single, sizeof bits);
        number.bits = bits;
    } else {
        ptx_fail(reader->build, reader->line, "an initial value of 16 bits is written as an integer");
    }
    return number.bits;
}

static void put_value(struct ptx_reader *reader, struct filler *filler)
{
    const bool minus = ptx_accept(reader, '-');
    if (ptx_peek(reader) == '"') {
        size_t length;
        const char *string = ptx_string(reader, &length);
        for (size_t i = 0; i < length; i++)
            put(reader, filler, (unsigned char)string[i]);
    } else if (ptx_at_number(reader) || ptx_peek(reader) == '(' || ptx_peek(reader) == '~') {
        struct ptx_operand number = {.kind = PTX_OPERAND_INTEGER};
        if (ptx_at_number(reader))
            number = ptx_number(reader);
        else
            number.bits = (uint64_t)ptx_constant(reader);
        if (number.kind == PTX_OPERAND_INTEGER && ptx_accept(reader, '(')) {
            put_address(reader, filler, number.bits);
            ptx_expect(reader, ')');
            return;
        }
        uint64_t bits = as_element(reader, number, filler->symbol->type);
        if (minus)
            bits = number.kind == PTX_OPERAND_INTEGER ? 0 - bits : bits ^ (uint64_t)1 << (8 * filler->element - 1);
        put(reader, filler, bits);
    } else {
        put_address(reader, filler, 0);
    }
}

static void put_values(struct ptx_reader *reader, struct filler *filler)
{
    if (!ptx_accept(reader, '{')) {
        put_value(reader, filler);
        return;
    }
    if (++reader->nesting > PTX_DEEPEST)
        ptx_fail(reader->build, reader->line, "initial values are nested deeper than %u", PTX_DEEPEST);
    while (!ptx_accept(reader, '}')) {
        put_values(reader, filler);
        if (!ptx_accept(reader, ',') && ptx_peek(reader) != '}')
            ptx_fail(reader->build, reader->line, "',' or '}' is expected");
    }
    reader->nesting--;
}

/* The number of values in braces, for an array without a size. */
static uint64_t count_values(struct ptx_reader *reader)
{
    const struct ptx_reader before = *reader;
    uint64_t count = 0;
    size_t length = 0;
    bool value = false;
    for (uint32_t depth = 0;;) {
        const char c = ptx_peek(reader);
        if (c == 0 || c == ';')
            break;
        if (c == '"') {
            ptx_string(reader, &length);
            count += length;
            continue;
        }
        reader->at++;
        if (c == '{')
            depth++;
        if ((c == ',' || c == '}') && value) {
            count++;
            value = false;
        } else if (c != '{' && c != '}' && c != ',') {
            value = true;
        }
        if (c == '}' && --depth == 0)
            break;
    }
    *reader = before;
    return count;
}

static void initialize(struct ptx_reader *reader, struct ptx_symbol *symbol)
{
    const uint32_t element = (ptx_bits(symbol->type) + 7) / 8;
    struct filler filler = {.symbol = symbol, .element = element};
    if (ptx_class(symbol->type) == 't') { /* an initialized sampler or texture: modes of the old interface */
        ptx_skip_behind(reader, '}');
        return;
    }
    if (symbol->size == 0)
        symbol->size = count_values(reader) * element;
    symbol->bytes = ptx_allocate(reader->build, symbol->size + 1, 1);
    put_values(reader, &filler);
}

/* ---------------------------------------------------------------- variables */

void ptx_read_variable(struct ptx_reader *reader, enum ptx_symbol_kind kind, struct ptx_symbol *linkage)
{
    struct ptx_module *module = reader->module;
    struct ptx_function *function = reader->function;
    const struct declaration declaration = read_declaration(reader);
    do {
        reader->build->line = reader->line;
        const char *name = ptx_name(reader);
        struct ptx_symbol *symbol = ptx_find(module, reader->scope, name);
        if (symbol == NULL || symbol->scope != reader->scope || symbol->kind != kind || !symbol->is_extern) {
            symbol = ptx_define(module, reader->scope, name, kind);
            if (kind == PTX_GLOBAL || kind == PTX_SHARED) {
                module->symbols = ptx_grow(reader->build, module->symbols, module->symbol_count, &module->symbol_capacity,
                                           sizeof *module->symbols);
                module->symbols[module->symbol_count++] = symbol;
            } else {
                function->locals = ptx_grow(reader->build, function->locals, function->local_count, &function->local_capacity,
                                            sizeof *function->locals);
                symbol->number = function->local_count;
                function->locals[function->local_count++] = symbol;
            }
        }
        symbol->is_extern = linkage->is_extern;
        symbol->is_visible = linkage->is_visible;
        symbol->is_weak = linkage->is_weak;
        symbol->is_const = linkage->is_const;
        set_layout(reader, symbol, &declaration);
        if (ptx_accept(reader, '='))
            initialize(reader, symbol);
        symbol->is_dynamic = kind == PTX_SHARED && symbol->size == 0;
    } while (ptx_accept(reader, ','));
    ptx_expect(reader, ';');
}

/* ---------------------------------------------------------------- registers */

uint32_t ptx_add_register(struct ptx_reader *reader, enum ptx_type type)
{
    struct ptx_function *function = reader->function;
    if (type == PTX_B128 || ptx_class(type) == 't')
        ptx_fail(reader->build, reader->line, "registers of type .%s", ptx_type_name(type));
    function->registers = ptx_grow(reader->build, function->registers, function->register_count, &function->register_capacity,
                                   sizeof *function->registers);
    function->registers[function->register_count].type = type;
    return function->register_count++;
}

/* .reg .b32 %r<100>; a register of a range exists when it is first used. */
void ptx_read_registers(struct ptx_reader *reader)
{
    const struct declaration declaration = read_declaration(reader);
    if (declaration.vector != 1)
        ptx_fail(reader->build, reader->line, "registers that are vectors");
    do {
        reader->build->line = reader->line;
        const char *name = ptx_name(reader);
        if (ptx_accept(reader, '<')) {
            const int64_t count = ptx_constant(reader);
            ptx_expect(reader, '>');
            const size_t length = strlen(name);
            char *range = ptx_allocate(reader->build, length + 2, 1);
            memcpy(range, name, length);
            range[length] = '<';
            struct ptx_symbol *symbol = ptx_define(reader->module, reader->scope, range, PTX_REGISTER);
            symbol->type = declaration.type;
            symbol->size = count < 0 ? 0 : (uint64_t)count;
        } else {
            struct ptx_symbol *symbol = ptx_define(reader->module, reader->scope, name, PTX_REGISTER);
            symbol->type = declaration.type;
            symbol->number = ptx_add_register(reader, declaration.type);
        }
    } while (ptx_accept(reader, ','));
    ptx_expect(reader, ';');
}

static struct ptx_symbol *of_range(struct ptx_reader *reader, uint32_t scope, const char *name)
{
    size_t length = strlen(name), prefix = length;
    uint64_t number = 0, unit = 1;
    while (prefix > 0 && name[prefix - 1] >= '0' && name[prefix - 1] <= '9' && length - prefix < 10) {
        number += (uint64_t)(name[--prefix] - '0') * unit;
        unit *= 10;
        char range[128];
        if (prefix == 0 || prefix + 2 > sizeof range)
            continue;
        memcpy(range, name, prefix);
        memcpy(range + prefix, "<", 2);
        struct ptx_symbol *symbol = ptx_find(reader->module, scope, range);
        if (symbol != NULL && symbol->scope == scope && number < symbol->size &&
            (name[prefix] != '0' || prefix + 1 == length)) {
            struct ptx_symbol *result = ptx_define(reader->module, scope, name, PTX_REGISTER);
            result->type = symbol->type;
            result->number = ptx_add_register(reader, symbol->type);
            return result;
        }
    }
    return NULL;
}

struct ptx_symbol *ptx_find_register(struct ptx_reader *reader, const char *name)
{
    const struct ptx_symbol *nearest = ptx_find(reader->module, reader->scope, name);
    for (uint32_t scope = reader->scope; scope != 0; scope = reader->module->scopes[scope].parent) {
        if (nearest != NULL && nearest->scope == scope)
            return nearest->kind == PTX_REGISTER ? (struct ptx_symbol *)(uintptr_t)nearest : NULL;
        struct ptx_symbol *symbol = reader->function != NULL ? of_range(reader, scope, name) : NULL;
        if (symbol != NULL)
            return symbol;
    }
    return NULL;
}
