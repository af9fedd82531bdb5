/* The sampler gives the same bits on every path: single items, AVX2, AVX-512, NEON. Random textures of all kinds,
 * with NaNs, infinities, denormals and signed zeros, at random and at extreme coordinates. A processor without these
 * instructions has only one path. */
#include "check.h"
#include "texture/texture.h"

#include <math.h>

#define ITEMS 200
#ifndef ROUNDS
#define ROUNDS 4000
#endif
#define IMAGE_BYTES (1 << 17)

static uint64_t state = 0x9e3779b97f4a7c15u;

static uint32_t random_bits(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 32);
}

static uint32_t below(uint32_t limit)
{
    return random_bits() % limit;
}

static float unit(void)
{
    return (float)(random_bits() >> 8) * 0x1p-24f;
}

static const float extremes[] = {NAN, INFINITY, -INFINITY, 0.0f, -0.0f, 1e-40f, -1e-40f, 0x1p30f, -0x1p31f, 3e38f, 16777217.0f, 0.5f};

static const float extreme_gradients[] = {NAN, INFINITY, -INFINITY, 0.0f, 1e-40f, 0x1p97f, -0x1p96f, 0x1p30f};

static void fill_texels(blr_channel_type_t type, unsigned char *texels)
{
    uint32_t kind = below(4);
    for (uint32_t i = 0; i < IMAGE_BYTES / 4; i++) {
        uint32_t bits = random_bits();
        if (kind && type == BLR_CHANNEL_FP32) {
            float value = ldexpf(unit() - 0.5f, kind == 1 ? 0 : (int)below(60) - 30);
            if (kind == 3 && below(2))
                value = below(2) ? 0.0f : -0.0f;
            if (below(200) == 0)
                value = extremes[below(sizeof extremes / sizeof *extremes)];
            memcpy(&bits, &value, sizeof bits);
        } else if (kind && type == BLR_CHANNEL_FP16) {
            bits &= kind == 1 ? 0xbbffbbffu : kind == 2 ? 0x83ff83ffu : 0x80008000u;
        }
        memcpy(texels + 4 * i, &bits, sizeof bits);
    }
}

struct sample {
    struct blr_texture texture;
    blr_image_call_t call;
    float coordinates[3 * ITEMS], gradient_x[3 * ITEMS], gradient_y[3 * ITEMS], levels[ITEMS];
    uint32_t layers[ITEMS];
    float values[4 * ITEMS];
};

static void choose_points(struct sample *sample, uint32_t dimensions, bool normalized, const uint32_t *extent)
{
    /* Some samples walk through the image in small steps, along a row or not; one in a thousand is outside. */
    const bool walk = below(3) == 0;
    float start[3], step[3];
    for (uint32_t d = 0; d < 3; d++) {
        start[d] = 0.2f + 0.6f * unit();
        step[d] = d && below(2) ? 0.0f : ldexpf(unit() - 0.5f, -2 - (int)below(8));
    }
    for (uint32_t i = 0; i < ITEMS; i++) {
        for (uint32_t d = 0; d < dimensions; d++) {
            float x = walk ? start[d] + step[d] * (float)(i % 64) : unit() * 1.6f - 0.3f;
            if (!walk && below(10) == 0)
                x = floorf(x * 8.0f) * 0.125f;
            x *= normalized ? 1.0f : (float)extent[d];
            if (below(walk ? 1000 : 40) == 0)
                x = extremes[below(sizeof extremes / sizeof *extremes)];
            sample->coordinates[i * dimensions + d] = x;
            sample->gradient_x[i * dimensions + d] = ldexpf(unit() - 0.5f, -(int)below(10));
            sample->gradient_y[i * dimensions + d] = ldexpf(unit() - 0.5f, -(int)below(10));
            if (below(40) == 0)
                sample->gradient_x[i * dimensions + d] = extreme_gradients[below(8)];
            if (below(40) == 0)
                sample->gradient_y[i * dimensions + d] = extreme_gradients[below(8)];
        }
        sample->levels[i] = below(20) ? unit() * 7.0f - 1.0f : extremes[below(3)];
        sample->layers[i] = below(6);
    }
}

static void choose(struct sample *sample, unsigned char *texels, uint32_t flags)
{
    static const uint32_t sizes[] = {1, 2, 3, 8, 17, 32};
    /* Half of the rounds use the two float types, whose texels need the most care. */
    blr_channel_type_t type = below(2) ? BLR_CHANNEL_FP16 + below(2) : (blr_channel_type_t)below(BLR_CHANNEL_FP32 + 1);
    const bool packed = below(8) == 0; /* with a path in vectors */
    if (packed)
        type = below(2) ? BLR_CHANNEL_UNORM_INT8_SRGB : BLR_CHANNEL_UNORM_INT_10_10_10_2;
    const struct blr_format *format = blr_format_get(type);
    blr_image_desc_t desc = {0, 0, 0, packed ? 4 : 1 + below(4), type, (blr_image_type_t)below(4), 1, 1};
    uint32_t dimensions = desc.type == BLR_IMAGE_CUBEMAP ? 2 : 1 + below(desc.type == BLR_IMAGE_ARRAY ? 2 : 3);
    uint32_t extent[3] = {sizes[below(6)], sizes[below(6)], sizes[below(5)]};
    if (desc.type == BLR_IMAGE_CUBEMAP)
        extent[1] = extent[0];
    desc.width = extent[0];
    desc.height = dimensions > 1 ? extent[1] : 0;
    desc.depth = dimensions > 2 ? extent[2] : 0;
    if (desc.type == BLR_IMAGE_ARRAY || desc.type == BLR_IMAGE_CUBEMAP)
        desc.array_size = 6;
    if (desc.type == BLR_IMAGE_MIPMAP)
        desc.num_levels = 1 + below(6);
    blr_sampler_desc_t sampler = {
        {(blr_addressing_t)below(7), (blr_addressing_t)below(7), (blr_addressing_t)below(7)},
        below(2), (blr_filtering_t)(format->filterable && below(4) > 0), (blr_filtering_t)(below(3) > 0), (blr_cubemap_filtering_t)below(2),
        below(3) ? 0.0f : 0.7f, (float)below(desc.num_levels + 1), below(3) ? 0.0f : 16.0f};
    struct blr_texture_level levels[BLR_MAX_MIP_LEVELS];
    uint32_t pixel = blr_pixel_size(desc.channel_type, desc.num_channels), offset = 0;
    for (uint32_t k = 0; k < desc.num_levels; k++) {
        uint32_t w = extent[0] >> k ? extent[0] >> k : 1, h = 1, d = 1;
        if (dimensions > 1)
            h = extent[1] >> k ? extent[1] >> k : 1;
        if (dimensions > 2)
            d = extent[2] >> k ? extent[2] >> k : 1;
        levels[k] = (struct blr_texture_level){texels + offset % (IMAGE_BYTES / 8) / 16 * 16, w, h, d, w * pixel, (uint64_t)w * h * pixel};
        offset += w * h * d * pixel;
    }
    /* 17 x 32 x 17 pixels of 16 bytes do not fit: volumes have fewer rows. */
    if ((uint64_t)extent[0] * extent[1] * (dimensions > 2 ? extent[2] : 6) * pixel > IMAGE_BYTES / 2)
        for (uint32_t k = 0; k < desc.num_levels; k++)
            levels[k].slice_pitch = levels[k].row_pitch;
    OK(blr_texture_init(&sample->texture, &desc, levels, desc.num_levels, &sampler, flags));
    memset(&sample->call, 0, sizeof sample->call);
    blr_image_call_t *call = &sample->call;
    call->operation = BLR_OPERATION_SAMPLE;
    if (desc.type == BLR_IMAGE_MIPMAP)
        call->operation = below(2) ? BLR_OPERATION_SAMPLE_LOD : BLR_OPERATION_SAMPLE_GRADIENT;
    call->type = desc.type;
    call->count = ITEMS - below(70);
    call->coordinates = sample->coordinates;
    call->layers = below(2) ? sample->layers : NULL;
    call->layer = 3;
    call->levels = below(2) ? sample->levels : NULL;
    call->level = 1.3f;
    call->gradient_x = sample->gradient_x;
    call->gradient_y = sample->gradient_y;
    call->values = sample->values;
    call->value_type = below(4) ? BLR_ELEMENT_F32 : BLR_ELEMENT_F16;
    if (format->class == BLR_CLASS_SIGNED || format->class == BLR_CLASS_UNSIGNED)
        call->value_type = format->storage;
    call->value_channels = below(2) ? desc.num_channels : 1 + below(4);
    choose_points(sample, desc.type == BLR_IMAGE_CUBEMAP ? 3 : dimensions, sampler.normalized_coordinates, extent);
}

/* Results large enough for non-temporal stores, in parts and arrays that start at odd addresses. */
static void test_large_results(unsigned char *texels)
{
    enum { COUNT = (8 << 20) / sizeof(float) + 77 };
    static const uint64_t parts[] = {0, 1, 250001, 1000003, COUNT};
    float *coordinates = malloc((COUNT + 1) * sizeof(float)), *values = malloc((COUNT + 16) * sizeof(float));
    struct blr_texture *texture = malloc(sizeof *texture);
    CHECK(coordinates != NULL && values != NULL && texture != NULL);
    const blr_image_desc_t desc = {1000, 0, 0, 1, BLR_CHANNEL_FP32, BLR_IMAGE_STANDARD, 1, 1};
    const struct blr_texture_level level = {texels, 1000, 1, 1, 4000, 4000};
    const blr_sampler_desc_t sampler = {{BLR_ADDRESSING_CLAMP_TO_EDGE, BLR_ADDRESSING_CLAMP_TO_EDGE, BLR_ADDRESSING_CLAMP_TO_EDGE},
                                        0, BLR_FILTERING_LINEAR, BLR_FILTERING_NEAREST, BLR_CUBEMAP_DISJOINTED, 0.0f, 0.0f, 0.0f};
    OK(blr_texture_init(texture, &desc, &level, 1, &sampler, 0));
    for (int i = 0; i < 1000; i++)
        memcpy(texels + 4 * i, &(float){(float)i}, sizeof(float));
    for (uint32_t i = 0; i < COUNT; i++)
        coordinates[i] = 0.5f + (float)(i % 1000);
    for (uint32_t shift = 0; shift < 3; shift++) {
        blr_image_call_t call = {.operation = BLR_OPERATION_SAMPLE, .type = BLR_IMAGE_STANDARD, .count = COUNT,
                                 .coordinates = coordinates, .values = values + 5 * shift,
                                 .value_type = BLR_ELEMENT_F32, .value_channels = 1};
        memset(values, 0xff, (COUNT + 16) * sizeof(float));
        for (size_t k = 0; k + 1 < sizeof parts / sizeof *parts; k++) {
            struct blr_fault fault;
            OK(blr_texture_run(texture, &call, parts[k], parts[k + 1], &fault));
        }
        for (uint32_t i = 0; i < COUNT; i++)
            CHECK(values[5 * shift + i] == (float)(i % 1000));
        for (uint32_t i = 0; i < 16; i++)         /* the bytes before and after are unchanged */
            CHECK(isnan(values[i < 5 * shift ? i : COUNT + i]));
    }
    free(coordinates);
    free(values);
    free(texture);
}

/* The map of a picture: affine, rotated or not, projective, with parts outside the image; in pixels or in units of
   0..1. */
static void choose_map(blr_image_map_t *map)
{
    memset(map, 0, sizeof *map);
    for (int k = 0; k < 6; k++)
        map->matrix[k] = ldexp((double)unit() - 0.5, 4 - (int)below(6));
    for (int k = 1; below(4) == 0 && k < 4; k += 2)       /* without a rotation */
        map->matrix[k] = 0.0;
    map->matrix[8] = below(2) ? 1.0 : 0.5 + (double)unit();
    for (int k = 6; below(2) && k < 8; k++)
        map->matrix[k] = ldexp((double)unit() - 0.5, -(int)below(4));
    for (int k = 0; k < 2; k++) {
        map->scale[k] = below(2) ? 1.0f : 1.0f + (float)below(40);
        map->bias[k] = below(2) ? 0.0f : 0x1p-22f;
    }
    map->width = 1 + below(30);
}

static void follow_map(struct sample *sample, const blr_image_map_t *map, uint64_t count)
{
    const double *m = map->matrix;
    for (uint64_t i = 0; i < count; i++) {
        const volatile double x = (double)(i % map->width) + 0.5, y = (double)(i / map->width) + 0.5;
        const volatile double depth = m[6] * x + (m[7] * y + m[8]);
        for (int k = 0; k < 2; k++) {
            const volatile double place = (m[3 * k] * x + (m[3 * k + 1] * y + m[3 * k + 2])) / depth;
            const volatile double right = (m[3 * k] - place * m[6]) / depth, down = (m[3 * k + 1] - place * m[7]) / depth;
            const volatile float at = (float)place, quotient = at / map->scale[k];
            sample->coordinates[2 * i + k] = quotient + map->bias[k];
            sample->gradient_x[2 * i + k] = (float)right / map->scale[k];
            sample->gradient_y[2 * i + k] = (float)down / map->scale[k];
        }
    }
}

/* A picture is equal to samples at its coordinates; for a normalized image as codes too. */
static void test_pictures(struct sample *sample, unsigned char *texels)
{
    static float wanted[4 * ITEMS];
    static unsigned char codes[8 * ITEMS];
    struct blr_fault fault;
    for (int round = 0; round < ROUNDS; round++) {
        blr_image_map_t map;
        fill_texels(BLR_CHANNEL_FP32, texels);
        choose(sample, texels, round % 3 == 0 ? BLR_TEXTURE_NO_VECTORS : round % 3 == 1 ? BLR_TEXTURE_NO_AVX512 : 0);
        if (sample->texture.dimensions != 2 || sample->texture.desc.type == BLR_IMAGE_CUBEMAP)
            continue;
        blr_image_call_t *call = &sample->call;
        const struct blr_format *format = sample->texture.format;
        choose_map(&map);
        call->count = call->count / map.width * map.width;
        call->layers = NULL;
        call->levels = NULL;
        follow_map(sample, &map, call->count);
        if (format->maximum)
            call->value_type = BLR_ELEMENT_F32;
        memset(wanted, 0, sizeof wanted);
        call->values = wanted;
        OK(blr_texture_run(&sample->texture, call, 0, call->count, &fault));
        call->coordinates = call->gradient_x = call->gradient_y = NULL;
        call->map = map;
        memset(sample->values, 0, sizeof sample->values);
        call->values = sample->values;
        const uint64_t middle = below((uint32_t)call->count + 1);
        OK(blr_texture_run(&sample->texture, call, 0, middle, &fault));
        OK(blr_texture_run(&sample->texture, call, middle, call->count, &fault));
        CHECK(memcmp(wanted, sample->values, sizeof wanted) == 0);
        if (!format->maximum)
            continue;
        call->value_type = format->storage;
        call->values = codes;
        OK(blr_texture_run(&sample->texture, call, 0, call->count, &fault));
        for (uint64_t i = 0; i < call->count * call->value_channels; i++) {
            const long code = lrint((double)(wanted[i] * (float)format->maximum));
            const unsigned given = format->size == 1 ? codes[i] : (unsigned)(codes[2 * i] | codes[2 * i + 1] << 8);
            CHECK_EQUAL((unsigned)code & (format->size == 1 ? 0xffu : 0xffffu), given);
        }
    }
}

/* Any value; half of them lie between -1.5 and 1.5. */
static void fill_values(blr_element_type_t type, void *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const float number = below(20) ? 3.0f * unit() - 1.5f : extremes[below(sizeof extremes / sizeof *extremes)];
        const uint32_t bits = random_bits();
        if (type == BLR_ELEMENT_F32)
            memcpy((float *)values + i, &number, sizeof number);
        else if (type == BLR_ELEMENT_F16)
            ((uint16_t *)values)[i] = below(4) ? blr_float_to_half(number) : (uint16_t)bits;
        else
            memcpy((unsigned char *)values + i * blr_element_size(type), &bits, blr_element_size(type));
    }
}

/* Fetches and writes of all formats: items inside, in some rounds one outside; repeated pixels keep their order. */
static void test_pixels(struct sample *sample, unsigned char *texels)
{
    static const uint32_t paths[] = {BLR_TEXTURE_NO_VECTORS, BLR_TEXTURE_NO_AVX512, 0};
    static unsigned char wanted[IMAGE_BYTES];
    static float wanted_values[4 * ITEMS];
    for (int round = 0; round < ROUNDS; round++) {
        const uint64_t start = state;
        struct blr_fault faults[3];
        for (int path = 0; path < 3; path++) {
            state = start;
            fill_texels(BLR_CHANNEL_FP32, texels);
            choose(sample, texels, paths[path]);
            struct blr_texture *texture = &sample->texture;
            blr_image_call_t *call = &sample->call;
            const struct blr_format *format = texture->format;
            const uint32_t extent[3] = {texture->level[0].width, texture->level[0].height, texture->level[0].depth};
            const uint32_t stray = below(4) ? ITEMS : below(ITEMS);
            texture->sampled = false;
            texture->blends = below(2);           /* a fetch of a sampled image gives the same */
            call->operation = below(2) ? BLR_OPERATION_FETCH : BLR_OPERATION_WRITE;
            for (uint32_t i = 0; i < ITEMS; i++)
                for (uint32_t d = 0; d < texture->dimensions; d++) {
                    const int32_t place = i == stray ? (int32_t)random_bits() : (int32_t)below(extent[d]);
                    memcpy(sample->coordinates + i * texture->dimensions + d, &place, sizeof place);
                }
            if (call->operation == BLR_OPERATION_WRITE) {
                call->value_channels = texture->desc.num_channels;
                if (format->maximum && below(3) == 0)
                    call->value_type = format->storage;
                fill_values(call->value_type, sample->values, 4 * ITEMS);
            } else {
                memset(sample->values, 0, sizeof sample->values);
            }
            blr_texture_run(texture, call, 0, call->count, &faults[path]);
            if (path == 0) {
                memcpy(wanted, texels, IMAGE_BYTES);
                memcpy(wanted_values, sample->values, sizeof wanted_values);
            }
            CHECK(memcmp(wanted, texels, IMAGE_BYTES) == 0);
            CHECK(memcmp(wanted_values, sample->values, sizeof wanted_values) == 0);
            CHECK_EQUAL((int)faults[0].kind, (int)faults[path].kind);
            CHECK_EQUAL(faults[0].index, faults[path].index);
            CHECK(memcmp(faults[0].coordinates, faults[path].coordinates, sizeof faults[0].coordinates) == 0);
        }
    }
}

int main(void)
{
    static const uint32_t paths[] = {BLR_TEXTURE_NO_VECTORS, BLR_TEXTURE_NO_AVX512, 0};
    unsigned char *texels = malloc(IMAGE_BYTES);
    struct sample *sample = malloc(sizeof *sample);
    float wanted[4 * ITEMS];
    CHECK(texels != NULL && sample != NULL);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t start = state;
        for (int path = 0; path < 3; path++) {
            struct blr_fault fault;
            state = start;
            fill_texels((blr_channel_type_t)(round % 2 ? BLR_CHANNEL_FP32 : BLR_CHANNEL_FP16), texels);
            choose(sample, texels, paths[path]);
            memset(sample->values, 0, sizeof sample->values);
            OK(blr_texture_run(&sample->texture, &sample->call, 0, sample->call.count, &fault));
            if (path == 0)
                memcpy(wanted, sample->values, sizeof wanted);
            else if (memcmp(wanted, sample->values, sizeof wanted) != 0) {
                fprintf(stderr, "round %d, path %d: type %d, format %d x %u\n", round, path, (int)sample->texture.desc.type,
                        (int)sample->texture.desc.channel_type, sample->texture.desc.num_channels);
                CHECK(!"the same bits");
            }
        }
    }
    test_pictures(sample, texels);
    test_pixels(sample, texels);
    test_large_results(texels);
    free(sample);
    free(texels);
    return 0;
}
