/* Levels of detail of the footprints of pixels in a texture, and their derivatives. PASS selects the kernel.
 *
 *     LEVELS     log2 of the longest axis of the ellipse that a pixel covers, in texels, plus a bias where there is one
 *     GRADIENTS  of the steps, from those of the levels
 *
 * Steps are [count][axes][2]: the change of each coordinate, 0 to 1 across the texture, to the next pixel along X and Y. Bit 0
 * of the mode: there are three axes, else two. Steps beyond MOST texels count as MOST, and those that are no numbers as 0: such
 * steps have no gradient, and neither have levels of squares below SMALLEST. */
#include "mode.h"

#define LEVELS 0
#define GRADIENTS 1

#define SMALLEST 1e-30f         /* of the square of the longest axis */
#define SMALLEST_SQUARE 1.2e-38f
#define MOST 1e9f               /* the square of its square is finite */

#define AXES (mode & 1 ? 3 : 2)
#define FOR_AXES UNROLLED for (int a = 0; a < 3; a++) if (a < AXES)

/* The quadratic form of a footprint. */
struct form {
    float steps[3][2]; /* in texels */
    float half_difference, mixed, root, longest;
};

INLINED float limited(float step) { return step > MOST ? MOST : step < -MOST ? -MOST : step == step ? step : 0.0f; }

INLINED struct form form_of(global const float *steps, ulong item, const float *sizes, uint mode)
{
    struct form form;
    float along = 0.0f, across = 0.0f;
    form.mixed = 0.0f;
    FOR_AXES {
        const ulong place = (item * AXES + a) * 2;
        const float x = form.steps[a][0] = limited(steps[place] * sizes[a]);
        const float y = form.steps[a][1] = limited(steps[place + 1] * sizes[a]);
        along += x * x;
        across += y * y;
        form.mixed += x * y;
    }
    form.half_difference = (along - across) * 0.5f;
    const float square = form.half_difference * form.half_difference + form.mixed * form.mixed;
    form.root = square >= SMALLEST_SQUARE ? __builtin_elementwise_sqrt(square) : 0.0f;
    form.longest = (along + across) * 0.5f + form.root;
    return form;
}

#if PASS == LEVELS

/* log2 of a positive normal number, by the series of the inverse hyperbolic tangent. */
INLINED float log2_of(float value)
{
    const uint bits = as_uint(value), above = bits - 0x3f3504f3u; /* the root of 1/2: the rest is from there to its double */
    const int exponent = (int)above >> 23;
    const float rest = as_float((above & 0x7fffffu) + 0x3f3504f3u);
    const float s = (rest - 1.0f) / (rest + 1.0f), q = s * s;
    const float series = 1.0f + q * (1.0f / 3.0f + q * (1.0f / 5.0f + q * (1.0f / 7.0f + q * (1.0f / 9.0f))));
    return (float)exponent + 2.885390082f * s * series;
}

/* `bias` may be null: zeros. */
kernel void bindless_footprint_levels(global const float *steps, global const float *bias, global float *levels, float size_x,
                                      float size_y, float size_z, ulong count, uint mode)
{
    const ulong item = bindless_global_id(0);
    if (item >= count) return;
    const float sizes[3] = {size_x, size_y, size_z};
    const float longest = form_of(steps, item, sizes, mode).longest;
    float level = 0.5f * log2_of(longest >= SMALLEST ? longest : SMALLEST);
    if (bias) level += bias[item];
    levels[item] = level;
}

#else

kernel void bindless_footprint_gradients(global const float *steps, global const float *grad_levels,
                                         global float *gradients, float size_x, float size_y, float size_z, ulong count,
                                         uint mode)
{
    const ulong item = bindless_global_id(0);
    if (item >= count) return;
    const float sizes[3] = {size_x, size_y, size_z};
    const struct form form = form_of(steps, item, sizes, mode);
    /* `scale` has the derivative of log2(longest) / 2, the others that of the longest square by each form's number. */
    const float scale = form.longest >= SMALLEST ? grad_levels[item] * 0.7213475204f / form.longest : 0.0f;
    const float turn = form.root > 0.0f ? form.half_difference / form.root : 0.0f;
    const float slant = form.root > 0.0f ? form.mixed / form.root : 0.0f;
    FOR_AXES {
        const float x = form.steps[a][0], y = form.steps[a][1];
        const ulong place = (item * AXES + a) * 2;
        const float of_x = scale * sizes[a] * ((1.0f + turn) * x + slant * y);
        const float of_y = scale * sizes[a] * ((1.0f - turn) * y + slant * x);
        gradients[place] = steps[place] * sizes[a] == x ? of_x : 0.0f;
        gradients[place + 1] = steps[place + 1] * sizes[a] == y ? of_y : 0.0f;
    }
}

#endif
