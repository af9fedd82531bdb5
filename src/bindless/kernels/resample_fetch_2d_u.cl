/* resample_fetch.cl for OpenCL devices, made by `bindless build`. */
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
static inline __attribute__((overloadable, always_inline)) uint4 __bindless_channels(uint4 color, int order)
{ if (order == CLK_R || order == CLK_RG || order == CLK_RGB) color.w = 0; return color; }
static inline ulong __bindless_global_id_0(void) { return get_global_id(0); }
static inline ulong __bindless_global_id_1(void) { return get_global_id(1); }
static inline ulong __bindless_global_id_2(void) { return get_global_id(2); }
static inline ulong __bindless_global_size_0(void) { return get_global_size(0); }
static inline ulong __bindless_global_size_1(void) { return get_global_size(1); }
static inline ulong __bindless_global_size_2(void) { return get_global_size(2); }
static inline ulong __bindless_local_id_0(void) { return get_local_id(0); }
static inline ulong __bindless_local_id_1(void) { return get_local_id(1); }
static inline ulong __bindless_local_id_2(void) { return get_local_id(2); }
static inline __attribute__((overloadable, always_inline)) uint4 __bindless_fetch_sampled_2d_u(read_only image2d_t image, sampler_t how, int x, int y)
{ return (uint)x < (uint)get_image_width(image) && (uint)y < (uint)get_image_height(image) ? __bindless_channels(read_imageui(image, (int2)(x, y)), get_image_channel_order(image)) : (uint4)(0); }
/* BINDLESS_CONSTANT_1 int 4 */
#ifdef BINDLESS_CONSTANT_1
#define BINDLESS_OR_1(otherwise) BINDLESS_CONSTANT_1
#else
#define BINDLESS_OR_1(otherwise) (otherwise)
#endif
#define bindless_constant_uint(number, otherwise) ((uint)BINDLESS_OR_##number(otherwise))
/* BINDLESS_CONSTANT_0 int 4 */
#ifdef BINDLESS_CONSTANT_0
#define BINDLESS_OR_0(otherwise) BINDLESS_CONSTANT_0
#else
#define BINDLESS_OR_0(otherwise) (otherwise)
#endif
#define bindless_constant_uint(number, otherwise) ((uint)BINDLESS_OR_##number(otherwise))
typedef ulong unsampled_image_handle;
typedef ulong sampled_image_handle;
static inline __attribute__((overloadable, always_inline)) size_t bindless_global_id(uint dimension) { return dimension == 0 ? __bindless_global_id_0() : dimension == 1 ? __bindless_global_id_1() : __bindless_global_id_2(); }
static inline __attribute__((overloadable, always_inline)) size_t bindless_global_size(uint dimension) { return dimension == 0 ? __bindless_global_size_0() : dimension == 1 ? __bindless_global_size_1() : __bindless_global_size_2(); }
static inline __attribute__((overloadable, always_inline)) size_t bindless_local_id(uint dimension) { return dimension == 0 ? __bindless_local_id_0() : dimension == 1 ? __bindless_local_id_1() : __bindless_local_id_2(); }
enum interpolation { NEAREST, LINEAR, CUBIC, CATMULL_ROM, BICUBIC };
enum boundary { BORDER, CONSTANT, EDGE, REPEAT, MIRRORED_REPEAT, MIRROR, WRAP };
static inline uint interpolation(uint mode) { return bindless_constant_uint(1, mode) & 7; }
static inline uint boundary(uint mode, uint axis) { return bindless_constant_uint(1, mode) >> (3 + 3 * axis) & 7; }
static inline bool ignores_nan(uint mode) { return (bindless_constant_uint(1, mode) >> 12 & 1) != 0; }
static inline bool rounds_away(uint mode) { return (bindless_constant_uint(1, mode) >> 13 & 1) != 0; }
static inline bool has_vectors(uint mode) { return (bindless_constant_uint(1, mode) >> 14 & 1) != 0; }
static inline bool has_double_vectors(uint mode) { return (bindless_constant_uint(1, mode) >> 15 & 1) != 0; }
static inline bool is_projective(uint mode) { return (bindless_constant_uint(1, mode) >> 16 & 1) != 0; }
static inline bool is_centred(uint mode) { return (bindless_constant_uint(1, mode) >> 20 & 1) != 0; }
static inline __attribute__((always_inline)) bool is_near(double p)
{
return p > -0x1p30 && p < 0x1p30;
}
static inline __attribute__((always_inline)) bool is_finite(double p) { return p - p == 0.0; }
static inline double bounded(double p)
{
const double above = p > -0x1p30 ? p : -0x1p30;
return above < 0x1p30 ? above : 0x1p30;
}
struct whole {
int index;
double value;
};
static inline __attribute__((always_inline)) struct whole floor_of(double p)
{

const int i = (int)p;
const int index = (double)i > p ? i - 1 : i;
return (struct whole){index, (double)index};
}
static inline double rest_of(double p, double period) { return p - period * floor_of(p / period).value; }
static inline __attribute__((always_inline)) double folded(double p, int n, uint boundary)
{
const double last = (double)(n - 1);
if ((p >= 0.0 && p <= last) || boundary <= EDGE) return p;
if (n == 1) return 0.0;
switch (boundary) {
case REPEAT: return rest_of(p, (double)n);
case MIRRORED_REPEAT: {
const double from_edge = rest_of(p + 0.5, 2.0 * (double)n) - (double)n;
return (double)n - 0.5 - (from_edge < 0.0 ? -from_edge : from_edge);
}
case MIRROR: {
const double from_last = rest_of(p, 2.0 * last) - last;
return last - (from_last < 0.0 ? -from_last : from_last);
}
default: return p < 0.0 ? last - rest_of(-p, last) : rest_of(p, last);
}
}
static inline __attribute__((always_inline)) bool is_beyond(double p, int n, uint boundary)
{
return boundary == CONSTANT && !(p >= 0.0 && p <= (double)(n - 1));
}
static inline int modulo(int i, int n)
{
const int rest = i % n;
return rest < 0 ? rest + n : rest;
}
static inline __attribute__((always_inline)) int index_of(int i, int n, uint boundary)
{
if (boundary == BORDER || boundary == EDGE) {
const int from_first = i < 0 ? 0 : i;
return from_first < n - 1 ? from_first : n - 1;
}
if (i >= 0 && i < n) return i;
switch (boundary) {
case REPEAT: return modulo(i, n);
case MIRRORED_REPEAT: {
const int within = modulo(i, 2 * n);
return within < n ? within : 2 * n - 1 - within;
}
default: {
const int within = n == 1 ? 0 : modulo(i, 2 * n - 2);
return within < n ? within : 2 * n - 2 - within;
}
}
}
static inline uint4 pack(uint4 elements, uint size)
{
if (size == 1)
return (uint4)((elements.x & 0xff) | (elements.y & 0xff) << 8 | (elements.z & 0xff) << 16 | elements.w << 24, 0, 0, 0);
if (size == 2)
return (uint4)((elements.x & 0xffff) | elements.y << 16, (elements.z & 0xffff) | elements.w << 16, 0, 0);
return elements;
}
struct values {
global void *items;
uint size;
uint channels;
uint whole;
};
static inline struct values values_of(global void *items, uint size, uint channels, bool aligned)
{
struct values values = {items, size, channels, size * channels};
if (channels == 3 || (!aligned && ((size_t)items & (values.whole - 1)) != 0))
values.whole = 0;
return values;
}
static inline uint4 turn_triples(uint4 elements, uint lane) { return elements; }
static inline bool lanes_are_full(void) { return false; }
static inline void store_elements(struct values values, ulong i, uint4 elements, bool together)
{
ulong at = i * values.channels;
uint stride = 1;
if (values.channels == 3 && together && lanes_are_full()) {
const uint lane = (uint)bindless_local_id(0) % 32u;
elements = turn_triples(elements, lane);
at = (i - lane) * 3 + lane;
stride = 32u;
}
if (values.size == 1) {
global uchar *out = (global uchar *)values.items + at;
out[0] = (uchar)elements.x;
if (values.channels > 1) out[stride] = (uchar)elements.y;
if (values.channels > 2) out[2 * stride] = (uchar)elements.z;
if (values.channels > 3) out[3] = (uchar)elements.w;
} else if (values.size == 2) {
global ushort *out = (global ushort *)values.items + at;
out[0] = (ushort)elements.x;
if (values.channels > 1) out[stride] = (ushort)elements.y;
if (values.channels > 2) out[2 * stride] = (ushort)elements.z;
if (values.channels > 3) out[3] = (ushort)elements.w;
} else {
global uint *out = (global uint *)values.items + at;
out[0] = elements.x;
if (values.channels > 1) out[stride] = elements.y;
if (values.channels > 2) out[2 * stride] = elements.z;
if (values.channels > 3) out[3] = elements.w;
}
}
static inline void store_item(struct values values, ulong i, uint4 elements, bool together)
{
uint4 blob = pack(elements, values.size);
switch (values.whole) {
case 16: ((global uint4 *)values.items)[i] = blob; break;
case 8: ((global uint2 *)values.items)[i] = blob.xy; break;
case 4: ((global uint *)values.items)[i] = blob.x; break;
case 2: ((global ushort *)values.items)[i] = (ushort)blob.x; break;
case 1: ((global uchar *)values.items)[i] = (uchar)blob.x; break;
default: store_elements(values, i, elements, together);
}
}
typedef uint4 color;
typedef float2 point;
typedef int2 pixel;
struct extent {
uint x, y, z;
};
struct element {
uint x, y, z;
ulong number;
bool inside;
};
struct map {
double x[4], y[4], z[4], w[4];
double centre;
global const void *coords;
long step, component;
};
struct position {
double x, y, z;
};
static inline __attribute__((always_inline)) double centre_of(uint i, double centre)
{
return (double)i + centre;
}
static inline __attribute__((always_inline)) double row_of(double a, double b, double c, double d, double x, double y, double z)
{
return a * x + (b * y + (c * z + d));
}
static inline double vector_component(struct map map, ulong number, int axis, uint mode)
{
const long at = (long)number * map.step + axis * map.component;
if (has_double_vectors(mode)) return ((global const double *)map.coords)[at];
return (double)((global const float *)map.coords)[at];
}
static inline __attribute__((always_inline)) struct position position_of(struct map map, struct element element, uint mode)
{
const double centre = is_centred(mode) ? 0.5 : map.centre;
const double x = centre_of(element.x, centre), y = centre_of(element.y, centre), z = centre_of(element.z, centre);
struct position p = {0.0, 0.0, 0.0};
p.x = row_of(map.x[0], map.x[1], map.x[2], map.x[3], x, y, z);
p.y = row_of(map.y[0], map.y[1], map.y[2], map.y[3], x, y, z);
if (is_projective(mode)) {
const double w = row_of(map.w[0], map.w[1], map.w[2], map.w[3], x, y, z);
p.x /= w;
p.y /= w;
}
if (has_vectors(mode)) {
p.x += vector_component(map, element.number, 0, mode);
p.y += vector_component(map, element.number, 1, mode);
}
return p;
}
static inline uint float_to_half_bits(float value)
{
ushort stored;
vstore_half_rte(value, 0, (half *)&stored);
return stored;
}
enum element_type { ELEMENT_S8, ELEMENT_U8, ELEMENT_S16, ELEMENT_U16, ELEMENT_S32, ELEMENT_U32, ELEMENT_F16, ELEMENT_F32 };
enum channel_type {
SNORM_INT8, SNORM_INT16, UNORM_INT8, UNORM_INT16,
SIGNED_INT8, SIGNED_INT16, SIGNED_INT32,
UNSIGNED_INT8, UNSIGNED_INT16, UNSIGNED_INT32,
FP16, FP32
};
static inline uint element_type(uint format) { return bindless_constant_uint(0, format) & 0xff; }
static inline uint value_channels(uint format) { return bindless_constant_uint(0, format) >> 8 & 0xf; }
static inline uint channel_type(uint format) { return bindless_constant_uint(0, format) >> 16 & 0xff; }
static inline bool aligned(uint format) { return (bindless_constant_uint(0, format) >> 28 & 1) != 0; }
static inline uint element_size(uint format) { return 1u << (0x9a50u >> 2 * element_type(format) & 3); }
static inline uint channel_size(uint format) { return 1u << (0x992444u >> 2 * channel_type(format) & 3); }
static inline bool floating(uint format) { return element_type(format) >= ELEMENT_F16; }
static inline bool signed_element(uint format) { return (element_type(format) & 1) == 0 && !floating(format); }
static inline float largest_code(uint type)
{
return type == UNORM_INT8 ? 255.0f : type == UNORM_INT16 ? 65535.0f : type == SNORM_INT8 ? 127.0f : 32767.0f;
}
static inline bool is_normalized(uint format) { return channel_type(format) <= UNORM_INT16; }
static inline bool unsigned_codes(uint format) { return channel_type(format) == UNORM_INT8 || channel_type(format) == UNORM_INT16; }
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
if (!rounds_away(mode)) return rint(value);
const float magnitude = fabs(value);
if (!(magnitude < 0x1p23f)) return value;
const float whole = (float)(int)magnitude, up = magnitude - whole >= 0.5f ? whole + 1.0f : whole;
return value < 0.0f ? -up : up;
}
static inline __attribute__((always_inline)) uint element_of_value(float value, uint format, uint mode)
{
if (element_type(format) == ELEMENT_F32) return __builtin_astype(value, uint);
if (element_type(format) == ELEMENT_F16) return float_to_half_bits(value);
float largest = largest_element(format), smallest = smallest_element(format);
if (is_normalized(format)) {
const float code = largest_code(channel_type(format));
value *= code;
largest = fmin(largest, code);
smallest = fmax(smallest, unsigned_codes(format) ? 0.0f : -code);
}
if (!(value == value)) return 0;
value = rounded(value, mode);
if (value >= largest) return largest == 0x1p32f ? 0xffffffffu : largest == 0x1p31f ? 0x7fffffffu : (uint)(int)largest;
if (value <= smallest) return smallest == -0x1p31f ? 0x80000000u : (uint)(int)smallest;
return signed_element(format) ? (uint)(int)value : (uint)value;
}
static inline __attribute__((always_inline)) uint4 stored(float4 value, uint format, uint mode)
{
uint4 elements = (uint4)(element_of_value(value.x, format, mode), 0, 0, 0);
const uint channels = value_channels(format);
if (channels > 1) elements.y = element_of_value(value.y, format, mode);
if (channels > 2) elements.z = element_of_value(value.z, format, mode);
if (channels > 3) elements.w = element_of_value(value.w, format, mode);
return elements;
}
static inline uint element_of_double(double value, uint format, uint mode)
{
if (floating(format) || element_size(format) < 4) return element_of_value((float)value, format, mode);
const double largest = signed_element(format) ? 2147483647.0 : 4294967295.0;
const double smallest = signed_element(format) ? -2147483648.0 : 0.0;
const double within = value < smallest ? smallest : value > largest ? largest : value;
const double magnitude = within < 0.0 ? -within : within;
const uint whole = (uint)magnitude;
const double rest = magnitude - (double)whole;
const bool up = rest > 0.5 || (rest == 0.5 && (rounds_away(mode) || (whole & 1) != 0));
const uint bits = up ? whole + 1 : whole;
return within < 0.0 ? -bits : bits;
}
static inline __attribute__((always_inline)) uint4 stored_doubles(double4 value, uint format, uint mode)
{
uint4 elements = (uint4)(element_of_double(value.x, format, mode), 0, 0, 0);
const uint channels = value_channels(format);
if (channels > 1) elements.y = element_of_double(value.y, format, mode);
if (channels > 2) elements.z = element_of_double(value.z, format, mode);
if (channels > 3) elements.w = element_of_double(value.w, format, mode);
return elements;
}
static inline uint element_of_integer(int bits, uint format)
{
if (floating(format)) {
const float value = (float)(uint)bits;
return element_type(format) == ELEMENT_F16 ? float_to_half_bits(value) : __builtin_astype(value, uint);
}
const uint size = 8 * element_size(format);
long value = (long)(uint)bits;
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
struct source {
int size_x, size_y, size_z;
double centre;
double fill;
uint format, mode;
};
static inline __attribute__((always_inline)) color fetched(read_only image2d_t image__bindless_image, sampler_t image__bindless_sampler, uint layer, int x, int y, int z)
{
return __bindless_fetch_sampled_2d_u(image__bindless_image, image__bindless_sampler, ((pixel)(x, y)).x, ((pixel)(x, y)).y);
}
static inline float4 spline_weights_float(float f)
{
const float g = 1 - f, half_ = (float)0.5, sixth = (float)1 / 6, two_thirds = (float)2 / 3;
return (float4)(g * g * g * sixth, two_thirds - f * f * (1 - half_ * f), two_thirds - g * g * (1 - half_ * g),
f * f * f * sixth);
}
static inline float4 convolution_weights_float(float f, float a)
{
const float g = 1 - f;
return (float4)(a * f * g * g, ((a + 2) * f - (a + 3)) * f * f + 1, ((a + 2) * g - (a + 3)) * g * g + 1, a * g * f * f);
}
static inline float4 cubic_weights_float(float f, uint interpolation)
{
if (interpolation == CUBIC) return spline_weights_float(f);
return convolution_weights_float(f, interpolation == CATMULL_ROM ? (float)-0.5 : (float)-0.75);
}
struct taps_float {
int at[4];
float weight[4];
bool inside[4];
};
static inline __attribute__((always_inline)) struct taps_float taps_of_float(double p, int n, uint boundary, uint interpolation, int count)
{
const double from = folded(p, n, boundary);
const struct whole whole = floor_of(from);
int first = whole.index;
const float f = (float)(from - whole.value);
struct taps_float taps;
if (count == 2) {
taps.weight[0] = 1 - f;
taps.weight[1] = f;
} else {
const float4 weights = cubic_weights_float(f, interpolation);
taps.weight[0] = weights.x;
taps.weight[1] = weights.y;
taps.weight[2] = weights.z;
taps.weight[3] = weights.w;
first -= 1;
}
for (int k = 0; k < count; ++k)
{
taps.inside[k] = boundary != BORDER || (first + k >= 0 && first + k < n);
taps.at[k] = index_of(first + k, n, boundary);
}
return taps;
}
struct sums_float {
float4 value, weight;
};
static inline __attribute__((always_inline)) struct sums_float added_float(struct sums_float sum, float weight, float4 value, float4 total,
uint channels, bool ignore)
{
do { (sum).value.x = ((weight) * ((value).x) + ((sum).value.x)); if (ignore) (sum).weight.x = ((weight) * ((total).x) + ((sum).weight.x)); } while (0);
if (channels > 1) do { (sum).value.y = ((weight) * ((value).y) + ((sum).value.y)); if (ignore) (sum).weight.y = ((weight) * ((total).y) + ((sum).weight.y)); } while (0);
if (channels > 2) do { (sum).value.z = ((weight) * ((value).z) + ((sum).value.z)); if (ignore) (sum).weight.z = ((weight) * ((total).z) + ((sum).weight.z)); } while (0);
if (channels > 3) do { (sum).value.w = ((weight) * ((value).w) + ((sum).value.w)); if (ignore) (sum).weight.w = ((weight) * ((total).w) + ((sum).weight.w)); } while (0);
return sum;
}
static inline __attribute__((always_inline)) float4 filtered_float(read_only image2d_t image__bindless_image, sampler_t image__bindless_sampler, uint layer, struct position p, struct source source, int count)
{
const uint mode = source.mode, channels = value_channels(source.format), kind = interpolation(mode);
const bool ignore = ignores_nan(mode);
const int count_y = 2 > 1 ? count : 1, count_z = 2 > 2 ? count : 1;
const struct taps_float missing = {{0}, {1}, {true}};
const struct taps_float x = taps_of_float(p.x, source.size_x, boundary(mode, 0), kind, count);
const struct taps_float y =
2 > 1 ? taps_of_float(p.y, source.size_y, boundary(mode, 1), kind, count) : missing;
const struct taps_float z =
2 > 2 ? taps_of_float(p.z, source.size_z, boundary(mode, 2), kind, count) : missing;
struct sums_float sum = {0, 0};
for (int k = 0; k < count_z; ++k)
{
struct sums_float plane = {0, 0};
for (int j = 0; j < count_y; ++j)
{
struct sums_float row = {0, 0};
const bool inside = y.inside[j] && z.inside[k];
for (int i = 0; i < count; ++i)
{
const color texel = fetched(image__bindless_image, image__bindless_sampler, layer, x.at[i], y.at[j], z.at[k]);
float4 value = convert_float4(texel), counts = 1;
if (!(inside && x.inside[i])) value = (float4)source.fill;
if (ignore) {
counts = (float4)(value.x == value.x ? 1 : 0, value.y == value.y ? 1 : 0, value.z == value.z ? 1 : 0,
value.w == value.w ? 1 : 0);
value = (float4)(value.x == value.x ? value.x : 0, value.y == value.y ? value.y : 0,
value.z == value.z ? value.z : 0, value.w == value.w ? value.w : 0);
}
row = added_float(row, x.weight[i], value, counts, channels, ignore);
}
plane = 2 > 1 ? added_float(plane, y.weight[j], row.value, row.weight, channels, ignore) : row;
}
sum = 2 > 2 ? added_float(sum, z.weight[k], plane.value, plane.weight, channels, ignore) : plane;
}
if (ignore) {
;
sum.value /= sum.weight;
}
return sum.value;
}
static inline double4 spline_weights_double(double f)
{
const double g = 1 - f, half_ = (double)0.5, sixth = (double)1 / 6, two_thirds = (double)2 / 3;
return (double4)(g * g * g * sixth, two_thirds - f * f * (1 - half_ * f), two_thirds - g * g * (1 - half_ * g),
f * f * f * sixth);
}
static inline double4 convolution_weights_double(double f, double a)
{
const double g = 1 - f;
return (double4)(a * f * g * g, ((a + 2) * f - (a + 3)) * f * f + 1, ((a + 2) * g - (a + 3)) * g * g + 1, a * g * f * f);
}
static inline double4 cubic_weights_double(double f, uint interpolation)
{
if (interpolation == CUBIC) return spline_weights_double(f);
return convolution_weights_double(f, interpolation == CATMULL_ROM ? (double)-0.5 : (double)-0.75);
}
struct taps_double {
int at[4];
double weight[4];
bool inside[4];
};
static inline __attribute__((always_inline)) struct taps_double taps_of_double(double p, int n, uint boundary, uint interpolation, int count)
{
const double from = folded(p, n, boundary);
const struct whole whole = floor_of(from);
int first = whole.index;
const double f = (double)(from - whole.value);
struct taps_double taps;
if (count == 2) {
taps.weight[0] = 1 - f;
taps.weight[1] = f;
} else {
const double4 weights = cubic_weights_double(f, interpolation);
taps.weight[0] = weights.x;
taps.weight[1] = weights.y;
taps.weight[2] = weights.z;
taps.weight[3] = weights.w;
first -= 1;
}
for (int k = 0; k < count; ++k)
{
taps.inside[k] = boundary != BORDER || (first + k >= 0 && first + k < n);
taps.at[k] = index_of(first + k, n, boundary);
}
return taps;
}
struct sums_double {
double4 value, weight;
};
static inline __attribute__((always_inline)) struct sums_double added_double(struct sums_double sum, double weight, double4 value, double4 total,
uint channels, bool ignore)
{
do { (sum).value.x = ((weight) * ((value).x) + ((sum).value.x)); if (ignore) (sum).weight.x = ((weight) * ((total).x) + ((sum).weight.x)); } while (0);
if (channels > 1) do { (sum).value.y = ((weight) * ((value).y) + ((sum).value.y)); if (ignore) (sum).weight.y = ((weight) * ((total).y) + ((sum).weight.y)); } while (0);
if (channels > 2) do { (sum).value.z = ((weight) * ((value).z) + ((sum).value.z)); if (ignore) (sum).weight.z = ((weight) * ((total).z) + ((sum).weight.z)); } while (0);
if (channels > 3) do { (sum).value.w = ((weight) * ((value).w) + ((sum).value.w)); if (ignore) (sum).weight.w = ((weight) * ((total).w) + ((sum).weight.w)); } while (0);
return sum;
}
static inline __attribute__((always_inline)) double4 filtered_double(read_only image2d_t image__bindless_image, sampler_t image__bindless_sampler, uint layer, struct position p, struct source source, int count)
{
const uint mode = source.mode, channels = value_channels(source.format), kind = interpolation(mode);
const bool ignore = ignores_nan(mode);
const int count_y = 2 > 1 ? count : 1, count_z = 2 > 2 ? count : 1;
const struct taps_double missing = {{0}, {1}, {true}};
const struct taps_double x = taps_of_double(p.x, source.size_x, boundary(mode, 0), kind, count);
const struct taps_double y =
2 > 1 ? taps_of_double(p.y, source.size_y, boundary(mode, 1), kind, count) : missing;
const struct taps_double z =
2 > 2 ? taps_of_double(p.z, source.size_z, boundary(mode, 2), kind, count) : missing;
struct sums_double sum = {0, 0};
for (int k = 0; k < count_z; ++k)
{
struct sums_double plane = {0, 0};
for (int j = 0; j < count_y; ++j)
{
struct sums_double row = {0, 0};
const bool inside = y.inside[j] && z.inside[k];
for (int i = 0; i < count; ++i)
{
const color texel = fetched(image__bindless_image, image__bindless_sampler, layer, x.at[i], y.at[j], z.at[k]);
double4 value = convert_double4(texel), counts = 1;
if (!(inside && x.inside[i])) value = (double4)source.fill;
if (ignore) {
counts = (double4)(value.x == value.x ? 1 : 0, value.y == value.y ? 1 : 0, value.z == value.z ? 1 : 0,
value.w == value.w ? 1 : 0);
value = (double4)(value.x == value.x ? value.x : 0, value.y == value.y ? value.y : 0,
value.z == value.z ? value.z : 0, value.w == value.w ? value.w : 0);
}
row = added_double(row, x.weight[i], value, counts, channels, ignore);
}
plane = 2 > 1 ? added_double(plane, y.weight[j], row.value, row.weight, channels, ignore) : row;
}
sum = 2 > 2 ? added_double(sum, z.weight[k], plane.value, plane.weight, channels, ignore) : plane;
}
if (ignore) {
;
sum.value /= sum.weight;
}
return sum.value;
}
static inline __attribute__((always_inline)) struct position from_centre(struct position p, double centre)
{
return (struct position){p.x - centre, p.y - centre, p.z - centre};
}
static inline __attribute__((always_inline)) bool is_filled(struct position p, struct source source)
{
return is_beyond(p.x, source.size_x, boundary(source.mode, 0)) ||
(2 > 1 && is_beyond(p.y, source.size_y, boundary(source.mode, 1))) ||
(2 > 2 && is_beyond(p.z, source.size_z, boundary(source.mode, 2)));
}
static inline uint4 filled(struct source source)
{
return stored_doubles((double4)source.fill, source.format, source.mode);
}
static inline int nearest_of(double p, int n, uint boundary)
{
const int i = floor_of(folded(p, n, boundary) + 0.5).index;
return boundary == BORDER && (i < 0 || i >= n) ? -1 : index_of(i, n, boundary);
}
static inline __attribute__((always_inline)) uint4 nearest(read_only image2d_t image__bindless_image, sampler_t image__bindless_sampler, uint layer, struct position p, struct source source)
{
const uint mode = source.mode;
const int x = nearest_of(p.x, source.size_x, boundary(mode, 0));
const int y = 2 > 1 ? nearest_of(p.y, source.size_y, boundary(mode, 1)) : 0;
const int z = 2 > 2 ? nearest_of(p.z, source.size_z, boundary(mode, 2)) : 0;
if (x < 0 || y < 0 || z < 0) return filled(source);
return stored_integers(__builtin_astype(fetched(image__bindless_image, image__bindless_sampler, layer, x, y, z), int4), source.format);
}
static inline __attribute__((always_inline)) uint4 resampled(read_only image2d_t image__bindless_image, sampler_t image__bindless_sampler, uint layer, struct position at, struct source source)
{
const uint kind = interpolation(source.mode);
struct position p = from_centre(at, is_centred(source.mode) ? 0.5 : source.centre);
if (!(is_near(p.x) && is_near(p.y) && is_near(p.z))) {
if (!(is_finite(p.x) && is_finite(p.y) && is_finite(p.z))) return filled(source);
p = (struct position){bounded(p.x), bounded(p.y), bounded(p.z)};
}
if (is_filled(p, source)) return filled(source);
if (kind == NEAREST) return nearest(image__bindless_image, image__bindless_sampler, layer, p, source);
if (channel_size(source.format) == 4) {
if (kind == LINEAR) return stored_doubles(filtered_double(image__bindless_image, image__bindless_sampler, layer, p, source, 2), source.format, source.mode);
return stored_doubles(filtered_double(image__bindless_image, image__bindless_sampler, layer, p, source, 4), source.format, source.mode);
}
if (kind == LINEAR) return stored(filtered_float(image__bindless_image, image__bindless_sampler, layer, p, source, 2), source.format, source.mode);
return stored(filtered_float(image__bindless_image, image__bindless_sampler, layer, p, source, 4), source.format, source.mode);
}
kernel void bindless_resample_fetch_2d_u(read_only image2d_t image__bindless_image, sampler_t image__bindless_sampler, double m00, double m01, double m02, double m03, double m10, double m11, double m12, double m13, double m20, double m21, double m22, double m23, double m30, double m31, double m32, double m33, double centre, global const void *coords, long step, long component, int size_x, int size_y, int size_z, double fill,
global void *values, uint width, uint height, uint depth, uint format, uint mode)
{
const struct map map = {{m00, m01, m02, m03}, {m10, m11, m12, m13}, {m20, m21, m22, m23}, {m30, m31, m32, m33}, centre, coords, step, component};
const struct source source = {size_x, size_y, size_z, centre, fill, format, mode};
const struct values out = values_of(values, element_size(format), value_channels(format), aligned(format));
const struct extent size = {width, height, depth};
do { const ulong rows = (ulong)(size).y * (size).z, count = rows * (size).x; for (ulong i = bindless_global_id(0); i < count; i += bindless_global_size(0)) { const ulong row = count >> 32 ? i / (size).x : (uint)i / (size).x; const uint z = (size).z == 1 ? 0 : (uint)(row / (size).y); const struct element element = {(uint)(i - row * (size).x), (uint)(row - (ulong)z * (size).y), z, i, true}; const struct position arguments = position_of(map, element, mode); const uint4 result = resampled(image__bindless_image, image__bindless_sampler, 0u, arguments, source); store_item(out, (element).number, result, false); } } while (0);
}
