/* Module-scope directives: versions, variables, functions and their properties. */
#include "reader.h"

#include <string.h>

/* ---------------------------------------------------------------- functions */

static void read_parameters(struct ptx_reader *reader, bool results)
{
    struct ptx_function *function = reader->function;
    while (!ptx_accept(reader, ')')) {
        const char *space = ptx_word(reader);
        reader->build->line = reader->line;
        struct ptx_symbol *symbol = ptx_read_parameter(reader, PTX_PARAMETER);
        symbol->is_result = results;
        if (strcmp(space, "reg") == 0) {
            symbol->kind = PTX_REGISTER;
            symbol->number = ptx_add_register(reader, symbol->type);
        }
        if (results) {
            symbol->number = symbol->kind == PTX_REGISTER ? symbol->number : function->result_count;
            function->results = ptx_grow(reader->build, function->results, function->result_count, &function->result_capacity,
                                         sizeof *function->results);
            function->results[function->result_count++] = symbol;
        } else {
            symbol->number = symbol->kind == PTX_REGISTER ? symbol->number : function->parameter_count;
            function->parameters = ptx_grow(reader->build, function->parameters, function->parameter_count,
                                            &function->parameter_capacity, sizeof *function->parameters);
            function->parameters[function->parameter_count++] = symbol;
        }
        if (!ptx_accept(reader, ',') && ptx_peek(reader) != ')')
            ptx_fail(reader->build, reader->line, "',' or ')' is expected");
    }
}

static void read_counts(struct ptx_reader *reader, uint32_t *counts)
{
    counts[0] = counts[1] = counts[2] = 1;
    for (uint32_t i = 0; i < 3; i++) {
        const int64_t count = ptx_constant(reader);
        if (count <= 0 || count > 1 << 30)
            ptx_fail(reader->build, reader->line, "a size of a block out of range");
        counts[i] = (uint32_t)count;
        if (!ptx_accept(reader, ','))
            return;
    }
}

/* .maxntid 256, 1, 1 .minnctapersm 2 ... between the parameters and the body. */
static void read_properties(struct ptx_reader *reader)
{
    while (ptx_peek(reader) == '.') {
        const char *word = ptx_word(reader);
        uint32_t unused[3];
        if (strcmp(word, "maxntid") == 0)
            read_counts(reader, reader->function->maxntid);
        else if (strcmp(word, "reqntid") == 0)
            read_counts(reader, reader->function->reqntid);
        else if (strcmp(word, "reqnctapercluster") == 0)
            ptx_fail(reader->build, reader->line, "clusters of blocks");
        else if (strcmp(word, "noreturn") == 0 || strcmp(word, "explicitcluster") == 0 || strcmp(word, "unified") == 0)
            continue;
        else if (strcmp(word, "abi_preserve") == 0 || strcmp(word, "abi_preserve_control") == 0 || strcmp(word, "minnctapersm") == 0 ||
                 strcmp(word, "maxnctapersm") == 0 || strcmp(word, "maxnreg") == 0 || strcmp(word, "maxclusterrank") == 0)
            read_counts(reader, unused);
        else if (strcmp(word, "pragma") == 0)
            ptx_skip_behind(reader, ';');
        else
            ptx_fail(reader->build, reader->line, "the property '.%.40s' of a function", word);
    }
}

static void read_function(struct ptx_reader *reader, bool is_entry, const struct ptx_symbol *linkage)
{
    struct ptx_module *module = reader->module;
    struct ptx_function *function = ptx_allocate(reader->build, 1, sizeof *function);
    function->is_entry = is_entry;
    function->text = reader->build->text;
    reader->function = function;
    reader->scope = ptx_scope_new(module, reader->text_scope);
    ptx_peek(reader);
    function->line = reader->line;
    if (!is_entry && ptx_accept(reader, '('))
        read_parameters(reader, true);
    function->name = ptx_name(reader);
    struct ptx_symbol *symbol = ptx_find(module, reader->text_scope, function->name);
    if (symbol != NULL && (symbol->kind != PTX_FUNCTION || symbol->function->is_entry != is_entry))
        ptx_fail(reader->build, reader->line, "'%.80s' is defined twice", function->name);
    if (symbol == NULL) {
        symbol = ptx_define(module, reader->text_scope, function->name, PTX_FUNCTION);
        module->symbols = ptx_grow(reader->build, module->symbols, module->symbol_count, &module->symbol_capacity,
                                   sizeof *module->symbols);
        module->symbols[module->symbol_count++] = symbol;
    }
    function->symbol = symbol;
    if (ptx_accept(reader, '('))
        read_parameters(reader, false);
    read_properties(reader);
    symbol->is_visible = symbol->is_visible || linkage->is_visible || linkage->is_extern;
    symbol->is_weak = symbol->is_weak || linkage->is_weak;
    if (ptx_accept(reader, '{')) {
        if (symbol->function != NULL && symbol->function->has_body)
            ptx_fail(reader->build, reader->line, "'%.80s' is defined twice", function->name);
        function->has_body = true;
        symbol->is_extern = false;
        symbol->function = function;
        module->functions = ptx_grow(reader->build, module->functions, module->function_count, &module->function_capacity,
                                     sizeof *module->functions);
        module->functions[module->function_count++] = function;
        ptx_read_body(reader);
    } else {
        ptx_accept(reader, ';');
        if (symbol->function == NULL) {
            symbol->function = function;
            symbol->is_extern = true;
        }
    }
    reader->function = NULL;
    reader->scope = reader->text_scope;
}

/* ---------------------------------------------------------------- modules */

static void skip_line(struct ptx_reader *reader)
{
    while (reader->at < reader->end && *reader->at != '\n')
        reader->at++;
}

static void read_version(struct ptx_reader *reader)
{
    struct ptx_module *module = reader->module;
    const struct ptx_operand number = ptx_number(reader);
    double value = 0;
    if (number.kind == PTX_OPERAND_DOUBLE)
        memcpy(&value, &number.bits, sizeof value);
    if (!(value >= 1.0 && value < 100.0))
        ptx_fail(reader->build, reader->line, "a version of PTX is two numbers");
    const uint32_t isa = (uint32_t)(value * 10 + 0.5);
    module->isa = isa > module->isa ? isa : module->isa;
}

static void read_target(struct ptx_reader *reader)
{
    struct ptx_module *module = reader->module;
    do {
        const char *name = ptx_name(reader);
        if (strncmp(name, "sm_", 3) != 0 && strncmp(name, "compute_", 8) != 0)
            continue; /* texmode_unified, debug */
        uint32_t target = 0;
        for (name = strchr(name, '_') + 1; *name >= '0' && *name <= '9' && target < 10000; name++)
            target = target * 10 + (uint32_t)(*name - '0');
        module->target = target > module->target ? target : module->target;
    } while (ptx_accept(reader, ','));
}

static bool read_versions(struct ptx_reader *reader, const char *word)
{
    const uint32_t line = reader->line;
    if (strcmp(word, "version") == 0)
        read_version(reader);
    else if (strcmp(word, "target") == 0)
        read_target(reader);
    else if (strcmp(word, "address_size") == 0) {
        if (ptx_constant(reader) != 64)
            ptx_fail(reader->build, line, "addresses of other than 64 bits");
    } else if (strcmp(word, "file") == 0 || strcmp(word, "loc") == 0)
        skip_line(reader);
    else if (strcmp(word, "section") == 0) {
        ptx_word(reader);
        ptx_expect(reader, '{');
        while (!ptx_accept(reader, '}'))
            if (ptx_peek(reader) == 0)
                ptx_fail(reader->build, reader->line, "a section without end");
            else
                reader->at++;
    } else if (strcmp(word, "pragma") == 0)
        ptx_skip_behind(reader, ';');
    else
        return false;
    return true;
}

static void read_statement(struct ptx_reader *reader)
{
    struct ptx_symbol linkage = {0};
    for (;;) {
        reader->build->line = reader->line;
        const char *word = ptx_word(reader);
        if (strcmp(word, "extern") == 0)
            linkage.is_extern = true;
        else if (strcmp(word, "visible") == 0)
            linkage.is_visible = true;
        else if (strcmp(word, "weak") == 0 || strcmp(word, "common") == 0)
            linkage.is_weak = true;
        else if (strcmp(word, "attribute") == 0)
            ptx_skip_behind(reader, ')');
        else if (strcmp(word, "entry") == 0 || strcmp(word, "func") == 0) {
            if (word[0] == 'f' && ptx_peek(reader) == '.') /* .func .attribute(...) or .noreturn */
                continue;
            read_function(reader, word[0] == 'e', &linkage);
            return;
        } else if (strcmp(word, "global") == 0 || strcmp(word, "const") == 0 || strcmp(word, "tex") == 0) {
            linkage.is_const = word[0] == 'c';
            ptx_read_variable(reader, PTX_GLOBAL, &linkage);
            return;
        } else if (strcmp(word, "shared") == 0) {
            ptx_read_variable(reader, PTX_SHARED, &linkage);
            return;
        } else if (read_versions(reader, word))
            return;
        else
            ptx_fail(reader->build, reader->line, "the directive '.%.40s'", word);
    }
}

void ptx_parse(struct ptx_module *module, const char *text, size_t size)
{
    struct ptx_reader reader = {.module = module, .build = module->build, .at = text, .end = text + size, .line = 1};
    if (module->scope_count == 0)
        ptx_scope_new(module, 0); /* scope 0: none */
    reader.text_scope = reader.scope = ptx_scope_new(module, 0);
    while (ptx_peek(&reader) != 0) {
        if (*reader.at == ';')
            reader.at++;
        else if (*reader.at == '@') /* @@DWARF of old compilers */
            skip_line(&reader);
        else
            read_statement(&reader);
    }
    if (module->isa == 0)
        ptx_fail(module->build, 1, "a text without .version is no PTX");
}
