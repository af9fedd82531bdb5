/* A program as one C function: its blocks in their order, each under the mask of the lanes that have arrived. */
#include "spirv/native/native_code.h"
#include "spirv/native/native_writer.h"

#include "platform/heap.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MOST_BYTES ((size_t)64 << 20)
/* Behind lanes that wait or return: all have, so that no other block has lanes. */
#define END "if (waiting == alive) goto E%u;\n"

void blr_native_write(struct blr_native_writer *w, const char *format, ...)
{
    for (int attempt = 0; attempt < 2 && !w->no_memory; attempt++) {
        va_list arguments;
        va_start(arguments, format);
        const size_t space = w->room - w->used;
        const int length = vsnprintf(w->text + w->used, space, format, arguments);
        va_end(arguments);
        if (length >= 0 && (size_t)length < space) {
            w->used += (size_t)length;
            return;
        }
        const size_t room = 2 * w->room + (size_t)(length < 0 ? 0 : length);
        char *larger = room > MOST_BYTES ? NULL : blr_new(room);
        w->no_memory = larger == NULL || length < 0;
        if (larger == NULL)
            return;
        memcpy(larger, w->text, w->used);
        blr_delete(w->text);
        w->text = larger;
        w->room = room;
    }
}

void blr_native_stop(struct blr_native_writer *w, uint32_t block, uint32_t op)
{
    blr_native_write(w, "goto T%u_%u; ", block, op);
    if (w->stop_count > 0 && w->stops[2 * w->stop_count - 2] == block && w->stops[2 * w->stop_count - 1] == op)
        return;
    if (w->stop_count == w->stop_room) {
        const uint32_t room = 2 * w->stop_room + 64;
        uint32_t *larger = blr_new(2 * room * sizeof *larger);
        if (larger == NULL) {
            w->no_memory = true;
            return;
        }
        if (w->stop_count > 0)
            memcpy(larger, w->stops, 2 * w->stop_count * sizeof *larger);
        blr_delete(w->stops);
        w->stops = larger;
        w->stop_room = room;
    }
    w->stops[2 * w->stop_count] = block;
    w->stops[2 * w->stop_count++ + 1] = op;
}

/* ---------------------------------------------------------------- registers */

static void declare_value(struct blr_native_writer *w, const struct blr_native_value *x)
{
    const uint32_t r = x->number;
    uint64_t stride;
    if (x->class == BLR_CLASS_LANES)
        blr_native_write(w, "v%u r%u_%u = {0};\n", x->size, r, x->size);
    else if (blr_native_stride_of(w->values, x, &stride))
        blr_native_write(w, "u%u r%u_%u = 0; const u%u r%u_%us = %" PRIu64 ";\n", x->size, r, x->size, x->size, r, x->size, stride);
    else
        blr_native_write(w, "u%u r%u_%u = 0, r%u_%us = 0; (void)r%u_%us;\n", x->size, r, x->size, r, x->size, r, x->size);
}

/* Declares what a phase uses of the values that blocks share, and what its blocks write for themselves. */
static void declare_values(struct blr_native_writer *w, uint32_t phase)
{
    const struct blr_native_values *values = w->values;
    const struct blr_native_value *x;
    for (x = values->values; x < values->values + values->shared; x++)
        if (x->used && !x->preset && blr_native_use_in(values, w->phases, phase, x) != BLR_USE_NONE)
            declare_value(w, x);
    for (uint32_t b = phase; b < w->program->block_count; b++)
        for (uint32_t n = w->program->blocks[b].first; n < w->program->blocks[b].end && w->phases[b] == phase; n++)
            for (uint32_t c = 0; c < blr_native_components(values, n) && (x = blr_native_result(values, n, c)) != NULL; c++)
                if (!x->crosses)
                    declare_value(w, x);
}

static void declare_presets(struct blr_native_writer *w)
{
    const struct blr_spirv_program *program = w->program;
    for (uint32_t i = 0; i < program->preset_count; i++) {
        const struct blr_spirv_preset *preset = &program->presets[i];
        const struct blr_native_value *x = blr_native_value_at(w->values, preset->place, preset->size);
        const uint32_t n = preset->size, r = x->number;
        if (!x->used)
            continue;
        if (preset->kind == BLR_PRESET_BYTES)
            blr_native_write(w, "const u%u r%u_%u = (u%u)%" PRIu64 "ull;\n", n, r, n, n, preset->bytes);
        else
            blr_native_write(w, "const u%u r%u_%u = (u%u)f->numbers[%u];\n", n, r, n, n, i);
    }
}

/* The built-in variables: of a group, for which their names end with g, or of a batch. */
static void declare_builtins(struct blr_native_writer *w, bool of_group)
{
    const struct blr_spirv_program *program = w->program;
    uint32_t number = program->preset_count, component = 0;
    for (uint32_t i = 0; i < program->builtin_count; i++)
        for (uint32_t c = 0; c < program->builtins[i].components; c++, number += 2, component++) {
            const uint32_t n = program->builtins[i].size, place = program->builtins[i].place + c * n * BLR_LANES;
            const struct blr_native_value *x = blr_native_value_at(w->values, place, n);
            const uint32_t r = x->number;
            if (!x->used)
                continue;
            if (of_group) {
                blr_native_write(w, "const u8 r%u_%ug = f->numbers[%u] + g * f->numbers[%u];\n", r, n, number, number + 1);
                continue;
            }
            blr_native_write(w, w->is_grouped ? "const u%u r%u_%u = (u%u)(r%u_%ug + B->offsets[%u]);\n"
                                              : "const u%u r%u_%u = (u%u)r%u_%ug;\n", n, r, n, n, r, n, component);
            if (x->class == BLR_CLASS_LINEAR)
                blr_native_write(w, "enum { r%u_%us = 1 };\n", r, n);
        }
}

/* Writes a value to the lanes of its register, for the executor. */
static void spill(struct blr_native_writer *w, const struct blr_native_value *x)
{
    const uint32_t n = x->size, r = x->number;
    if (x->class == BLR_CLASS_LANES)
        blr_native_write(w, "__builtin_memcpy(B->registers + %u, &r%u_%u, %u); f->take(f, %u);\n", x->place, r, n, 64 * n, x->place);
    else
        blr_native_write(w, "f->spill(f, %u, %u, r%u_%u, r%u_%us);\n", x->place, n, r, n, r, n);
}

/* The next value after one that blocks share, or the first for NULL. */
static const struct blr_native_value *next_common(const struct blr_native_writer *w, const struct blr_native_value *x)
{
    const struct blr_native_value *end = w->values->values + w->values->count;
    for (x = x == NULL ? w->values->values : x + 1; x < end; x++)
        if (x->used && x->crosses && !x->preset)
            return x;
    return NULL;
}

/* Keeps a common value in its registers while lanes wait at a barrier, a scalar as such; or takes it back. */
static void keep(struct blr_native_writer *w, const struct blr_native_value *x, bool back)
{
    const uint32_t n = x->size, r = x->number, bytes = x->class == BLR_CLASS_LANES ? n * BLR_LANES : n;
    uint64_t stride;
    const bool single = x->class == BLR_CLASS_LANES || blr_native_stride_of(w->values, x, &stride);
    for (uint32_t part = 0; part < (single ? 1u : 2u); part++) {
        const char *const suffix = part == 0 ? "" : "s";
        if (back)
            blr_native_write(w, "__builtin_memcpy(&r%u_%u%s, B->registers + %u, %u);\n", r, n, suffix, x->place + part * n, bytes);
        else
            blr_native_write(w, "__builtin_memcpy(B->registers + %u, &r%u_%u%s, %u);\n", x->place + part * n, r, n, suffix, bytes);
    }
}

/* Keeps the common values that a phase writes, or takes back those that it uses. */
static void keep_common(struct blr_native_writer *w, uint32_t phase, bool back)
{
    for (const struct blr_native_value *x = NULL; (x = next_common(w, x)) != NULL;)
        if (blr_native_use_in(w->values, w->phases, phase, x) >= (back ? BLR_USE_READ : BLR_USE_WRITE))
            keep(w, x, back);
}

/* ---------------------------------------------------------------- stops */

/* Whether a value within a block is read from an operation on. */
static bool is_live(const struct blr_native_writer *w, const struct blr_spirv_block *block, uint32_t from,
                    const struct blr_native_value *value)
{
    for (uint32_t n = from; n < block->end; n++) {
        if (blr_native_reads(w->values, n, value))
            return true;
    }
    for (uint32_t e = block->first_edge; e < block->first_edge + block->edge_count; e++)
        for (uint32_t n = w->program->edges[e].first_move; n < w->program->edges[e].end_move; n++)
            if (blr_native_reads(w->values, n, value))
                return true;
    return w->values->conditions[block - w->program->blocks] == value;
}

static void write_stop(struct blr_native_writer *w, uint32_t number, uint32_t op)
{
    const struct blr_spirv_block *block = &w->program->blocks[number];
    blr_native_write(w, "T%u_%u: B->block = %u; f->op = %u;\n", number, op, number, op);
    for (uint32_t n = block->first; n < op; n++)
        for (uint32_t c = 0; c < blr_native_components(w->values, n); c++) {
            const struct blr_native_value *x = blr_native_result(w->values, n, c);
            if (x != NULL && !x->crosses && is_live(w, block, op, x))
                spill(w, x);
        }
    blr_native_write(w, "goto L%u;\n", w->phases[number]);
}

/* ---------------------------------------------------------------- blocks */

static void follow(struct blr_native_writer *w, uint32_t number, const struct blr_spirv_edge *edge, bool diverges)
{
    blr_native_write(w, "if (y) { ");
    if (edge->first_move != edge->end_move && diverges)
        blr_native_write(w, "const v1 M = spread(y); ");
    for (uint32_t n = edge->first_move; n < edge->end_move; n++)
        blr_native_operation(w, number, n, diverges);
    blr_native_write(w, "a%u |= y; }\n", edge->target);
}

static void write_end(struct blr_native_writer *w, uint32_t number)
{
    const struct blr_spirv_block *block = &w->program->blocks[number];
    const struct blr_spirv_edge *edges = &w->program->edges[block->first_edge];
    const uint32_t size = block->kind == BLR_END_SWITCH ? block->size : 1;
    const struct blr_native_value *condition = w->values->conditions[number];
    const uint32_t r = condition->number;
    const bool uniform = condition->class == BLR_CLASS_UNIFORM;
    const bool diverges = w->values->diverges[number] || !uniform;
    uint32_t component;
    switch (block->kind) {
    case BLR_END_RETURN: blr_native_write(w, "alive &= ~m; " END, w->phases[number]); return;
    case BLR_END_BARRIER:
        blr_native_write(w, "if (UNLIKELY(waiting != 0 && at != %u)) ", number);
        blr_native_stop(w, number, block->end);
        blr_native_write(w, "\nwaiting |= m; at = %u; " END, number, w->phases[number]);
        return;
    case BLR_END_BRANCH:
        blr_native_write(w, "{ const u8 y = m; ");
        follow(w, number, &edges[0], w->values->diverges[number]);
        blr_native_write(w, "}\n");
        break;
    case BLR_END_CHOICE:
        blr_native_write(w, uniform ? "{ const u8 yes = r%u_1 ? m : 0;\n" : "{ const u8 yes = gather(r%u_1) & m;\n", r);
        if (blr_native_rests(w->values, w->phases, number, &component))
            blr_native_write(w, "if (yes == 0 && batches[count - 1].offsets[%u] == (count - 1) * 64ull) { in = %u; break; }\n", component,
                             edges[1].target);
        blr_native_write(w, "{ const u8 y = yes; ");
        follow(w, number, &edges[0], diverges);
        blr_native_write(w, "} { const u8 y = m & ~yes; ");
        follow(w, number, &edges[1], diverges);
        blr_native_write(w, "} }\n");
        break;
    case BLR_END_SWITCH:
        blr_native_write(w, "{ u8 rest = m;\n");
        if (!uniform)
            blr_native_declare(w, "selector", condition, BLR_CLASS_LANES);
        for (uint32_t e = 1; e < block->edge_count; e++) {
            const uint64_t literal = block->literals[e - 1];
            const bool fits = size == 8 || literal >> 8 * size == 0;
            if (!fits)
                continue;
            if (uniform)
                blr_native_write(w, "{ const u8 y = r%u_%u == (u%u)%" PRIu64 "ull ? rest : 0; rest &= ~y; ", r, size, size, literal);
            else
                blr_native_write(w, "{ const u8 y = rest & gather(FLAGS(%u, selector == SPLAT(%u, (u%u)%" PRIu64 "ull))); rest &= ~y; ",
                                 size, size, size, literal);
            follow(w, number, &edges[e], diverges);
            blr_native_write(w, "}\n");
        }
        blr_native_write(w, "{ const u8 y = rest; ");
        follow(w, number, &edges[0], diverges);
        blr_native_write(w, "} }\n");
        break;
    }
    for (uint32_t t = 0; t <= number; t++)
        for (uint32_t e = 0; e < block->edge_count; e++)
            if (edges[e].target == t) {
                blr_native_write(w, "if (a%u) goto N%u;\n", t, t);
                break;
            }
}

static void write_block(struct blr_native_writer *w, uint32_t number)
{
    const struct blr_spirv_block *block = &w->program->blocks[number];
    blr_native_write(w, "N%u: if (a%u) { m = a%u; a%u = 0; lo = __builtin_ctzll(m); hi = 63 - __builtin_clzll(m);\n", number, number,
                     number, number);
    if (w->values->diverges[number])
        blr_native_write(w, "const v1 M = spread(m); (void)M;\n");
    for (uint32_t n = block->first; n < block->end; n++)
        blr_native_operation(w, number, n, w->values->diverges[number]);
    if (block->loops)
        blr_native_write(w, "if (UNLIKELY(--*f->patience == 0) && !f->go_on(f)) return %d;\n", BLR_NATIVE_STOPPED);
    write_end(w, number);
    blr_native_write(w, "}\n");
}

/* ---------------------------------------------------------------- phases */

/* Starts a batch at the block where its lanes are. */
static void write_entries(struct blr_native_writer *w, uint32_t phase)
{
    const struct blr_spirv_program *program = w->program;
    blr_native_write(w, "switch (to) {\n");
    for (uint32_t t = phase; t < program->block_count; t++)
        if (w->phases[t] == phase && blr_native_enters(program, t))
            blr_native_write(w, "case %u: a%u = all; break;\n", t, t);
    blr_native_write(w, "default: __builtin_unreachable();\n}\n");
    if (!program->has_barriers)
        return;
    blr_native_write(w, "if (to != %u) {\n", program->first_block);
    keep_common(w, phase, true);
    blr_native_write(w, "}\n");
}

/* One batch from barrier to barrier; before an operation that is unusual it leaves. */
static void write_batch(struct blr_native_writer *w, uint32_t phase)
{
    const struct blr_spirv_program *program = w->program;
    blr_native_write(w, "%s\n"
                        "u8 m = 0, alive = all, waiting = 0; int lo = 0, hi = 0; unsigned at = ~0u; (void)lo; (void)hi;\n",
                     w->is_grouped ? "const u8 all = B->waiting; if (all == 0) continue;" : "const u8 all = f->last;");
    for (uint32_t b = phase; b < program->block_count; b++)
        if (w->phases[b] == phase)
            blr_native_write(w, "u8 a%u = 0;\n", b);
    declare_builtins(w, false);
    declare_values(w, phase);
    bool returns = false; /* else all lanes wait again */
    for (uint32_t b = phase; b < program->block_count; b++)
        returns |= w->phases[b] == phase && program->blocks[b].kind == BLR_END_RETURN;
    write_entries(w, phase);
    w->stop_count = 0;
    for (uint32_t b = phase; b < program->block_count; b++)
        if (w->phases[b] == phase)
            write_block(w, b);
    blr_native_write(w, "E%u: ;\n%s", phase, returns && w->is_grouped ? "B->waiting = waiting;\n" : "");
    if (program->has_barriers) {
        blr_native_write(w, "if (waiting) { apart |= in != ~0u && in != at; B->waiting_in = in = at;\n");
        keep_common(w, phase, false);
        blr_native_write(w, "}\n");
    }
    if (w->stop_count == 0)
        return;
    blr_native_write(w, "if (0) {\n");
    for (uint32_t i = 0; i < w->stop_count; i++)
        write_stop(w, w->stops[2 * i], w->stops[2 * i + 1]);
    blr_native_write(w, "L%u: B->mask = m; B->alive = alive; B->waiting = waiting; B->waiting_in = at;\n", phase);
    for (uint32_t b = phase; b < program->block_count; b++)
        if (w->phases[b] == phase)
            blr_native_write(w, "B->arrived[%u] = a%u;\n", b, b);
    keep_common(w, phase, false);
    blr_native_write(w, "goto leave;\n}\n");
    w->leaves = true;
}

/* All batches of a group from barrier to barrier. */
static void write_phase(struct blr_native_writer *w, uint32_t phase)
{
    const struct blr_spirv_program *program = w->program;
    bool enters = false;
    for (uint32_t t = phase; t < program->block_count; t++)
        if (w->phases[t] == phase && blr_native_enters(program, t)) {
            blr_native_write(w, "case %u:\n", t);
            enters = true;
        }
    if (!enters)
        return;
    blr_native_write(w, w->is_grouped ? "for (unsigned b = 0; b < count; b++) { struct blr_native_batch *const B = &batches[b]; f->number = b;\n"
                                      : "{ struct blr_native_batch *const B = batches;\n");
    write_batch(w, phase);
    blr_native_write(w, "}\nbreak;\n");
}

/* Writes the values of the group's batches to their registers, for the executor. */
static void write_leave(struct blr_native_writer *w)
{
    blr_native_write(w, "leave: ;\nconst unsigned own = f->number;\n"
                        "for (unsigned b = 0; b < count; b++) { struct blr_native_batch *const B = &batches[b]; f->number = b;\n"
                        "if (b != own) B->alive = B->waiting;\n"
                        "if (b > own) { B->block = to; B->mask = B->waiting; B->waiting = 0; }\n"
                        "if (B->alive == 0) continue;\n");
    for (const struct blr_native_value *x = NULL; (x = next_common(w, x)) != NULL;) {
        declare_value(w, x);
        keep(w, x, true);
        spill(w, x);
    }
    blr_native_write(w, "}\nf->number = own;\nreturn %d;\n", BLR_NATIVE_LEFT);
}

/* Where the batches go on that wait at a barrier. */
static void write_barrier(struct blr_native_writer *w)
{
    const struct blr_spirv_program *program = w->program;
    blr_native_write(w, "if (apart) { for (unsigned b = 0; b < count; b++) batches[b].alive = batches[b].waiting; return %d; }\nif (in == ~0u) break;\nswitch (in) {\n", BLR_NATIVE_APART);
    for (uint32_t b = 0; b < program->block_count; b++)
        if (program->blocks[b].kind == BLR_END_BARRIER)
            blr_native_write(w, "case %u: to = %u; break;\n", b, program->edges[program->blocks[b].first_edge].target);
    blr_native_write(w, "}\nif (UNLIKELY(--*f->patience == 0) && !f->go_on(f)) return %d;\n", BLR_NATIVE_STOPPED);
}

static void write_function(struct blr_native_writer *w)
{
    const struct blr_spirv_program *program = w->program;
    w->is_grouped = program->has_barriers || program->uses_local;
    blr_native_write(w, "%sunsigned blr_native_kernel(struct blr_native_frame *f) {\nunsigned to, in, apart;\n"
                        "const unsigned count = f->count; struct blr_native_batch *const batches = f->batches;\n", blr_native_prelude);
    declare_presets(w);
    blr_native_write(w, "for (; f->group < f->groups; f->group++) { const u8 g = f->group; (void)g;\n");
    declare_builtins(w, true);
    if (w->is_grouped)
        blr_native_write(w, "for (unsigned b = 0; b < count; b++) { batches[b].waiting = b + 1 < count ? ALL : f->last; batches[b].mask = 0; }\n");
    blr_native_write(w, "to = %u;\nfor (;;) { in = ~0u, apart = 0;\nswitch (to) {\n", program->first_block);
    for (uint32_t b = 0; b < program->block_count; b++)
        if (w->phases[b] == b)
            write_phase(w, b);
    blr_native_write(w, "}\n");
    write_barrier(w);
    blr_native_write(w, "}\nif (UNLIKELY(--*f->patience == 0) && !f->go_on(f)) return %d;\n}\nreturn %d;\n", BLR_NATIVE_STOPPED,
                     BLR_NATIVE_DONE);
    if (w->leaves)
        write_leave(w);
    blr_native_write(w, "}\n");
}

uint32_t blr_native_components_of_builtins(const struct blr_spirv_program *program)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < program->builtin_count; i++)
        count += program->builtins[i].components;
    return count;
}

char *blr_native_text(const struct blr_spirv_program *program)
{
    struct blr_native_values values;
    struct blr_native_writer writer = {.program = program, .values = &values, .room = 1 << 16};
    const bool ready = blr_native_values_new(&values, program);
    if (ready && !values.failed) {
        writer.text = blr_new(writer.room);
        writer.phases = blr_native_phases(program);
        writer.no_memory = writer.text == NULL || writer.phases == NULL;
        if (!writer.no_memory)
            write_function(&writer);
    }
    blr_native_values_free(&values);
    blr_delete(writer.phases);
    blr_delete(writer.stops);
    if (!writer.no_memory)
        return writer.text;
    blr_delete(writer.text);
    return NULL;
}
