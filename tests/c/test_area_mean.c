/* Means of areas, levels of mipmaps and of pyramids, compared with sums over single pixels. */
#include "fixture.h"
#include "bindless/filter/boundary.h"
#include "image/pyramid.h"
#include "platform/cpu_features.h"

#include <math.h>

static blr_context_t context;
static blr_queue_t queue;

struct type {
    blr_channel_type_t channel;
    blr_element_type_t element;
    uint32_t size;
    int64_t lowest; /* codes below count as it */
};

static const struct type types[] = {
    {BLR_CHANNEL_SNORM_INT8, BLR_ELEMENT_S8, 1, -127},     {BLR_CHANNEL_SNORM_INT16, BLR_ELEMENT_S16, 2, -32767},
    {BLR_CHANNEL_UNORM_INT8, BLR_ELEMENT_U8, 1, 0},        {BLR_CHANNEL_UNORM_INT16, BLR_ELEMENT_U16, 2, 0},
    {BLR_CHANNEL_SIGNED_INT8, BLR_ELEMENT_S8, 1, -128},    {BLR_CHANNEL_SIGNED_INT16, BLR_ELEMENT_S16, 2, -32768},
    {BLR_CHANNEL_UNSIGNED_INT8, BLR_ELEMENT_U8, 1, 0},     {BLR_CHANNEL_UNSIGNED_INT16, BLR_ELEMENT_U16, 2, 0},
    {BLR_CHANNEL_SIGNED_INT32, BLR_ELEMENT_S32, 4, INT32_MIN}, {BLR_CHANNEL_UNSIGNED_INT32, BLR_ELEMENT_U32, 4, 0},
    {BLR_CHANNEL_FP32, BLR_ELEMENT_F32, 4, 0},
};

static bool is_exact(const struct type *type) { return type->size < 4; }

static double number_at(const struct type *type, const void *pixels, uint64_t i)
{
    double value = 0;
    switch (type->element) {
    case BLR_ELEMENT_S8: value = ((const int8_t *)pixels)[i]; break;
    case BLR_ELEMENT_U8: value = ((const uint8_t *)pixels)[i]; break;
    case BLR_ELEMENT_S16: value = ((const int16_t *)pixels)[i]; break;
    case BLR_ELEMENT_U16: value = ((const uint16_t *)pixels)[i]; break;
    case BLR_ELEMENT_S32: value = ((const int32_t *)pixels)[i]; break;
    case BLR_ELEMENT_U32: value = ((const uint32_t *)pixels)[i]; break;
    default: return ((const float *)pixels)[i];
    }
    return value < (double)type->lowest ? (double)type->lowest : value;
}

struct box {
    uint64_t extent[3], size[3];
    uint32_t channels;
};

/* Parts of source pixel k in mean i, of a whole of size. */
static uint64_t overlap(uint64_t i, uint64_t k, uint64_t length, uint64_t size)
{
    const uint64_t begin = i * length > k * size ? i * length : k * size;
    const uint64_t end = (i + 1) * length < (k + 1) * size ? (i + 1) * length : (k + 1) * size;
    return end > begin ? end - begin : 0;
}

/* The mean, from sums that doubles hold exactly where pixels are codes. */
static double exact_mean(const struct type *type, const void *pixels, const struct box *box, const uint64_t at[3], uint32_t c)
{
    double sum = 0;
    for (uint64_t z = 0; z < box->extent[2]; z++)
        for (uint64_t y = 0; y < box->extent[1]; y++)
            for (uint64_t x = 0; x < box->extent[0]; x++) {
                const uint64_t weight = overlap(at[0], x, box->extent[0], box->size[0]) *
                                        overlap(at[1], y, box->extent[1], box->size[1]) *
                                        overlap(at[2], z, box->extent[2], box->size[2]);
                const uint64_t pixel = (z * box->extent[1] + y) * box->extent[0] + x;
                if (weight != 0)
                    sum += (double)weight * number_at(type, pixels, pixel * box->channels + c);
            }
    return sum / (double)(box->extent[0] * box->extent[1] * box->extent[2]);
}

static void compare(const struct type *type, const void *pixels, const struct box *box, const void *means, uint32_t kept)
{
    for (uint64_t z = 0; z < box->size[2]; z++)
        for (uint64_t y = 0; y < box->size[1]; y++)
            for (uint64_t x = 0; x < box->size[0]; x++)
                for (uint32_t c = 0; c < kept; c++) {
                    const uint64_t at[3] = {x, y, z};
                    const double wanted = exact_mean(type, pixels, box, at, c);
                    const double got =
                        number_at(type, means, ((z * box->size[1] + y) * box->size[0] + x) * kept + c);
                    if (is_exact(type))
                        CHECK(got == rint(wanted)); /* to nearest even */
                    else
                        CHECK(fabs(got - wanted) <= (type->element == BLR_ELEMENT_F32 ? 1e-6 * fabs(wanted) + 1e-6 : 0.5001));
                }
}

static const struct box boxes[] = {
    {{8, 6, 1}, {4, 3, 1}, 1},    {{64, 2, 1}, {32, 1, 1}, 1},  {{62, 4, 1}, {31, 2, 1}, 2},  {{66, 2, 2}, {33, 1, 2}, 3},
    {{40, 4, 1}, {20, 2, 1}, 4},  {{9, 7, 1}, {4, 3, 1}, 3},    {{15, 9, 1}, {10, 6, 1}, 4},  {{27, 9, 1}, {9, 3, 1}, 3},
    {{5, 6, 7}, {2, 3, 3}, 2},    {{13, 1, 1}, {6, 1, 1}, 1},   {{300, 3, 1}, {7, 2, 1}, 1},  {{90, 300, 1}, {1, 1, 1}, 1},
    {{7, 5, 3}, {7, 5, 3}, 3},    {{41, 37, 1}, {40, 11, 1}, 1},
    {{117, 9, 1}, {39, 3, 1}, 1}, {{148, 8, 1}, {37, 2, 1}, 1}, {{36, 9, 3}, {12, 3, 2}, 1},  {{20, 18, 1}, {10, 2, 1}, 4},
};

static void fill_pixels(const struct type *type, void *pixels, uint64_t count, uint32_t seed)
{
    fill_random(pixels, count * type->size, seed);
    if (type->element == BLR_ELEMENT_F32)
        for (uint64_t i = 0; i < count; i++)
            ((float *)pixels)[i] = (float)(((int32_t *)pixels)[i] % 1000) / 8.0f;
}

static void means_of_memory(void)
{
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++)
        for (size_t b = 0; b < sizeof boxes / sizeof boxes[0]; b++)
            for (uint32_t kept = 1; kept <= boxes[b].channels; kept++) {
                const struct type *type = &types[t];
                const struct box *box = &boxes[b];
                const uint64_t count = box->extent[0] * box->extent[1] * box->extent[2] * box->channels;
                const uint64_t results = box->size[0] * box->size[1] * box->size[2] * kept;
                void *pixels = malloc(count * type->size), *means = malloc(results * type->size);
                float *floats = malloc(results * sizeof *floats);
                CHECK(pixels != NULL && means != NULL && floats != NULL);
                fill_pixels(type, pixels, count, (uint32_t)(17 * t + b));
                blr_area_mean_t mean = {.source.pointer = pixels, .destination.pointer = means,
                                        .channel_type = type->channel, .source_channels = box->channels,
                                        .destination_channels = kept, .destination_type = type->element};
                memcpy(mean.extent, box->extent, sizeof mean.extent);
                memcpy(mean.size, box->size, sizeof mean.size);
                OK(blrAreaMean(&mean));
                compare(type, pixels, box, means, kept);
                mean.destination.pointer = floats;
                mean.destination_type = BLR_ELEMENT_F32;
                OK(blrAreaMean(&mean));
                for (uint64_t i = 0; i < results; i++) /* the same before they are rounded */
                    CHECK(fabs((double)floats[i] - number_at(type, means, i)) <= 0.5 + 1e-7 * fabs((double)floats[i]));
                free(pixels);
                free(means);
                free(floats);
            }
}

/* Large enough for several threads; through an image, in a queue and in a batch. */
static void means_of_images(void)
{
    const struct box box = {{400, 300, 1}, {133, 150, 1}, 3};
    const struct type *type = &types[2];
    unsigned char *pixels = malloc(400 * 300 * 3), *means = malloc(133 * 150 * 3), *again = malloc(133 * 150 * 3);
    CHECK(pixels != NULL && means != NULL && again != NULL);
    fill_random(pixels, 400 * 300 * 3, 5);
    blr_image_desc_t desc = plain_desc(400, 300, 0, BLR_CHANNEL_UNORM_INT8, 3);
    blr_image_t image = NULL;
    blr_batch_t batch = NULL;
    OK(blrImageCreate(context, &desc, &image));
    blr_copy_region_t up = {.source.pointer = pixels, .destination.image = image, .extent = {400, 300, 1}, .pixel_size = 3};
    OK(blrEnqueueCopyImage(queue, &up, 0, NULL, NULL));
    blr_area_mean_t mean = {.source.image = image, .destination.pointer = means, .extent = {400, 300, 0},
                            .size = {133, 150, 0}, .channel_type = BLR_CHANNEL_UNORM_INT8, .source_channels = 3,
                            .destination_channels = 3, .destination_type = BLR_ELEMENT_U8};
    OK(blrEnqueueAreaMean(queue, &mean, 0, NULL, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    for (uint64_t y = 0; y < 150; y += 29)
        for (uint64_t x = 0; x < 133; x += 12) {
            const uint64_t at[3] = {x, y, 0};
            CHECK_EQUAL((int)rint(exact_mean(type, pixels, &box, at, 1)), means[(y * 133 + x) * 3 + 1]);
        }
    mean.destination.pointer = again;
    OK(blrQueueBeginRecording(queue));
    OK(blrEnqueueAreaMean(queue, &mean, 0, NULL, NULL));
    OK(blrQueueEndRecording(queue, &batch));
    for (int i = 0; i < 2; i++) {
        memset(again, 0, 133 * 150 * 3);
        OK(blrEnqueueBatch(queue, batch, 0, NULL, NULL));
        OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
        CHECK(memcmp(means, again, 133 * 150 * 3) == 0);
    }
    OK(blrBatchDestroy(batch));
    OK(blrImageDestroy(image));
    free(pixels);
    free(means);
    free(again);
}

static void levels(void)
{
    blr_image_desc_t desc = plain_desc(61, 40, 0, BLR_CHANNEL_SNORM_INT16, 3);
    desc.type = BLR_IMAGE_MIPMAP;
    desc.num_levels = 6;
    blr_image_t mipmap = NULL, level = NULL;
    OK(blrImageCreate(context, &desc, &mipmap));
    int16_t above[61 * 40 * 3], below[61 * 40 * 3];
    fill_random((unsigned char *)above, sizeof above, 8);
    uint64_t width = 61, height = 40;
    blr_copy_region_t copy = {.source.pointer = above, .extent = {width, height, 1}, .pixel_size = 6};
    OK(blrImageGetLevel(mipmap, 0, &level));
    copy.destination.image = level;
    OK(blrEnqueueCopyImage(queue, &copy, 0, NULL, NULL));
    OK(blrEnqueueFillLevels(queue, mipmap, NULL, 0, NULL, NULL));
    for (uint32_t i = 1; i < 6; i++) {
        const struct box box = {{width, height, 1}, {width / 2, height / 2, 1}, 3};
        width /= 2;
        height /= 2;
        OK(blrImageGetLevel(mipmap, i, &level));
        blr_copy_region_t down = {.source.image = level, .destination.pointer = below, .extent = {width, height, 1},
                                  .pixel_size = 6};
        OK(blrEnqueueCopyImage(queue, &down, 0, NULL, NULL));
        OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
        compare(&types[1], above, &box, below, 3);
        memcpy(above, below, sizeof above);
    }
    OK(blrImageDestroy(mipmap));
}

static void refusals(void)
{
    static uint16_t pixels[64], means[64];
    const blr_area_mean_t good = {.source.pointer = pixels, .destination.pointer = means, .extent = {8, 4, 1},
                                  .size = {4, 2, 1}, .channel_type = BLR_CHANNEL_UNORM_INT16, .source_channels = 2,
                                  .destination_channels = 2, .destination_type = BLR_ELEMENT_U16};
    blr_area_mean_t bad;
    OK(blrAreaMean(&good));
    OK(blrEnqueueAreaMean(queue, &good, 0, NULL, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
#define REFUSES(code, change, text)                                                                                    \
    bad = good;                                                                                                        \
    change;                                                                                                            \
    FAILS(code, blrAreaMean(&bad), text);                                                                              \
    FAILS(code, blrEnqueueAreaMean(queue, &bad, 0, NULL, NULL), text)
    REFUSES(INVALID_FORMAT, bad.channel_type = 99, "channel type 99");
    REFUSES(INVALID_FORMAT, bad.channel_type = BLR_CHANNEL_UNORM_SHORT_5_6_5, "channel type 20");
    REFUSES(INVALID_FORMAT, bad.destination_type = BLR_ELEMENT_U8, "destination type 1");
    REFUSES(INVALID_FORMAT, bad.source_channels = 5, "2 channels of 5");
    REFUSES(INVALID_FORMAT, bad.destination_channels = 3, "3 channels of 2");
    REFUSES(INVALID_FORMAT, bad.destination_channels = 0, "0 channels of 2");
    REFUSES(INVALID_SIZE, bad.size[0] = 9, "x: 9 means of 8");
    REFUSES(INVALID_SIZE, bad.size[0] = 0, "x: 0 means of 8");
    REFUSES(INVALID_SIZE, bad.extent[1] = 1, "y: 2 means of 1");
    REFUSES(INVALID_SIZE, bad.source.row_pitch = 30, "row pitch 30");
    REFUSES(INVALID_SIZE, bad.source.row_pitch = UINT64_MAX, "row pitch");
    REFUSES(INVALID_ARGUMENT, bad.source.offset[1] = 1, "offset");
    REFUSES(INVALID_ARGUMENT, bad.source.row_pitch = 33, "aligned");
    REFUSES(INVALID_ARGUMENT, bad.destination.pointer = (char *)means + 1, "aligned");
    REFUSES(INVALID_ARGUMENT, bad.destination.pointer = pixels, "overlap");
    REFUSES(INVALID_ARGUMENT, bad.source.pointer = NULL, "NULL");
    FAILS(INVALID_ARGUMENT, blrAreaMean(NULL), "NULL");
    FAILS(INVALID_ARGUMENT, blrEnqueueAreaMean(queue, NULL, 0, NULL, NULL), "NULL");
    FAILS(INVALID_HANDLE, blrEnqueueAreaMean(NULL, &good, 0, NULL, NULL), "");
    blr_image_desc_t desc = plain_desc(8, 4, 0, BLR_CHANNEL_UNORM_INT16, 2);
    blr_image_t image = NULL;
    OK(blrImageCreate(context, &desc, &image));
    bad = good;
    bad.source.image = image;
    FAILS(INVALID_ARGUMENT, blrAreaMean(&bad), "queue");
    bad.extent[0] = 9;
    FAILS(INVALID_SIZE, blrEnqueueAreaMean(queue, &bad, 0, NULL, NULL), "leave the source image");
    bad.extent[0] = 8;
    bad.source_channels = 4;
    FAILS(INVALID_FORMAT, blrEnqueueAreaMean(queue, &bad, 0, NULL, NULL), "4 channels");
    FAILS(INVALID_ARGUMENT, blrEnqueueFillLevels(queue, image, NULL, 0, NULL, NULL), "one level");
    OK(blrImageDestroy(image));
    FAILS(INVALID_HANDLE, blrEnqueueFillLevels(queue, image, NULL, 0, NULL, NULL), "");
}

/* Levels that are made together with the copy of the first one, of all sizes and types: those that are made one by one. */
static void levels_of_pixels(void)
{
    static const struct {
        uint64_t width, height;
        blr_channel_type_t type;
        uint32_t channels, levels, element;
    } cases[] = {{128, 96, BLR_CHANNEL_UNORM_INT8, 3, 8, 1},   {640, 480, BLR_CHANNEL_UNORM_INT8, 4, 10, 1},
                 {96, 160, BLR_CHANNEL_FP32, 3, 5, 4},         {320, 256, BLR_CHANNEL_FP32, 4, 9, 4},
                 {90, 52, BLR_CHANNEL_FP32, 1, 7, 4},          {61, 40, BLR_CHANNEL_SNORM_INT16, 3, 6, 2},
                 {2, 2, BLR_CHANNEL_UNSIGNED_INT8, 2, 2, 1},   {1, 64, BLR_CHANNEL_UNORM_INT8, 1, 7, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t pixel = cases[i].channels * cases[i].element;
        const uint64_t size = cases[i].width * cases[i].height * pixel;
        blr_image_desc_t desc = plain_desc(cases[i].width, cases[i].height, 0, cases[i].type, cases[i].channels);
        desc.type = BLR_IMAGE_MIPMAP;
        desc.num_levels = cases[i].levels;
        unsigned char *pixels = malloc(size), *means[2] = {malloc(size), malloc(size)};
        for (uint64_t k = 0; k < size / cases[i].element; k++)
            if (cases[i].type == BLR_CHANNEL_FP32)
                ((float *)(void *)pixels)[k] = (float)((k * 2654435761u) % 1000003) * 1e-3f;
            else
                memset(pixels + k * cases[i].element, (int)((k * 2654435761u) >> 7), cases[i].element);
        blr_image_t mipmap[2] = {NULL, NULL}, level = NULL;
        blr_copy_region_t copy = {.source.pointer = pixels, .extent = {cases[i].width, cases[i].height, 1}, .pixel_size = pixel};
        OK(blrImageCreate(context, &desc, &mipmap[0]));
        OK(blrImageCreate(context, &desc, &mipmap[1]));
        OK(blrImageGetLevel(mipmap[0], 0, &level));
        copy.destination.image = level;
        OK(blrEnqueueCopyImage(queue, &copy, 0, NULL, NULL));
        OK(blrEnqueueFillLevels(queue, mipmap[0], NULL, 0, NULL, NULL));
        OK(blrEnqueueFillLevels(queue, mipmap[1], pixels, 0, NULL, NULL));
        for (uint32_t k = 0; k < desc.num_levels; k++) {
            const uint64_t width = cases[i].width >> k > 0 ? cases[i].width >> k : 1;
            const uint64_t height = cases[i].height >> k > 0 ? cases[i].height >> k : 1;
            for (int j = 0; j < 2; j++) {
                OK(blrImageGetLevel(mipmap[j], k, &level));
                blr_copy_region_t down = {.source.image = level, .destination.pointer = means[j],
                                          .extent = {width, height, 1}, .pixel_size = pixel};
                OK(blrEnqueueCopyImage(queue, &down, 0, NULL, NULL));
            }
            OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
            CHECK(memcmp(means[0], means[1], width * height * pixel) == 0);
            CHECK(k > 0 || memcmp(means[1], pixels, size) == 0);
        }
        if (cases[i].element > 1)
            FAILS(INVALID_ARGUMENT, blrEnqueueFillLevels(queue, mipmap[1], pixels + 1, 0, NULL, NULL), "not aligned");
        OK(blrImageDestroy(mipmap[0]));
        OK(blrImageDestroy(mipmap[1]));
        free(pixels);
        free(means[0]);
        free(means[1]);
    }
}

/* ---------------------------------------------------------------- pyramids */

#define MOST_WIDTH 900u
#define MOST_HEIGHT 40u

#if BLR_HAS_VECTOR_SETS
void blr_pyramid_rows_avx2(const blr_pyramid_t *pyramid, uint64_t begin, uint64_t end);
void blr_pyramid_rows_avx512(const blr_pyramid_t *pyramid, uint64_t begin, uint64_t end);
#endif

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint32_t below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % limit;
}

static float source[MOST_WIDTH * MOST_HEIGHT * 4];
static float pyramids[3][(2 * MOST_WIDTH + 1) * (2 * MOST_HEIGHT + 1) * 4];

static blr_pyramid_t choose(blr_pyramid_direction_t direction)
{
    static const blr_element_type_t elements[] = {BLR_ELEMENT_U8, BLR_ELEMENT_S16, BLR_ELEMENT_U16, BLR_ELEMENT_F32};
    static const blr_boundary_t boundaries[] = {BLR_BOUNDARY_EDGE, BLR_BOUNDARY_MIRRORED_REPEAT, BLR_BOUNDARY_MIRROR,
                                                BLR_BOUNDARY_REPEAT};
    blr_pyramid_t pyramid = {.source = source, .destination = pyramids[0], .direction = direction};
    pyramid.element = elements[below(4)];
    pyramid.channels = 1 + below(4);
    for (int axis = 0; axis < 2; axis++) {
        const uint32_t most = below(2) ? 4 : axis == 0 ? MOST_WIDTH : MOST_HEIGHT;
        const uint64_t extent = pyramid.extent[axis] = 1 + below(most);
        pyramid.boundary[axis] = boundaries[below(direction == BLR_PYRAMID_UP ? 2 : 4)];
        pyramid.size[axis] = direction == BLR_PYRAMID_UP ? 2 * extent - 1 + below(3) : (extent + 1) / 2;
    }
    for (uint32_t i = 0; i < sizeof source / sizeof *source; i++) {
        const uint32_t bits = below(UINT32_MAX);
        const float value = (float)bits * 0x1p-30f - 2;
        memcpy(&source[i], pyramid.element == BLR_ELEMENT_F32 ? (const void *)&value : &bits, sizeof value);
    }
    return pyramid;
}

static uint64_t size_of(const blr_pyramid_t *pyramid)
{
    return pyramid->element == BLR_ELEMENT_U8 ? 1 : pyramid->element == BLR_ELEMENT_F32 ? 4 : 2;
}

static void pyramids_of_sets(blr_pyramid_direction_t direction)
{
    for (int i = 0; i < 150; i++) {
        blr_pyramid_t pyramid = choose(direction), other = pyramid;
        const uint64_t rows = pyramid.size[1], bytes = pyramid.size[0] * rows * pyramid.channels * size_of(&pyramid);
        OK(blrPyramidLevel(&pyramid));
        other.destination = pyramids[1];
        const uint64_t middle = below((uint32_t)rows);
        blr_pyramid_rows(&other, middle, rows);
        blr_pyramid_rows(&other, 0, middle);
        CHECK_EQUAL(0, memcmp(pyramids[0], pyramids[1], bytes));
#if BLR_HAS_VECTOR_SETS
        other.destination = pyramids[2];
        if (blr_processor_has_avx2()) {
            blr_pyramid_rows_avx2(&other, 0, rows);
            CHECK_EQUAL(0, memcmp(pyramids[0], pyramids[2], bytes));
        }
        if (blr_processor_has_avx512()) {
            blr_pyramid_rows_avx512(&other, 0, rows);
            CHECK_EQUAL(0, memcmp(pyramids[0], pyramids[2], bytes));
        }
#endif
    }
}

/* Weights of five neighbours of bytes, rounded away from zero. */
static void pyramids_of_codes(void)
{
    static const uint32_t weights[] = {1, 4, 6, 4, 1};
    for (int i = 0; i < 50; i++) {
        blr_pyramid_t pyramid = choose(BLR_PYRAMID_DOWN);
        const uint8_t *codes = (const uint8_t *)source, *level = (const uint8_t *)pyramids[0];
        pyramid.element = BLR_ELEMENT_U8;
        OK(blrPyramidLevel(&pyramid));
        for (uint64_t at = 0; at < pyramid.size[0] * pyramid.size[1] * pyramid.channels; at++) {
            const uint64_t c = at % pyramid.channels, pixel = at / pyramid.channels;
            const int64_t x = (int64_t)(pixel % pyramid.size[0]), y = (int64_t)(pixel / pyramid.size[0]);
            uint32_t sum = 0;
            for (int j = 0; j < 25; j++) {
                const int64_t column = bindless_texel_at(2 * x + j % 5 - 2, (int64_t)pyramid.extent[0], pyramid.boundary[0]),
                              row = bindless_texel_at(2 * y + j / 5 - 2, (int64_t)pyramid.extent[1], pyramid.boundary[1]);
                const uint64_t from = ((uint64_t)row * pyramid.extent[0] + (uint64_t)column) * pyramid.channels + c;
                sum += weights[j % 5] * weights[j / 5] * codes[from];
            }
            CHECK_EQUAL((sum + 128) / 256, level[at]);
        }
    }
}

static void refusals_of_pyramids(void)
{
    const blr_pyramid_t good = {.source = source, .destination = pyramids[0], .extent = {8, 8}, .size = {4, 4},
                                .element = BLR_ELEMENT_F32, .channels = 1,
                                .boundary = {BLR_BOUNDARY_EDGE, BLR_BOUNDARY_EDGE}};
    blr_pyramid_t bad = good;
    FAILS(INVALID_ARGUMENT, blrPyramidLevel(NULL), "NULL");
    bad.source = NULL;
    FAILS(INVALID_ARGUMENT, blrPyramidLevel(&bad), "source");
    bad = good;
    bad.channels = 5;
    FAILS(INVALID_FORMAT, blrPyramidLevel(&bad), "5 channels");
    bad = good;
    bad.element = BLR_ELEMENT_S32;
    FAILS(INVALID_FORMAT, blrPyramidLevel(&bad), "element type");
    bad = good;
    bad.size[0] = 6;
    FAILS(INVALID_SIZE, blrPyramidLevel(&bad), "size 6");
    bad = good;
    bad.boundary[1] = BLR_BOUNDARY_WRAP;
    FAILS(INVALID_ARGUMENT, blrPyramidLevel(&bad), "boundary");
    bad = good;
    bad.direction = BLR_PYRAMID_UP;
    bad.boundary[0] = BLR_BOUNDARY_MIRROR;
    FAILS(INVALID_ARGUMENT, blrPyramidLevel(&bad), "boundary");
}

int main(void)
{
    context = open_context();
    queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    means_of_memory();
    means_of_images();
    levels();
    levels_of_pixels();
    refusals();
    pyramids_of_sets(BLR_PYRAMID_DOWN);
    pyramids_of_sets(BLR_PYRAMID_UP);
    pyramids_of_codes();
    refusals_of_pyramids();
    OK(blrQueueDestroy(queue));
    OK(blrContextDestroy(context));
    return 0;
}
