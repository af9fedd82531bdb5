/* Samples of images and volumes with a linear filter and no mipmap, and their first derivatives: OPERATION of gradient_call.h,
 * for texels with channels next to one another in memory. Texels and values are floats, and the number of channels and all
 * strides of texels are multiples of 4: neighbouring work-items have four channels each at a time. Channels of values are next
 * to one another too, or in planes, to and from which they go through local memory. BACKWARD adds four floats at once, which
 * needs compute capability 9.0. */
#include "gradient_corners.h"

enum { ITEMS = 128, TILE = 4 * ITEMS + ITEMS }; /* of a work-group; its values, and one more in each row */

/* Four floats, at a multiple of 16 bytes if `aligned`. */
INLINED float4 read_four(ulong first, long offset, bool aligned)
{
    global const float *from = (global const float *)first + offset;
    return aligned ? *(global const float4 *)from : (float4)(from[0], from[1], from[2], from[3]);
}

/* A work-group's samples: SAMPLES of them, each with four channels in each of `lanes` items. */
struct group {
    uint lanes, samples, sample, lane;
    int first;                       /* number of the first sample */
    bool exists;                     /* the item's sample */
};

INLINED struct group group_of(const struct call *call, uint mode)
{
    struct group group;
    const uint item = (uint)bindless_local_id(0);
    group.lanes = 1u << spread(mode);
    group.samples = ITEMS >> spread(mode);
    group.sample = item >> spread(mode);
    group.lane = item & (group.lanes - 1u);
    group.first = (int)(bindless_group_id(0) * group.samples);
    group.exists = (ulong)(group.first + (int)group.sample) < call->samples;
    return group;
}

/* A number of values for each of the item's four turns: its place in the tile, and its offset in memory, or -1. */
struct turn {
    uint place;
    long offset;
};

INLINED struct turn turn_of(const struct call *call, const struct group *group, const struct strided *values, uint number,
                            uint channel, uint mode)
{
    const uint index = (uint)bindless_local_id(0) + number * ITEMS, sample = index & (group->samples - 1u), row = index >> (7u - spread(mode));
    const ulong item = (ulong)(uint)group->first + sample;
    const bool exists = item < call->samples && channel + row < call->channels;
    const long offset = exists ? (long)item * values->strides[1] + (long)(channel + row) * values->strides[0] : -1;
    return (struct turn){row * (group->samples + 1u) + sample, offset};
}

INLINED uint place_of_channel(const struct group *group, uint j) { return (4u * group->lane + j) * (group->samples + 1u) + group->sample; }

#if OPERATION == FORWARD

INLINED void write_four(ulong first, long offset, float4 value, bool aligned)
{
    global float *to = (global float *)first + offset;
    if (aligned)
        *(global float4 *)to = value;
    else
        to[0] = value.x, to[1] = value.y, to[2] = value.z, to[3] = value.w;
}

INLINED void run_samples(const struct call *call, ulong texture, local float *tile, bool aligned, uint mode)
{
    const struct group group = group_of(call, mode);
    const int item = group.exists ? group.first + (int)group.sample : 0;
    const struct corners corners = corners_of(call, item, texture, mode);
    const struct strided *texels = &call->levels[0].texels, *out = &call->values;
    const ulong first = part_of(texels, 4, texture, false), values = part_of(out, 2, texture, false);
    float weight[CORNERS], outside = 0.0f;
    FOR_CORNERS {
        weight[k] = weight_of(&corners, k);
        if (may_be_outside(mode) && (corners.inside >> k & 1) == 0) {
            outside += weight[k] * call->map.fill;
            weight[k] = 0.0f;
        }
    }
    for (uint chunk = 0; chunk < call->channels; chunk += 4u * group.lanes) {
        const uint channel = chunk + 4u * group.lane;
        float4 value = outside;
        if (channel < call->channels) {
            float4 texel[CORNERS];
            FOR_CORNERS texel[k] = read_four(first, offset_of(&corners, k) + (int)channel, aligned);
            FOR_CORNERS value += weight[k] != 0.0f ? weight[k] * texel[k] : (float4)0.0f;
            if (!has_planes(mode) && group.exists) write_four(values, item * (int)out->strides[1] + (int)channel, value, aligned);
        }
        if (!has_planes(mode)) continue;
        tile[place_of_channel(&group, 0)] = value.x, tile[place_of_channel(&group, 1)] = value.y;
        tile[place_of_channel(&group, 2)] = value.z, tile[place_of_channel(&group, 3)] = value.w;
        bindless_barrier();
        UNROLLED for (uint number = 0; number < 4; ++number)
        {
            const struct turn turn = turn_of(call, &group, out, number, chunk, mode);
            if (turn.offset >= 0) ((global float *)values)[turn.offset] = tile[turn.place];
        }
        bindless_barrier();
    }
}

#else

INLINED void add_four(ulong first, long offset, float4 value, bool aligned)
{
    global float *to = (global float *)first + offset;
#ifdef __PTX__
    if (aligned) {
        __asm__ volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" : : "l"(to), "f"(value.x), "f"(value.y), "f"(value.z), "f"(value.w) : "memory");
        return;
    }
#endif
    add_float(to, value.x), add_float(to + 1, value.y), add_float(to + 2, value.z), add_float(to + 3, value.w);
}

INLINED float sum_of_four(float4 value) { return (value.x + value.y) + (value.z + value.w); }

INLINED void run_samples(const struct call *call, ulong texture, local float *tile, bool aligned, uint mode)
{
    const struct group group = group_of(call, mode);
    const int item = group.exists ? group.first + (int)group.sample : 0;
    const struct corners corners = corners_of(call, item, texture, mode);
    const struct strided *texels = &call->levels[0].texels, *to = &call->levels[0].gradients, *in = &call->grad_values;
    const ulong first = part_of(texels, 4, texture, false), values = part_of(in, 2, texture, false);
    const ulong gradients = part_of(to, 4, texture, false);
    float dot[CORNERS], weight[CORNERS], sum = 0.0f;
    FOR_CORNERS {
        dot[k] = 0.0f;
        weight[k] = (corners.inside >> k & 1) != 0 ? weight_of(&corners, k) : 0.0f;
    }
    for (uint chunk = 0; chunk < call->channels; chunk += 4u * group.lanes) {
        const uint channel = chunk + 4u * group.lane;
        const bool exists = group.exists && channel < call->channels;
        float4 gradient = 0.0f;
        if (has_planes(mode)) {
            UNROLLED for (uint number = 0; number < 4; ++number)
            {
                const struct turn turn = turn_of(call, &group, in, number, chunk, mode);
                tile[turn.place] = turn.offset >= 0 ? ((global const float *)values)[turn.offset] : 0.0f;
            }
            bindless_barrier();
            gradient = (float4)(tile[place_of_channel(&group, 0)], tile[place_of_channel(&group, 1)],
                                tile[place_of_channel(&group, 2)], tile[place_of_channel(&group, 3)]);
            bindless_barrier();
        } else if (exists) {
            gradient = read_four(values, item * (int)in->strides[1] + (int)channel, aligned);
        }
        if (!exists) continue;
        if (wants_coordinates(mode)) {
            float4 texel[CORNERS];
            FOR_CORNERS texel[k] = read_four(first, offset_of(&corners, k) + (int)channel, aligned);
            FOR_CORNERS dot[k] += sum_of_four(gradient * texel[k]);
            if (may_be_outside(mode)) sum += sum_of_four(gradient);
        }
        if (scatter_kind(mode) != SCATTER_NONE) FOR_CORNERS /* offsets of gradients are those of texels */
                if (weight[k] != 0.0f) add_four(gradients, offset_of(&corners, k) + (int)channel, weight[k] * gradient, aligned);
    }
    if (!wants_coordinates(mode)) return;
    const struct strided *out = &call->grad_coordinates;
    FOR_AXES {
        float derivative = 0.0f;
        FOR_CORNERS {
            const float slope = (k >> a & 1 ? 1.0f : -1.0f) * weight_without(&corners, k, a);
            const bool outside = may_be_outside(mode) && (corners.inside >> k & 1) == 0;
            derivative += slope != 0.0f ? slope * (outside ? call->map.fill * sum : dot[k]) : 0.0f;
        }
        derivative = sum_of_sample(derivative, mode) * corners.chain[a];
        if (group.lane == 0 && group.exists)
            ((global float *)part_of(out, 2, texture, false))[item * (int)out->strides[1] + (int)a * (int)out->strides[0]] = derivative;
    }
}

#endif

kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void NAME(PARAMETERS)
{
    COPY
    local float tile[TILE];
    const ulong values = has_planes(mode) ? 0 : OPERATION == FORWARD ? call.values.first : call.grad_values.first;
    const ulong all = call.levels[0].texels.first | (OPERATION == FORWARD ? 0 : call.levels[0].gradients.first) | values;
    const bool aligned = (all & 15) == 0;
    for (ulong texture = bindless_global_id(1); texture < call.textures; texture += bindless_global_size(1)) {
        if (aligned)
            run_samples(&call, texture, tile, true, mode);
        else
            run_samples(&call, texture, tile, false, mode);
    }
}
