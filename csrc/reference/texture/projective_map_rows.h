/* Coordinates of part of a picture's row, and the codes of its values: loops for auto-vectorisation. Each source
 * file of an instruction set defines BLR_MAP_NAME and includes this header. Every product, sum and quotient is
 * rounded separately, in double precision until the coordinates are complete: results are bit-identical everywhere. */
#ifndef BINDLESS_REFERENCE_TEXTURE_PROJECTIVE_MAP_ROWS_H
#define BINDLESS_REFERENCE_TEXTURE_PROJECTIVE_MAP_ROWS_H

#include "texture/texture.h"

#include <math.h>

/* One part of a row. Arrays of (count, 2); the steps to the next column and row are NULL where they are not needed. */
struct blr_map_part {
    const blr_image_map_t *map;
    uint64_t column, row;
    uint32_t count;
    float *at;
    float *step_x;
    float *step_y;
};

/* The functions of a set of instructions. */
struct blr_map_rows {
    void (*place)(const struct blr_map_part *part);
    /* Converts values to codes: times the largest code, rounded to nearest, ties to even, clamped to lowest and
     * largest; elements of 1 or 2 bytes. */
    void (*code)(const float *values, uint64_t count, int32_t lowest, int32_t largest, uint32_t size, void *codes);
};

extern const struct blr_map_rows blr_map_rows_portable;
extern const struct blr_map_rows blr_map_rows_avx2;
extern const struct blr_map_rows blr_map_rows_avx512;

#ifdef BLR_MAP_NAME

/* One image coordinate along a row: a x + constant, divided by a depth of the same form for a projective map. */
struct map_line {
    double a, b, constant;
    float scale, bias;                    /* from the map's units to coordinates of the image */
};

static inline struct map_line map_line(const blr_image_map_t *map, int row, double y)
{
    const double *m = map->matrix + 3 * row;
    const int axis = row < 2 ? row : 0;
    return (struct map_line){m[0], m[1], m[1] * y + m[2], map->scale[axis], map->bias[axis]};
}

static inline __attribute__((always_inline)) float map_units(double value, const struct map_line *line, const int units)
{
    return units ? (float)value / line->scale + line->bias : (float)value;
}

static inline __attribute__((always_inline)) void place_items_of(const struct blr_map_part *restrict part, const int projective,
                                                                 const int units, const int steps)
{
    const double y = (double)part->row + 0.5, first = (double)part->column + 0.5;
    const struct map_line u = map_line(part->map, 0, y), v = map_line(part->map, 1, y), w = map_line(part->map, 2, y);
    float *restrict at = part->at, *restrict step_x = part->step_x, *restrict step_y = part->step_y;
    for (int32_t i = 0; i < (int32_t)part->count; i++) {
        const double x = first + (double)i, depth = w.a * x + w.constant;
        double place_u = u.a * x + u.constant, place_v = v.a * x + v.constant;
        place_u = projective ? place_u / depth : place_u;
        place_v = projective ? place_v / depth : place_v;
        at[2 * i] = map_units(place_u, &u, units);
        at[2 * i + 1] = map_units(place_v, &v, units);
        if (steps) {
            step_x[2 * i] = (float)((u.a - place_u * w.a) / depth) / u.scale;
            step_x[2 * i + 1] = (float)((v.a - place_v * w.a) / depth) / v.scale;
            step_y[2 * i] = (float)((u.b - place_u * w.b) / depth) / u.scale;
            step_y[2 * i + 1] = (float)((v.b - place_v * w.b) / depth) / v.scale;
        }
    }
}

static void place_row(const struct blr_map_part *part)
{
    const blr_image_map_t *map = part->map;
    const bool projective = map->matrix[6] != 0.0 || map->matrix[7] != 0.0 || map->matrix[8] != 1.0;
    const bool units = map->scale[0] != 1.0f || map->scale[1] != 1.0f || map->bias[0] != 0.0f || map->bias[1] != 0.0f;
    if (part->step_x)
        place_items_of(part, 1, 1, 1);
    else if (projective)
        place_items_of(part, 1, 1, 0);
    else if (units)
        place_items_of(part, 0, 1, 0);
    else
        place_items_of(part, 0, 0, 0);
}

static inline int32_t code_of(float value, float lowest, float largest)
{
    const float code = value * largest;
    const float above = code > lowest ? code : lowest;
    return (int32_t)rintf(above < largest ? above : largest);
}

static void code_values(const float *restrict values, uint64_t count, int32_t lowest, int32_t largest, uint32_t size,
                        void *restrict codes)
{
    uint8_t *restrict bytes = codes;
    uint16_t *restrict words = codes;
    if (size == 1) {
        for (uint64_t i = 0; i < count; i++)
            bytes[i] = (uint8_t)code_of(values[i], (float)lowest, (float)largest);
    } else {
        for (uint64_t i = 0; i < count; i++)
            words[i] = (uint16_t)code_of(values[i], (float)lowest, (float)largest);
    }
}

const struct blr_map_rows BLR_MAP_NAME = {place_row, code_values};

#endif

#endif
