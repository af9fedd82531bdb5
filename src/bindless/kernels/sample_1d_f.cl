/* sample.cl for OpenCL devices, made by `bindless build`. */
#pragma OPENCL FP_CONTRACT OFF
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
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
static inline void __bindless_store_once_b128(global void *address, uint4 value) { *(global uint4 *)address = value; }
static inline void __bindless_prefetch(global const void *address) {}
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
static inline point load_point(global const void *coords, ulong i, bool aligned)
{
return (((global const float *)(coords))[i]);
}
static inline void prefetch_point(global const void *coords, ulong i, ulong count)
{
if (i + (1u << 19) < count) __bindless_prefetch((global const float *)coords + i + (1u << 19));
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
static inline uint image_channels(uint format) { return bindless_constant_uint(0, format) >> 24 & 0xf; }
static inline bool aligned(uint format) { return (bindless_constant_uint(0, format) >> 28 & 1) != 0; }
static inline uint element_size(uint format) { return 1u << (0x9a50u >> 2 * element_type(format) & 3); }
static inline uint4 color_to_elements(float4 value, uint format)
{
if (element_type(format) == ELEMENT_F16)
return (uint4)(float_to_half_bits(value.x), float_to_half_bits(value.y), float_to_half_bits(value.z),
float_to_half_bits(value.w));
return __builtin_astype(value, uint4);
}
static inline color mask_channels(color value, uint format)
{
uint channels = image_channels(format);
if (channels < 4) value.w = 0;
if (channels < 3) value.z = 0;
if (channels < 2) value.y = 0;
return value;
}
struct place {
point at;
uint layer;
};
__attribute__((always_inline)) static inline color sample(read_only image1d_t image__bindless_image, sampler_t image__bindless_sampler, struct place place)
{
return __bindless_sample_1d_f(image__bindless_image, image__bindless_sampler, (place.at));
}
static inline bool once(uint format)
{
return false;
}
static inline struct place place_of(global const void *coords, ulong i, uint layer, ulong count, uint format)
{
prefetch_point(coords, i, count);
return (struct place){load_point(coords, i, aligned(format)), layer};
}
static inline void store(struct values out, ulong i, uint4 elements, uint format, bool together)
{
if (once(format))
__bindless_store_once_b128((global uint4 *)out.items + i, elements);
else
store_item(out, i, elements, together);
}
kernel void bindless_sample_1d_f(read_only image1d_t image__bindless_image, sampler_t image__bindless_sampler, global const void *coords, global void *values, ulong count,
uint format, uint row)
{
const struct values out = values_of(values, element_size(format), value_channels(format), aligned(format));
for (ulong i = bindless_global_id(0); i < (count); i += bindless_global_size(0)) { struct place loaded = place_of(coords, i, 0u, count, format); color result = sample(image__bindless_image, image__bindless_sampler, loaded); store(out, i, color_to_elements(mask_channels(result, format), format), format, false); };
}
