/* spline_columns.cl for OpenCL devices, made by `bindless build`. */
#pragma OPENCL FP_CONTRACT OFF
static inline ulong __bindless_global_id_0(void) { return get_global_id(0); }
static inline ulong __bindless_global_id_1(void) { return get_global_id(1); }
static inline ulong __bindless_global_id_2(void) { return get_global_id(2); }
static inline ulong __bindless_global_size_0(void) { return get_global_size(0); }
static inline ulong __bindless_global_size_1(void) { return get_global_size(1); }
static inline ulong __bindless_global_size_2(void) { return get_global_size(2); }
typedef ulong unsampled_image_handle;
typedef ulong sampled_image_handle;
static inline __attribute__((overloadable, always_inline)) size_t bindless_global_id(uint dimension) { return dimension == 0 ? __bindless_global_id_0() : dimension == 1 ? __bindless_global_id_1() : __bindless_global_id_2(); }
static inline __attribute__((overloadable, always_inline)) size_t bindless_global_size(uint dimension) { return dimension == 0 ? __bindless_global_size_0() : dimension == 1 ? __bindless_global_size_1() : __bindless_global_size_2(); }
enum boundary { MIRROR, MIRRORED_REPEAT, REPEAT };
static inline uint continued(int position, uint n, uint boundary)
{
const uint period = boundary == MIRROR ? 2 * n - 2 : boundary == MIRRORED_REPEAT ? 2 * n : n;
const uint distance = position < 0 ? (uint)-position : (uint)position;
const uint rest = distance < period ? distance : distance % period;
const uint at = position < 0 && rest != 0 ? period - rest : rest;
return at < n ? at : boundary == MIRROR ? period - at : period - 1 - at;
}
struct state {
float last, before;
};
static inline struct state forwards(float *chunk, global const float *from, ulong stride, uint left, struct state state)
{
if (left >= 16u) {
chunk[0] = *from, from += stride; chunk[1] = *from, from += stride; chunk[2] = *from, from += stride; chunk[3] = *from, from += stride; chunk[4] = *from, from += stride; chunk[5] = *from, from += stride; chunk[6] = *from, from += stride; chunk[7] = *from, from += stride; chunk[8] = *from, from += stride; chunk[9] = *from, from += stride; chunk[10] = *from, from += stride; chunk[11] = *from, from += stride; chunk[12] = *from, from += stride; chunk[13] = *from, from += stride; chunk[14] = *from, from += stride; chunk[15] = *from, from += stride;
state.before = state.last; state.last = chunk[0] += (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = chunk[1] += (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = chunk[2] += (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = chunk[3] += (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = chunk[4] += (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = chunk[5] += (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = chunk[6] += (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = chunk[7] += (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = chunk[8] += (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = chunk[9] += (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = chunk[10] += (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = chunk[11] += (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = chunk[12] += (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = chunk[13] += (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = chunk[14] += (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = chunk[15] += (-0.26794919243112270647f) * state.last;
return state;
}
chunk[0] = 0 < left ? from[0 * stride] : 0.0f; chunk[1] = 1 < left ? from[1 * stride] : 0.0f; chunk[2] = 2 < left ? from[2 * stride] : 0.0f; chunk[3] = 3 < left ? from[3 * stride] : 0.0f; chunk[4] = 4 < left ? from[4 * stride] : 0.0f; chunk[5] = 5 < left ? from[5 * stride] : 0.0f; chunk[6] = 6 < left ? from[6 * stride] : 0.0f; chunk[7] = 7 < left ? from[7 * stride] : 0.0f; chunk[8] = 8 < left ? from[8 * stride] : 0.0f; chunk[9] = 9 < left ? from[9 * stride] : 0.0f; chunk[10] = 10 < left ? from[10 * stride] : 0.0f; chunk[11] = 11 < left ? from[11 * stride] : 0.0f; chunk[12] = 12 < left ? from[12 * stride] : 0.0f; chunk[13] = 13 < left ? from[13 * stride] : 0.0f; chunk[14] = 14 < left ? from[14 * stride] : 0.0f; chunk[15] = 15 < left ? from[15 * stride] : 0.0f;
if (0 < left) { state.before = state.last; state.last = chunk[0] += (-0.26794919243112270647f) * state.last; } if (1 < left) { state.before = state.last; state.last = chunk[1] += (-0.26794919243112270647f) * state.last; } if (2 < left) { state.before = state.last; state.last = chunk[2] += (-0.26794919243112270647f) * state.last; } if (3 < left) { state.before = state.last; state.last = chunk[3] += (-0.26794919243112270647f) * state.last; } if (4 < left) { state.before = state.last; state.last = chunk[4] += (-0.26794919243112270647f) * state.last; } if (5 < left) { state.before = state.last; state.last = chunk[5] += (-0.26794919243112270647f) * state.last; } if (6 < left) { state.before = state.last; state.last = chunk[6] += (-0.26794919243112270647f) * state.last; } if (7 < left) { state.before = state.last; state.last = chunk[7] += (-0.26794919243112270647f) * state.last; } if (8 < left) { state.before = state.last; state.last = chunk[8] += (-0.26794919243112270647f) * state.last; } if (9 < left) { state.before = state.last; state.last = chunk[9] += (-0.26794919243112270647f) * state.last; } if (10 < left) { state.before = state.last; state.last = chunk[10] += (-0.26794919243112270647f) * state.last; } if (11 < left) { state.before = state.last; state.last = chunk[11] += (-0.26794919243112270647f) * state.last; } if (12 < left) { state.before = state.last; state.last = chunk[12] += (-0.26794919243112270647f) * state.last; } if (13 < left) { state.before = state.last; state.last = chunk[13] += (-0.26794919243112270647f) * state.last; } if (14 < left) { state.before = state.last; state.last = chunk[14] += (-0.26794919243112270647f) * state.last; } if (15 < left) { state.before = state.last; state.last = chunk[15] += (-0.26794919243112270647f) * state.last; }
return state;
}
static inline float backwards(const float *chunk, uint left, float after)
{
after = 15 < left ? (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[15] : after; after = 14 < left ? (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[14] : after; after = 13 < left ? (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[13] : after; after = 12 < left ? (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[12] : after; after = 11 < left ? (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[11] : after; after = 10 < left ? (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[10] : after; after = 9 < left ? (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[9] : after; after = 8 < left ? (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[8] : after; after = 7 < left ? (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[7] : after; after = 6 < left ? (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[6] : after; after = 5 < left ? (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[5] : after; after = 4 < left ? (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[4] : after; after = 3 < left ? (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[3] : after; after = 2 < left ? (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[2] : after; after = 1 < left ? (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[1] : after; after = 0 < left ? (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[0] : after;
return after;
}
static inline void store_backwards(const float *chunk, global float *to, ulong stride, uint left, float after)
{
if (left >= 16u) {
to += 16u * stride;
to -= stride, *to = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[15]; to -= stride, *to = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[14]; to -= stride, *to = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[13]; to -= stride, *to = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[12]; to -= stride, *to = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[11]; to -= stride, *to = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[10]; to -= stride, *to = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[9]; to -= stride, *to = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[8]; to -= stride, *to = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[7]; to -= stride, *to = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[6]; to -= stride, *to = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[5]; to -= stride, *to = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[4]; to -= stride, *to = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[3]; to -= stride, *to = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[2]; to -= stride, *to = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[1]; to -= stride, *to = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[0];
return;
}
if (15 < left) to[15 * stride] = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[15]; if (14 < left) to[14 * stride] = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[14]; if (13 < left) to[13 * stride] = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[13]; if (12 < left) to[12 * stride] = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[12]; if (11 < left) to[11 * stride] = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[11]; if (10 < left) to[10 * stride] = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[10]; if (9 < left) to[9 * stride] = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[9]; if (8 < left) to[8 * stride] = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[8]; if (7 < left) to[7 * stride] = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[7]; if (6 < left) to[6 * stride] = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[6]; if (5 < left) to[5 * stride] = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[5]; if (4 < left) to[4 * stride] = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[4]; if (3 < left) to[3 * stride] = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[3]; if (2 < left) to[2 * stride] = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[2]; if (1 < left) to[1 * stride] = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[1]; if (0 < left) to[0 * stride] = after = (-0.26794919243112270647f) * after + 1.6076951545867363f * chunk[0];
}
static inline struct state state_before(global const float *line, ulong stride, uint begin, uint length, uint boundary)
{
float samples[16u];
samples[0] = line[(begin != 0 ? begin - 16u + 0 : continued(0 - (int)16u, length, boundary)) * stride]; samples[1] = line[(begin != 0 ? begin - 16u + 1 : continued(1 - (int)16u, length, boundary)) * stride]; samples[2] = line[(begin != 0 ? begin - 16u + 2 : continued(2 - (int)16u, length, boundary)) * stride]; samples[3] = line[(begin != 0 ? begin - 16u + 3 : continued(3 - (int)16u, length, boundary)) * stride]; samples[4] = line[(begin != 0 ? begin - 16u + 4 : continued(4 - (int)16u, length, boundary)) * stride]; samples[5] = line[(begin != 0 ? begin - 16u + 5 : continued(5 - (int)16u, length, boundary)) * stride]; samples[6] = line[(begin != 0 ? begin - 16u + 6 : continued(6 - (int)16u, length, boundary)) * stride]; samples[7] = line[(begin != 0 ? begin - 16u + 7 : continued(7 - (int)16u, length, boundary)) * stride]; samples[8] = line[(begin != 0 ? begin - 16u + 8 : continued(8 - (int)16u, length, boundary)) * stride]; samples[9] = line[(begin != 0 ? begin - 16u + 9 : continued(9 - (int)16u, length, boundary)) * stride]; samples[10] = line[(begin != 0 ? begin - 16u + 10 : continued(10 - (int)16u, length, boundary)) * stride]; samples[11] = line[(begin != 0 ? begin - 16u + 11 : continued(11 - (int)16u, length, boundary)) * stride]; samples[12] = line[(begin != 0 ? begin - 16u + 12 : continued(12 - (int)16u, length, boundary)) * stride]; samples[13] = line[(begin != 0 ? begin - 16u + 13 : continued(13 - (int)16u, length, boundary)) * stride]; samples[14] = line[(begin != 0 ? begin - 16u + 14 : continued(14 - (int)16u, length, boundary)) * stride]; samples[15] = line[(begin != 0 ? begin - 16u + 15 : continued(15 - (int)16u, length, boundary)) * stride];
struct state state = {0.0f, 0.0f};
state.before = state.last; state.last = samples[0] + (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = samples[1] + (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = samples[2] + (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = samples[3] + (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = samples[4] + (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = samples[5] + (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = samples[6] + (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = samples[7] + (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = samples[8] + (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = samples[9] + (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = samples[10] + (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = samples[11] + (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = samples[12] + (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = samples[13] + (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = samples[14] + (-0.26794919243112270647f) * state.last; state.before = state.last; state.last = samples[15] + (-0.26794919243112270647f) * state.last;
return state;
}
static inline float first_of_period(global const float *line, ulong stride, uint length)
{
float chunk[16u];
float last = state_before(line, stride, 0, length, REPEAT).last;
chunk[0] = line[(0 < length ? 0 : 0 % length) * stride]; chunk[1] = line[(1 < length ? 1 : 1 % length) * stride]; chunk[2] = line[(2 < length ? 2 : 2 % length) * stride]; chunk[3] = line[(3 < length ? 3 : 3 % length) * stride]; chunk[4] = line[(4 < length ? 4 : 4 % length) * stride]; chunk[5] = line[(5 < length ? 5 : 5 % length) * stride]; chunk[6] = line[(6 < length ? 6 : 6 % length) * stride]; chunk[7] = line[(7 < length ? 7 : 7 % length) * stride]; chunk[8] = line[(8 < length ? 8 : 8 % length) * stride]; chunk[9] = line[(9 < length ? 9 : 9 % length) * stride]; chunk[10] = line[(10 < length ? 10 : 10 % length) * stride]; chunk[11] = line[(11 < length ? 11 : 11 % length) * stride]; chunk[12] = line[(12 < length ? 12 : 12 % length) * stride]; chunk[13] = line[(13 < length ? 13 : 13 % length) * stride]; chunk[14] = line[(14 < length ? 14 : 14 % length) * stride]; chunk[15] = line[(15 < length ? 15 : 15 % length) * stride];
last = chunk[0] += (-0.26794919243112270647f) * last; last = chunk[1] += (-0.26794919243112270647f) * last; last = chunk[2] += (-0.26794919243112270647f) * last; last = chunk[3] += (-0.26794919243112270647f) * last; last = chunk[4] += (-0.26794919243112270647f) * last; last = chunk[5] += (-0.26794919243112270647f) * last; last = chunk[6] += (-0.26794919243112270647f) * last; last = chunk[7] += (-0.26794919243112270647f) * last; last = chunk[8] += (-0.26794919243112270647f) * last; last = chunk[9] += (-0.26794919243112270647f) * last; last = chunk[10] += (-0.26794919243112270647f) * last; last = chunk[11] += (-0.26794919243112270647f) * last; last = chunk[12] += (-0.26794919243112270647f) * last; last = chunk[13] += (-0.26794919243112270647f) * last; last = chunk[14] += (-0.26794919243112270647f) * last; last = chunk[15] += (-0.26794919243112270647f) * last;
return backwards(chunk, 16u, 0.0f);
}
static inline float after_all(struct state state, uint boundary, float first)
{
return boundary == MIRROR ? 6.0f * (-0.26794919243112270647f) / ((-0.26794919243112270647f) * (-0.26794919243112270647f) - 1.0f) * (state.before + (-0.26794919243112270647f) * state.last)
: boundary == MIRRORED_REPEAT ? 6.0f * (-0.26794919243112270647f) / ((-0.26794919243112270647f) - 1.0f) * state.last
: first;
}
static inline void filter(global const float *line, global float *result, ulong stride, uint begin, uint end, uint length,
uint boundary)
{
float now[16u], next[16u];
const float first = boundary == REPEAT && end == length ? first_of_period(line, stride, length) : 0.0f;
struct state state = state_before(line, stride, begin, length, boundary);
state = forwards(now, line + begin * stride, stride, length - begin, state);
for (uint at = begin; at < end; at += 16u) {
const uint left = length - at;
float after;
if (left > 16u) {
const uint more = left - 16u;
state = forwards(next, line + (at + 16u) * stride, stride, more, state);
after = backwards(next, more, more <= 16u ? after_all(state, boundary, first) : 0.0f);
} else {
after = after_all(state, boundary, first);
}
store_backwards(now, result + at * stride, stride, left, after);
now[0] = next[0]; now[1] = next[1]; now[2] = next[2]; now[3] = next[3]; now[4] = next[4]; now[5] = next[5]; now[6] = next[6]; now[7] = next[7]; now[8] = next[8]; now[9] = next[9]; now[10] = next[10]; now[11] = next[11]; now[12] = next[12]; now[13] = next[13]; now[14] = next[14]; now[15] = next[15];
}
}
kernel void bindless_spline_columns(global const float *source, global float *target, ulong inner, uint length,
uint segment, uint boundary, ulong count)
{
const uint segments = (length + segment - 1) / segment;
for (ulong n = bindless_global_id(0); n < count; n += bindless_global_size(0)) {
const ulong part = n / inner, line = part / segments;
const ulong first = line * length * inner + (n - part * inner);
const uint begin = (uint)(part - line * segments) * segment;
const uint end = length - begin < segment ? length : begin + segment;
if (length > 1)
filter(source + first, target + first, inner, begin, end, length, boundary);
else
target[first] = source[first];
}
}
