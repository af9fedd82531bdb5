/* B-spline coefficients: their sums with the spline's weights along all axes are the samples. */
#include "fixture.h"

#include "image/spline_filter.h"
#include "platform/cpu_features.h"
#include "platform/heap.h"

#include <math.h>

static blr_context_t context;
static blr_queue_t queue;

/* The splines of orders 2 to 5: weights of a texel and its neighbours on one side, and poles. */
static const struct {
    double weights[3];
    uint32_t num_poles;
    double poles[2];
} orders[] = {
    {{6.0 / 8, 1.0 / 8}, 1, {-0.17157287525380990239}},
    {{4.0 / 6, 1.0 / 6}, 1, {-0.26794919243112270647}},
    {{230.0 / 384, 76.0 / 384, 1.0 / 384}, 2, {-0.36134122590022017709, -0.01372542929733912136}},
    {{66.0 / 120, 26.0 / 120, 1.0 / 120}, 2, {-0.43057534709997379185, -0.04309628820326465382}},
};
static const double *weights; /* of the order that is tested */

static uint64_t continued(int64_t i, uint64_t n, blr_spline_boundary_t boundary)
{
    const int64_t last = (int64_t)n - 1;
    if (i >= 0 && i <= last)
        return (uint64_t)i;
    if (boundary == BLR_SPLINE_REPEAT)
        return continued(i < 0 ? i + (int64_t)n : i - (int64_t)n, n, boundary);
    if (boundary == BLR_SPLINE_MIRROR)
        return n == 1 ? 0 : continued(i < 0 ? -i : 2 * last - i, n, boundary);
    return continued(i < 0 ? -1 - i : 2 * last + 1 - i, n, boundary);
}

/* The spline at a sample: the sum over the neighbours along the filtered axes. */
static double spline_at(const blr_spline_filter_t *filter, const uint64_t size[3], uint64_t array, const uint64_t at[3],
                        uint32_t c)
{
    double sum = 0;
    int64_t step[3];
    const int64_t reach = weights[2] > 0 ? 2 : 1;
    const int64_t reach_y = filter->dimensions > 1 ? reach : 0, reach_z = filter->dimensions > 2 ? reach : 0;
    for (step[2] = -reach_z; step[2] <= reach_z; step[2]++)
        for (step[1] = -reach_y; step[1] <= reach_y; step[1]++)
            for (step[0] = -reach; step[0] <= reach; step[0]++) {
                uint64_t place[3] = {at[0], at[1], at[2]};
                double weight = 1;
                for (uint32_t i = 0; i < filter->dimensions; i++) {
                    place[i] = continued((int64_t)at[i] + step[i], size[i], filter->boundary[i]);
                    weight *= weights[step[i] < 0 ? -step[i] : step[i]];
                }
                const uint64_t pixel = ((array * size[2] + place[2]) * size[1] + place[1]) * size[0] + place[0];
                sum += weight * ((const float *)filter->target)[pixel * filter->channels + c];
            }
    return sum;
}

static float sample_at(const blr_spline_filter_t *filter, uint64_t array, const uint64_t at[3], uint32_t c)
{
    uint64_t place[3];
    for (int i = 0; i < 3; i++) {
        int64_t index = (int64_t)at[i] - (int64_t)filter->margin[i];
        const int64_t last = (int64_t)filter->extent[i] - 1;
        if (filter->fills_margin && (index < 0 || index > last))
            return filter->fill;
        index = index < 0 ? 0 : index > last ? last : index;
        place[i] = (uint64_t)index;
    }
    const uint64_t row = (array * filter->extent[2] + place[2]) * filter->extent[1] + place[1];
    return ((const float *)filter->source)[(row * filter->extent[0] + place[0]) * filter->channels + c];
}

static void compare(const blr_spline_filter_t *filter)
{
    uint64_t size[3], at[3];
    for (int i = 0; i < 3; i++)
        size[i] = filter->extent[i] + 2 * filter->margin[i];
    for (uint64_t array = 0; array < filter->count; array++)
        for (at[2] = 0; at[2] < size[2]; at[2]++)
            for (at[1] = 0; at[1] < size[1]; at[1]++)
                for (at[0] = 0; at[0] < size[0]; at[0]++) {
                    if (weights[2] > 0 && (at[0] + 2 * at[1] + 3 * at[2]) % 4 != 0)
                        continue; /* sums of 125 products take long under sanitizers */
                    for (uint32_t c = 0; c < filter->channels; c++)
                        CHECK(fabs(spline_at(filter, size, array, at, c) - (double)sample_at(filter, array, at, c)) < 4e-6);
                }
}

static const uint64_t extents[][4] = {
    {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 1, 2, 1}, {17, 33, 3, 2}, {40, 5, 9, 1}, {9, 40, 2, 3}, {8195, 2, 1, 1}, {4, 1, 4100, 1},
};

static void coefficients(void)
{
    for (size_t e = 0; e < sizeof extents / sizeof extents[0]; e++)
        for (uint32_t kind = 0; kind < 36; kind++) {
            const uint64_t *extent = extents[e];
            if (extent[0] * extent[2] > 2000 && kind % 7 != 0)
                continue;
            blr_spline_filter_t filter = {.extent = {extent[0], extent[1], extent[2]}, .count = extent[3],
                                          .channels = 1 + kind % 4, .dimensions = 1 + kind % 3, .fill = 0.25f,
                                          .fills_margin = kind / 3 % 2};
            const size_t order = (kind + kind / 4) % 4;
            weights = orders[order].weights;
            filter.num_poles = orders[order].num_poles;
            memcpy(filter.poles, orders[order].poles, sizeof filter.poles);
            uint64_t read = filter.channels * filter.count, written = read;
            for (uint32_t i = 0; i < 3; i++) {
                filter.boundary[i] = (blr_spline_boundary_t)((kind / 12 + i) % 3);
                filter.margin[i] = i < filter.dimensions && kind / 6 % 2 != 0 ? 2 + i : 0;
                read *= extent[i];
                written *= extent[i] + 2 * filter.margin[i];
            }
            float *source = malloc(read * sizeof *source), *target = malloc(written * sizeof *target);
            float *queued = malloc(written * sizeof *queued);
            fill_random(source, read * sizeof *source, kind);
            for (uint64_t i = 0; i < read; i++)
                source[i] = (float)(((int32_t *)source)[i] % 1000) / 1000.0f;
            filter.source = source;
            filter.target = target;
            OK(blrSplineFilter(&filter));
            compare(&filter);
            filter.target = queued;
            OK(blrEnqueueSplineFilter(queue, &filter, 0, NULL, NULL));
            OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
            CHECK(memcmp(queued, target, (size_t)written * sizeof *queued) == 0);
            free(source);
            free(target);
            free(queued);
        }
}

#if BLR_HAS_VECTOR_SETS

#define SET(name)                                                                                                      \
    void blr_spline_rows_##name(const struct blr_spline *spline, uint64_t begin, uint64_t end, void *scratch);         \
    void blr_spline_columns_##name(const struct blr_spline *spline, unsigned axis, uint64_t begin, uint64_t end,       \
                                   void *scratch)
SET(avx2);
SET(avx512);

/* Each set of vector instructions gives the bits of the portable functions. */
static void instruction_sets(void)
{
    enum { FLOATS = 3 * 19 * 37 * 4 };
    static float source[FLOATS], target[3][FLOATS];
    static _Alignas(64) float scratch[1 << 16];
    fill_random(source, sizeof source, 1);
    for (int i = 0; i < FLOATS; i++)
        source[i] = (float)(((int32_t *)source)[i] % 1000) / 1000.0f;
    for (uint32_t channels = 1; channels <= 4; channels++)
        for (int boundary = BLR_SPLINE_MIRROR; boundary <= BLR_SPLINE_REPEAT; boundary++) {
            const blr_spline_boundary_t mode = (blr_spline_boundary_t)boundary;
            struct blr_spline spline = {.source = source, .target = target[0], .extent = {37, 19, 3}, .size = {37, 19, 3},
                                        .count = 1, .channels = channels, .dimensions = 3,
                                        .boundary = {mode, mode, mode}, .piece = 37, .pieces = 1, .panel = 50,
                                        .poles = {{-0.43f, 4.75f, 32}, {-0.043f, 25.3f, 9}}, .num_poles = 2,
                                        .reach = 41};
            CHECK(blr_spline_scratch(&spline) <= sizeof scratch);
            const uint64_t panels[3] = {0, 3 * blr_spline_panels(&spline, 1), blr_spline_panels(&spline, 2)};
            const size_t size = 3 * 19 * 37 * channels * sizeof(float);
            blr_spline_rows(&spline, 0, 57, scratch);
            for (unsigned axis = 1; axis <= 2; axis++)
                blr_spline_columns(&spline, axis, 0, panels[axis], scratch);
            if (blr_processor_has_avx2()) {
                spline.target = target[1];
                blr_spline_rows_avx2(&spline, 0, 57, scratch);
                for (unsigned axis = 1; axis <= 2; axis++)
                    blr_spline_columns_avx2(&spline, axis, 0, panels[axis], scratch);
                CHECK(memcmp(target[0], target[1], size) == 0);
            }
            if (blr_processor_has_avx512()) {
                spline.target = target[2];
                blr_spline_rows_avx512(&spline, 0, 57, scratch);
                for (unsigned axis = 1; axis <= 2; axis++)
                    blr_spline_columns_avx512(&spline, axis, 0, panels[axis], scratch);
                CHECK(memcmp(target[0], target[2], size) == 0);
            }
        }
}

#else
static void instruction_sets(void) {}
#endif

static void refusals(void)
{
    float samples[64] = {0};
    const blr_spline_filter_t good = {.source = samples, .target = samples + 32, .extent = {4, 4, 1}, .count = 1,
                                      .channels = 1, .dimensions = 2, .num_poles = 1, .poles = {-0.25}};
    OK(blrSplineFilter(&good));
    blr_spline_filter_t bad;
#define REFUSES(code, change, text)                                                                                    \
    bad = good;                                                                                                        \
    change;                                                                                                            \
    FAILS(code, blrSplineFilter(&bad), text);                                                                          \
    FAILS(code, blrEnqueueSplineFilter(queue, &bad, 0, NULL, NULL), text)
    REFUSES(INVALID_ARGUMENT, bad.target = samples + 15, "overlap");
    REFUSES(INVALID_ARGUMENT, bad.target = NULL, "NULL");
    REFUSES(INVALID_ARGUMENT, bad.target = (char *)samples + 129, "aligned");
    REFUSES(INVALID_ARGUMENT, bad.channels = 5, "5 channels");
    REFUSES(INVALID_ARGUMENT, bad.dimensions = 4, "4 dimensions");
    REFUSES(INVALID_SIZE, bad.margin[2] = 1, "z: margin 1");
    REFUSES(INVALID_SIZE, bad.extent[1] = 0, "y: 0 samples");
    REFUSES(INVALID_SIZE, bad.count = 0, "0 arrays");
    REFUSES(INVALID_SIZE, bad.count = UINT64_MAX / 8, "larger than memory");
    REFUSES(INVALID_ARGUMENT, bad.num_poles = 0, "0 poles");
    REFUSES(INVALID_ARGUMENT, bad.num_poles = 3, "3 poles");
    REFUSES(INVALID_ARGUMENT, bad.poles[0] = -0.5, "pole -0.5");
    REFUSES(INVALID_ARGUMENT, bad.poles[0] = 0, "pole 0");
    REFUSES(INVALID_ARGUMENT, bad.boundary[1] = (blr_spline_boundary_t)3, "boundary 3");
    FAILS(INVALID_ARGUMENT, blrSplineFilter(NULL), "NULL");
    FAILS(INVALID_ARGUMENT, blrEnqueueSplineFilter(queue, NULL, 0, NULL, NULL), "NULL");
    FAILS(INVALID_HANDLE, blrEnqueueSplineFilter(NULL, &good, 0, NULL, NULL), "");
}

static void without_memory(void)
{
    float samples[64] = {0};
    const blr_spline_filter_t filter = {.source = samples, .target = samples + 32, .extent = {4, 4, 1}, .count = 1,
                                        .channels = 1, .dimensions = 2, .num_poles = 1, .poles = {-0.25}};
    for (int64_t n = 1; n <= 2; n++) {
        blr_allocate_fail_after(n);
        FAILS(OUT_OF_MEMORY, blrSplineFilter(&filter), "no memory");
        blr_allocate_fail_after(0);
    }
}

int main(void)
{
    context = open_context();
    queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    coefficients();
    instruction_sets();
    refusals();
    without_memory();
    OK(blrQueueDestroy(queue));
    OK(blrContextDestroy(context));
    return 0;
}
