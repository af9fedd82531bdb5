/* Samples of a part and their derivatives. Compiled for each instruction set; results are bit-identical. */
#include "gradients/gradients.h"

#include "spirv/half.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) || defined(__clang__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

#if defined(__GNUC__) && !defined(__clang__)
#define UNROLLED _Pragma("GCC unroll 8")
#else
#define UNROLLED
#endif

#define BLOCK BLR_GRADIENT_BLOCK
#define CHUNK 32u
#define LANES 8u                          /* sums of a row of channels, so that vectors add in a fixed order */

#define REAL float
#define FLOOR floorf
#define FABS fabsf
#define MOST FLT_MAX
#define HALF_OF(value) blr_lane_to_half(value)

#define TEXEL float
#define DECODE(texel) (texel)
#define ENCODE(value) ((float)(value))
#define OFFSET int32_t
#define SKIPPED INT32_MIN                 /* offset of a tap that adds nothing */
#define NAME(name) name##_float
#define FREQUENT
#include "gradients/typed.h"
#undef FREQUENT

#define TEXEL float
#define DECODE(texel) (texel)
#define ENCODE(value) ((float)(value))
#define OFFSET int64_t
#define SKIPPED INT64_MIN
#define NAME(name) name##_far_float       /* arrays with offsets of more than 31 bits */
#include "gradients/typed.h"

#define TEXEL uint16_t
#define DECODE(texel) blr_lane_from_half(texel)
#define ENCODE(value) blr_lane_to_half_from_double(value)
#define OFFSET int64_t
#define SKIPPED INT64_MIN
#define NAME(name) name##_half
#include "gradients/typed.h"

#define NAME(name) name##_float
#include "gradients/slabs.h"
#undef NAME

#undef REAL
#undef FLOOR
#undef FABS
#undef MOST
#undef HALF_OF
#define REAL double
#define FLOOR floor
#define FABS fabs
#define MOST DBL_MAX
#define HALF_OF(value) blr_lane_to_half_from_double(value)

#define TEXEL double
#define DECODE(texel) (texel)
#define ENCODE(value) (value)
#define OFFSET int64_t
#define SKIPPED INT64_MIN
#define NAME(name) name##_double
#include "gradients/typed.h"
#define NAME(name) name##_double
#include "gradients/slabs.h"

/* Whether offsets in an array of texels have 32 bits. */
static bool is_near(const blr_gradients_t *call, const blr_gradient_level_t *level, const blr_strided_t *array)
{
    const int64_t counts[3] = {level->size[0], level->size[1], call->cubemap ? 6 : level->size[2]};
    int64_t reach = 0;
    for (int d = 0; d < 3; d++) {
        const int64_t stride = array->strides[1 + d] < 0 ? -array->strides[1 + d] : array->strides[1 + d];
        if (stride > INT32_MAX || stride * (counts[d] - 1) > INT32_MAX)
            return false;
        reach += stride * (counts[d] - 1);
    }
    return reach <= INT32_MAX;
}

static bool are_near(const blr_gradients_t *call)
{
    for (uint32_t i = 0; i < call->num_levels; i++) {
        const blr_gradient_level_t *level = &call->levels[i];
        if (!is_near(call, level, &level->texels) || !is_near(call, level, &level->cotangents) ||
            !is_near(call, level, &level->gradients))
            return false;
    }
    return true;
}

static void run(const blr_gradients_t *call, const struct blr_gradient_part *part)
{
    if (call->texel_type == BLR_NUMBER_F64)
        run_double(call, part);
    else if (call->texel_type == BLR_NUMBER_F16)
        run_half(call, part);
    else if (are_near(call))
        run_float(call, part);
    else
        run_far_float(call, part);
}

static uint64_t find_slabs(const blr_gradients_t *call, const struct blr_gradient_part *part)
{
    return call->texel_type == BLR_NUMBER_F64 ? find_slabs_double(call, part) : find_slabs_float(call, part);
}

const struct blr_gradient_set blr_gradient_set = {run, find_slabs};
