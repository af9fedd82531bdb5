/* Images over memory: packed formats, swizzles, pitches, and refusals. */
#include "fixture.h"

#include <math.h>

static blr_context_t context, other;
static blr_queue_t queue;

static blr_image_view_desc_t view_of(blr_image_desc_t image, void *pointer)
{
    return (blr_image_view_desc_t){.image = image,
                                   .pointer = pointer,
                                   .swizzle = {BLR_SWIZZLE_RED, BLR_SWIZZLE_GREEN, BLR_SWIZZLE_BLUE, BLR_SWIZZLE_ALPHA}};
}

static void *new_memory(uint64_t size)
{
    void *memory = NULL;
    OK(blrMemoryAllocate(context, BLR_MEMORY_SHARED, size, 0, &memory));
    return memory;
}

/* One call over pixels (i, 0, layer) with values of four bytes. */
static void call(blr_image_operation_t operation, blr_image_type_t type, blr_image_handle_t handle, uint64_t count,
                 uint32_t dimensions, blr_element_type_t element, uint32_t channels, const void *values)
{
    int32_t at[32] = {0};
    float where[32] = {0};
    for (uint64_t i = 0; i < count; i++) {
        at[i * dimensions] = (int32_t)i;
        where[i * dimensions] = (float)i + 1.0f; /* between two texels */
    }
    blr_image_call_t given = {.operation = operation,
                              .type = type,
                              .handle = handle,
                              .count = count,
                              .coordinates = operation == BLR_OPERATION_SAMPLE ? (const void *)where : (const void *)at,
                              .values = (void *)(uintptr_t)values,
                              .value_type = element,
                              .value_channels = channels};
    blr_event_t event = NULL;
    OK(blrEnqueueImageCall(queue, &given, 0, NULL, &event));
    OK(blrEventWait(event, BLR_TIMEOUT_INFINITE));
    OK(blrEventRelease(event));
}

/* ---------------------------------------------------------------- packed formats */

struct row {
    blr_channel_type_t type;
    uint32_t channels, bytes;
    uint32_t code; /* of a pixel, least significant byte first */
    float value[4];
};

static const struct row rows[] = {
    {BLR_CHANNEL_UNORM_INT32, 1, 4, 0x80000000u, {0.5f, 0, 0, 0}},
    {BLR_CHANNEL_UNORM_INT32, 1, 4, 0xffffffffu, {1, 0, 0, 0}},
    {BLR_CHANNEL_SNORM_INT32, 1, 4, 0x80000000u, {-1, 0, 0, 0}},
    {BLR_CHANNEL_SNORM_INT32, 1, 4, 0x40000000u, {0.5f, 0, 0, 0}},
    {BLR_CHANNEL_UNORM_INT_10_10_10_2, 4, 4, 0xbff00001u, {1 / 1023.0f, 0, 1, 2 / 3.0f}},
    {BLR_CHANNEL_SNORM_INT_10_10_10_2, 4, 4, 1u << 30 | 0x200u << 20 | 0x1ffu << 10 | 0x3ffu, {-1 / 511.0f, 1, -1, 1}},
    {BLR_CHANNEL_FP_10_10_10_2, 4, 4, 3u << 30 | 0x1e0u << 20 | 0x1u << 10 | 0x3dfu, {64512, 0x1p-19f, 1, 1}},
    {BLR_CHANNEL_FP_11_11_10, 3, 4, 0x1f0u << 22 | 0x7bfu << 11 | 0x3c1u, {1 + 1 / 64.0f, 65024, 1.5f, 0}},
    {BLR_CHANNEL_UNORM_SHORT_5_6_5, 3, 2, 0xf801u, {1, 0, 1 / 31.0f, 0}},
    {BLR_CHANNEL_UNORM_SHORT_5_6_5, 3, 2, 0x07e0u, {0, 1, 0, 0}},
    {BLR_CHANNEL_UNORM_SHORT_5_5_5_1, 4, 2, 0x8401u, {1 / 31.0f, 0, 1 / 31.0f, 1}},
    {BLR_CHANNEL_UNORM_SHORT_4_4_4_4, 4, 2, 0x1f0cu, {1, 0, 12 / 15.0f, 1 / 15.0f}},
};

static void packed_pixels(void)
{
    unsigned char *memory = new_memory(4096);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        blr_image_handle_t plain = 0, sampled = 0;
        blr_image_view_desc_t desc = view_of(plain_desc(2, 0, 0, row->type, row->channels), memory);
        blr_sampler_desc_t sampler = plain_sampler();
        sampler.filtering = BLR_FILTERING_LINEAR;
        float values[8] = {0}, middle[4] = {0};
        desc.swizzle[3] = row->channels == 4 ? BLR_SWIZZLE_ALPHA : BLR_SWIZZLE_ZERO;
        memset(memory, 0, 64);
        memcpy(memory, &row->code, row->bytes);
        OK(blrImageViewCreate(context, &desc, &plain));
        desc.sampler = &sampler;
        OK(blrImageViewCreate(context, &desc, &sampled));
        call(BLR_OPERATION_FETCH, BLR_IMAGE_STANDARD, plain, 2, 1, BLR_ELEMENT_F32, 4, values);
        for (int c = 0; c < 4; c++)
            CHECK(values[c] == row->value[c] && values[4 + c] == 0.0f);
        call(BLR_OPERATION_SAMPLE, BLR_IMAGE_STANDARD, sampled, 1, 1, BLR_ELEMENT_F32, 4, middle);
        for (int c = 0; c < 4; c++)
            CHECK(fabsf(middle[c] - 0.5f * row->value[c]) <=
                  (row->type == BLR_CHANNEL_UNORM_INT_10_10_10_2 ? 1.0f / 65535 : 1e-6f * fabsf(row->value[c])));
        memset(memory, 0xff, 64);
        call(BLR_OPERATION_WRITE, BLR_IMAGE_STANDARD, plain, 1, 1, BLR_ELEMENT_F32, row->channels, row->value);
        uint32_t code = 0;
        memcpy(&code, memory, row->bytes);
        if (row->type == BLR_CHANNEL_SNORM_INT32 && row->value[0] < 0)
            CHECK_EQUAL(0x80000001u, code); /* -1 has two codes */
        else if (row->type == BLR_CHANNEL_SNORM_INT_10_10_10_2)
            CHECK_EQUAL(row->code | 1u << 20, code);
        else
            CHECK_EQUAL(row->code, code);
        CHECK_EQUAL(0xff, memory[row->bytes]);
        OK(blrImageHandleDestroy(context, plain));
        OK(blrImageHandleDestroy(context, sampled));
    }
    OK(blrMemoryFree(context, memory));
}

static void packed_integers(void)
{
    uint32_t *memory = new_memory(64), values[4];
    blr_image_handle_t handle = 0;
    blr_image_view_desc_t desc = view_of(plain_desc(1, 0, 0, BLR_CHANNEL_UNSIGNED_INT_10_10_10_2, 4), memory);
    memory[0] = 2u << 30 | 1023u << 20 | 7u << 10 | 512u;
    OK(blrImageViewCreate(context, &desc, &handle));
    call(BLR_OPERATION_FETCH, BLR_IMAGE_STANDARD, handle, 1, 1, BLR_ELEMENT_U32, 4, values);
    CHECK(values[0] == 512 && values[1] == 7 && values[2] == 1023 && values[3] == 2);
    OK(blrImageHandleDestroy(context, handle));
    desc.image.channel_type = BLR_CHANNEL_SIGNED_INT_10_10_10_2;
    OK(blrImageViewCreate(context, &desc, &handle));
    call(BLR_OPERATION_FETCH, BLR_IMAGE_STANDARD, handle, 1, 1, BLR_ELEMENT_S32, 4, values);
    CHECK((int32_t)values[0] == -512 && values[1] == 7 && (int32_t)values[2] == -1 && (int32_t)values[3] == -2);
    call(BLR_OPERATION_WRITE, BLR_IMAGE_STANDARD, handle, 1, 1, BLR_ELEMENT_S32, 4, values);
    CHECK_EQUAL(2u << 30 | 1023u << 20 | 7u << 10 | 512u, memory[0]);
    OK(blrImageHandleDestroy(context, handle));
    OK(blrMemoryFree(context, memory));
}

/* Unsigned floats at the limits of their range. */
static void small_floats(void)
{
    static const struct {
        float value;
        uint32_t code; /* of 11 bits: 5 of exponent, 6 of significand */
    } cases[] = {{0, 0},          {-1, 0},          {NAN, 0x7e0},          {INFINITY, 0x7c0}, {-INFINITY, 0}, {65024, 0x7bf},
                 {65279, 0x7bf},  {65281, 0x7c0},   {1e30f, 0x7c0},        {0x1p-20f, 1},     {0x1p-21f, 0},  {0x1.8p-21f, 1},
                 {0x1p-14f, 64},  {0x1.fcp-15f, 64}, {0x1.fbp-15f, 63},     {1 + 1 / 128.0f, 0x3c0}, {1 + 3 / 128.0f, 0x3c2}};
    uint32_t *memory = new_memory(64);
    blr_image_handle_t handle = 0;
    blr_image_view_desc_t desc = view_of(plain_desc(1, 0, 0, BLR_CHANNEL_FP_11_11_10, 3), memory);
    desc.swizzle[3] = BLR_SWIZZLE_ZERO;
    OK(blrImageViewCreate(context, &desc, &handle));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float texel[3] = {cases[i].value, 0, 0};
        call(BLR_OPERATION_WRITE, BLR_IMAGE_STANDARD, handle, 1, 1, BLR_ELEMENT_F32, 3, texel);
        CHECK_EQUAL(cases[i].code, memory[0]);
    }
    OK(blrImageHandleDestroy(context, handle));
    OK(blrMemoryFree(context, memory));
}

/* ---------------------------------------------------------------- swizzles */

static void swizzles(void)
{
    unsigned char *memory = new_memory(64);
    blr_image_handle_t handle = 0;
    blr_image_view_desc_t desc = view_of(plain_desc(2, 0, 0, BLR_CHANNEL_UNSIGNED_INT8, 4), memory);
    unsigned char values[8] = {0};
    const unsigned char pixels[8] = {1, 2, 3, 4, 5, 6, 7, 8}, reversed[8] = {3, 2, 1, 4, 7, 6, 5, 8};
    memcpy(memory, pixels, 8);
    desc.swizzle[0] = BLR_SWIZZLE_BLUE;
    desc.swizzle[2] = BLR_SWIZZLE_RED;
    OK(blrImageViewCreate(context, &desc, &handle));
    call(BLR_OPERATION_FETCH, BLR_IMAGE_STANDARD, handle, 2, 1, BLR_ELEMENT_U8, 4, values);
    CHECK(memcmp(values, reversed, 8) == 0);
    memset(memory, 0, 8);
    call(BLR_OPERATION_WRITE, BLR_IMAGE_STANDARD, handle, 2, 1, BLR_ELEMENT_U8, 4, values);
    CHECK(memcmp(memory, pixels, 8) == 0);
    OK(blrImageHandleDestroy(context, handle));

    /* Two channels of an image of two, a constant, and a missing channel; a write uses the first of equal channels. */
    memset(memory, 0, 64);
    desc.image.num_channels = 2;
    memcpy(memory, (const unsigned char[]){10, 20, 30, 40}, 4);
    const blr_swizzle_t order[4] = {BLR_SWIZZLE_GREEN, BLR_SWIZZLE_ONE, BLR_SWIZZLE_BLUE, BLR_SWIZZLE_GREEN};
    memcpy(desc.swizzle, order, sizeof order);
    OK(blrImageViewCreate(context, &desc, &handle));
    call(BLR_OPERATION_FETCH, BLR_IMAGE_STANDARD, handle, 2, 1, BLR_ELEMENT_U8, 4, values);
    CHECK(memcmp(values, (const unsigned char[]){20, 1, 0, 20, 40, 1, 0, 40}, 8) == 0);
    unsigned char two[4] = {0};
    call(BLR_OPERATION_FETCH, BLR_IMAGE_STANDARD, handle, 2, 1, BLR_ELEMENT_U8, 2, two);
    CHECK(memcmp(two, (const unsigned char[]){20, 1, 40, 1}, 4) == 0);
    call(BLR_OPERATION_WRITE, BLR_IMAGE_STANDARD, handle, 1, 1, BLR_ELEMENT_U8, 4, (unsigned char[]){9, 8, 7, 6});
    CHECK(memory[0] == 0 && memory[1] == 9 && memory[2] == 30);
    blr_image_call_t call_of_two = {.operation = BLR_OPERATION_WRITE, .handle = handle, .count = 1, .coordinates = values,
                                    .values = values, .value_type = BLR_ELEMENT_U8, .value_channels = 2};
    FAILS(INVALID_FORMAT, blrEnqueueImageCall(queue, &call_of_two, 0, NULL, NULL), "the image has 4");
    OK(blrImageHandleDestroy(context, handle));
    OK(blrMemoryFree(context, memory));
}

/* Sampling through a swizzle, with more items than one batch, compared with the same without a swizzle. */
static void sampled_swizzle(void)
{
    enum { ITEMS = 200 };
    blr_image_desc_t image = plain_desc(16, 9, 0, BLR_CHANNEL_FP16, 4);
    image.type = BLR_IMAGE_ARRAY;
    image.array_size = 3;
    unsigned char *memory = new_memory(16 * 9 * 3 * 8 + 64);
    fill_random(memory, 16 * 9 * 3 * 8, 7);
    for (int i = 0; i < 16 * 9 * 3 * 4; i++)
        memory[2 * i + 1] &= 0xbb; /* finite */
    blr_sampler_desc_t sampler = plain_sampler();
    sampler.filtering = BLR_FILTERING_LINEAR;
    blr_image_view_desc_t desc = view_of(image, memory);
    desc.sampler = &sampler;
    blr_image_handle_t plain = 0, turned = 0;
    OK(blrImageViewCreate(context, &desc, &plain));
    const blr_swizzle_t order[4] = {BLR_SWIZZLE_ALPHA, BLR_SWIZZLE_ONE, BLR_SWIZZLE_RED, BLR_SWIZZLE_ZERO};
    memcpy(desc.swizzle, order, sizeof order);
    OK(blrImageViewCreate(context, &desc, &turned));
    static float where[2 * ITEMS], straight[4 * ITEMS], values[4 * ITEMS];
    static uint32_t layers[ITEMS];
    uint32_t state = 3;
    for (int i = 0; i < ITEMS; i++) {
        where[2 * i] = (float)(random_next(&state) % 1000) * 0.017f;
        where[2 * i + 1] = (float)(random_next(&state) % 1000) * 0.01f;
        layers[i] = random_next(&state) % 3;
    }
    layers[150] = 5;
    blr_image_call_t given = {.operation = BLR_OPERATION_SAMPLE, .type = BLR_IMAGE_ARRAY, .handle = plain, .count = ITEMS,
                              .coordinates = where, .layers = layers, .values = straight, .value_type = BLR_ELEMENT_F32,
                              .value_channels = 4};
    blr_event_t event = NULL;
    OK(blrEnqueueImageCall(queue, &given, 0, NULL, &event));
    FAILS(OUT_OF_RANGE, blrEventWait(event, BLR_TIMEOUT_INFINITE), "item 150");
    OK(blrEventRelease(event));
    given.handle = turned;
    given.values = values;
    OK(blrEnqueueImageCall(queue, &given, 0, NULL, &event));
    FAILS(OUT_OF_RANGE, blrEventWait(event, BLR_TIMEOUT_INFINITE), "item 150 names layer 5");
    OK(blrEventRelease(event));
    for (int i = 0; i < ITEMS; i++) {
        CHECK(values[4 * i] == straight[4 * i + 3] && values[4 * i + 1] == 1.0f);
        CHECK(values[4 * i + 2] == straight[4 * i] && values[4 * i + 3] == 0.0f);
    }
    OK(blrImageHandleDestroy(context, plain));
    OK(blrImageHandleDestroy(context, turned));
    OK(blrMemoryFree(context, memory));
}

/* ---------------------------------------------------------------- refusals */

static void refusals(void)
{
    void *memory = new_memory(4096), *foreign = NULL;
    OK(blrMemoryAllocate(other, BLR_MEMORY_DEVICE, 4096, 0, &foreign));
    blr_image_handle_t handle = 5;
    const blr_image_view_desc_t good = view_of(plain_desc(8, 4, 2, BLR_CHANNEL_FP32, 4), memory);
    blr_sampler_desc_t sampler = plain_sampler();
    blr_image_view_desc_t d;
#define REFUSED(code, change, text)                                       \
    do {                                                                  \
        d = good;                                                         \
        change;                                                           \
        handle = 5;                                                       \
        FAILS(code, blrImageViewCreate(context, &d, &handle), text);      \
        CHECK(handle == 0);                                               \
    } while (0)
    REFUSED(INVALID_FORMAT, d.swizzle[2] = (blr_swizzle_t)6, "swizzle[2] is 6");
    REFUSED(INVALID_FORMAT, d.image.num_channels = 0, "num_channels 0");
    REFUSED(INVALID_FORMAT, d.image.channel_type = BLR_CHANNEL_FP_11_11_10, "the number that the channel type names");
    REFUSED(INVALID_ARGUMENT, d.pointer = (char *)memory + 32, "multiple of 64");
    REFUSED(INVALID_ARGUMENT, d.pointer = NULL, "NULL");
    REFUSED(INVALID_HANDLE, d.pointer = foreign, "another context");
    REFUSED(INVALID_ARGUMENT, d.row_pitch = 127, "row pitch 127");
    REFUSED(INVALID_ARGUMENT, d.row_pitch = 130, "multiple of 4");
    REFUSED(INVALID_ARGUMENT, d.row_pitch = UINT64_MAX & ~UINT64_C(3), "row pitch");
    REFUSED(INVALID_SIZE, d.row_pitch = UINT64_C(1) << 62, "more than memory has");
    REFUSED(INVALID_ARGUMENT, d.slice_pitch = 508, "slice pitch 508");
    REFUSED(INVALID_SIZE, d.slice_pitch = 4096, "leaves its allocation");
    REFUSED(INVALID_SIZE, (d.image.width = 4096, d.image.height = 4096), "leaves its allocation");
    REFUSED(INVALID_SIZE, d.image.width = UINT64_MAX, "width");
    REFUSED(UNSUPPORTED, (d.image.type = BLR_IMAGE_MIPMAP, d.image.num_levels = 2), "mipmap");
    REFUSED(INVALID_ARGUMENT, (sampler.filtering = (blr_filtering_t)9, d.sampler = &sampler), "filtering");
    FAILS(INVALID_ARGUMENT, blrImageViewCreate(context, NULL, &handle), "desc is NULL");
    FAILS(INVALID_ARGUMENT, blrImageViewCreate(context, &good, NULL), "handle is NULL");
    FAILS(INVALID_HANDLE, blrImageViewCreate(NULL, &good, &handle), "NULL");
    d = good;
    d.row_pitch = 160;
    d.slice_pitch = 1024;
    d.image.type = BLR_IMAGE_ARRAY;
    d.image.depth = 0;
    OK(blrImageViewCreate(context, &d, &handle)); /* one layer */
    OK(blrMemoryFree(context, memory));           /* the handle retains it */
    float values[4] = {1, 1, 1, 1};
    call(BLR_OPERATION_FETCH, BLR_IMAGE_ARRAY, handle, 1, 2, BLR_ELEMENT_F32, 4, values);
    CHECK(values[0] == 0 && values[3] == 0);
    OK(blrImageHandleDestroy(context, handle));
    OK(blrMemoryFree(other, foreign));
}

int main(void)
{
    context = open_context();
    other = open_context();
    queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    packed_pixels();
    packed_integers();
    small_floats();
    swizzles();
    sampled_swizzle();
    refusals();
    OK(blrQueueDestroy(queue));
    OK(blrContextDestroy(context));
    OK(blrContextDestroy(other));
    CHECK_EQUAL(0, object_count());
    return 0;
}
