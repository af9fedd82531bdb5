/* Enlarged pictures of bytes and floats, in strips of columns: texels of a source row are spread to the columns once, and
 * serve all rows of the picture between two source rows. */
#include "texture/scaled_picture.h"

#include "memory/streaming_store.h"
#include "sampler/addressing.h"
#include "sampler/simd/block.h"
#include "texture/blend_rows.h"
#include "texture/projective_map_rows.h"

#include <string.h>

#define STRIP 1024u                       /* most columns */
#define STRIP_BYTES 4096u                 /* most bytes of a row */
#define STREAM_FROM ((uint64_t)64 << 20)  /* bytes of a picture that leaves the caches before it is read */

typedef void (*spread_t)(const struct blr_spread *spread, const void *row, void *first, void *second);
typedef void (*blend_t)(const struct blr_row_blend *row, void *const values[2], uint32_t count, uint64_t left_over[2]);

/* The functions of an instruction set and an element type; no blend: none exist. Bytes are spread, and serve several rows;
 * floats are read where they lie. */
struct row_functions {
    spread_t spread;
    blend_t blend;
};

#if BLR_HAS_VECTOR_SETS
void blr_spread_bytes_avx2(const struct blr_spread *spread, const void *row, void *first, void *second);
void blr_spread_bytes_avx512(const struct blr_spread *spread, const void *row, void *first, void *second);
void blr_blend_bytes_avx2(const struct blr_row_blend *row, void *const values[2], uint32_t count, uint64_t left_over[2]);
void blr_blend_bytes_avx512(const struct blr_row_blend *row, void *const values[2], uint32_t count, uint64_t left_over[2]);
#endif

static struct row_functions functions_of(const struct blr_texture *texture)
{
    const bool floats = texture->desc.channel_type == BLR_CHANNEL_FP32;
#if BLR_HAS_VECTOR_SETS
    const enum blr_vectors vectors = blr_vectors_of(texture);
    if (vectors == BLR_VECTORS_AVX512)
        return floats ? (struct row_functions){NULL, blr_blend_floats_avx512}
                      : (struct row_functions){blr_spread_bytes_avx512, blr_blend_bytes_avx512};
    if (vectors == BLR_VECTORS_AVX2 && !floats)
        return (struct row_functions){blr_spread_bytes_avx2, blr_blend_bytes_avx2};
#endif
    return floats ? (struct row_functions){NULL, NULL} : (struct row_functions){blr_spread_bytes, blr_blend_bytes};
}

static bool takes(const struct blr_texture *texture, blr_element_type_t values)
{
    return (texture->desc.channel_type == BLR_CHANNEL_UNORM_INT8 && values == BLR_ELEMENT_U8) ||
           (texture->desc.channel_type == BLR_CHANNEL_FP32 && values == BLR_ELEMENT_F32);
}

static bool applies(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t items)
{
    const double *m = call->map.matrix;
    return takes(texture, call->value_type) && texture->linear && texture->alone && !texture->swizzled &&
           !texture->normalized && !(texture->flags & BLR_TEXTURE_EXACT_FILTERING) && texture->dimensions == 2 &&
           call->operation == BLR_OPERATION_SAMPLE && call->value_channels == texture->desc.num_channels &&
           texture->boundary[0] == BINDLESS_EDGE && texture->boundary[1] == BINDLESS_EDGE && m[0] > 0 && m[0] <= 1 &&
           m[4] > 0 && m[4] <= 1 && m[1] == 0 && m[3] == 0 && m[6] == 0 && m[7] == 0 && m[8] == 1 &&
           items >= 4 * call->map.width;
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

struct strip {
    float at[2 * STRIP];
    struct blr_spread spread;             /* of the arrays that follow */
    uint32_t first[STRIP], base[STRIP_BYTES / BLR_SPREAD_BLOCK];
    uint8_t index[STRIP_BYTES];
    union {
        uint16_t of_bytes[STRIP_BYTES];
        float of_floats[STRIP_BYTES / sizeof(float)];
    } weights;
    uint8_t least[STRIP_BYTES / BLR_BLEND_GROUP];
    _Alignas(64) unsigned char texels[2][2][STRIP_BYTES]; /* of two source rows: the first and second ones of all columns */
    unsigned char values[2][STRIP_BYTES]; /* of rows, on their way past the caches */
    uint64_t rows[2];                     /* numbers of the source rows; UINT64_MAX: none */
};

static const unsigned char *row_of(const struct blr_texture *texture, uint64_t row)
{
    return (const unsigned char *)texture->level[0].data + row * texture->level[0].row_pitch;
}

/* The slot of a source row, of which the other one is kept. */
static int spread(struct strip *strip, const struct blr_texture *texture, spread_t spread_row, uint64_t row, uint64_t other)
{
    const int slot = strip->rows[0] == row || (strip->rows[1] != row && strip->rows[0] != other) ? 0 : 1;
    if (strip->rows[slot] == row)
        return slot;
    spread_row(&strip->spread, row_of(texture, row), strip->texels[slot][0], strip->texels[slot][1]);
    strip->rows[slot] = row;
    return slot;
}

#define NO_BLOCK UINT32_MAX

/* The tables of blocks. Columns advance by one texel at most, so that the places of a block's elements differ by 15 at
 * most, but for coordinates whose rounding to floats adds to a step: they have no blocks. */
static void place_blocks(struct strip *strip, uint32_t elements, uint32_t channels, uint32_t row_size)
{
    for (uint32_t begin = 0; begin < elements; begin += BLR_SPREAD_BLOCK) {
        const uint32_t end = begin + BLR_SPREAD_BLOCK < elements ? begin + BLR_SPREAD_BLOCK : elements;
        uint32_t base = UINT32_MAX, last = 0;
        for (uint32_t i = begin; i < end; i++) {
            const uint32_t place = strip->first[i / channels] + i % channels;
            base = place < base ? place : base;
            last = place > last ? place : last;
        }
        strip->base[begin / BLR_SPREAD_BLOCK] = last - base < BLR_SPREAD_BLOCK ? base : NO_BLOCK;
        if (last - base >= BLR_SPREAD_BLOCK || base + channels + BLR_SPREAD_BLOCK > row_size)
            strip->least[begin / BLR_BLEND_GROUP] = 0;
        for (uint32_t i = begin; i < begin + BLR_SPREAD_BLOCK; i++)
            strip->index[i] = i < end ? (uint8_t)(strip->first[i / channels] + i % channels - base) : 0;
    }
}

/* Weights of a column's elements, from the number-th one on. */
static void weigh_column(struct strip *strip, uint32_t number, uint32_t channels, uint32_t weight, bool floats)
{
    const uint32_t least = weight < 128 ? weight : 256 - weight;
    for (uint32_t i = number; i < number + channels; i++) {
        uint8_t *of_group = &strip->least[i / BLR_BLEND_GROUP];
        *of_group = least < *of_group ? (uint8_t)least : *of_group;
        if (floats)
            strip->weights.of_floats[i] = (float)weight;
        else
            strip->weights.of_bytes[i] = (uint16_t)weight;
    }
}

static void place_columns(struct strip *strip, const struct blr_map_rows *rows, const struct blr_texture *texture,
                          const blr_image_map_t *map, uint64_t column, uint32_t count)
{
    const uint32_t channels = texture->desc.num_channels;
    memset(strip->least, UINT8_MAX, sizeof strip->least);
    rows->place(&(struct blr_map_part){.map = map, .column = column, .count = count, .at = strip->at});
    for (uint32_t i = 0; i < count; i++) {
        const struct position x = position_of(strip->at[2 * i], texture->level[0].width);
        strip->first[i] = x.texel * channels;
        weigh_column(strip, i * channels, channels, x.weight, texture->format->storage == BLR_ELEMENT_F32);
    }
    const uint32_t row_size = texture->level[0].width * channels;
    place_blocks(strip, count * channels, channels, row_size);
    strip->spread = (struct blr_spread){.channels = channels,
                                        .columns = count,
                                        .row_size = row_size,
                                        .first = strip->first,
                                        .base = strip->base,
                                        .index = strip->index};
    strip->rows[0] = strip->rows[1] = UINT64_MAX;
}

/* Samples the items of the groups that the blend left over. columns: coordinates of count items; y: of their row. */
static void sample_again(const struct blr_texture *texture, const blr_image_call_t *call, const float *columns, float y,
                         uint64_t groups, uint32_t count, unsigned char *values)
{
    const uint32_t channels = texture->desc.num_channels, size = channels * blr_element_size(call->value_type);
    float at[2 * (BLR_BLEND_GROUP + 1)];
    blr_image_call_t part = *call;
    memset(&part.map, 0, sizeof part.map);
    part.coordinates = at;
    for (uint32_t group = 0; groups >> group != 0; group++) {
        if (!(groups >> group & 1))
            continue;
        const uint32_t first = group * BLR_BLEND_GROUP / channels;
        const uint32_t end = ((group + 1) * BLR_BLEND_GROUP + channels - 1) / channels;
        const uint32_t items = (end < count ? end : count) - first;
        for (uint32_t i = 0; i < items; i++) {
            at[2 * i] = columns[2 * (first + i)];
            at[2 * i + 1] = y;
        }
        part.count = items;
        part.values = values + (uint64_t)first * size;
        blr_sample_items(texture, &part, 0, items);
    }
}

/* Items [from, to) of a row of the picture, which is the strip's row from start on. */
struct line {
    uint64_t start, from, to;
    float y;
    struct position place;
};

static struct line line_of(const struct blr_texture *texture, const struct blr_map_rows *rows, const blr_image_call_t *call,
                           uint64_t start, uint64_t begin, uint64_t end, uint32_t columns)
{
    float at[2];
    rows->place(&(struct blr_map_part){.map = &call->map, .row = start / call->map.width, .count = 1, .at = at});
    /* The first and the last row may belong to other parts partly. */
    const uint64_t from = start < begin ? begin : start, stop = start + columns, to = stop > end ? end : stop;
    const bool any = from < to;
    return (struct line){start, any ? from : start, any ? to : start, at[1], position_of(at[1], texture->level[0].height)};
}

static void make_lines(const struct blr_texture *texture, const blr_image_call_t *call, const struct row_functions *functions,
                       struct strip *strip, const struct line *lines, uint32_t count)
{
    const uint32_t size = texture->desc.num_channels * blr_element_size(call->value_type), columns = strip->spread.columns;
    const bool streams = call->count * size >= STREAM_FROM;
    const struct position y = lines[0].place;
    const uint64_t above = y.texel, below = y.weight == 0 ? y.texel : y.texel + 1;
    struct blr_row_blend row = {
        .spread = &strip->spread,
        .weights = &strip->weights,
        .least = strip->least,
        .rows = count,
        .below = {y.weight, lines[count - 1].place.weight},
        .texels = {row_of(texture, above), row_of(texture, below)},
    };
    if (functions->spread != NULL) {
        const int upper = spread(strip, texture, functions->spread, above, below);
        const int lower = spread(strip, texture, functions->spread, below, above);
        for (int i = 0; i < 2; i++) {
            row.texels[i] = strip->texels[upper][i];
            row.texels[2 + i] = strip->texels[lower][i];
        }
    }
    unsigned char *target[2];
    void *values[2] = {NULL, NULL};
    uint64_t left_over[2];
    for (uint32_t k = 0; k < count; k++) {
        target[k] = (unsigned char *)call->values + lines[k].from * size;
        values[k] = streams || lines[k].to - lines[k].from < columns ? strip->values[k] : target[k];
    }
    functions->blend(&row, values, columns * texture->desc.num_channels, left_over);
    for (uint32_t k = 0; k < count; k++) {
        const struct line *line = &lines[k];
        const uint64_t bytes = (line->to - line->from) * size;
        const unsigned char *source = (unsigned char *)values[k] + (line->from - line->start) * size;
        if (left_over[k] != 0)
            sample_again(texture, call, strip->at, line->y, left_over[k], columns, values[k]);
        if (streams)
            blr_stream_bytes(target[k], source, bytes);
        else if (values[k] != target[k])
            memcpy(target[k], source, bytes);
    }
}

/* Whether two lines lie between the same source rows, and none on one. */
static bool share_rows(const struct line *a, const struct line *b)
{
    return a->place.texel == b->place.texel && a->place.weight != 0 && b->place.weight != 0;
}

bool blr_run_scaled(const struct blr_texture *texture, const struct blr_map_rows *rows, const blr_image_call_t *call,
                    uint64_t begin, uint64_t end)
{
    const struct row_functions functions = functions_of(texture);
    if (!applies(texture, call, end - begin) || functions.blend == NULL)
        return false;
    const uint64_t width = call->map.width, last_row = (end - 1) / width;
    const uint32_t size = texture->desc.num_channels * blr_element_size(call->value_type);
    const uint32_t most = STRIP_BYTES / size < STRIP ? STRIP_BYTES / size : STRIP;
    struct strip strip;
    for (uint64_t column = 0; column < width; column += most) {
        const uint32_t columns = width - column < most ? (uint32_t)(width - column) : most;
        place_columns(&strip, rows, texture, &call->map, column, columns);
        for (uint64_t row = begin / width, step; row <= last_row; row += step) {
            struct line lines[2];
            for (step = 0; step < 2 && row + step <= last_row; step++) {
                lines[step] = line_of(texture, rows, call, (row + step) * width + column, begin, end, columns);
                if (step == 1 && (functions.spread != NULL || !share_rows(&lines[0], &lines[1])))
                    break;
            }
            make_lines(texture, call, &functions, &strip, lines, (uint32_t)step);
        }
    }
    blr_stream_end();
    return true;
}
