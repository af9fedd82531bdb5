/* What tests/support/kernel_sources/raycast.cl computes, as a programmer would write it in C. */
#include <math.h>
#include <stddef.h>

static float clamped(float x, float most) { return x < 0.0f ? 0.0f : x > most ? most : x; }

static float density_at(const float *volume, int size, float x, float y, float z)
{
    const float most = (float)(size - 1);
    x = clamped(x * (float)size - 0.5f, most), y = clamped(y * (float)size - 0.5f, most), z = clamped(z * (float)size - 0.5f, most);
    const int i = (int)x, j = (int)y, k = (int)z;
    const float a = x - (float)i, b = y - (float)j, c = z - (float)k;
    const size_t dx = i + 1 < size, dy = j + 1 < size ? (size_t)size : 0, dz = k + 1 < size ? (size_t)size * (size_t)size : 0;
    const float *p = volume + ((size_t)k * (size_t)size + (size_t)j) * (size_t)size + (size_t)i;
    const float low = (1 - b) * ((1 - a) * p[0] + a * p[dx]) + b * ((1 - a) * p[dy] + a * p[dy + dx]);
    const float high = (1 - b) * ((1 - a) * p[dz] + a * p[dz + dx]) + b * ((1 - a) * p[dz + dy] + a * p[dz + dy + dx]);
    return (1 - c) * low + c * high;
}

void raycast(const float *volume, int size, const float *transfer, int colors, float *out, int width, int height, int steps)
{
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const float u = ((float)x + 0.5f) / (float)width - 0.5f, v = ((float)y + 0.5f) / (float)height - 0.5f;
            float ax = 0.8f * u + 0.5f, ay = 0.8f * v + 0.5f, az = 0.0f, sum[4] = {0, 0, 0, 0};
            for (int k = 0; k < steps; k++) {
                const float density = density_at(volume, size, ax, ay, az);
                const float place = clamped(density * (float)colors - 0.5f, (float)(colors - 1));
                const int i = (int)place;
                const float w = place - (float)i, *one = transfer + 4 * i, *two = i + 1 < colors ? one + 4 : one;
                float color[4];
                for (int c = 0; c < 4; c++)
                    color[c] = (1 - w) * one[c] + w * two[c];
                const float opacity = color[3] * (1.0f - sum[3]);
                for (int c = 0; c < 3; c++)
                    sum[c] += color[c] * opacity;
                sum[3] += opacity;
                if (sum[3] > 0.98f)
                    break;
                ax += 0.2f * u / (float)steps, ay += 0.2f * v / (float)steps, az += 1.0f / (float)steps;
            }
            for (int c = 0; c < 4; c++)
                out[4 * ((size_t)y * (size_t)width + (size_t)x) + (size_t)c] = sum[c];
        }
}
