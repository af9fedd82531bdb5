/* Image memory: refused descriptions, levels, layouts, lifetimes. */
#include "fixture.h"

static blr_context_t context;

static void refuse(blr_result_t code, blr_image_desc_t desc, const char *text)
{
    blr_image_t image = (blr_image_t)&image;
    blr_result_t result = blrImageCreate(context, &desc, &image);
    if (result == BLR_RESULT_SUCCESS)
        fprintf(stderr, "expected a refusal with \"%s\"\n", text);
    check_result(__FILE__, __LINE__, "blrImageCreate", code, result, text);
    CHECK(image == NULL);
}

static blr_image_desc_t with_type(blr_image_desc_t desc, blr_image_type_t type, uint32_t levels, uint32_t layers)
{
    desc.type = type;
    desc.num_levels = levels;
    desc.array_size = layers;
    return desc;
}

static void refused_descriptions(void)
{
    const blr_channel_type_t F = BLR_CHANNEL_FP32;
    const blr_image_desc_t two = plain_desc(16, 16, 0, F, 1), three = plain_desc(8, 8, 8, F, 1);
    refuse(BLR_RESULT_INVALID_SIZE, plain_desc(0, 0, 0, F, 1), "width 0");
    refuse(BLR_RESULT_INVALID_SIZE, plain_desc(4, 0, 4, F, 1), "height 0");
    refuse(BLR_RESULT_INVALID_FORMAT, plain_desc(4, 4, 0, F, 0), "num_channels 0");
    refuse(BLR_RESULT_INVALID_FORMAT, plain_desc(4, 4, 0, F, 5), "num_channels 5");
    refuse(BLR_RESULT_INVALID_FORMAT, plain_desc(4, 4, 0, (blr_channel_type_t)38, 1), "channel type 38");
    refuse(BLR_RESULT_INVALID_FORMAT, plain_desc(4, 4, 0, (blr_channel_type_t)-1, 1), "channel type -1");
    refuse(BLR_RESULT_INVALID_ARGUMENT, with_type(two, (blr_image_type_t)4, 1, 1), "image type 4");
    refuse(BLR_RESULT_INVALID_ARGUMENT, with_type(two, BLR_IMAGE_STANDARD, 2, 1), "num_levels 2");
    refuse(BLR_RESULT_INVALID_ARGUMENT, with_type(two, BLR_IMAGE_STANDARD, 0, 1), "num_levels 0");
    refuse(BLR_RESULT_INVALID_ARGUMENT, with_type(two, BLR_IMAGE_STANDARD, 1, 2), "array_size 2");
    refuse(BLR_RESULT_INVALID_ARGUMENT, with_type(two, BLR_IMAGE_STANDARD, 1, 0), "array_size 0");
    refuse(BLR_RESULT_INVALID_ARGUMENT, with_type(two, BLR_IMAGE_MIPMAP, 1, 1), "num_levels 1");
    refuse(BLR_RESULT_INVALID_ARGUMENT, with_type(two, BLR_IMAGE_MIPMAP, 6, 1), "2 to 5 levels");
    refuse(BLR_RESULT_INVALID_ARGUMENT, with_type(two, BLR_IMAGE_MIPMAP, UINT32_MAX, 1), "2 to 5 levels");
    refuse(BLR_RESULT_INVALID_ARGUMENT, with_type(plain_desc(1, 1, 0, F, 1), BLR_IMAGE_MIPMAP, 2, 1), "none is possible");
    refuse(BLR_RESULT_INVALID_ARGUMENT, with_type(two, BLR_IMAGE_MIPMAP, 3, 2), "array_size 2");
    refuse(BLR_RESULT_INVALID_ARGUMENT, with_type(two, BLR_IMAGE_ARRAY, 1, 1), "array_size 1");
    refuse(BLR_RESULT_INVALID_ARGUMENT, with_type(two, BLR_IMAGE_ARRAY, 1, 2049), "2 to 2048 layers");
    refuse(BLR_RESULT_INVALID_ARGUMENT, with_type(two, BLR_IMAGE_ARRAY, 2, 2), "num_levels 2");
    refuse(BLR_RESULT_INVALID_ARGUMENT, with_type(three, BLR_IMAGE_ARRAY, 1, 2), "depth 8");
    refuse(BLR_RESULT_INVALID_ARGUMENT, with_type(two, BLR_IMAGE_CUBEMAP, 1, 5), "array_size 5");
    refuse(BLR_RESULT_INVALID_ARGUMENT, with_type(three, BLR_IMAGE_CUBEMAP, 1, 6), "square");
    refuse(BLR_RESULT_INVALID_ARGUMENT, with_type(plain_desc(8, 9, 0, F, 1), BLR_IMAGE_CUBEMAP, 1, 6), "square");
    refuse(BLR_RESULT_INVALID_SIZE, plain_desc(131073, 0, 0, F, 1), "width 131073");
    refuse(BLR_RESULT_INVALID_SIZE, plain_desc(131073, 1, 0, F, 1), "at most 131072");
    refuse(BLR_RESULT_INVALID_SIZE, plain_desc(1, 65537, 0, F, 1), "at most 65536");
    refuse(BLR_RESULT_INVALID_SIZE, plain_desc(16385, 1, 1, F, 1), "at most 16384");
    refuse(BLR_RESULT_INVALID_SIZE, plain_desc(1, 1, 16385, F, 1), "depth 16385");
    refuse(BLR_RESULT_INVALID_SIZE, plain_desc(UINT64_MAX, UINT64_MAX, UINT64_MAX, F, 4), "at most");
    refuse(BLR_RESULT_INVALID_SIZE, with_type(plain_desc(32769, 4, 0, F, 1), BLR_IMAGE_MIPMAP, 2, 1), "at most 32768");
    refuse(BLR_RESULT_INVALID_SIZE, with_type(plain_desc(131073, 0, 0, F, 1), BLR_IMAGE_ARRAY, 1, 2), "at most 131072");
    refuse(BLR_RESULT_INVALID_SIZE, with_type(plain_desc(4, 65537, 0, F, 1), BLR_IMAGE_ARRAY, 1, 2), "at most 65536");
    refuse(BLR_RESULT_INVALID_SIZE, with_type(plain_desc(32769, 32769, 0, F, 1), BLR_IMAGE_CUBEMAP, 1, 6), "at most 32768");
    refuse(BLR_RESULT_OUT_OF_MEMORY, plain_desc(16384, 16384, 16384, F, 4), "bytes");
    FAILS(INVALID_ARGUMENT, blrImageCreate(context, NULL, &(blr_image_t){NULL}), "desc is NULL");
    FAILS(INVALID_ARGUMENT, blrImageCreate(context, &two, NULL), "image is NULL");
}

/* Every format and dimension can be created, is zeroed, and returns its description. */
static void formats(void)
{
    for (int type = 0; type < 12; type++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            for (int dimensions = 1; dimensions <= 3; dimensions++) {
                blr_image_desc_t desc = plain_desc(7, dimensions > 1 ? 5 : 0, dimensions > 2 ? 3 : 0,
                                                   (blr_channel_type_t)type, channels);
                blr_image_desc_t own;
                blr_image_t image = NULL;
                void *pixels = NULL;
                OK(blrImageCreate(context, &desc, &image));
                OK(blrImageGetDesc(image, &own));
                CHECK(own.width == desc.width && own.height == desc.height && own.depth == desc.depth);
                CHECK(own.num_channels == channels && own.channel_type == desc.channel_type && own.num_levels == 1);
                OK(blrImageGetPointer(image, &pixels));
                uint64_t size = 7 * (desc.height ? desc.height : 1) * (desc.depth ? desc.depth : 1) * channels *
                                channel_bytes(desc.channel_type);
                memset(pixels, 0xff, size);
                OK(blrImageDestroy(image));
            }
}

static void levels(void)
{
    blr_image_desc_t desc = with_type(plain_desc(13, 6, 0, BLR_CHANNEL_UNORM_INT8, 3), BLR_IMAGE_MIPMAP, 4, 1), own;
    static const uint64_t widths[] = {13, 6, 3, 1}, heights[] = {6, 3, 1, 1};
    blr_image_t mipmap = NULL, level[4], again = NULL;
    void *base = NULL;
    uint64_t before = object_count();
    OK(blrImageCreate(context, &desc, &mipmap));
    OK(blrImageGetPointer(mipmap, &base));
    for (uint32_t i = 0; i < 4; i++) {
        void *pixels = NULL;
        OK(blrImageGetLevel(mipmap, i, &level[i]));
        OK(blrImageGetLevel(mipmap, i, &again));
        CHECK(again == level[i]);
        OK(blrImageGetDesc(level[i], &own));
        CHECK(own.width == widths[i] && own.height == heights[i] && own.depth == 0);
        CHECK(own.type == BLR_IMAGE_STANDARD && own.num_levels == 1 && own.array_size == 1 && own.num_channels == 3);
        OK(blrImageGetPointer(level[i], &pixels));
        CHECK(i > 0 || pixels == base);
        memset(pixels, (int)i + 1, widths[i] * heights[i] * 3);
        FAILS(IN_USE, blrImageDestroy(level[i]), "level of a mipmap");
    }
    for (uint32_t i = 0; i < 4; i++) { /* the levels do not overlap */
        void *pixels = NULL;
        OK(blrImageGetPointer(level[i], &pixels));
        for (uint64_t k = 0; k < widths[i] * heights[i] * 3; k++)
            CHECK_EQUAL(i + 1, ((unsigned char *)pixels)[k]);
    }
    FAILS(INVALID_ARGUMENT, blrImageGetLevel(mipmap, 4, &again), "levels 0 to 3");
    FAILS(INVALID_ARGUMENT, blrImageGetLevel(level[0], 0, &again), "only a mipmap");
    FAILS(INVALID_ARGUMENT, blrImageGetLevel(mipmap, 0, NULL), "NULL");
    FAILS(INVALID_ARGUMENT, blrImageGetDesc(mipmap, NULL), "NULL");
    FAILS(INVALID_ARGUMENT, blrImageGetPointer(mipmap, NULL), "NULL");

    /* An image handle of a level retains its pixels when the mipmap is destroyed; the level's own handle becomes
       invalid. */
    blr_image_handle_t handle = 0;
    OK(blrImageGetDesc(level[2], &own));
    OK(blrUnsampledImageCreate(context, level[2], &own, &handle));
    OK(blrImageDestroy(mipmap));
    for (uint32_t i = 0; i < 4; i++)
        FAILS(INVALID_HANDLE, blrImageGetDesc(level[i], &own), "destroyed");
    blr_queue_t queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    int32_t place[2] = {2, 0};
    float colour[4] = {9, 9, 9, 9};
    blr_image_call_t call = {.operation = BLR_OPERATION_FETCH, .handle = handle, .count = 1, .coordinates = place,
                             .values = colour, .value_type = BLR_ELEMENT_F32, .value_channels = 4};
    OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
    OK(blrImageHandleDestroy(context, handle)); /* possibly before the call runs */
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    for (int i = 0; i < 3; i++)
        CHECK(colour[i] == 3.0f / 255.0f);
    CHECK(colour[3] == 0);
    OK(blrQueueDestroy(queue));
    CHECK_EQUAL(before, object_count());
}

/* Objects that retain each other, destroyed in every order. */
static void any_order(void)
{
    enum { CONTEXT, QUEUE, IMAGE, HANDLE, COUNT };
    for (int order = 0; order < COUNT * COUNT * COUNT * COUNT; order++) {
        int digits[COUNT] = {order % COUNT, order / COUNT % COUNT, order / COUNT / COUNT % COUNT,
                             order / COUNT / COUNT / COUNT};
        bool seen[COUNT] = {false};
        for (int i = 0; i < COUNT; i++)
            seen[digits[i]] = true;
        if (!(seen[0] && seen[1] && seen[2] && seen[3]))
            continue; /* not a permutation */
        uint64_t before = object_count();
        blr_context_t own = open_context();
        blr_queue_t queue = open_queue(own, BLR_QUEUE_OUT_OF_ORDER);
        blr_image_desc_t desc = plain_desc(32, 32, 0, BLR_CHANNEL_FP32, 1);
        blr_image_t image = NULL;
        blr_image_handle_t handle = 0;
        static int32_t places[200];
        static float values[5][100];
        OK(blrImageCreate(own, &desc, &image));
        OK(blrUnsampledImageCreate(own, image, &desc, &handle));
        blr_image_call_t call = {.operation = BLR_OPERATION_FETCH, .handle = handle, .count = 100, .coordinates = places,
                                 .value_type = BLR_ELEMENT_F32, .value_channels = 1};
        for (int i = 0; i < 5; i++) {
            call.values = values[i];
            OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
        }
        for (int i = 0; i < COUNT; i++)
            switch (digits[i]) {
            case CONTEXT: OK(blrContextDestroy(own)); break;
            case QUEUE: OK(blrQueueDestroy(queue)); break;
            case IMAGE: OK(blrImageDestroy(image)); break;
            case HANDLE: OK(blrImageHandleDestroy(own, handle)); break;
            }
        CHECK_EQUAL(before, object_count());
    }
}

/* Large images made one after the other share their memory; several at a time do not. */
static void memory_is_used_again(void)
{
    const blr_image_desc_t desc = plain_desc(1024, 1024, 0, BLR_CHANNEL_FP32, 1);
    const blr_image_desc_t other = plain_desc(1024, 512, 0, BLR_CHANNEL_FP32, 1);
    blr_image_t first, second, third;
    void *one, *two, *three;
    OK(blrImageCreate(context, &desc, &first));
    OK(blrImageCreate(context, &desc, &second));
    OK(blrImageGetPointer(first, &one));
    OK(blrImageGetPointer(second, &two));
    CHECK(one != two);
    memset(one, 1, 4 << 20);
    memset(two, 2, 4 << 20);
    OK(blrImageDestroy(first));
    OK(blrImageCreate(context, &other, &third)); /* far smaller than what was freed */
    OK(blrImageGetPointer(third, &three));
#if !defined(_WIN32) /* large images have no pages of their own there */
    CHECK(three != one);
#endif
    OK(blrImageCreate(context, &desc, &first));
    OK(blrImageGetPointer(first, &three));
#if !defined(__SANITIZE_ADDRESS__) && !defined(_WIN32)
    CHECK(three == one);
#endif
    CHECK_EQUAL(2, ((unsigned char *)two)[(4 << 20) - 1]);
    blr_image_t many[80];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 80; i++)
            OK(blrImageCreate(context, &desc, &many[i]));
        for (int i = 0; i < 80; i++)
            OK(blrImageDestroy(many[i]));
    }
    OK(blrImageDestroy(first));
    OK(blrImageDestroy(second));
    OK(blrImageDestroy(third));
}

int main(void)
{
    context = open_context();
    memory_is_used_again();
    refused_descriptions();
    formats();
    levels();
    any_order();
    OK(blrContextDestroy(context));
    CHECK_EQUAL(0, object_count());
    return 0;
}
