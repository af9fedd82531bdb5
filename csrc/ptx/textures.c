/*
 * Textures and surfaces by their 64-bit handles. The types of images have "no indication" whether they are of depths, by
 * which the loader knows images of PTX: a pixel of a surface moves as bits, a row is a 2D image of one row.
 */
#include "emit.h"

#include <string.h>

#define LOD 2u
#define GRADIENT 4u

struct geometry {
    const char *name;
    uint32_t dimensions; /* of a pixel's position */
    bool is_array, is_cube;
};

static const struct geometry geometries[] = {{"1d", 1, false, false}, {"2d", 2, false, false}, {"3d", 3, false, false},
                                             {"a1d", 1, true, false}, {"a2d", 2, true, false}, {"cube", 3, false, true}};

static const struct geometry *geometry_of(struct ptx_emitter *e)
{
    for (unsigned k = 0; k < sizeof geometries / sizeof *geometries; k++)
        if (ptx_has(e->instruction, geometries[k].name))
            return &geometries[k];
    ptx_refuse(e, "its geometry");
}

static uint32_t image_type(struct ptx_emitter *e, const struct geometry *geometry, uint32_t access)
{
    struct ptx_words *words = e->words;
    const uint32_t operands[8] = {ptx_void(words), geometry->is_cube ? 3 : geometry->dimensions - 1, 2, geometry->is_array, 0, 0, 0, access};
    ptx_need(words, CAN_IMAGES);
    ptx_need(words, CAN_BINDLESS);
    ptx_need_extension(words, "SPV_INTEL_bindless_images");
    if (geometry->dimensions == 1) {
        ptx_need(words, CAN_SAMPLED_1D);
        ptx_need(words, CAN_IMAGE_1D);
    }
    return ptx_declare(words, OP_TypeImage, 0, operands, 8);
}

/* ---------------------------------------------------------------- operands */

static struct ptx_value handle_of(struct ptx_emitter *e, const struct ptx_operand *operand)
{
    const struct ptx_value value = ptx_read(e, operand, PTX_U64);
    return operand->kind == PTX_OPERAND_SYMBOL ? ptx_load(e, value, PTX_I64) : value; /* a texref holds a handle */
}

static const struct ptx_operand *place_of(struct ptx_emitter *e, uint32_t number)
{
    const struct ptx_instruction *i = e->instruction;
    if (number >= i->operand_count || i->operands[number].kind != PTX_OPERAND_ADDRESS || i->operands[number].count == 0)
        ptx_refuse(e, "a handle in brackets is needed");
    if (i->operands[number].count > 2)
        ptx_refuse(e, "a sampler apart from its texture");
    return &i->operands[number];
}

/* Element k of an operand that is a vector, or is the only one itself. */
static struct ptx_value part(struct ptx_emitter *e, const struct ptx_operand *operand, uint32_t k, enum ptx_type type)
{
    if (operand->kind != PTX_OPERAND_VECTOR && k == 0)
        return ptx_read(e, operand, type);
    if (operand->kind != PTX_OPERAND_VECTOR || k >= operand->count)
        ptx_refuse(e, "a vector of another size");
    return ptx_read(e, &operand->items[k], type);
}

static uint32_t vector_of(struct ptx_emitter *e, const struct ptx_value *parts, uint32_t count)
{
    uint32_t ids[4];
    if (count == 1)
        return parts[0].id;
    for (uint32_t k = 0; k < 4; k++)
        ids[k] = k < count ? parts[k].id : ptx_bits_value(e, parts[0].kind, 0).id;
    count = count == 2 ? 2 : 4;
    return ptx_emit_typed(e, OP_CompositeConstruct, ptx_vector(e->words, parts[0].kind, count), ids, count);
}

/* The position, with the layer behind it; bytes: what a pixel has where the first coordinate counts bytes. */
static uint32_t position(struct ptx_emitter *e, const struct geometry *geometry, const struct ptx_operand *at, enum ptx_type type, uint32_t bytes)
{
    struct ptx_value parts[4] = {{0}};
    const uint32_t first = geometry->is_array ? 1 : 0;
    for (uint32_t k = 0; k < geometry->dimensions; k++)
        parts[k] = part(e, at, first + k, type);
    if (bytes > 1) {
        uint32_t shift = 0;
        while (1u << shift < bytes)
            shift++;
        parts[0] = ptx_op2(e, OP_ShiftRightArithmetic, PTX_I32, parts[0], ptx_bits_value(e, PTX_I32, shift));
    }
    if (geometry->is_array) {
        const struct ptx_value layer = part(e, at, 0, PTX_U32);
        parts[geometry->dimensions] = type == PTX_F32 ? ptx_op1(e, OP_ConvertUToF, PTX_F, layer) : layer;
    }
    return vector_of(e, parts, geometry->dimensions + first);
}

static void take_texel(struct ptx_emitter *e, uint32_t texel, enum ptx_kind kind)
{
    const struct ptx_operand *to = &e->instruction->operands[0];
    if (to->kind != PTX_OPERAND_VECTOR || to->count > 4)
        ptx_refuse(e, "a vector of another size");
    for (uint32_t k = 0; k < to->count; k++) {
        const uint32_t operands[2] = {texel, k};
        ptx_write(e, &to->items[k], ptx_emit(e, OP_CompositeExtract, kind, operands, 2), false);
    }
}

/* ---------------------------------------------------------------- textures */

static enum ptx_kind texel_kind(struct ptx_emitter *e)
{
    const enum ptx_type type = ptx_type_at(e, 0);
    if (!ptx_has(e->instruction, "v4") || (type != PTX_F32 && type != PTX_S32 && type != PTX_U32 && type != PTX_F16))
        ptx_refuse(e, "its texel");
    return ptx_kind_of(type);
}

static void emit_tex(struct ptx_emitter *e)
{
    const struct ptx_instruction *i = e->instruction;
    const struct geometry *geometry = geometry_of(e);
    const struct ptx_operand *place = place_of(e, 1);
    const enum ptx_kind kind = texel_kind(e);
    const enum ptx_type coordinates = ptx_type_at(e, 1);
    const bool levels = ptx_has(i, "level"), slopes = ptx_has(i, "grad");
    if (i->operand_count != (levels ? 3u : slopes ? 4u : 2u) || place->count != 2 || (coordinates != PTX_F32 && coordinates != PTX_S32))
        ptx_refuse(e, "it is not supported");
    const struct ptx_value handle = handle_of(e, &place->items[0]);
    const uint32_t image = image_type(e, geometry, 0), texel = ptx_vector(e->words, kind, 4);
    const uint32_t at = position(e, geometry, &place->items[1], coordinates, 0);
    if (coordinates == PTX_S32) {
        const uint32_t operands[2] = {ptx_emit_typed(e, OP_ConvertHandleToImageINTEL, image, &handle.id, 1), at};
        take_texel(e, ptx_emit_typed(e, OP_ImageRead, texel, operands, 2), kind);
        return;
    }
    const uint32_t sampled = ptx_declare(e->words, OP_TypeSampledImage, 0, &image, 1);
    uint32_t operands[5] = {ptx_emit_typed(e, OP_ConvertHandleToSampledImageINTEL, sampled, &handle.id, 1), at, LOD,
                            ptx_float_value(e, PTX_F, 0).id};
    if (levels)
        operands[3] = ptx_operand(e, 2, PTX_F32).id;
    for (uint32_t n = 0; slopes && n < 2; n++) {
        struct ptx_value parts[4] = {{0}};
        for (uint32_t k = 0; k < geometry->dimensions; k++)
            parts[k] = part(e, &i->operands[2 + n], k, PTX_F32);
        operands[2] = GRADIENT;
        operands[3 + n] = vector_of(e, parts, geometry->dimensions);
    }
    take_texel(e, ptx_emit_typed(e, OP_ImageSampleExplicitLod, texel, operands, slopes ? 5 : 4), kind);
}

static void emit_tld4(struct ptx_emitter *e)
{
    const struct ptx_instruction *i = e->instruction;
    const struct geometry *geometry = geometry_of(e);
    const struct ptx_operand *place = place_of(e, 1);
    const enum ptx_kind kind = texel_kind(e);
    const uint32_t channel = ptx_has(i, "g") ? 1 : ptx_has(i, "b") ? 2 : ptx_has(i, "a") ? 3 : 0;
    if (geometry->dimensions != 2 || geometry->is_array || place->count != 2 || i->operand_count != 2)
        ptx_refuse(e, "it is not supported");
    const struct ptx_value handle = handle_of(e, &place->items[0]);
    const uint32_t image = image_type(e, geometry, 0), sampled = ptx_declare(e->words, OP_TypeSampledImage, 0, &image, 1);
    const uint32_t at = position(e, geometry, &place->items[1], PTX_F32, 0);
    const uint32_t operands[3] = {ptx_emit_typed(e, OP_ConvertHandleToSampledImageINTEL, sampled, &handle.id, 1), at, ptx_bits_value(e, PTX_I32, channel).id};
    take_texel(e, ptx_emit_typed(e, OP_ImageGather, ptx_vector(e->words, kind, 4), operands, 3), kind);
}

/* ---------------------------------------------------------------- queries */

static void emit_query(struct ptx_emitter *e)
{
    const struct ptx_instruction *i = e->instruction;
    const struct ptx_operand *place = place_of(e, 1);
    const struct geometry *any = ptx_has(i, "array_size") ? &geometries[4] : &geometries[2];
    const struct ptx_value handle = handle_of(e, &place->items[0]);
    const uint32_t image = image_type(e, any, 0), id = ptx_emit_typed(e, OP_ConvertHandleToImageINTEL, image, &handle.id, 1);
    if (ptx_has(i, "num_mipmap_levels")) {
        ptx_write(e, &i->operands[0], ptx_emit(e, OP_ImageQueryLevels, PTX_I32, &id, 1), false);
        return;
    }
    const uint32_t component = ptx_has(i, "width") ? 0 : ptx_has(i, "height") ? 1 : ptx_has(i, "depth") || ptx_has(i, "array_size") ? 2 : 3;
    if (component == 3)
        ptx_refuse(e, "its property");
    const uint32_t level = ptx_has(i, "level") ? ptx_operand(e, 2, PTX_U32).id : ptx_bits_value(e, PTX_I32, 0).id, operands[2] = {id, level};
    const uint32_t part_at[2] = {ptx_emit_typed(e, OP_ImageQuerySizeLod, ptx_vector(e->words, PTX_I32, 3), operands, 2), component};
    ptx_write(e, &i->operands[0], ptx_emit(e, OP_CompositeExtract, PTX_I32, part_at, 2), false);
}

/* ---------------------------------------------------------------- surfaces */

/* A pixel as the loader moves it: components of at most 32 bits. */
struct pixel {
    enum ptx_type type; /* of the instruction's elements */
    uint32_t count;
    enum ptx_kind kind;
    uint32_t components;
};

static struct pixel pixel_of(struct ptx_emitter *e)
{
    const struct ptx_instruction *i = e->instruction;
    struct pixel pixel = {.type = ptx_type_at(e, 0), .count = ptx_has(i, "v2") ? 2 : ptx_has(i, "v4") ? 4 : 1};
    if (!ptx_has(i, "b") || ptx_has(i, "clamp") || ptx_bits(pixel.type) > 64 || ptx_bits(pixel.type) < 8 || ptx_bits(pixel.type) * pixel.count > 128)
        ptx_refuse(e, "it is not supported");
    pixel.kind = ptx_integer(ptx_bits(pixel.type) > 32 ? 32 : ptx_bits(pixel.type));
    pixel.components = pixel.count * ptx_bits(pixel.type) / ptx_bits_of(pixel.kind);
    return pixel;
}

static uint32_t pixel_bytes(const struct pixel *pixel) { return pixel->components * ptx_bits_of(pixel->kind) / 8; }

static void emit_suld(struct ptx_emitter *e)
{
    const struct ptx_instruction *i = e->instruction;
    const struct geometry *geometry = geometry_of(e);
    const struct ptx_operand *place = place_of(e, 1);
    const struct pixel pixel = pixel_of(e);
    if (place->count != 2 || geometry->is_cube)
        ptx_refuse(e, "it is not supported");
    const struct ptx_value handle = handle_of(e, &place->items[0]);
    const uint32_t at = position(e, geometry, &place->items[1], PTX_S32, pixel_bytes(&pixel)), image = image_type(e, geometry, 0);
    const uint32_t operands[2] = {ptx_emit_typed(e, OP_ConvertHandleToImageINTEL, image, &handle.id, 1), at};
    const uint32_t texel = ptx_emit_typed(e, OP_ImageRead, ptx_vector(e->words, pixel.kind, pixel.components), operands, 2);
    struct ptx_value parts[4];
    for (uint32_t k = 0; k < pixel.components; k++) {
        const uint32_t component[2] = {texel, k};
        parts[k] = pixel.components == 1 ? (struct ptx_value){texel, pixel.kind} : ptx_emit(e, OP_CompositeExtract, pixel.kind, component, 2);
    }
    for (uint32_t k = 0; k < pixel.count; k++) {
        struct ptx_value value = parts[k];
        if (pixel.components > pixel.count) {
            const struct ptx_value high = ptx_resize(e, parts[2 * k + 1], PTX_I64, false);
            value = ptx_op2(e, OP_BitwiseOr, PTX_I64, ptx_resize(e, parts[2 * k], PTX_I64, false),
                            ptx_op2(e, OP_ShiftLeftLogical, PTX_I64, high, ptx_bits_value(e, PTX_I64, 32)));
        }
        ptx_write(e, ptx_element(e, &i->operands[0], k, pixel.count), value, false);
    }
}

static void emit_sust(struct ptx_emitter *e)
{
    const struct ptx_instruction *i = e->instruction;
    const struct geometry *geometry = geometry_of(e);
    const struct ptx_operand *place = place_of(e, 0);
    const struct pixel pixel = pixel_of(e);
    if (place->count != 2 || geometry->is_cube || i->operand_count != 2)
        ptx_refuse(e, "it is not supported");
    uint32_t parts[4], texel;
    for (uint32_t k = 0; k < pixel.count; k++) {
        const struct ptx_value value = ptx_read(e, ptx_element(e, &i->operands[1], k, pixel.count), pixel.type);
        if (pixel.components == pixel.count) {
            parts[k] = value.id;
            continue;
        }
        parts[2 * k] = ptx_resize(e, value, PTX_I32, false).id;
        parts[2 * k + 1] = ptx_resize(e, ptx_op2(e, OP_ShiftRightLogical, PTX_I64, value, ptx_bits_value(e, PTX_I64, 32)), PTX_I32, false).id;
    }
    texel = parts[0];
    if (pixel.components > 1)
        texel = ptx_emit_typed(e, OP_CompositeConstruct, ptx_vector(e->words, pixel.kind, pixel.components), parts, pixel.components);
    const struct ptx_value handle = handle_of(e, &place->items[0]);
    const uint32_t at = position(e, geometry, &place->items[1], PTX_S32, pixel_bytes(&pixel)), image = image_type(e, geometry, 1);
    const uint32_t operands[3] = {ptx_emit_typed(e, OP_ConvertHandleToImageINTEL, image, &handle.id, 1), at, texel};
    ptx_emit_plain(e, OP_ImageWrite, operands, 3);
}

const struct ptx_handler ptx_texture_handlers[] = {{"tex", emit_tex}, {"tld4", emit_tld4}, {"txq", emit_query}, {"suq", emit_query},
                                                   {"suld", emit_suld}, {"sust", emit_sust}, {NULL, NULL}};
