/* Conversion of resampled values to elements of the picture.
 *
 * Integers of a normalized image are codes: the value times the largest one. They are rounded, clamped to the range of
 * their type, and of the codes if that is smaller; not-a-number becomes 0. */
#ifndef BINDLESS_KERNELS_INCLUDE_STORED_H
#define BINDLESS_KERNELS_INCLUDE_STORED_H

#include "format.h"
#include "mode.h"

static inline bool is_normalized(uint format) { return channel_type(format) <= UNORM_INT16; }
static inline bool unsigned_codes(uint format) { return channel_type(format) == UNORM_INT8 || channel_type(format) == UNORM_INT16; }

/* The largest and the smallest integer of the element type, as floats; those of 32 bits are rounded. */
static inline float largest_element(uint format)
{
    const uint bits = 8 * element_size(format) - (signed_element(format) ? 1 : 0);
    return bits == 32 ? 0x1p32f : bits == 31 ? 0x1p31f : (float)((1u << bits) - 1);
}

static inline float smallest_element(uint format)
{
    return signed_element(format) ? -(float)(1u << (8 * element_size(format) - 1)) : 0.0f;
}

static inline float rounded(float value, uint mode)
{
    if (!rounds_away(mode)) return __builtin_rintf(value);
    const float magnitude = __builtin_fabsf(value);
    if (!(magnitude < 0x1p23f)) return value; /* an integer, or not a number */
    const float whole = (float)(int)magnitude, up = magnitude - whole >= 0.5f ? whole + 1.0f : whole;
    return value < 0.0f ? -up : up;
}

INLINED uint element_of_value(float value, uint format, uint mode)
{
    if (element_type(format) >= ELEMENT_F32) return __builtin_astype(value, uint); /* doubles are rounded to float */
    if (element_type(format) == ELEMENT_F16) return float_to_half_bits(value);
    float largest = largest_element(format), smallest = smallest_element(format);
    if (is_normalized(format)) {
        const float code = largest_code(channel_type(format));
        value *= code;
        largest = __builtin_fminf(largest, code);
        smallest = __builtin_fmaxf(smallest, unsigned_codes(format) ? 0.0f : -code);
    }
    if (!(value == value)) return 0;
    value = rounded(value, mode);
    if (value >= largest) return largest == 0x1p32f ? 0xffffffffu : largest == 0x1p31f ? 0x7fffffffu : (uint)(int)largest;
    if (value <= smallest) return smallest == -0x1p31f ? 0x80000000u : (uint)(int)smallest;
    return signed_element(format) ? (uint)(int)value : (uint)value;
}

INLINED uint4 stored(float4 value, uint format, uint mode)
{
    uint4 elements = (uint4)(element_of_value(value.x, format, mode), 0, 0, 0);
    const uint channels = value_channels(format);
    if (channels > 1) elements.y = element_of_value(value.y, format, mode);
    if (channels > 2) elements.z = element_of_value(value.z, format, mode);
    if (channels > 3) elements.w = element_of_value(value.w, format, mode);
    return elements;
}

#if CLASS_F
#define STORED_COLOR(VALUE, FORMAT, MODE) stored(VALUE, FORMAT, MODE)
#else
/* Sums of integers in double precision. */
static inline uint element_of_double(double value, uint format, uint mode)
{
    if (floating(format)) return element_of_value((float)value, format, mode);
    const uint bits_of_size = 8 * element_size(format) - (signed_element(format) ? 1 : 0);
    const double count = (double)((ulong)1 << bits_of_size), largest = count - 1.0, smallest = signed_element(format) ? -count : 0.0;
    const double number = value == value ? value : 0.0;
    const double within = number < smallest ? smallest : number > largest ? largest : number;
    const double magnitude = within < 0.0 ? -within : within;
    const uint whole = (uint)magnitude;
    const double rest = magnitude - (double)whole;
    const bool up = rest > 0.5 || (rest == 0.5 && (rounds_away(mode) || (whole & 1) != 0));
    const uint bits = up ? whole + 1 : whole;
    return within < 0.0 ? -bits : bits;
}

INLINED uint4 stored_doubles(double4 value, uint format, uint mode)
{
    uint4 elements = (uint4)(element_of_double(value.x, format, mode), 0, 0, 0);
    const uint channels = value_channels(format);
    if (channels > 1) elements.y = element_of_double(value.y, format, mode);
    if (channels > 2) elements.z = element_of_double(value.z, format, mode);
    if (channels > 3) elements.w = element_of_double(value.w, format, mode);
    return elements;
}

/* Integers that were not filtered, or that the texture unit rounded. */
static inline uint element_of_integer(int bits, uint format)
{
    if (floating(format)) {
#if CLASS_I
        const float value = (float)bits;
#else
        const float value = (float)(uint)bits;
#endif
        return element_type(format) == ELEMENT_F16 ? float_to_half_bits(value) : __builtin_astype(value, uint);
    }
    const uint size = 8 * element_size(format);
#if CLASS_I
    long value = bits;
#else
    long value = (long)(uint)bits;
#endif
    const long largest = signed_element(format) ? ((long)1 << (size - 1)) - 1 : ((long)1 << size) - 1;
    const long smallest = signed_element(format) ? -((long)1 << (size - 1)) : 0;
    value = value > largest ? largest : value < smallest ? smallest : value;
    return (uint)value;
}

static inline uint4 stored_integers(int4 bits, uint format)
{
    return (uint4)(element_of_integer(bits.x, format), element_of_integer(bits.y, format),
                   element_of_integer(bits.z, format), element_of_integer(bits.w, format));
}
#define STORED_COLOR(VALUE, FORMAT, MODE) stored_integers(__builtin_astype(VALUE, int4), FORMAT)
#endif

#endif
