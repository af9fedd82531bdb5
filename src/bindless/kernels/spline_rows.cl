/* spline_rows.cl for OpenCL devices, made by `bindless build`. */
#pragma OPENCL FP_CONTRACT OFF
static inline void __bindless_barrier(void) { barrier(CLK_LOCAL_MEM_FENCE); }
static inline ulong __bindless_group_count_0(void) { return get_num_groups(0); }
static inline ulong __bindless_group_count_1(void) { return get_num_groups(1); }
static inline ulong __bindless_group_count_2(void) { return get_num_groups(2); }
static inline ulong __bindless_group_id_0(void) { return get_group_id(0); }
static inline ulong __bindless_group_id_1(void) { return get_group_id(1); }
static inline ulong __bindless_group_id_2(void) { return get_group_id(2); }
static inline ulong __bindless_local_id_0(void) { return get_local_id(0); }
static inline ulong __bindless_local_id_1(void) { return get_local_id(1); }
static inline ulong __bindless_local_id_2(void) { return get_local_id(2); }
typedef ulong unsampled_image_handle;
typedef ulong sampled_image_handle;
static inline __attribute__((overloadable, always_inline)) size_t bindless_local_id(uint dimension) { return dimension == 0 ? __bindless_local_id_0() : dimension == 1 ? __bindless_local_id_1() : __bindless_local_id_2(); }
static inline __attribute__((overloadable, always_inline)) size_t bindless_group_id(uint dimension) { return dimension == 0 ? __bindless_group_id_0() : dimension == 1 ? __bindless_group_id_1() : __bindless_group_id_2(); }
static inline __attribute__((overloadable, always_inline)) size_t bindless_group_count(uint dimension) { return dimension == 0 ? __bindless_group_count_0() : dimension == 1 ? __bindless_group_count_1() : __bindless_group_count_2(); }
static inline __attribute__((overloadable, always_inline)) void bindless_barrier(void) { __bindless_barrier(); }
enum boundary { MIRROR, MIRRORED_REPEAT, REPEAT };
static inline uint continued(int position, uint n, uint boundary)
{
const uint period = boundary == MIRROR ? 2 * n - 2 : boundary == MIRRORED_REPEAT ? 2 * n : n;
const uint distance = position < 0 ? (uint)-position : (uint)position;
const uint rest = distance < period ? distance : distance % period;
const uint at = position < 0 && rest != 0 ? period - rest : rest;
return at < n ? at : boundary == MIRROR ? period - at : period - 1 - at;
}
struct volume {
uint width, height, depth;
uint margin_x, margin_y, margin_z, channels;
bool fills;
};
static inline global const float *source_row(global const float *source, struct volume volume, ulong row)
{
ulong from = row;
if (volume.margin_y != 0 || volume.margin_z != 0) {
const uint rows = volume.height + 2 * volume.margin_y, slices = volume.depth + 2 * volume.margin_z;
const ulong slice = row / rows, array = slice / slices;
const int last_y = (int)volume.height - 1, last_z = (int)volume.depth - 1;
int y = (int)(row - slice * rows) - (int)volume.margin_y, z = (int)(slice - array * slices) - (int)volume.margin_z;
if (volume.fills && (y < 0 || y > last_y || z < 0 || z > last_z)) return 0;
y = y < 0 ? 0 : y > last_y ? last_y : y;
z = z < 0 ? 0 : z > last_z ? last_z : z;
from = (array * volume.depth + (ulong)z) * volume.height + (ulong)y;
}
return source + from * volume.width * volume.channels;
}
kernel void bindless_spline_rows(global const float *source, global float *target, uint width, uint height, uint depth,
uint margin_x, uint margin_y, uint margin_z, uint channels, uint boundary, uint fills,
float fill, ulong rows)
{
local float tile[128u * 3 * (16u + 1)];
const struct volume volume = {width, height, depth, margin_x, margin_y, margin_z, channels, fills != 0};
const uint item = (uint)bindless_local_id(0), length = width + 2 * margin_x;
const uint lanes = 128u / channels, chunks = (length + 16u - 1) / 16u;
const uint across = chunks < lanes ? chunks : lanes, down = lanes / across;
const uint part = 16u * across, parts = (length + part - 1) / part, pitch = (16u + 1) * (across + 2);
const ulong count = (rows + down - 1) / down * parts;
for (ulong n = bindless_group_id(0); n < count; n += bindless_group_count(0)) {
const ulong first_row = n / parts * down;
const uint first = (uint)(n % parts) * part, used = rows - first_row < down ? (uint)(rows - first_row) : down;
for (uint r = 0; r < used; ++r) {
global const float *from = source_row(source, volume, first_row + r);
for (uint i = item; i < (part + 2 * 16u) * channels; i += 128u) {
const uint j = channels == 1 ? i : i / channels, c = i - j * channels;
const int place = (int)(first + j) - (int)16u;
const bool within = place >= 0 && place < (int)length;
int at = (within ? place : length > 1 ? (int)continued(place, length, boundary) : 0) - (int)margin_x;
const bool outside = at < 0 || at >= (int)width;
at = at < 0 ? 0 : at >= (int)width ? (int)width - 1 : at;
tile[(r * channels + c) * pitch + ((j) + (j) / 16u)] =
from == 0 || (volume.fills && outside) ? fill : from[(uint)at * channels + c];
}
}
bindless_barrier();
const uint line = item / across, chunk = item - line * across;
const bool filters = line < used * channels && length > 1;
local float *before = tile + (filters ? line * pitch + chunk * (16u + 1) : 0);
local float *own = before + 16u + 1, *after = own + 16u + 1;
float result[16u], ahead[16u], last = 0.0f;
if (filters) {
last = before[0] + (-0.26794919243112270647f) * last; last = before[1] + (-0.26794919243112270647f) * last; last = before[2] + (-0.26794919243112270647f) * last; last = before[3] + (-0.26794919243112270647f) * last; last = before[4] + (-0.26794919243112270647f) * last; last = before[5] + (-0.26794919243112270647f) * last; last = before[6] + (-0.26794919243112270647f) * last; last = before[7] + (-0.26794919243112270647f) * last; last = before[8] + (-0.26794919243112270647f) * last; last = before[9] + (-0.26794919243112270647f) * last; last = before[10] + (-0.26794919243112270647f) * last; last = before[11] + (-0.26794919243112270647f) * last; last = before[12] + (-0.26794919243112270647f) * last; last = before[13] + (-0.26794919243112270647f) * last; last = before[14] + (-0.26794919243112270647f) * last; last = before[15] + (-0.26794919243112270647f) * last;
last = result[0] = own[0] + (-0.26794919243112270647f) * last; last = result[1] = own[1] + (-0.26794919243112270647f) * last; last = result[2] = own[2] + (-0.26794919243112270647f) * last; last = result[3] = own[3] + (-0.26794919243112270647f) * last; last = result[4] = own[4] + (-0.26794919243112270647f) * last; last = result[5] = own[5] + (-0.26794919243112270647f) * last; last = result[6] = own[6] + (-0.26794919243112270647f) * last; last = result[7] = own[7] + (-0.26794919243112270647f) * last; last = result[8] = own[8] + (-0.26794919243112270647f) * last; last = result[9] = own[9] + (-0.26794919243112270647f) * last; last = result[10] = own[10] + (-0.26794919243112270647f) * last; last = result[11] = own[11] + (-0.26794919243112270647f) * last; last = result[12] = own[12] + (-0.26794919243112270647f) * last; last = result[13] = own[13] + (-0.26794919243112270647f) * last; last = result[14] = own[14] + (-0.26794919243112270647f) * last; last = result[15] = own[15] + (-0.26794919243112270647f) * last;
last = ahead[0] = after[0] + (-0.26794919243112270647f) * last; last = ahead[1] = after[1] + (-0.26794919243112270647f) * last; last = ahead[2] = after[2] + (-0.26794919243112270647f) * last; last = ahead[3] = after[3] + (-0.26794919243112270647f) * last; last = ahead[4] = after[4] + (-0.26794919243112270647f) * last; last = ahead[5] = after[5] + (-0.26794919243112270647f) * last; last = ahead[6] = after[6] + (-0.26794919243112270647f) * last; last = ahead[7] = after[7] + (-0.26794919243112270647f) * last; last = ahead[8] = after[8] + (-0.26794919243112270647f) * last; last = ahead[9] = after[9] + (-0.26794919243112270647f) * last; last = ahead[10] = after[10] + (-0.26794919243112270647f) * last; last = ahead[11] = after[11] + (-0.26794919243112270647f) * last; last = ahead[12] = after[12] + (-0.26794919243112270647f) * last; last = ahead[13] = after[13] + (-0.26794919243112270647f) * last; last = ahead[14] = after[14] + (-0.26794919243112270647f) * last; last = ahead[15] = after[15] + (-0.26794919243112270647f) * last;
last = 0.0f;
last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[15]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[14]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[13]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[12]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[11]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[10]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[9]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[8]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[7]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[6]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[5]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[4]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[3]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[2]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[1]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[0];
last = result[15] = (-0.26794919243112270647f) * last + 1.6076951545867363f * result[15]; last = result[14] = (-0.26794919243112270647f) * last + 1.6076951545867363f * result[14]; last = result[13] = (-0.26794919243112270647f) * last + 1.6076951545867363f * result[13]; last = result[12] = (-0.26794919243112270647f) * last + 1.6076951545867363f * result[12]; last = result[11] = (-0.26794919243112270647f) * last + 1.6076951545867363f * result[11]; last = result[10] = (-0.26794919243112270647f) * last + 1.6076951545867363f * result[10]; last = result[9] = (-0.26794919243112270647f) * last + 1.6076951545867363f * result[9]; last = result[8] = (-0.26794919243112270647f) * last + 1.6076951545867363f * result[8]; last = result[7] = (-0.26794919243112270647f) * last + 1.6076951545867363f * result[7]; last = result[6] = (-0.26794919243112270647f) * last + 1.6076951545867363f * result[6]; last = result[5] = (-0.26794919243112270647f) * last + 1.6076951545867363f * result[5]; last = result[4] = (-0.26794919243112270647f) * last + 1.6076951545867363f * result[4]; last = result[3] = (-0.26794919243112270647f) * last + 1.6076951545867363f * result[3]; last = result[2] = (-0.26794919243112270647f) * last + 1.6076951545867363f * result[2]; last = result[1] = (-0.26794919243112270647f) * last + 1.6076951545867363f * result[1]; last = result[0] = (-0.26794919243112270647f) * last + 1.6076951545867363f * result[0];
}
bindless_barrier();
if (filters) {
own[0] = result[0]; own[1] = result[1]; own[2] = result[2]; own[3] = result[3]; own[4] = result[4]; own[5] = result[5]; own[6] = result[6]; own[7] = result[7]; own[8] = result[8]; own[9] = result[9]; own[10] = result[10]; own[11] = result[11]; own[12] = result[12]; own[13] = result[13]; own[14] = result[14]; own[15] = result[15];
}
bindless_barrier();
const uint end = (length - first < part ? length - first : part) * channels;
for (uint r = 0; r < used; ++r) {
global float *to = target + ((first_row + r) * length + first) * channels;
for (uint i = item; i < end; i += 128u) {
const uint j = channels == 1 ? i : i / channels, c = i - j * channels;
to[i] = tile[(r * channels + c) * pitch + ((j + 16u) + (j + 16u) / 16u)];
}
}
bindless_barrier();
}
}
