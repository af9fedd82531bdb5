/* Declarations of the executor's functions, and calls of them. */
#include "waits/imports.h"

static const struct {
    const char *name;
    enum ptx_kind result; /* PTX_BOOL: none */
    uint32_t count;
    enum ptx_kind kinds[3];
} rows[PTX_IMPORTS] = {
    [PTX_IMPORT_YIELD] = {"__bindless_yield", PTX_BOOL, 0, {PTX_BOOL}},
    [PTX_IMPORT_BARRIER_WAIT] = {"__bindless_barrier_wait", PTX_I32, 3, {PTX_I32, PTX_I32, PTX_BOOL}},
    [PTX_IMPORT_BARRIER_ARRIVE] = {"__bindless_barrier_arrive", PTX_BOOL, 2, {PTX_I32, PTX_I32}},
    [PTX_IMPORT_MBARRIER] = {"__bindless_mbarrier", PTX_I64, 3, {PTX_I64, PTX_I64, PTX_I32}},
};

static uint32_t result_type(struct ptx_words *words, enum ptx_import import)
{
    return rows[import].result == PTX_BOOL ? ptx_void(words) : ptx_scalar(words, rows[import].result);
}

static uint32_t declare(struct ptx_emitter *e, enum ptx_import import)
{
    struct ptx_words *words = e->words;
    static const uint32_t imported = 1;
    uint32_t types[4] = {result_type(words, import)};
    for (uint32_t k = 0; k < rows[import].count; k++)
        types[1 + k] = ptx_scalar(words, rows[import].kinds[k]);
    const uint32_t id = ptx_new_id(words), linkage[2] = {id, DECORATION_LINKAGE};
    const uint32_t function[4] = {types[0], id, 0, ptx_declare(words, OP_TypeFunction, 0, types, rows[import].count + 1)};
    ptx_need(words, CAN_LINKAGE);
    ptx_append_text(e->build, &words->decorations, OP_Decorate, linkage, 2, rows[import].name, &imported, 1);
    ptx_append(e->build, &words->imports, OP_Function, function, 4);
    for (uint32_t k = 0; k < rows[import].count; k++) {
        const uint32_t parameter[2] = {types[1 + k], ptx_new_id(words)};
        ptx_append(e->build, &words->imports, OP_FunctionParameter, parameter, 2);
    }
    ptx_append(e->build, &words->imports, OP_FunctionEnd, NULL, 0);
    return id;
}

struct ptx_value ptx_call_import(struct ptx_emitter *e, enum ptx_import import, const struct ptx_value *inputs)
{
    uint32_t *own = &e->program->imports[import];
    if (*own == 0)
        *own = declare(e, import);
    uint32_t operands[4] = {*own};
    for (uint32_t k = 0; k < rows[import].count; k++)
        operands[1 + k] = inputs[k].id;
    const uint32_t id = ptx_emit_typed(e, OP_FunctionCall, result_type(e->words, import), operands, rows[import].count + 1);
    return (struct ptx_value){rows[import].result == PTX_BOOL ? 0 : id, rows[import].result};
}
