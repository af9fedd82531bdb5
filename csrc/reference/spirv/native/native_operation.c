/* One operation as C: temporaries of the operands, the result, and its value for the class of the result's register. */
#include "spirv/native/native_code.h"
#include "spirv/native/native_writer.h"

#include <inttypes.h>
#include <stdio.h>

/* ---------------------------------------------------------------- values */

void blr_native_declare(struct blr_native_writer *w, const char *name, const struct blr_native_value *x, enum blr_native_class as)
{
    const uint32_t n = x->size, r = x->number;
    if (as == BLR_CLASS_LANES && x->class == BLR_CLASS_UNIFORM)
        blr_native_write(w, "v%u %s = SPLAT(%u, r%u_%u); ", n, name, n, r, n);
    else if (as == BLR_CLASS_LANES && x->class == BLR_CLASS_LINEAR)
        blr_native_write(w, "v%u %s = LINE(%u, r%u_%u, r%u_%us); ", n, name, n, r, n, r, n);
    else
        blr_native_write(w, "%c%u %s = r%u_%u; ", as == BLR_CLASS_LANES ? 'v' : 'u', n, name, r, n);
    if (as != BLR_CLASS_LINEAR)
        return;
    if (x->class == BLR_CLASS_LINEAR)
        blr_native_write(w, "u%u %ss = r%u_%us; ", n, name, r, n);
    else
        blr_native_write(w, "u%u %ss = 0; ", n, name);
}

/* Assigns the temporary t (with ts) of a class to a register. */
static void assign(struct blr_native_writer *w, const struct blr_native_value *to, enum blr_native_class class, bool blends)
{
    const uint32_t n = to->size, r = to->number;
    uint64_t stride;
    if (to->class != BLR_CLASS_LANES) {
        blr_native_write(w, "r%u_%u = t; ", r, n);
        if (to->class == BLR_CLASS_LINEAR && !blr_native_stride_of(w->values, to, &stride))
            blr_native_write(w, "r%u_%us = %s; ", r, n, class == BLR_CLASS_LINEAR ? "ts" : "0");
        return;
    }
    blr_native_write(w, blends ? "r%u_%u = SELECT(%u, WIDE(%u, M), " : "r%u_%u = (", r, n, n, n);
    if (class == BLR_CLASS_UNIFORM)
        blr_native_write(w, "SPLAT(%u, t)", n);
    else if (class == BLR_CLASS_LINEAR)
        blr_native_write(w, "LINE(%u, t, ts)", n);
    else
        blr_native_write(w, "t");
    if (blends)
        blr_native_write(w, ", r%u_%u); ", r, n);
    else
        blr_native_write(w, "); ");
}

/* ---------------------------------------------------------------- elementwise */

static char vector_letter(char type) { return type == 'u' ? 'v' : type == 's' ? 'i' : 'g'; }

static void scalar_expression(struct blr_native_writer *w, const struct blr_recipe *recipe, uint32_t to)
{
    const uint32_t n = recipe->size;
    for (uint32_t k = 0; k < recipe->operands; k++)
        blr_native_write(w, "%c%u %c = as_%c%u(x%u); ", recipe->type, recipe->type == 'f' ? n : 8, "abc"[k], recipe->type, n, k);
    switch (recipe->kind) {
    case BLR_RECIPE_TEST: blr_native_write(w, "u1 t = %s(%s); ", recipe->complement ? "!" : "", recipe->text); return;
    case BLR_RECIPE_LESSER: blr_native_write(w, "u%u t = (u%u)(%s ? a : b); ", n, n, recipe->text); return;
    case BLR_RECIPE_DIVIDE: blr_native_write(w, "u%u t = (u%u)%s(a, b); ", n, n, recipe->text); return;
    case BLR_RECIPE_CONVERT:
        blr_native_write(w, "u%u t = from_%c%u((%c%u)a); ", to, recipe->to, to, recipe->to, to);
        return;
    default: blr_native_write(w, "u%u t = from_%c%u(%s); ", n, recipe->to, n, recipe->text);
    }
}

static void vector_expression(struct blr_native_writer *w, const struct blr_recipe *recipe, uint32_t to)
{
    const uint32_t n = recipe->size;
    const char letter = vector_letter(recipe->type);
    for (uint32_t k = 0; k < recipe->operands; k++)
        blr_native_write(w, "%c%u %c = (%c%u)x%u; ", letter, n, "abc"[k], letter, n, k);
    switch (recipe->kind) {
    case BLR_RECIPE_TEST: blr_native_write(w, "v1 t = FLAGS(%u, %s(%s)); ", n, recipe->complement ? "~" : "", recipe->text); return;
    case BLR_RECIPE_LESSER: blr_native_write(w, "v%u t = SELECT(%u, %s, (v%u)a, (v%u)b); ", n, n, recipe->text, n, n); return;
    case BLR_RECIPE_DIVIDE: blr_native_write(w, "v%u t = (v%u)%s_lanes%u(a, b); ", n, n, recipe->text, n); return;
    case BLR_RECIPE_CONVERT:
        blr_native_write(w, "v%u t = (v%u)__builtin_convertvector(a, %c%u); ", to, to, vector_letter(recipe->to), to);
        return;
    default: blr_native_write(w, "v%u t = (v%u)(%s); ", n, n, recipe->text);
    }
}

/* Floats to integers; the bounds are powers of two. */
static void truncation(struct blr_native_writer *w, const struct blr_recipe *recipe, uint32_t to, enum blr_native_class class)
{
    const uint32_t n = recipe->size, bits = 8 * to;
    const bool is_signed = recipe->to == 's';
    char low[24] = "0", high[24];
    if (is_signed)
        snprintf(low, sizeof low, "-0x1p%uf", bits - 1);
    snprintf(high, sizeof high, "0x1p%uf", is_signed ? bits - 1 : bits);
    const uint32_t unused = 64 - bits + is_signed;
    if (class == BLR_CLASS_UNIFORM)
        blr_native_write(w, "f%u a = as_f%u(x0); u%u t = (u%u)TO_INTEGER(%c%u, a, %s, %s, ~0ull >> %u); ", n, n, to, to, recipe->to, to,
                         low, high, unused);
    else
        blr_native_write(w, "g%u a = (g%u)x0; i%u up = a >= (f%u)%s, down = a < (f%u)%s, within = ~(up | down) & (a == a); "
                            "v%u t = (v%u)__builtin_convertvector((g%u)((i%u)a & within), %c%u); "
                            "t |= ((v%u)__builtin_convertvector(up, i%u) & (u%u)(~0ull >> %u)) | "
                            "((v%u)__builtin_convertvector(down, i%u) & (u%u)(%c%u)%s); ",
                         n, n, n, n, high, n, low, to, to, n, n, vector_letter(recipe->to), to, to, to, to, unused, to, to, to, recipe->to,
                         to, low);
}

/* Base and stride of a result from those of the operands. */
static void linear_expression(struct blr_native_writer *w, uint32_t block, uint32_t number, const struct blr_recipe *recipe,
                              uint32_t to)
{
    const uint32_t n = recipe->size;
    switch (recipe->opcode) {
    case BLR_OP_IAdd: blr_native_write(w, "u%u t = (u%u)(x0 + x1), ts = (u%u)(x0s + x1s); ", n, n, n); return;
    case BLR_OP_ISub: blr_native_write(w, "u%u t = (u%u)(x0 - x1), ts = (u%u)(x0s - x1s); ", n, n, n); return;
    case BLR_OP_SNegate: blr_native_write(w, "u%u t = (u%u)(0 - x0), ts = (u%u)(0 - x0s); ", n, n, n); return;
    case BLR_OP_IMul:
        blr_native_write(w, "u%u t = (u%u)((u8)x0 * x1), ts = (u%u)((u8)x0s * x1 + (u8)x0 * x1s); ", n, n, n);
        return;
    case BLR_OP_ShiftLeftLogical:
        blr_native_write(w, "u%u t = (u%u)((u8)x0 << (x1 & BITS)), ts = (u%u)((u8)x0s << (x1 & BITS)); ", n, n, n);
        return;
    case BLR_OP_BitwiseOr:
        blr_native_write(w, "if (UNLIKELY(!either(x0, x0s, x1, x1s, lo, hi))) ");
        blr_native_stop(w, block, number);
        blr_native_write(w, "u%u ts = (u%u)(x0s + x1s), t = (u%u)(ts != 0 ? x0 + x1 : x0 | x1); ", n, n, n);
        return;
    default: break;
    }
    if (to <= n) {
        blr_native_write(w, "u%u t = (u%u)x0, ts = (u%u)x0s; ", to, to, to);
        return;
    }
    blr_native_write(w, "s8 d = (s%u)x0s, first = (%c%u)(x0 + lo * x0s), last = first + (hi - lo) * d; "
                        "if (UNLIKELY(last != (s8)(%c%u)last)) ", n, recipe->type, n, recipe->type, n);
    blr_native_stop(w, block, number);
    blr_native_write(w, "u%u t = (u%u)(first - lo * d), ts = (u%u)d; ", to, to, to);
}

/* A comparison of a line with one number as a mask; false for another test. Lines that wrap compare lane by lane. */
static bool line_test(struct blr_native_writer *w, uint32_t number, uint32_t c)
{
    const struct blr_recipe *recipe = &w->values->recipes[number];
    const struct blr_native_value *left = blr_native_operand(w->values, number, 0, c);
    const struct blr_native_value *right = blr_native_operand(w->values, number, 1, c);
    const bool swaps = left->class == BLR_CLASS_UNIFORM;
    const uint32_t n = recipe->size;
    const char *below, *complement = "";
    if (recipe->kind != BLR_RECIPE_TEST || recipe->operands != 2 || left->class + right->class != BLR_CLASS_LINEAR)
        return false;
    switch (recipe->opcode) {
    case BLR_OP_ULessThan:
    case BLR_OP_SLessThan: below = swaps ? "UP_TO" : "BELOW"; complement = swaps ? "~" : ""; break;
    case BLR_OP_ULessThanEqual:
    case BLR_OP_SLessThanEqual: below = swaps ? "BELOW" : "UP_TO"; complement = swaps ? "~" : ""; break;
    case BLR_OP_UGreaterThan:
    case BLR_OP_SGreaterThan: below = swaps ? "BELOW" : "UP_TO"; complement = swaps ? "" : "~"; break;
    case BLR_OP_UGreaterThanEqual:
    case BLR_OP_SGreaterThanEqual: below = swaps ? "UP_TO" : "BELOW"; complement = swaps ? "" : "~"; break;
    case BLR_OP_INotEqual: below = NULL; complement = "~"; break;
    case BLR_OP_IEqual: below = NULL; break;
    default: return false;
    }
    blr_native_declare(w, "x", swaps ? right : left, BLR_CLASS_LINEAR);
    blr_native_declare(w, "y", swaps ? left : right, BLR_CLASS_UNIFORM);
    blr_native_write(w, "u8 k; const %c%u first = x + lo, last = x + hi, z = y; if (xs == 1 && first <= last) ", recipe->type, n);
    if (below != NULL)
        blr_native_write(w, "k = %sFIRST(%s(first, last, z)); ", complement, below);
    else
        blr_native_write(w, "k = %s(FIRST(UP_TO(first, last, z)) & ~FIRST(BELOW(first, last, z))); ", complement);
    blr_native_write(w, "else { ");
    blr_native_declare(w, "x0", left, BLR_CLASS_LANES);
    blr_native_declare(w, "x1", right, BLR_CLASS_LANES);
    vector_expression(w, recipe, n);
    blr_native_write(w, "k = gather(t); } v1 t = bits(k); ");
    return true;
}

static void elementwise(struct blr_native_writer *w, uint32_t block, uint32_t number, uint32_t c, enum blr_native_class class)
{
    const struct blr_recipe *recipe = &w->values->recipes[number];
    const uint32_t to = w->program->ops[number].element;
    const struct blr_native_value *x;
    char name[] = "x0";
    if (class == BLR_CLASS_LANES && line_test(w, number, c))
        return;
    for (uint32_t k = 0; (x = blr_native_operand(w->values, number, k, c)) != NULL; k++) {
        name[1] = (char)('0' + k);
        blr_native_declare(w, name, x, class);
    }
    blr_native_write(w, "enum { BITS = %u }; ", 8 * recipe->size - 1);
    if (class == BLR_CLASS_LINEAR)
        linear_expression(w, block, number, recipe, to);
    else if (recipe->kind == BLR_RECIPE_TRUNCATE)
        truncation(w, recipe, to, class);
    else if (class == BLR_CLASS_UNIFORM)
        scalar_expression(w, recipe, to);
    else
        vector_expression(w, recipe, to);
}

/* ---------------------------------------------------------------- selection and addresses */

static void selection(struct blr_native_writer *w, uint32_t number, uint32_t c, enum blr_native_class class)
{
    const struct blr_native_value *condition = blr_native_operand(w->values, number, 0, c);
    const struct blr_native_value *yes = blr_native_operand(w->values, number, 1, c);
    blr_native_declare(w, "x0", condition, condition->class);
    blr_native_declare(w, "x1", yes, class);
    blr_native_declare(w, "x2", blr_native_operand(w->values, number, 2, c), class);
    if (condition->class == BLR_CLASS_UNIFORM)
        blr_native_write(w, "%c%u t = x2; if (x0) t = x1; ", class == BLR_CLASS_UNIFORM ? 'u' : 'v', yes->size);
    else
        blr_native_write(w, "v1 on = (v1)(x0 != 0); v%u t = SELECT(%u, WIDE(%u, on), x1, x2); ", yes->size, yes->size, yes->size);
}

static void address(struct blr_native_writer *w, uint32_t number, enum blr_native_class class)
{
    const struct blr_spirv_op *op = &w->program->ops[number];
    const struct blr_recipe *recipe = &w->values->recipes[number];
    const char *type = class == BLR_CLASS_LANES ? "v8" : "u8";
    blr_native_declare(w, "x0", blr_native_operand(w->values, number, 0, 0), class);
    if (recipe->kind == BLR_RECIPE_OFFSET) {
        blr_native_write(w, "%s t = x0 + %" PRIu64 "ull; ", type, op->literal);
        if (class == BLR_CLASS_LINEAR)
            blr_native_write(w, "u8 ts = x0s; ");
        return;
    }
    blr_native_declare(w, "x1", blr_native_operand(w->values, number, 1, 0), class);
    const uint32_t n = recipe->size;
    if (class == BLR_CLASS_LANES)
        blr_native_write(w, "v8 t = x0 + (v8)__builtin_convertvector((i%u)x1, i8) * %" PRIu64 "ull; ", n, op->literal);
    else
        blr_native_write(w, "u8 t = x0 + (u8)(s8)(s%u)x1 * %" PRIu64 "ull; ", n, op->literal);
    if (class == BLR_CLASS_LINEAR)
        blr_native_write(w, "u8 ts = x0s + x1s * %" PRIu64 "ull; ", op->literal);
}

static void axis(struct blr_native_writer *w, uint32_t block, uint32_t number, enum blr_native_class class)
{
    blr_native_declare(w, "x0", blr_native_operand(w->values, number, 0, 0), class);
    if (class == BLR_CLASS_LANES) {
        blr_native_declare(w, "x1", blr_native_operand(w->values, number, 1, 0), class);
        blr_native_write(w, "v8 t = x0 + (x1 & (v8)((i8)x0 >> 63)); if (UNLIKELY(gather(FLAGS(8, t >= x1)) & m)) ");
        blr_native_stop(w, block, number);
        return;
    }
    blr_native_declare(w, "x1", blr_native_operand(w->values, number, 1, 0), BLR_CLASS_UNIFORM);
    blr_native_write(w, "u8 d; if (UNLIKELY(!axis(x0, %s, x1, lo, hi, &d))) ", class == BLR_CLASS_LINEAR ? "x0s" : "0");
    blr_native_stop(w, block, number);
    blr_native_write(w, "u8 t = x0 + d; ");
    if (class == BLR_CLASS_LINEAR)
        blr_native_write(w, "u8 ts = x0s; ");
}

/* ---------------------------------------------------------------- memory */

/* Statements around the accesses of each component, by the form of the addresses: `p` for a row, `at` for lanes. */
static void check(struct blr_native_writer *w, uint32_t block, uint32_t number, uint32_t size, bool write)
{
    if (blr_native_is_within_local(w->values, number, size))
        return;
    blr_native_write(w, "if (UNLIKELY(!reach_lanes(f, %u, &at, m, %u, %d))) ", number, size, write);
    blr_native_stop(w, block, number);
}

static void check_row(struct blr_native_writer *w, uint32_t block, uint32_t number, uint32_t size, bool write)
{
    if (blr_native_is_within_local(w->values, number, size))
        return;
    blr_native_write(w, "if (UNLIKELY(!REACH(%u, p + lo * %uu, (hi - lo + 1) * %uu, %d))) ", number, size, size, write);
    blr_native_stop(w, block, number);
}

/* Addresses in memory: compilers write a whole vector there for each lane that a loop reads of it. */
#define PLACES "u8 places[64]; __builtin_memcpy(places, &at, sizeof places); "
/* Lanes that are not active load what an active one does: a loop without branches. */
#define SAFE_PLACES "at = SELECT(8, WIDE(8, spread(m)), at, SPLAT(8, at[lo])); " PLACES

/* The row that addresses of lanes form, or a stride of 0. */
static void row_of_lanes(struct blr_native_writer *w, uint32_t size)
{
    blr_native_write(w, "u8 p = at[lo] - lo * %uull, ps = gather(FLAGS(8, at != LINE(8, p, %uull))) & m ? 0 : %u; ", size, size, size);
}

static void load_component(struct blr_native_writer *w, uint32_t number, uint32_t c, bool blends, const char *how, uint32_t components)
{
    const struct blr_spirv_op *op = &w->program->ops[number];
    const uint32_t n = op->element;
    if (how[0] == 'r' && components == 1)
        blr_native_write(w, "{ v%u t = load%u((const w%u *)p, m, lo, hi); ", n, n, n);
    else if (how[0] == 'r')
        blr_native_write(w, "{ u%u q[64] = {0}; ACTIVE __builtin_memcpy(&q[i], (const char *)p + i * %u + %u, %u); ", n, n * components,
                         n * c, n);
    else
        blr_native_write(w, "{ u%u q[64]; LANES __builtin_memcpy(&q[i], (const char *)places[i] + %u, %u); ", n, n * c, n);
    if (how[0] != 'r' || components > 1)
        blr_native_write(w, "v%u t; __builtin_memcpy(&t, q, sizeof q); ", n);
    if (op->literal != 0)
        blr_native_write(w, "t = FLAGS(1, t != 0); ");
    assign(w, blr_native_result(w->values, number, c), BLR_CLASS_LANES, blends);
    blr_native_write(w, "} ");
}

static void load(struct blr_native_writer *w, uint32_t block, uint32_t number, bool blends)
{
    const struct blr_spirv_op *op = &w->program->ops[number];
    const struct blr_native_value *from = blr_native_operand(w->values, number, 0, 0);
    const uint32_t components = blr_native_components(w->values, number), n = op->element, size = n * components;
    blr_native_declare(w, from->class == BLR_CLASS_LANES ? "at" : "p", from, from->class);
    if (from->class == BLR_CLASS_UNIFORM) {
        blr_native_write(w, "if (UNLIKELY(!REACH(%u, p, %u, 0))) ", number, size);
        blr_native_stop(w, block, number);
        for (uint32_t c = 0; c < components; c++) {
            blr_native_write(w, "{ u%u t; __builtin_memcpy(&t, (const char *)p + %u, %u); ", n, n * c, n);
            if (op->literal != 0)
                blr_native_write(w, "t = t != 0; ");
            assign(w, blr_native_result(w->values, number, c), BLR_CLASS_UNIFORM, blends);
            blr_native_write(w, "} ");
        }
        return;
    }
    if (from->class == BLR_CLASS_LANES)
        row_of_lanes(w, size);
    {
        blr_native_write(w, "if (ps == %u) { ", size);
        check_row(w, block, number, size, false);
        for (uint32_t c = 0; c < components; c++)
            load_component(w, number, c, blends, "row", components);
        blr_native_write(w, from->class == BLR_CLASS_LANES ? "} else { " : "} else { v8 at = LINE(8, p, ps); ");
    }
    check(w, block, number, size, false);
    blr_native_write(w, SAFE_PLACES);
    for (uint32_t c = 0; c < components; c++)
        load_component(w, number, c, blends, "lanes", components);
    blr_native_write(w, "} ");
}

static void store_component(struct blr_native_writer *w, uint32_t number, uint32_t c, const char *to)
{
    const struct blr_native_value *x = blr_native_operand(w->values, number, 1, c);
    blr_native_declare(w, "x", x, BLR_CLASS_LANES);
    if (to == NULL)
        blr_native_write(w, "store%u((w%u *)p, x, m, lo, hi); ", x->size, x->size);
    else
        blr_native_write(w, "u%u q[64]; __builtin_memcpy(q, &x, sizeof q); ACTIVE __builtin_memcpy((char *)%s, &q[i], %u); ", x->size, to,
                         x->size);
}

static void store(struct blr_native_writer *w, uint32_t block, uint32_t number)
{
    const struct blr_native_value *to = blr_native_operand(w->values, number, 0, 0);
    const uint32_t components = blr_native_components(w->values, number);
    const uint32_t n = w->program->ops[number].literal & 0xff, size = n * components;
    char place[64];
    blr_native_declare(w, to->class == BLR_CLASS_LANES ? "at" : "p", to, to->class);
    if (to->class == BLR_CLASS_UNIFORM) {
        blr_native_write(w, "if (UNLIKELY(!REACH(%u, p, %u, 1))) ", number, size);
        blr_native_stop(w, block, number);
        for (uint32_t c = 0; c < components; c++) {
            const struct blr_native_value *x = blr_native_operand(w->values, number, 1, c);
            blr_native_write(w, "{ ");
            blr_native_declare(w, "x", x, x->class == BLR_CLASS_UNIFORM ? BLR_CLASS_UNIFORM : BLR_CLASS_LANES);
            blr_native_write(w, "u%u t = x%s; __builtin_memcpy((char *)p + %u, &t, %u); } ", n,
                             x->class == BLR_CLASS_UNIFORM ? "" : "[hi]", n * c, n);
        }
        return;
    }
    if (to->class == BLR_CLASS_LANES)
        row_of_lanes(w, size);
    {
        blr_native_write(w, "if (ps == %u) { ", size);
        check_row(w, block, number, size, true);
        for (uint32_t c = 0; c < components; c++) {
            blr_native_write(w, "{ ");
            snprintf(place, sizeof place, "(p + i * %uu + %u)", size, n * c);
            store_component(w, number, c, components == 1 ? NULL : place);
            blr_native_write(w, "} ");
        }
        blr_native_write(w, to->class == BLR_CLASS_LANES ? "} else { " : "} else { v8 at = LINE(8, p, ps); ");
    }
    check(w, block, number, size, true);
    blr_native_write(w, PLACES);
    for (uint32_t c = 0; c < components; c++) {
        blr_native_write(w, "{ ");
        snprintf(place, sizeof place, "(places[i] + %u)", n * c);
        store_component(w, number, c, place);
        blr_native_write(w, "} ");
    }
    blr_native_write(w, "} ");
}

/* ---------------------------------------------------------------- the executor's functions */

static void call(struct blr_native_writer *w, uint32_t number, bool blends)
{
    const struct blr_spirv_op *op = &w->program->ops[number];
    const struct blr_recipe *recipe = &w->values->recipes[number];
    const uint32_t components = blr_native_components(w->values, number), n = op->element;
    const bool is_image = recipe->kind == BLR_RECIPE_IMAGE;
    const struct blr_native_value *x;
    for (uint32_t c = 0; c < components; c++)
        for (uint32_t k = 0; (x = blr_native_operand(w->values, number, k, c)) != NULL; k++) {
            if (is_image && c >= recipe->image[k].components)
                continue;
            blr_native_write(w, "{ ");
            blr_native_declare(w, "x", x, BLR_CLASS_LANES);
            blr_native_write(w, "__builtin_memcpy(B->registers + %u, &x, sizeof x); } ", x->place);
        }
    if (is_image)
        blr_native_write(w, "if (UNLIKELY(!f->image(f, %u, %u, m))) return %d; ", number, op->result, BLR_NATIVE_STOPPED);
    else
        blr_native_write(w, "f->call(f, %u, %u); ", number, op->result);
    for (uint32_t c = 0; c < op->count / BLR_LANES; c++) {
        const enum blr_native_class class = blr_native_class_of(w->values, number, c);
        const bool is_uniform = class == BLR_CLASS_UNIFORM;
        blr_native_write(w, "{ %c%u t; __builtin_memcpy(&t, B->registers + %u, sizeof t); ", is_uniform ? 'u' : 'v', n,
                         op->result + c * n * BLR_LANES);
        assign(w, blr_native_result(w->values, number, c), is_uniform ? BLR_CLASS_UNIFORM : BLR_CLASS_LANES, blends);
        blr_native_write(w, "} ");
    }
}

/* ---------------------------------------------------------------- operations */

void blr_native_operation(struct blr_native_writer *w, uint32_t block, uint32_t number, bool diverges)
{
    const struct blr_spirv_op *op = &w->program->ops[number];
    const enum blr_recipe_kind kind = w->values->recipes[number].kind;
    const bool blends = diverges && blr_native_blends(op);
    blr_native_write(w, "{ ");
    if (kind == BLR_RECIPE_LOAD)
        load(w, block, number, blends);
    else if (kind == BLR_RECIPE_STORE)
        store(w, block, number);
    else if (kind == BLR_RECIPE_CALL || kind == BLR_RECIPE_IMAGE)
        call(w, number, blends);
    else
        for (uint32_t c = 0; c < blr_native_components(w->values, number); c++) {
            const enum blr_native_class class = blr_native_class_of(w->values, number, c);
            blr_native_write(w, "{ ");
            if (kind == BLR_RECIPE_COPY) {
                blr_native_declare(w, "t", blr_native_operand(w->values, number, 0, c), class);
            } else if (kind == BLR_RECIPE_SELECT || kind == BLR_RECIPE_CHOOSE) {
                selection(w, number, c, class);
            } else if (kind == BLR_RECIPE_OFFSET || kind == BLR_RECIPE_INDEX) {
                address(w, number, class);
            } else if (kind == BLR_RECIPE_AXIS) {
                axis(w, block, number, class);
            } else {
                elementwise(w, block, number, c, class);
            }
            assign(w, blr_native_result(w->values, number, c), class, blends);
            blr_native_write(w, "} ");
        }
    blr_native_write(w, "}\n");
}
