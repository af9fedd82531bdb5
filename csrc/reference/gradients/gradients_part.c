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

#define BLOCK BLR_GRADIENT_BLOCK
#define CHUNK 32u
#define SKIPPED INT64_MIN                 /* offset of a tap that adds nothing */
#define LANES 8u                          /* sums of a row of channels, so that vectors add in a fixed order */

#define REAL float
#define FLOOR floorf
#define FABS fabsf
#define MOST FLT_MAX
#define HALF_OF(value) blr_lane_to_half(value)

#define TEXEL float
#define DECODE(texel) (texel)
#define ENCODE(value) ((float)(value))
#define NAME(name) name##_float
#include "gradients/typed.h"
#undef NAME
#undef TEXEL
#undef DECODE
#undef ENCODE

#define TEXEL uint16_t
#define DECODE(texel) blr_lane_from_half(texel)
#define ENCODE(value) blr_lane_to_half_from_double(value)
#define NAME(name) name##_half
#include "gradients/typed.h"
#undef NAME
#undef TEXEL
#undef DECODE
#undef ENCODE

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
#define NAME(name) name##_double
#include "gradients/typed.h"

static void run(const blr_gradients_t *call, const struct blr_gradient_part *part)
{
    if (call->texel_type == BLR_NUMBER_F64)
        run_double(call, part);
    else if (call->texel_type == BLR_NUMBER_F32)
        run_float(call, part);
    else
        run_half(call, part);
}

static uint64_t find_slabs(const blr_gradients_t *call, const struct blr_gradient_part *part)
{
    if (call->texel_type == BLR_NUMBER_F64)
        return find_slabs_double(call, part);
    return call->texel_type == BLR_NUMBER_F32 ? find_slabs_float(call, part) : find_slabs_half(call, part);
}

const struct blr_gradient_set blr_gradient_set = {run, find_slabs};
