/* Colours of a picture by a table of colours in three dimensions, linear between its entries. Before it, each channel may
 * go through a table of its own. Values are clamped to the range of a table; what is no number counts as its lower end.
 * Weights are floats. A fourth channel is copied. */
#include "blob.h"
#include "half.h"

/* Arguments that are constants when launched. */
#ifdef BINDLESS_OPENCL_C
#define KNOWN(NUMBER, WORD) bindless_constant_uint(NUMBER, WORD)
#else
#define KNOWN(NUMBER, WORD) (WORD)
#endif

/* Types of elements: those of the format word (format.h) that pictures have. */
enum element { U8 = 1, U16 = 3, F16 = 6, F32 = 7 };

/* Bits of mode: between the four corners of one of a cell's six tetrahedra, not all eight; what tables there are. */
enum mode { TETRAHEDRAL = 1, TABLE = 2, SHAPER = 4 };

static inline uint size_of(uint type) { return type == U8 ? 1 : type == F32 ? 4 : 2; }

static inline float value_of(uint bits, uint type)
{
    if (type == U8) return (float)bits / 255.0f;
    if (type == U16) return (float)bits / 65535.0f;
    return type == F16 ? half_bits_to_float(bits) : __builtin_astype(bits, float);
}

/* The nearest code, of two the even one; not a number is 0. */
static inline uint code_of(float value, float largest)
{
    const float scaled = value > 0.0f ? value * largest : 0.0f;
    return (uint)__builtin_rintf(scaled < largest ? scaled : largest);
}

static inline uint bits_of(float value, uint type)
{
    if (type == U8) return code_of(value, 255.0f);
    if (type == U16) return code_of(value, 65535.0f);
    return type == F16 ? float_to_half_bits(value) : __builtin_astype(value, uint);
}

/* A place between two entries of an axis: the index of the lower one, and the share of the upper one. */
struct place {
    uint low;
    float share;
};

static inline struct place place_of(float value, float first, float scale, uint size)
{
    const float last = (float)(size - 1), at = (value - first) * scale;
    const float inside = at > 0.0f ? at < last ? at : last : 0.0f;
    const uint floor = (uint)inside, low = floor < size - 1 ? floor : size - 2;
    return (struct place){low, inside - (float)low};
}

static inline float shape_of(global const float *table, uint channel, uint size, float value, float first, float scale)
{
    const struct place place = place_of(value, first, scale, size);
    global const float *entry = table + 3 * place.low + channel;
    return (1.0f - place.share) * entry[0] + place.share * entry[3];
}

static inline float4 blend(float4 low, float4 high, float share) { return (1.0f - share) * low + share * high; }

static inline float4 trilinear(global const float4 *cell, uint row, uint slice, float x, float y, float z)
{
    const float4 near = blend(blend(cell[0], cell[1], x), blend(cell[row], cell[row + 1], x), y);
    const float4 far = blend(blend(cell[slice], cell[slice + 1], x), blend(cell[slice + row], cell[slice + row + 1], x), y);
    return blend(near, far, z);
}

/* From the lower corner along the axis of the largest share, then that of the next one, to the upper corner. */
static inline float4 tetrahedral(global const float4 *cell, uint row, uint slice, float x, float y, float z)
{
    const float upper = __builtin_fmaxf(x, y), lower = __builtin_fminf(x, y);
    const float largest = __builtin_fmaxf(upper, z), smallest = __builtin_fminf(lower, z);
    const uint all = 1 + row + slice;
    const uint first = x == largest ? 1 : y == largest ? row : slice;
    /* Of equal shares, the last axis counts as the smaller one. */
    const uint last = z == smallest ? slice : y == smallest ? row : 1;
    const uint second = all - last;
    const float middle = __builtin_fmaxf(lower, __builtin_fminf(upper, z));
    return (1.0f - largest) * cell[0] + (largest - middle) * cell[first] + (middle - smallest) * cell[second] + smallest * cell[all];
}

/* pixels and values: packed. table: size entries along each axis, red fastest, each four floats, or none. shaper: shaper_size
 * entries of three floats, or none. first and scale turn a value into a place in a table. format has the types of pixels and
 * of values, of four bits each, and the channels, 3 or 4. */
kernel void bindless_lut3d(global const void *pixels, global const float4 *table, uint size, float first_x, float first_y,
                           float first_z, float scale_x, float scale_y, float scale_z, global const float *shaper,
                           uint shaper_size, float shaper_first_x, float shaper_first_y, float shaper_first_z,
                           float shaper_scale_x, float shaper_scale_y, float shaper_scale_z, global void *values, ulong count,
                           uint format, uint mode)
{
    format = KNOWN(0, format);
    mode = KNOWN(1, mode);
    const uint from = format & 15, to = format >> 4 & 15, channels = format >> 8;
    const struct values source = values_of((global void *)pixels, size_of(from), channels, false);
    const struct values target = values_of(values, size_of(to), channels, false);
    const uint row = size, slice = size * size;
    const ulong all = bindless_global_size(0);
    const uint lane = (uint)bindless_global_id(0) % LANES;
    for (ulong i = bindless_global_id(0); i < count; i += all) {
        const uint4 bits = load_item(source, i);
        float4 colour = (float4)(value_of(bits.x, from), value_of(bits.y, from), value_of(bits.z, from), 0.0f);
        if ((mode & SHAPER) != 0) {
            colour.x = shape_of(shaper, 0, shaper_size, colour.x, shaper_first_x, shaper_scale_x);
            colour.y = shape_of(shaper, 1, shaper_size, colour.y, shaper_first_y, shaper_scale_y);
            colour.z = shape_of(shaper, 2, shaper_size, colour.z, shaper_first_z, shaper_scale_z);
        }
        if ((mode & TABLE) != 0) {
            const struct place x = place_of(colour.x, first_x, scale_x, size), y = place_of(colour.y, first_y, scale_y, size),
                               z = place_of(colour.z, first_z, scale_z, size);
            global const float4 *cell = table + ((ulong)z.low * slice + y.low * row + x.low);
            colour = (mode & TETRAHEDRAL) != 0 ? tetrahedral(cell, row, slice, x.share, y.share, z.share)
                                               : trilinear(cell, row, slice, x.share, y.share, z.share);
        }
        const uint rest = from == to ? bits.w : bits_of(value_of(bits.w, from), to);
        const uint4 result = (uint4)(bits_of(colour.x, to), bits_of(colour.y, to), bits_of(colour.z, to), rest);
        store_item(target, i, result, all % LANES == 0 && i - lane + (LANES - 1) < count);
    }
}
