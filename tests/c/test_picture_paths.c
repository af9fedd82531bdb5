/* Pictures along maps have the bits of single samples on every path, above all enlarged pictures of floats and bytes, and
 * turned pictures of bytes. Pixels lie at the end of their allocation, so that sanitizers see a read beyond them. */
#include "check.h"
#include "texture/texture.h"

#include <math.h>

#ifndef ROUNDS
#define ROUNDS 1500
#endif
#define MOST_COLUMNS 1200u
#define MOST_ITEMS (MOST_COLUMNS * 8u)

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint32_t below(uint32_t limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32) % limit;
}

static float unit(void) { return (float)below(1u << 24) * 0x1p-24f; }

static float any_texel(uint32_t kind)
{
    static const float extremes[] = {NAN, INFINITY, -INFINITY, -0.0f, 0.0f, 1e-40f, -1e-38f, 0x1p-90f, 3e38f, 16777217.0f};
    if (kind == 3 && below(50) == 0)
        return extremes[below(sizeof extremes / sizeof *extremes)];
    if (kind == 2 && below(2))
        return 0.0f;
    return kind == 0 ? 255.0f * unit() : ldexpf(unit() - 0.5f, (int)below(60) - 30);
}

struct picture {
    blr_image_desc_t desc;
    struct blr_texture_level level;
    blr_image_call_t call;
    float coordinates[2 * MOST_ITEMS];
};

static unsigned char *choose_texels(struct picture *picture)
{
    const bool floats = below(2);
    picture->desc = (blr_image_desc_t){1 + below(below(3) ? 70 : 900), 1 + below(20), 0, 1 + below(4),
                                       floats ? BLR_CHANNEL_FP32 : BLR_CHANNEL_UNORM_INT8, BLR_IMAGE_STANDARD, 1, 1};
    const uint32_t width = (uint32_t)picture->desc.width, height = (uint32_t)picture->desc.height;
    const uint32_t pitch = width * blr_pixel_size(picture->desc.channel_type, picture->desc.num_channels);
    const size_t size = (size_t)pitch * height;
    unsigned char *texels = malloc(size);
    CHECK(texels != NULL);
    const uint32_t kind = below(4);
    for (size_t i = 0; i < (floats ? size / sizeof(float) : size); i++) {
        const float texel = any_texel(kind);
        if (floats)
            memcpy(texels + i * sizeof texel, &texel, sizeof texel);
        else
            texels[i] = (unsigned char)below(256);
    }
    picture->level = (struct blr_texture_level){texels, width, height, 1, pitch, size};
    return texels;
}

/* A scale of each axis, mostly larger, that also leaves the image; or a turn. */
static void choose_picture(struct picture *picture)
{
    blr_image_call_t *call = &picture->call;
    memset(call, 0, sizeof *call);
    call->operation = BLR_OPERATION_SAMPLE;
    call->type = BLR_IMAGE_STANDARD;
    call->value_channels = picture->desc.num_channels;
    call->value_type = picture->desc.channel_type == BLR_CHANNEL_FP32 ? BLR_ELEMENT_F32 : BLR_ELEMENT_U8;
    const uint32_t columns = 1 + below(MOST_COLUMNS), rows = 4 + below(5);
    const double width = (double)picture->desc.width, height = (double)picture->desc.height;
    const double across = below(3) ? width / columns : (double)unit() + 0.01, down = below(3) ? height / rows : (double)unit() + 0.01;
    blr_image_map_t *map = &call->map;
    map->matrix[0] = across;
    map->matrix[4] = down;
    map->matrix[8] = 1.0;
    map->matrix[2] = below(2) ? 0.0 : (double)unit() * width - 2.0;
    map->matrix[5] = below(2) ? 0.0 : (double)unit() * height - 2.0;
    if (below(3) == 0) {
        map->matrix[1] = (double)unit() - 0.5;
        map->matrix[3] = ((double)unit() - 0.5) * 0.1;
    }
    map->scale[0] = map->scale[1] = 1.0f;
    map->width = columns;
    call->count = (uint64_t)columns * rows;
    for (uint64_t i = 0; i < call->count; i++) {
        const volatile double x = (double)(i % columns) + 0.5, y = (double)(i / columns) + 0.5;
        for (int k = 0; k < 2; k++)
            picture->coordinates[2 * i + k] = (float)(map->matrix[3 * k] * x + (map->matrix[3 * k + 1] * y + map->matrix[3 * k + 2]));
    }
}

static void run(const struct picture *picture, blr_image_call_t call, uint32_t flags, uint64_t middle)
{
    static struct blr_texture texture;
    const blr_addressing_t edge = BLR_ADDRESSING_CLAMP_TO_EDGE;
    const blr_sampler_desc_t sampler = {{edge, edge, edge}, 0, BLR_FILTERING_LINEAR, BLR_FILTERING_NEAREST,
                                        BLR_CUBEMAP_DISJOINTED, 0.0f, 0.0f, 0.0f};
    struct blr_fault fault;
    OK(blr_texture_init(&texture, &picture->desc, &picture->level, 1, &sampler, flags));
    OK(blr_texture_run(&texture, &call, 0, middle, &fault));
    OK(blr_texture_run(&texture, &call, middle, call.count, &fault));
}

static void test_picture(struct picture *picture, float *samples, unsigned char *values)
{
    static const uint32_t paths[] = {BLR_TEXTURE_NO_VECTORS, BLR_TEXTURE_NO_AVX512, 0};
    blr_image_call_t single = picture->call;
    const size_t elements = single.count * single.value_channels;
    const bool floats = single.value_type == BLR_ELEMENT_F32;
    memset(&single.map, 0, sizeof single.map);
    single.coordinates = picture->coordinates;
    single.values = samples;
    single.value_type = BLR_ELEMENT_F32;
    run(picture, single, BLR_TEXTURE_NO_VECTORS, 0);
    for (int path = 0; path < 3; path++) {
        memset(values, 0xa5, elements * sizeof(float) + 1);
        picture->call.values = values;
        run(picture, picture->call, paths[path], below(3) ? 0 : below((uint32_t)single.count));
        CHECK(values[elements * (floats ? sizeof(float) : 1)] == 0xa5);
        if (floats)
            CHECK(memcmp(samples, values, elements * sizeof(float)) == 0);
        for (size_t i = 0; !floats && i < elements; i++)
            CHECK_EQUAL((long)values[i], lrint((double)(samples[i] * 255.0f)));
    }
}

int main(void)
{
    struct picture *picture = malloc(sizeof *picture);
    float *samples = malloc(4 * MOST_ITEMS * sizeof *samples);
    unsigned char *values = malloc(4 * MOST_ITEMS * sizeof *samples + 1);
    CHECK(picture != NULL && samples != NULL && values != NULL);
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char *texels = choose_texels(picture);
        choose_picture(picture);
        test_picture(picture, samples, values);
        free(texels);
    }
    free(picture);
    free(samples);
    free(values);
    return 0;
}
