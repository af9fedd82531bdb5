/* Textures and surfaces by handles. */
extern "C" __global__ void textures(unsigned long long t, float4 *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = (i % 16) / 16.f + 0.01f, y = (i / 16) / 8.f + 0.02f;
    o[i] = tex2D<float4>(t, x, y);
    o[n + i] = tex2DLod<float4>(t, x, y, 0.f);
    o[2 * n + i] = tex2Dgather<float4>(t, x, y, 1);
}

extern "C" __global__ void surfaces(unsigned long long from, unsigned long long to, unsigned *o)
{
    int x = threadIdx.x, y = blockIdx.x;
    uchar4 p = surf2Dread<uchar4>(from, x * 4, y, cudaBoundaryModeZero);
    surf2Dwrite(make_uchar4(p.w, p.z, p.y, p.x), to, x * 4, y, cudaBoundaryModeZero);
    o[y * blockDim.x + x] = surf2Dread<unsigned>(from, x * 4, y, cudaBoundaryModeZero);
}
