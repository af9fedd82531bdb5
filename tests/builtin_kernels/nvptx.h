/* Functions that the compiler has for PTX alone, for kernels with the macros of PTX that run on a processor. */

static double __attribute__((unused)) __nvvm_add_rm_d(double a, double b)
{
    const double sum = a + b, part = sum - a, rest = (a - (sum - part)) + (b - part); /* sum + rest is exact */
    if (!(rest < 0.0))
        return sum;
    const long bits = __builtin_astype(sum, long);
    return __builtin_astype(sum > 0.0 ? bits - 1 : bits + 1, double);
}

static float __attribute__((unused)) __nvvm_add_rm_f(float a, float b)
{
    const double exact = (double)a + (double)b; /* of the floats here */
    const float sum = (float)exact;
    if (!((double)sum > exact))
        return sum;
    const int bits = __builtin_astype(sum, int);
    return __builtin_astype(sum > 0.0f ? bits - 1 : bits + 1, float);
}

static float __attribute__((unused)) __nvvm_saturate_f(float a)
{
    return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; /* 0 of what is no number */
}
