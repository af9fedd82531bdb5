/* Types by name, and symbols by name and scope. */
#include "module.h"

#include <string.h>

static const struct {
    const char *name;
    uint8_t bits;
    char letter;
} types[PTX_TYPE_COUNT] = {
    [PTX_NONE] = {"", 0, ' '},
#define X(name, text, bits, letter) [PTX_##name] = {text, bits, letter},
    PTX_TYPES(X)
#undef X
};

uint32_t ptx_bits(enum ptx_type type) { return types[type].bits; }
char ptx_class(enum ptx_type type) { return types[type].letter; }
const char *ptx_type_name(enum ptx_type type) { return types[type].name; }

enum ptx_type ptx_type_of(const char *name, size_t length)
{
    for (unsigned i = PTX_PRED; i < PTX_TYPE_COUNT; i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, name, length) == 0)
            return (enum ptx_type)i;
    return PTX_NONE;
}

bool ptx_has(const struct ptx_instruction *instruction, const char *modifier)
{
    for (uint32_t i = 0; i < instruction->modifier_count; i++)
        if (strcmp(instruction->modifiers[i], modifier) == 0)
            return true;
    return false;
}

static uint32_t bucket_of(uint32_t scope, const char *name)
{
    uint32_t hash = scope * 2654435761u + 5381;
    for (; *name != '\0'; name++)
        hash = hash * 33 ^ (unsigned char)*name;
    return (hash ^ hash >> 15) % PTX_BUCKETS;
}

uint32_t ptx_scope_new(struct ptx_module *module, uint32_t parent)
{
    module->scopes = ptx_grow(module->build, module->scopes, module->scope_count, &module->scope_capacity, sizeof *module->scopes);
    module->scopes[module->scope_count].parent = parent;
    return module->scope_count++;
}

static struct ptx_symbol *find_here(struct ptx_module *module, uint32_t scope, const char *name)
{
    for (struct ptx_symbol *symbol = module->buckets[bucket_of(scope, name)]; symbol != NULL; symbol = symbol->next) {
        ptx_spend(module->build, 1);
        if (symbol->scope == scope && strcmp(symbol->name, name) == 0)
            return symbol;
    }
    return NULL;
}

struct ptx_symbol *ptx_find(struct ptx_module *module, uint32_t scope, const char *name)
{
    for (; scope != 0; scope = module->scopes[scope].parent) {
        struct ptx_symbol *symbol = find_here(module, scope, name);
        if (symbol != NULL)
            return symbol;
        ptx_spend(module->build, 1);
    }
    return NULL;
}

struct ptx_symbol *ptx_define(struct ptx_module *module, uint32_t scope, const char *name, enum ptx_symbol_kind kind)
{
    if (find_here(module, scope, name) != NULL)
        ptx_fail(module->build, module->build->line, "'%.80s' is defined twice", name);
    struct ptx_symbol *symbol = ptx_allocate(module->build, 1, sizeof *symbol);
    struct ptx_symbol **bucket = &module->buckets[bucket_of(scope, name)];
    *symbol = (struct ptx_symbol){.name = name, .next = *bucket, .scope = scope, .kind = kind, .definition = symbol,
                                  .text = module->build->text, .line = module->build->line};
    *bucket = symbol;
    return symbol;
}

bool ptx_lacks(const struct ptx_module *module, const char *one, const char *other)
{
    bool declared = false;
    for (uint32_t i = 0; i < module->symbol_count; i++) {
        const struct ptx_symbol *symbol = module->symbols[i];
        if (symbol->kind != PTX_FUNCTION || (strcmp(symbol->name, one) != 0 && strcmp(symbol->name, other) != 0))
            continue;
        if (symbol->function->has_body)
            return false;
        declared = true;
    }
    return declared;
}
