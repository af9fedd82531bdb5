/* Coordinates of part of a row of a picture, and the codes of its values. Loops that compilers turn into vectors: included by
 * each file that is compiled for a set of instructions, which gives BLR_MAP_NAME. Every product, sum and quotient is rounded by
 * itself, in double precision until the coordinates are whole: the results are the same to the bit everywhere. */
#ifndef BLR_TEXTURE_MAP_ROWS_H
#define BLR_TEXTURE_MAP_ROWS_H

#include "texture.h"

#include <math.h>

/* One part of a row. Arrays of (count, 2); the steps to the next column and row are NULL where they are not asked for. */
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
    /* Values times the largest code, rounded to the nearest, ties to even, from lowest to largest; elements of 1 or 2 bytes. */
    void (*code)(const float *values, uint64_t count, int32_t lowest, int32_t largest, uint32_t size, void *codes);
};

extern const struct blr_map_rows blr_map_rows_portable;
extern const struct blr_map_rows blr_map_rows_avx2;
extern const struct blr_map_rows blr_map_rows_avx512;

#ifdef BLR_MAP_NAME

/* Floats of a coordinate of the image from those in the map's own units. */
static inline float in_units(double value, float scale, float bias)
{
    return (float)value / scale + bias;
}

static inline __attribute__((always_inline)) void place_axis(const struct blr_map_part *restrict part, const int axis,
                                                             const int projective, const int units, const int steps)
{
    const blr_image_map_t *map = part->map;
    const double *m = map->matrix + 3 * axis, *w = map->matrix + 6;
    const double y = (double)part->row + 0.5, first = (double)part->column + 0.5;
    const double constant = m[1] * y + m[2], depth_constant = w[1] * y + w[2];
    const double a = m[0], b = m[1], wa = w[0], wb = w[1];
    const float scale = map->scale[axis], bias = map->bias[axis];
    float *restrict at = part->at + axis;
    float *restrict step_x = steps ? part->step_x + axis : NULL, *restrict step_y = steps ? part->step_y + axis : NULL;
    if (!projective && a == 0.0) {        /* a picture that is not turned: one number for the whole row */
        const double value = a * first + constant;
        const float place = units ? in_units(value, scale, bias) : (float)value;
        for (int32_t i = 0; i < (int32_t)part->count; i++)
            at[2 * i] = place;
        return;
    }
    for (int32_t i = 0; i < (int32_t)part->count; i++) {
        const double x = first + (double)i, depth = wa * x + depth_constant;
        double value = a * x + constant;
        value = projective ? value / depth : value;
        at[2 * i] = units ? in_units(value, scale, bias) : (float)value;
        if (steps) {
            step_x[2 * i] = (float)((a - value * wa) / depth) / scale;
            step_y[2 * i] = (float)((b - value * wb) / depth) / scale;
        }
    }
}

static void place_row(const struct blr_map_part *part)
{
    const blr_image_map_t *map = part->map;
    const bool projective = map->matrix[6] != 0.0 || map->matrix[7] != 0.0 || map->matrix[8] != 1.0;
    const bool units = map->scale[0] != 1.0f || map->scale[1] != 1.0f || map->bias[0] != 0.0f || map->bias[1] != 0.0f;
    for (int axis = 0; axis < 2; axis++) {
        if (part->step_x)
            place_axis(part, axis, 1, 1, 1);
        else if (projective)
            place_axis(part, axis, 1, 1, 0);
        else if (units)
            place_axis(part, axis, 0, 1, 0);
        else
            place_axis(part, axis, 0, 0, 0);
    }
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
