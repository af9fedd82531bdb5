/* Samples of images of every kind, computed as a texture unit does, from a packed copy of their texels: the levels one
 * after the other, from the largest; each level's layers or faces, slices and rows. `pitch` is the distance between the
 * rows of level 0 in bytes, or 0 if they are packed.
 *
 * Texels outside of the image are (border_x, ...): bits of floats or halves, or codes. Layers that do not exist are the
 * last one. With EXACT, weights are not rounded (unit_axis.h). */
#include "items.h"
#include "unit_blend.h"
#include "unit_cube.h"

struct source {
    global const uchar *texels;
    uint pitch, width, height, depth, layers, levels;
    uint sampler, format;
    uint4 border;
};

struct level {
    global const uchar *texels;
    uint width, height, depth;
    ulong row, slice;
};

UNIT uint halved(uint extent, uint level)
{
    const uint size = extent >> level;
    return size != 0 ? size : 1;
}

UNIT struct level level_of(struct source source, uint number)
{
    const uint pixel = channel_size(source.format) * image_channels(source.format);
    ulong texels = 0;
    for (uint k = 0; k < number; ++k)
        texels += (ulong)halved(source.width, k) * halved(source.height, k) * halved(source.depth, k);
    struct level level = {source.texels + texels * source.layers * pixel, halved(source.width, number),
                          halved(source.height, number), halved(source.depth, number), 0, 0};
    level.row = source.pitch != 0 ? source.pitch : (ulong)level.width * pixel;
    level.slice = level.row * level.height;
    return level;
}

/* The bits of a half as those of a float. */
UNIT uint widened(uint bits)
{
    const uint sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    if (exponent == 31) return sign | 0x7f800000u | fraction << 13;
    if (exponent == 0) return sign | __builtin_astype((float)(int)fraction * 0x1p-24f, uint);
    return sign | (exponent + 112) << 23 | fraction << 13;
}

UNIT uint4 loaded(global const uchar *at, uint format)
{
    uint4 blob = 0;
    switch (channel_size(format) * image_channels(format)) {
    case 16: blob = *(global const uint4 *)at; break;
    case 8: blob.xy = *(global const uint2 *)at; break;
    case 4: blob.x = *(global const uint *)at; break;
    case 2: blob.x = *(global const ushort *)at; break;
    case 1: blob.x = *at; break;
    default: return load_elements((struct values){(global void *)at, channel_size(format), 3, 0}, 0);
    }
    return unpack(blob, channel_size(format));
}

/* A texel as bits of floats, or as codes with their sign. */
UNIT uint4 decoded(uint4 channels, uint format)
{
    const uint type = channel_type(format), count = image_channels(format);
    if (type == FP16) {
        uint4 wide = (uint4)(widened(channels.x), 0, 0, 0);
        if (count > 1) wide.y = widened(channels.y);
        if (count > 2) wide = (uint4)(wide.x, wide.y, widened(channels.z), widened(channels.w));
        return wide;
    }
    const bool has_sign = type == SNORM_INT8 || type == SNORM_INT16 || type == SIGNED_INT8 || type == SIGNED_INT16;
    return has_sign ? __builtin_astype(sign_extend(channels, channel_size(format)), uint4) : channels;
}

UNIT uint4 texel_at(struct source source, struct level level, int x, int y, int slice)
{
    const uint pixel = channel_size(source.format) * image_channels(source.format);
    const bool outside = (x | y | slice) < 0;
    uint4 channels;
    if (is_small(source.sampler)) { /* processors gather by offsets of 32 bits twice as fast */
        const int place = slice * (int)level.slice + y * (int)level.row + x * (int)pixel;
        channels = loaded(level.texels + (outside ? 0 : place), source.format);
    } else {
        const ulong place = (uint)slice * level.slice + (uint)y * level.row + (ulong)(uint)x * pixel;
        channels = loaded(level.texels + (outside ? 0 : place), source.format);
    }
    return decoded(outside ? source.border : channels, source.format);
}

UNIT struct quad quad_of(struct source source, struct level level, struct axis x, struct axis y, int slice, share weight)
{
    struct quad quad;
    quad.texel[0] = texel_at(source, level, x.first, y.first, slice);
    quad.texel[1] = texel_at(source, level, x.second, y.first, slice);
    quad.texel[2] = texel_at(source, level, x.first, y.second, slice);
    quad.texel[3] = texel_at(source, level, x.second, y.second, slice);
    set_weights(&quad, x.weight, y.weight, weight);
    return quad;
}

/* ---- cubemaps */

#if EXACT
/* A coordinate of a direction on its face, in texels: those below the position, and the share of the next. `at` is the
 * quotient of `component` and the largest one, whose rounding error counts too. */
UNIT struct axis face_position(float at, float component, float largest, uint width, bool linear)
{
    const float half_width = 0.5f * (float)(int)width, middle = half_width - (linear ? 0.5f : 0.0f);
    const float size = __builtin_fabsf(largest), error = __builtin_fmaf(-at, size, component) / size;
    const float high = at * half_width, sum = high + middle;
    float low = __builtin_fmaf(at, half_width, -high) + (high - (sum - middle));
    if (__builtin_fabsf(error) < 0x1p-20f) low += error * half_width; /* not next to an infinite component */
    float below = __builtin_floorf(sum);
    if (!linear && sum == below && low < 0.0f) below -= 1.0f;
    return (struct axis){(int)below, (int)below + 1, __builtin_fminf(__builtin_fmaxf(sum - below + low, 0.0f), 1.0f)};
}
#endif

/* The texels of a direction, before addressing. */
struct face_texels {
    int face;
    struct axis x, y;
};

UNIT struct face_texels face_texels_of(float3 direction, uint width, uint sampler)
{
    const struct face_point point = face_of(direction);
#if EXACT
    const uint major = (uint)point.face >> 1;
    const float largest = major == 0 ? direction.x : major == 1 ? direction.y : direction.z;
    const float right = major == 0 ? direction.z : direction.x, down = major == 1 ? direction.z : direction.y;
    const bool turned = (point.s < 0.0f) != (right < 0.0f), over = (point.t < 0.0f) != (down < 0.0f);
    return (struct face_texels){
        point.face, face_position(point.s, turned ? -right : right, largest, width, is_linear(sampler)),
        face_position(point.t, over ? -down : down, largest, width, is_linear(sampler))};
#else
    const int bits = fraction_bits(width, is_alone(sampler));
    const uint s = face_fraction(point.s, bits), t = face_fraction(point.t, bits);
    if (!is_linear(sampler)) {
        const int x = texel_of(s, width, bits), y = texel_of(t, width, bits);
        return (struct face_texels){point.face, {x, x, 0}, {y, y, 0}};
    }
    const int x = position_of(s, width, bits), y = position_of(t, width, bits);
    return (struct face_texels){point.face, {x >> 8, (x >> 8) + 1, x & 255}, {y >> 8, (y >> 8) + 1, y & 255}};
#endif
}

/* Within a face. With nearest filtering only the edge itself lies outside. */
UNIT struct axis within_face(struct axis at, int width, uint axis, uint sampler)
{
    const uint boundary = boundary_of(sampler, axis);
    if (!is_linear(sampler)) {
        const int only = address(0, at.first, width, is_seamless(sampler) || boundary == BINDLESS_MIRRORED_REPEAT ? BINDLESS_EDGE : boundary);
        return (struct axis){only, only, 0};
    }
    struct axis taps = {address(0, at.first, width, boundary), address(0, at.second, width, boundary), at.weight};
    if (boundary == BINDLESS_EDGE && (at.first < 0 || at.second >= width)) taps.weight = 0;
    return taps;
}

UNIT struct quad seamless_quad(struct source source, struct level level, struct face_texels at, share weight)
{
    const int width = (int)level.width;
    struct quad quad;
    int corner = -1;
    set_weights(&quad, at.x.weight, at.y.weight, weight);
    _Pragma("unroll") for (int k = 0; k < 4; ++k)
    {
        int3 place = (int3)(at.x.first + (k & 1), at.y.first + (k >> 1), at.face);
        const bool out_x = place.x < 0 || place.x >= width, out_y = place.y < 0 || place.y >= width;
        if (out_x && out_y) {
            corner = k;
            place.x = place.y = 0;
        } else if (out_x || out_y) {
            place = neighbour_of(width, place);
        }
        quad.texel[k] = texel_at(source, level, place.x, place.y, place.z);
    }
    if (corner >= 0) share_corner(&quad, corner);
    return quad;
}

UNIT struct quad cube_quad(struct source source, struct level level, float3 direction, share weight)
{
    const struct face_texels at = face_texels_of(direction, level.width, source.sampler);
    if (is_seamless(source.sampler) && is_linear(source.sampler)) return seamless_quad(source, level, at, weight);
    return quad_of(source, level, within_face(at.x, (int)level.width, 0, source.sampler),
                   within_face(at.y, (int)level.width, 1, source.sampler), at.face, weight);
}

/* ---- levels */

struct item {
    float3 at;
    uint layer;
};

/* The texels of a level along each axis; `near` is the weight of the first slice. */
struct footprint {
    struct level level;
    struct axis x, y, z;
    share near;
    bool has_slices; /* two, of a volume */
};

UNIT struct footprint footprint_of(struct source source, struct item item, uint number, share weight)
{
    const uint sampler = source.sampler, count = dimensions(sampler);
    const int none = (int)item.layer;
    struct footprint f = {level_of(source, number), {0, 0, 0}, {0, 0, 0}, {none, none, 0}, weight, false};
    if (is_cube(sampler)) return f;
    uint largest = f.level.width > f.level.height ? f.level.width : f.level.height;
    largest = f.level.depth > largest ? f.level.depth : largest;
    const int bits = fraction_bits(largest, is_alone(sampler));
    f.x = axis_of(item.at.x, f.level.width, bits, boundary_of(sampler, 0), sampler);
    if (count > 1) f.y = axis_of(item.at.y, f.level.height, bits, boundary_of(sampler, 1), sampler);
    if (count > 2) {
        f.z = axis_of(item.at.z, f.level.depth, fraction_bits(f.level.depth, is_alone(sampler)), boundary_of(sampler, 2), sampler);
        f.has_slices = is_linear(sampler);
        if (f.has_slices) f.near = WEIGHT_PART(weight, f.z.weight);
    }
    return f;
}

UNIT struct quad slice_quad(struct source source, struct footprint f, struct item item, uint number, share weight)
{
    if (is_cube(source.sampler)) return cube_quad(source, f.level, item.at, weight);
    if (number == 0) return quad_of(source, f.level, f.x, f.y, f.z.first, f.near);
    return quad_of(source, f.level, f.x, f.y, f.z.second, weight - f.near);
}

/* A level, and the weight of the next one. */
struct levels {
    uint first;
    share rest;
};

UNIT struct levels levels_of(struct source source, float lod, int low, int high)
{
    struct levels levels = {0, 0};
    if (!has_level(source.sampler) || source.levels < 2) return levels;
    const bool blends = blends_levels(source.sampler);
#if EXACT
    /* Limits are floats. */
    float level = lod == lod ? lod : 0.0f;
    level = __builtin_fmaxf(__builtin_fminf(level, __builtin_astype(high, float)), __builtin_astype(low, float));
    level = __builtin_fminf(level, (float)(int)(source.levels - 1));
    levels.first = (uint)(int)__builtin_floorf(blends ? level : level + 0.5f);
    if (blends) levels.rest = level - (float)(int)levels.first;
#else
    int level = 0;
    if (lod == lod)
        level = (int)(__builtin_fminf(__builtin_fmaxf(lod, -4096.0f), 4096.0f) * 256.0f);
    level = level > high ? high : level;
    level = level < low ? low : level;
    levels.first = (uint)(blends ? level : level + 128) >> 8;
    if (blends) levels.rest = level & 255;
#endif
    if (levels.first >= source.levels - 1) {
        levels.first = source.levels - 1;
        levels.rest = 0;
    }
    return levels;
}

/* ---- one item */

/* A channel as a vector, one component for each texel of a quad. */
#define TEXELS(QUAD, CHANNEL)                                                                                          \
    (uint4)((QUAD).texel[0].CHANNEL, (QUAD).texel[1].CHANNEL, (QUAD).texel[2].CHANNEL, (QUAD).texel[3].CHANNEL)

#if EXACT

typedef float4 sums;

UNIT float weighted(float weight, uint bits, uint type)
{
    if (weight == 0.0f) return 0.0f; /* whatever the texel is */
    if (type == FP32 || type == FP16) return weight * __builtin_astype(bits, float);
    const float code = (float)(int)bits;
    const float lowest = type == SNORM_INT8 ? -127.0f : type == SNORM_INT16 ? -32767.0f : code;
    return weight * (code < lowest ? lowest : code);
}

UNIT float weighted_sum(struct quad quad, uint4 texel, uint type)
{
    return weighted(quad.weight[0], texel.x, type) + weighted(quad.weight[1], texel.y, type) +
           weighted(quad.weight[2], texel.z, type) + weighted(quad.weight[3], texel.w, type);
}

UNIT uint finished(float sum, uint type)
{
    if (type <= UNORM_INT16) sum /= largest_code(type);
    if (type <= UNORM_INT16 || type == FP16 || type == FP32) return __builtin_astype(sum, uint);
    return (uint)(int)__builtin_floorf(sum + 0.5f);
}

#define BEGIN 0.0f
#define ADD(C) sum.C += weighted_sum(quad, TEXELS(quad, C), type)
#define END_LEVEL(C)
#define FINISH(C) result.C = finished(sum.C, type)

#else

/* Of one channel: floats have a running sum and those of a level's quads, integers of 8 and 16 bits a sum alone. */
struct sum {
    struct total all, near, far;
    int codes;
};

typedef struct {
    struct sum x, y, z, w;
} sums;

#define NOTHING {0, {0, true}, 0}

UNIT struct sum with_quad(struct sum sum, struct quad quad, uint4 texel, bool is_far, uint type)
{
    const int4 weight = (int4)(quad.weight[0], quad.weight[1], quad.weight[2], quad.weight[3]);
    if (type == FP32 || type == FP16) {
        const struct total total = quad_total(texel, weight, quad.used, type == FP16);
        if (is_far)
            sum.far = total;
        else
            sum.near = total;
    } else {
        sum.codes += (int)texel.x * weight.x + (int)texel.y * weight.y + (int)texel.z * weight.z + (int)texel.w * weight.w;
    }
    return sum;
}

UNIT struct sum with_level(struct sum sum, bool has_one_quad, uint type)
{
    const struct total nothing = NOTHING;
    if (type == FP32 || type == FP16) sum.all = has_one_quad ? sum.near : added(sum.all, sum.near, sum.far, type == FP16);
    sum.far = nothing;
    return sum;
}

UNIT uint finished(struct sum sum, uint type)
{
    if (type == FP32 || type == FP16) return rounded(sum.all, type == FP16);
    return type <= UNORM_INT16 ? normalized_of(sum.codes, type) : (uint)((sum.codes + 128) >> 8);
}

#define NO_SUM {NOTHING, NOTHING, NOTHING, 0}
#define BEGIN {NO_SUM, NO_SUM, NO_SUM, NO_SUM}
#define ADD(C) sum.C = with_quad(sum.C, quad, TEXELS(quad, C), k != 0, type)
#define END_LEVEL(C) sum.C = with_level(sum.C, has_one_quad, type)
#define FINISH(C) result.C = finished(sum.C, type)

#endif

#define CHANNELS(STEP)                                                                                                 \
    do {                                                                                                               \
        STEP(x);                                                                                                       \
        if (channels > 1) STEP(y);                                                                                     \
        if (channels > 2) STEP(z);                                                                                     \
        if (channels > 3) STEP(w);                                                                                     \
    } while (0)

UNIT uint4 filtered(struct source source, struct item item, struct levels levels)
{
    const uint type = channel_type(source.format), channels = image_channels(source.format);
    const uint count = levels.rest != 0 ? 2 : 1;
#if !EXACT
    const bool has_one_quad = dimensions(source.sampler) < 3 && !has_level(source.sampler);
#endif
    sums sum = BEGIN;
    for (uint l = 0; l < count; ++l) {
        const share weight = l != 0 ? levels.rest : WHOLE_WEIGHT - levels.rest;
        const struct footprint f = footprint_of(source, item, levels.first + l, weight);
        const uint slices = f.has_slices ? 2 : 1;
        for (uint k = 0; k < slices; ++k) {
            const struct quad quad = slice_quad(source, f, item, k, weight);
            CHANNELS(ADD);
        }
        CHANNELS(END_LEVEL);
    }
    uint4 result = 0;
    CHANNELS(FINISH);
    return result;
}

/* The nearest texel, unchanged, of samplers that never blend. */
UNIT uint nearest_value(uint bits, uint type)
{
    if (type > UNORM_INT16) return bits;
    return __builtin_astype(__builtin_fmaxf(quotient((float)(int)bits, type), -1.0f), uint);
}

UNIT uint4 nearest(struct source source, struct item item, struct levels levels)
{
    const struct footprint f = footprint_of(source, item, levels.first, WHOLE_WEIGHT);
    const uint4 texel = slice_quad(source, f, item, 0, WHOLE_WEIGHT).texel[0];
    const uint type = channel_type(source.format);
    return (uint4)(nearest_value(texel.x, type), nearest_value(texel.y, type), nearest_value(texel.z, type),
                   nearest_value(texel.w, type));
}

/* Channels of an item of the result, which the image may lack. */
UNIT uint4 elements_of(uint4 bits, uint format)
{
    const uint channels = image_channels(format);
    if (element_type(format) == ELEMENT_F16) {
        bits.x = float_to_half_bits(__builtin_astype(bits.x, float));
        if (channels > 1) bits.y = float_to_half_bits(__builtin_astype(bits.y, float));
        if (channels > 2) bits.z = float_to_half_bits(__builtin_astype(bits.z, float));
        if (channels > 3) bits.w = float_to_half_bits(__builtin_astype(bits.w, float));
    }
    return mask_channels(bits, format);
}

kernel void NAME(global const void *texels, uint pitch, global const void *coords, global const uint *layers, uint layer,
                 global const float *level, float lod, global void *values, ulong count, uint format, uint mode,
                 uint width, uint height, uint depth, uint num_layers, uint num_levels, uint low, uint high,
                 uint border_x, uint border_y, uint border_z, uint border_w)
{
    const uint sampler = KNOWN_MODE(mode);
    const struct source source = {texels, pitch, width, height, depth, num_layers, num_levels, sampler, format,
                                  (uint4)(border_x, border_y, border_z, border_w)};
    const struct values out = values_of(values, element_size(format), value_channels(format), aligned(format));
    const uint components = is_cube(sampler) ? 3 : dimensions(sampler);
    for (ulong i = bindless_global_id(0); i < count; i += bindless_global_size(0)) {
        global const float *at = (global const float *)coords + i * components;
        struct item item = {(float3)(at[0], 0.0f, 0.0f), layers ? layers[i] : layer};
        if (components > 1) item.at.y = at[1];
        if (components > 2) item.at.z = at[2];
        item.layer = item.layer < num_layers ? item.layer : num_layers - 1;
        const struct levels levels = levels_of(source, level ? level[i] : lod, (int)low, (int)high);
        const uint4 bits = filters(sampler) ? filtered(source, item, levels) : nearest(source, item, levels);
        store_item(out, i, elements_of(bits, format), false);
    }
}
