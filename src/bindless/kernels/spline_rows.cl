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
static inline long row_start(struct volume volume, ulong row)
{
ulong from = row;
if (volume.margin_y != 0 || volume.margin_z != 0) {
const uint rows = volume.height + 2 * volume.margin_y, slices = volume.depth + 2 * volume.margin_z;
const ulong slice = row / rows, array = slice / slices;
const int last_y = (int)volume.height - 1, last_z = (int)volume.depth - 1;
int y = (int)(row - slice * rows) - (int)volume.margin_y, z = (int)(slice - array * slices) - (int)volume.margin_z;
if (volume.fills && (y < 0 || y > last_y || z < 0 || z > last_z)) return (-1L);
y = y < 0 ? 0 : y > last_y ? last_y : y;
z = z < 0 ? 0 : z > last_z ? last_z : z;
from = (array * volume.depth + (ulong)z) * volume.height + (ulong)y;
}
return (long)(from * volume.width * volume.channels);
}
static inline float sample_at(global const float *source, long start, struct volume volume, uint place, uint channel,
float fill, bool needed)
{
const int last = (int)volume.width - 1, at = (int)(place - volume.margin_x);
const int inside = at < 0 ? 0 : at > last ? last : at;
const bool reads = needed & (start != (-1L)) & ((at == inside) | !volume.fills);
const float sample = source[reads ? start + (long)((uint)inside * volume.channels + channel) : 0];
return reads ? sample : fill;
}
static inline uint reciprocal(uint divisor) { return 0xffffffffu / divisor; }
static inline uint quotient(uint number, uint reciprocal) { return (uint)((ulong)(number + 1) * reciprocal >> 32); }
struct layout {
uint channels, floats, pitch;
uint by_channels, by_floats;
uint rows, samples;
};
struct place {
uint row, within, sample, channel, at;
bool exists;
};
static inline struct place place_of(struct layout layout, uint number)
{
struct place place;
place.row = quotient(number, layout.by_floats);
place.within = number - place.row * layout.floats;
place.sample = quotient(place.within, layout.by_channels);
place.channel = place.within - place.sample * layout.channels;
place.at = (place.row * layout.channels + place.channel) * layout.pitch + ((place.sample + 16u) + (place.sample + 16u) / 16u);
place.exists = (place.row < layout.rows) & (place.sample < layout.samples);
return place;
}
static inline void filter(local const float *before, float *values)
{
local const float *own = before + 16u + 1, *after = own + 16u + 1;
float ahead[16u], last = 0.0f;
last = before[0] + (-0.26794919243112270647f) * last; last = before[1] + (-0.26794919243112270647f) * last; last = before[2] + (-0.26794919243112270647f) * last; last = before[3] + (-0.26794919243112270647f) * last; last = before[4] + (-0.26794919243112270647f) * last; last = before[5] + (-0.26794919243112270647f) * last; last = before[6] + (-0.26794919243112270647f) * last; last = before[7] + (-0.26794919243112270647f) * last; last = before[8] + (-0.26794919243112270647f) * last; last = before[9] + (-0.26794919243112270647f) * last; last = before[10] + (-0.26794919243112270647f) * last; last = before[11] + (-0.26794919243112270647f) * last; last = before[12] + (-0.26794919243112270647f) * last; last = before[13] + (-0.26794919243112270647f) * last; last = before[14] + (-0.26794919243112270647f) * last; last = before[15] + (-0.26794919243112270647f) * last;
last = values[0] = own[0] + (-0.26794919243112270647f) * last; last = values[1] = own[1] + (-0.26794919243112270647f) * last; last = values[2] = own[2] + (-0.26794919243112270647f) * last; last = values[3] = own[3] + (-0.26794919243112270647f) * last; last = values[4] = own[4] + (-0.26794919243112270647f) * last; last = values[5] = own[5] + (-0.26794919243112270647f) * last; last = values[6] = own[6] + (-0.26794919243112270647f) * last; last = values[7] = own[7] + (-0.26794919243112270647f) * last; last = values[8] = own[8] + (-0.26794919243112270647f) * last; last = values[9] = own[9] + (-0.26794919243112270647f) * last; last = values[10] = own[10] + (-0.26794919243112270647f) * last; last = values[11] = own[11] + (-0.26794919243112270647f) * last; last = values[12] = own[12] + (-0.26794919243112270647f) * last; last = values[13] = own[13] + (-0.26794919243112270647f) * last; last = values[14] = own[14] + (-0.26794919243112270647f) * last; last = values[15] = own[15] + (-0.26794919243112270647f) * last;
last = ahead[0] = after[0] + (-0.26794919243112270647f) * last; last = ahead[1] = after[1] + (-0.26794919243112270647f) * last; last = ahead[2] = after[2] + (-0.26794919243112270647f) * last; last = ahead[3] = after[3] + (-0.26794919243112270647f) * last; last = ahead[4] = after[4] + (-0.26794919243112270647f) * last; last = ahead[5] = after[5] + (-0.26794919243112270647f) * last; last = ahead[6] = after[6] + (-0.26794919243112270647f) * last; last = ahead[7] = after[7] + (-0.26794919243112270647f) * last; last = ahead[8] = after[8] + (-0.26794919243112270647f) * last; last = ahead[9] = after[9] + (-0.26794919243112270647f) * last; last = ahead[10] = after[10] + (-0.26794919243112270647f) * last; last = ahead[11] = after[11] + (-0.26794919243112270647f) * last; last = ahead[12] = after[12] + (-0.26794919243112270647f) * last; last = ahead[13] = after[13] + (-0.26794919243112270647f) * last; last = ahead[14] = after[14] + (-0.26794919243112270647f) * last; last = ahead[15] = after[15] + (-0.26794919243112270647f) * last;
last = 0.0f;
last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[15]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[14]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[13]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[12]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[11]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[10]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[9]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[8]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[7]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[6]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[5]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[4]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[3]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[2]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[1]; last = (-0.26794919243112270647f) * last + 1.6076951545867363f * ahead[0];
last = values[15] = (-0.26794919243112270647f) * last + 1.6076951545867363f * values[15]; last = values[14] = (-0.26794919243112270647f) * last + 1.6076951545867363f * values[14]; last = values[13] = (-0.26794919243112270647f) * last + 1.6076951545867363f * values[13]; last = values[12] = (-0.26794919243112270647f) * last + 1.6076951545867363f * values[12]; last = values[11] = (-0.26794919243112270647f) * last + 1.6076951545867363f * values[11]; last = values[10] = (-0.26794919243112270647f) * last + 1.6076951545867363f * values[10]; last = values[9] = (-0.26794919243112270647f) * last + 1.6076951545867363f * values[9]; last = values[8] = (-0.26794919243112270647f) * last + 1.6076951545867363f * values[8]; last = values[7] = (-0.26794919243112270647f) * last + 1.6076951545867363f * values[7]; last = values[6] = (-0.26794919243112270647f) * last + 1.6076951545867363f * values[6]; last = values[5] = (-0.26794919243112270647f) * last + 1.6076951545867363f * values[5]; last = values[4] = (-0.26794919243112270647f) * last + 1.6076951545867363f * values[4]; last = values[3] = (-0.26794919243112270647f) * last + 1.6076951545867363f * values[3]; last = values[2] = (-0.26794919243112270647f) * last + 1.6076951545867363f * values[2]; last = values[1] = (-0.26794919243112270647f) * last + 1.6076951545867363f * values[1]; last = values[0] = (-0.26794919243112270647f) * last + 1.6076951545867363f * values[0];
}
kernel void bindless_spline_rows(global const float *source, global float *target, uint width, uint height, uint depth,
uint margin_x, uint margin_y, uint margin_z, uint channels, uint boundary, uint fills,
float fill, ulong rows)
{
local float tile[(128u * 3 * (16u + 1)) + 128u];
local long starts[128u];
const struct volume volume = {width, height, depth, margin_x, margin_y, margin_z, channels, fills != 0};
const uint item = (uint)bindless_local_id(0), length = width + 2 * margin_x;
const uint lanes = 128u / channels, chunks = (length + 16u - 1) / 16u;
const uint across = chunks < lanes ? chunks : lanes, down = lanes / across;
const uint part = 16u * across, parts = (length + part - 1) / part, pitch = (16u + 1) * (across + 2);
const uint floats = part * channels;
struct layout layout = {channels, floats, pitch, reciprocal(channels), reciprocal(floats), 0, 0};
const ulong count = (rows + down - 1) / down * parts;
for (ulong n = bindless_group_id(0); n < count; n += bindless_group_count(0)) {
const ulong first_row = n / parts * down;
const uint first = (uint)(n % parts) * part;
layout.rows = rows - first_row < down ? (uint)(rows - first_row) : down;
layout.samples = length - first < part ? length - first : part;
if (item < layout.rows) starts[item] = row_start(volume, first_row + item);
bindless_barrier();
const uint copied = layout.rows * floats;
for (uint e = item; e < copied; e += 8u * 128u) {
float samples[8u];
uint at[8u];
{ const struct place place = place_of(layout, e + 0 * 128u); samples[0] = sample_at(source, starts[place.exists ? place.row : 0], volume, first + place.sample, place.channel, fill, place.exists); at[0] = place.exists ? place.at : (128u * 3 * (16u + 1)) + item; } { const struct place place = place_of(layout, e + 1 * 128u); samples[1] = sample_at(source, starts[place.exists ? place.row : 0], volume, first + place.sample, place.channel, fill, place.exists); at[1] = place.exists ? place.at : (128u * 3 * (16u + 1)) + item; } { const struct place place = place_of(layout, e + 2 * 128u); samples[2] = sample_at(source, starts[place.exists ? place.row : 0], volume, first + place.sample, place.channel, fill, place.exists); at[2] = place.exists ? place.at : (128u * 3 * (16u + 1)) + item; } { const struct place place = place_of(layout, e + 3 * 128u); samples[3] = sample_at(source, starts[place.exists ? place.row : 0], volume, first + place.sample, place.channel, fill, place.exists); at[3] = place.exists ? place.at : (128u * 3 * (16u + 1)) + item; } { const struct place place = place_of(layout, e + 4 * 128u); samples[4] = sample_at(source, starts[place.exists ? place.row : 0], volume, first + place.sample, place.channel, fill, place.exists); at[4] = place.exists ? place.at : (128u * 3 * (16u + 1)) + item; } { const struct place place = place_of(layout, e + 5 * 128u); samples[5] = sample_at(source, starts[place.exists ? place.row : 0], volume, first + place.sample, place.channel, fill, place.exists); at[5] = place.exists ? place.at : (128u * 3 * (16u + 1)) + item; } { const struct place place = place_of(layout, e + 6 * 128u); samples[6] = sample_at(source, starts[place.exists ? place.row : 0], volume, first + place.sample, place.channel, fill, place.exists); at[6] = place.exists ? place.at : (128u * 3 * (16u + 1)) + item; } { const struct place place = place_of(layout, e + 7 * 128u); samples[7] = sample_at(source, starts[place.exists ? place.row : 0], volume, first + place.sample, place.channel, fill, place.exists); at[7] = place.exists ? place.at : (128u * 3 * (16u + 1)) + item; }
tile[at[0]] = samples[0]; tile[at[1]] = samples[1]; tile[at[2]] = samples[2]; tile[at[3]] = samples[3]; tile[at[4]] = samples[4]; tile[at[5]] = samples[5]; tile[at[6]] = samples[6]; tile[at[7]] = samples[7];
}
const uint around = 2 * 16u + (part - layout.samples);
for (uint e = item; e < layout.rows * channels * around; e += 128u) {
const uint line = e / around, k = e - line * around, row = line / channels;
const uint j = k < 16u ? k : k + layout.samples;
const int position = (int)(first + j) - (int)16u;
const bool within = position >= 0 && position < (int)length;
const uint place = within ? (uint)position : length > 1 ? continued(position, length, boundary) : 0;
tile[line * pitch + ((j) + (j) / 16u)] =
sample_at(source, starts[row], volume, place, line - row * channels, fill, true);
}
bindless_barrier();
const uint line = item / across, chunk = item - line * across;
const bool filters = line < layout.rows * channels && length > 1;
local float *before = tile + (filters ? line * pitch + chunk * (16u + 1) : 0), *own = before + 16u + 1;
float values[16u];
if (filters) filter(before, values);
bindless_barrier();
if (filters) {
own[0] = values[0]; own[1] = values[1]; own[2] = values[2]; own[3] = values[3]; own[4] = values[4]; own[5] = values[5]; own[6] = values[6]; own[7] = values[7]; own[8] = values[8]; own[9] = values[9]; own[10] = values[10]; own[11] = values[11]; own[12] = values[12]; own[13] = values[13]; own[14] = values[14]; own[15] = values[15];
}
bindless_barrier();
global float *to = target + (first_row * length + first) * channels;
for (uint e = item; e < copied; e += 128u) {
const struct place place = place_of(layout, e);
if (place.exists) to[(ulong)place.row * length * channels + place.within] = tile[place.at];
}
bindless_barrier();
}
}
