#include <cuda_fp16.h>
#include <cuda_bf16.h>

extern "C" __global__ void halves(const __half2 *a, const __half2 *b, __half2 *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        o[i] = __hadd2(__hmul2(a[i], b[i]), __hfma2(a[i], b[i], a[i]));
}

extern "C" __global__ void bfloats(const float *a, const float *b, float *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    __nv_bfloat16 x = __float2bfloat16(a[i]), y = __float2bfloat16(b[i]);
    o[i] = __bfloat162float(__hmul(x, y)) + (__hlt(x, y) ? 1.f : 0.f);
}

extern "C" __global__ void directed_float(const float *a, const float *b, const unsigned *c, float *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], y = b[i];
    unsigned z = c[i];
    o[0 * n + i] = __fadd_rz(x, y); /* add rz */
    o[1 * n + i] = __fmul_rz(x, y); /* mul rz */
    o[2 * n + i] = __fdiv_rz(x, y); /* div rz */
    o[3 * n + i] = __fmaf_rz(x, y, x); /* fma rz */
    o[4 * n + i] = __fsqrt_rz(fabsf(x)); /* sqrt rz */
    o[5 * n + i] = __fadd_ru(x, y); /* add ru */
    o[6 * n + i] = __fmul_ru(x, y); /* mul ru */
    o[7 * n + i] = __fdiv_ru(x, y); /* div ru */
    o[8 * n + i] = __fmaf_ru(x, y, x); /* fma ru */
    o[9 * n + i] = __fsqrt_ru(fabsf(x)); /* sqrt ru */
    o[10 * n + i] = __fadd_rd(x, y); /* add rd */
    o[11 * n + i] = __fmul_rd(x, y); /* mul rd */
    o[12 * n + i] = __fdiv_rd(x, y); /* div rd */
    o[13 * n + i] = __fmaf_rd(x, y, x); /* fma rd */
    o[14 * n + i] = __fsqrt_rd(fabsf(x)); /* sqrt rd */
}

extern "C" __global__ void directed_double(const double *a, const double *b, const unsigned *c, double *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double x = a[i], y = b[i];
    unsigned z = c[i];
    o[0 * n + i] = __dadd_rz(x, y); /* add rz */
    o[1 * n + i] = __dmul_rz(x, y); /* mul rz */
    o[2 * n + i] = __ddiv_rz(x, y); /* div rz */
    o[3 * n + i] = __fma_rz(x, y, x); /* fma rz */
    o[4 * n + i] = __dsqrt_rz(fabs(x)); /* sqrt rz */
    o[5 * n + i] = __dadd_ru(x, y); /* add ru */
    o[6 * n + i] = __dmul_ru(x, y); /* mul ru */
    o[7 * n + i] = __ddiv_ru(x, y); /* div ru */
    o[8 * n + i] = __fma_ru(x, y, x); /* fma ru */
    o[9 * n + i] = __dsqrt_ru(fabs(x)); /* sqrt ru */
    o[10 * n + i] = __dadd_rd(x, y); /* add rd */
    o[11 * n + i] = __dmul_rd(x, y); /* mul rd */
    o[12 * n + i] = __ddiv_rd(x, y); /* div rd */
    o[13 * n + i] = __fma_rd(x, y, x); /* fma rd */
    o[14 * n + i] = __dsqrt_rd(fabs(x)); /* sqrt rd */
}

extern "C" __global__ void singles(const float *a, const float *b, const unsigned *c, float *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = a[i], y = b[i];
    unsigned z = c[i];
    o[0 * n + i] = __fadd_rn(x, y); /* sum */
    o[1 * n + i] = __fmul_rn(x, y); /* product */
    o[2 * n + i] = x / y; /* quotient */
    o[3 * n + i] = sqrtf(x); /* root */
    o[4 * n + i] = fminf(x, y); /* min */
    o[5 * n + i] = fmaxf(x, y); /* max */
    o[6 * n + i] = (float)(int)x; /* whole */
    o[7 * n + i] = (float)__float2int_rn(y); /* nearest */
    o[8 * n + i] = rintf(x); /* even */
    o[9 * n + i] = floorf(x); /* floor */
    o[10 * n + i] = ceilf(y); /* ceiling */
    o[11 * n + i] = copysignf(x, y); /* sign */
    o[12 * n + i] = __saturatef(x); /* clamped */
    o[13 * n + i] = (float)__float2uint_rz(y); /* unsigned */
}
