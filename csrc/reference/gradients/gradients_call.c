/* blrSampleGradients: checks of its arguments. */
#include "gradients/gradients.h"

#include "runtime/result.h"

#include <inttypes.h>

static blr_result_t check_choice(const char *name, uint32_t value, uint32_t last, const char *choices)
{
    if (value <= last)
        return BLR_RESULT_SUCCESS;
    return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%s %u: %s is needed", name, value, choices);
}

static blr_result_t check_choices(const blr_gradients_t *call)
{
    blr_result_t result = check_choice("operation", (uint32_t)call->operation, BLR_GRADIENT_BACKWARD_BACKWARD,
                                       "FORWARD (0) to BACKWARD_BACKWARD (2)");
    if (result == BLR_RESULT_SUCCESS)
        result = check_choice("interpolation", (uint32_t)call->interpolation,
                              call->cubemap ? BLR_INTERPOLATION_LINEAR : BLR_INTERPOLATION_BICUBIC,
                              call->cubemap ? "NEAREST (0) or LINEAR (1), for a cubemap," : "NEAREST (0) to BICUBIC (4)");
    if (result == BLR_RESULT_SUCCESS)
        result = check_choice("between", (uint32_t)call->between, BLR_BETWEEN_LINEAR, "NONE (0) to LINEAR (2)");
    if (result == BLR_RESULT_SUCCESS)
        result = check_choice("texel_type", (uint32_t)call->texel_type, BLR_NUMBER_F64, "F16 (0) to F64 (2)");
    if (result == BLR_RESULT_SUCCESS)
        result = check_choice("value_type", (uint32_t)call->value_type, BLR_NUMBER_F64, "F16 (0) to F64 (2)");
    for (int d = 0; d < 3 && result == BLR_RESULT_SUCCESS; d++) {
        result = check_choice("boundary", (uint32_t)call->boundary[d], BINDLESS_LAST_BOUNDARY, "a value of blr_boundary_t");
        if (result == BLR_RESULT_SUCCESS && !bindless_has_slopes(call->boundary[d]))
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "boundary %s has no gradients: take %s",
                            call->boundary[d] == BLR_BOUNDARY_CONSTANT ? "CONSTANT" : "WRAP",
                            call->boundary[d] == BLR_BOUNDARY_CONSTANT ? "BORDER" : "REPEAT");
    }
    return result;
}

static blr_result_t check_level(const blr_gradients_t *call, uint32_t number)
{
    const blr_gradient_level_t *level = &call->levels[number], *first = &call->levels[0];
    for (uint32_t d = 0; d < 3; d++) {
        const bool is_axis = d < call->dimensions;
        if (level->size[d] == 0 || level->size[d] > INT32_MAX || (!is_axis && level->size[d] != 1))
            return blr_fail(BLR_RESULT_INVALID_SIZE, "level %u: size %u along axis %u of a texture of %u dimensions", number,
                            level->size[d], d, call->dimensions);
    }
    if (call->cubemap && level->size[0] != level->size[1])
        return blr_fail(BLR_RESULT_INVALID_SIZE, "level %u: faces of %u x %u texels; they must be square", number,
                        level->size[0], level->size[1]);
    if (level->texels.first == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "level %u: texels are NULL", number);
    if ((level->gradients.first == NULL) != (first->gradients.first == NULL) ||
        (level->cotangents.first == NULL) != (first->cotangents.first == NULL))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "level %u: gradients or cotangents are NULL in some levels", number);
    if (call->textures > 1 && (level->gradients.strides[4] == 0) != (first->gradients.strides[4] == 0))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "level %u: textures share gradients in some levels", number);
    return BLR_RESULT_SUCCESS;
}

static blr_result_t check(const blr_gradients_t *call)
{
    blr_result_t result = check_choices(call);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    if (call->dimensions < 1 || call->dimensions > 3 || call->cubemap > 1 || (call->cubemap && call->dimensions != 2))
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%u dimensions, cubemap %u: 1 to 3, or 2 of a cubemap, are needed",
                        call->dimensions, call->cubemap);
    if (call->num_levels < 1 || call->num_levels > BLR_MAX_MIP_LEVELS)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "%u levels: 1 to %d are needed", call->num_levels, BLR_MAX_MIP_LEVELS);
    for (uint32_t level = 0; level < call->num_levels; level++)
        if ((result = check_level(call, level)) != BLR_RESULT_SUCCESS)
            return result;
    const bool is_forward = call->operation == BLR_GRADIENT_FORWARD;
    if (call->coordinates.first == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "coordinates are NULL");
    if (is_forward ? call->values.first == NULL : call->grad_values.first == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%s are NULL", is_forward ? "values" : "gradients of values");
    if (call->samples > (uint64_t)1 << 48 || call->textures > (uint64_t)1 << 32)
        return blr_fail(BLR_RESULT_INVALID_SIZE, "%" PRIu64 " samples of %" PRIu64 " textures are too many", call->samples,
                        call->textures);
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrSampleGradients(const blr_gradients_t *gradients)
{
    if (gradients == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "gradients is NULL: a description of the call is needed");
    if (gradients->samples == 0 || gradients->textures == 0 || gradients->channels == 0)
        return gradients->samples == 0 || gradients->textures == 0 ? BLR_RESULT_SUCCESS
                                                                   : blr_fail(BLR_RESULT_INVALID_SIZE, "0 channels");
    const blr_result_t result = check(gradients);
    return result == BLR_RESULT_SUCCESS ? blr_gradients_run(gradients) : result;
}
