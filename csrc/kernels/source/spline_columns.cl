/* B-spline coefficients along columns: lines of `length` samples, `inner` floats from sample to sample.
 *
 * A work-item filters a segment of a column, chunk by chunk: it reads each sample once, and neighbouring work-items read
 * neighbouring floats. Source and target may be the same memory if a segment is a whole column. */
#include "bindless/device.h"

#include "spline.h"

/* The filter; end: the coefficient after a mirrored line, as a part of its last values. */
struct pole {
    float pole, gain, end;
};

/* The last value of the forward recursion, and the one before. */
struct state {
    float last, before;
};

/* The forward recursion over a chunk, of which the line has the first `rest` samples. */
static inline struct state forwards(float *chunk, global const float *from, ulong stride, uint rest, struct pole of,
                                    struct state state)
{
    if (rest >= CHUNK) {
#define READ(I) chunk[I] = *from, from += stride;
        EACH(READ)
#undef READ
#define STEP(I)                                                                                                        \
    state.before = state.last;                                                                                         \
    state.last = chunk[I] += of.pole * state.last;
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
        state.last = chunk[I] += of.pole * state.last;                                                                 \
    }
    EACH(STEP)
#undef STEP
    return state;
}

/* The value of the backward recursion at the first of the samples; `after` is the one after all. */
static inline float backwards(const float *chunk, uint rest, struct pole of, float after)
{
#define STEP(I) after = I < rest ? of.pole * after + of.gain * chunk[I] : after;
    EACH_BACKWARDS(STEP)
#undef STEP
    return after;
}

static inline void store_backwards(const float *chunk, global float *to, ulong stride, uint rest, struct pole of,
                                   float after)
{
    if (rest >= CHUNK) {
        to += CHUNK * stride;
#define STEP(I) to -= stride, *to = after = of.pole * after + of.gain * chunk[I];
        EACH_BACKWARDS(STEP)
#undef STEP
        return;
    }
#define STEP(I)                                                                                                        \
    if (I < rest) to[I * stride] = after = of.pole * after + of.gain * chunk[I];
    EACH_BACKWARDS(STEP)
#undef STEP
}

/* The state before position `begin`, a multiple of CHUNK. */
static inline struct state state_before(global const float *line, ulong stride, uint begin, uint length, uint boundary,
                                        struct pole of)
{
    float samples[CHUNK];
#define READ(I) samples[I] = line[(begin != 0 ? begin - CHUNK + I : continued(I - (int)CHUNK, length, boundary)) * stride];
    EACH(READ)
#undef READ
    struct state state = {0.0f, 0.0f};
#define STEP(I)                                                                                                        \
    state.before = state.last;                                                                                         \
    state.last = samples[I] + of.pole * state.last;
    EACH(STEP)
#undef STEP
    return state;
}

/* The coefficient of the first sample of a periodic line, before anything is stored. */
static inline float first_of_period(global const float *line, ulong stride, uint length, struct pole of)
{
    float chunk[CHUNK];
    float last = state_before(line, stride, 0, length, REPEAT, of).last;
#define READ(I) chunk[I] = line[(I < length ? I : I % length) * stride];
    EACH(READ)
#undef READ
#define STEP(I) last = chunk[I] += of.pole * last;
    EACH(STEP)
#undef STEP
    return backwards(chunk, CHUNK, of, 0.0f);
}

/* The coefficient after the last sample. */
static inline float after_all(struct state state, uint boundary, struct pole of, float first)
{
    return boundary == MIRROR            ? of.end * (state.before + of.pole * state.last)
           : boundary == MIRRORED_REPEAT ? of.end * state.last
                                         : first;
}

/* Coefficients of positions [begin, end) of a line. */
static inline void filter(global const float *line, global float *result, ulong stride, uint begin, uint end, uint length,
                          uint boundary, struct pole of)
{
    float now[CHUNK], next[CHUNK];
    const float first = boundary == REPEAT && end == length ? first_of_period(line, stride, length, of) : 0.0f;
    struct state state = state_before(line, stride, begin, length, boundary, of);
    state = forwards(now, line + begin * stride, stride, length - begin, of, state);
    for (uint at = begin; at < end; at += CHUNK) {
        const uint rest = length - at;
        float after;
        if (rest > CHUNK) {
            const uint more = rest - CHUNK;
            state = forwards(next, line + (at + CHUNK) * stride, stride, more, of, state);
            after = backwards(next, more, of, more <= CHUNK ? after_all(state, boundary, of, first) : 0.0f);
        } else {
            after = after_all(state, boundary, of, first);
        }
        store_backwards(now, result + at * stride, stride, rest, of, after);
#define STEP(I) now[I] = next[I];
        EACH(STEP)
#undef STEP
    }
}

/* segment: samples of a column for each work-item, a multiple of CHUNK, or length; count: segments of all columns. */
kernel void bindless_spline_columns(global const float *source, global float *target, ulong inner, uint length,
                                    uint segment, uint boundary, float pole, float gain, float end_part, ulong count)
{
    const struct pole of = {pole, gain, end_part};
    const uint segments = (length + segment - 1) / segment;
    for (ulong n = bindless_global_id(0); n < count; n += bindless_global_size(0)) {
        const ulong part = n / inner, line = part / segments;
        const ulong first = line * length * inner + (n - part * inner);
        const uint begin = (uint)(part - line * segments) * segment;
        const uint end = length - begin < segment ? length : begin + segment;
        if (length > 1)
            filter(source + first, target + first, inner, begin, end, length, boundary, of);
        else
            target[first] = source[first];
    }
}
