/* Projections: the transpose, sets of vector instructions, views of any numbers, mistakes. */
#include "fixture.h"

#include "bindless/filter/view_table.h"
#include "platform/cpu_features.h"
#include "projections/projections.h"

#include <math.h>
#include <stdlib.h>

enum { VIEWS = 7, COLUMNS = 37, ROWS = 5, WIDTH = 19, HEIGHT = 23, DEPTH = 9 };

/* Arrays of exactly the sizes of the calls, so that a sanitizer sees what is beyond. */
static float *volume, *values;
static blr_view_t views[VIEWS];

static double number(uint32_t *state, double size)
{
    *state = *state * 1664525u + 1013904223u;
    return ((double)(*state >> 8) / (1 << 24) - 0.5) * size;
}

static void fill(float *numbers, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)number(&seed, 1) + 0.5f;
}

static blr_projections_t around(bool is_parallel)
{
    uint32_t seed = 5;
    const double middle[3] = {WIDTH / 2.0, HEIGHT / 2.0, DEPTH / 2.0};
    for (int v = 0; v < VIEWS; v++) {
        const double c = cos(v), s = sin(v), ahead[3] = {-s, c, number(&seed, 0.4)}, aside[3] = {c, s, number(&seed, 0.2)};
        for (int d = 0; d < 3; d++) {
            views[v].column[d] = aside[d];
            views[v].row[d] = d == 2 ? 2 : number(&seed, 0.2);
            views[v].source[d] = is_parallel ? ahead[d] : middle[d] - 40 * ahead[d];
            views[v].first[d] = middle[d] + 20 * ahead[d] - COLUMNS / 2 * views[v].column[d] - ROWS / 2 * views[v].row[d];
        }
    }
    return (blr_projections_t){.size = {WIDTH, HEIGHT, DEPTH}, .is_parallel = is_parallel, .spacing = {1, 1.5, 2},
                               .columns = COLUMNS, .rows = ROWS, .num_views = VIEWS, .views = views, .volume = volume,
                               .values = values};
}

static void curve(blr_projections_t *call)
{
    call->column_angle = 1.0 / 60;
    call->foot[0] = COLUMNS / 2 + 3, call->foot[1] = -4;
}

static double product(const float *a, const float *b, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

enum { TEXELS = WIDTH * HEIGHT * DEPTH, PIXELS = VIEWS * ROWS * COLUMNS };

static void transpose(void)
{
    static float x[TEXELS], y[PIXELS];
    for (int kind = 0; kind < 3; kind++) {
        blr_projections_t call = around(kind == 1);
        if (kind == 2)
            curve(&call);
        fill(x, TEXELS, 1);
        fill(y, PIXELS, 2);
        memcpy(volume, x, sizeof x);
        OK(blrProjectVolume(&call));
        const double forward = product(values, y, PIXELS);
        CHECK(forward > 1000);
        memcpy(values, y, sizeof y);
        memset(volume, 0, sizeof x);
        OK(blrProjectVolumeAdjoint(&call));
        CHECK(fabs(product(volume, x, TEXELS) / forward - 1) < 1e-6);
    }
}

/* Rays along y through the middles of texels: the sums of columns. */
static void sums_of_columns(void)
{
    const blr_view_t straight = {{0, 1, 0}, {0.5, 0, 0.5}, {1, 0, 0}, {0, 0, 1}};
    blr_projections_t call = around(true);
    call.num_views = 1;
    call.views = &straight;
    fill(volume, TEXELS, 3);
    OK(blrProjectVolume(&call));
    for (int z = 0; z < ROWS; z++)
        for (int x = 0; x < COLUMNS; x++) {
            double sum = 0;
            for (int y = 0; y < HEIGHT && x < WIDTH; y++)
                sum += volume[(z * HEIGHT + y) * WIDTH + x];
            CHECK(fabs(values[z * COLUMNS + x] - 1.5 * sum) < 1e-4);
        }
    memset(volume, 0, TEXELS * sizeof *volume);
    OK(blrBackProjectVolume(&call, 2));
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        CHECK(volume[i] == values[i % WIDTH]);
}

/* Rays and places of the table beside those that views have: a ray through a texel's centre meets the detector at the place
 * of the texel. */
static void tables(void)
{
    static float table[VIEWS * BINDLESS_VIEW_NUMBERS];
    for (int is_parallel = 0; is_parallel < 2; is_parallel++) {
        blr_projections_t call = around(is_parallel != 0);
        call.volume = call.values = NULL;
        OK(blrDescribeViews(&call, table));
        for (int v = 0; v < VIEWS; v++) {
            const float *view = table + v * BINDLESS_VIEW_NUMBERS;
            const int axis = (int)view[3], across = axis == 0 ? 1 : 0, up = axis == 2 ? 1 : 2, size[] = {WIDTH, HEIGHT, DEPTH};
            const double texel[3] = {4, 17, 2};
            double sums[8];
            for (int i = BINDLESS_VIEW_COLUMN; i < BINDLESS_VIEW_VECTORS; i++) {
                sums[i] = view[4 * i + 3];
                for (int d = 0; d < 3; d++)
                    sums[i] += view[4 * i + d] * (texel[d] - 0.5 * (size[d] - 1));
            }
            const double distance = sums[BINDLESS_VIEW_DISTANCE];
            const double c = sums[BINDLESS_VIEW_COLUMN] / distance, r = sums[BINDLESS_VIEW_ROW] / distance;
            for (int i = 0; i < BINDLESS_VIEW_COLUMN; i++)
                sums[i] = view[4 * i] + view[4 * i + 1] * c + view[4 * i + 2] * r;
            const double plane = texel[axis] - (size[axis] - 1) / 2;
            CHECK(fabs((sums[1] + plane * sums[2]) / sums[0] - texel[across]) < 1e-4);
            CHECK(fabs((sums[3] + plane * sums[4]) / sums[0] - texel[up]) < 1e-4);
            CHECK(view[7] == (float)call.spacing[across] && view[11] == (float)call.spacing[up] && view[15] == (float)call.spacing[axis]);
        }
    }
}

#if BLR_HAS_VECTOR_SETS
extern const struct blr_projection_set blr_projection_set_avx2, blr_projection_set_avx512;

static void instruction_sets(void)
{
    static float sums[3][COLUMNS], texels[3][TEXELS], backs[3][WIDTH];
    const struct blr_projection_set *sets[] = {&blr_projection_set, &blr_projection_set_avx2, &blr_projection_set_avx512};
    const bool has[] = {true, blr_processor_has_avx2(), blr_processor_has_avx512()};
    fill(volume, TEXELS, 4);
    fill(values, PIXELS, 5);
    const struct blr_axial_view view = {.source = {9, 4, -60}, .first = {-3, -2, 70}, .column = {0.7, 0.1, 0.2},
                                        .row = {0.1, 1.5, 0}, .spacing = {1, 1, 1}, .size = {WIDTH, DEPTH, HEIGHT},
                                        .strides = {1, WIDTH * HEIGHT, WIDTH}};
    const struct blr_ray_row row = {.row = 3, .columns = COLUMNS, .begin = 2, .end = HEIGHT - 1};
    const struct blr_detector_map map = {.column = {1.3, 0.2, 0.1, -2}, .row = {0.1, 0.1, 0.4, -1},
                                         .distance = {0.01, 0.02, 0, 0.5}, .columns = COLUMNS, .rows = ROWS, .power = 2};
    for (int set = 0; set < 3; set++) {
        if (!has[set])
            continue;
        sets[set]->project(&view, &row, volume, sums[set]);
        sets[set]->spread(&view, &row, values, texels[set]);
        sets[set]->back_project(&map, 3, 4, values, WIDTH, backs[set]);
        CHECK(memcmp(sums[0], sums[set], sizeof sums[0]) == 0);
        CHECK(memcmp(texels[0], texels[set], sizeof texels[0]) == 0);
        CHECK(memcmp(backs[0], backs[set], sizeof backs[0]) == 0);
    }
    CHECK(sums[0][COLUMNS / 2] > 1);
}

static void instruction_sets_of_arcs(void)
{
    static float backs[3][WIDTH];
    const struct blr_projection_set *sets[] = {&blr_projection_set, &blr_projection_set_avx2, &blr_projection_set_avx512};
    const bool has[] = {true, blr_processor_has_avx2(), blr_processor_has_avx512()};
    fill(values, PIXELS, 5);
    const struct blr_detector_map map = {.column = {1.3, 0.2, 0.1, -8}, .row = {0.1, 0.1, 0.4, -1},
                                         .distance = {0.01, 0.02, 0, 0.5}, .columns = COLUMNS, .rows = ROWS, .power = 2,
                                         .angle = 0.02f, .foot = {12, 1}};
    for (int set = 0; set < 3; set++) {
        if (!has[set])
            continue;
        sets[set]->back_project(&map, 3, 4, values, WIDTH, backs[set]);
        CHECK(memcmp(backs[0], backs[set], sizeof backs[0]) == 0);
    }
    CHECK(backs[0][WIDTH / 2] != 0);
}
#else
static void instruction_sets_of_arcs(void) {}
static void instruction_sets(void) {}
#endif

/* No view reads or writes outside, or makes what is no number. */
static void any_numbers(void)
{
    static const double odd[] = {0, -0.0, 1, -1, 1e-30, -1e-30, 1e30, 1e300, -1e300, INFINITY, NAN, 0.5, 3, 1e-9};
    uint32_t seed = 11;
    for (int i = 0; i < 400; i++) {
        blr_projections_t call = around(i % 2 != 0);
        if (i % 4 == 2)
            curve(&call);
        double *parts = (double *)views;
        for (int change = 0; change < 12; change++)
            parts[(uint32_t)(fabs(number(&seed, 2)) * 12 * VIEWS) % (12 * VIEWS)] =
                odd[(uint32_t)(fabs(number(&seed, 2)) * 14) % 14];
        fill(volume, TEXELS, 1);
        fill(values, PIXELS, 2);
        OK(blrBackProjectVolume(&call, (uint32_t)i % 3));
        OK(blrProjectVolumeAdjoint(&call));
        OK(blrProjectVolume(&call));
        for (int pixel = 0; pixel < PIXELS; pixel++)
            CHECK(!isnan(values[pixel]));
        for (int texel = 0; texel < TEXELS; texel++)
            CHECK(!isnan(volume[texel]));
    }
}

static void refusals(void)
{
    const blr_projections_t good = around(false);
    blr_projections_t bad;
#define REFUSES(code, change, text)             \
    bad = good;                                 \
    change;                                     \
    FAILS(code, blrProjectVolume(&bad), text);  \
    FAILS(code, blrProjectVolumeAdjoint(&bad), text); \
    FAILS(code, blrBackProjectVolume(&bad, 0), text)
    REFUSES(INVALID_ARGUMENT, bad.views = NULL, "NULL");
    REFUSES(INVALID_ARGUMENT, bad.volume = NULL, "NULL");
    REFUSES(INVALID_ARGUMENT, bad.values = NULL, "NULL");
    REFUSES(INVALID_ARGUMENT, bad.spacing[1] = 0, "spacing");
    REFUSES(INVALID_ARGUMENT, bad.spacing[2] = NAN, "spacing");
    REFUSES(INVALID_ARGUMENT, (bad.column_angle = 0.01, bad.is_parallel = 1), "curved");
    REFUSES(INVALID_ARGUMENT, (bad.column_angle = 0.1, bad.foot[0] = 0), "curved");
    REFUSES(INVALID_ARGUMENT, (bad.column_angle = 0.01, bad.foot[0] = NAN), "curved");
    REFUSES(INVALID_SIZE, bad.size[0] = 0, "texels");
    REFUSES(INVALID_SIZE, bad.size[2] = 1u << 31, "texels");
    REFUSES(INVALID_SIZE, (bad.size[0] = 1u << 16, bad.size[1] = 1u << 16), "slabs");
    REFUSES(INVALID_SIZE, bad.columns = 0, "pixels");
    REFUSES(INVALID_SIZE, bad.rows = 1u << 31, "pixels");
    FAILS(INVALID_ARGUMENT, blrBackProjectVolume(&good, 3), "power 3");
    FAILS(INVALID_ARGUMENT, blrProjectVolume(NULL), "NULL");
    float table[VIEWS * BINDLESS_VIEW_NUMBERS];
    FAILS(INVALID_ARGUMENT, blrDescribeViews(NULL, table), "NULL");
    FAILS(INVALID_ARGUMENT, blrDescribeViews(&good, NULL), "table");
    bad = good;
    bad.rows = 0;
    FAILS(INVALID_SIZE, blrDescribeViews(&bad, table), "pixels");
    bad = good;
    bad.num_views = 0;
    OK(blrProjectVolume(&bad));
    OK(blrProjectVolumeAdjoint(&bad));
}

int main(void)
{
    volume = malloc(TEXELS * sizeof *volume);
    values = malloc(PIXELS * sizeof *values);
    CHECK(volume != NULL && values != NULL);
    transpose();
    sums_of_columns();
    tables();
    instruction_sets();
    instruction_sets_of_arcs();
    any_numbers();
    refusals();
    free(volume);
    free(values);
    return 0;
}
