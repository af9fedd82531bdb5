/* From texts to a module: reads, places, translates, and fills the tables. */
#include "ptx.h"

#include "emit.h"
#include "library/grid.h"
#include "library/kernel_heap.h"
#include "waits/imports.h"

#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- translation */

static void name_entry(struct ptx_words *words, const struct ptx_program *program, const struct ptx_function *function)
{
    const uint32_t id = function->ids[0], head[2] = {6, id}, width[3] = {id, 35, 32};
    uint32_t inputs[64], count = 0;
    for (uint32_t k = 0; k < 64; k++)
        if (program->builtins[k] != 0)
            inputs[count++] = program->builtins[k];
    ptx_append_text(words->build, &words->entries, OP_EntryPoint, head, 2, function->name, inputs, count);
    ptx_append(words->build, &words->modes, OP_ExecutionMode, width, 3);
    ptx_need(words, CAN_SUBGROUP_DISPATCH);
    if (function->reqntid[0] != 0) {
        const uint32_t size[5] = {id, 17, function->reqntid[0], function->reqntid[1], function->reqntid[2]};
        ptx_append(words->build, &words->modes, OP_ExecutionMode, size, 5);
    }
}

/* The address of the memory of all variables, which the host knows. */
static uint32_t declare_globals(struct ptx_words *words)
{
    const uint32_t zero[2] = {0, 0}, base = ptx_declare(words, OP_SpecConstant, ptx_scalar(words, PTX_I64), zero, 2);
    const uint32_t number[3] = {base, DECORATION_SPEC_ID, BINDLESS_PTX_GLOBALS_ID};
    ptx_append(words->build, &words->decorations, OP_Decorate, number, 3);
    return base;
}

static struct ptx_words *translate(struct ptx_module *module)
{
    struct ptx_build *build = module->build;
    struct ptx_words *words = ptx_allocate(build, 1, sizeof *words);
    struct ptx_program *program = ptx_allocate(build, 1, sizeof *program);
    words->build = build;
    words->bound = 1;
    words->math = ptx_new_id(words);
    ptx_need(words, CAN_ADDRESSES);
    ptx_need(words, CAN_KERNEL);
    program->globals_base = declare_globals(words);
    program->numbers_barriers = ptx_has_numbered_barriers(module);
    for (uint32_t n = 0; n < module->function_count; n++)
        for (uint32_t level = 0; level < (module->functions[n]->is_recursive ? PTX_LEVELS : 1); level++) {
            struct ptx_emitter *e = ptx_allocate(build, 1, sizeof *e);
            *e = (struct ptx_emitter){.program = program, .build = build, .module = module, .words = words,
                                      .function = module->functions[n], .level = level};
            build->text = module->functions[n]->text;
            ptx_emit_function(e);
        }
    for (uint32_t n = 0; n < module->function_count; n++)
        if (module->functions[n]->is_entry)
            name_entry(words, program, module->functions[n]);
    return words;
}

/* ---------------------------------------------------------------- tables */

static uint64_t align(uint64_t offset, uint64_t alignment) { return (offset + alignment - 1) / alignment * alignment; }

static void fill_entry(struct ptx_build *build, const struct ptx_function *function, struct bindless_ptx_entry *entry)
{
    struct bindless_ptx_parameter *parameters = ptx_keep(build, function->parameter_count + 1u, sizeof *parameters);
    uint64_t offset = 0;
    for (uint32_t k = 0; k < function->parameter_count; k++) {
        const struct ptx_symbol *symbol = function->parameters[k];
        offset = align(offset, symbol->alignment);
        parameters[k] = (struct bindless_ptx_parameter){.name = ptx_keep_text(build, symbol->name), .offset = offset, .size = symbol->size,
                                                        .alignment = symbol->alignment, .is_pointer = symbol->is_pointer,
                                                        .is_array = symbol->is_array};
        offset += symbol->size;
    }
    *entry = (struct bindless_ptx_entry){.name = ptx_keep_text(build, function->name), .parameters = parameters,
                                         .parameter_count = function->parameter_count, .parameter_bytes = offset,
                                         .shared_bytes = function->static_shared,
                                         .uses_dynamic_shared = function->uses_dynamic_shared,
                                         .reads_launch = function->reads_launch};
    memcpy(entry->reqntid, function->reqntid, sizeof entry->reqntid);
    memcpy(entry->maxntid, function->maxntid, sizeof entry->maxntid);
    for (uint32_t k = 0; k < function->local_count; k++)
        if (function->locals[k]->kind == PTX_LOCAL)
            entry->local_bytes = align(entry->local_bytes, function->locals[k]->alignment) + function->locals[k]->size;
}

static uint64_t address_of(struct ptx_build *build, const struct ptx_symbol *symbol)
{
    symbol = symbol->definition;
    if (symbol->kind == PTX_FUNCTION)
        return symbol->function->address;
    if (symbol->kind != PTX_GLOBAL && symbol->kind != PTX_SHARED)
        ptx_fail(build, symbol->line, "the address of '%.80s' in an initial value", symbol->name);
    return symbol->offset;
}

static void fill_globals(struct ptx_module *module, struct bindless_ptx_module *result)
{
    struct ptx_build *build = module->build;
    struct bindless_ptx_global *globals = ptx_keep(build, module->symbol_count + 1u, sizeof *globals);
    unsigned char *image = ptx_keep(build, module->globals_bytes + 1, 1);
    struct bindless_ptx_relocation *relocations = NULL, *result_relocations;
    uint32_t capacity = 0;
    for (uint32_t n = 0; n < module->symbol_count; n++) {
        const struct ptx_symbol *symbol = module->symbols[n];
        if (symbol->kind != PTX_GLOBAL || symbol->definition != symbol || symbol->is_extern)
            continue;
        globals[result->global_count++] = (struct bindless_ptx_global){
            .name = ptx_keep_text(build, symbol->name), .offset = symbol->offset, .size = symbol->size, .alignment = symbol->alignment,
            .is_const = symbol->is_const, .is_managed = symbol->is_managed,
            .kind = symbol->type == PTX_TEXREF       ? BINDLESS_PTX_TEXREF
                    : symbol->type == PTX_SAMPLERREF ? BINDLESS_PTX_SAMPLERREF
                    : symbol->type == PTX_SURFREF    ? BINDLESS_PTX_SURFREF
                                                     : BINDLESS_PTX_VARIABLE};
        if (symbol->bytes != NULL)
            memcpy(image + symbol->offset, symbol->bytes, symbol->size);
        for (uint32_t k = 0; k < symbol->reference_count; k++) {
            const struct ptx_reference *reference = &symbol->references[k];
            const uint64_t addend = address_of(build, reference->symbol) + reference->addend, offset = symbol->offset + reference->offset;
            if (reference->symbol->definition->kind == PTX_GLOBAL) {
                relocations = ptx_grow(build, relocations, result->relocation_count, &capacity, sizeof *relocations);
                relocations[result->relocation_count++] = (struct bindless_ptx_relocation){offset, addend, reference->size, reference->shift};
                continue;
            }
            for (uint32_t b = 0; b < reference->size && b < 8; b++) /* other addresses do not depend on memory */
                image[offset + b] = (unsigned char)(addend >> reference->shift >> 8 * b);
        }
    }
    result_relocations = ptx_keep(build, result->relocation_count + 1u, sizeof *relocations);
    if (result->relocation_count > 0)
        memcpy(result_relocations, relocations, result->relocation_count * sizeof *relocations);
    result->globals = globals;
    result->globals_image = image;
    result->relocations = result_relocations;
    result->globals_bytes = module->globals_bytes;
    result->globals_alignment = module->globals_alignment;
}

static void fill_tables(struct ptx_module *module, struct bindless_ptx_module *result)
{
    struct bindless_ptx_entry *entries = ptx_keep(module->build, module->function_count + 1u, sizeof *entries);
    struct bindless_ptx_function *functions = ptx_keep(module->build, module->function_count + 1u, sizeof *functions);
    for (uint32_t n = 0; n < module->function_count; n++) {
        const struct ptx_function *function = module->functions[n];
        if (function->is_entry)
            fill_entry(module->build, function, &entries[result->entry_count++]);
        else if (function->symbol->is_visible)
            functions[result->function_count++] = (struct bindless_ptx_function){ptx_keep_text(module->build, function->name), function->address};
    }
    result->entries = entries;
    result->functions = functions;
    result->isa = module->isa;
    result->target = module->target;
    fill_globals(module, result);
}

/* ---------------------------------------------------------------- calls of the interface */

static void run(struct ptx_build *build, const char *const *texts, const size_t *sizes, const struct bindless_ptx_options *options,
                struct bindless_ptx_module *result)
{
    struct ptx_module *module = ptx_allocate(build, 1, sizeof *module);
    module->build = build;
    module->buckets = ptx_allocate(build, PTX_BUCKETS, sizeof *module->buckets);
    for (build->text = 0; build->text < build->text_count; build->text++)
        ptx_parse(module, texts[build->text], sizes[build->text]);
    build->text = 0;
    if (options->target != 0 && module->target > options->target)
        ptx_fail(build, 1, "the module is for sm_%u, the device is sm_%u", module->target, options->target);
    if (options->only_reads)
        return;
    ptx_add_grid(module);
    ptx_add_heap(module, options->heap_bytes != 0 ? options->heap_bytes : BINDLESS_PTX_HEAP_BYTES);
    build->text = 0;
    ptx_place(module);
    const struct ptx_buffer words = ptx_assemble(translate(module));
    result->words = memcpy(ptx_keep(build, words.count, sizeof *words.words), words.words, words.count * sizeof *words.words);
    result->word_count = words.count;
    fill_tables(module, result);
}

/* False after ptx_fail. */
static bool attempt(struct ptx_build *build, const char *const *texts, const size_t *sizes, const struct bindless_ptx_options *options,
                    struct bindless_ptx_module *result)
{
    if (setjmp(build->failed) != 0)
        return false;
    run(build, texts, sizes, options, result);
    return true;
}

bool bindless_ptx_link(const char *const *texts, const size_t *sizes, uint32_t count, const struct bindless_ptx_options *options,
                       struct bindless_ptx_module *module)
{
    static const struct bindless_ptx_options standard = {0};
    *module = (struct bindless_ptx_module){.log = "ptxas error, line 0: no memory"};
    struct ptx_build *build = calloc(1, sizeof *build);
    if (build == NULL)
        return false;
    if (options == NULL)
        options = &standard;
    build->limit = options->memory_limit != 0 ? options->memory_limit : BINDLESS_PTX_MEMORY_LIMIT;
    build->text_count = count;
    module->memory = build;
    module->log = build->log;
    if (attempt(build, texts, sizes, options, module)) {
        ptx_end_work(build);
        return true;
    }
    ptx_build_free(build);
    *module = (struct bindless_ptx_module){.log = build->log, .memory = build};
    return false;
}

bool bindless_ptx_compile(const char *text, size_t size, const struct bindless_ptx_options *options, struct bindless_ptx_module *module)
{
    return bindless_ptx_link(&text, &size, 1, options, module);
}

void bindless_ptx_destroy(struct bindless_ptx_module *module)
{
    struct ptx_build *build = module->memory;
    if (build != NULL)
        ptx_build_free(build);
    free(build);
    *module = (struct bindless_ptx_module){.log = ""};
}
