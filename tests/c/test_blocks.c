/* Images of blocks: copies of levels, layers and regions decode what they write, and give blocks back; refusals. */
#include "fixture.h"

static blr_context_t context;
static blr_queue_t queue;

struct block_type {
    blr_channel_type_t type;
    uint32_t channels, size, texel; /* bytes of a block and of a decoded channel */
    float scale;                    /* value of code 1; 0: halves */
};

static const struct block_type types[] = {
    {BLR_CHANNEL_BC1_UNORM, 4, 8, 1, 255},       {BLR_CHANNEL_BC1_SRGB, 4, 8, 1, 255},
    {BLR_CHANNEL_BC2_UNORM, 4, 16, 1, 255},      {BLR_CHANNEL_BC2_SRGB, 4, 16, 1, 255},
    {BLR_CHANNEL_BC3_UNORM, 4, 16, 1, 255},      {BLR_CHANNEL_BC3_SRGB, 4, 16, 1, 255},
    {BLR_CHANNEL_BC4_UNORM, 1, 8, 2, 65535},     {BLR_CHANNEL_BC4_SNORM, 1, 8, 2, 32767},
    {BLR_CHANNEL_BC5_UNORM, 2, 16, 2, 65535},    {BLR_CHANNEL_BC5_SNORM, 2, 16, 2, 32767},
    {BLR_CHANNEL_BC6H_UFLOAT, 4, 16, 2, 0},      {BLR_CHANNEL_BC6H_SFLOAT, 4, 16, 2, 0},
    {BLR_CHANNEL_BC7_UNORM, 4, 16, 1, 255},      {BLR_CHANNEL_BC7_SRGB, 4, 16, 1, 255},
};
#define COUNT (sizeof types / sizeof types[0])

static bool is_srgb(blr_channel_type_t type)
{
    return type == BLR_CHANNEL_BC1_SRGB || type == BLR_CHANNEL_BC2_SRGB || type == BLR_CHANNEL_BC3_SRGB || type == BLR_CHANNEL_BC7_SRGB;
}

static uint64_t in_blocks(uint64_t pixels) { return (pixels + 3) / 4; }

static blr_copy_region_t region_of(blr_image_t image, void *memory, bool upload, const uint64_t offset[3], const uint64_t extent[3],
                                   uint32_t size)
{
    blr_copy_endpoint_t picture = {.image = image, .offset = {offset[0], offset[1], offset[2]}}, bytes = {.pointer = memory};
    return (blr_copy_region_t){.source = upload ? bytes : picture,
                               .destination = upload ? picture : bytes,
                               .extent = {extent[0], extent[1], extent[2]},
                               .pixel_size = size};
}

static void transfer(blr_image_t image, void *memory, bool upload, const uint64_t offset[3], const uint64_t extent[3], uint32_t size)
{
    const blr_copy_region_t region = region_of(image, memory, upload, offset, extent, size);
    OK(blrEnqueueCopyImage(queue, &region, 0, NULL, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
}

static float value_of(const struct block_type *type, const unsigned char *texels, uint64_t index)
{
    if (type->texel == 1)
        return (float)texels[index] / type->scale;
    uint16_t code;
    memcpy(&code, texels + 2 * index, sizeof code);
    if (type->scale == 65535)
        return (float)code / type->scale;
    if (type->scale == 32767)
        return (int16_t)code < -32767 ? -1.0f : (float)(int16_t)code / type->scale;
    /* a half: finite in all blocks */
    const float magnitude = (code & 0x7c00) == 0 ? (float)(code & 0x3ff) * 0x1p-24f
                                                 : (float)((code & 0x3ff) | 0x400) * (1.0f / (float)(1 << 25)) *
                                                       (float)(UINT64_C(1) << ((code >> 10 & 31)));
    return (code & 0x8000) != 0 ? -magnitude : magnitude;
}

/* Compares the texels of a sampled image, or of a layer, with decoded blocks. */
static void compare(const struct block_type *type, blr_image_t image, const blr_image_desc_t *desc, uint32_t layer,
                    const unsigned char *blocks)
{
    const uint32_t width = (uint32_t)desc->width, height = (uint32_t)desc->height, count = width * height;
    unsigned char *texels = malloc((size_t)count * type->channels * type->texel);
    float *at = malloc(count * 2 * sizeof *at), *values = malloc((size_t)count * type->channels * sizeof *values);
    CHECK(texels != NULL && at != NULL && values != NULL);
    OK(blrDecodeBlocks(type->type, blocks, width, height, texels));
    blr_sampler_desc_t sampler = plain_sampler();
    sampler.filtering = BLR_FILTERING_NEAREST;
    sampler.normalized_coordinates = 0;
    blr_image_handle_t handle;
    OK(blrSampledImageCreate(context, image, desc, &sampler, &handle));
    for (uint32_t i = 0; i < count; i++) {
        at[2 * i] = (float)(i % width) + 0.5f;
        at[2 * i + 1] = (float)(i / width) + 0.5f;
    }
    blr_image_call_t call = {.operation = BLR_OPERATION_SAMPLE,
                             .handle = handle,
                             .type = desc->type,
                             .count = count,
                             .coordinates = at,
                             .layer = layer,
                             .values = values,
                             .value_type = BLR_ELEMENT_F32,
                             .value_channels = type->channels};
    OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
    OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
    for (uint32_t i = 0; i < count * type->channels; i++)
        if (!is_srgb(type->type) || i % 4 == 3)
            CHECK(values[i] == value_of(type, texels, i));
    OK(blrImageHandleDestroy(context, handle));
    free(texels);
    free(at);
    free(values);
}

/* Texels outside are zero, but for alpha of BC6H, with the exact filter too. */
static void borders(void)
{
    for (size_t t = 0; t < COUNT; t++) {
        const blr_image_desc_t desc = plain_desc(8, 8, 0, types[t].type, types[t].channels);
        blr_sampler_desc_t sampler = plain_sampler();
        for (int d = 0; d < 3; d++)
            sampler.addressing[d] = BLR_ADDRESSING_CLAMP_TO_BORDER;
        blr_image_t image;
        OK(blrImageCreate(context, &desc, &image));
        for (int filtering = 0; filtering < 2; filtering++) {
            const float at[2] = {-3.0f, 0.25f};
            float values[4] = {9.0f, 9.0f, 9.0f, 9.0f};
            blr_image_handle_t handle;
            sampler.filtering = (blr_filtering_t)filtering;
            OK(blrSampledImageCreate(context, image, &desc, &sampler, &handle));
            for (int precision = 0; precision < 2; precision++) {
                blr_image_call_t call = {.operation = BLR_OPERATION_SAMPLE, .handle = handle, .type = desc.type, .count = 1,
                                         .coordinates = at, .values = values, .value_type = BLR_ELEMENT_F32,
                                         .value_channels = types[t].channels,
                                         .precision = precision ? BLR_PRECISION_EXACT : BLR_PRECISION_HARDWARE};
                OK(blrEnqueueImageCall(queue, &call, 0, NULL, NULL));
                OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
                for (uint32_t c = 0; c < types[t].channels; c++)
                    CHECK(values[c] == (types[t].scale == 0 && c == 3 ? 1.0f : 0.0f));
            }
            OK(blrImageHandleDestroy(context, handle));
        }
        OK(blrImageDestroy(image));
    }
}

/* Levels of a mipmap of odd size, down to one pixel, whose handles exist before or after the copy. */
static void levels(void)
{
    for (size_t t = 0; t < COUNT; t++) {
        const struct block_type *type = &types[t];
        blr_image_desc_t desc = plain_desc(21, 13, 0, type->type, type->channels);
        desc.type = BLR_IMAGE_MIPMAP;
        desc.num_levels = 5;
        blr_image_t image;
        OK(blrImageCreate(context, &desc, &image));
        for (uint32_t i = 0; i < desc.num_levels; i++) {
            blr_image_t level;
            blr_image_desc_t own;
            OK(blrImageGetLevel(image, i, &level));
            OK(blrImageGetDesc(level, &own));
            const uint64_t none[3] = {0, 0, 0}, all[3] = {in_blocks(own.width), in_blocks(own.height), 1};
            const size_t bytes = all[0] * all[1] * type->size;
            unsigned char *blocks = malloc(bytes), *back = malloc(bytes);
            CHECK(blocks != NULL && back != NULL);
            fill_random(blocks, bytes, (uint32_t)(7 * t + i + 1));
            transfer(level, blocks, true, none, all, type->size);
            transfer(level, back, false, none, all, type->size);
            CHECK(memcmp(blocks, back, bytes) == 0);
            compare(type, level, &own, 0, blocks);
            free(blocks);
            free(back);
        }
        OK(blrImageDestroy(image));
    }
}

/* Regions of layers, and copies between images. */
static void regions(void)
{
    enum { COLUMNS = 6, ROWS = 5, LAYERS = 3 };
    for (size_t t = 0; t < COUNT; t++) {
        const struct block_type *type = &types[t];
        blr_image_desc_t desc = plain_desc(4 * COLUMNS - 1, 4 * ROWS - 2, 0, type->type, type->channels);
        desc.type = BLR_IMAGE_ARRAY;
        desc.array_size = LAYERS;
        const size_t size = type->size, layer = COLUMNS * ROWS * size;
        unsigned char *blocks = malloc(LAYERS * layer), *part = malloc(layer);
        CHECK(blocks != NULL && part != NULL);
        fill_random(blocks, LAYERS * layer, 31);
        fill_random(part, layer, 32);
        blr_image_t image, other;
        OK(blrImageCreate(context, &desc, &image));
        OK(blrImageCreate(context, &desc, &other));
        const uint64_t none[3] = {0, 0, 0}, all[3] = {COLUMNS, ROWS, LAYERS};
        const uint64_t offset[3] = {4, 2, 1}, extent[3] = {2, 3, 1};
        transfer(image, blocks, true, none, all, type->size);
        transfer(image, part, true, offset, extent, type->size);
        for (uint64_t y = 0; y < extent[1]; y++)
            memcpy(blocks + layer + ((offset[1] + y) * COLUMNS + offset[0]) * size, part + y * extent[0] * size, extent[0] * size);
        blr_copy_region_t across = {.source.image = image, .destination.image = other, .extent = {COLUMNS, ROWS, LAYERS}, .pixel_size = type->size};
        OK(blrEnqueueCopyImage(queue, &across, 0, NULL, NULL));
        OK(blrQueueWait(queue, BLR_TIMEOUT_INFINITE));
        for (uint32_t i = 0; i < LAYERS; i++) {
            compare(type, image, &desc, i, blocks + i * layer);
            compare(type, other, &desc, i, blocks + i * layer);
        }
        const blr_copy_region_t beyond = region_of(image, part, true, offset, (uint64_t[3]){3, 3, 1}, type->size);
        FAILS(INVALID_SIZE, blrEnqueueCopyImage(queue, &beyond, 0, NULL, NULL), "leave the destination image of 6");
        const blr_copy_region_t texels = region_of(image, part, true, none, extent, 4);
        FAILS(INVALID_FORMAT, blrEnqueueCopyImage(queue, &texels, 0, NULL, NULL), "pixel size 4");
        OK(blrImageDestroy(image));
        OK(blrImageDestroy(other));
        free(blocks);
        free(part);
    }
}

static void refused(void)
{
    unsigned char block[16] = {0}, texels[64];
    blr_image_t image;
    blr_image_handle_t handle;
    blr_image_desc_t desc = plain_desc(8, 0, 0, BLR_CHANNEL_BC1_UNORM, 4);
    FAILS(INVALID_SIZE, blrImageCreate(context, &desc, &image), "an image of blocks has 2");
    desc = plain_desc(8, 8, 8, BLR_CHANNEL_BC1_UNORM, 4);
    FAILS(INVALID_SIZE, blrImageCreate(context, &desc, &image), "3 dimensions");
    desc = plain_desc(8, 8, 0, BLR_CHANNEL_BC1_UNORM, 3);
    FAILS(INVALID_FORMAT, blrImageCreate(context, &desc, &image), "num_channels 3");
    desc.num_channels = 4;
    OK(blrImageCreate(context, &desc, &image));
    FAILS(UNSUPPORTED, blrUnsampledImageCreate(context, image, &desc, &handle), "an unsampled handle of bc1_unorm");
    const blr_sampler_desc_t sampler = plain_sampler();
    blr_image_view_desc_t view = {.image = desc, .memory = image, .sampler = &sampler};
    for (int c = 0; c < 4; c++)
        view.swizzle[c] = (blr_swizzle_t)c;
    view.image.channel_type = BLR_CHANNEL_BC1_SRGB;
    FAILS(INVALID_FORMAT, blrImageViewCreate(context, &view, &handle), "a view of bc1_srgb over image memory of bc1_unorm");
    void *memory;
    OK(blrMemoryAllocate(context, BLR_MEMORY_DEVICE, 4096, 0, &memory));
    FAILS(UNSUPPORTED, blrSampledImageCreateFromMemory(context, memory, 512, &desc, &sampler, &handle), "over memory");
    OK(blrMemoryFree(context, memory));
    FAILS(INVALID_ARGUMENT, blrDecodeBlocks(BLR_CHANNEL_UNORM_INT8, block, 4, 4, texels), "a type of blocks is needed");
    FAILS(INVALID_ARGUMENT, blrDecodeBlocks(BLR_CHANNEL_BC1_UNORM, block, 0, 4, texels), "0 x 4");
    OK(blrImageDestroy(image));
    desc = plain_desc(8, 8, 0, BLR_CHANNEL_UNORM_INT8_SRGB, 4);
    OK(blrImageCreate(context, &desc, &image));
    FAILS(UNSUPPORTED, blrUnsampledImageCreate(context, image, &desc, &handle), "an unsampled handle of unorm_int8_srgb");
    OK(blrImageDestroy(image));
}

int main(void)
{
    context = open_context();
    queue = open_queue(context, BLR_QUEUE_IN_ORDER);
    levels();
    regions();
    borders();
    refused();
    OK(blrQueueDestroy(queue));
    OK(blrContextDestroy(context));
    CHECK(object_count() == 0);
    return 0;
}
