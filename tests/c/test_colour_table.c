/* Tables of colours: sums over all corners in double precision, sets of vector instructions, mistakes. */
#include "fixture.h"

#include "image/colour_table.h"
#include "platform/cpu_features.h"

#include <math.h>

enum { COUNT = 1000, EDGE = 5, SHAPER = 7 };

static blr_context_t context;
static blr_queue_t queue;
static float table[EDGE * EDGE * EDGE * 4], shaper[SHAPER * 3];

/* Values from -1/4 to 5/4. */
static void fill_values(float *values, size_t count, uint32_t seed)
{
    fill_random(values, count * sizeof *values, seed);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(((uint32_t *)values)[i] % 6000) / 4000.0f - 0.25f;
}

static blr_colour_table_t colours_of(const void *pixels, void *values, uint32_t channels)
{
    return (blr_colour_table_t){.pixels = pixels, .values = values, .count = COUNT, .pixel_type = BLR_ELEMENT_F32,
                                .value_type = BLR_ELEMENT_F32, .channels = channels, .table = table, .size = EDGE,
                                .scale = {EDGE - 1, EDGE - 1, EDGE - 1}, .shaper_size = SHAPER,
                                .shaper_scale = {SHAPER - 1, SHAPER - 1, SHAPER - 1}};
}

/* The sum over the eight corners of a cell. */
static double trilinear(const float *pixel, int channel)
{
    int low[3];
    double share[3], sum = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double at = fmin(fmax(pixel[axis], 0), 1) * (EDGE - 1);
        low[axis] = at < EDGE - 1 ? (int)at : EDGE - 2;
        share[axis] = at - low[axis];
    }
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1;
        int at = 0;
        for (int axis = 2; axis >= 0; axis--) {
            const int step = corner >> axis & 1;
            weight *= step ? share[axis] : 1 - share[axis];
            at = at * EDGE + low[axis] + step;
        }
        sum += weight * table[4 * at + channel];
    }
    return sum;
}

static void sums(void)
{
    static float pixels[COUNT * 4], values[COUNT * 4];
    for (uint32_t channels = 3; channels <= 4; channels++) {
        fill_values(pixels, COUNT * channels, channels);
        const blr_colour_table_t colours = colours_of(pixels, values, channels);
        OK(blrEnqueueColourTable(queue, &colours, 0, NULL, NULL));
        OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
        for (uint32_t i = 0; i < COUNT * channels; i++) {
            const float *pixel = &pixels[i / channels * channels];
            const int channel = (int)(i % channels);
            CHECK(channel == 3 ? values[i] == pixels[i] : fabs(values[i] - trilinear(pixel, channel)) < 2e-6);
        }
    }
}

#if BLR_HAS_VECTOR_SETS

void blr_colour_part_avx2(const struct blr_colours *colours, uint64_t begin, uint64_t end);
void blr_colour_part_avx512(const struct blr_colours *colours, uint64_t begin, uint64_t end);

/* Each set of vector instructions gives the bits of the portable function, and writes no element beyond the pixels. */
static void instruction_sets(void)
{
    static const blr_element_type_t types[] = {BLR_ELEMENT_U8, BLR_ELEMENT_U16, BLR_ELEMENT_F16, BLR_ELEMENT_F32};
    static float pixels[COUNT * 4], values[3][COUNT * 4 + 1];
    for (uint32_t kind = 0; kind < 4 * 4 * 2 * 2 * 2 * 2; kind++) {
        const uint32_t channels = 3 + (kind >> 4 & 1);
        fill_values(pixels, COUNT * 4, kind);
        struct blr_colours colours = {.table = colours_of(pixels, values[0], channels), .streams = (kind >> 7) != 0};
        colours.table.pixel_type = types[kind & 3];
        colours.table.value_type = types[kind >> 2 & 3];
        colours.table.tetrahedral = kind >> 5 & 1;
        colours.table.shaper = (kind >> 6 & 1) != 0 ? shaper : NULL;
        memset(values, 0x55, sizeof values);
        blr_colour_part(&colours, 3, COUNT);
        colours.table.values = values[1];
        if (blr_processor_has_avx2())
            blr_colour_part_avx2(&colours, 3, COUNT);
        CHECK(!blr_processor_has_avx2() || memcmp(values[0], values[1], sizeof values[0]) == 0);
        colours.table.values = values[2];
        if (blr_processor_has_avx512())
            blr_colour_part_avx512(&colours, 3, COUNT);
        CHECK(!blr_processor_has_avx512() || memcmp(values[0], values[2], sizeof values[0]) == 0);
        const unsigned char *bytes = (const unsigned char *)values[0];
        const uint64_t size = channels * blr_element_size(colours.table.value_type);
        for (uint64_t i = 0; i < sizeof values[0]; i++)
            CHECK((i >= 3 * size && i < COUNT * size) || bytes[i] == 0x55);
    }
}

#else
static void instruction_sets(void) {}
#endif

static void refusals(void)
{
    static float pixels[COUNT * 8];
    const blr_colour_table_t good = colours_of(pixels, pixels + COUNT * 4, 4);
    blr_colour_table_t bad;
#define REFUSES(code, change, text)                                                                                    \
    bad = good;                                                                                                        \
    change;                                                                                                            \
    FAILS(code, blrEnqueueColourTable(queue, &bad, 0, NULL, NULL), text)
    REFUSES(INVALID_FORMAT, bad.channels = 2, "2 channels");
    REFUSES(INVALID_FORMAT, bad.pixel_type = BLR_ELEMENT_S8, "type 0");
    REFUSES(INVALID_FORMAT, bad.value_type = BLR_ELEMENT_U32, "type 5");
    REFUSES(INVALID_SIZE, bad.size = 1, "1 entries");
    REFUSES(INVALID_SIZE, bad.size = 257, "257 entries");
    REFUSES(INVALID_SIZE, (bad.shaper = shaper, bad.shaper_size = 1), "shaper");
    REFUSES(INVALID_SIZE, bad.count = UINT64_MAX / 8, "more than memory");
    REFUSES(INVALID_ARGUMENT, bad.values = NULL, "NULL");
    REFUSES(INVALID_ARGUMENT, bad.values = pixels + 4, "overlap");
    REFUSES(INVALID_ARGUMENT, (bad.values = pixels, bad.value_type = BLR_ELEMENT_U8), "overlap");
    REFUSES(INVALID_ARGUMENT, bad.pixels = (char *)pixels + 1, "aligned");
    REFUSES(INVALID_ARGUMENT, bad.table = (const float *)(const void *)((char *)table + 2), "aligned");
    FAILS(INVALID_ARGUMENT, blrEnqueueColourTable(queue, NULL, 0, NULL, NULL), "NULL");
    FAILS(INVALID_HANDLE, blrEnqueueColourTable(NULL, &good, 0, NULL, NULL), "");
    bad = good;
    bad.values = pixels;
    OK(blrEnqueueColourTable(queue, &bad, 0, NULL, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
}

int main(void)
{
    context = open_context();
    queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    fill_values(table, sizeof table / sizeof *table, 1);
    fill_values(shaper, sizeof shaper / sizeof *shaper, 2);
    sums();
    instruction_sets();
    refusals();
    OK(blrQueueDestroy(queue));
    OK(blrContextDestroy(context));
    return 0;
}
