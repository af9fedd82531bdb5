/* texture_unit.cl for OpenCL devices, made by `bindless build`. */
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
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
static inline float largest_code(uint type)
{
return type == UNORM_INT8 ? 255.0f : type == UNORM_INT16 ? 65535.0f : type == SNORM_INT8 ? 127.0f : 32767.0f;
}
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
typedef float share;
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
static inline __attribute__((always_inline)) int fraction_bits(uint extent, bool alone)
{
return extent <= 8192 ? 21 : extent <= (alone ? 65536u : 16384u) ? 22 : 23;
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
static inline __attribute__((always_inline)) struct axis axis_of(float coordinate, uint extent, int bits, uint mode, uint sampler)
{
const int n = (int)extent;
float x = clean(coordinate), low = 0.0f, half_ = is_linear(sampler) ? 0.5f : 0.0f;
int whole = 0;
if (is_normalized(sampler)) {
const float nearest = rint(x), rest = x - nearest;
whole = (int)nearest;
x = rest * (float)n;
low = fma(rest, (float)n, -x);
} else {
x = fmin(fmax(x, -4.0f), (float)n + 4.0f);
}
float below = floor(x - half_);
if (!is_linear(sampler)) {
if (x == below && low < 0.0f) below -= 1.0f;
const int only = address(whole, (int)below, n, mode);
return (struct axis){only, only, 0.0f};
}
float weight = x - below - 0.5f + low;
if (weight < 0.0f) {
below -= 1.0f;
weight += 1.0f;
}
return (struct axis){address(whole, (int)below, n, mode), address(whole, (int)below + 1, n, mode), weight};
}
struct quad {
uint4 texel[4];
share weight[4];
uint used;
};
static inline __attribute__((always_inline)) void set_weights(struct quad *quad, float x, float y, float weight)
{
quad->weight[0] = weight * (1.0f - x) * (1.0f - y);
quad->weight[1] = weight * x * (1.0f - y);
quad->weight[2] = weight * (1.0f - x) * y;
quad->weight[3] = weight * x * y;
}
static inline __attribute__((always_inline)) void share_corner(struct quad *quad, int corner)
{
float whole = 0.0f;
#pragma unroll

for (int k = 0; k < 4; ++k) whole = k == corner ? quad->weight[k] : whole;
#pragma unroll

for (int k = 0; k < 4; ++k)
quad->weight[k] = k == corner ? 0.0f : quad->weight[k] + whole * (1.0f / 3.0f);
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
static inline __attribute__((always_inline)) struct axis face_position(float at, float component, float largest, uint width, bool linear)
{
const float half_width = 0.5f * (float)(int)width, middle = half_width - (linear ? 0.5f : 0.0f);
const float size = fabs(largest), error = fma(-at, size, component) / size;
const float high = at * half_width, sum = high + middle;
float low = fma(at, half_width, -high) + (high - (sum - middle));
if (fabs(error) < 0x1p-20f) low += error * half_width;
float below = floor(sum);
if (!linear && sum == below && low < 0.0f) below -= 1.0f;
return (struct axis){(int)below, (int)below + 1, fmin(fmax(sum - below + low, 0.0f), 1.0f)};
}
struct face_texels {
int face;
struct axis x, y;
};
static inline __attribute__((always_inline)) struct face_texels face_texels_of(float3 direction, uint width, uint sampler)
{
const struct face_point point = face_of(direction);
const uint major = (uint)point.face >> 1;
const float largest = major == 0 ? direction.x : major == 1 ? direction.y : direction.z;
const float right = major == 0 ? direction.z : direction.x, down = major == 1 ? direction.z : direction.y;
const bool turned = (point.s < 0.0f) != (right < 0.0f), over = (point.t < 0.0f) != (down < 0.0f);
return (struct face_texels){
point.face, face_position(point.s, turned ? -right : right, largest, width, is_linear(sampler)),
face_position(point.t, over ? -down : down, largest, width, is_linear(sampler))};

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
if (f.has_slices) f.near = ((weight) * (1.0f - (f.z.weight)));
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
float level = lod == lod ? lod : 0.0f;
level = fmax(fmin(level, __builtin_astype(high, float)), __builtin_astype(low, float));
level = fmin(level, (float)(int)(source.levels - 1));
levels.first = (uint)(int)floor(blends ? level : level + 0.5f);
if (blends) levels.rest = level - (float)(int)levels.first;

if (levels.first >= source.levels - 1) {
levels.first = source.levels - 1;
levels.rest = 0;
}
return levels;
}
typedef float4 sums;
static inline __attribute__((always_inline)) float weighted(float weight, uint bits, uint type)
{
if (weight == 0.0f) return 0.0f;
if (type == FP32 || type == FP16) return weight * __builtin_astype(bits, float);
const float code = (float)(int)bits;
const float lowest = type == SNORM_INT8 ? -127.0f : type == SNORM_INT16 ? -32767.0f : code;
return weight * (code < lowest ? lowest : code);
}
static inline __attribute__((always_inline)) float weighted_sum(struct quad quad, uint4 texel, uint type)
{
return weighted(quad.weight[0], texel.x, type) + weighted(quad.weight[1], texel.y, type) +
weighted(quad.weight[2], texel.z, type) + weighted(quad.weight[3], texel.w, type);
}
static inline __attribute__((always_inline)) uint finished(float sum, uint type)
{
if (type <= UNORM_INT16) sum /= largest_code(type);
if (type <= UNORM_INT16 || type == FP16 || type == FP32) return __builtin_astype(sum, uint);
return (uint)(int)floor(sum + 0.5f);
}
static inline __attribute__((always_inline)) uint4 filtered(struct source source, struct item item, struct levels levels)
{
const uint type = channel_type(source.format), channels = image_channels(source.format);
const uint count = levels.rest != 0 ? 2 : 1;
sums sum = 0.0f;
for (uint l = 0; l < count; ++l) {
const share weight = l != 0 ? levels.rest : 1.0f - levels.rest;
const struct footprint f = footprint_of(source, item, levels.first + l, weight);
const uint slices = f.has_slices ? 2 : 1;
for (uint k = 0; k < slices; ++k) {
const struct quad quad = slice_quad(source, f, item, k, weight);
do { sum.x += weighted_sum(quad, (uint4)((quad).texel[0].x, (quad).texel[1].x, (quad).texel[2].x, (quad).texel[3].x), type); if (channels > 1) sum.y += weighted_sum(quad, (uint4)((quad).texel[0].y, (quad).texel[1].y, (quad).texel[2].y, (quad).texel[3].y), type); if (channels > 2) sum.z += weighted_sum(quad, (uint4)((quad).texel[0].z, (quad).texel[1].z, (quad).texel[2].z, (quad).texel[3].z), type); if (channels > 3) sum.w += weighted_sum(quad, (uint4)((quad).texel[0].w, (quad).texel[1].w, (quad).texel[2].w, (quad).texel[3].w), type); } while (0);
}
do { ; if (channels > 1) ; if (channels > 2) ; if (channels > 3) ; } while (0);
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
const struct footprint f = footprint_of(source, item, levels.first, 1.0f);
const uint4 texel = slice_quad(source, f, item, 0, 1.0f).texel[0];
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
kernel void bindless_texture_exact(global const void *texels, uint pitch, global const void *coords, global const uint *layers, uint layer,
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
