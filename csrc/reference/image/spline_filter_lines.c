/* Lines of B-spline coefficients. Compiled for each instruction set; results are bit-identical.
 *
 * A panel is an array of samples of neighbouring lines: `width` floats for each position along the lines. */
#include "image/spline_filter.h"

#include "bindless/filter/boundary.h"
#include "image/transpose_floats.h"

#include <string.h>

#define LANES BLR_SPLINE_LANES

#if defined(__GNUC__) || defined(__clang__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

/* ---------------------------------------------------------------- the recursion */

/* Sample of a line of n that continues beyond its ends, at position i. */
static uint64_t continue_index(int64_t i, uint64_t n, blr_spline_boundary_t boundary)
{
    const unsigned int continuation = boundary == BLR_SPLINE_MIRROR            ? BINDLESS_MIRROR
                                      : boundary == BLR_SPLINE_MIRRORED_REPEAT ? BINDLESS_MIRRORED_REPEAT
                                                                               : BINDLESS_REPEAT;
    return (uint64_t)bindless_texel_at(i, (int64_t)n, continuation);
}

/* The forward recursion along lines that are `stride` floats from sample to sample. */
INLINE void forwards(const float *restrict lines, uint64_t stride, float *restrict panel, uint64_t n, const uint64_t width,
                     blr_spline_boundary_t boundary, struct blr_spline_pole of)
{
    const float pole = of.pole;
    float *restrict first = panel;
    for (uint64_t j = 0; j < width; j++)
        first[j] = 0.0f;
    for (int64_t i = -(int64_t)of.reach; i <= 0; i++) {
        const float *restrict sample = lines + continue_index(i, n, boundary) * stride;
        for (uint64_t j = 0; j < width; j++)
            first[j] = sample[j] + pole * first[j];
    }
    for (uint64_t i = 1; i < n; i++) {
        const float *restrict sample = lines + i * stride, *restrict before = panel + (i - 1) * width;
        float *restrict now = panel + i * width;
        for (uint64_t j = 0; j < width; j++)
            now[j] = sample[j] + pole * before[j];
    }
}

/* The last coefficients: the limit of the backward recursion over lines that continue. */
INLINE void finish(const float *restrict panel, float *restrict last, uint64_t n, const uint64_t width,
                   blr_spline_boundary_t boundary, struct blr_spline_pole of)
{
    const float pole = of.pole, gain = of.gain;
    const float *restrict end = panel + (n - 1) * width, *restrict before = end - (n > 1 ? width : 0);
    if (boundary == BLR_SPLINE_MIRROR) {
        const float factor = gain * pole / (pole * pole - 1.0f);
        for (uint64_t j = 0; j < width; j++)
            last[j] = factor * (end[j] + pole * before[j]);
    } else if (boundary == BLR_SPLINE_MIRRORED_REPEAT) {
        const float factor = gain * pole / (pole - 1.0f);
        for (uint64_t j = 0; j < width; j++)
            last[j] = factor * end[j];
    } else {
        for (uint64_t j = 0; j < width; j++)
            last[j] = 0.0f;
        for (uint64_t i = of.reach + 1; i-- > 0;) {
            const float *restrict next = panel + (n - 1 + i) % n * width;
            for (uint64_t j = 0; j < width; j++)
                last[j] = pole * (last[j] - gain * next[j]);
        }
    }
}

/* ---------------------------------------------------------------- columns */

uint64_t blr_spline_panels(const struct blr_spline *spline, unsigned axis)
{
    const uint64_t row = spline->size[0] * spline->channels;
    return ((axis == 1 ? row : row * spline->size[1]) + spline->panel - 1) / spline->panel;
}

static void filter_panel(float *lines, uint64_t stride, uint64_t n, uint64_t width, blr_spline_boundary_t boundary,
                         struct blr_spline_pole of, float *panel)
{
    const float pole = of.pole, gain = of.gain;
    forwards(lines, stride, panel, n, width, boundary, of);
    float *restrict last = panel + n * width;
    finish(panel, last, n, width, boundary, of);
    memcpy(lines + (n - 1) * stride, last, width * sizeof *last);
    for (uint64_t i = n - 1; i-- > 0;) {
        const float *restrict now = panel + i * width;
        float *restrict result = lines + i * stride;
        for (uint64_t j = 0; j < width; j++) {
            last[j] = pole * (last[j] - gain * now[j]);
            result[j] = last[j];
        }
    }
}

void blr_spline_columns(const struct blr_spline *spline, unsigned axis, uint64_t begin, uint64_t end, void *scratch)
{
    const uint64_t row = spline->size[0] * spline->channels, stride = axis == 1 ? row : row * spline->size[1];
    const uint64_t n = spline->size[axis], panels = blr_spline_panels(spline, axis);
    if (n == 1)
        return;
    for (uint64_t i = begin; i < end; i++) {
        const uint64_t first = i % panels * spline->panel, rest = stride - first;
        const uint64_t width = rest < spline->panel ? rest : spline->panel;
        for (uint32_t k = 0; k < spline->num_poles; k++)
            filter_panel(spline->target + i / panels * n * stride + first, stride, n, width, spline->boundary[axis],
                         spline->poles[k], scratch);
    }
}

/* ---------------------------------------------------------------- rows */

/* A piece of a row: part of the line that is filtered, with the samples in reach before and after it if the row has others. */
struct piece {
    uint64_t row, first, count; /* count: samples of the target */
};

static uint64_t reach_of(const struct blr_spline *spline) { return spline->pieces > 1 ? spline->reach : 0; }

static uint64_t line_of(const struct blr_spline *spline) { return spline->piece + 2 * reach_of(spline); }

static struct piece piece_of(const struct blr_spline *spline, uint64_t i)
{
    const uint64_t first = i % spline->pieces * spline->piece, rest = spline->size[0] - first;
    return (struct piece){i / spline->pieces, first, rest < spline->piece ? rest : spline->piece};
}

static const float *source_row(const struct blr_spline *spline, uint64_t row)
{
    const uint64_t slice = row / spline->size[1], array = slice / spline->size[2];
    int64_t at[2] = {(int64_t)(row % spline->size[1]), (int64_t)(slice % spline->size[2])};
    for (int i = 0; i < 2; i++) {
        const int64_t last = (int64_t)spline->extent[1 + i] - 1;
        at[i] -= (int64_t)spline->margin[1 + i];
        if (spline->fills_margin && (at[i] < 0 || at[i] > last))
            return NULL;
        at[i] = at[i] < 0 ? 0 : at[i] > last ? last : at[i];
    }
    const uint64_t from = (array * spline->extent[2] + (uint64_t)at[1]) * spline->extent[1] + (uint64_t)at[0];
    return spline->source + from * spline->extent[0] * spline->channels;
}

/* Samples [from, to) of a line that begins at `begin` of a row: of its margin, or of its continuation. */
static void collect(const struct blr_spline *spline, const float *row, int64_t begin, uint64_t from, uint64_t to, float *line)
{
    const uint64_t channels = spline->channels;
    const int64_t last = (int64_t)spline->extent[0] - 1;
    for (uint64_t i = from; i < to; i++) {
        const uint64_t place = continue_index(begin + (int64_t)i, spline->size[0], spline->boundary[0]);
        int64_t at = (int64_t)place - (int64_t)spline->margin[0];
        const bool filled = spline->fills_margin && (at < 0 || at > last);
        at = at < 0 ? 0 : at > last ? last : at;
        for (uint64_t c = 0; c < channels; c++)
            line[i * channels + c] = filled ? spline->fill : row[(uint64_t)at * channels + c];
    }
}

static uint64_t clamp(int64_t value, uint64_t maximum)
{
    return value < 0 ? 0 : (uint64_t)value < maximum ? (uint64_t)value : maximum;
}

/* Samples of a piece, line_of in number: in place, or collected in `line`. */
static const float *samples_of(const struct blr_spline *spline, struct piece piece, float *line)
{
    const float *row = source_row(spline, piece.row);
    const uint64_t channels = spline->channels, count = line_of(spline);
    const int64_t begin = (int64_t)piece.first - (int64_t)reach_of(spline), offset = begin - (int64_t)spline->margin[0];
    /* Samples [from, to) of the line are those of the source, from `offset` on. */
    const uint64_t from = clamp(-offset, count), to = clamp((int64_t)spline->extent[0] - offset, count);
    if (row != NULL && from == 0 && to == count)
        return row + (uint64_t)offset * channels;
    if (row == NULL) {
        for (uint64_t i = 0; i < count * channels; i++)
            line[i] = spline->fill;
        return line;
    }
    collect(spline, row, begin, 0, from, line);
    if (from < to)
        memcpy(line + from * channels, row + (uint64_t)(offset + (int64_t)from) * channels,
               (to - from) * channels * sizeof *line);
    collect(spline, row, begin, to, count, line);
    return line;
}

/* Panels of LANES lines: sample i of line r is at i * LANES * channels + r * channels. */
INLINE void load_lines(const float *const *lines, uint64_t n, float *panel, const uint64_t channels)
{
    uint64_t i = 0;
    for (; channels == 1 && i + 4 <= n; i += 4)
        for (uint64_t r = 0; r < LANES; r += 4) {
            float *at = panel + i * LANES + r;
            blr_transpose_4((const float *const[4]){lines[r] + i, lines[r + 1] + i, lines[r + 2] + i, lines[r + 3] + i},
                            (float *const[4]){at, at + LANES, at + 2 * LANES, at + 3 * LANES});
        }
    for (; i < n; i++)
        for (uint64_t r = 0; r < LANES; r++)
            for (uint64_t c = 0; c < channels; c++)
                panel[(i * LANES + r) * channels + c] = lines[r][i * channels + c];
}

/* Stores samples [0, counts[r]) of each line; common is the least of the counts. */
INLINE void store_lines(const float *panel, float *const *lines, const uint64_t *counts, uint64_t common, uint64_t used,
                        const uint64_t channels)
{
    uint64_t i = 0;
    for (; channels == 1 && used == LANES && i + 4 <= common; i += 4)
        for (uint64_t r = 0; r < LANES; r += 4) {
            const float *at = panel + i * LANES + r;
            blr_transpose_4((const float *const[4]){at, at + LANES, at + 2 * LANES, at + 3 * LANES},
                            (float *const[4]){lines[r] + i, lines[r + 1] + i, lines[r + 2] + i, lines[r + 3] + i});
        }
    for (uint64_t r = 0; r < used; r++)
        for (uint64_t k = i; k < counts[r]; k++)
            for (uint64_t c = 0; c < channels; c++)
                lines[r][k * channels + c] = panel[(k * LANES + r) * channels + c];
}

/* Both recursions of a pole over a panel, in place. */
INLINE void filter_lines(const struct blr_spline *spline, struct blr_spline_pole of, float *panel, uint64_t n,
                         const uint64_t width)
{
    const float pole = of.pole, gain = of.gain;
    float last[LANES * 4];
    if (spline->pieces > 1) { /* samples of neighbours lead to the first and last ones */
        for (uint64_t j = 0; j < width; j++)
            last[j] = 0.0f;
        for (uint64_t i = 1; i < n; i++)
            for (uint64_t j = 0; j < width; j++)
                panel[i * width + j] += pole * panel[(i - 1) * width + j];
    } else {
        for (uint64_t j = 0; j < width; j++)
            last[j] = 0.0f;
        for (uint64_t i = of.reach; i > 0; i--) {
            const float *sample = panel + continue_index(-(int64_t)i, n, spline->boundary[0]) * width;
            for (uint64_t j = 0; j < width; j++)
                last[j] = sample[j] + pole * last[j];
        }
        for (uint64_t i = 0; i < n; i++)
            for (uint64_t j = 0; j < width; j++)
                panel[i * width + j] = last[j] = panel[i * width + j] + pole * last[j];
        finish(panel, last, n, width, spline->boundary[0], of);
        n--;
        memcpy(panel + n * width, last, width * sizeof *last);
    }
    for (uint64_t i = n; i-- > 0;)
        for (uint64_t j = 0; j < width; j++)
            panel[i * width + j] = last[j] = pole * (last[j] - gain * panel[i * width + j]);
}

INLINE void filter_rows(const struct blr_spline *spline, uint64_t begin, uint64_t end, float *scratch,
                        const uint64_t channels)
{
    const uint64_t n = line_of(spline), width = LANES * channels;
    float *panel = scratch + LANES * n * channels;
    for (uint64_t i = begin; i < end; i += LANES) {
        const float *samples[LANES];
        float *results[LANES];
        uint64_t counts[LANES], common = spline->piece;
        const uint64_t used = end - i < LANES ? end - i : LANES;
        for (uint64_t r = 0; r < LANES; r++) {
            const struct piece piece = piece_of(spline, i + (r < used ? r : used - 1));
            samples[r] = samples_of(spline, piece, scratch + r * n * channels);
            results[r] = spline->target + (piece.row * spline->size[0] + piece.first) * channels;
            counts[r] = piece.count;
            common = piece.count < common ? piece.count : common;
        }
        load_lines(samples, n, panel, channels);
        for (uint32_t k = 0; k < spline->num_poles && spline->size[0] > 1; k++)
            filter_lines(spline, spline->poles[k], panel, n, width);
        store_lines(panel + reach_of(spline) * width, results, counts, common, used, channels);
    }
}

void blr_spline_rows(const struct blr_spline *spline, uint64_t begin, uint64_t end, void *scratch)
{
    switch (spline->channels) {
    case 1: filter_rows(spline, begin, end, scratch, 1); return;
    case 2: filter_rows(spline, begin, end, scratch, 2); return;
    case 3: filter_rows(spline, begin, end, scratch, 3); return;
    default: filter_rows(spline, begin, end, scratch, 4);
    }
}

size_t blr_spline_scratch(const struct blr_spline *spline)
{
    const uint64_t rows = 2 * LANES * line_of(spline) * spline->channels;
    const uint64_t y = spline->dimensions > 1 ? spline->size[1] : 0, z = spline->dimensions > 2 ? spline->size[2] : 0;
    const uint64_t columns = ((y > z ? y : z) + 1) * spline->panel;
    return (size_t)((rows > columns ? rows : columns) * sizeof(float));
}
