/* write.cl for OpenCL devices, made by `bindless build`. */
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#endif
#ifdef cl_khr_3d_image_writes
#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable
#endif
static inline ulong __bindless_global_id_0(void) { return get_global_id(0); }
static inline ulong __bindless_global_id_1(void) { return get_global_id(1); }
static inline ulong __bindless_global_id_2(void) { return get_global_id(2); }
static inline ulong __bindless_global_size_0(void) { return get_global_size(0); }
static inline ulong __bindless_global_size_1(void) { return get_global_size(1); }
static inline ulong __bindless_global_size_2(void) { return get_global_size(2); }
static inline __attribute__((overloadable, always_inline)) void __bindless_write_3d_f(write_only image3d_t image, int x, int y, int z, float4 color)
{ if ((uint)x < (uint)get_image_width(image) && (uint)y < (uint)get_image_height(image) && (uint)z < (uint)get_image_depth(image)) write_imagef(image, (int4)(x, y, z, 0), color); }
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
static inline uint4 unpack(uint4 blob, uint size)
{
if (size == 1)
return (uint4)(blob.x & 0xff, blob.x >> 8 & 0xff, blob.x >> 16 & 0xff, blob.x >> 24);
if (size == 2)
return (uint4)(blob.x & 0xffff, blob.x >> 16, blob.y & 0xffff, blob.y >> 16);
return blob;
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
static inline uint4 load_item(struct values values, ulong i)
{
uint4 blob = 0;
switch (values.whole) {
case 16: blob = ((global const uint4 *)values.items)[i]; break;
case 8: blob.xy = ((global const uint2 *)values.items)[i]; break;
case 4: blob.x = ((global const uint *)values.items)[i]; break;
case 2: blob.x = ((global const ushort *)values.items)[i]; break;
case 1: blob.x = ((global const uchar *)values.items)[i]; break;
default: return load_elements(values, i);
}
return unpack(blob, values.size);
}
typedef float4 color;
typedef float3 point;
typedef int3 pixel;
static inline pixel load_pixel(global const void *coords, ulong i, bool aligned)
{
return ((int3)(((global const int *)(coords))[3 * (i)], ((global const int *)(coords))[3 * (i) + 1], ((global const int *)(coords))[3 * (i) + 2]));
}
static inline float half_bits_to_float(uint bits)
{
const ushort stored = (ushort)bits;
return vload_half(0, (const half *)&stored);
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
static inline float decode_code(uint bits, uint type)
{
if (type == UNORM_INT8 || type == UNORM_INT16) return quotient((float)bits, type);
const int code = type == SNORM_INT8 ? (int)(bits << 24) >> 24 : (int)(bits << 16) >> 16;
return fmax(quotient((float)code, type), -1.0f);
}
static inline float4 decode(uint4 channels, uint type)
{
if (type == FP32) return __builtin_astype(channels, float4);
if (type == FP16)
return (float4)(half_bits_to_float(channels.x), half_bits_to_float(channels.y), half_bits_to_float(channels.z),
half_bits_to_float(channels.w));
return (float4)(decode_code(channels.x, type), decode_code(channels.y, type), decode_code(channels.z, type),
decode_code(channels.w, type));
}
typedef color texel;
__attribute__((always_inline)) static inline void write_texel(write_only image3d_t image__bindless_image, uint layer, pixel at, uint4 elements, uint format)
{
const uint type = element_type(format) == ELEMENT_F32 ? FP32 : element_type(format) == ELEMENT_F16 ? FP16 : channel_type(format);
__bindless_write_3d_f(image__bindless_image, (at).x, (at).y, (at).z, decode(elements, type));
}
struct item {
pixel at;
uint layer;
uint4 elements;
};
static inline uint4 widen(uint4 elements, uint format)
{
return elements;
}
kernel void bindless_write_3d_f(write_only image3d_t image__bindless_image, global const void *coords, global void *values, ulong count,
uint format, uint row)
{
const struct values in = values_of(values, element_size(format), value_channels(format), aligned(format));
for (ulong i = bindless_global_id(0); i < (count); i += bindless_global_size(0)) { struct item loaded = {load_pixel(coords, i, aligned(format)), 0u, load_item(in, i)}; struct item result = loaded; ((void)(false), write_texel(image__bindless_image, result.layer, result.at, widen(result.elements, format), format)); };
}
