/* area.cl for OpenCL devices, made by `bindless build`. */
#pragma OPENCL FP_CONTRACT OFF
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
typedef ulong unsampled_image_handle;
typedef ulong sampled_image_handle;
static inline __attribute__((overloadable, always_inline)) size_t bindless_global_id(uint dimension) { return dimension == 0 ? __bindless_global_id_0() : dimension == 1 ? __bindless_global_id_1() : __bindless_global_id_2(); }
static inline __attribute__((overloadable, always_inline)) size_t bindless_global_size(uint dimension) { return dimension == 0 ? __bindless_global_size_0() : dimension == 1 ? __bindless_global_size_1() : __bindless_global_size_2(); }
static inline __attribute__((overloadable, always_inline)) size_t bindless_local_id(uint dimension) { return dimension == 0 ? __bindless_local_id_0() : dimension == 1 ? __bindless_local_id_1() : __bindless_local_id_2(); }
struct cover {
uint first, last;
uint head, whole, tail;
};
static inline struct cover cover_of(uint i, uint whole, uint total)
{
const uint begin = i * total, end = begin + total;
const uint first = begin / whole, last = (end - 1) / whole;
return (struct cover){first, last, first == last ? total : (first + 1) * whole - begin, whole, end - last * whole};
}
static inline uint parts_of(struct cover cover, uint pixel)
{
return pixel == cover.first ? cover.head : pixel == cover.last ? cover.tail : cover.whole;
}
struct shares {
double head, whole, tail;
};
static inline uint nearest_quotient(ulong sum, ulong divisor)
{
if ((sum | divisor) >> 32 == 0) {
const uint of = (uint)sum, by = (uint)divisor, part = of / by, rest = of - part * by;
return part + (rest > by - rest || (rest == by - rest && (part & 1) != 0) ? 1 : 0);
}
const ulong quotient = sum / divisor, twice = 2 * (sum - quotient * divisor);
return (uint)(quotient + (twice > divisor || (twice == divisor && (quotient & 1) != 0) ? 1 : 0));
}
static inline uint4 nearest_quotients(ulong4 sums, ulong divisor)
{
return (uint4)(nearest_quotient(sums.x, divisor), nearest_quotient(sums.y, divisor),
nearest_quotient(sums.z, divisor), nearest_quotient(sums.w, divisor));
}
static inline uint4 unsigned_codes(uint4 codes, uint flip, uint lowest)
{
codes ^= flip;
return (uint4)(codes.x > lowest ? codes.x : lowest, codes.y > lowest ? codes.y : lowest,
codes.z > lowest ? codes.z : lowest, codes.w > lowest ? codes.w : lowest);
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
enum element { S8, U8, S16, U16, S32, U32, F16, F32, SUM };
typedef ulong4 sums;
typedef ulong sum;
static inline uint size_of(uint type) { return type < S16 ? 1 : type < S32 || type == F16 ? 2 : 4; }
static inline sums load_sums(global const sum *at, uint channels)
{
return (sums)(at[0], channels > 1 ? at[1] : 0, channels > 2 ? at[2] : 0, channels > 3 ? at[3] : 0);
}
static inline void store_sums(global sum *at, uint channels, sums value)
{
at[0] = value.x;
if (channels > 1) at[1] = value.y;
if (channels > 2) at[2] = value.z;
if (channels > 3) at[3] = value.w;
}
static inline uint flip_of(uint type) { return type == S8 ? 0x80 : type == S16 ? 0x8000 : 0; }
static inline sums sum_of_row(global const void *source, struct values pixels, ulong row, uint type, uint lowest,
struct cover x, uint total_x)
{
(void)total_x;
if (type == SUM) {
sums sum = 0;
for (uint i = x.first; i <= x.last; ++i)
sum += (ulong)parts_of(x, i) *
load_sums((global const ulong *)source + (row + i) * pixels.channels, pixels.channels);
return sum;
}
uint4 sum = 0;
for (uint i = x.first; i <= x.last; ++i)
sum += parts_of(x, i) * unsigned_codes(load_item(pixels, row + i), flip_of(type), lowest);
return (sums)(sum.x, sum.y, sum.z, sum.w);
}
static inline uint4 means_of(sums total, uint type, ulong divisor)
{
return nearest_quotients(total, divisor) ^ flip_of(type);
}
kernel void bindless_area_codes(global const void *source, uint from, uint channels, uint length_x, uint length_y, global void *means,
uint to, uint kept, uint size_x, uint size_y, uint size_z, uint whole_x, uint total_x, uint whole_y,
uint total_y, uint whole_z, uint total_z, uint lowest, ulong divisor)
{
const ulong count = (ulong)size_x * size_y * size_z;
const struct values pixels = values_of((global void *)source, from == SUM ? 1 : size_of(from), channels, false);
const struct values results = values_of(means, to == SUM ? 1 : size_of(to), kept, false);
for (ulong n = bindless_global_id(0); n < count; n += bindless_global_size(0)) {
const uint line = (uint)(n / size_x);
const struct cover x = cover_of((uint)(n - (ulong)line * size_x), whole_x, total_x);
const struct cover y = cover_of(line % size_y, whole_y, total_y);
const struct cover z = cover_of(line / size_y, whole_z, total_z);
;
;
sums total = 0;
for (uint k = z.first; k <= z.last; ++k) {
sums of_slice = 0;
for (uint j = y.first; j <= y.last; ++j) {
const ulong row = ((ulong)k * length_y + j) * length_x;
of_slice += (sum) parts_of(y, j) * sum_of_row(source, pixels, row, from, lowest, x, total_x);
}
total += (sum) parts_of(z, k) * of_slice;
}
if (to == SUM)
store_sums((global sum *)means + n * kept, kept, total);
else
store_item(results, n, means_of(total, to, divisor), false);
}
}
