/* Samples of textures in memory and their derivatives: OPERATION of gradient_call.h, for filters of TAPS texels along each of
 * DIMENSIONS axes, or of a CUBE's faces. One or several neighbouring work-items compute a sample, each some of its channels; the second dimension
 * of the launch counts textures. */
#include "gradient_call.h"
#include "gradient_memory.h"
#include "gradient_taps.h"
#if CUBE
#include "gradient_cube.h"
#define COMPONENTS 3
#else
#define COMPONENTS DIMENSIONS
#endif

#if DIMENSIONS == 1
#define ALL TAPS
#elif DIMENSIONS == 2
#define ALL (TAPS * TAPS)
#else
#define ALL (TAPS * TAPS * TAPS)
#endif

#if TAPS < 4 || OPERATION == FORWARD /* derivatives of 64 taps would be too large */
#define EVERY_TAP UNROLLED
#else
#define EVERY_TAP
#endif

/* A loop over the taps (x, y, z), whose number is k. */
#define FOR_TAPS                                                                                                       \
    EVERY_TAP for (int z = 0; z < (DIMENSIONS > 2 ? TAPS : 1); ++z)                                                    \
        EVERY_TAP for (int y = 0; y < (DIMENSIONS > 1 ? TAPS : 1); ++y)                                                \
            EVERY_TAP for (int x = 0, k = (z * TAPS + y) * TAPS; x < TAPS; ++x, ++k)

/* Channels that a work-item computes at a time. */
#define CHUNK 4

struct sample {
    float at[3], cot[3];                  /* position in level 0, cotangent of the position */
    float cot_level, level, rest, moves;  /* levels below, fraction above, derivative of the fraction */
#if CUBE
    struct cube cube;
#endif
};

/* The taps of a sample in one level. */
struct taps {
    struct axis axis[DIMENSIONS];
    uint level;
    float part, gain;                     /* weight of the level, and its derivative */
    float cot[DIMENSIONS];
    float weight[ALL];
#if OPERATION == BACKWARD_BACKWARD
    float push[ALL];                      /* derivative of the weight along the cotangents */
#endif
#if CUBE
    struct cube_taps cube;
#endif
};

struct result {
    float coordinate[3], level;
    float first[2];                       /* BACKWARD's gradients of positions, for the second derivative of a CUBE's map */
};

INLINED long offset_at(const struct taps *taps, int x, int y, int z, const long *strides, uint mode)
{
#if CUBE
    const int k = y * TAPS + x;
    return taps->cube.column[k] * strides[1] + taps->cube.row[k] * strides[2] + taps->cube.side[k] * strides[3];
#else
    const int i = taps->axis[0].index[x];
#if DIMENSIONS > 1
    const int j = taps->axis[1].index[y];
#endif
#if DIMENSIONS > 2
    const int l = taps->axis[2].index[z];
#endif
    if (is_near(mode)) {
        int near = i * (int)strides[1];
#if DIMENSIONS > 1
        near += j * (int)strides[2];
#endif
#if DIMENSIONS > 2
        near += l * (int)strides[3];
#endif
        return near;
    }
    long far = i * strides[1];
#if DIMENSIONS > 1
    far += j * strides[2];
#endif
#if DIMENSIONS > 2
    far += l * strides[3];
#endif
    return far;
#endif
}

INLINED bool is_outside(const struct taps *taps, int x, int y, int z)
{
#if CUBE
    return false;
#else
    int all = taps->axis[0].index[x];
#if DIMENSIONS > 1
    all |= taps->axis[1].index[y];
#endif
#if DIMENSIONS > 2
    all |= taps->axis[2].index[z];
#endif
    return all < 0;
#endif
}

#define U taps->axis[0].weight[x]
#define SLOPE_U taps->axis[0].slope[x]
#define CURVE_U taps->axis[0].curve[x]
#if DIMENSIONS > 1
#define V taps->axis[1].weight[y]
#define SLOPE_V taps->axis[1].slope[y]
#define CURVE_V taps->axis[1].curve[y]
#define COT_V taps->cot[1]
#else
#define V 1.0f
#define SLOPE_V 0.0f
#define CURVE_V 0.0f
#define COT_V 0.0f
#endif
#if DIMENSIONS > 2
#define W taps->axis[2].weight[z]
#define SLOPE_W taps->axis[2].slope[z]
#define CURVE_W taps->axis[2].curve[z]
#define COT_W taps->cot[2]
#else
#define W 1.0f
#define SLOPE_W 0.0f
#define CURVE_W 0.0f
#define COT_W 0.0f
#endif

/* The taps in the level at or above the sample's. */
INLINED void find_level(struct taps *taps, const struct call *call, const struct sample *sample, int above, uint mode)
{
    const bool mixed = between(mode) == BETWEEN_LINEAR;
    taps->level = between(mode) == BETWEEN_NONE ? 0 : (uint)sample->level + above;
    taps->part = !mixed ? 1.0f : above ? sample->rest : 1.0f - sample->rest;
    taps->gain = !mixed ? 0.0f : above ? sample->moves : -sample->moves;
    const struct level *level = &call->levels[taps->level];
    UNROLLED for (uint a = 0; a < DIMENSIONS; ++a)
    {
        const int n = (int)level->size[a];
        float at = sample->at[a], ratio = 1.0f;
        if (between(mode) != BETWEEN_NONE) {
            ratio = (float)n / (float)call->levels[0].size[a];
            if (taps->level != 0) at = (at + 0.5f) * ratio - 0.5f;
        }
        taps->axis[a].chain = ratio;
#if CUBE
        find_cube_axis(&taps->axis[a], at, n);
#else
        find_taps(&taps->axis[a], at, n, a, mode);
#endif
        taps->cot[a] = sample->cot[a] * taps->axis[a].chain;
    }
    FOR_TAPS {
        taps->weight[k] = W * V * U * taps->part;
#if OPERATION == BACKWARD_BACKWARD
        const float along = taps->cot[0] * SLOPE_U * V * W + COT_V * U * SLOPE_V * W + COT_W * U * V * SLOPE_W;
        taps->push[k] = along * taps->part + sample->cot_level * taps->gain * (U * V * W);
#endif
    }
#if CUBE
    find_cube_texels(&taps->cube, taps->axis, (int)level->size[0], sample->cube.face);
    spread_corner(taps->cube.corner, taps->weight);
#if OPERATION == BACKWARD_BACKWARD
    spread_corner(taps->cube.corner, taps->push);
#endif
#endif
}

/* Adds one addend to the gradient of a texel. */
INLINED void scatter(const struct call *call, uint level, long offset, float value, float *largest, uint mode)
{
    if (scatter_kind(mode) == SCATTER_ADD) {
        add_float((global float *)call->levels[level].gradients.first + offset, value);
    } else if (scatter_kind(mode) == SCATTER_MEASURE) {
        const float size = value < 0.0f ? -value : value;
        *largest = size <= *largest ? *largest : size; /* not-a-number stays */
    } else {
        const uint bits = *(global const uint *)call->largest;
        if (bits == 0 || bits >= 0x7f800000u) { /* the sum is 0, or not a number */
            if (bits != 0) add_float((global float *)call->levels[level].gradients.first + offset, value);
            return;
        }
        add_integer((global ulong *)call->sums[level] + offset, (long)__builtin_elementwise_roundeven((double)value * power_of_two(-exponent_of(bits))));
    }
}

/* The gradients of position and level of one level, from sums over channels. */
INLINED void contract(const struct taps *taps, const struct sample *sample, float *dot, float *cot_dot, struct result *result)
{
#if CUBE
    complete_corner(taps->cube.corner, dot);
    complete_corner(taps->cube.corner, cot_dot);
#endif
    float grad[3] = {0.0f, 0.0f, 0.0f};
    FOR_TAPS {
        const float q = dot[k], p = taps->part;
        const float du = SLOPE_U * V * W, dv = U * SLOPE_V * W, dw = U * V * SLOPE_W, gain = U * V * W * taps->gain;
#if OPERATION == BACKWARD
        grad[0] += du * p != 0.0f ? du * p * q : 0.0f;
        grad[1] += dv * p != 0.0f ? dv * p * q : 0.0f;
        grad[2] += dw * p != 0.0f ? dw * p * q : 0.0f;
        result->level += gain != 0.0f ? gain * q : 0.0f;
#else
        const float a = taps->cot[0], b = COT_V, c = COT_W, h = sample->cot_level * taps->gain, r = cot_dot[k];
        const float along = taps->gain * (a * du + b * dv + c * dw);
        const float of_u = p * (a * CURVE_U * V * W + b * SLOPE_U * SLOPE_V * W + c * SLOPE_U * V * SLOPE_W) + h * du;
        const float of_v = p * (a * SLOPE_U * SLOPE_V * W + b * U * CURVE_V * W + c * U * SLOPE_V * SLOPE_W) + h * dv;
        const float of_w = p * (a * SLOPE_U * V * SLOPE_W + b * U * SLOPE_V * SLOPE_W + c * U * V * CURVE_W) + h * dw;
        grad[0] += (of_u != 0.0f ? of_u * q : 0.0f) + (p * du != 0.0f ? p * du * r : 0.0f);
        grad[1] += (of_v != 0.0f ? of_v * q : 0.0f) + (p * dv != 0.0f ? p * dv * r : 0.0f);
        grad[2] += (of_w != 0.0f ? of_w * q : 0.0f) + (p * dw != 0.0f ? p * dw * r : 0.0f);
        result->level += (along != 0.0f ? along * q : 0.0f) + (gain != 0.0f ? gain * r : 0.0f);
        if (CUBE) result->first[0] += p * du != 0.0f ? p * du * q * taps->axis[0].chain : 0.0f;
        if (CUBE) result->first[1] += p * dv != 0.0f ? p * dv * q * taps->axis[1].chain : 0.0f;
#endif
    }
    UNROLLED for (uint a = 0; a < DIMENSIONS; ++a) result->coordinate[a] += grad[a] * taps->axis[a].chain;
}

/* Whether the j-th channel of a chunk is none of the texture. */
INLINED bool is_beyond(const struct call *call, uint channel, uint j, uint mode)
{
    return is_single(mode) ? j != 0 : channel >= call->channels;
}

/* Up to CHUNK channels in one level: values, sums over channels, gradients of texels. */
INLINED void run_channels(const struct call *call, const struct taps *taps, ulong texture, uint channel, uint step,
                          const float *gradient, float *value, float *dot, float *cot_dot, float *largest, uint mode)
{
    const struct level *level = &call->levels[taps->level];
    const bool dots = OPERATION != FORWARD && (wants_coordinates(mode) || wants_level(mode));
    const bool reads = OPERATION == FORWARD || dots || (OPERATION == BACKWARD_BACKWARD && wants_values(mode));
    const bool cotangents = OPERATION == BACKWARD_BACKWARD && reads && level->cotangents.first != 0;
    const float fill = (float)call->fill;
    FOR_TAPS {
        const bool outside = is_outside(taps, x, y, z);
#if OPERATION == BACKWARD_BACKWARD
        const float weight = taps->push[k];
#else
        const float weight = taps->weight[k];
#endif
        const long texel = texture * level->texels.strides[4] + offset_at(taps, x, y, z, level->texels.strides, mode);
        const long to = texture * level->gradients.strides[4] + offset_at(taps, x, y, z, level->gradients.strides, mode);
        const long cot = texture * level->cotangents.strides[4] + offset_at(taps, x, y, z, level->cotangents.strides, mode);
        UNROLLED for (uint j = 0; j < CHUNK; ++j)
        {
            const uint c = channel + j * step;
            if (is_beyond(call, c, j, mode)) continue;
            if (reads) {
                float t = fill;
                if (!outside) t = number_at(level->texels.first, texel + c * level->texels.strides[0], has_half_texels(mode));
                if (OPERATION != BACKWARD) value[j] += weight != 0.0f ? weight * t : 0.0f;
                if (dots) dot[k] += gradient[j] * t;
            }
            if (cotangents && !outside) {
                const float t = number_at(level->cotangents.first, cot + c * level->cotangents.strides[0], has_half_texels(mode));
                value[j] += taps->weight[k] != 0.0f ? taps->weight[k] * t : 0.0f;
                if (dots) cot_dot[k] += gradient[j] * t;
            }
            if (OPERATION != FORWARD && scatter_kind(mode) != SCATTER_NONE && !outside && weight != 0.0f)
                scatter(call, taps->level, to + c * level->gradients.strides[0], weight * gradient[j], largest, mode);
        }
    }
}

INLINED long place_of(const struct strided *array, ulong item, ulong texture, int last)
{
    return (long)item * array->strides[last] + (long)texture * array->strides[last + 1];
}

INLINED struct sample sample_of(const struct call *call, ulong item, ulong texture, uint mode)
{
    struct sample sample;
    sample.cot_level = sample.level = sample.rest = sample.moves = 0.0f;
    const struct strided *from = &call->coordinates, *cot = &call->cot_coordinates;
    UNROLLED for (uint a = 0; a < COMPONENTS; ++a)
    {
        const float scale = CUBE ? 1.0f : (float)call->scale[a];
        const float at = number_at(from->first, place_of(from, item, texture, 1) + a * from->strides[0], false);
        sample.at[a] = CUBE ? at : (at + (float)call->shift) * scale + (float)call->offset[a];
        sample.cot[a] = 0.0f;
        if (OPERATION == BACKWARD_BACKWARD && cot->first != 0)
            sample.cot[a] = number_at(cot->first, place_of(cot, item, texture, 1) + a * cot->strides[0], false) * scale;
    }
    if (OPERATION == BACKWARD_BACKWARD && call->cot_level.first != 0)
        sample.cot_level = number_at(call->cot_level.first, place_of(&call->cot_level, item, texture, 0), false);
#if CUBE
    sample.cube = begin_cube(sample.at, sample.cot, call->levels[0].size[0]);
#endif
    if (between(mode) != BETWEEN_NONE && call->level.first != 0) {
        const float most = (float)(call->num_levels - 1);
        const float level = number_at(call->level.first, place_of(&call->level, item, texture, 0), false);
        const float above = level > 0.0f ? level : 0.0f, within = above < most ? above : most;
        const bool is_linear = between(mode) == BETWEEN_LINEAR;
        sample.level = floor_of(is_linear ? within : within + 0.5f);
        sample.rest = is_linear ? within - sample.level : 0.0f;
        sample.moves = is_linear && within > 0.0f && within < most ? 1.0f : 0.0f;
    }
    return sample;
}

INLINED void run_sample(const struct call *call, ulong item, ulong texture, uint lane, uint mode)
{
    const struct sample sample = sample_of(call, item, texture, mode);
    const struct strided *out = OPERATION == FORWARD ? &call->values : &call->grad_grad_values, *in = &call->grad_values;
    const bool writes = OPERATION == FORWARD || (OPERATION == BACKWARD_BACKWARD && wants_values(mode));
    const bool dots = OPERATION != FORWARD && (wants_coordinates(mode) || wants_level(mode));
    const bool mixed = between(mode) == BETWEEN_LINEAR;
    const int parts = mixed && sample.moves != 0.0f ? 2 : 1;
    const uint step = 1u << spread(mode);
    struct result result = {{0.0f, 0.0f, 0.0f}, 0.0f, {0.0f, 0.0f}};
    struct taps taps;
    float dot[ALL], cot_dot[ALL], largest = 0.0f;
    EVERY_TAP for (int k = 0; k < ALL; ++k) dot[k] = cot_dot[k] = 0.0f;
    if (!mixed) find_level(&taps, call, &sample, 0, mode);
    for (uint channel = lane; channel < call->channels; channel += CHUNK * step) {
        float gradient[CHUNK], value[CHUNK];
        UNROLLED for (uint j = 0; j < CHUNK; ++j)
        {
            const uint c = channel + j * step;
            value[j] = gradient[j] = 0.0f;
            if (OPERATION != FORWARD && !is_beyond(call, c, j, mode))
                gradient[j] = number_at(in->first, place_of(in, item, texture, 1) + c * in->strides[0], has_half_values(mode));
        }
        if (mixed) {
            for (int above = 0; above < parts; ++above) {
                EVERY_TAP for (int k = 0; k < ALL; ++k) dot[k] = cot_dot[k] = 0.0f;
                find_level(&taps, call, &sample, above, mode);
                run_channels(call, &taps, texture, channel, step, gradient, value, dot, cot_dot, &largest, mode);
                if (dots) contract(&taps, &sample, dot, cot_dot, &result);
            }
        } else {
            run_channels(call, &taps, texture, channel, step, gradient, value, dot, cot_dot, &largest, mode);
        }
        if (writes)
            UNROLLED for (uint j = 0; j < CHUNK; ++j)
            {
                const uint c = channel + j * step;
                if (!is_beyond(call, c, j, mode))
                    put_number(out->first, place_of(out, item, texture, 1) + c * out->strides[0], value[j], has_half_values(mode));
            }
    }
    if (dots && !mixed) contract(&taps, &sample, dot, cot_dot, &result);
    if (scatter_kind(mode) == SCATTER_MEASURE && !(largest <= 0.0f))
        raise_to((global uint *)call->largest, as_uint(largest));
    const struct strided *to = &call->grad_coordinates;
#if CUBE
    struct cube cube = sample.cube;
    cube.first[0] = result.first[0], cube.first[1] = result.first[1];
    if (wants_coordinates(mode)) finish_cube(&cube, result.coordinate);
#endif
    if (wants_coordinates(mode)) UNROLLED for (uint a = 0; a < COMPONENTS; ++a)
        {
            const float sum = sum_of_sample(result.coordinate[a], mode) * (CUBE ? 1.0f : (float)call->scale[a]);
            if (lane == 0) put_number(to->first, place_of(to, item, texture, 1) + a * to->strides[0], sum, false);
        }
    if (wants_level(mode)) {
        const float sum = sum_of_sample(result.level, mode);
        if (lane == 0) put_number(call->grad_level.first, place_of(&call->grad_level, item, texture, 0), sum, false);
    }
}

kernel void NAME(struct call call, uint mode)
{
    const ulong thread = bindless_global_id(0), item = thread >> spread(mode);
    const uint lane = (uint)thread & ((1u << spread(mode)) - 1u);
    if (item >= call.samples) return;
    for (ulong texture = bindless_global_id(1); texture < call.textures; texture += bindless_global_size(1))
        run_sample(&call, item, texture, lane, mode);
}
