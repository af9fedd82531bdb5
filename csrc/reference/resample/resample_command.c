/* Pictures at computed positions as commands: checks, and what a command retains. */
#include "resample/resample.h"

#include "bindless/filter/boundary.h"
#include "bindless/filter/field.h"
#include "bindless/filter/weights.h"
#include "image/image_handle.h"
#include "memory/allocation.h"
#include "runtime/queue.h"

#include <inttypes.h>

/* Largest brief picture, which a waiting thread may run alone; texels of the largest instant one, which the submitting
 * thread runs in less time than another one takes to wake. */
#define BRIEF_ITEMS 65536u
#define INSTANT_TEXELS 8192u

_Static_assert((int)BLR_BOUNDARY_WRAP == (int)BINDLESS_WRAP && (int)BLR_INTERPOLATION_QUINTIC == (int)BINDLESS_QUINTIC,
               "numbers of the API are those of filter/boundary.h and filter/weights.h");

struct resample_command {
    struct blr_command command;
    struct blr_image_view *view;          /* retained */
    struct blr_allocation *coordinates[3], *values, *texels; /* retained, or NULL; coordinates by component */
    struct blr_resample resample;
};

static void release(struct blr_command *command)
{
    struct resample_command *own = (struct resample_command *)command;
    for (int i = 0; i < 3; i++)
        blr_memory_release(own->coordinates[i]);
    blr_memory_release(own->values);
    blr_memory_release(own->texels);
    if (own->view != NULL)
        blr_image_view_release(own->view);
}

/* Whether a number of a description is whole, and from first to last. */
static bool is_whole(double number, double first, double last)
{
    return number >= first && number <= last && number == (double)(int64_t)number;
}

/* Whether a description names an interpolation, or a lens with all its numbers. */
static bool is_kind_of_field(const double *field)
{
    if (field[25] == BINDLESS_LENS)
        return field[24] == 2 && field[21] >= BINDLESS_LENS_NUMBERS / 2 && field[22] == 1 && field[23] == 1;
    return field[25] == BINDLESS_LINEAR || field[25] == BINDLESS_CUBIC;
}

/* Whether descriptions of fields, which commands before this one may have written, lead to vectors within the memory. */
static blr_result_t check_fields(const double *fields, int64_t count)
{
    for (int64_t first = 0;; first += BINDLESS_FIELD_NUMBERS) {
        const double *field = fields + first;
        double numbers = 2; /* of the vectors */
        bool is_good = count - first >= BINDLESS_FIELD_NUMBERS && is_whole(field[24], 1, 3) &&
                       is_kind_of_field(field) && is_whole(field[26], 0, (double)count);
        for (int d = 0; d < 3 && is_good; d++) {
            is_good = is_whole(field[21 + d], 1, INT32_MAX);
            numbers *= field[21 + d];
        }
        if (!is_good || !(field[26] + numbers <= (double)count))
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "the description of a field at number %" PRId64 " leads out of %" PRId64
                            " numbers, or has sizes, axes or an interpolation that fields lack", first, count);
        if (field[27] == 0.0)
            return BLR_RESULT_SUCCESS;
    }
}

static blr_result_t run(struct blr_command *command)
{
    struct resample_command *own = (struct resample_command *)command;
    struct blr_resample resample = own->resample; /* a batch runs the command again */
    const blr_resampling_t *picture = &resample.picture;
    const bool is_empty = picture->size[0] == 0 || picture->size[1] == 0 || picture->size[2] == 0;
    if (picture->coordinates != NULL && picture->coordinate_type == BLR_COORDINATE_FIELDS && !is_empty) {
        const blr_result_t result = check_fields(picture->coordinates, picture->coordinate_strides[0]);
        if (result != BLR_RESULT_SUCCESS)
            return result;
    }
    blr_resample_run(&resample);
    return BLR_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- checks */

static blr_result_t check_choice(const char *name, uint32_t value, uint32_t last, const char *choices)
{
    if (value <= last)
        return BLR_RESULT_SUCCESS;
    return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%s %u: %s is needed", name, value, choices);
}

static blr_result_t check_choices(const blr_resampling_t *picture)
{
    blr_result_t result = check_choice("interpolation", (uint32_t)picture->interpolation, BLR_INTERPOLATION_QUINTIC,
                                       "NEAREST (0) to QUINTIC (7)");
    if (result == BLR_RESULT_SUCCESS)
        result = check_choice("precision", (uint32_t)picture->precision, BLR_PRECISION_REPRODUCIBLE,
                              "HARDWARE (0) to REPRODUCIBLE (2)");
    for (int i = 0; i < 3 && result == BLR_RESULT_SUCCESS; i++)
        result = check_choice("boundary", (uint32_t)picture->boundary[i], BINDLESS_LAST_BOUNDARY,
                              "a value of blr_boundary_t");
    if (result == BLR_RESULT_SUCCESS)
        result = check_choice("rounding", (uint32_t)picture->rounding, BLR_ROUNDING_AWAY, "EVEN (0) or AWAY (1)");
    if (result == BLR_RESULT_SUCCESS)
        result = check_choice("coordinate type", (uint32_t)picture->coordinate_type, BLR_COORDINATE_FIELDS,
                              "F32 (0) to FIELDS (2)");
    if (result == BLR_RESULT_SUCCESS)
        result = check_choice("ignore_nan", picture->ignore_nan, 1, "0 or 1");
    if (result == BLR_RESULT_SUCCESS)
        result = check_choice("ties_to_even", picture->ties_to_even, 1, "0 or 1");
    if (result == BLR_RESULT_SUCCESS)
        result = check_choice("double_sums", picture->double_sums, 1, "0 or 1");
    if (result == BLR_RESULT_SUCCESS && picture->centre != 0.5 && picture->centre != 0.0)
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "centre %g: 0.5 or 0 is needed", picture->centre);
    return result;
}

static blr_result_t check_image(const blr_resampling_t *picture, const struct blr_texture *texture)
{
    const struct blr_format *format = texture->format;
    if (!texture->sampled)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "resampling through an unsampled handle: make one with a sampler");
    if (texture->desc.type == BLR_IMAGE_CUBEMAP)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "resampling of a cubemap: standard images, arrays and mipmaps have "
                                                     "positions in a plane or a volume");
    if (picture->layer >= (texture->desc.type == BLR_IMAGE_ARRAY ? texture->num_layers : 1))
        return blr_fail(BLR_RESULT_OUT_OF_RANGE, "layer %u: the image has %u, numbered from 0", picture->layer,
                        texture->desc.type == BLR_IMAGE_ARRAY ? texture->num_layers : 1);
    if (picture->precision == BLR_PRECISION_EXACT) {
        if (texture->swizzled)
            return blr_fail(BLR_RESULT_UNSUPPORTED, "exact resampling of a view with another order of channels: make a "
                                                    "handle of the image itself");
        if (picture->ignore_nan && format->class != BLR_CLASS_FLOAT)
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "ignore_nan for an image of %s: only floats may be no numbers",
                            format->name);
        if (picture->double_sums && format->class == BLR_CLASS_FLOAT)
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "double_sums for an image of %s: floats have sums of their own "
                                                         "precision", format->name);
        return BLR_RESULT_SUCCESS;
    }
    if (picture->ignore_nan || picture->ties_to_even || picture->double_sums)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "ignore_nan, ties_to_even or double_sums with precision %d: EXACT (1) is "
                                                     "needed", (int)picture->precision);
    if (picture->interpolation > BLR_INTERPOLATION_CUBIC)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "interpolation %d with precision %d: EXACT (1) is needed",
                        (int)picture->interpolation, (int)picture->precision);
    if (picture->interpolation == BLR_INTERPOLATION_CUBIC && !texture->linear)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "a cubic B-spline by a sampler with nearest filtering: it is a sum of "
                                                     "linear samples");
    if (picture->interpolation == BLR_INTERPOLATION_CUBIC &&
        (format->class == BLR_CLASS_SIGNED || format->class == BLR_CLASS_UNSIGNED))
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "a cubic B-spline of an image of %s: coefficients are floats", format->name);
    for (uint32_t i = 0; i < texture->dimensions; i++)
        if (!(picture->scale[i] != 0.0f))
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "scale %g of axis %u: positions are divided by it",
                            (double)picture->scale[i], i);
    return BLR_RESULT_SUCCESS;
}

static blr_result_t check_window(const blr_resampling_t *picture, const struct blr_texture *texture)
{
    for (int i = 0; i < 3; i++)
        if (picture->first[i] > (uint64_t)INT32_MAX)
            return blr_fail(BLR_RESULT_INVALID_SIZE, "first element %" PRIu64 " along axis %d: less than 2^31 is needed",
                            picture->first[i], i);
    if (picture->whole[0] == 0 && picture->whole[1] == 0 && picture->whole[2] == 0)
        return BLR_RESULT_SUCCESS;
    for (int i = 0; i < 3; i++) {
        const int64_t whole = (int64_t)picture->whole[i];
        if (picture->whole[i] == 0 || picture->whole[i] > (uint64_t)INT32_MAX)
            return blr_fail(BLR_RESULT_INVALID_SIZE, "window of %" PRIu64 " texels along axis %d: 1 to 2^31 - 1 are needed",
                            picture->whole[i], i);
        if (picture->origin[i] < -(int64_t)INT32_MAX || picture->origin[i] >= whole)
            return blr_fail(BLR_RESULT_OUT_OF_RANGE, "window at %" PRId64 " of %" PRId64 " texels along axis %d: more than "
                            "-2^31, and less than their number, is needed", picture->origin[i], whole, i);
    }
    if (picture->precision != BLR_PRECISION_EXACT && texture->desc.type == BLR_IMAGE_MIPMAP)
        return blr_fail(BLR_RESULT_UNSUPPORTED, "a window of a mipmap through a texture unit: make an image of one level");
    return BLR_RESULT_SUCCESS;
}

static blr_result_t check_values(const blr_resampling_t *picture, const struct blr_texture *texture, uint64_t *items)
{
    if (blr_element_size(picture->value_type) == 0)
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "value type %d: S8 (0) to F32 (7) is needed", (int)picture->value_type);
    if (picture->value_channels == 0 || picture->value_channels > texture->desc.num_channels)
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "value channels %u: 1 to the %u of the image are needed",
                        picture->value_channels, texture->desc.num_channels);
    *items = 1;
    for (int i = 0; i < 3; i++) {
        if (picture->size[i] > (uint64_t)INT32_MAX)
            return blr_fail(BLR_RESULT_INVALID_SIZE, "%" PRIu64 " elements along axis %d: less than 2^31 are needed",
                            picture->size[i], i);
        if (picture->size[i] != 0 && *items > ((uint64_t)1 << 59) / picture->size[i])
            return blr_fail(BLR_RESULT_INVALID_SIZE,
                            "%" PRIu64 " x %" PRIu64 " x %" PRIu64 " elements are more than memory has", picture->size[0],
                            picture->size[1], picture->size[2]);
        *items *= picture->size[i];
    }
    return BLR_RESULT_SUCCESS;
}

/* ---------------------------------------------------------------- memory */

static blr_result_t check_alignment(const char *name, const void *pointer, uint64_t size)
{
    if ((uintptr_t)pointer % size == 0)
        return BLR_RESULT_SUCCESS;
    return blr_fail(BLR_RESULT_INVALID_ARGUMENT,
                    "the array of %s at 0x%" PRIxPTR " is not aligned to its elements of %" PRIu64 " bytes", name,
                    (uintptr_t)pointer, size);
}

/* Registers the memory of fields. */
static blr_result_t use_fields(struct resample_command *own, struct blr_context *context)
{
    const blr_resampling_t *picture = &own->resample.picture;
    const int64_t count = picture->coordinate_strides[0];
    if (count < BINDLESS_FIELD_NUMBERS || count > INT64_MAX / 8)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "fields of %" PRId64 " numbers: a description alone has %d", count,
                        BINDLESS_FIELD_NUMBERS);
    const blr_result_t result = check_alignment("fields", picture->coordinates, sizeof(double));
    if (result != BLR_RESULT_SUCCESS)
        return result;
    return blr_memory_use(context, picture->coordinates, (uint64_t)count * sizeof(double), "fields", &own->coordinates[0]);
}

/* Registers the memory of each component of coordinates, from the least to the largest address of count items. */
static blr_result_t use_coordinates(struct resample_command *own, struct blr_context *context, uint64_t items,
                                    uint32_t dimensions)
{
    const blr_resampling_t *picture = &own->resample.picture;
    const uint64_t size = picture->coordinate_type == BLR_COORDINATE_F64 ? 8 : 4;
    const int64_t step = picture->coordinate_strides[0], component = picture->coordinate_strides[1];
    const uint64_t magnitude = step < 0 ? -(uint64_t)step : (uint64_t)step;
    if (magnitude != 0 && items - 1 > ((uint64_t)1 << 58) / magnitude)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "coordinate stride %" PRId64 " of %" PRIu64 " items: more than memory has",
                        step, items);
    const uint64_t span = magnitude * (items - 1) * size;
    blr_result_t result = check_alignment("coordinates", picture->coordinates, size);
    for (uint32_t i = 0; i < dimensions && result == BLR_RESULT_SUCCESS; i++) {
        const uintptr_t first = (uintptr_t)picture->coordinates + i * (uintptr_t)component * size;
        result = blr_memory_use(context, (const void *)(step < 0 ? first - span : first), span + size, "coordinates",
                                &own->coordinates[i]);
    }
    return result;
}

/* Registers the memory of texels that are not the image's. */
static blr_result_t use_texels(struct resample_command *own, struct blr_context *context)
{
    const blr_resampling_t *picture = &own->resample.picture;
    const struct blr_texture *texture = own->resample.texture;
    const struct blr_texture_level *level = &texture->level[0];
    if (picture->precision != BLR_PRECISION_EXACT || texture->desc.type != BLR_IMAGE_STANDARD || picture->whole[0] != 0)
        return blr_fail(BLR_RESULT_UNSUPPORTED, "texels from other memory than the image's, of a window, a texture unit, an "
                                                "array or a mipmap: the whole of a standard image is read, with EXACT (1)");
    const blr_result_t result =
        check_alignment("texels", picture->texels, texture->pixel_size / texture->desc.num_channels);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    return blr_memory_use(context, picture->texels,
                          (uint64_t)level->width * level->height * level->depth * texture->pixel_size, "texels",
                          &own->texels);
}

static blr_result_t use_arrays(struct resample_command *own, struct blr_context *context, uint64_t items)
{
    const blr_resampling_t *picture = &own->resample.picture;
    const uint64_t element = blr_element_size(picture->value_type);
    blr_result_t result = check_alignment("values", picture->values, element);
    if (result == BLR_RESULT_SUCCESS)
        result = blr_memory_use(context, picture->values, items * picture->value_channels * element, "values", &own->values);
    if (result == BLR_RESULT_SUCCESS && picture->coordinates != NULL && picture->coordinate_type == BLR_COORDINATE_FIELDS)
        result = use_fields(own, context);
    else if (result == BLR_RESULT_SUCCESS && picture->coordinates != NULL)
        result = use_coordinates(own, context, items, own->view->texture.dimensions);
    if (result == BLR_RESULT_SUCCESS && picture->texels != NULL)
        result = use_texels(own, context);
    return result;
}

static bool is_instant(const struct resample_command *own, uint64_t items)
{
    uint64_t texels = 1; /* of an element */
    for (uint32_t d = 0; d < own->resample.texture->dimensions; d++)
        texels *= bindless_taps(own->resample.picture.interpolation);
    return items <= INSTANT_TEXELS / texels;
}

static blr_result_t prepare(struct resample_command *own, struct blr_queue *queue)
{
    const blr_resampling_t *picture = &own->resample.picture;
    uint64_t items = 0;
    own->view = blr_image_view_acquire(picture->handle);
    if (own->view == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    if (own->view->context != queue->context)
        return blr_fail(BLR_RESULT_INVALID_HANDLE, "the image handle is of another context than the queue");
    own->resample.texture = &own->view->texture;
    blr_result_t result = check_choices(picture);
    if (result == BLR_RESULT_SUCCESS)
        result = check_image(picture, own->resample.texture);
    if (result == BLR_RESULT_SUCCESS)
        result = check_window(picture, own->resample.texture);
    if (result == BLR_RESULT_SUCCESS)
        result = check_values(picture, own->resample.texture, &items);
    if (result == BLR_RESULT_SUCCESS && items > 0)
        result = use_arrays(own, queue->context, items);
    own->command.is_repeatable = true;
    own->command.is_brief = items <= BRIEF_ITEMS;
    own->command.is_instant = is_instant(own, items);
    return result;
}

blr_result_t blrEnqueueResample(blr_queue_t handle, const blr_resampling_t *resampling, uint32_t num_waits,
                                const blr_event_t *waits, blr_event_t *event)
{
    struct blr_queue *queue = blr_queue_acquire(handle);
    if (queue == NULL)
        return BLR_RESULT_INVALID_HANDLE;
    blr_result_t result = BLR_RESULT_OUT_OF_MEMORY;
    struct resample_command *own;
    if (resampling == NULL) {
        result = blr_fail(BLR_RESULT_INVALID_ARGUMENT, "resampling is NULL: a description of the picture is needed");
    } else if ((own = blr_command_new(sizeof *own, run, release)) != NULL) {
        own->resample.picture = *resampling;
        result = prepare(own, queue);
        if (result == BLR_RESULT_SUCCESS)
            result = blr_submit(queue, &own->command, num_waits, waits, event);
        else
            blr_command_discard(&own->command);
    }
    blr_queue_release(queue);
    return result;
}
