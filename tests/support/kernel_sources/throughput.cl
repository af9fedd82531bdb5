/* Kernels whose speed on the processor is measured: memory, arithmetic, divergence, work-groups, atomics, images. */
#include <bindless/device.h>

/* y = a x + y */
kernel void saxpy(float a, global const float *x, global float *y)
{
    const size_t i = bindless_global_id(0);
    y[i] = a * x[i] + y[i];
}

/* How many steps each point of the plane takes to leave the circle of radius 2. */
kernel void mandelbrot(global int *out, uint width, uint height, int most)
{
    const size_t row = bindless_item_id(0, 2), column = bindless_item_id(1, 2);
    const float x = -2.0f + 3.0f * (float)column / (float)width, y = -1.5f + 3.0f * (float)row / (float)height;
    float re = 0, im = 0;
    int steps = 0;
    while (re * re + im * im <= 4.0f && steps < most) {
        const float next = re * re - im * im + x;
        im = 2.0f * re * im + y;
        re = next;
        steps++;
    }
    out[row * width + column] = steps;
}

/* out = a b of square matrices, in tiles of 16 x 16. */
kernel void matrix_product(global const float *a, global const float *b, global float *out, uint size)
{
    local float left[16][16], right[16][16];
    const size_t row = bindless_item_id(0, 2), column = bindless_item_id(1, 2);
    const size_t y = bindless_item_local_id(0, 2), x = bindless_item_local_id(1, 2);
    float sum = 0;
    for (uint tile = 0; tile < size; tile += 16) {
        left[y][x] = a[row * size + tile + x];
        right[y][x] = b[(tile + y) * size + column];
        bindless_barrier();
        for (uint k = 0; k < 16; k++)
            sum += left[y][k] * right[k][x];
        bindless_barrier();
    }
    out[row * size + column] = sum;
}

/* Adds up: each work-item some numbers, each work-group its work-items', and all work-groups by an atomic addition. */
kernel void total(global const uint *in, global uint *out, uint count)
{
    local uint sums[64];
    const size_t item = bindless_item_local_id(0, 1);
    uint sum = 0;
    for (uint i = (uint)bindless_global_id(0); i < count; i += (uint)bindless_item_range(0, 1)) sum += in[i];
    sums[item] = sum;
    bindless_barrier();
    for (uint rest = 32; rest > 0; rest /= 2) {
        if (item < rest) sums[item] += sums[item + rest];
        bindless_barrier();
    }
    if (item == 0) atomic_add(out, sums[0]);
}

/* A histogram by atomic additions, one a number. */
kernel void histogram(global const uchar *in, global uint *out) { atomic_inc(&out[in[bindless_global_id(0)]]); }

/* A blur with the weights 1 4 6 4 1 in both directions, pixel by pixel. */
kernel void blur(unsampled_image_handle image, global float4 *out, int width, int height)
{
    const int y = (int)bindless_item_id(0, 2), x = (int)bindless_item_id(1, 2);
    const float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
    float4 sum = (float4)(0.0f);
    for (int j = -2; j <= 2; j++)
        for (int i = -2; i <= 2; i++)
            sum += weights[j + 2] * weights[i + 2] *
                   fetch_image_float4(image, (int2)(clamp(x + i, 0, width - 1), clamp(y + j, 0, height - 1)));
    out[y * width + x] = sum;
}
