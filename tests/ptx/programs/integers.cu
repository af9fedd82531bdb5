extern "C" __global__ void words(const unsigned *a, const unsigned *b, const unsigned *c, unsigned *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = a[i], y = b[i];
    unsigned z = c[i];
    o[0 * n + i] = __popc(x); /* popc */
    o[1 * n + i] = __clz(x); /* clz */
    o[2 * n + i] = __brev(x); /* brev */
    o[3 * n + i] = __ffs(x); /* ffs */
    o[4 * n + i] = __umulhi(x, y); /* mulhi */
    o[5 * n + i] = x << (z & 31) | y >> (z & 31); /* shifts */
    o[6 * n + i] = __funnelshift_l(x, y, z) ^ __funnelshift_rc(x, y, z); /* funnel */
    o[7 * n + i] = __byte_perm(x, y, z * 0x1357); /* permute */
    o[8 * n + i] = __usad(x, y, z); /* sad */
    o[9 * n + i] = __dp4a(x, y, z); /* dot */
    o[10 * n + i] = __dp4a((int)x, (int)y, (int)z); /* signed dot */
    o[11 * n + i] = (int)x / ((int)y | 1); /* quotient */
    o[12 * n + i] = (int)x % ((int)y | 1); /* rest */
    o[13 * n + i] = __vmaxs2(x, y); /* maxima */
    o[14 * n + i] = __vaddss2(x, y); /* saturated */
    o[15 * n + i] = __vabsdiffu4(x, y); /* differences */
    o[16 * n + i] = (int)(x << (z & 15)) >> 20; /* field */
    o[17 * n + i] = __mul24(x, y); /* product of 24 bits */
    o[18 * n + i] = __hadd((int)x, (int)y); /* mean */
    o[19 * n + i] = (unsigned)(signed char)x + (unsigned short)y * (short)z; /* bytes */
}

extern "C" __global__ void longs(const unsigned long long *a, const unsigned long long *b, const unsigned *c, unsigned long long *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long x = a[i], y = b[i];
    unsigned z = c[i];
    o[0 * n + i] = __umul64hi(x, y); /* high */
    o[1 * n + i] = __mul64hi((long long)x, (long long)y); /* signed high */
    o[2 * n + i] = x / (y | 1); /* quotient */
    o[3 * n + i] = x % (y | 1); /* rest */
    o[4 * n + i] = (unsigned long long)(((unsigned __int128)x * y + z) >> 64); /* carry */
    o[5 * n + i] = __popcll(x) + __clzll(y) * 100; /* count */
}
