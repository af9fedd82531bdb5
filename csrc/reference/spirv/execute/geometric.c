/* Dot products, lengths, distances, normalisation and cross products of floats. */
#include "spirv/execute/geometric.h"

#include "spirv/execute/lane_operations.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

/* The order of operations of LLVM's library for NVIDIA GPUs, for bit-identical coordinates: the second product is
 * rounded, the others are fused into the sum. Components are scaled first where squares would leave the range. */
#define MOST 16u

static float sum_of_products(const float *x, const float *y, uint32_t count)
{
    float sum = fmaf(x[0], y[0], x[1] * y[1]);
    for (uint32_t c = 2; c < count; c++)
        sum = fmaf(x[c], y[c], sum);
    return sum;
}

/* Sum of squares; the components are scaled by a power of two first where their sum is too small or too large. */
static float squares(float *x, uint32_t count, float up, float down, float *scale)
{
    float sum = sum_of_products(x, x, count);
    *scale = sum < FLT_MIN ? up : isinf(sum) ? down : 1.0f;
    if (*scale == 1.0f)
        return sum;
    for (uint32_t c = 0; c < count; c++)
        x[c] *= *scale;
    return sum_of_products(x, x, count);
}

static float length_of(float *x, uint32_t count)
{
    if (count == 1)
        return fabsf(x[0]);
    float scale, sum = squares(x, count, 0x1p86f, 0x1p-65f, &scale);
    return sqrtf(sum) / scale;
}

static void normalize(float *x, uint32_t count)
{
    if (count == 1) {
        x[0] = copysignf(x[0] < 0.0f || x[0] > 0.0f ? 1.0f : 0.0f, x[0]);
        return;
    }
    bool zero = true;
    for (uint32_t c = 0; c < count; c++)
        zero = zero && x[c] == 0.0f;
    if (zero)
        return;
    float scale, sum = squares(x, count, 0x1p86f, 0x1p-66f, &scale);
    if (isinf(sum)) {
        for (uint32_t c = 0; c < count; c++)
            x[c] = copysignf(isinf(x[c]) ? 1.0f : 0.0f, x[c]);
        sum = sum_of_products(x, x, count);
    }
    const float reciprocal = 1.0f / sqrtf(sum);
    for (uint32_t c = 0; c < count; c++)
        x[c] *= reciprocal;
}

/* Copies the components of one lane's vector. */
static void gather(float *vector, const float *x, uint32_t count, uint32_t lane)
{
    for (uint32_t c = 0; c < count; c++)
        vector[c] = x[c * BLR_LANES + lane];
}

void blr_spirv_dot_float(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    float *restrict r = (float *)result;
    const float *x = blr_register(batch, op->in[0]), *y = blr_register(batch, op->in[1]);
    for (uint32_t lane = 0; lane < BLR_LANES; lane++) {
        float a[MOST] = {0}, b[MOST] = {0};
        gather(a, x, op->literal, lane);
        gather(b, y, op->literal, lane);
        r[lane] = sum_of_products(a, b, op->literal);
    }
}

void blr_spirv_dot_double(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    double *restrict r = (double *)result;
    const double *x = blr_register(batch, op->in[0]), *y = blr_register(batch, op->in[1]);
    for (uint32_t lane = 0; lane < BLR_LANES; lane++) {
        double sum = fma(x[lane], y[lane], x[BLR_LANES + lane] * y[BLR_LANES + lane]);
        for (uint32_t c = 2; c < op->literal; c++)
            sum = fma(x[c * BLR_LANES + lane], y[c * BLR_LANES + lane], sum);
        r[lane] = sum;
    }
}

void blr_spirv_length_float(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    float *restrict r = (float *)result;
    const float *x = blr_register(batch, op->in[0]);
    for (uint32_t lane = 0; lane < BLR_LANES; lane++) {
        float a[MOST] = {0};
        gather(a, x, op->literal, lane);
        r[lane] = length_of(a, op->literal);
    }
}

void blr_spirv_distance_float(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    float *restrict r = (float *)result;
    const float *x = blr_register(batch, op->in[0]), *y = blr_register(batch, op->in[1]);
    for (uint32_t lane = 0; lane < BLR_LANES; lane++) {
        float a[MOST] = {0};
        for (uint32_t c = 0; c < op->literal; c++)
            a[c] = x[c * BLR_LANES + lane] - y[c * BLR_LANES + lane];
        r[lane] = length_of(a, op->literal);
    }
}

void blr_spirv_normalized_float(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    float *restrict r = (float *)result;
    const float *x = blr_register(batch, op->in[0]);
    for (uint32_t lane = 0; lane < BLR_LANES; lane++) {
        float a[MOST] = {0};
        gather(a, x, op->literal, lane);
        normalize(a, op->literal);
        for (uint32_t c = 0; c < op->literal; c++)
            r[c * BLR_LANES + lane] = a[c];
    }
}

void blr_spirv_cross_float(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result)
{
    float *restrict r = (float *)result;
    const float *x = blr_register(batch, op->in[0]), *y = blr_register(batch, op->in[1]);
    for (uint32_t i = 0; i < op->count; i++) {
        uint32_t c = i / BLR_LANES, lane = i % BLR_LANES;
        uint32_t j = (c + 1) % 3 * BLR_LANES + lane, k = (c + 2) % 3 * BLR_LANES + lane;
        r[i] = c == 3 ? 0.0f : fmaf(x[j], y[k], -(x[k] * y[j]));
    }
}
