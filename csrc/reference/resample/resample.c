/* Division of a picture into tiles, whose texels fit the caches at any angle, and choice of the instruction set. */
#include "resample/resample.h"

#include "bindless/filter/boundary.h"
#include "bindless/filter/weights.h"
#include "platform/cpu_features.h"
#include "platform/thread_pool.h"
#include "runtime/result.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Least number of elements of a tile, its rows and slices, and the columns whose rows are computed together. */
#define TILE_COLUMNS 128u
#define TILE_ITEMS 16384u
#define TILE_ROWS 16u
#define TILE_SLICES 8u
/* The same of aligned pictures, whose rows share the weights of a tile's columns; rows of a tile, and of its picture at
 * least for each. */
#define ALIGNED_ITEMS 65536u
#define ALIGNED_ROWS 64u
#define ALIGNED_SHARE 32u
/* Largest step along a row of an aligned picture: the texels between those that an element reads are summed, too. */
#define ALIGNED_STEP 8.0
/* Texels outside of an image that aligned pictures repeat. */
#define REPEATED 2.0

#if BLR_HAS_VECTOR_SETS
extern const struct blr_resample_set blr_resample_set_avx2, blr_resample_set_avx512;
#endif

static const struct blr_resample_set *best_set(uint32_t flags)
{
#if BLR_HAS_VECTOR_SETS
    if (!(flags & BLR_TEXTURE_NO_VECTORS) && blr_processor_has_avx2())
        return !(flags & BLR_TEXTURE_NO_AVX512) && blr_processor_has_avx512() ? &blr_resample_set_avx512
                                                                              : &blr_resample_set_avx2;
#else
    (void)flags;
#endif
    return &blr_resample_set;
}

static enum blr_texel_kind kind_of(const struct blr_format *format)
{
    if (format->packing != NULL)
        return BLR_TEXEL_PACKED;
    if (format->class == BLR_CLASS_SNORM)
        return format->size == 1 ? BLR_TEXEL_SNORM8 : BLR_TEXEL_SNORM16;
    switch (format->storage) {
    case BLR_ELEMENT_S8: return BLR_TEXEL_S8;
    case BLR_ELEMENT_U8: return BLR_TEXEL_U8;
    case BLR_ELEMENT_S16: return BLR_TEXEL_S16;
    case BLR_ELEMENT_U16: return BLR_TEXEL_U16;
    case BLR_ELEMENT_S32: return BLR_TEXEL_S32;
    case BLR_ELEMENT_U32: return BLR_TEXEL_U32;
    case BLR_ELEMENT_F16: return BLR_TEXEL_F16;
    case BLR_ELEMENT_F32: break;
    }
    return BLR_TEXEL_F32;
}

/* Positions along an axis of n texels that need no test, and those that have a value. */
static void limit(struct blr_resample *resample, int axis)
{
    const uint32_t taps = bindless_taps(resample->picture.interpolation);
    const double n = (double)resample->extent[axis], last = n - 1.0;
    const double begin = fmax((double)resample->origin[axis], 0.0);
    const double end = fmin((double)(resample->origin[axis] + resample->window_size[axis]), n) - 1.0;
    double *interior = resample->interior[axis], *range = resample->value_range[axis];
    const double shift = (double)bindless_tap_shift(taps), before = bindless_taps_before(taps), after = taps - 1 - before;
    interior[0] = taps == 1 ? begin : begin + before - shift;
    interior[1] = taps == 1 ? end : nextafter(end + 1.0 - after - shift, -1.0);
    range[0] = -DBL_MAX;
    range[1] = DBL_MAX;
    const blr_boundary_t boundary = resample->picture.boundary[axis];
    if (bindless_has_extent(boundary)) {
        range[0] = -(double)bindless_extent(boundary);
        range[1] = last + (double)bindless_extent(boundary);
    } else if (bindless_has_border(boundary)) { /* at least one texel of the filter exists */
        range[0] = -0.5 * taps;
        range[1] = taps == 1 && resample->picture.ties_to_even ? last + 0.5 : nextafter(last + 0.5 * taps, -1.0);
    }
}

/* Whether each row of the picture reads rows of the image alone in steps of few texels. */
static bool is_aligned(const struct blr_resample *resample)
{
    const blr_resampling_t *picture = &resample->picture;
    bool aligned = resample->straight && resample->has_inside && resample->dimensions > 1 && !picture->ignore_nan &&
                   picture->precision == BLR_PRECISION_EXACT && fabs(picture->matrix[0]) <= ALIGNED_STEP &&
                   picture->value_channels == resample->texture->desc.num_channels;
    for (uint32_t d = 0; d < resample->dimensions; d++)
        for (uint32_t k = 0; k < 3; k++)
            aligned &= k == d || picture->matrix[4 * d + k] == 0.0;
    return aligned;
}

/* Whether products of codes and of linear weights, as positions have few bits, and their sums are exact in 24 bits: weights
 * along both axes have 8 bits for codes of 8, and 4 for those of 16. */
static bool has_exact_floats(const struct blr_resample *resample)
{
    const struct blr_format *format = resample->texture->format;
    const bool is_code = (format->class == BLR_CLASS_SIGNED || format->class == BLR_CLASS_UNSIGNED) && format->size <= 2;
    const double parts = format->size == 1 ? 256.0 : 16.0;
    bool exact = is_code && resample->picture.interpolation == BLR_INTERPOLATION_LINEAR && resample->dimensions == 2;
    for (uint32_t d = 0; d < resample->dimensions; d++) {
        const double *row = resample->picture.matrix + 4 * d, step = 0.5 * parts * row[d], start = parts * row[3];
        exact &= step == rint(step) && start == rint(start) && fabs(start) < 0x1p48;
    }
    return exact;
}

/* Bytes from the texels of an element to about those of the element in the next slice, or row of a plane. */
static int64_t bytes_ahead(const struct blr_resample *resample)
{
    const uint32_t last = resample->dimensions - 1;
    double bytes = 0.0;
    for (uint32_t d = 0; d <= last; d++)
        bytes += rint(resample->picture.matrix[4 * d + last]) * (double)resample->step[d];
    return last > 0 && fabs(bytes) < 0x1p40 ? (int64_t)bytes : 0;
}

static void derive(struct blr_resample *resample)
{
    static const double last_row[4] = {0, 0, 0, 1};
    const struct blr_texture *texture = resample->texture;
    const struct blr_texture_level *level = &texture->level[0];
    resample->dimensions = texture->dimensions;
    resample->projective = false;
    for (int i = 0; i < 4; i++)
        resample->projective |= !(resample->picture.matrix[12 + i] == last_row[i]);
    resample->straight = !resample->projective && resample->picture.coordinates == NULL;
    resample->kind = kind_of(texture->format);
    resample->has_doubles = resample->kind >= BLR_TEXEL_S32 || resample->picture.double_sums;
    const int64_t extent[3] = {level->width, level->height, level->depth};
    const int64_t row = (int64_t)texture->pixel_size * level->width;
    int64_t step[3] = {texture->pixel_size, (int64_t)level->row_pitch, (int64_t)level->slice_pitch};
    if (resample->picture.texels != NULL) {
        step[1] = row;
        step[2] = row * level->height;
    }
    memcpy(resample->extent, extent, sizeof extent);
    memcpy(resample->step, step, sizeof step);
    resample->is_window = resample->picture.whole[0] != 0;
    for (int i = 0; i < 3; i++) {
        const bool lacking = (uint32_t)i >= resample->dimensions;
        resample->window_size[i] = extent[i];
        resample->origin[i] = resample->is_window && !lacking ? resample->picture.origin[i] : 0;
        if (resample->is_window && !lacking)
            resample->extent[i] = (int64_t)resample->picture.whole[i];
        limit(resample, i);
    }
    resample->prefetch_offset = resample->straight ? bytes_ahead(resample) : 0;
    resample->has_inside = step[1] <= INT32_MAX && step[2] <= INT32_MAX &&
                           (resample->kind == BLR_TEXEL_F32 || !bindless_is_other_spline(resample->picture.interpolation));
    resample->is_aligned = is_aligned(resample);
    resample->has_exact_floats = resample->is_aligned && has_exact_floats(resample);
    resample->texels = resample->picture.texels != NULL
                           ? resample->picture.texels
                           : (const unsigned char *)level->data + resample->picture.layer * level->slice_pitch;
    int64_t before = 0;
    for (int i = 0; i < 3; i++)
        before += resample->origin[i] * step[i];
    resample->origin_texel = (const unsigned char *)((uintptr_t)resample->texels - (uintptr_t)before);
}

/* ---------------------------------------------------------------- tiles */

struct tiling {
    const struct blr_resample *resample;
    const struct blr_resample_set *set;
    uint64_t edge[3], count[3];           /* elements of a tile, and tiles, along each axis */
};

static uint64_t minimum(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* The elements from begin to end along each axis, row by row. */
static void run_box(const struct tiling *tiling, const uint64_t begin[3], const uint64_t end[3])
{
    const struct blr_resample *resample = tiling->resample;
    if (begin[0] >= end[0])
        return;
    const bool exact = resample->picture.precision == BLR_PRECISION_EXACT;
    const uint64_t columns = minimum(end[0] - begin[0], TILE_COLUMNS);
    const uint64_t groups = (columns + BLR_RESAMPLE_GROUP - 1) / BLR_RESAMPLE_GROUP * BLR_RESAMPLE_GROUP;
    const uint64_t rows = exact && end[1] - begin[1] > 1 ? BLR_RESAMPLE_BLOCK / groups : 1;
    struct blr_resample_part part;
    for (part.slice = begin[2]; part.slice < end[2]; part.slice++)
        for (part.column = begin[0]; part.column < end[0]; part.column += part.count) {
            part.count = (uint32_t)minimum(end[0] - part.column, rows == 1 ? BLR_RESAMPLE_BLOCK : TILE_COLUMNS);
            for (part.row = begin[1]; part.row < end[1]; part.row += part.rows) {
                part.rows = (uint32_t)minimum(end[1] - part.row, rows);
                if (exact)
                    tiling->set->filter(resample, &part);
                else
                    blr_resample_sample(resample, tiling->set, &part);
            }
        }
}

/* Whether all texels exist, or repeat the outermost ones, that an aligned picture's element reads along an axis. */
static bool is_inside(const struct tiling *tiling, const uint64_t element[3], uint32_t axis)
{
    const struct blr_resample *resample = tiling->resample;
    const bool repeats = resample->picture.boundary[axis] == BLR_BOUNDARY_EDGE && !resample->is_window;
    const double *interior = resample->interior[axis], last = (double)resample->extent[axis] - 1.0;
    double at[3];
    const struct blr_resample_part part = {element[0], element[1], element[2], 1, 1};
    tiling->set->place(resample, &part, resample->picture.centre, (double *const[3]){&at[0], &at[1], &at[2]});
    return at[axis] >= (repeats ? -REPEATED : interior[0]) && at[axis] <= (repeats ? last + REPEATED : interior[1]);
}

/* A box of an aligned picture: the elements inside together, those around them row by row. Positions along an axis go one
 * way. */
static void run_aligned(const struct tiling *tiling, uint64_t begin[3], uint64_t end[3])
{
    for (uint32_t d = tiling->resample->dimensions; d-- > 0;) {
        const uint64_t edge[2] = {begin[d], end[d]};
        uint64_t element[3], bound[3];
        memcpy(element, begin, sizeof element);
        while (element[d] < edge[1] && !is_inside(tiling, element, d))
            element[d]++;
        const uint64_t first = element[d];
        for (element[d] = edge[1] - 1; element[d] > first && !is_inside(tiling, element, d);)
            element[d]--;
        const uint64_t last = first < edge[1] ? element[d] + 1 : edge[1];
        memcpy(bound, end, sizeof bound);
        bound[d] = first;
        if (first > edge[0])
            run_box(tiling, begin, bound);
        begin[d] = last;
        if (last < edge[1])
            run_box(tiling, begin, end);
        begin[d] = first;
        end[d] = last;
        if (first == last)
            return;
    }
    tiling->set->filter_box(tiling->resample, begin, end);
}

static void run_tile(const struct tiling *tiling, uint64_t number)
{
    const uint64_t *size = tiling->resample->picture.size;
    const uint64_t tile[3] = {number % tiling->count[0], number / tiling->count[0] % tiling->count[1],
                              number / tiling->count[0] / tiling->count[1]};
    uint64_t begin[3], end[3];
    for (int i = 0; i < 3; i++) {
        begin[i] = tile[i] * tiling->edge[i];
        end[i] = minimum(begin[i] + tiling->edge[i], size[i]);
    }
    if (tiling->resample->is_aligned)
        run_aligned(tiling, begin, end);
    else
        run_box(tiling, begin, end);
}

static bool run_tiles(void *argument, uint64_t begin, uint64_t end)
{
    for (uint64_t number = begin; number < end; number++)
        run_tile(argument, number);
    return true;
}

void blr_resample_run(struct blr_resample *resample)
{
    const uint64_t *size = resample->picture.size;
    if (size[0] == 0 || size[1] == 0 || size[2] == 0)
        return;
    derive(resample);
    struct tiling tiling = {.resample = resample, .set = best_set(resample->texture->flags)};
    tiling.edge[2] = minimum(size[2], TILE_SLICES);
    tiling.edge[1] = minimum(size[1], TILE_ROWS);
    uint64_t items = TILE_ITEMS;
    if (resample->is_aligned && size[1] / ALIGNED_SHARE > TILE_ROWS) {
        tiling.edge[1] = minimum(size[1] / ALIGNED_SHARE, ALIGNED_ROWS);
        items = ALIGNED_ITEMS;
    }
    tiling.edge[0] = (items / (tiling.edge[1] * tiling.edge[2]) + TILE_COLUMNS - 1) / TILE_COLUMNS * TILE_COLUMNS;
    for (int i = 0; i < 3; i++)
        tiling.count[i] = (size[i] + tiling.edge[i] - 1) / tiling.edge[i];
    blr_parallel_for(tiling.count[0] * tiling.count[1] * tiling.count[2], 1, run_tiles, &tiling);
}

blr_result_t blrFollowLens(const double *lens, const double *matrix, uint64_t count, double *x, double *y)
{
    if (count == 0)
        return BLR_RESULT_SUCCESS;
    if (lens == NULL || matrix == NULL || x == NULL || y == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%s NULL: a lens, a matrix and %" PRIu64 " positions are needed",
                        lens == NULL ? "lens is" : matrix == NULL ? "matrix is" : "positions are", count);
    const struct blr_resample_set *set = best_set(0);
    for (uint64_t first = 0; first < count; first += BLR_RESAMPLE_BLOCK) {
        const uint64_t rest = count - first;
        set->follow_lens(lens, matrix, (uint32_t)(rest < BLR_RESAMPLE_BLOCK ? rest : BLR_RESAMPLE_BLOCK), x + first, y + first);
    }
    return BLR_RESULT_SUCCESS;
}
