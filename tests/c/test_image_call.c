/* Image calls through queues: results in every format, all forms, refusals, faults and their reports. */
#include "fixture.h"

#include <fenv.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

static blr_context_t context;
static blr_queue_t queue;

/* The element type with the channel's codes; for reading, floats for normalized channels. */
static blr_element_type_t element_of(blr_channel_type_t type, bool reading)
{
    switch (type) {
    case BLR_CHANNEL_SNORM_INT8: return reading ? BLR_ELEMENT_F32 : BLR_ELEMENT_S8;
    case BLR_CHANNEL_SNORM_INT16: return reading ? BLR_ELEMENT_F32 : BLR_ELEMENT_S16;
    case BLR_CHANNEL_UNORM_INT8: return reading ? BLR_ELEMENT_F32 : BLR_ELEMENT_U8;
    case BLR_CHANNEL_UNORM_INT16: return reading ? BLR_ELEMENT_F32 : BLR_ELEMENT_U16;
    case BLR_CHANNEL_SIGNED_INT8: return BLR_ELEMENT_S8;
    case BLR_CHANNEL_SIGNED_INT16: return BLR_ELEMENT_S16;
    case BLR_CHANNEL_SIGNED_INT32: return BLR_ELEMENT_S32;
    case BLR_CHANNEL_UNSIGNED_INT8: return BLR_ELEMENT_U8;
    case BLR_CHANNEL_UNSIGNED_INT16: return BLR_ELEMENT_U16;
    case BLR_CHANNEL_UNSIGNED_INT32: return BLR_ELEMENT_U32;
    case BLR_CHANNEL_FP16: return BLR_ELEMENT_F16;
    default: return BLR_ELEMENT_F32;
    }
}

/* The value of a normalized code. */
static float normalized(blr_channel_type_t type, const unsigned char *code)
{
    int16_t s16;
    uint16_t u16;
    memcpy(&s16, code, 2);
    memcpy(&u16, code, 2);
    switch (type) {
    case BLR_CHANNEL_SNORM_INT8: return (int8_t)*code < -127 ? -1.0f : (float)(int8_t)*code / 127.0f;
    case BLR_CHANNEL_SNORM_INT16: return s16 < -32767 ? -1.0f : (float)s16 / 32767.0f;
    case BLR_CHANNEL_UNORM_INT8: return (float)*code / 255.0f;
    case BLR_CHANNEL_UNORM_INT16: return (float)u16 / 65535.0f;
    default: return 0;
    }
}

/* Writes codes pixel by pixel, compares the image's memory, and reads them back. */
static void write_and_fetch(blr_image_desc_t desc)
{
    const uint64_t width = desc.width, height = desc.height ? desc.height : 1;
    const uint64_t slices = desc.depth ? desc.depth : desc.array_size;
    const uint64_t count = width * height * slices, dimensions = desc.depth ? 3 : desc.height ? 2 : 1;
    const uint64_t pixel = channel_bytes(desc.channel_type) * desc.num_channels;
    const bool layered = desc.array_size > 1;
    blr_image_t image = NULL;
    blr_image_handle_t handle = 0;
    void *pixels = NULL;
    int32_t *places = calloc(count * dimensions, 4);
    uint32_t *layers = calloc(count, 4);
    unsigned char *codes = malloc(count * pixel + 8), *read = malloc(count * 16);
    CHECK(places != NULL && layers != NULL && codes != NULL && read != NULL);
    fill_random(codes, count * pixel, (uint32_t)(pixel * 77 + dimensions));
    if (desc.channel_type == BLR_CHANNEL_FP16 || desc.channel_type == BLR_CHANNEL_FP32)
        for (uint64_t i = 0; i < count * desc.num_channels; i++) { /* floats from 1 to 2 and from 0.5 to 1: no NaN */
            float value = 1.0f + (float)i / 65536.0f;
            uint16_t half = (uint16_t)(0x3c00 - i % 1000);
            if (desc.channel_type == BLR_CHANNEL_FP32)
                memcpy(codes + i * 4, &value, 4);
            else
                memcpy(codes + i * 2, &half, 2);
        }
    /* Permuted items, so that wrong positions show. */
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = (i * 7919) % count, x = at % width, y = at / width % height, z = at / width / height;
        places[i * dimensions] = (int32_t)x;
        if (dimensions > 1)
            places[i * dimensions + 1] = (int32_t)y;
        if (dimensions > 2)
            places[i * dimensions + 2] = (int32_t)z;
        layers[i] = layered ? (uint32_t)z : 0;
    }
    OK(blrImageCreate(context, &desc, &image));
    OK(blrUnsampledImageCreate(context, image, &desc, &handle));
    OK(blrImageGetPointer(image, &pixels));
    blr_image_call_t call = {.operation = BLR_OPERATION_WRITE, .type = desc.type, .handle = handle, .count = count,
                             .coordinates = places, .layers = layered ? layers : NULL, .values = codes,
                             .value_type = element_of(desc.channel_type, false), .value_channels = desc.num_channels};
    OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
    call.operation = BLR_OPERATION_FETCH;
    call.values = read;
    call.value_type = element_of(desc.channel_type, true);
    call.value_channels = 4;
    OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    const bool is_normalized = desc.channel_type <= BLR_CHANNEL_UNORM_INT16;
    const uint64_t element = is_normalized ? 4 : channel_bytes(desc.channel_type);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = (i * 7919) % count;
        CHECK(memcmp((char *)pixels + at * pixel, codes + i * pixel, pixel) == 0);
        for (uint32_t c = 0; c < 4; c++) {
            unsigned char expected[4] = {0};
            if (c < desc.num_channels && is_normalized) {
                float value = normalized(desc.channel_type, codes + i * pixel + c * channel_bytes(desc.channel_type));
                memcpy(expected, &value, 4);
            } else if (c < desc.num_channels) {
                memcpy(expected, codes + i * pixel + c * element, element);
            }
            CHECK(memcmp(read + (i * 4 + c) * element, expected, element) == 0);
        }
    }
    OK(blrImageHandleDestroy(context, handle));
    OK(blrImageDestroy(image));
    free(places);
    free(layers);
    free(codes);
    free(read);
}

static void every_format(void)
{
    for (int type = 0; type < 12; type++)
        for (uint32_t channels = 1; channels <= 4; channels++) {
            blr_channel_type_t t = (blr_channel_type_t)type;
            write_and_fetch(plain_desc(53, 0, 0, t, channels));
            write_and_fetch(plain_desc(17, 11, 0, t, channels));
            write_and_fetch(plain_desc(7, 5, 3, t, channels));
            blr_image_desc_t desc = plain_desc(13, 0, 0, t, channels);
            desc.type = BLR_IMAGE_ARRAY;
            desc.array_size = 5;
            write_and_fetch(desc);
            desc.height = 3;
            write_and_fetch(desc);
            desc = plain_desc(9, 9, 0, t, channels);
            desc.type = BLR_IMAGE_CUBEMAP;
            desc.array_size = 6;
            write_and_fetch(desc);
        }
    /* Enough items for all threads. */
    write_and_fetch(plain_desc(701, 397, 0, BLR_CHANNEL_UNSIGNED_INT32, 1));
}

/* ---------------------------------------------------------------- faults */

static void faults(void)
{
    enum { COUNT = 200000 };
    static int32_t places[COUNT][2];
    static float values[COUNT];
    blr_image_desc_t desc = plain_desc(500, 400, 0, BLR_CHANNEL_FP32, 1);
    blr_image_t image = NULL;
    blr_image_handle_t handle = 0;
    blr_event_t event = NULL, dependent = NULL;
    void *pixels = NULL;
    OK(blrImageCreate(context, &desc, &image));
    OK(blrImageGetPointer(image, &pixels));
    for (int i = 0; i < COUNT; i++)
        ((float *)pixels)[i] = (float)i;
    OK(blrUnsampledImageCreate(context, image, &desc, &handle));
    blr_image_call_t call = {.operation = BLR_OPERATION_FETCH, .handle = handle, .count = COUNT, .coordinates = places,
                             .values = values, .value_type = BLR_ELEMENT_F32, .value_channels = 1};
    for (int i = 0; i < COUNT; i++) {
        places[i][0] = i % 500;
        places[i][1] = i / 500;
    }
    /* Several bad items: the error names the first one, whichever thread finds it. */
    places[77777][0] = -3;
    places[150000][1] = 400;
    places[199999][0] = INT32_MAX;
    for (int round = 0; round < 5; round++) {
        OK(blrEnqueueImageCall(queue, &call, 0, NULL, &event));
        OK(blrEnqueueBarrier(queue, 1, &event, &dependent));
        FAILS(OUT_OF_RANGE, blrEventWait(event, BLR_TIMEOUT_INFINITE), "fetch: item 77777 names the pixel (-3, 155)");
        FAILS(OUT_OF_RANGE, blrEventWait(event, BLR_TIMEOUT_INFINITE), "500 x 400");
        FAILS(DEPENDENCY_FAILED, blrEventWait(dependent, BLR_TIMEOUT_INFINITE), "item 77777");
        OK(blrEventRelease(event));
        OK(blrEventRelease(dependent));
    }
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE)); /* the event has reported it */
    /* The other items are complete. */
    for (int i = 0; i < COUNT; i++)
        if (i != 77777 && i != 150000 && i != 199999)
            CHECK(values[i] == (float)i);
    OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
    FAILS(OUT_OF_RANGE, blrQueueWait(queue, BLR_TIMEOUT_INFINITE), "item 77777");
    call.operation = BLR_OPERATION_WRITE;
    OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
    FAILS(OUT_OF_RANGE, blrQueueWait(queue, BLR_TIMEOUT_INFINITE), "write: item 77777");
    OK(blrImageHandleDestroy(context, handle));
    OK(blrImageDestroy(image));
}

static void layer_faults(void)
{
    blr_image_desc_t desc = plain_desc(8, 8, 0, BLR_CHANNEL_FP32, 1);
    blr_image_t array = NULL, cube = NULL;
    blr_image_handle_t handle = 0, faces = 0;
    int32_t places[3][2] = {{0, 0}, {1, 1}, {2, 2}};
    uint32_t layers[3] = {0, 1, 2};
    float values[3];
    desc.type = BLR_IMAGE_ARRAY;
    desc.array_size = 2;
    OK(blrImageCreate(context, &desc, &array));
    OK(blrUnsampledImageCreate(context, array, &desc, &handle));
    blr_image_call_t call = {.operation = BLR_OPERATION_FETCH, .type = BLR_IMAGE_ARRAY, .handle = handle, .count = 3,
                             .coordinates = places, .layers = layers, .values = values, .value_type = BLR_ELEMENT_F32,
                             .value_channels = 1};
    OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
    FAILS(OUT_OF_RANGE, blrQueueWait(queue, BLR_TIMEOUT_INFINITE), "item 2 names layer 2; the image has 2");
    call.layers = NULL;
    call.layer = 1;
    OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    call.layer = 9;
    OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
    FAILS(OUT_OF_RANGE, blrQueueWait(queue, BLR_TIMEOUT_INFINITE), "item 0 names layer 9");
    desc.type = BLR_IMAGE_CUBEMAP;
    desc.array_size = 6;
    OK(blrImageCreate(context, &desc, &cube));
    OK(blrUnsampledImageCreate(context, cube, &desc, &faces));
    call.handle = faces;
    call.type = BLR_IMAGE_CUBEMAP;
    call.layer = 6;
    OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
    FAILS(OUT_OF_RANGE, blrQueueWait(queue, BLR_TIMEOUT_INFINITE), "face 6; the image has 6");
    OK(blrImageHandleDestroy(context, faces));
    OK(blrImageHandleDestroy(context, handle));
    OK(blrImageDestroy(array));
    OK(blrImageDestroy(cube));
}

/* ---------------------------------------------------------------- sampling through the queue */

/* At texel centres filtering returns the texel itself: every form returns the pixels. */
static void sampling_forms(void)
{
    blr_image_desc_t desc = plain_desc(16, 16, 0, BLR_CHANNEL_FP32, 2);
    blr_sampler_desc_t sampler = plain_sampler();
    blr_image_t image = NULL;
    blr_image_handle_t handle = 0;
    void *pixels = NULL;
    enum { COUNT = 256 };
    static float centres[COUNT][2], unit[COUNT][2], zeros[COUNT][2], values[COUNT][2];
    static float levels[COUNT];
    for (int i = 0; i < COUNT; i++) {
        centres[i][0] = (float)(i % 16) + 0.5f;
        centres[i][1] = (float)(i / 16) + 0.5f;
        unit[i][0] = centres[i][0] / 16;
        unit[i][1] = centres[i][1] / 16;
    }
    sampler.filtering = BLR_FILTERING_LINEAR;
    OK(blrImageCreate(context, &desc, &image));
    OK(blrImageGetPointer(image, &pixels));
    for (int i = 0; i < 2 * COUNT; i++)
        ((float *)pixels)[i] = (float)i;
    OK(blrSampledImageCreate(context, image, &desc, &sampler, &handle));
    blr_image_call_t call = {.operation = BLR_OPERATION_SAMPLE, .handle = handle, .count = COUNT, .coordinates = centres,
                             .values = values, .value_type = BLR_ELEMENT_F32, .value_channels = 2};
    OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    CHECK(memcmp(values, pixels, sizeof values) == 0);
    OK(blrImageHandleDestroy(context, handle));
    OK(blrImageDestroy(image));

    desc.type = BLR_IMAGE_MIPMAP;
    desc.num_levels = 3;
    sampler.normalized_coordinates = 1;
    sampler.max_mipmap_level_clamp = 2;
    OK(blrImageCreate(context, &desc, &image));
    OK(blrImageGetPointer(image, &pixels));
    for (int i = 0; i < 2 * COUNT; i++)
        ((float *)pixels)[i] = (float)(3 * i);
    blr_image_t half = NULL;
    void *zero_pixels = NULL;
    OK(blrImageGetLevel(image, 1, &half));
    OK(blrImageGetPointer(half, &zero_pixels));
    memset(zero_pixels, 0, COUNT / 4 * 2 * sizeof(float));
    OK(blrSampledImageCreate(context, image, &desc, &sampler, &handle));
    call.handle = handle;
    call.type = BLR_IMAGE_MIPMAP;
    call.operation = BLR_OPERATION_SAMPLE_LOD;
    call.coordinates = unit;
    call.levels = levels;
    memset(values, 0, sizeof values);
    OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    CHECK(memcmp(values, pixels, sizeof values) == 0);
    call.levels = NULL;
    call.level = 1.0f; /* the level of zeros */
    OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    CHECK(memcmp(values, zeros, sizeof values) == 0);
    call.operation = BLR_OPERATION_SAMPLE_GRADIENT;
    call.gradient_x = call.gradient_y = &zeros[0][0];
    OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    CHECK(memcmp(values, pixels, sizeof values) == 0);

    /* Invalid arguments for a mipmap, and missing arrays. */
    call.gradient_y = NULL;
    FAILS(INVALID_ARGUMENT, blrEnqueueImageCall(queue, &call, 0, NULL, NULL), "gradients in y is NULL");
    call.operation = BLR_OPERATION_SAMPLE;
    FAILS(INVALID_ARGUMENT, blrEnqueueImageCall(queue, &call, 0, NULL, NULL), "a level or gradients");
    call.operation = BLR_OPERATION_WRITE;
    FAILS(INVALID_ARGUMENT, blrEnqueueImageCall(queue, &call, 0, NULL, NULL), "a level or gradients");
    OK(blrImageHandleDestroy(context, handle));
    OK(blrImageDestroy(image));
}

/* Work on the caller's thread, at submission or in a wait, preserves the caller's floating-point flags. */
static void leaves_flags(blr_queue_t queue, const blr_image_call_t *call)
{
    const int flags[] = {0, FE_INEXACT, FE_DIVBYZERO | FE_UNDERFLOW};
    for (int i = 0; i < 6; i++) {
        blr_image_call_t part = *call;
        part.count = i < 3 ? 16 : call->count;
        feclearexcept(FE_ALL_EXCEPT);
        feraiseexcept(flags[i % 3]);
        OK(blrEnqueueImageCall(queue, &part, 0, NULL, NULL));
        OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
        CHECK(fetestexcept(FE_ALL_EXCEPT) == flags[i % 3]);
    }
    feclearexcept(FE_ALL_EXCEPT);
}

/* The caller's rounding mode and denormal mode do not affect results, on the queue's threads or on the waiting one,
 * and stay unchanged. */
static void float_environment(void)
{
    enum { COUNT = 4000 };
    static float places[COUNT][2], values[2][COUNT][4], tiny[COUNT];
    blr_image_desc_t desc = plain_desc(64, 64, 0, BLR_CHANNEL_UNORM_INT16, 4);
    blr_image_desc_t line = plain_desc(COUNT, 0, 0, BLR_CHANNEL_FP32, 1);
    blr_sampler_desc_t sampler = plain_sampler();
    blr_image_t image = NULL, denormals = NULL;
    blr_image_handle_t handle = 0, exact = 0;
    static int32_t numbers[COUNT];
    void *pixels = NULL;
    uint32_t state = 17;
    sampler.filtering = BLR_FILTERING_LINEAR;
    OK(blrImageCreate(context, &desc, &image));
    OK(blrImageGetPointer(image, &pixels));
    fill_random(pixels, 64 * 64 * 8, 9);
    OK(blrSampledImageCreate(context, image, &desc, &sampler, &handle));
    OK(blrImageCreate(context, &line, &denormals));
    OK(blrImageGetPointer(denormals, &pixels));
    for (int i = 0; i < COUNT; i++) {
        uint32_t bits = (uint32_t)i * 1999;
        memcpy((char *)pixels + 4 * i, &bits, 4);
        numbers[i] = i;
        for (int k = 0; k < 2; k++)
            places[i][k] = (float)(random_next(&state) % 100000) / 1562.5f;
    }
    OK(blrUnsampledImageCreate(context, denormals, &line, &exact));
    blr_image_call_t sample = {.operation = BLR_OPERATION_SAMPLE, .handle = handle, .count = COUNT,
                               .coordinates = places, .values = values[0], .value_type = BLR_ELEMENT_F32,
                               .value_channels = 4};
    blr_image_call_t fetch = {.operation = BLR_OPERATION_FETCH, .handle = exact, .count = COUNT, .coordinates = numbers,
                              .values = tiny, .value_type = BLR_ELEMENT_F32, .value_channels = 1};
    OK(blrEnqueueImageCall(queue, &sample, 0, NULL, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    sample.values = values[1];
    fesetround(FE_UPWARD);
#if defined(__SSE2__)
    _mm_setcsr(_mm_getcsr() | 0x8040); /* flush denormal inputs and outputs */
#endif
    for (int helped = 0; helped < 2; helped++) {
        blr_queue_t fresh = open_queue(context, BLR_QUEUE_IN_ORDER); /* its thread starts here */
        memset(values[1], 0, sizeof values[1]);
        memset(tiny, 1, sizeof tiny);
        OK(blrEnqueueImageCall(fresh, &sample, 0, NULL, NULL));
        OK(blrEnqueueImageCall(fresh, &fetch, 0, NULL, NULL));
        if (helped == 0)
            while (blrQueueQuery(fresh) == BLR_RESULT_NOT_READY) {
            }
        OK(blrQueueDestroy(fresh));
        CHECK(memcmp(values[0], values[1], sizeof values[0]) == 0);
        CHECK(memcmp(tiny, pixels, sizeof tiny) == 0);
    }
    CHECK(fegetround() == FE_UPWARD);
    fesetenv(FE_DFL_ENV);
    leaves_flags(queue, &sample);
    OK(blrImageHandleDestroy(context, handle));
    OK(blrImageHandleDestroy(context, exact));
    OK(blrImageDestroy(image));
    OK(blrImageDestroy(denormals));
}

/* ---------------------------------------------------------------- refusals */

static void refusals(void)
{
    blr_image_desc_t desc = plain_desc(8, 8, 0, BLR_CHANNEL_UNSIGNED_INT8, 2);
    blr_sampler_desc_t sampler = plain_sampler();
    const blr_image_desc_t real = plain_desc(8, 8, 0, BLR_CHANNEL_UNORM_INT8, 2), thin = plain_desc(8, 0, 0, BLR_CHANNEL_UNORM_INT8, 2);
    blr_image_t image = NULL, foreign = NULL, plane = NULL, row = NULL;
    blr_image_handle_t plain = 0, sampled = 0, elsewhere = 0, flat = 0, line = 0;
    blr_context_t other = open_context();
    void *memory = NULL;
    static _Alignas(8) unsigned char places[256], values[256];
    OK(blrImageCreate(context, &desc, &image));
    OK(blrImageCreate(other, &desc, &foreign));
    OK(blrUnsampledImageCreate(context, image, &desc, &plain));
    OK(blrUnsampledImageCreate(other, foreign, &desc, &elsewhere));
    OK(blrSampledImageCreate(context, image, &desc, &sampler, &sampled));
    OK(blrImageCreate(context, &real, &plane));
    OK(blrImageCreate(context, &thin, &row));
    OK(blrSampledImageCreate(context, plane, &real, &sampler, &flat));
    OK(blrSampledImageCreate(context, row, &thin, &sampler, &line));
    OK(blrMemoryAllocate(context, BLR_MEMORY_DEVICE, 64, 0, &memory));
    const blr_image_call_t good = {.operation = BLR_OPERATION_FETCH, .handle = plain, .count = 9, .coordinates = places,
                                   .values = values, .value_type = BLR_ELEMENT_U8, .value_channels = 4};
    blr_image_call_t c;
    OK(blrEnqueueImageCall(queue, &good, 0, NULL, NULL));
    FAILS(INVALID_ARGUMENT, blrEnqueueImageCall(queue, NULL, 0, NULL, NULL), "call is NULL");
#define REFUSED(code, change, text)                                                                                    \
    do {                                                                                                               \
        c = good;                                                                                                      \
        change;                                                                                                        \
        FAILS(code, blrEnqueueImageCall(queue, &c, 0, NULL, NULL), text);                                              \
    } while (0)
    REFUSED(INVALID_ARGUMENT, c.operation = (blr_image_operation_t)5, "operation 5");
    REFUSED(INVALID_ARGUMENT, c.operation = (blr_image_operation_t)-1, "operation -1");
    REFUSED(INVALID_ARGUMENT, c.type = (blr_image_type_t)4, "image type 4");
    REFUSED(INVALID_ARGUMENT, c.type = BLR_IMAGE_ARRAY, "the handle's image is of type standard");
    REFUSED(INVALID_ARGUMENT, c.operation = BLR_OPERATION_SAMPLE, "unsampled handle");
    REFUSED(INVALID_ARGUMENT, c.operation = BLR_OPERATION_SAMPLE_LOD, "only a mipmap");
    REFUSED(INVALID_ARGUMENT, (c.operation = BLR_OPERATION_WRITE, c.handle = sampled), "sampled handle");
    REFUSED(INVALID_HANDLE, c.handle = elsewhere, "another context");
    REFUSED(INVALID_HANDLE, c.handle = 0, "NULL");
    REFUSED(INVALID_FORMAT, c.value_type = (blr_element_type_t)8, "value type 8");
    REFUSED(INVALID_FORMAT, c.value_type = BLR_ELEMENT_F32, "unsigned_int8");
    REFUSED(INVALID_FORMAT, c.value_channels = 0, "value channels 0");
    REFUSED(INVALID_FORMAT, c.value_channels = 5, "value channels 5");
    REFUSED(INVALID_FORMAT, c.operation = BLR_OPERATION_WRITE, "the image has 2");
    REFUSED(INVALID_ARGUMENT, c.coordinates = NULL, "coordinates is NULL");
    REFUSED(INVALID_ARGUMENT, c.values = NULL, "values is NULL");
    REFUSED(INVALID_ARGUMENT, c.coordinates = places + 1, "not aligned");
    REFUSED(INVALID_ARGUMENT, c.layers = (uint32_t *)(void *)places, "layers are given");
    REFUSED(INVALID_SIZE, c.coordinates = memory, "the coordinates of 72 bytes");
    REFUSED(INVALID_SIZE, (c.values = memory, c.count = 17), "the values of 68 bytes");
    REFUSED(INVALID_SIZE, c.count = UINT64_MAX, "more than memory");
    REFUSED(INVALID_SIZE, c.count = UINT64_MAX / 8, "address space");
    REFUSED(INVALID_ARGUMENT, c.map.width = 3, "maps sample images of two");
#define A_PICTURE c.operation = BLR_OPERATION_SAMPLE, c.handle = sampled, c.coordinates = NULL, c.map.width = 3
    REFUSED(INVALID_ARGUMENT, (A_PICTURE, c.handle = line), "of 1 dimensions by a map");
    REFUSED(INVALID_ARGUMENT, (A_PICTURE, c.handle = flat, c.coordinates = places), "they follow from the map");
    REFUSED(INVALID_SIZE, (A_PICTURE, c.handle = flat, c.map.width = 4), "not a picture with rows of 4");
    REFUSED(INVALID_FORMAT, (A_PICTURE, c.handle = flat, c.value_type = BLR_ELEMENT_S8), "unorm_int8");
    c = good;
    A_PICTURE;
    c.handle = flat;
    OK(blrEnqueueImageCall(queue, &c, 0, NULL, NULL));
    c = good;
    c.count = 0;
    c.coordinates = c.values = NULL;
    OK(blrEnqueueImageCall(queue, &c, 0, NULL, NULL)); /* an empty call */
    c = good;
    c.handle = sampled;
    OK(blrEnqueueImageCall(queue, &c, 0, NULL, NULL)); /* a fetch also accepts a sampled image */
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    OK(blrImageHandleDestroy(context, plain));
    OK(blrImageHandleDestroy(context, sampled));
    OK(blrImageHandleDestroy(context, flat));
    OK(blrImageHandleDestroy(context, line));
    OK(blrImageDestroy(plane));
    OK(blrImageDestroy(row));
    OK(blrImageHandleDestroy(other, elsewhere));
    OK(blrImageDestroy(image));
    OK(blrImageDestroy(foreign));
    OK(blrMemoryFree(context, memory));
    OK(blrContextDestroy(other));
}

int main(void)
{
    context = open_context();
    queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    every_format();
    faults();
    layer_faults();
    sampling_forms();
    float_environment();
    refusals();
    OK(blrQueueDestroy(queue));
    OK(blrContextDestroy(context));
    CHECK_EQUAL(0, object_count());
    return 0;
}
