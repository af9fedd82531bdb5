/* B-spline coefficients along columns: lines of `length` samples, `inner` floats from sample to sample.
 *
 * A work-item filters a segment of a column, chunk by chunk: it reads each sample once, and neighbouring work-items read
 * neighbouring floats. Source and target may be the same memory if a segment is a whole column. */
#include "bindless/device.h"

#include "spline.h"

/* The last value of the forward recursion, and the one before. */
struct state {
    float last, before;
};

/* The forward recursion over a chunk, of which the line has the first `rest` samples. */
static inline struct state forwards(float *chunk, global const float *from, ulong stride, uint rest, struct state state)
{
    if (rest >= CHUNK) {
#define READ(I) chunk[I] = *from, from += stride;
        EACH(READ)
#undef READ
#define STEP(I)                                                                                                        \
    state.before = state.last;                                                                                         \
    state.last = chunk[I] += POLE * state.last;
        EACH(STEP)
#undef STEP
        return state;
    }
#define READ(I) chunk[I] = I < rest ? from[I * stride] : 0.0f;
    EACH(READ)
#undef READ
#define STEP(I)                                                                                                        \
    if (I < rest) {                                                                                                    \
        state.before = state.last;                                                                                     \
        state.last = chunk[I] += POLE * state.last;                                                                    \
    }
    EACH(STEP)
#undef STEP
    return state;
}

/* The value of the backward recursion at the first of the samples; `after` is the one after all. */
static inline float backwards(const float *chunk, uint rest, float after)
{
#define STEP(I) after = I < rest ? POLE * after + GAIN * chunk[I] : after;
    EACH_BACKWARDS(STEP)
#undef STEP
    return after;
}

static inline void store_backwards(const float *chunk, global float *to, ulong stride, uint rest, float after)
{
    if (rest >= CHUNK) {
        to += CHUNK * stride;
#define STEP(I) to -= stride, *to = after = POLE * after + GAIN * chunk[I];
        EACH_BACKWARDS(STEP)
#undef STEP
        return;
    }
#define STEP(I)                                                                                                        \
    if (I < rest) to[I * stride] = after = POLE * after + GAIN * chunk[I];
    EACH_BACKWARDS(STEP)
#undef STEP
}

/* The state before position `begin`, a multiple of CHUNK. */
static inline struct state state_before(global const float *line, ulong stride, uint begin, uint length, uint boundary)
{
    float samples[CHUNK];
#define READ(I) samples[I] = line[(begin != 0 ? begin - CHUNK + I : continued(I - (int)CHUNK, length, boundary)) * stride];
    EACH(READ)
#undef READ
    struct state state = {0.0f, 0.0f};
#define STEP(I)                                                                                                        \
    state.before = state.last;                                                                                         \
    state.last = samples[I] + POLE * state.last;
    EACH(STEP)
#undef STEP
    return state;
}

/* The coefficient of the first sample of a periodic line, before anything is stored. */
static inline float first_of_period(global const float *line, ulong stride, uint length)
{
    float chunk[CHUNK];
    float last = state_before(line, stride, 0, length, REPEAT).last;
#define READ(I) chunk[I] = line[(I < length ? I : I % length) * stride];
    EACH(READ)
#undef READ
#define STEP(I) last = chunk[I] += POLE * last;
    EACH(STEP)
#undef STEP
    return backwards(chunk, CHUNK, 0.0f);
}

/* The coefficient after the last sample. */
static inline float after_all(struct state state, uint boundary, float first)
{
    return boundary == MIRROR            ? 6.0f * POLE / (POLE * POLE - 1.0f) * (state.before + POLE * state.last)
           : boundary == MIRRORED_REPEAT ? 6.0f * POLE / (POLE - 1.0f) * state.last
                                         : first;
}

/* Coefficients of positions [begin, end) of a line. */
static inline void filter(global const float *line, global float *result, ulong stride, uint begin, uint end, uint length,
                          uint boundary)
{
    float now[CHUNK], next[CHUNK];
    const float first = boundary == REPEAT && end == length ? first_of_period(line, stride, length) : 0.0f;
    struct state state = state_before(line, stride, begin, length, boundary);
    state = forwards(now, line + begin * stride, stride, length - begin, state);
    for (uint at = begin; at < end; at += CHUNK) {
        const uint rest = length - at;
        float after;
        if (rest > CHUNK) {
            const uint more = rest - CHUNK;
            state = forwards(next, line + (at + CHUNK) * stride, stride, more, state);
            after = backwards(next, more, more <= CHUNK ? after_all(state, boundary, first) : 0.0f);
        } else {
            after = after_all(state, boundary, first);
        }
        store_backwards(now, result + at * stride, stride, rest, after);
#define STEP(I) now[I] = next[I];
        EACH(STEP)
#undef STEP
    }
}

/* segment: samples of a column for each work-item, a multiple of CHUNK, or length; count: segments of all columns. */
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
