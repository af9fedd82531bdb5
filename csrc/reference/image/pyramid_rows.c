/* Rows of levels of pyramids. Compiled for each instruction set; results are bit-identical. */
#include "image/pyramid.h"

#include "bindless/filter/boundary.h"
#include "image/pixel_format.h"

#include <stdbool.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

#define LEVELS 4u                         /* of means */
#define STRIP 768u                        /* most values of a row that are computed together, in the fastest cache */

/* ---------------------------------------------------------------- elements */

/* Pixels of a row from one on, times a scale. */
static void decode(const blr_pyramid_t *pyramid, int64_t row, int64_t first, int64_t pixels, float scale, float *restrict values)
{
    const int64_t channels = pyramid->channels, count = pixels * channels;
    const int64_t from = (row * (int64_t)pyramid->extent[0] + first) * channels;
#define DECODE(ELEMENT)                                                                                                  \
    {                                                                                                                    \
        const ELEMENT *restrict codes = (const ELEMENT *)pyramid->source + from;                                         \
        for (int64_t i = 0; i < count; i++)                                                                              \
            values[i] = scale * (float)codes[i];                                                                         \
        break;                                                                                                           \
    }
    switch (pyramid->element) {
    case BLR_ELEMENT_U8: DECODE(uint8_t)
    case BLR_ELEMENT_S16: DECODE(int16_t)
    case BLR_ELEMENT_U16: DECODE(uint16_t)
    default: DECODE(float)
    }
#undef DECODE
}

/* The same of pixels that may lie outside. */
static void fill_row(const blr_pyramid_t *pyramid, int64_t row, int64_t first, int64_t pixels, uint32_t boundary_x,
                     uint32_t boundary_y, float scale, float *values)
{
    const int64_t channels = pyramid->channels, width = (int64_t)pyramid->extent[0], end = first + pixels;
    const int64_t inside = first < 0 ? 0 : first, outside = end < width ? end : width;
    const int64_t texel = bindless_texel_at(row, (int64_t)pyramid->extent[1], boundary_y);
    if (inside < outside)
        decode(pyramid, texel, inside, outside - inside, scale, values + (inside - first) * channels);
    for (int64_t x = first; x < end; x++) {
        if (x == inside && inside < outside)
            x = outside;
        if (x < end)
            decode(pyramid, texel, bindless_texel_at(x, width, boundary_x), 1, scale, values + (x - first) * channels);
    }
}

/* Values as elements: codes have exact halves. */
static const unsigned char *encode(const blr_pyramid_t *pyramid, uint32_t count, const float *restrict values,
                                   void *restrict elements)
{
    int16_t *shorts = elements;
    uint16_t *words = elements;
    uint8_t *bytes = elements;
    switch (pyramid->element) {
    case BLR_ELEMENT_U8:
        for (uint32_t i = 0; i < count; i++)
            bytes[i] = (uint8_t)(int32_t)(values[i] + 0.5f);
        return elements;
    case BLR_ELEMENT_U16:
        for (uint32_t i = 0; i < count; i++)
            words[i] = (uint16_t)(int32_t)(values[i] + 0.5f);
        return elements;
    case BLR_ELEMENT_S16:
        for (uint32_t i = 0; i < count; i++)
            shorts[i] = (int16_t)(int32_t)(values[i] + (values[i] < 0 ? -0.5f : 0.5f));
        return elements;
    default: return (const unsigned char *)values;
    }
}

/* Every second pixel, or pixels of two rows by turns, of which the second one may have one less. */
INLINE void store_pixels_of(const unsigned char *restrict even, const unsigned char *restrict odd, unsigned char *restrict to,
                            uint32_t count, const uint32_t bytes)
{
    if (odd == NULL) {
        for (uint32_t i = 0; i < count; i++)
            memcpy(to + i * bytes, even + 2 * i * bytes, bytes);
        return;
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        memcpy(to + 2 * i * bytes, even + i * bytes, bytes);
        memcpy(to + (2 * i + 1) * bytes, odd + i * bytes, bytes);
    }
    if (count % 2 != 0)
        memcpy(to + (count - 1) * bytes, even + count / 2 * bytes, bytes);
}

/* Stores count pixels of the destination, from number first on. */
static void store_pixels(const blr_pyramid_t *pyramid, const unsigned char *even, const unsigned char *odd, uint64_t first,
                         uint32_t count)
{
    const uint32_t bytes = blr_element_size(pyramid->element) * pyramid->channels;
    unsigned char *to = (unsigned char *)pyramid->destination + first * bytes;
    switch (bytes) {
    case 1: store_pixels_of(even, odd, to, count, 1); break;
    case 2: store_pixels_of(even, odd, to, count, 2); break;
    case 3: store_pixels_of(even, odd, to, count, 3); break;
    case 4: store_pixels_of(even, odd, to, count, 4); break;
    case 6: store_pixels_of(even, odd, to, count, 6); break;
    case 8: store_pixels_of(even, odd, to, count, 8); break;
    case 12: store_pixels_of(even, odd, to, count, 12); break;
    default: store_pixels_of(even, odd, to, count, 16); break;
    }
}

/* ---------------------------------------------------------------- means */

/* Means of four values, along y, then x, of halves of them: those to the left in two rows, and those to the right. */
static void mean(const float *left_above, const float *left_below, const float *right_above, const float *right_below,
                 float scale, uint32_t count, float *restrict means)
{
    for (uint32_t i = 0; i < count; i++)
        means[i] = scale * (0.5f * (left_above[i] + left_below[i]) + 0.5f * (right_above[i] + right_below[i]));
}

/* ---------------------------------------------------------------- down */

/* Columns from first on, of rows from begin to end. */
static void fill_down(const blr_pyramid_t *pyramid, uint64_t begin, uint64_t end, uint64_t first, uint32_t columns)
{
    _Alignas(64) float level[LEVELS][2][STRIP], means[STRIP]; /* the last two rows of halves of means of means, and so on */
    _Alignas(64) unsigned char elements[STRIP * sizeof(uint16_t)];
    const uint32_t channels = pyramid->channels, pixels = 2 * columns + LEVELS - 1, count = pixels * channels;
    for (uint64_t i = 0; i < 2 * (end - begin) + LEVELS - 1; i++) {
        const int64_t row = (int64_t)(2 * begin + i) - 2, column = 2 * (int64_t)first - 2;
        fill_row(pyramid, row, column, pixels, pyramid->boundary[0], pyramid->boundary[1], 0.5f, level[0][i % 2]);
        for (uint32_t k = 1; k < LEVELS && k <= i; k++) {
            const float *above = level[k - 1][0], *below = level[k - 1][1];
            mean(above, below, above + channels, below + channels, 0.5f, count - k * channels, level[k][i % 2]);
        }
        if (i < LEVELS || i % 2 != 0)
            continue;
        const float *above = level[LEVELS - 1][0], *below = level[LEVELS - 1][1];
        mean(above, below, above + channels, below + channels, 1.0f, count - LEVELS * channels, means);
        store_pixels(pyramid, encode(pyramid, count - LEVELS * channels, means, elements), NULL,
                     (begin + (i - LEVELS) / 2) * pyramid->size[0] + first, columns);
    }
}

/* ---------------------------------------------------------------- up */

/* Halves of linear samples a quarter of a pixel after pixels, and before the following ones. */
struct samples {
    _Alignas(64) float after[STRIP], before[STRIP];
    int64_t row;                          /* -1 for none */
};

static float *sample_at(struct samples *samples, int64_t number, uint32_t channels)
{
    return (number % 2 == 0 ? samples->after : samples->before) + number / 2 * channels;
}

/* Samples of a row of them, of pixels from first on. */
static void fill_samples(const blr_pyramid_t *pyramid, int64_t row, int64_t first, uint32_t pixels, struct samples *samples)
{
    _Alignas(64) float blend[STRIP], below[STRIP];
    const uint32_t channels = pyramid->channels, count = pixels * channels;
    const int64_t width = (int64_t)pyramid->extent[0];
    const float follows = row % 2 == 0 ? 0.25f : 0.75f, leads = 1.0f - follows;
    fill_row(pyramid, row / 2, first, pixels + 1, BINDLESS_EDGE, BINDLESS_EDGE, 1.0f, blend);
    fill_row(pyramid, row / 2 + 1, first, pixels + 1, BINDLESS_EDGE, BINDLESS_EDGE, 1.0f, below);
    for (uint32_t i = 0; i < count + channels; i++)
        blend[i] = leads * blend[i] + follows * below[i];
    for (uint32_t i = 0; i < count; i++) {
        samples->after[i] = 0.5f * (0.75f * blend[i] + 0.25f * blend[i + channels]);
        samples->before[i] = 0.5f * (0.25f * blend[i] + 0.75f * blend[i + channels]);
    }
    samples->row = row;
    const int64_t outside[] = {-1, 2 * width - 1, 2 * width};
    for (uint32_t k = 0; k < 3; k++) {
        const int64_t at = bindless_texel_at(outside[k], 2 * width - 1, pyramid->boundary[0]);
        if (outside[k] >= 2 * first && outside[k] < 2 * (first + pixels))
            memcpy(sample_at(samples, outside[k] - 2 * first, channels), sample_at(samples, at - 2 * first, channels),
                   channels * sizeof(float));
    }
}

/* Columns from first on, of rows from begin to end; first is even. */
static void fill_up(const blr_pyramid_t *pyramid, uint64_t begin, uint64_t end, uint64_t first, uint32_t columns)
{
    _Alignas(64) float means[2][STRIP];
    _Alignas(64) unsigned char elements[2][STRIP * sizeof(uint16_t)];
    struct samples samples[2];
    const uint32_t channels = pyramid->channels, of_odd = columns / 2, of_even = columns - of_odd;
    const int64_t from = (int64_t)first / 2 - 2, rows = 2 * (int64_t)pyramid->extent[1] - 1; /* two pixels before */
    samples[0].row = samples[1].row = -1;
    for (uint64_t row = begin; row < end; row++) {
        const struct samples *pair[2];
        for (int64_t k = 0; k < 2; k++) {
            const int64_t at = bindless_texel_at((int64_t)row + k - 1, rows, pyramid->boundary[1]);
            if (samples[at % 2].row != at)
                fill_samples(pyramid, at, from, of_even + 2, &samples[at % 2]);
            pair[k] = &samples[at % 2];
        }
        const float *before[2] = {pair[0]->before + channels, pair[1]->before + channels};
        const float *after[2] = {pair[0]->after + 2 * channels, pair[1]->after + 2 * channels};
        mean(before[0], before[1], after[0], after[1], 1.0f, of_even * channels, means[0]);
        mean(after[0], after[1], before[0] + channels, before[1] + channels, 1.0f, of_odd * channels, means[1]);
        store_pixels(pyramid, encode(pyramid, of_even * channels, means[0], elements[0]),
                     encode(pyramid, of_odd * channels, means[1], elements[1]), row * pyramid->size[0] + first, columns);
    }
}

void blr_pyramid_rows(const blr_pyramid_t *pyramid, uint64_t begin, uint64_t end)
{
    const bool down = pyramid->direction == BLR_PYRAMID_DOWN;
    const uint64_t width = pyramid->size[0], pixels = STRIP / pyramid->channels - 4;
    const uint64_t most = down ? pixels / 2 : 2 * pixels;
    for (uint64_t first = 0; first < width; first += most) {
        const uint32_t columns = (uint32_t)(width - first < most ? width - first : most);
        if (down)
            fill_down(pyramid, begin, end, first, columns);
        else
            fill_up(pyramid, begin, end, first, columns);
    }
}
