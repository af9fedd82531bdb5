/* Enlarged pictures of bytes, in strips of columns: texels of a source row are spread to the columns once, and serve all
 * rows of the picture between two source rows. */
#include "texture/scaled_picture.h"

#include "memory/streaming_store.h"
#include "sampler/addressing.h"
#include "sampler/simd/block.h"
#include "texture/blend_rows.h"
#include "texture/projective_map_rows.h"

#include <string.h>

#define STRIP 1024u                       /* columns */
#define STREAM_FROM ((uint64_t)16 << 20)  /* bytes of a picture that leaves the caches before it is read */

typedef void (*spread_t)(const struct blr_spread *spread, const uint8_t *row, uint8_t *first, uint8_t *second);
typedef void (*blend_t)(const uint16_t *weights, uint32_t below, const uint8_t *const texels[4], uint8_t *means,
                        uint32_t count);

/* The functions of an instruction set. */
struct row_functions {
    spread_t spread;
    blend_t blend;
};

#if BLR_HAS_VECTOR_SETS
void blr_spread_row_avx2(const struct blr_spread *spread, const uint8_t *row, uint8_t *first, uint8_t *second);
void blr_spread_row_avx512(const struct blr_spread *spread, const uint8_t *row, uint8_t *first, uint8_t *second);
void blr_blend_row_avx2(const uint16_t *weights, uint32_t below, const uint8_t *const texels[4], uint8_t *means,
                        uint32_t count);
void blr_blend_row_avx512(const uint16_t *weights, uint32_t below, const uint8_t *const texels[4], uint8_t *means,
                          uint32_t count);
#endif

static struct row_functions functions_of(const struct blr_texture *texture)
{
#if BLR_HAS_VECTOR_SETS
    const enum blr_vectors vectors = blr_vectors_of(texture);
    if (vectors == BLR_VECTORS_AVX512)
        return (struct row_functions){blr_spread_row_avx512, blr_blend_row_avx512};
    if (vectors == BLR_VECTORS_AVX2)
        return (struct row_functions){blr_spread_row_avx2, blr_blend_row_avx2};
#else
    (void)texture;
#endif
    return (struct row_functions){blr_spread_row, blr_blend_row};
}

static bool applies(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t items)
{
    const double *m = call->map.matrix;
    return texture->desc.channel_type == BLR_CHANNEL_UNORM_INT8 && texture->linear && texture->alone &&
           !texture->swizzled && !texture->normalized && !(texture->flags & BLR_TEXTURE_EXACT_FILTERING) &&
           texture->dimensions == 2 && call->operation == BLR_OPERATION_SAMPLE && call->value_type == BLR_ELEMENT_U8 &&
           call->value_channels == texture->desc.num_channels &&
           texture->addressing[0] == BLR_ADDRESSING_CLAMP_TO_EDGE &&
           texture->addressing[1] == BLR_ADDRESSING_CLAMP_TO_EDGE && m[0] > 0 && m[0] <= 1 && m[4] > 0 && m[4] <= 1 &&
           m[1] == 0 && m[3] == 0 && m[6] == 0 && m[7] == 0 && m[8] == 1 && items >= 4 * call->map.width;
}

/* The first texel of a linear sample and the weight of the second, which is 0 for the last texel. */
struct position {
    uint32_t texel, weight;
};

static struct position position_of(float coordinate, uint32_t extent)
{
    const int64_t last = 256 * ((int64_t)extent - 1);
    const double texels = (double)blr_clean_coordinate(coordinate) * 256.0 + 0.5; /* below 0 the first texel is read */
    int64_t place = (int64_t)texels - 128;
    place = place < 0 ? 0 : place > last ? last : place;
    return (struct position){(uint32_t)(place >> 8), (uint32_t)(place & 255)};
}

#define STRIP_BYTES (BLR_MAX_CHANNELS * STRIP)

struct strip {
    float at[2 * STRIP];
    struct blr_spread spread;             /* of the arrays that follow */
    uint32_t first[STRIP], base[STRIP_BYTES / BLR_SPREAD_BLOCK];
    uint8_t index[STRIP_BYTES];
    uint16_t weights[STRIP_BYTES];
    uint8_t texels[2][2][STRIP_BYTES];    /* of two source rows: the first and second ones of all columns */
    uint8_t means[STRIP_BYTES];           /* of a row, on their way past the caches */
    uint64_t rows[2];                     /* their numbers; UINT64_MAX: none */
};

/* The slot of a source row, of which the other one is kept. */
static int spread(struct strip *strip, const struct blr_texture *texture, spread_t spread_row, uint64_t row, uint64_t other)
{
    const int slot = strip->rows[0] == row || (strip->rows[1] != row && strip->rows[0] != other) ? 0 : 1;
    if (strip->rows[slot] == row)
        return slot;
    spread_row(&strip->spread, (const uint8_t *)texture->level[0].data + row * texture->level[0].row_pitch,
               strip->texels[slot][0], strip->texels[slot][1]);
    strip->rows[slot] = row;
    return slot;
}

#define NO_BLOCK UINT32_MAX

/* The tables of blocks. Columns advance by one texel at most, so that the places of a block's bytes differ by 15 at
 * most, but for coordinates whose rounding to floats adds to a step: they have no blocks. */
static void place_blocks(struct strip *strip, uint32_t bytes, uint32_t channels)
{
    for (uint32_t begin = 0; begin < bytes; begin += BLR_SPREAD_BLOCK) {
        const uint32_t end = begin + BLR_SPREAD_BLOCK < bytes ? begin + BLR_SPREAD_BLOCK : bytes;
        uint32_t base = UINT32_MAX, last = 0;
        for (uint32_t i = begin; i < end; i++) {
            const uint32_t place = strip->first[i / channels] + i % channels;
            base = place < base ? place : base;
            last = place > last ? place : last;
        }
        strip->base[begin / BLR_SPREAD_BLOCK] = last - base < BLR_SPREAD_BLOCK ? base : NO_BLOCK;
        for (uint32_t i = begin; i < begin + BLR_SPREAD_BLOCK; i++)
            strip->index[i] = i < end ? (uint8_t)(strip->first[i / channels] + i % channels - base) : 0;
    }
}

static void place_columns(struct strip *strip, const struct blr_map_rows *rows, const struct blr_texture *texture,
                          const blr_image_map_t *map, uint64_t column, uint32_t count)
{
    const uint32_t channels = texture->desc.num_channels;
    rows->place(&(struct blr_map_part){.map = map, .column = column, .count = count, .at = strip->at});
    for (uint32_t i = 0; i < count; i++) {
        const struct position x = position_of(strip->at[2 * i], texture->level[0].width);
        strip->first[i] = x.texel * channels;
        for (uint32_t c = 0; c < channels; c++)
            strip->weights[i * channels + c] = (uint16_t)x.weight;
    }
    place_blocks(strip, count * channels, channels);
    strip->spread = (struct blr_spread){.channels = channels,
                                        .columns = count,
                                        .row_size = texture->level[0].width * channels,
                                        .first = strip->first,
                                        .base = strip->base,
                                        .index = strip->index};
    strip->rows[0] = strip->rows[1] = UINT64_MAX;
}

bool blr_run_scaled(const struct blr_texture *texture, const struct blr_map_rows *rows, const blr_image_call_t *call,
                    uint64_t begin, uint64_t end)
{
    if (!applies(texture, call, end - begin))
        return false;
    const uint64_t width = call->map.width, last_row = (end - 1) / width;
    const uint32_t channels = texture->desc.num_channels;
    const struct row_functions functions = functions_of(texture);
    const bool streams = call->count * channels >= STREAM_FROM;
    struct strip strip;
    for (uint64_t column = 0; column < width; column += STRIP) {
        const uint32_t columns = width - column < STRIP ? (uint32_t)(width - column) : STRIP;
        place_columns(&strip, rows, texture, &call->map, column, columns);
        for (uint64_t row = begin / width; row <= last_row; row++) {
            /* The first and the last row may belong to other parts partly. */
            const uint64_t start = row * width + column, stop = start + columns;
            const uint64_t from = start < begin ? begin : start, to = stop > end ? end : stop;
            if (from >= to)
                continue;
            float at[2];
            rows->place(&(struct blr_map_part){.map = &call->map, .row = row, .count = 1, .at = at});
            const struct position y = position_of(at[1], texture->level[0].height);
            const uint64_t above = y.texel, below = y.weight == 0 ? y.texel : y.texel + 1;
            const int upper = spread(&strip, texture, functions.spread, above, below);
            const int lower = spread(&strip, texture, functions.spread, below, above);
            const uint32_t skip = (uint32_t)(from - start) * channels;
            const uint8_t *const texels[4] = {strip.texels[upper][0] + skip, strip.texels[upper][1] + skip,
                                              strip.texels[lower][0] + skip, strip.texels[lower][1] + skip};
            uint8_t *values = (uint8_t *)call->values + from * channels;
            const uint32_t size = (uint32_t)(to - from) * channels;
            functions.blend(strip.weights + skip, y.weight, texels, streams ? strip.means : values, size);
            if (streams)
                blr_stream_bytes(values, strip.means, size);
        }
    }
    if (streams)
        blr_stream_end();
    return true;
}
