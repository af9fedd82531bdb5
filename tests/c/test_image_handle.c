/* Creation of image handles: refusals over images, over memory, and for samplers. */
#include "fixture.h"

#include <math.h>

static blr_context_t context, other;

static void over_images(void)
{
    blr_image_desc_t desc = plain_desc(16, 8, 0, BLR_CHANNEL_FP32, 4), wrong;
    blr_image_t image = NULL, foreign = NULL, mipmap = NULL;
    blr_image_handle_t first = 0, second = 0, handle = 5;
    blr_sampler_desc_t sampler = plain_sampler();
    OK(blrImageCreate(context, &desc, &image));
    OK(blrImageCreate(other, &desc, &foreign));
#define DIFFERENT(field, value, text)                                                                                  \
    do {                                                                                                               \
        wrong = desc;                                                                                                  \
        wrong.field = value;                                                                                           \
        FAILS(INVALID_ARGUMENT, blrUnsampledImageCreate(context, image, &wrong, &handle), text);                       \
        CHECK(handle == 0);                                                                                            \
        FAILS(INVALID_ARGUMENT, blrSampledImageCreate(context, image, &wrong, &sampler, &handle), text);               \
    } while (0)
    DIFFERENT(width, 15, "width of the description is 15, of the image memory 16");
    DIFFERENT(height, 0, "height of the description is 0");
    DIFFERENT(depth, 1, "depth of the description is 1");
    DIFFERENT(num_channels, 1, "num_channels");
    DIFFERENT(channel_type, BLR_CHANNEL_SIGNED_INT32, "channel_type");
    wrong = desc;
    wrong.type = BLR_IMAGE_ARRAY;
    wrong.array_size = 2;
    FAILS(INVALID_ARGUMENT, blrUnsampledImageCreate(context, image, &wrong, &handle), "type of the description is 2");
    wrong.num_channels = 9;
    FAILS(INVALID_FORMAT, blrUnsampledImageCreate(context, image, &wrong, &handle), "num_channels 9");
    FAILS(INVALID_ARGUMENT, blrUnsampledImageCreate(context, image, NULL, &handle), "desc is NULL");
    FAILS(INVALID_ARGUMENT, blrUnsampledImageCreate(context, image, &desc, NULL), "handle is NULL");
    FAILS(INVALID_ARGUMENT, blrSampledImageCreate(context, image, &desc, &sampler, NULL), "handle is NULL");
    FAILS(INVALID_ARGUMENT, blrSampledImageCreate(context, image, &desc, NULL, &handle), "sampler is NULL");
    FAILS(INVALID_HANDLE, blrUnsampledImageCreate(context, foreign, &desc, &handle), "another context");
    FAILS(INVALID_HANDLE, blrSampledImageCreate(other, image, &desc, &sampler, &handle), "another context");

    OK(blrUnsampledImageCreate(context, image, &desc, &first));
    OK(blrUnsampledImageCreate(context, image, &desc, &second));
    CHECK(first != 0 && second != 0 && first != second && first >> 63 == 0);
    FAILS(INVALID_HANDLE, blrImageHandleDestroy(other, first), "another context");
    OK(blrImageHandleDestroy(context, first));
    FAILS(INVALID_HANDLE, blrImageHandleDestroy(context, first), "destroyed");
    FAILS(INVALID_HANDLE, blrImageHandleDestroy(context, 0), "NULL");
    OK(blrImageHandleDestroy(context, second));

    blr_image_desc_t mips = desc;
    mips.type = BLR_IMAGE_MIPMAP;
    mips.num_levels = 3;
    OK(blrImageCreate(context, &mips, &mipmap));
    FAILS(UNSUPPORTED, blrUnsampledImageCreate(context, mipmap, &mips, &handle), "blrImageGetLevel");
    FAILS(UNSUPPORTED, blrSampledImageCreate(context, mipmap, &mips, &sampler, &handle), "normalized");
    sampler.normalized_coordinates = 1;
    sampler.max_mipmap_level_clamp = 3.25f;
    FAILS(INVALID_ARGUMENT, blrSampledImageCreate(context, mipmap, &mips, &sampler, &handle), "has 3 levels");
    sampler.max_mipmap_level_clamp = 3.0f;
    sampler.max_anisotropy = 64.0f; /* clamped to the device's limit */
    OK(blrSampledImageCreate(context, mipmap, &mips, &sampler, &handle));
    OK(blrImageHandleDestroy(context, handle));
    OK(blrImageDestroy(mipmap));
    OK(blrImageDestroy(image));
    OK(blrImageDestroy(foreign));
}

static void samplers(void)
{
    blr_image_t image = NULL, integers = NULL, bytes = NULL;
    blr_image_handle_t handle = 0;
    blr_image_desc_t desc = plain_desc(16, 8, 0, BLR_CHANNEL_FP32, 1);
    blr_image_desc_t words = plain_desc(16, 8, 0, BLR_CHANNEL_UNSIGNED_INT32, 1);
    blr_image_desc_t small = plain_desc(16, 8, 0, BLR_CHANNEL_SIGNED_INT8, 1);
    blr_sampler_desc_t s;
    OK(blrImageCreate(context, &desc, &image));
    OK(blrImageCreate(context, &words, &integers));
    OK(blrImageCreate(context, &small, &bytes));
#define BAD(change, text)                                                                                              \
    do {                                                                                                               \
        s = plain_sampler();                                                                                           \
        change;                                                                                                        \
        FAILS(INVALID_ARGUMENT, blrSampledImageCreate(context, image, &desc, &s, &handle), text);                      \
    } while (0)
    BAD(s.addressing[0] = (blr_addressing_t)7, "addressing[0] is 7");
    BAD(s.addressing[2] = (blr_addressing_t)-1, "addressing[2] is -1");
    BAD(s.filtering = (blr_filtering_t)2, "filtering is 2");
    BAD(s.mipmap_filtering = (blr_filtering_t)2, "mipmap_filtering 2");
    BAD(s.cubemap_filtering = (blr_cubemap_filtering_t)2, "cubemap_filtering is 2");
    BAD(s.normalized_coordinates = 2, "normalized_coordinates is 2");
    BAD(s.max_anisotropy = -1.0f, "max_anisotropy is -1");
    BAD(s.max_anisotropy = NAN, "max_anisotropy is");
    BAD(s.max_anisotropy = INFINITY, "max_anisotropy is");
    BAD(s.min_mipmap_level_clamp = NAN, "clamps are");
    BAD(s.max_mipmap_level_clamp = INFINITY, "clamps are");
    s = plain_sampler();
    s.filtering = BLR_FILTERING_LINEAR;
    FAILS(UNSUPPORTED, blrSampledImageCreate(context, integers, &words, &s, &handle), "unsigned_int32");
    CHECK(handle == 0);
    OK(blrSampledImageCreate(context, bytes, &small, &s, &handle));
    OK(blrImageHandleDestroy(context, handle));
    s.filtering = BLR_FILTERING_NEAREST;
    OK(blrSampledImageCreate(context, integers, &words, &s, &handle));
    OK(blrImageHandleDestroy(context, handle));
    OK(blrImageDestroy(image));
    OK(blrImageDestroy(integers));
    OK(blrImageDestroy(bytes));
}

static void over_memory(void)
{
    blr_image_desc_t desc = plain_desc(10, 6, 0, BLR_CHANNEL_FP32, 1), d;
    blr_sampler_desc_t s = plain_sampler();
    blr_image_handle_t handle = 0;
    void *memory = NULL, *foreign = NULL;
    uint64_t pitch = 0;
    static _Alignas(512) unsigned char own[4096];
    OK(blrMemoryAllocatePitched(context, 40, 6, 4, &memory, &pitch));
    OK(blrMemoryAllocate(other, BLR_MEMORY_DEVICE, 4096, 0, &foreign));
    CHECK_EQUAL(64, pitch);
    FAILS(INVALID_ARGUMENT, blrSampledImageCreateFromMemory(context, memory, 0, &desc, &s, &handle), "row pitch 0");
    FAILS(INVALID_ARGUMENT, blrSampledImageCreateFromMemory(context, memory, 32, &desc, &s, &handle), "row pitch 32");
    FAILS(INVALID_ARGUMENT, blrSampledImageCreateFromMemory(context, memory, 48, &desc, &s, &handle), "multiple of 32");
    FAILS(INVALID_ARGUMENT, blrSampledImageCreateFromMemory(context, memory, 2097152, &desc, &s, &handle), "2097120");
    FAILS(INVALID_SIZE, blrSampledImageCreateFromMemory(context, memory, 96, &desc, &s, &handle), "leaves its allocation");
    FAILS(INVALID_ARGUMENT, blrSampledImageCreateFromMemory(context, (char *)memory + 32, 64, &desc, &s, &handle),
          "multiple of 512");
    FAILS(INVALID_ARGUMENT, blrSampledImageCreateFromMemory(context, NULL, 64, &desc, &s, &handle), "NULL");
    FAILS(INVALID_ARGUMENT, blrSampledImageCreateFromMemory(context, own, 64, &desc, &s, &handle), "not memory of this");
    FAILS(INVALID_HANDLE, blrSampledImageCreateFromMemory(context, foreign, 64, &desc, &s, &handle), "another context");
    FAILS(INVALID_ARGUMENT, blrSampledImageCreateFromMemory(context, memory, 64, &desc, NULL, &handle), "sampler is NULL");
    FAILS(INVALID_ARGUMENT, blrSampledImageCreateFromMemory(context, memory, 64, NULL, &s, &handle), "desc is NULL");
    FAILS(INVALID_ARGUMENT, blrSampledImageCreateFromMemory(context, memory, 64, &desc, &s, NULL), "handle is NULL");
    d = desc;
    d.depth = 2;
    FAILS(UNSUPPORTED, blrSampledImageCreateFromMemory(context, memory, 64, &d, &s, &handle), "depth 2");
    d = desc;
    d.type = BLR_IMAGE_MIPMAP;
    d.num_levels = 2;
    FAILS(UNSUPPORTED, blrSampledImageCreateFromMemory(context, memory, 64, &d, &s, &handle), "only standard");
    d = desc;
    d.type = BLR_IMAGE_ARRAY;
    d.array_size = 2;
    FAILS(UNSUPPORTED, blrSampledImageCreateFromMemory(context, memory, 64, &d, &s, &handle), "only standard");
    d = desc;
    d.height = 65001;
    FAILS(INVALID_SIZE, blrSampledImageCreateFromMemory(context, memory, 64, &d, &s, &handle), "65000");
    d = desc;
    d.height = 0;
    d.width = 268435457;
    FAILS(INVALID_SIZE, blrSampledImageCreateFromMemory(context, memory, 0, &d, &s, &handle), "268435456");
    d.width = 97;
    FAILS(INVALID_SIZE, blrSampledImageCreateFromMemory(context, memory, 0, &d, &s, &handle), "leaves its allocation");
    d.width = 96;
    OK(blrSampledImageCreateFromMemory(context, memory, 7, &d, &s, &handle)); /* a single row has no pitch */
    OK(blrImageHandleDestroy(context, handle));
    CHECK(handle != 0);

    /* All kinds of memory, freed while a handle reads it. */
    static const blr_memory_kind_t kinds[] = {BLR_MEMORY_DEVICE, BLR_MEMORY_HOST, BLR_MEMORY_SHARED};
    blr_queue_t queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    for (int kind = 0; kind < 3; kind++) {
        void *one = NULL;
        float places[2] = {3.5f, 4.5f}, value = 0;
        uint64_t before = object_count();
        OK(blrMemoryAllocate(context, kinds[kind], 64 * 6, 0, &one));
        for (int i = 0; i < 16 * 6; i++)
            ((float *)one)[i] = (float)i;
        OK(blrSampledImageCreateFromMemory(context, one, 64, &desc, &s, &handle));
        OK(blrMemoryFree(context, one));
        blr_image_call_t call = {.operation = BLR_OPERATION_SAMPLE, .handle = handle, .count = 1, .coordinates = places,
                                 .values = &value, .value_type = BLR_ELEMENT_F32, .value_channels = 1};
        OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
        OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
        CHECK(value == (float)(4 * 16 + 3));
        OK(blrImageHandleDestroy(context, handle));
        CHECK_EQUAL(before, object_count());
    }
    OK(blrQueueDestroy(queue));
    OK(blrMemoryFree(context, memory));
    OK(blrMemoryFree(other, foreign));
}

int main(void)
{
    context = open_context();
    other = open_context();
    over_images();
    samplers();
    over_memory();
    OK(blrContextDestroy(context));
    OK(blrContextDestroy(other));
    CHECK_EQUAL(0, object_count());
    return 0;
}
