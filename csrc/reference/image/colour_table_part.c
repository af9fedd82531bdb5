/* Ranges of pixels by tables of colours. Compiled for each instruction set; results are bit-identical.
 *
 * Functions are inlined: as functions of their own, GCC 12 takes some loops for ones without an effect. */
#include "image/colour_table.h"

#include "image/transpose_floats.h"
#include "memory/streaming_store.h"
#include "spirv/half.h"

#include <math.h>

#if defined(__GNUC__) || defined(__clang__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

#define BLOCK ((int)BLR_COLOUR_BLOCK)

/* A block of pixels. Elements are packed, with room for a fourth channel behind the last pixel. */
struct block {
    _Alignas(64) float elements[4 * BLOCK + 4];
    _Alignas(64) float channel[4][BLOCK];
    _Alignas(64) float share[3][BLOCK];
    _Alignas(64) float weight[4][BLOCK];
    _Alignas(64) uint32_t low[3][BLOCK];
    _Alignas(64) uint32_t cell[BLOCK];
    _Alignas(64) uint32_t step[2][BLOCK];
    _Alignas(64) float colour[4 * BLOCK];
    _Alignas(64) uint16_t rest[BLOCK];
};

/* ---------------------------------------------------------------- elements */

INLINE void read_elements(struct block *block, const void *pixels, blr_element_type_t type, uint64_t count)
{
    float *restrict to = block->elements;
    const unsigned char *restrict bytes = pixels;
    const uint16_t *restrict words = pixels;
    if (type == BLR_ELEMENT_F32)
        memcpy(to, pixels, count * sizeof *to);
    else if (type == BLR_ELEMENT_F16)
        for (uint64_t i = 0; i < count; i++)
            to[i] = blr_lane_from_half(words[i]);
    else if (type == BLR_ELEMENT_U16)
        for (uint64_t i = 0; i < count; i++)
            to[i] = (float)words[i] / 65535.0f;
    else
        for (uint64_t i = 0; i < count; i++)
            to[i] = (float)bytes[i] / 255.0f;
}

/* The nearest code, of two the even one; not a number is 0. */
INLINE int code_of(float value, float largest)
{
    const float scaled = value > 0.0f ? value * largest : 0.0f;
    return (int)rintf(scaled < largest ? scaled : largest);
}

INLINE void write_elements(const struct block *block, void *values, blr_element_type_t type, uint64_t count, bool streams)
{
    const float *restrict from = block->elements;
    unsigned char *restrict bytes = values;
    uint16_t *restrict words = values;
    if (type == BLR_ELEMENT_F32 && streams)
        blr_stream_bytes(values, (const unsigned char *)from, count * sizeof *from);
    else if (type == BLR_ELEMENT_F32)
        memcpy(values, from, count * sizeof *from);
    else if (type == BLR_ELEMENT_F16)
        for (uint64_t i = 0; i < count; i++)
            words[i] = blr_lane_to_half(from[i]);
    else if (type == BLR_ELEMENT_U16)
        for (uint64_t i = 0; i < count; i++)
            words[i] = (uint16_t)code_of(from[i], 65535.0f);
    else
        for (uint64_t i = 0; i < count; i++)
            bytes[i] = (unsigned char)code_of(from[i], 255.0f);
}

INLINE void separate(struct block *block, const int channels)
{
    const float *pixels = block->elements;
    for (int i = 0; i < BLOCK; i += 4, pixels += 4 * channels) {
        const float *const from[4] = {pixels, pixels + channels, pixels + 2 * channels, pixels + 3 * channels};
        float *const to[4] = {&block->channel[0][i], &block->channel[1][i], &block->channel[2][i], &block->channel[3][i]};
        blr_transpose_4(from, to);
    }
}

/* Three channels write a fourth one, which the next pixel replaces. */
INLINE void pack(struct block *block, const int channels)
{
    const float *from = block->colour;
    float *to = block->elements;
    for (int i = 0; i < BLOCK; i++, from += 4, to += channels) {
        memcpy(to, from, 4 * sizeof *to);
        if (channels == 4)
            to[3] = block->channel[3][i];
    }
}

/* ---------------------------------------------------------------- places */

/* The lower of the two entries that values lie between, and the shares of the upper ones. */
INLINE void find_places(const float *restrict values, float first, float scale, uint32_t size, uint32_t *restrict low,
                        float *restrict share)
{
    const float last = (float)(size - 1);
    const int most = (int)size - 2;
    for (int i = 0; i < BLOCK; i++) {
        const float at = (values[i] - first) * scale;
        const float below = at < last ? at : last, inside = at > 0.0f ? below : 0.0f;
        const int floor = (int)inside, entry = floor < most ? floor : most;
        low[i] = (uint32_t)entry;
        share[i] = inside - (float)entry;
    }
}

INLINE void shape(struct block *block, const blr_colour_table_t *table)
{
    for (int c = 0; c < 3; c++) {
        find_places(block->channel[c], table->shaper_first[c], table->shaper_scale[c], table->shaper_size, block->low[c],
                    block->share[c]);
        for (int i = 0; i < BLOCK; i++) {
            const float *entry = table->shaper + 3 * (size_t)block->low[c][i] + c;
            block->channel[c][i] = (1.0f - block->share[c][i]) * entry[0] + block->share[c][i] * entry[3];
        }
    }
}

INLINE void find_cells(struct block *block, const blr_colour_table_t *table)
{
    const uint32_t row = table->size, slice = row * row;
    for (int c = 0; c < 3; c++)
        find_places(block->channel[c], table->first[c], table->scale[c], table->size, block->low[c], block->share[c]);
    for (int i = 0; i < BLOCK; i++)
        block->cell[i] = block->low[2][i] * slice + block->low[1][i] * row + block->low[0][i];
}

/* ---------------------------------------------------------------- sums of entries */

INLINE float smaller(float a, float b) { return a < b ? a : b; }

INLINE float larger(float a, float b) { return a > b ? a : b; }

/* From the lower corner along the axis of the largest share, then that of the next one, to the upper corner. Of equal
 * shares, the last axis counts as the smaller one. */
INLINE void find_tetrahedra(struct block *block, uint32_t row)
{
    const uint32_t slice = row * row, all = 1 + row + slice;
    for (int i = 0; i < BLOCK; i++) {
        const float x = block->share[0][i], y = block->share[1][i], z = block->share[2][i];
        const float upper = larger(x, y), lower = smaller(x, y);
        const float largest = larger(upper, z), smallest = smaller(lower, z), middle = larger(lower, smaller(upper, z));
        const uint32_t before = y == largest ? row : slice, behind = y == smallest ? row : 1;
        block->step[0][i] = x == largest ? 1 : before;
        block->step[1][i] = all - (z == smallest ? slice : behind);
        block->weight[0][i] = 1.0f - largest;
        block->weight[1][i] = largest - middle;
        block->weight[2][i] = middle - smallest;
        block->weight[3][i] = smallest;
    }
}

/* Four floats at an entry of the table. */
INLINE blr_lane_4 entry_at(const float *table, size_t entry)
{
    blr_lane_4 colour;
    memcpy(&colour, table + 4 * entry, sizeof colour);
    return colour;
}

INLINE void add_tetrahedra(struct block *block, const blr_colour_table_t *table)
{
    const uint32_t all = 1 + table->size + table->size * table->size;
    float *to = block->colour;
    find_tetrahedra(block, table->size);
    for (int i = 0; i < BLOCK; i++, to += 4) {
        const float *cell = table->table + 4 * (size_t)block->cell[i];
        const blr_lane_4 colour = block->weight[0][i] * entry_at(cell, 0) +
                                  block->weight[1][i] * entry_at(cell, block->step[0][i]) +
                                  block->weight[2][i] * entry_at(cell, block->step[1][i]) +
                                  block->weight[3][i] * entry_at(cell, all);
        memcpy(to, &colour, sizeof colour);
    }
}

INLINE void add_cells(struct block *block, const blr_colour_table_t *table)
{
    const size_t row = table->size, slice = row * row;
    float *to = block->colour;
    for (int i = 0; i < BLOCK; i++, to += 4) {
        const float *cell = table->table + 4 * (size_t)block->cell[i];
        const float x = block->share[0][i], y = block->share[1][i], z = block->share[2][i];
        const float before_x = 1.0f - x, before_y = 1.0f - y, before_z = 1.0f - z;
        const blr_lane_4 a = before_x * entry_at(cell, 0) + x * entry_at(cell, 1);
        const blr_lane_4 b = before_x * entry_at(cell, row) + x * entry_at(cell, row + 1);
        const blr_lane_4 c = before_x * entry_at(cell, slice) + x * entry_at(cell, slice + 1);
        const blr_lane_4 d = before_x * entry_at(cell, slice + row) + x * entry_at(cell, slice + row + 1);
        const blr_lane_4 near = before_y * a + y * b, far = before_y * c + y * d;
        const blr_lane_4 colour = before_z * near + z * far;
        memcpy(to, &colour, sizeof colour);
    }
}

INLINE void join(struct block *block)
{
    for (int i = 0; i < BLOCK; i++)
        for (int c = 0; c < 3; c++)
            block->colour[4 * i + c] = block->channel[c][i];
}

/* ---------------------------------------------------------------- blocks */

INLINE void map_block(struct block *block, const blr_colour_table_t *table)
{
    if (table->channels == 3)
        separate(block, 3);
    else
        separate(block, 4);
    if (table->shaper != NULL)
        shape(block, table);
    if (table->table == NULL) {
        join(block);
    } else {
        find_cells(block, table);
        if (table->tetrahedral != 0)
            add_tetrahedra(block, table);
        else
            add_cells(block, table);
    }
    if (table->channels == 3)
        pack(block, 3);
    else
        pack(block, 4);
}

void blr_colour_part(const struct blr_colours *colours, uint64_t begin, uint64_t end)
{
    const blr_colour_table_t *table = &colours->table;
    const blr_element_type_t from = table->pixel_type, to = table->value_type;
    const uint32_t channels = table->channels;
    const unsigned char *pixels = (const unsigned char *)table->pixels + begin * channels * blr_element_size(from);
    unsigned char *values = (unsigned char *)table->values + begin * channels * blr_element_size(to);
    /* Halves that are no numbers keep their bits in the fourth channel. */
    const bool keeps_rest = channels == 4 && from == BLR_ELEMENT_F16 && to == BLR_ELEMENT_F16;
    struct block block = {.elements = {0}};
    for (uint64_t count; begin < end; begin += count) {
        count = end - begin < BLR_COLOUR_BLOCK ? end - begin : BLR_COLOUR_BLOCK;
        for (uint64_t i = 0; keeps_rest && i < count; i++)
            memcpy(&block.rest[i], pixels + 2 * (4 * i + 3), sizeof block.rest[i]);
        read_elements(&block, pixels, from, count * channels);
        map_block(&block, table);
        write_elements(&block, values, to, count * channels, colours->streams);
        for (uint64_t i = 0; keeps_rest && i < count; i++)
            memcpy(values + 2 * (4 * i + 3), &block.rest[i], sizeof block.rest[i]);
        pixels += count * channels * blr_element_size(from);
        values += count * channels * blr_element_size(to);
    }
    if (colours->streams)
        blr_stream_end();
}
