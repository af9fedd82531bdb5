/* blrProjectVolume and its transpose: checks, the axis of each view, and the division among threads. */
#include "projections/projections.h"

#include "bindless/filter/view_table.h"
#include "platform/cpu_features.h"
#include "platform/fp_environment.h"
#include "platform/heap.h"
#include "platform/thread_pool.h"

#include <math.h>

#if BLR_HAS_VECTOR_SETS
extern const struct blr_projection_set blr_projection_set_avx2, blr_projection_set_avx512;
#endif

/* Planes of a slab of the volume, which one thread at a time adds to, and rows of rays that a thread takes. */
#define LEAST_PLANES 8u
#define LEAST_ROWS 4u

#define HALF_PI 1.5707963267948966

static const struct blr_projection_set *best_set(void)
{
#if BLR_HAS_VECTOR_SETS
    if (blr_processor_has_avx512())
        return &blr_projection_set_avx512;
    if (blr_processor_has_avx2())
        return &blr_projection_set_avx2;
#endif
    return &blr_projection_set;
}

static blr_result_t check_sizes(const blr_projections_t *call)
{
    uint64_t texels = 1;
    for (int d = 0; d < 3; d++) {
        if (call->size[d] == 0 || call->size[d] > INT32_MAX)
            return blr_fail(BLR_RESULT_INVALID_SIZE, "a volume of %u x %u x %u texels: 1 to 2^31 - 1 are needed along each axis",
                            call->size[0], call->size[1], call->size[2]);
        if (!(call->spacing[d] > 0 && isfinite(call->spacing[d])))
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "spacing %g along axis %d: a positive number is needed", call->spacing[d], d);
        texels *= call->size[d];
        if (texels > INT32_MAX)
            return blr_fail(BLR_RESULT_INVALID_SIZE, "a volume of %u x %u x %u texels: project it in slabs of fewer than 2^31",
                            call->size[0], call->size[1], call->size[2]);
    }
    if (call->columns == 0 || call->rows == 0 || call->columns > INT32_MAX || call->rows > INT32_MAX)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "a detector of %u x %u pixels: 1 to 2^31 - 1 are needed", call->columns, call->rows);
    if (call->column_angle == 0)
        return BLR_RESULT_SUCCESS;
    const double reach = fmax(fabs(call->foot[0]), fabs(call->columns - 1 - call->foot[0])) * call->column_angle;
    if (call->is_parallel || !(call->column_angle > 0 && reach < HALF_PI) || !isfinite(call->foot[1]))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                        "a curved detector of %u columns %g apart, with its foot at (%g, %g): rays from a source at angles of less "
                        "than half pi are needed", call->columns, call->column_angle, call->foot[0], call->foot[1]);
    return BLR_RESULT_SUCCESS;
}

static blr_result_t check(const blr_projections_t *call)
{
    if (call == NULL || call->views == NULL || call->volume == NULL || call->values == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "projections, their views, volume or values are NULL");
    return check_sizes(call);
}

/* Column and row of the place that pixels count from: the foot of a curved detector, the middle of a flat one. */
static void find_foot(const blr_projections_t *call, double foot[2])
{
    foot[0] = call->column_angle != 0 ? call->foot[0] : 0.5 * (call->columns - 1);
    foot[1] = call->column_angle != 0 ? call->foot[1] : 0.5 * (call->rows - 1);
}

/* The direction of a view's middle ray. */
static void find_middle_ray(const blr_projections_t *call, const blr_view_t *view, double direction[3])
{
    double foot[2];
    find_foot(call, foot);
    const double angle = call->column_angle * (0.5 * (call->columns - 1) - foot[0]);
    const double aside = angle == 0 ? 0 : sin(angle) / call->column_angle, up = 0.5 * (call->rows - 1) - foot[1];
    for (int d = 0; d < 3; d++) {
        const double to_foot = view->first[d] + foot[0] * view->column[d] + foot[1] * view->row[d] - view->source[d];
        direction[d] = call->is_parallel ? view->source[d] : cos(angle) * to_foot + aside * view->column[d] + up * view->row[d];
    }
}

/* A view along the axis that its middle ray follows most; `axis` is 0 for x to 2 for z. */
static struct blr_axial_view axial_view(const blr_projections_t *call, const blr_view_t *view, uint32_t *axis)
{
    static const uint8_t orders[3][3] = {{1, 2, 0}, {0, 2, 1}, {0, 1, 2}};
    double largest = -1, ray[3], foot[2];
    *axis = 2;
    find_middle_ray(call, view, ray);
    find_foot(call, foot);
    for (uint32_t d = 0; d < 3; d++) {
        const double direction = fabs(ray[d]) * call->spacing[d];
        if (direction > largest) {
            largest = direction;
            *axis = d;
        }
    }
    const int64_t strides[3] = {1, call->size[0], (int64_t)call->size[0] * call->size[1]};
    struct blr_axial_view result = {.is_parallel = call->is_parallel != 0};
    for (int i = 0; i < 3; i++) {
        const uint8_t d = orders[*axis][i];
        result.source[i] = view->source[d] - (call->is_parallel ? 0 : 0.5);
        result.first[i] = view->first[d] - 0.5;
        if (call->column_angle != 0)
            result.first[i] += foot[0] * view->column[d] + foot[1] * view->row[d];
        result.column[i] = view->column[d];
        result.row[i] = view->row[d];
        result.spacing[i] = call->spacing[d];
        result.size[i] = call->size[d];
        result.strides[i] = strides[d];
    }
    return result;
}

struct work {
    const blr_projections_t *call;
    const struct blr_projection_set *set;
    uint32_t axis;                        /* of the views of an adjoint */
    uint32_t planes;                      /* of a slab */
    uint32_t power;                       /* of the distance, in a back projection */
    double (*curve)[2];                   /* of blr_axial_view */
};

/* The numbers of a column of a curved detector. */
static void describe_column(const blr_projections_t *call, uint32_t column, double curve[2])
{
    const double angle = call->column_angle * (column - call->foot[0]);
    curve[0] = cos(angle);
    curve[1] = sin(angle) / call->column_angle;
}

static blr_result_t make_curve(struct work *work)
{
    if (work->call->column_angle == 0)
        return BLR_RESULT_SUCCESS;
    work->curve = blr_new(work->call->columns * sizeof *work->curve);
    if (work->curve == NULL)
        return blr_fail(BLR_RESULT_OUT_OF_MEMORY, "no memory for a detector of %u columns", work->call->columns);
    for (uint32_t column = 0; column < work->call->columns; column++)
        describe_column(work->call, column, work->curve[column]);
    return BLR_RESULT_SUCCESS;
}

static struct blr_axial_view rays_of_view(const struct work *work, uint64_t number, uint32_t *axis)
{
    struct blr_axial_view view = axial_view(work->call, &work->call->views[number], axis);
    view.curve = (const double(*)[2])work->curve;
    view.foot_row = work->call->foot[1];
    return view;
}

static bool project_rows(void *argument, uint64_t begin, uint64_t end)
{
    const struct work *work = argument;
    const blr_projections_t *call = work->call;
    for (uint64_t number = begin; number < end; number++) {
        uint32_t axis;
        const struct blr_axial_view view = rays_of_view(work, number / call->rows, &axis);
        const struct blr_ray_row row = {(uint32_t)(number % call->rows), call->columns, 0, call->size[axis]};
        work->set->project(&view, &row, call->volume, call->values + number * call->columns);
    }
    return true;
}

static bool spread_slabs(void *argument, uint64_t begin, uint64_t end)
{
    const struct work *work = argument;
    const blr_projections_t *call = work->call;
    for (uint64_t slab = begin; slab < end; slab++) {
        const uint32_t first = (uint32_t)slab * work->planes, rest = call->size[work->axis] - first;
        const uint32_t last = first + (rest < work->planes ? rest : work->planes);
        for (uint64_t number = 0; number < call->num_views; number++) {
            uint32_t axis;
            const struct blr_axial_view view = rays_of_view(work, number, &axis);
            if (axis != work->axis)
                continue;
            for (uint32_t row = 0; row < call->rows; row++) {
                const struct blr_ray_row rays = {row, call->columns, first, last};
                work->set->spread(&view, &rays, call->values + (number * call->rows + row) * call->columns, call->volume);
            }
        }
    }
    return true;
}

blr_result_t blrProjectVolume(const blr_projections_t *projections)
{
    blr_result_t result = check(projections);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    struct work work = {.call = projections, .set = best_set()};
    if ((result = make_curve(&work)) != BLR_RESULT_SUCCESS)
        return result;
    const uint64_t rows = projections->num_views * projections->rows;
    struct blr_environment environment;
    blr_environment_enter(&environment);
    blr_parallel_for(rows, blr_parallel_grain(rows, LEAST_ROWS), project_rows, &work);
    blr_environment_leave(&environment);
    blr_delete(work.curve);
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrProjectVolumeAdjoint(const blr_projections_t *projections)
{
    blr_result_t result = check(projections);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    struct work work = {.call = projections, .set = best_set()};
    if ((result = make_curve(&work)) != BLR_RESULT_SUCCESS)
        return result;
    struct blr_environment environment;
    blr_environment_enter(&environment);
    for (work.axis = 0; work.axis < 3; work.axis++) {
        work.planes = (uint32_t)blr_parallel_grain(projections->size[work.axis], LEAST_PLANES);
        const uint64_t slabs = (projections->size[work.axis] + work.planes - 1) / work.planes;
        blr_parallel_for(slabs, 1, spread_slabs, &work);
    }
    blr_environment_leave(&environment);
    blr_delete(work.curve);
    return BLR_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- back projection */

static void cross(const double a[3], const double b[3], double result[3])
{
    for (int d = 0; d < 3; d++)
        result[d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* A texel q lies on the ray p + c column + r row + t direction. With the direction given, c and r are linear in q; from a
 * source s, q - s is a multiple w of the ray, so that w c and w r are. Both are products with normals of planes. */
static struct blr_detector_map detector_map(const blr_projections_t *call, const blr_view_t *view, uint32_t power)
{
    struct blr_detector_map map = {
        .columns = call->columns, .rows = call->rows, .power = power, .is_parallel = call->is_parallel != 0};
    double to_first[3], across[3], along_row[3], along_column[3], origin[3];
    for (int d = 0; d < 3; d++) {
        to_first[d] = call->is_parallel ? view->source[d] : view->first[d] - view->source[d];
        origin[d] = (call->is_parallel ? view->first[d] : view->source[d]) - 0.5;
    }
    cross(view->row, to_first, along_row);
    cross(to_first, view->column, along_column);
    cross(view->column, view->row, across);
    const double column_unit = 1 / dot(view->column, along_row), row_unit = 1 / dot(view->row, along_column);
    const double distance_unit = 1 / dot(to_first, across);
    for (int d = 0; d < 3; d++) {
        map.column[d] = along_row[d] * column_unit;
        map.row[d] = along_column[d] * row_unit;
        map.distance[d] = across[d] * distance_unit;
    }
    map.column[3] = -dot(map.column, origin);
    map.row[3] = -dot(map.row, origin);
    map.distance[3] = -dot(map.distance, origin);
    map.angle = (float)call->column_angle;
    for (int d = 0; d < 4 && map.angle != 0; d++) {
        map.column[d] -= call->foot[0] * map.distance[d];
        map.row[d] -= call->foot[1] * map.distance[d];
    }
    map.foot[0] = (float)call->foot[0], map.foot[1] = (float)call->foot[1];
    return map;
}

static bool back_project_rows(void *argument, uint64_t begin, uint64_t end)
{
    const struct work *work = argument;
    const blr_projections_t *call = work->call;
    for (uint64_t view = 0; view < call->num_views; view++) {
        const struct blr_detector_map map = detector_map(call, &call->views[view], work->power);
        const float *values = call->values + view * call->rows * call->columns;
        for (uint64_t number = begin; number < end; number++)
            work->set->back_project(&map, (uint32_t)(number % call->size[1]), (uint32_t)(number / call->size[1]), values,
                                    call->size[0], call->volume + number * call->size[0]);
    }
    return true;
}

blr_result_t blrBackProjectVolume(const blr_projections_t *projections, uint32_t power)
{
    blr_result_t result = check(projections);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    if (power > 2)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "power %u of the distance: 0 to 2 is needed", power);
    struct work work = {.call = projections, .set = best_set(), .power = power};
    const uint64_t rows = (uint64_t)projections->size[1] * projections->size[2];
    struct blr_environment environment;
    blr_environment_enter(&environment);
    blr_parallel_for(rows, blr_parallel_grain(rows, LEAST_ROWS), back_project_rows, &work);
    blr_environment_leave(&environment);
    return BLR_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- views of other devices */

/* Numbers of the rays of a view, whose pixels count from the middle of the detector. With parallel rays the depth is 1; else
 * a ray is the source's place, and the rest of the way to a plane times its direction, which is linear in the pixel. */
static void describe_rays(const blr_projections_t *call, const struct blr_axial_view *view, double numbers[5][3])
{
    const double middle = floor(0.5 * (view->size[ALONG] - 1));
    double at[3][3];                      /* across, up, along: the foot, and the steps from it */
    for (int d = 0; d < 3; d++) {
        at[d][0] = view->first[d];
        if (call->column_angle == 0)
            at[d][0] += 0.5 * (call->columns - 1) * view->column[d] + 0.5 * (call->rows - 1) * view->row[d];
        at[d][1] = view->column[d];
        at[d][2] = view->row[d];
    }
    const double ahead = view->is_parallel ? view->source[ALONG] : at[ALONG][0] - view->source[ALONG];
    const double unit = ahead == 0 && !view->is_parallel ? 1 : 1 / ahead; /* the source is the middle of the detector */
    for (int i = 0; i < 3; i++) {
        double depth = i == 0;
        if (!view->is_parallel)
            depth = (at[ALONG][i] - (i == 0) * view->source[ALONG]) * unit;
        numbers[BINDLESS_VIEW_DEPTH][i] = depth;
        for (int d = 0; d < 2; d++) {
            double *place = numbers[d == ACROSS ? BINDLESS_VIEW_ACROSS : BINDLESS_VIEW_UP];
            double *step = numbers[d == ACROSS ? BINDLESS_VIEW_ACROSS_STEP : BINDLESS_VIEW_UP_STEP];
            if (view->is_parallel) {
                const double slope = view->source[d] * unit;
                place[i] = at[d][i] + ((i == 0) * middle - at[ALONG][i]) * slope;
                step[i] = (i == 0) * slope;
            } else {
                step[i] = (at[d][i] - (i == 0) * view->source[d]) * unit;
                place[i] = view->source[d] * depth + (middle - view->source[ALONG]) * step[i];
            }
        }
    }
}

/* Numbers of the places of texels on a flat detector, both counted from the foot. */
static void describe_texels(const blr_projections_t *call, const blr_view_t *view, double numbers[3][4])
{
    const struct blr_detector_map map = detector_map(call, view, 0);
    const double *const linear[3] = {map.column, map.row, map.distance};
    for (int i = 0; i < 3; i++) {
        numbers[i][3] = linear[i][3];
        for (int d = 0; d < 3; d++) {
            numbers[i][d] = linear[i][d];
            numbers[i][3] += 0.5 * (call->size[d] - 1) * linear[i][d];
        }
    }
    for (int d = 0; d < 4 && call->column_angle == 0; d++) {
        if (call->is_parallel)
            numbers[2][d] = d == 3;
        numbers[0][d] -= 0.5 * (call->columns - 1) * numbers[2][d];
        numbers[1][d] -= 0.5 * (call->rows - 1) * numbers[2][d];
    }
}

blr_result_t blrDescribeViews(const blr_projections_t *projections, float *table)
{
    if (projections == NULL || projections->views == NULL || table == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "projections, their views or the table are NULL");
    blr_result_t result = check_sizes(projections);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    for (uint64_t number = 0; number < projections->num_views; number++, table += BINDLESS_VIEW_NUMBERS) {
        double rays[5][3], texels[3][4];
        uint32_t axis;
        const struct blr_axial_view view = axial_view(projections, &projections->views[number], &axis);
        describe_rays(projections, &view, rays);
        describe_texels(projections, &projections->views[number], texels);
        bool counts = true;
        for (int i = 0; i < 15; i++)
            counts = counts && isfinite((float)rays[i / 3][i % 3]);
        for (int i = 0; i < 5; i++) {
            for (int d = 0; d < 3; d++)
                table[4 * i + d] = counts ? (float)rays[i][d] : 0;
            table[4 * i + 3] = i == BINDLESS_VIEW_DEPTH ? (float)axis : i <= BINDLESS_VIEW_UP ? (float)view.spacing[i - 1] : 0;
        }
        for (int i = 0; i < 12; i++)
            table[4 * BINDLESS_VIEW_COLUMN + i] = (float)texels[i / 4][i % 4];
    }
    for (uint32_t column = 0; projections->column_angle != 0 && column < projections->columns; column++, table += 2) {
        double curve[2];
        describe_column(projections, column, curve);
        table[0] = (float)curve[0], table[1] = (float)curve[1];
    }
    return BLR_RESULT_SUCCESS;
}
