/* texture_unit.cl for OpenCL devices, made by `bindless build`. */
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
static inline ulong __bindless_global_id_0(void) { return get_global_id(0); }
static inline ulong __bindless_global_id_1(void) { return get_global_id(1); }
static inline ulong __bindless_global_id_2(void) { return get_global_id(2); }
static inline ulong __bindless_global_size_0(void) { return get_global_size(0); }
static inline ulong __bindless_global_size_1(void) { return get_global_size(1); }
static inline ulong __bindless_global_size_2(void) { return get_global_size(2); }
static inline ulong __bindless_local_id_0(void) { return get_local_id(0); }
static inline ulong __bindless_local_id_1(void) { return get_local_id(1); }
static inline ulong __bindless_local_id_2(void) { return get_local_id(2); }
/* BINDLESS_CONSTANT_0 int 4 */
#ifdef BINDLESS_CONSTANT_0
#define BINDLESS_OR_0(otherwise) BINDLESS_CONSTANT_0
#else
#define BINDLESS_OR_0(otherwise) (otherwise)
#endif
#define bindless_constant_uint(number, otherwise) ((uint)BINDLESS_OR_##number(otherwise))
/* BINDLESS_CONSTANT_1 int 4 */
#ifdef BINDLESS_CONSTANT_1
#define BINDLESS_OR_1(otherwise) BINDLESS_CONSTANT_1
#else
#define BINDLESS_OR_1(otherwise) (otherwise)
#endif
#define bindless_constant_uint(number, otherwise) ((uint)BINDLESS_OR_##number(otherwise))
typedef ulong unsampled_image_handle;
typedef ulong sampled_image_handle;
static inline __attribute__((overloadable, always_inline)) size_t bindless_global_id(uint dimension) { return dimension == 0 ? __bindless_global_id_0() : dimension == 1 ? __bindless_global_id_1() : __bindless_global_id_2(); }
static inline __attribute__((overloadable, always_inline)) size_t bindless_global_size(uint dimension) { return dimension == 0 ? __bindless_global_size_0() : dimension == 1 ? __bindless_global_size_1() : __bindless_global_size_2(); }
static inline __attribute__((overloadable, always_inline)) size_t bindless_local_id(uint dimension) { return dimension == 0 ? __bindless_local_id_0() : dimension == 1 ? __bindless_local_id_1() : __bindless_local_id_2(); }
static inline __attribute__((overloadable, always_inline)) float3 bindless_cube_direction(float3 v)
{
float largest = fmax(fmax(fabs(v.x), fabs(v.y)), fabs(v.z));
float3 w = (float3)(v.x / largest, v.y / largest, v.z / largest);
return (float3)(w.x == w.x ? w.x : 0.0f, w.y == w.y ? w.y : 0.0f, w.z == w.z ? w.z : 0.0f);
}
static inline uint4 unpack(uint4 blob, uint size)
{
if (size == 1)
return (uint4)(blob.x & 0xff, blob.x >> 8 & 0xff, blob.x >> 16 & 0xff, blob.x >> 24);
if (size == 2)
return (uint4)(blob.x & 0xffff, blob.x >> 16, blob.y & 0xffff, blob.y >> 16);
return blob;
}
static inline uint4 pack(uint4 elements, uint size)
{
if (size == 1)
return (uint4)((elements.x & 0xff) | (elements.y & 0xff) << 8 | (elements.z & 0xff) << 16 | elements.w << 24, 0, 0, 0);
if (size == 2)
return (uint4)((elements.x & 0xffff) | elements.y << 16, (elements.z & 0xffff) | elements.w << 16, 0, 0);
return elements;
}
static inline int4 sign_extend(uint4 elements, uint size)
{
uint shift = 32 - 8 * size;
return __builtin_astype(elements << shift, int4) >> (int)shift;
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
static inline uint4 load_elements(struct values values, ulong i)
{
ulong at = i * values.channels;
uint4 elements = 0;
if (values.size == 1) {
global const uchar *in = (global const uchar *)values.items + at;
elements.x = in[0];
if (values.channels > 1) elements.y = in[1];
if (values.channels > 2) elements.z = in[2];
if (values.channels > 3) elements.w = in[3];
} else if (values.size == 2) {
global const ushort *in = (global const ushort *)values.items + at;
elements.x = in[0];
if (values.channels > 1) elements.y = in[1];
if (values.channels > 2) elements.z = in[2];
if (values.channels > 3) elements.w = in[3];
} else {
global const uint *in = (global const uint *)values.items + at;
elements.x = in[0];
if (values.channels > 1) elements.y = in[1];
if (values.channels > 2) elements.z = in[2];
if (values.channels > 3) elements.w = in[3];
}
return elements;
}
typedef uint4 color;
typedef float point;
typedef int pixel;
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
static inline uint image_channels(uint format) { return bindless_constant_uint(0, format) >> 24 & 0xf; }
static inline bool aligned(uint format) { return (bindless_constant_uint(0, format) >> 28 & 1) != 0; }
static inline uint element_size(uint format) { return 1u << (0x9a50u >> 2 * element_type(format) & 3); }
static inline uint channel_size(uint format) { return 1u << (0x992444u >> 2 * channel_type(format) & 3); }
static inline float quotient(float code, uint type)
{
const float high = type == UNORM_INT8 ? 0x1.010102p-8f
: type == UNORM_INT16 ? 0x1.0001p-16f
: type == SNORM_INT8 ? 0x1.020408p-7f
: 0x1.0002p-15f;
const float low = type == UNORM_INT8 ? -0x1.fdfdfep-33f
: type == UNORM_INT16 ? 0x1.0001p-48f
: type == SNORM_INT8 ? 0x1.020408p-35f
: 0x1.0002p-45f;
return fma(code, high, code * low);
}
static inline color mask_channels(color value, uint format)
{
uint channels = image_channels(format);
if (channels < 4) value.w = 0;
if (channels < 3) value.z = 0;
if (channels < 2) value.y = 0;
return value;
}
enum { REPEAT, MIRRORED_REPEAT, CLAMP_TO_EDGE, CLAMP_TO_BORDER };
static inline __attribute__((always_inline)) bool is_linear(uint sampler) { return (sampler & 1) != 0; }
static inline __attribute__((always_inline)) bool blends_levels(uint sampler) { return (sampler >> 1 & 1) != 0; }
static inline __attribute__((always_inline)) bool is_seamless(uint sampler) { return (sampler >> 2 & 1) != 0; }
static inline __attribute__((always_inline)) bool is_normalized(uint sampler) { return (sampler >> 3 & 1) != 0; }
static inline __attribute__((always_inline)) bool filters(uint sampler) { return (sampler >> 4 & 1) != 0; }
static inline __attribute__((always_inline)) bool is_alone(uint sampler) { return (sampler >> 5 & 1) != 0; }
static inline __attribute__((always_inline)) uint addressing(uint sampler, uint axis) { return sampler >> (6 + 2 * axis) & 3; }
static inline __attribute__((always_inline)) uint dimensions(uint sampler) { return sampler >> 12 & 3; }
static inline __attribute__((always_inline)) bool is_cube(uint sampler) { return (sampler >> 14 & 1) != 0; }
static inline __attribute__((always_inline)) bool has_level(uint sampler) { return (sampler >> 15 & 1) != 0; }
static inline __attribute__((always_inline)) bool is_small(uint sampler) { return (sampler >> 16 & 1) != 0; }
typedef int share;
struct axis {
int first, second;
share weight;
};
struct place {
int whole, part;
};
static inline __attribute__((always_inline)) float clean(float x)
{
if (!(fabs(x) >= 0x1p-126f)) return 0.0f;
return fmin(fmax(x, -0x1p30f), 0x1p30f);
}
static inline __attribute__((always_inline)) int clamped(int value, int low, int high) { return value < low ? low : value > high ? high : value; }
static inline __attribute__((always_inline)) float power_of_two(int exponent) { return __builtin_astype((uint)(exponent + 127) << 23, float); }
static inline __attribute__((always_inline)) int fraction_bits(uint extent, bool alone)
{
return extent <= 8192 ? 21 : extent <= (alone ? 65536u : 16384u) ? 22 : 23;
}
static inline __attribute__((always_inline)) int texel_of(uint fraction, uint extent, int bits) { return (int)(((ulong)fraction * extent) >> bits); }
static inline __attribute__((always_inline)) int position_of(uint fraction, uint extent, int bits)
{
return (int)(((ulong)fraction * (256 * extent) + (1u << (bits - 1))) >> bits) - 128;
}
static inline __attribute__((always_inline)) struct place place_of(float coordinate, uint extent, int bits, uint sampler)
{
float x = clean(coordinate);
if (!is_normalized(sampler)) {
x = fmin(fmax(x, -4.0f), (float)(int)extent + 4.0f);
if (!is_linear(sampler)) return (struct place){0, (int)floor(x)};
const float scaled = x * 256.0f, below = floor(scaled);
const int up = scaled != below && scaled >= below + 0.5f ? 1 : 0;
return (struct place){0, (int)below + up - 128};
}
const float u = floor(x * power_of_two(bits)), whole = floor(u * power_of_two(-bits));
const uint fraction = (uint)(int)(u - whole * power_of_two(bits));
return (struct place){(int)whole, is_linear(sampler) ? position_of(fraction, extent, bits)
: texel_of(fraction, extent, bits)};
}
static inline __attribute__((always_inline)) int address(int whole, int part, int n, uint mode)
{
if (mode == REPEAT) return part < 0 ? part + n : part >= n ? part - n : part;
if (mode == MIRRORED_REPEAT) {
int at = ((whole & 1) != 0 ? n : 0) + part;
at = at < 0 ? at + 2 * n : at >= 2 * n ? at - 2 * n : at;
return at >= n ? 2 * n - 1 - at : at;
}
const int at = clamped(whole, -2, 2) * n + part;
if (mode == CLAMP_TO_EDGE) return clamped(at, 0, n - 1);
return at < 0 || at >= n ? (-1) : at;
}
static inline __attribute__((always_inline)) struct axis axis_at(struct place at, uint extent, uint mode, bool linear)
{
const int n = (int)extent;
if (!linear) {
const int only = address(at.whole, at.part, n, mode);
return (struct axis){only, only, 0};
}
if (mode == CLAMP_TO_EDGE) {
at.part = clamped(clamped(at.whole, -2, 2) * (256 * n) + at.part, 0, 256 * (n - 1));
at.whole = 0;
}
return (struct axis){address(at.whole, at.part >> 8, n, mode), address(at.whole, (at.part >> 8) + 1, n, mode),
at.part & 255};
}
static inline __attribute__((always_inline)) struct axis axis_of(float coordinate, uint extent, int bits, uint mode, uint sampler)
{
return axis_at(place_of(coordinate, extent, bits, sampler), extent, mode, is_linear(sampler));
}
struct quad {
uint4 texel[4];
share weight[4];
uint used;
};
static inline __attribute__((always_inline)) int weight_part(int weight, int part) { return (weight * part + 128) >> 8; }
static inline __attribute__((always_inline)) void set_weights(struct quad *quad, int x, int y, int weight)
{
const int right = weight_part(weight, x), left = weight - right;
quad->weight[0] = weight_part(left, 256 - y);
quad->weight[3] = weight_part(right, y);
quad->weight[1] = right - quad->weight[3];
quad->weight[2] = left - quad->weight[0];
quad->used = weight <= 0 ? 0 : 1u | (x != 0 ? 2u : 0u) | (y != 0 ? 4u : 0u) | (x != 0 && y != 0 ? 8u : 0u);
}
static inline __attribute__((always_inline)) void share_corner(struct quad *quad, int corner)
{
int whole = 0;
#pragma unroll

for (int k = 0; k < 4; ++k) whole = k == corner ? quad->weight[k] : whole;
const int third = (85 * whole + 128) >> 8;
#pragma unroll

for (int k = 0; k < 4; ++k)
quad->weight[k] = k == corner ? 0 : quad->weight[k] + (k == 3 - corner ? whole - 2 * third : third);
quad->used = quad->used != 0 ? 15u & ~(1u << corner) : 0;
}
enum { HAS_NAN = 1, HAS_POSITIVE = 2, HAS_NEGATIVE = 4, HAS_NUMBER = 8 };
static inline __attribute__((always_inline)) uint properties(uint bits, bool half_)
{
const uint size = bits & ~0x80000000u;
if (size > 0x7f800000u) return HAS_NAN | HAS_NUMBER;
if (size == 0x7f800000u) return HAS_NUMBER | ((bits & 0x80000000u) != 0 ? HAS_NEGATIVE : HAS_POSITIVE);
const bool vanishes = half_ ? size == 0 : size < 0x00800000u;
return vanishes && (bits & 0x80000000u) != 0 ? 0 : HAS_NUMBER;
}
static inline __attribute__((always_inline)) int exponent_of(uint bits)
{
const int exponent = (int)(bits >> 23 & 255);
return exponent == 255 ? 0 : exponent;
}
struct scale {
int shift;
bool empty;
};
static inline __attribute__((always_inline)) struct scale scale_of(uint4 texel, int4 weight, bool half_)
{
int largest = weight.x != 0 ? exponent_of(texel.x) : 0;
int next = weight.y != 0 ? exponent_of(texel.y) : 0;
largest = next > largest ? next : largest;
next = weight.z != 0 ? exponent_of(texel.z) : 0;
largest = next > largest ? next : largest;
next = weight.w != 0 ? exponent_of(texel.w) : 0;
largest = next > largest ? next : largest;
const int least = half_ ? -13 : -125;
const int exponent = largest - 126 < least ? least : largest - 126;
return (struct scale){(half_ ? 15 : 28) - exponent, largest == 0};
}
static inline __attribute__((always_inline)) uint properties_of(uint4 texel, uint used, bool half_)
{
return ((used & 1) != 0 ? properties(texel.x, half_) : 0) | ((used & 2) != 0 ? properties(texel.y, half_) : 0) |
((used & 4) != 0 ? properties(texel.z, half_) : 0) | ((used & 8) != 0 ? properties(texel.w, half_) : 0);
}
static inline __attribute__((always_inline)) int common_point(int point, bool half_) { return point + (((half_ ? 25 : 38) - point) & 3); }
static inline __attribute__((always_inline)) int next_point(bool is_first, int point, struct scale near, struct scale far, bool half_)
{
const int a = common_point(near.shift + 8, half_), b = common_point(far.shift + 8, half_);
const int level = near.empty ? b : far.empty ? a : a < b ? a : b;
return !is_first && point < level ? point : level;
}
static inline __attribute__((always_inline)) bool is_special(uint seen, uint *bits)
{
const bool both = (seen & (HAS_POSITIVE | HAS_NEGATIVE)) == (HAS_POSITIVE | HAS_NEGATIVE);
*bits = (seen & HAS_NAN) != 0 || both ? 0x7fffffffu
: (seen & HAS_POSITIVE) != 0 ? 0x7f800000u
: (seen & HAS_NEGATIVE) != 0 ? 0x7f800000u | 0x80000000u
: 0x80000000u;
return seen == 0 || (seen & (HAS_NAN | HAS_POSITIVE | HAS_NEGATIVE)) != 0;
}
struct total {
double sum;
struct scale scale;
uint seen;
};
static inline __attribute__((always_inline)) double double_power(int exponent) { return __builtin_astype((ulong)(exponent + 1023) << 52, double); }
static inline __attribute__((always_inline)) double cut(uint bits, int shift)
{
const int exponent = exponent_of(bits), drop = 150 - shift - exponent;
const uint kept = drop <= 0 ? bits : bits & 0xffffffffu << (drop < 24 ? drop : 0);
return (double)__builtin_astype(exponent == 0 || drop > 23 ? 0u : kept, float);
}
static inline __attribute__((always_inline)) struct total quad_total(uint4 texel, int4 weight, uint used, bool half_)
{
const struct scale scale = scale_of(texel, weight, half_);
const double sum = cut(texel.x, scale.shift) * (double)weight.x + cut(texel.y, scale.shift) * (double)weight.y +
(cut(texel.z, scale.shift) * (double)weight.z + cut(texel.w, scale.shift) * (double)weight.w);
return (struct total){sum * 0x1p-8, scale, properties_of(texel, used, half_)};
}
static inline __attribute__((always_inline)) double floored(double value, int point) { return floor(value * double_power(point)) * double_power(-point); }
static inline __attribute__((always_inline)) struct total added(struct total total, struct total near, struct total far, bool half_)
{
const uint seen = total.seen | near.seen | far.seen;
if (near.scale.empty && far.scale.empty) {
total.seen = seen;
return total;
}
const int point = next_point(total.scale.empty, total.scale.shift + 8, near.scale, far.scale, half_);
const double sum = (total.scale.empty ? 0.0 : floored(total.sum, point)) +
(near.scale.empty ? 0.0 : floored(near.sum, point)) +
(far.scale.empty ? 0.0 : floored(far.sum, point));
return (struct total){sum, {point - 8, false}, seen};
}
static inline __attribute__((always_inline)) uint rounded(struct total total, bool half_)
{
uint bits;
if (is_special(total.seen, &bits)) return bits;
if (total.scale.empty || total.sum == 0.0) return 0;
if (!half_) {
bits = __builtin_astype((float)(total.sum * (1.0 + 0x1p-50)), uint);
return (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits;
}
const ulong size = __builtin_astype(total.sum, ulong) & 0x7fffffffffffffffUL;
const int exponent = (int)(size >> 52) - 1022, unit = (exponent < -13 ? -13 : exponent) - 11;
const double steps = floor(__builtin_astype(size, double) * double_power(-unit) + 0.5);
return (total.sum < 0.0 ? 0x80000000u : 0) | __builtin_astype((float)(steps * double_power(unit)), uint);
}
static inline __attribute__((always_inline)) uint normalized_of(int sum, uint type)
{
if (type == UNORM_INT8) return __builtin_astype(quotient((float)((257 * sum + 128) >> 8), UNORM_INT16), uint);
if (type == UNORM_INT16) return __builtin_astype(quotient((float)((sum + 128) >> 8), UNORM_INT16), uint);
if (type == SNORM_INT8) sum = 258 * sum + (sum >> 12) * 32;
const int code = (sum + 128) >> 8;
return __builtin_astype(quotient((float)(code > -32767 ? code : -32767), SNORM_INT16), uint);
}
struct face_point {
int face;
float s, t;
};
static inline __attribute__((always_inline)) struct face_point face_of(float3 direction)
{
float3 w = bindless_cube_direction(direction);
if (w.x == 0.0f && w.y == 0.0f && w.z == 0.0f) w = (float3)(0.0f, 0.0f, 0.0f);
const float x = fabs(w.x), y = fabs(w.y), z = fabs(w.z);
const int axis = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
const float major = axis == 2 ? w.z : axis == 1 ? w.y : w.x;
switch (2 * axis + ((__builtin_astype(major, uint) & 0x80000000u) != 0 ? 1 : 0)) {
case 0: return (struct face_point){0, -w.z, -w.y};
case 1: return (struct face_point){1, w.z, -w.y};
case 2: return (struct face_point){2, w.x, w.z};
case 3: return (struct face_point){3, w.x, -w.z};
case 4: return (struct face_point){4, w.x, -w.y};
default: return (struct face_point){5, -w.x, -w.y};
}
}
static inline __attribute__((always_inline)) uint face_fraction(float s, int bits)
{
const float scale = power_of_two(bits - 1);
return (uint)((int)scale + (int)floor(clean(s) * scale));
}
static inline __attribute__((always_inline)) int3 neighbour_of(int width, int3 at)
{
const int s = 2 * at.x + 1 - width, t = 2 * at.y + 1 - width, face = at.z;
int x, y, z;
switch (face) {
case 0: x = width; y = -t; z = -s; break;
case 1: x = -width; y = -t; z = s; break;
case 2: x = s; y = width; z = t; break;
case 3: x = s; y = -width; z = -t; break;
case 4: x = s; y = -t; z = width; break;
default: x = -s; y = -t; z = -width; break;
}
const int old = face >> 1;
const int axis = z > width || z < -width ? 2 : y > width || y < -width ? 1 : x > width || x < -width ? 0 : old;
if (axis == old) return at;
const int inner = width - 1;
x = axis == 0 ? (x > 0 ? width : -width) : old == 0 ? (x > 0 ? inner : -inner) : x;
y = axis == 1 ? (y > 0 ? width : -width) : old == 1 ? (y > 0 ? inner : -inner) : y;
z = axis == 2 ? (z > 0 ? width : -width) : old == 2 ? (z > 0 ? inner : -inner) : z;
int right, down;
const int onto = 2 * axis + ((axis == 0 ? x : axis == 1 ? y : z) < 0 ? 1 : 0);
switch (onto) {
case 0: right = -z; down = -y; break;
case 1: right = z; down = -y; break;
case 2: right = x; down = z; break;
case 3: right = x; down = -z; break;
case 4: right = x; down = -y; break;
default: right = -x; down = -y; break;
}
return (int3)((right + width - 1) / 2, (down + width - 1) / 2, onto);
}
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
static inline __attribute__((always_inline)) uint halved(uint extent, uint level)
{
const uint size = extent >> level;
return size != 0 ? size : 1;
}
static inline __attribute__((always_inline)) struct level level_of(struct source source, uint number)
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
static inline __attribute__((always_inline)) uint widened(uint bits)
{
const uint sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
if (exponent == 31) return sign | 0x7f800000u | fraction << 13;
if (exponent == 0) return sign | __builtin_astype((float)(int)fraction * 0x1p-24f, uint);
return sign | (exponent + 112) << 23 | fraction << 13;
}
static inline __attribute__((always_inline)) uint4 loaded(global const uchar *at, uint format)
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
static inline __attribute__((always_inline)) uint4 decoded(uint4 channels, uint format)
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
static inline __attribute__((always_inline)) uint4 texel_at(struct source source, struct level level, int x, int y, int slice)
{
const uint pixel = channel_size(source.format) * image_channels(source.format);
const bool outside = (x | y | slice) < 0;
uint4 channels;
if (is_small(source.sampler)) {
const int place = slice * (int)level.slice + y * (int)level.row + x * (int)pixel;
channels = loaded(level.texels + (outside ? 0 : place), source.format);
} else {
const ulong place = (uint)slice * level.slice + (uint)y * level.row + (ulong)(uint)x * pixel;
channels = loaded(level.texels + (outside ? 0 : place), source.format);
}
return decoded(outside ? source.border : channels, source.format);
}
static inline __attribute__((always_inline)) struct quad quad_of(struct source source, struct level level, struct axis x, struct axis y, int slice, share weight)
{
struct quad quad;
quad.texel[0] = texel_at(source, level, x.first, y.first, slice);
quad.texel[1] = texel_at(source, level, x.second, y.first, slice);
quad.texel[2] = texel_at(source, level, x.first, y.second, slice);
quad.texel[3] = texel_at(source, level, x.second, y.second, slice);
set_weights(&quad, x.weight, y.weight, weight);
return quad;
}
struct face_texels {
int face;
struct axis x, y;
};
static inline __attribute__((always_inline)) struct face_texels face_texels_of(float3 direction, uint width, uint sampler)
{
const struct face_point point = face_of(direction);

const int bits = fraction_bits(width, is_alone(sampler));
const uint s = face_fraction(point.s, bits), t = face_fraction(point.t, bits);
if (!is_linear(sampler)) {
const int x = texel_of(s, width, bits), y = texel_of(t, width, bits);
return (struct face_texels){point.face, {x, x, 0}, {y, y, 0}};
}
const int x = position_of(s, width, bits), y = position_of(t, width, bits);
return (struct face_texels){point.face, {x >> 8, (x >> 8) + 1, x & 255}, {y >> 8, (y >> 8) + 1, y & 255}};
}
static inline __attribute__((always_inline)) struct axis within_face(struct axis at, int width, uint axis, uint sampler)
{
const uint mode = addressing(sampler, axis);
if (!is_linear(sampler)) {
const int only = address(0, at.first, width, is_seamless(sampler) || mode == MIRRORED_REPEAT ? CLAMP_TO_EDGE : mode);
return (struct axis){only, only, 0};
}
struct axis taps = {address(0, at.first, width, mode), address(0, at.second, width, mode), at.weight};
if (mode == CLAMP_TO_EDGE && (at.first < 0 || at.second >= width)) taps.weight = 0;
return taps;
}
static inline __attribute__((always_inline)) struct quad seamless_quad(struct source source, struct level level, struct face_texels at, share weight)
{
const int width = (int)level.width;
struct quad quad;
int corner = -1;
set_weights(&quad, at.x.weight, at.y.weight, weight);
#pragma unroll

for (int k = 0; k < 4; ++k)
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
static inline __attribute__((always_inline)) struct quad cube_quad(struct source source, struct level level, float3 direction, share weight)
{
const struct face_texels at = face_texels_of(direction, level.width, source.sampler);
if (is_seamless(source.sampler) && is_linear(source.sampler)) return seamless_quad(source, level, at, weight);
return quad_of(source, level, within_face(at.x, (int)level.width, 0, source.sampler),
within_face(at.y, (int)level.width, 1, source.sampler), at.face, weight);
}
struct item {
float3 at;
uint layer;
};
struct footprint {
struct level level;
struct axis x, y, z;
share near;
bool has_slices;
};
static inline __attribute__((always_inline)) struct footprint footprint_of(struct source source, struct item item, uint number, share weight)
{
const uint sampler = source.sampler, count = dimensions(sampler);
const int none = (int)item.layer;
struct footprint f = {level_of(source, number), {0, 0, 0}, {0, 0, 0}, {none, none, 0}, weight, false};
if (is_cube(sampler)) return f;
uint largest = f.level.width > f.level.height ? f.level.width : f.level.height;
largest = f.level.depth > largest ? f.level.depth : largest;
const int bits = fraction_bits(largest, is_alone(sampler));
f.x = axis_of(item.at.x, f.level.width, bits, addressing(sampler, 0), sampler);
if (count > 1) f.y = axis_of(item.at.y, f.level.height, bits, addressing(sampler, 1), sampler);
if (count > 2) {
f.z = axis_of(item.at.z, f.level.depth, fraction_bits(f.level.depth, is_alone(sampler)), addressing(sampler, 2), sampler);
f.has_slices = is_linear(sampler);
if (f.has_slices) f.near = weight_part(weight, 256 - (f.z.weight));
}
return f;
}
static inline __attribute__((always_inline)) struct quad slice_quad(struct source source, struct footprint f, struct item item, uint number, share weight)
{
if (is_cube(source.sampler)) return cube_quad(source, f.level, item.at, weight);
if (number == 0) return quad_of(source, f.level, f.x, f.y, f.z.first, f.near);
return quad_of(source, f.level, f.x, f.y, f.z.second, weight - f.near);
}
struct levels {
uint first;
share rest;
};
static inline __attribute__((always_inline)) struct levels levels_of(struct source source, float lod, int low, int high)
{
struct levels levels = {0, 0};
if (!has_level(source.sampler) || source.levels < 2) return levels;
const bool blends = blends_levels(source.sampler);

int level = 0;
if (lod == lod)
level = (int)(fmin(fmax(lod, -4096.0f), 4096.0f) * 256.0f);
level = level > high ? high : level;
level = level < low ? low : level;
levels.first = (uint)(blends ? level : level + 128) >> 8;
if (blends) levels.rest = level & 255;
if (levels.first >= source.levels - 1) {
levels.first = source.levels - 1;
levels.rest = 0;
}
return levels;
}
struct sum {
struct total all, near, far;
int codes;
};
typedef struct {
struct sum x, y, z, w;
} sums;
static inline __attribute__((always_inline)) struct sum with_quad(struct sum sum, struct quad quad, uint4 texel, bool is_far, uint type)
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
static inline __attribute__((always_inline)) struct sum with_level(struct sum sum, bool has_one_quad, uint type)
{
const struct total nothing = {0, {0, true}, 0};
if (type == FP32 || type == FP16) sum.all = has_one_quad ? sum.near : added(sum.all, sum.near, sum.far, type == FP16);
sum.far = nothing;
return sum;
}
static inline __attribute__((always_inline)) uint finished(struct sum sum, uint type)
{
if (type == FP32 || type == FP16) return rounded(sum.all, type == FP16);
return type <= UNORM_INT16 ? normalized_of(sum.codes, type) : (uint)((sum.codes + 128) >> 8);
}
static inline __attribute__((always_inline)) uint4 filtered(struct source source, struct item item, struct levels levels)
{
const uint type = channel_type(source.format), channels = image_channels(source.format);
const uint count = levels.rest != 0 ? 2 : 1;
const bool has_one_quad = dimensions(source.sampler) < 3 && !has_level(source.sampler);
sums sum = {{{0, {0, true}, 0}, {0, {0, true}, 0}, {0, {0, true}, 0}, 0}, {{0, {0, true}, 0}, {0, {0, true}, 0}, {0, {0, true}, 0}, 0}, {{0, {0, true}, 0}, {0, {0, true}, 0}, {0, {0, true}, 0}, 0}, {{0, {0, true}, 0}, {0, {0, true}, 0}, {0, {0, true}, 0}, 0}};
for (uint l = 0; l < count; ++l) {
const share weight = l != 0 ? levels.rest : 256 - levels.rest;
const struct footprint f = footprint_of(source, item, levels.first + l, weight);
const uint slices = f.has_slices ? 2 : 1;
for (uint k = 0; k < slices; ++k) {
const struct quad quad = slice_quad(source, f, item, k, weight);
do { sum.x = with_quad(sum.x, quad, (uint4)((quad).texel[0].x, (quad).texel[1].x, (quad).texel[2].x, (quad).texel[3].x), k != 0, type); if (channels > 1) sum.y = with_quad(sum.y, quad, (uint4)((quad).texel[0].y, (quad).texel[1].y, (quad).texel[2].y, (quad).texel[3].y), k != 0, type); if (channels > 2) sum.z = with_quad(sum.z, quad, (uint4)((quad).texel[0].z, (quad).texel[1].z, (quad).texel[2].z, (quad).texel[3].z), k != 0, type); if (channels > 3) sum.w = with_quad(sum.w, quad, (uint4)((quad).texel[0].w, (quad).texel[1].w, (quad).texel[2].w, (quad).texel[3].w), k != 0, type); } while (0);
}
do { sum.x = with_level(sum.x, has_one_quad, type); if (channels > 1) sum.y = with_level(sum.y, has_one_quad, type); if (channels > 2) sum.z = with_level(sum.z, has_one_quad, type); if (channels > 3) sum.w = with_level(sum.w, has_one_quad, type); } while (0);
}
uint4 result = 0;
do { result.x = finished(sum.x, type); if (channels > 1) result.y = finished(sum.y, type); if (channels > 2) result.z = finished(sum.z, type); if (channels > 3) result.w = finished(sum.w, type); } while (0);
return result;
}
static inline __attribute__((always_inline)) uint nearest_value(uint bits, uint type)
{
if (type > UNORM_INT16) return bits;
return __builtin_astype(fmax(quotient((float)(int)bits, type), -1.0f), uint);
}
static inline __attribute__((always_inline)) uint4 nearest(struct source source, struct item item, struct levels levels)
{
const struct footprint f = footprint_of(source, item, levels.first, 256);
const uint4 texel = slice_quad(source, f, item, 0, 256).texel[0];
const uint type = channel_type(source.format);
return (uint4)(nearest_value(texel.x, type), nearest_value(texel.y, type), nearest_value(texel.z, type),
nearest_value(texel.w, type));
}
static inline __attribute__((always_inline)) uint4 elements_of(uint4 bits, uint format)
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
kernel void bindless_texture_unit_f64(global const void *texels, uint pitch, global const void *coords, global const uint *layers, uint layer,
global const float *level, float lod, global void *values, ulong count, uint format, uint mode,
uint width, uint height, uint depth, uint num_layers, uint num_levels, uint low, uint high,
uint border_x, uint border_y, uint border_z, uint border_w)
{
const uint sampler = bindless_constant_uint(1, mode);
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
