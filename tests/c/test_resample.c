/* Resampling: the same bits with every instruction set, values of a plain sum in double precision, what a command retains,
 * batches, and refusals. */
#include "fixture.h"
#include "resample/resample.h"

#include <math.h>

#define MOST_ELEMENTS (40 * 21 * 5)
#define IMAGE_BYTES (1 << 17)
#ifndef RANDOM_PICTURES
#define RANDOM_PICTURES 300 /* of each kind */
#endif

static blr_context_t context;
static blr_queue_t queue;
static uint64_t state = 0x9e3779b97f4a7c15u;

static uint32_t below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % limit;
}

static double between(double low, double high) { return low + (high - low) * (double)below(1u << 30) * 0x1p-30; }

static blr_resampling_t plain(blr_image_handle_t handle, void *values, uint64_t width, uint64_t height, uint64_t depth)
{
    return (blr_resampling_t){.handle = handle,
                              .size = {width, height, depth},
                              .matrix = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1},
                              .centre = 0.5,
                              .scale = {1, 1, 1},
                              .interpolation = BLR_INTERPOLATION_LINEAR,
                              .precision = BLR_PRECISION_EXACT,
                              .boundary = {BLR_BOUNDARY_EDGE, BLR_BOUNDARY_EDGE, BLR_BOUNDARY_EDGE},
                              .values = values,
                              .value_type = BLR_ELEMENT_F32,
                              .value_channels = 1};
}

/* ---------------------------------------------------------------- instruction sets */

static const blr_channel_type_t types[] = {
    BLR_CHANNEL_SNORM_INT8,     BLR_CHANNEL_SNORM_INT16,   BLR_CHANNEL_UNORM_INT8,      BLR_CHANNEL_UNORM_INT16,
    BLR_CHANNEL_SIGNED_INT8,    BLR_CHANNEL_SIGNED_INT16,  BLR_CHANNEL_SIGNED_INT32,    BLR_CHANNEL_UNSIGNED_INT8,
    BLR_CHANNEL_UNSIGNED_INT16, BLR_CHANNEL_UNSIGNED_INT32, BLR_CHANNEL_FP16,           BLR_CHANNEL_FP32,
    BLR_CHANNEL_FP32,           BLR_CHANNEL_FP_11_11_10,   BLR_CHANNEL_UNSIGNED_INT_10_10_10_2,
};

static void fill_texels(blr_channel_type_t type, unsigned char *texels)
{
    const bool unknown = below(4) == 0;
    for (uint32_t i = 0; i < IMAGE_BYTES / 4; i++) {
        uint32_t bits = below(UINT32_MAX);
        if (type == BLR_CHANNEL_FP32) {
            const float value = unknown && below(9) == 0 ? (below(2) ? NAN : INFINITY) : (float)between(-2, 2);
            memcpy(&bits, &value, sizeof bits);
        } else if (type == BLR_CHANNEL_FP16 && !unknown) {
            bits &= 0xbbffbbffu;
        } else if (type == BLR_CHANNEL_FP_11_11_10) {
            bits &= 0x3dfbbfdfu; /* no exponent of ones */
        }
        memcpy(texels + 4 * i, &bits, sizeof bits);
    }
}

static void choose_matrix(double matrix[16], const uint32_t extent[3], const uint64_t size[3])
{
    static const double last[4] = {0, 0, 0, 1};
    const double stretch = between(0.2, 1.3);
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++)
            matrix[4 * row + column] =
                (row == column ? stretch * extent[row] / (double)size[row] : 0) + between(-0.2, 0.2) * (double)below(2);
        matrix[4 * row + 3] = between(-0.3, 0.4) * extent[row];
    }
    for (int column = 0; column < 4; column++)
        matrix[12 + column] = last[column] + (below(6) == 0 ? between(-0.01, 0.01) : 0);
}

struct picture {
    struct blr_texture texture;
    struct blr_resample resample;
    float coordinates[3 * MOST_ELEMENTS];
    unsigned char values[3][MOST_ELEMENTS * 16];
};

/* Most texels of an image and elements of a picture, along each axis. */
struct shape {
    uint32_t extent[3], size[3];
};

static const struct shape shapes[] = {
    {{40, 24, 8}, {40, 21, 5}}, {{1400, 3, 1}, {1400, 3, 1}}, {{3, 1400, 1}, {4, 1050, 1}}};

static void choose(struct picture *picture, const struct shape *shape, unsigned char *texels)
{
    blr_resampling_t *own = &picture->resample.picture;
    const uint32_t dimensions = 1 + below(3), channels = 1 + below(4);
    const blr_channel_type_t type = types[below(sizeof types / sizeof *types)];
    const uint32_t kept = type == BLR_CHANNEL_FP_11_11_10 ? 3 : type > BLR_CHANNEL_FP32 ? 4 : channels;
    uint32_t extent[3] = {1, 1, 1};
    memset(own, 0, sizeof *own);
    for (uint32_t d = 0; d < 3; d++) {
        own->size[d] = 1;
        if (d < dimensions) {
            extent[d] = 1 + below(below(3) || shape->extent[d] < 4 ? shape->extent[d] : 4);
            own->size[d] = 1 + below(shape->size[d]);
        }
        own->boundary[d] = (blr_boundary_t)below(BLR_BOUNDARY_WRAP + 1);
        own->scale[d] = 1.0f;
    }
    blr_image_desc_t desc = plain_desc(extent[0], dimensions > 1 ? extent[1] : 0, dimensions > 2 ? extent[2] : 0, type, kept);
    const uint64_t pitch = extent[0] * blr_pixel_size(type, kept);
    const struct blr_texture_level level = {texels, extent[0], extent[1], extent[2], pitch, pitch * extent[1]};
    const blr_sampler_desc_t sampler = plain_sampler();
    OK(blr_texture_init(&picture->texture, &desc, &level, 1, &sampler, 0));
    fill_texels(type, texels);
    choose_matrix(own->matrix, extent, own->size);
    own->centre = below(2) ? 0.5 : 0.0;
    own->precision = BLR_PRECISION_EXACT;
    own->interpolation = (blr_interpolation_t)below(BLR_INTERPOLATION_BICUBIC + 1);
    own->fill = below(4) ? between(-1, 1) : NAN;
    own->ignore_nan = picture->texture.format->class == BLR_CLASS_FLOAT && below(2);
    own->double_sums = picture->texture.format->class != BLR_CLASS_FLOAT && below(2);
    own->ties_to_even = below(2);
    own->value_type = (blr_element_type_t)below(BLR_ELEMENT_F32 + 1);
    own->value_channels = 1 + below(kept);
    own->rounding = (blr_rounding_t)below(2);
    if (below(3) == 0) {
        own->coordinates = picture->coordinates;
        own->coordinate_strides[0] = 3;
        own->coordinate_strides[1] = 1;
        for (uint32_t i = 0; i < 3 * MOST_ELEMENTS; i++)
            picture->coordinates[i] = below(999) ? (float)between(-3, 3) : below(2) ? NAN : INFINITY;
    }
}

/* Whether bits are the same; numbers that are none may differ. */
static bool equal(const blr_resampling_t *own, const unsigned char *a, const unsigned char *b, uint64_t count)
{
    if (own->value_type != BLR_ELEMENT_F32 && own->value_type != BLR_ELEMENT_F16)
        return memcmp(a, b, count * blr_element_size(own->value_type)) == 0;
    for (uint64_t i = 0; i < count; i++) {
        float x, y;
        if (own->value_type == BLR_ELEMENT_F32) {
            memcpy(&x, a + 4 * i, sizeof x);
            memcpy(&y, b + 4 * i, sizeof y);
        } else {
            x = blr_half_to_float(((const uint16_t *)(const void *)a)[i]);
            y = blr_half_to_float(((const uint16_t *)(const void *)b)[i]);
        }
        if (memcmp(&x, &y, sizeof x) != 0 && (x == x || y == y))
            return false;
    }
    return true;
}

static void instruction_sets(void)
{
    static struct picture picture;
    static const uint32_t paths[] = {BLR_TEXTURE_NO_VECTORS, BLR_TEXTURE_NO_AVX512, 0};
    unsigned char *texels = malloc(IMAGE_BYTES);
    CHECK(texels != NULL);
    for (int round = 0; round < 2 * RANDOM_PICTURES; round++) {
        choose(&picture, &shapes[0], texels);
        const blr_resampling_t *own = &picture.resample.picture;
        const uint64_t count = own->size[0] * own->size[1] * own->size[2] * own->value_channels;
        const struct blr_texture_level *level = &picture.texture.level[0];
        unsigned char *other = malloc(level->slice_pitch * level->depth); /* texels that nothing follows */
        CHECK(other != NULL);
        memcpy(other, texels, level->slice_pitch * level->depth);
        for (int p = 0; p < 3; p++) {
            picture.texture.flags = paths[p];
            picture.resample.picture.texels = p == 0 ? NULL : other;
            picture.resample.texture = &picture.texture;
            picture.resample.picture.values = picture.values[p];
            memset(picture.values[p], 0xcc, sizeof picture.values[p]);
            blr_resample_run(&picture.resample);
            CHECK(equal(own, picture.values[0], picture.values[p], count));
            CHECK_EQUAL(0xcc, picture.values[p][count * blr_element_size(own->value_type)]);
        }
        free(other);
    }
    free(texels);
}

/* Pictures whose axes are the image's have the bits of those that also have vectors, all zero. */
static void aligned(void)
{
    static struct picture picture;
    static const uint32_t paths[] = {BLR_TEXTURE_NO_VECTORS, BLR_TEXTURE_NO_AVX512, 0};
    blr_resampling_t *own = &picture.resample.picture;
    unsigned char *texels = malloc(IMAGE_BYTES);
    CHECK(texels != NULL);
    for (int round = 0; round < 3 * RANDOM_PICTURES; round++) {
        choose(&picture, &shapes[round % 3], texels);
        const struct blr_texture_level *level = &picture.texture.level[0];
        const uint32_t extent[3] = {level->width, level->height, level->depth};
        for (uint32_t d = 0; d < 3; d++) {
            for (uint32_t k = 0; k < 3; k++)
                own->matrix[4 * d + k] = 0;
            own->matrix[4 * d + d] = between(-1.1, 1.1);
            if (below(3) == 0) /* the image as a whole */
                own->matrix[4 * d + d] = extent[d] / (double)own->size[d];
            own->boundary[d] = (blr_boundary_t)below(BLR_BOUNDARY_EXTENT + 1);
        }
        memcpy(own->matrix + 12, (const double[4]){0, 0, 0, 1}, 4 * sizeof(double));
        own->value_channels = picture.texture.desc.num_channels;
        own->coordinate_type = BLR_COORDINATE_F32;
        own->coordinate_strides[0] = own->coordinate_strides[1] = 1;
        memset(picture.coordinates, 0, sizeof picture.coordinates);
        const uint64_t count = own->size[0] * own->size[1] * own->size[2] * own->value_channels;
        for (int p = 0; p < 4; p++) {
            picture.texture.flags = paths[p == 0 ? 0 : p - 1];
            picture.resample.texture = &picture.texture;
            own->coordinates = p == 0 ? picture.coordinates : NULL;
            own->values = picture.values[p > 0];
            memset(own->values, 0xcc, sizeof picture.values[p > 0]);
            blr_resample_run(&picture.resample);
            CHECK(equal(own, picture.values[0], own->values, count));
            CHECK_EQUAL(0xcc, ((unsigned char *)own->values)[count * blr_element_size(own->value_type)]);
        }
    }
    free(texels);
}

/* With exact filtering for the whole program, reproducible samples keep the texture unit's bits. */
static void reproducible(void)
{
    static float texels[64], values[3][64];
    static const uint32_t flags[] = {0, BLR_TEXTURE_EXACT_FILTERING, BLR_TEXTURE_EXACT_FILTERING};
    static const blr_precision_t precisions[] = {BLR_PRECISION_HARDWARE, BLR_PRECISION_REPRODUCIBLE, BLR_PRECISION_HARDWARE};
    blr_image_desc_t desc = plain_desc(8, 8, 0, BLR_CHANNEL_FP32, 1);
    const struct blr_texture_level level = {texels, 8, 8, 1, 32, 256};
    blr_sampler_desc_t sampler = plain_sampler();
    struct blr_texture texture;
    sampler.filtering = BLR_FILTERING_LINEAR;
    for (int i = 0; i < 64; i++)
        texels[i] = (float)between(-1, 1);
    for (int i = 0; i < 3; i++) {
        OK(blr_texture_init(&texture, &desc, &level, 1, &sampler, flags[i]));
        struct blr_resample resample = {.picture = plain(0, values[i], 8, 8, 1), .texture = &texture};
        resample.picture.precision = precisions[i];
        resample.picture.matrix[3] = 0.123456;
        blr_resample_run(&resample);
    }
    CHECK(memcmp(values[0], values[1], sizeof values[0]) == 0);
    CHECK(memcmp(values[0], values[2], sizeof values[0]) != 0);
}

/* ---------------------------------------------------------------- commands */

/* A volume whose value is linear in the position, large enough for several threads. Image, handle and arrays are freed
 * while the command waits. */
static void volumes(void)
{
    enum { N = 61 };
    blr_image_desc_t desc = plain_desc(N, N, N, BLR_CHANNEL_FP32, 1);
    const blr_sampler_desc_t sampler = plain_sampler();
    blr_image_t image = NULL;
    blr_image_handle_t handle = 0;
    blr_event_t done = NULL;
    float *texels = NULL, *values = NULL, *offsets = NULL;
    const uint64_t bytes = N * N * N * sizeof *texels;
    OK(blrImageCreate(context, &desc, &image));
    OK(blrSampledImageCreate(context, image, &desc, &sampler, &handle));
    texels = malloc(bytes);
    CHECK(texels != NULL);
    OK(blrMemoryAllocate(context, BLR_MEMORY_HOST, bytes, 0, (void **)&values));
    OK(blrMemoryAllocate(context, BLR_MEMORY_HOST, 3 * bytes, 0, (void **)&offsets));
    for (uint32_t i = 0; i < N * N * N; i++)
        texels[i] = (float)(i % N) + 2.0f * (float)(i / N % N) + 4.0f * (float)(i / N / N);
    for (uint32_t i = 0; i < 3 * N * N * N; i++)
        offsets[i] = i % 3 == 0 ? 0.25f : i % 3 == 1 ? 0.5f : 0.125f;
    blr_copy_region_t up = {.source.pointer = texels, .destination.image = image, .extent = {N, N, N}, .pixel_size = 4};
    blr_resampling_t resampling = plain(handle, values, N, N, N);
    resampling.coordinates = offsets;
    resampling.coordinate_strides[0] = 3;
    resampling.coordinate_strides[1] = 1;
    OK(blrEnqueueCopyImage(queue, &up, 0, NULL, NULL));
    OK(blrEnqueueResample(queue, &resampling, 0, NULL, &done));
    blr_copy_region_t down = {.source.pointer = values, .destination.pointer = texels, .extent = {N, N, N}, .pixel_size = 4};
    OK(blrEnqueueCopyImage(queue, &down, 0, NULL, NULL));
    OK(blrImageHandleDestroy(context, handle));
    OK(blrImageDestroy(image));
    OK(blrMemoryFree(context, values));
    OK(blrMemoryFree(context, offsets));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    OK(blrEventWait(done, BLR_TIMEOUT_INFINITE));
    OK(blrEventRelease(done));
    for (uint32_t z = 0; z < N - 1; z++)
        for (uint32_t y = 0; y < N - 1; y++)
            for (uint32_t x = 0; x < N - 1; x++)
                CHECK(texels[(z * N + y) * N + x] == (float)x + 0.25f + 2.0f * ((float)y + 0.5f) + 4.0f * ((float)z + 0.125f));
    free(texels);
}

static void batches(void)
{
    static uint8_t texels[6] = {0, 10, 20, 30, 40, 50}, codes[8];
    static const uint8_t expected[8] = {7, 7, 5, 15, 25, 35, 45, 7};
    blr_image_desc_t desc = plain_desc(6, 0, 0, BLR_CHANNEL_UNORM_INT8, 1);
    const blr_sampler_desc_t sampler = plain_sampler();
    blr_image_t image = NULL;
    blr_image_handle_t handle = 0;
    blr_batch_t batch = NULL;
    OK(blrImageCreate(context, &desc, &image));
    OK(blrSampledImageCreate(context, image, &desc, &sampler, &handle));
    blr_copy_region_t up = {.source.pointer = texels, .destination.image = image, .extent = {6, 1, 1}, .pixel_size = 1};
    OK(blrEnqueueCopyImage(queue, &up, 0, NULL, NULL));
    blr_resampling_t resampling = plain(handle, codes, 8, 1, 1);
    resampling.value_type = BLR_ELEMENT_U8;
    resampling.matrix[3] = -1.5;
    resampling.boundary[0] = BLR_BOUNDARY_CONSTANT;
    resampling.fill = 7.0 / 255.0;
    OK(blrQueueBeginRecording(queue));
    OK(blrEnqueueResample(queue, &resampling, 0, NULL, NULL));
    OK(blrQueueEndRecording(queue, &batch));
    for (int i = 0; i < 2; i++) {
        memset(codes, 1, sizeof codes);
        OK(blrEnqueueBatch(queue, batch, 0, NULL, NULL));
        OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
        CHECK(memcmp(codes, expected, sizeof codes) == 0);
    }
    OK(blrBatchDestroy(batch));
    for (int i = 0; i < 6; i++)
        texels[i] = (uint8_t)i;
    OK(blrEnqueueCopyImage(queue, &up, 0, NULL, NULL));
    for (int rounding = BLR_ROUNDING_EVEN; rounding <= BLR_ROUNDING_AWAY; rounding++) {
        resampling.rounding = (blr_rounding_t)rounding;
        OK(blrEnqueueResample(queue, &resampling, 0, NULL, NULL));
        OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
        for (int i = 2; i < 7; i++) /* i - 1.5 */
            CHECK_EQUAL(rounding == BLR_ROUNDING_AWAY ? i - 1 : (i - 1) / 2 * 2, codes[i]);
    }
    OK(blrImageHandleDestroy(context, handle));
    OK(blrImageDestroy(image));
}

/* Descriptions of fields that lead out of their memory are no reads, and events tell. */
static void wrong_fields(blr_resampling_t picture)
{
    static const struct {
        int number;
        double value;
    } wrong[] = {{21, 0},  {21, 3}, {21, 1.5}, {22, 1e18}, {22, 2}, {23, NAN}, {24, 0}, {24, 4},
                 {25, 0},  {25, 3}, {25, 7}, {26, -2},  {26, 33},   {26, 1e300}, {26, NAN}, {27, 1}};
    double *fields;
    OK(blrMemoryAllocate(context, BLR_MEMORY_HOST, 36 * sizeof(double), 0, (void **)&fields));
    picture.coordinates = fields;
    picture.coordinate_type = BLR_COORDINATE_FIELDS;
    picture.coordinate_strides[0] = 32;
    for (size_t i = 0; i <= sizeof wrong / sizeof wrong[0]; i++) {
        memset(fields, 0, 36 * sizeof(double));
        fields[0] = fields[5] = fields[10] = fields[22] = fields[23] = 1;
        fields[21] = fields[24] = 2; /* two vectors, of two axes */
        fields[25] = BLR_INTERPOLATION_LINEAR;
        fields[26] = 28;
        blr_event_t event;
        if (i < sizeof wrong / sizeof wrong[0])
            fields[wrong[i].number] = wrong[i].value;
        OK(blrEnqueueResample(queue, &picture, 0, NULL, &event));
        if (i < sizeof wrong / sizeof wrong[0])
            FAILS(INVALID_ARGUMENT, blrEventWait(event, BLR_TIMEOUT_INFINITE), "field");
        else
            OK(blrEventWait(event, BLR_TIMEOUT_INFINITE));
        OK(blrEventRelease(event));
    }
    OK(blrMemoryFree(context, fields));
}

static void refusals(void)
{
    static float values[64], coordinates[192];
    blr_image_desc_t desc = plain_desc(8, 8, 0, BLR_CHANNEL_UNORM_INT8, 2), cube = desc;
    const blr_sampler_desc_t sampler = plain_sampler();
    blr_image_t image = NULL, cubemap = NULL;
    blr_image_handle_t handle = 0, unsampled = 0, face = 0;
    cube.type = BLR_IMAGE_CUBEMAP;
    cube.array_size = 6;
    OK(blrImageCreate(context, &desc, &image));
    OK(blrImageCreate(context, &cube, &cubemap));
    OK(blrSampledImageCreate(context, image, &desc, &sampler, &handle));
    OK(blrUnsampledImageCreate(context, image, &desc, &unsampled));
    OK(blrSampledImageCreate(context, cubemap, &cube, &sampler, &face));
    const blr_resampling_t good = plain(handle, values, 8, 8, 1);
    blr_resampling_t bad;
#define REFUSES(code, change, text)                                                                                    \
    bad = good;                                                                                                        \
    change;                                                                                                            \
    FAILS(code, blrEnqueueResample(queue, &bad, 0, NULL, NULL), text)
    OK(blrEnqueueResample(queue, &good, 0, NULL, NULL));
    REFUSES(INVALID_HANDLE, bad.handle = 0, "");
    REFUSES(INVALID_ARGUMENT, bad.handle = unsampled, "unsampled");
    REFUSES(INVALID_ARGUMENT, bad.handle = face, "cubemap");
    REFUSES(OUT_OF_RANGE, bad.layer = 1, "layer 1");
    REFUSES(INVALID_ARGUMENT, bad.interpolation = BLR_INTERPOLATION_QUINTIC + 1, "interpolation 8");
    REFUSES(INVALID_ARGUMENT, bad.precision = 3, "precision 3");
    REFUSES(INVALID_ARGUMENT, bad.boundary[2] = BLR_BOUNDARY_EXTENT + 1, "boundary 8");
    REFUSES(INVALID_ARGUMENT, bad.rounding = 2, "rounding 2");
    REFUSES(INVALID_ARGUMENT, bad.coordinate_type = 3, "coordinate type 3");
    REFUSES(INVALID_ARGUMENT, bad.ignore_nan = 2, "ignore_nan 2");
    REFUSES(INVALID_ARGUMENT, bad.ignore_nan = 1, "unorm_int8");
    REFUSES(INVALID_ARGUMENT, bad.centre = 1, "centre 1");
    REFUSES(INVALID_FORMAT, bad.value_type = 8, "value type 8");
    REFUSES(INVALID_FORMAT, bad.value_channels = 3, "value channels 3");
    REFUSES(INVALID_FORMAT, bad.value_channels = 0, "value channels 0");
    REFUSES(INVALID_SIZE, bad.size[0] = (uint64_t)1 << 31, "axis 0");
    REFUSES(INVALID_SIZE, (bad.size[0] = bad.size[1] = bad.size[2] = INT32_MAX), "more than memory has");
    REFUSES(INVALID_ARGUMENT, bad.values = NULL, "values");
    REFUSES(INVALID_ARGUMENT, bad.values = (char *)values + 1, "aligned");
    REFUSES(INVALID_ARGUMENT, bad.coordinates = (char *)coordinates + 1, "aligned");
    REFUSES(UNSUPPORTED, (bad.texels = coordinates, bad.precision = BLR_PRECISION_HARDWARE), "texels");
    REFUSES(UNSUPPORTED, (bad.texels = coordinates, bad.whole[0] = bad.whole[1] = bad.whole[2] = 9), "window");
    REFUSES(INVALID_SIZE, (bad.coordinates = coordinates, bad.coordinate_strides[0] = INT64_MIN), "coordinate stride");
    bad = good;
    bad.coordinates = coordinates;
    bad.coordinate_type = BLR_COORDINATE_FIELDS;
    bad.coordinate_strides[0] = 27;
    FAILS(INVALID_SIZE, blrEnqueueResample(queue, &bad, 0, NULL, NULL), "fields of 27 numbers");
    wrong_fields(good);
    REFUSES(INVALID_ARGUMENT, (bad.precision = BLR_PRECISION_HARDWARE, bad.interpolation = BLR_INTERPOLATION_BICUBIC), "EXACT");
    REFUSES(INVALID_ARGUMENT, (bad.precision = BLR_PRECISION_HARDWARE, bad.interpolation = BLR_INTERPOLATION_CUBIC), "nearest");
    REFUSES(INVALID_ARGUMENT, (bad.precision = BLR_PRECISION_REPRODUCIBLE, bad.ignore_nan = 1), "EXACT");
    REFUSES(INVALID_ARGUMENT, (bad.precision = BLR_PRECISION_HARDWARE, bad.scale[1] = 0), "scale 0 of axis 1");
    REFUSES(INVALID_SIZE, bad.first[1] = (uint64_t)1 << 31, "first element 2147483648 along axis 1");
#define WINDOW(X, Y, Z) bad.whole[0] = (X), bad.whole[1] = (Y), bad.whole[2] = (Z)
    REFUSES(INVALID_SIZE, (WINDOW(9, 0, 1)), "window of 0 texels along axis 1");
    REFUSES(INVALID_SIZE, (WINDOW(9, 9, (uint64_t)1 << 31)), "window of 2147483648 texels along axis 2");
    REFUSES(OUT_OF_RANGE, (WINDOW(9, 9, 1), bad.origin[0] = 9), "window at 9 of 9 texels along axis 0");
    REFUSES(OUT_OF_RANGE, (WINDOW(9, 9, 1), bad.origin[1] = -((int64_t)1 << 31)), "window at -2147483648");
    bad = good; /* the largest that is taken */
    WINDOW(INT32_MAX, INT32_MAX, 1);
    bad.origin[0] = INT32_MAX - 1;
    bad.origin[1] = -(int64_t)INT32_MAX;
    bad.first[0] = INT32_MAX;
    OK(blrEnqueueResample(queue, &bad, 0, NULL, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    FAILS(INVALID_ARGUMENT, blrEnqueueResample(queue, NULL, 0, NULL, NULL), "NULL");
    FAILS(INVALID_HANDLE, blrEnqueueResample(NULL, &good, 0, NULL, NULL), "");
    void *small = NULL;
    OK(blrMemoryAllocate(context, BLR_MEMORY_DEVICE, 16, 0, &small));
    REFUSES(INVALID_SIZE, bad.values = small, "values");
    OK(blrMemoryFree(context, small));
    bad = good;
    bad.size[1] = 0; /* nothing to do */
    bad.values = NULL;
    OK(blrEnqueueResample(queue, &bad, 0, NULL, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    OK(blrImageHandleDestroy(context, handle));
    OK(blrImageHandleDestroy(context, unsampled));
    OK(blrImageHandleDestroy(context, face));
    FAILS(INVALID_HANDLE, blrEnqueueResample(queue, &good, 0, NULL, NULL), "");
    OK(blrImageDestroy(image));
    OK(blrImageDestroy(cubemap));
}

int main(void)
{
    const uint64_t before = object_count();
    context = open_context();
    queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    instruction_sets();
    aligned();
    reproducible();
    volumes();
    batches();
    refusals();
    OK(blrQueueDestroy(queue));
    OK(blrContextDestroy(context));
    CHECK_EQUAL(before, object_count());
    return 0;
}
