/* resample.cl for OpenCL devices, made by `bindless build`. */
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
static inline __attribute__((overloadable, always_inline)) float4 __bindless_channels(float4 color, int order)
{ if (order == CLK_R || order == CLK_RG || order == CLK_RGB) color.w = 0; return color; }
static inline float __bindless_bounded(float at, int size)
{ const float most = (float)max(1 << (clz(size) - 1), 2 * size); return fmin(fmax(at, -most), most); }
static inline ulong __bindless_global_id_0(void) { return get_global_id(0); }
static inline ulong __bindless_global_id_1(void) { return get_global_id(1); }
static inline ulong __bindless_global_id_2(void) { return get_global_id(2); }
static inline ulong __bindless_global_size_0(void) { return get_global_size(0); }
static inline ulong __bindless_global_size_1(void) { return get_global_size(1); }
static inline ulong __bindless_global_size_2(void) { return get_global_size(2); }
static inline ulong __bindless_local_id_0(void) { return get_local_id(0); }
static inline ulong __bindless_local_id_1(void) { return get_local_id(1); }
static inline ulong __bindless_local_id_2(void) { return get_local_id(2); }
static inline __attribute__((overloadable, always_inline)) float4 __bindless_sample_1d_f(read_only image1d_t image, sampler_t how, float x)
{ return __bindless_channels(read_imagef(image, how, __bindless_bounded(x, get_image_width(image))), get_image_channel_order(image)); }
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
static inline bool rounds_away(uint mode) { return (bindless_constant_uint(1, mode) >> 13 & 1) != 0; }
static inline bool has_vectors(uint mode) { return (bindless_constant_uint(1, mode) >> 14 & 1) != 0; }
static inline bool has_double_vectors(uint mode) { return (bindless_constant_uint(1, mode) >> 15 & 1) != 0; }
static inline bool is_projective(uint mode) { return (bindless_constant_uint(1, mode) >> 16 & 1) != 0; }
static inline bool is_scaled(uint mode) { return (bindless_constant_uint(1, mode) >> 17 & 1) != 0; }
static inline bool is_centred(uint mode) { return (bindless_constant_uint(1, mode) >> 20 & 1) != 0; }
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
typedef float4 color;
typedef float point;
typedef int pixel;
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
if (is_projective(mode)) {
const double w = row_of(map.w[0], map.w[1], map.w[2], map.w[3], x, y, z);
p.x /= w;
}
if (has_vectors(mode)) {
p.x += vector_component(map, element.number, 0, mode);
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
static inline float4 spline_weights_float(float f)
{
const float g = 1 - f, half_ = (float)0.5, sixth = (float)1 / 6, two_thirds = (float)2 / 3;
return (float4)(g * g * g * sixth, two_thirds - f * f * (1 - half_ * f), two_thirds - g * g * (1 - half_ * g),
f * f * f * sixth);
}
struct units {
double shift;
float scale_x, scale_y, scale_z, bias_x, bias_y, bias_z;
};
static inline point in_units(float x, float y, float z, struct units units, uint mode)
{
if (is_scaled(mode)) {
x = x / units.scale_x + units.bias_x;
y = y / units.scale_y + units.bias_y;
z = z / units.scale_z + units.bias_z;
}
return x;
}
static inline point point_of(struct position p, struct units units, uint mode)
{
if (is_centred(mode)) return in_units((float)p.x, (float)p.y, (float)p.z, units, mode);
return in_units((float)(p.x + units.shift), (float)(p.y + units.shift), (float)(p.z + units.shift), units, mode);
}
struct pair {
float weight[2], at[2];
};
static inline __attribute__((always_inline)) struct pair pair_of(double p, double centre)
{
const double from = bounded(p - centre);
const struct whole whole = floor_of(from);
const float first = (float)whole.index;
const float4 w = spline_weights_float((float)(from - whole.value));
const float left = w.x + w.y, right = w.z + w.w;
return (struct pair){{left, right}, {first + (w.y / left - 0.5f), first + (w.w / right + 1.5f)}};
}
static inline float4 added(float4 sum, float weight, float4 value, uint channels)
{
sum.x += weight * value.x;
if (channels > 1) sum.y += weight * value.y;
if (channels > 2) sum.z += weight * value.z;
if (channels > 3) sum.w += weight * value.w;
return sum;
}
static inline __attribute__((always_inline)) float4 spline(read_only image1d_t image__bindless_image, sampler_t image__bindless_sampler, uint layer, struct position p, double centre, struct units units, uint format,
uint mode)
{
const uint channels = value_channels(format);
const struct pair none = {{1.0f, 0.0f}, {0.0f, 0.0f}};
const struct pair x = pair_of(p.x, centre);
const struct pair y = 1 > 1 ? pair_of(p.y, centre) : none;
const struct pair z = 1 > 2 ? pair_of(p.z, centre) : none;
float4 sum = 0.0f;
for (int k = 0; k < (1 > 2 ? 2 : 1); ++k)
{
for (int j = 0; j < (1 > 1 ? 2 : 1); ++j)
{
const point left = in_units(x.at[0], y.at[j], z.at[k], units, mode);
const point right = in_units(x.at[1], y.at[j], z.at[k], units, mode);
const float weight = 1 > 2 ? y.weight[j] * z.weight[k] : 1 > 1 ? y.weight[j] : 1.0f;
const float4 first = __bindless_sample_1d_f(image__bindless_image, image__bindless_sampler, (left));
const float4 second = __bindless_sample_1d_f(image__bindless_image, image__bindless_sampler, (right));
sum = added(sum, weight * x.weight[0], first, channels);
sum = added(sum, weight * x.weight[1], second, channels);
}
}
return sum;
}
kernel void bindless_resample_1d_f(read_only image1d_t image__bindless_image, sampler_t image__bindless_sampler, double m00, double m01, double m02, double m03, double m10, double m11, double m12, double m13, double m20, double m21, double m22, double m23, double m30, double m31, double m32, double m33, double centre, global const void *coords, long step, long component, float scale_x, float scale_y, float scale_z, float bias_x,
float bias_y, float bias_z, global void *values, uint width, uint height, uint depth,
uint format, uint mode)
{
const struct map map = {{m00, m01, m02, m03}, {m10, m11, m12, m13}, {m20, m21, m22, m23}, {m30, m31, m32, m33}, centre, coords, step, component};
const struct units units = {0.5 - centre, scale_x, scale_y, scale_z, bias_x, bias_y, bias_z};
const struct values out = values_of(values, element_size(format), value_channels(format), aligned(format));
const struct extent size = {width, height, depth};
if (interpolation(mode) == CUBIC) {
do { const ulong rows = (ulong)(size).y * (size).z, count = rows * (size).x; for (ulong i = bindless_global_id(0); i < count; i += bindless_global_size(0)) { const ulong row = count >> 32 ? i / (size).x : (uint)i / (size).x; const uint z = (size).z == 1 ? 0 : (uint)(row / (size).y); const struct element element = {(uint)(i - row * (size).x), (uint)(row - (ulong)z * (size).y), z, i, true}; const struct position arguments = position_of(map, element, mode); const color result = spline(image__bindless_image, image__bindless_sampler, 0u, arguments, is_centred(mode) ? 0.5 : centre, units, format, mode); store_item(out, (element).number, stored(result, format, mode), false); } } while (0);
return;
}
do { const ulong rows = (ulong)(size).y * (size).z, count = rows * (size).x; for (ulong i = bindless_global_id(0); i < count; i += bindless_global_size(0)) { const ulong row = count >> 32 ? i / (size).x : (uint)i / (size).x; const uint z = (size).z == 1 ? 0 : (uint)(row / (size).y); const struct element element = {(uint)(i - row * (size).x), (uint)(row - (ulong)z * (size).y), z, i, true}; const point arguments = point_of(position_of(map, element, mode), units, mode); const color result = __bindless_sample_1d_f(image__bindless_image, image__bindless_sampler, (arguments)); store_item(out, (element).number, stored(result, format, mode), false); } } while (0);
}
