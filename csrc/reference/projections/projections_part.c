/* Sums along a row of rays, and their transpose. Compiled for each instruction set; results are bit-identical. */
#include "projections/projections.h"

#include "bindless/filter/curve.h"

#include <math.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

#define BLOCK BLR_RAY_BLOCK

#define FARTHEST 1e9                      /* places and steps of rays that count, in texels */
#define NEAREST 1e-6                      /* of texels to the source, as a share of the detector's distance */

/* Rays of a block: places at the middle plane, and steps from a plane to the next. */
struct rays {
    float across[BLOCK], across_step[BLOCK];
    float up[BLOCK], up_step[BLOCK];
    float length[BLOCK];                  /* between two planes; 0 for rays that count for nothing */
    float middle;                         /* number of the middle plane */
    uint32_t begin, end;                  /* planes that a ray may touch */
    bool is_flat;                         /* all lie in the only layer of the volume */
};

/* The numbers k between which place + (k - middle) * step lies in (-1, size). */
INLINE void limit(double place, double step, double middle, double size, double *low, double *high)
{
    if (step == 0) {
        if (!(place > -1 && place < size))
            *high = -1;
        return;
    }
    double first = (-1 - place) / step + middle, last = (size - place) / step + middle;
    *low = fmax(*low, fmin(first, last));
    *high = fmin(*high, fmax(first, last));
}

/* A ray to a curved detector; the first pixel of the view is the foot. */
static void turn_ray(const struct blr_axial_view *view, const double curve[2], double row, double point[3], double direction[3])
{
    for (int d = 0; d < 3; d++) {
        direction[d] = curve[0] * (view->first[d] - view->source[d]) + curve[1] * view->column[d] + row * view->row[d];
        point[d] = view->source[d] + direction[d];
    }
}

/* The rays of the columns from `first` on. */
static void find_rays(const struct blr_axial_view *view, const struct blr_ray_row *row, uint32_t first, struct rays *rays)
{
    const uint32_t rest = row->columns - first, count = rest < BLOCK ? rest : BLOCK;
    const double middle = floor(0.5 * (view->size[ALONG] - 1));
    double lowest = row->end, highest = -1;
    rays->middle = (float)middle;
    rays->is_flat = view->size[UP] == 1;
    for (uint32_t i = 0; i < BLOCK; i++) {
        double point[3], direction[3];
        for (int d = 0; d < 3; d++) {
            point[d] = view->first[d] + (first + i) * view->column[d] + row->row * view->row[d];
            direction[d] = view->is_parallel ? view->source[d] : point[d] - view->source[d];
        }
        if (view->curve != NULL && i < count)
            turn_ray(view, view->curve[first + i], row->row - view->foot_row, point, direction);
        const double across_step = direction[ACROSS] / direction[ALONG], up_step = direction[UP] / direction[ALONG];
        const double across = point[ACROSS] + (middle - point[ALONG]) * across_step;
        const double up = point[UP] + (middle - point[ALONG]) * up_step;
        double low = 0, high = (double)view->size[ALONG] - 1;
        limit(across, across_step, middle, view->size[ACROSS], &low, &high);
        limit(up, up_step, middle, view->size[UP], &low, &high);
        const bool counts = i < count && fabs(across) < FARTHEST && fabs(across_step) < FARTHEST && fabs(up) < FARTHEST &&
                            fabs(up_step) < FARTHEST && low <= high;
        rays->across[i] = counts ? (float)across : -8;
        rays->across_step[i] = counts ? (float)across_step : 0;
        rays->up[i] = counts ? (float)up : -8;
        rays->up_step[i] = counts ? (float)up_step : 0;
        const double a = across_step * view->spacing[ACROSS], u = up_step * view->spacing[UP];
        rays->length[i] = counts ? (float)sqrt(a * a + u * u + view->spacing[ALONG] * view->spacing[ALONG]) : 0;
        if (counts) {
            rays->is_flat = rays->is_flat && up == 0 && up_step == 0;
            lowest = fmin(lowest, low);
            highest = fmax(highest, high);
        }
    }
    /* One plane more on both sides: places are rounded to float. Taps outside weigh nothing. */
    lowest = fmax(floor(lowest) - 1, row->begin);
    highest = fmin(ceil(highest) + 2, row->end);
    rays->begin = (uint32_t)lowest;
    rays->end = highest > lowest ? (uint32_t)highest : rays->begin;
}

/* Offsets and weights of the two taps of each ray along an axis. */
struct taps {
    int32_t offset[2][BLOCK];
    float weight[2][BLOCK];
};

INLINE int32_t clamp(int32_t index, int32_t last)
{
    index = index < 0 ? 0 : index;
    return index > last ? last : index;
}

/* Products with 0 and 1 instead of choices: compilers make branches of these. */
INLINE void find_taps(const float place[BLOCK], const float step[BLOCK], float along, int32_t size, int32_t stride,
                      struct taps *taps)
{
    const int32_t last = size - 1;
    for (uint32_t i = 0; i < BLOCK; i++) {
        float at = place[i] + along * step[i];
        at = at > -2 ? at : -2;           /* also of what is no number */
        at = at > (float)size + 1 ? (float)size + 1 : at;
        const float low = floorf(at), part = at - low;
        const int32_t index = (int32_t)low;
        const int32_t first = clamp(index, last), second = clamp(index + 1, last);
        taps->offset[0][i] = first * stride;
        taps->offset[1][i] = second * stride;
        taps->weight[0][i] = (1 - part) * (float)(index == first);
        taps->weight[1][i] = part * (float)(index + 1 == second);
    }
}

INLINE void project(const struct blr_axial_view *view, const struct rays *rays, const float *volume, bool is_flat,
                    float sums[BLOCK])
{
    struct taps across, up;
    float texels[4][BLOCK];
    for (uint32_t k = rays->begin; k < rays->end; k++) {
        const float along = (float)k - rays->middle;
        const float *plane = volume + (int64_t)k * view->strides[ALONG];
        find_taps(rays->across, rays->across_step, along, (int32_t)view->size[ACROSS], (int32_t)view->strides[ACROSS], &across);
        if (!is_flat)
            find_taps(rays->up, rays->up_step, along, (int32_t)view->size[UP], (int32_t)view->strides[UP], &up);
        for (uint32_t i = 0; i < BLOCK; i++) {
            const float *lower = is_flat ? plane : plane + up.offset[0][i];
            texels[0][i] = lower[across.offset[0][i]];
            texels[1][i] = lower[across.offset[1][i]];
        }
        for (uint32_t i = 0; !is_flat && i < BLOCK; i++) {
            const float *upper = plane + up.offset[1][i];
            texels[2][i] = upper[across.offset[0][i]];
            texels[3][i] = upper[across.offset[1][i]];
        }
        for (uint32_t i = 0; i < BLOCK; i++) {
            float sum = across.weight[0][i] * texels[0][i] + across.weight[1][i] * texels[1][i];
            if (!is_flat)
                sum = up.weight[0][i] * sum +
                      up.weight[1][i] * (across.weight[0][i] * texels[2][i] + across.weight[1][i] * texels[3][i]);
            sums[i] += sum;
        }
    }
}

INLINE void spread(const struct blr_axial_view *view, const struct rays *rays, const float values[BLOCK], bool is_flat,
                   float *volume)
{
    struct taps across, up;
    float parts[4][BLOCK];
    for (uint32_t k = rays->begin; k < rays->end; k++) {
        const float along = (float)k - rays->middle;
        float *plane = volume + (int64_t)k * view->strides[ALONG];
        find_taps(rays->across, rays->across_step, along, (int32_t)view->size[ACROSS], (int32_t)view->strides[ACROSS], &across);
        if (is_flat) {
            for (uint32_t i = 0; i < BLOCK; i++) {
                parts[0][i] = across.weight[0][i] * values[i];
                parts[1][i] = across.weight[1][i] * values[i];
            }
            for (uint32_t i = 0; i < BLOCK; i++) {
                plane[across.offset[0][i]] += parts[0][i];
                plane[across.offset[1][i]] += parts[1][i];
            }
            continue;
        }
        find_taps(rays->up, rays->up_step, along, (int32_t)view->size[UP], (int32_t)view->strides[UP], &up);
        for (uint32_t i = 0; i < BLOCK; i++) {
            const float lower = up.weight[0][i] * values[i], upper = up.weight[1][i] * values[i];
            parts[0][i] = across.weight[0][i] * lower;
            parts[1][i] = across.weight[1][i] * lower;
            parts[2][i] = across.weight[0][i] * upper;
            parts[3][i] = across.weight[1][i] * upper;
        }
        for (uint32_t i = 0; i < BLOCK; i++) {
            float *lower = plane + up.offset[0][i], *upper = plane + up.offset[1][i];
            lower[across.offset[0][i]] += parts[0][i];
            lower[across.offset[1][i]] += parts[1][i];
            upper[across.offset[0][i]] += parts[2][i];
            upper[across.offset[1][i]] += parts[3][i];
        }
    }
}

static void project_row(const struct blr_axial_view *view, const struct blr_ray_row *row, const float *volume, float *values)
{
    struct rays rays;
    for (uint32_t first = 0; first < row->columns; first += BLOCK) {
        float sums[BLOCK] = {0};
        find_rays(view, row, first, &rays);
        if (rays.is_flat)
            project(view, &rays, volume, true, sums);
        else
            project(view, &rays, volume, false, sums);
        for (uint32_t i = 0; i < BLOCK && first + i < row->columns; i++)
            values[first + i] = sums[i] * rays.length[i];
    }
}

static void spread_row(const struct blr_axial_view *view, const struct blr_ray_row *row, const float *values, float *volume)
{
    struct rays rays;
    for (uint32_t first = 0; first < row->columns; first += BLOCK) {
        float weighted[BLOCK] = {0};
        find_rays(view, row, first, &rays);
        for (uint32_t i = 0; i < BLOCK && first + i < row->columns; i++)
            weighted[i] = values[first + i] * rays.length[i];
        if (rays.is_flat)
            spread(view, &rays, weighted, true, volume);
        else
            spread(view, &rays, weighted, false, volume);
    }
}

/* ---------------------------------------------------------------- from texels to pixels */

INLINE double at_row(const double linear[4], uint32_t y, uint32_t z)
{
    return linear[1] * y + linear[2] * z + linear[3];
}

/* Places of a row of texels on a detector, beside its first pixel, and what their values are multiplied by. */
struct places {
    float column[BLOCK], row[BLOCK], factor[BLOCK];
};

/* `start` has the column, the row and the distance of the first texel of the row. What is read of the map is in variables, for
 * compilers know that the stores do not change these. */
INLINE void find_places(const struct blr_detector_map *map, const double start[3], uint32_t first, struct places *places)
{
    const double column = start[0], row = start[1], distance = map->is_parallel ? 1 : start[2];
    const double column_step = map->column[0], row_step = map->row[0], step = map->is_parallel ? 0 : map->distance[0];
    const uint32_t power = map->power;
    for (int32_t i = 0; i < (int32_t)BLOCK; i++) {
        const double x = (int32_t)first + i, away = distance + step * x, inverse = 1 / away;
        const bool is_seen = away > NEAREST;
        const float to_column = (float)((column + column_step * x) * inverse), to_row = (float)((row + row_step * x) * inverse);
        const float factor = power == 2 ? (float)(inverse * inverse) : power == 1 ? (float)inverse : 1;
        places->column[i] = is_seen ? to_column : -8;
        places->row[i] = is_seen ? to_row : -8;
        places->factor[i] = is_seen ? factor : 0;
    }
}

/* The same of a curved detector. */
INLINE void find_places_on_arc(const struct blr_detector_map *map, const double start[3], uint32_t first, struct places *places)
{
    const double column = start[0], row = start[1], distance = start[2];
    const double column_step = map->column[0], row_step = map->row[0], step = map->distance[0];
    const float angle = map->angle, foot_column = map->foot[0], foot_row = map->foot[1];
    const uint32_t power = map->power;
    for (int32_t i = 0; i < (int32_t)BLOCK; i++) {
        const double x = (int32_t)first + i, away = distance + step * x, slope = angle * ((column + column_step * x) / away);
        const bool is_seen = away > NEAREST && fabs(slope) < FARTHEST;
        const float inverse = (float)(1 / (away * sqrt(1 + slope * slope)));
        const float to_column = bindless_arc_tangent((float)slope) / angle + foot_column;
        const float to_row = (float)(row + row_step * x) * inverse + foot_row;
        const float factor = power == 2 ? inverse * inverse : power == 1 ? inverse : 1;
        places->column[i] = is_seen ? to_column : -8;
        places->row[i] = is_seen ? to_row : -8;
        places->factor[i] = is_seen ? factor : 0;
    }
}

static void back_project_row(const struct blr_detector_map *map, uint32_t y, uint32_t z, const float *values,
                             uint32_t count, float *texels)
{
    const double start[3] = {at_row(map->column, y, z), at_row(map->row, y, z), at_row(map->distance, y, z)};
    struct taps columns, rows;
    struct places places;
    float pixels[4][BLOCK];
    const float still[BLOCK] = {0};
    for (uint32_t first = 0; first < count; first += BLOCK) {
        if (map->angle == 0)
            find_places(map, start, first, &places);
        else
            find_places_on_arc(map, start, first, &places);
        find_taps(places.column, still, 0, (int32_t)map->columns, 1, &columns);
        find_taps(places.row, still, 0, (int32_t)map->rows, (int32_t)map->columns, &rows);
        for (uint32_t i = 0; i < BLOCK; i++) {
            const float *lower = values + rows.offset[0][i], *upper = values + rows.offset[1][i];
            pixels[0][i] = lower[columns.offset[0][i]];
            pixels[1][i] = lower[columns.offset[1][i]];
            pixels[2][i] = upper[columns.offset[0][i]];
            pixels[3][i] = upper[columns.offset[1][i]];
        }
        float sums[BLOCK];
        for (uint32_t i = 0; i < BLOCK; i++)
            sums[i] = places.factor[i] *
                      (rows.weight[0][i] * (columns.weight[0][i] * pixels[0][i] + columns.weight[1][i] * pixels[1][i]) +
                       rows.weight[1][i] * (columns.weight[0][i] * pixels[2][i] + columns.weight[1][i] * pixels[3][i]));
        for (uint32_t i = 0; i < BLOCK && first + i < count; i++)
            texels[first + i] += sums[i];
    }
}

const struct blr_projection_set blr_projection_set = {project_row, spread_row, back_project_row};
