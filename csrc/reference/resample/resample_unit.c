/* Pictures by the texture unit: samples at single-precision coordinates. A cubic B-spline is a sum of linear samples: a
 * sample between two texels, at b / (a + b) from the first, times a + b, has the weights a and b. */
#include "bindless/filter/weights.h"
#include "resample/boundary.h"
#include "resample/resample.h"

#include <math.h>
#include <string.h>

/* Coordinates of the handle, in the order of an array of items. */
struct unit_coordinates {
    _Alignas(64) float at[3 * BLR_RESAMPLE_BLOCK];
};

union unit_values {
    struct blr_resample_floats floats;
    struct blr_resample_doubles doubles;
};

/* A coordinate of the larger image, in a window: rounded as the unit rounds it, so that the difference is exact. */
static float in_window(const struct blr_resample *resample, uint32_t axis, float coordinate)
{
    const double c = (double)coordinate, rounded = resample->texture->linear ? floor(256.0 * c + 0.5) / 256.0 : floor(c) + 0.5;
    const double from_origin = rounded - (double)resample->origin[axis];
    const bool again = resample->picture.boundary[axis] == BLR_BOUNDARY_REPEAT && from_origin < 0.5;
    return (float)(again ? from_origin + (double)resample->extent[axis] : from_origin);
}

/* The handle's coordinate of a position in texels along an axis. */
static float in_units(const struct blr_resample *resample, uint32_t axis, float position)
{
    const float at = resample->is_window ? in_window(resample, axis, position) : position;
    return at / resample->picture.scale[axis] + resample->picture.bias[axis];
}

/* Positions of a row from the centre of the first texel; inside of the larger image of a window, where the values continue
 * periodically. Returns whether some have the fill value: those are not-a-number. */
static bool place_row(const struct blr_resample *resample, const struct blr_resample_set *set,
                      const struct blr_resample_part *part, double at[3][BLR_RESAMPLE_BLOCK])
{
    bool some = false;
    set->place(resample, part, resample->picture.centre, (double *const[3]){at[0], at[1], at[2]});
    for (uint32_t d = 0; resample->is_window && d < resample->dimensions; d++)
        for (uint32_t i = 0; i < part->count; i++) {
            const blr_boundary_t boundary = resample->picture.boundary[d];
            const double position = at[d][i];
            const bool filled = !isfinite(position) || bindless_is_beyond_double(position, resample->extent[d], boundary);
            if (filled)
                at[d][i] = (double)NAN;
            else if (bindless_is_periodic(boundary))
                at[d][i] = blr_fold(position, resample->extent[d], boundary);
            some |= filled;
        }
    return some;
}

/* Whether an item has the fill value. */
static bool is_filled(const struct blr_resample *resample, double at[3][BLR_RESAMPLE_BLOCK], uint32_t item)
{
    bool filled = false;
    for (uint32_t d = 0; d < resample->dimensions; d++)
        filled |= isnan(at[d][item]);
    return filled;
}

static void sample_at(const struct blr_resample *resample, const struct unit_coordinates *coordinates, uint32_t count,
                      blr_element_type_t type, void *values)
{
    const struct blr_texture *texture = resample->texture;
    struct blr_texture recorded;
    const blr_image_call_t call = {
        .operation = texture->desc.type == BLR_IMAGE_MIPMAP ? BLR_OPERATION_SAMPLE_LOD : BLR_OPERATION_SAMPLE,
        .type = texture->desc.type,
        .count = count,
        .coordinates = coordinates->at,
        .values = values,
        .value_type = type,
        .value_channels = resample->picture.value_channels,
        .layer = resample->picture.layer,
    };
    struct blr_fault fault;
    if (resample->picture.precision == BLR_PRECISION_REPRODUCIBLE && (texture->flags & BLR_TEXTURE_EXACT_FILTERING)) {
        recorded = *texture;
        recorded.flags &= ~BLR_TEXTURE_EXACT_FILTERING;
        texture = &recorded;
    }
    blr_texture_run(texture, &call, 0, count, &fault); /* the layer exists: nothing is out of range */
}

/* ---------------------------------------------------------------- single samples */

static double integer_of(const void *elements, uint64_t i, blr_element_type_t type)
{
    switch (type) {
    case BLR_ELEMENT_S8: return ((const int8_t *)elements)[i];
    case BLR_ELEMENT_U8: return ((const uint8_t *)elements)[i];
    case BLR_ELEMENT_S16: return ((const int16_t *)elements)[i];
    case BLR_ELEMENT_U16: return ((const uint16_t *)elements)[i];
    case BLR_ELEMENT_S32: return ((const int32_t *)elements)[i];
    default: return ((const uint32_t *)elements)[i];
    }
}

static bool has_integers(const struct blr_resample *resample)
{
    const struct blr_format *format = resample->texture->format;
    return format->class == BLR_CLASS_SIGNED || format->class == BLR_CLASS_UNSIGNED;
}

/* Values of a row: doubles of an image of integers, else floats. */
static void sample_values(const struct blr_resample *resample, const struct blr_resample_part *part,
                          const struct unit_coordinates *coordinates, union unit_values *values)
{
    const blr_element_type_t storage = resample->texture->format->storage;
    _Alignas(64) float samples[BLR_MAX_CHANNELS * BLR_RESAMPLE_BLOCK];
    if (!has_integers(resample)) {
        sample_at(resample, coordinates, part->count, BLR_ELEMENT_F32, values->floats.value);
        return;
    }
    sample_at(resample, coordinates, part->count, storage, samples);
    for (uint32_t i = 0; i < part->count * resample->picture.value_channels; i++)
        values->doubles.value[i] = integer_of(samples, i, storage);
}

static void store_values(const struct blr_resample *resample, const struct blr_resample_set *set,
                         const struct blr_resample_part *part, const union unit_values *values)
{
    if (has_integers(resample))
        set->store_doubles(resample, part, &values->doubles, 0, false);
    else
        set->store_floats(resample, part, &values->floats, 0, false);
}

static void sample_once(const struct blr_resample *resample, const struct blr_resample_set *set,
                        const struct blr_resample_part *part, const struct unit_coordinates *coordinates)
{
    const blr_resampling_t *picture = &resample->picture;
    const struct blr_format *format = resample->texture->format;
    const bool integers = has_integers(resample);
    if (picture->value_type == (integers ? format->storage : BLR_ELEMENT_F32) ||
        (!integers && picture->value_type == BLR_ELEMENT_F16)) {
        sample_at(resample, coordinates, part->count, picture->value_type, blr_resample_values(resample, part));
        return;
    }
    union unit_values values;
    sample_values(resample, part, coordinates, &values);
    store_values(resample, set, part, &values);
}

static void sample_window(const struct blr_resample *resample, const struct blr_resample_set *set,
                          const struct blr_resample_part *part)
{
    const uint32_t dimensions = resample->dimensions;
    double at[3][BLR_RESAMPLE_BLOCK];
    struct unit_coordinates coordinates;
    union unit_values values;
    const bool some_filled = place_row(resample, set, part, at);
    for (uint32_t d = 0; d < dimensions; d++)
        for (uint32_t i = 0; i < part->count; i++)
            coordinates.at[i * dimensions + d] = in_units(resample, d, (float)(at[d][i] + 0.5));
    sample_values(resample, part, &coordinates, &values);
    const uint32_t channels = resample->picture.value_channels;
    for (uint32_t i = 0; some_filled && i < part->count; i++)
        for (uint32_t c = 0; c < channels && is_filled(resample, at, i); c++) {
            if (has_integers(resample))
                values.doubles.value[i * channels + c] = resample->picture.fill;
            else
                values.floats.value[i * channels + c] = (float)resample->picture.fill;
        }
    store_values(resample, set, part, &values);
}

/* ---------------------------------------------------------------- B-splines */

/* Weights and positions in texels of the two linear samples along an axis. */
struct unit_pairs {
    float weight[2][BLR_RESAMPLE_BLOCK], at[2][BLR_RESAMPLE_BLOCK];
};

static double clamp_position(double position)
{
    const double maximum = 0x1p30, above = position > -maximum ? position : -maximum;
    return above < maximum ? above : maximum;
}

static void pair_up(const double *at, uint32_t count, struct unit_pairs *pairs)
{
    for (uint32_t i = 0; i < count; i++) {
        const double from = clamp_position(at[i]);
        const int32_t cut = (int32_t)from, first = (double)cut > from ? cut - 1 : cut;
        float w[4];
        bindless_weights_float((float)(from - (double)first), BINDLESS_CUBIC, w, 1);
        const float left = w[0] + w[1], right = w[2] + w[3];
        pairs->weight[0][i] = left;
        pairs->weight[1][i] = right;
        pairs->at[0][i] = (float)first + (w[1] / left - 0.5f);
        pairs->at[1][i] = (float)first + (w[3] / right + 1.5f);
    }
}

/* Samples of one corner of the filter, which are added to the sums. */
static void add_corner(const struct blr_resample *resample, const struct unit_pairs pairs[3], const uint32_t corner[3],
                       uint32_t count, struct blr_resample_floats *sums)
{
    const uint32_t dimensions = resample->dimensions, channels = resample->picture.value_channels;
    struct unit_coordinates coordinates;
    _Alignas(64) float samples[BLR_MAX_CHANNELS * BLR_RESAMPLE_BLOCK];
    for (uint32_t d = 0; d < dimensions; d++)
        for (uint32_t i = 0; i < count; i++)
            coordinates.at[i * dimensions + d] = in_units(resample, d, pairs[d].at[corner[d]][i]);
    sample_at(resample, &coordinates, count, BLR_ELEMENT_F32, samples);
    for (uint32_t i = 0; i < count; i++) {
        float weight = dimensions > 1 ? pairs[1].weight[corner[1]][i] : 1.0f;
        weight = dimensions > 2 ? weight * pairs[2].weight[corner[2]][i] : weight;
        weight *= pairs[0].weight[corner[0]][i];
        for (uint32_t c = 0; c < channels; c++)
            sums->value[i * channels + c] += weight * samples[i * channels + c];
    }
}

static void sample_spline(const struct blr_resample *resample, const struct blr_resample_set *set,
                          const struct blr_resample_part *part)
{
    double at[3][BLR_RESAMPLE_BLOCK];
    struct unit_pairs pairs[3];
    struct blr_resample_floats sums;
    memset(&sums, 0, sizeof sums);
    const bool some_filled = place_row(resample, set, part, at);
    for (uint32_t d = 0; d < resample->dimensions; d++)
        pair_up(at[d], part->count, &pairs[d]);
    for (uint32_t corner = 0; corner < 1u << resample->dimensions; corner++) {
        const uint32_t of_axis[3] = {corner & 1, corner >> 1 & 1, corner >> 2};
        add_corner(resample, pairs, of_axis, part->count, &sums);
    }
    const uint32_t channels = resample->picture.value_channels;
    for (uint32_t i = 0; some_filled && i < part->count; i++)
        for (uint32_t c = 0; c < channels && is_filled(resample, at, i); c++)
            sums.value[i * channels + c] = (float)resample->picture.fill;
    set->store_floats(resample, part, &sums, 0, false);
}

void blr_resample_sample(const struct blr_resample *resample, const struct blr_resample_set *set,
                         const struct blr_resample_part *part)
{
    if (resample->picture.interpolation == BLR_INTERPOLATION_CUBIC) {
        sample_spline(resample, set, part);
        return;
    }
    struct unit_coordinates coordinates;
    if (resample->is_window) {
        sample_window(resample, set, part);
        return;
    }
    set->coordinates(resample, part, coordinates.at);
    sample_once(resample, set, part, &coordinates);
}
