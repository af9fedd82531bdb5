/* Levels of pyramids: checks, choice of the instruction set, and distribution of rows among threads. */
#include "image/pyramid.h"

#include "platform/cpu_features.h"
#include "platform/thread_pool.h"

#include <inttypes.h>

/* Least values of the source of a thread's part, which reads up to four rows of its neighbours. */
#define LEAST_PART ((uint64_t)128 << 10)
#define LEAST_ROWS 16u

#if BLR_HAS_VECTOR_SETS
void blr_pyramid_rows_avx2(const blr_pyramid_t *pyramid, uint64_t begin, uint64_t end);
void blr_pyramid_rows_avx512(const blr_pyramid_t *pyramid, uint64_t begin, uint64_t end);
#endif

typedef void (*rows_t)(const blr_pyramid_t *pyramid, uint64_t begin, uint64_t end);

static rows_t best_rows(void)
{
#if BLR_HAS_VECTOR_SETS
    if (blr_processor_has_avx2())
        return blr_processor_has_avx512() ? blr_pyramid_rows_avx512 : blr_pyramid_rows_avx2;
#endif
    return blr_pyramid_rows;
}

static bool run_part(void *argument, uint64_t begin, uint64_t end)
{
    best_rows()(argument, begin, end);
    return true;
}

/* Whether a level's size along an axis is half the source's, or twice it, to a pixel or two. */
static bool is_level(const blr_pyramid_t *pyramid, int axis)
{
    const uint64_t small = 2 * pyramid->size[axis], extent = pyramid->extent[axis];
    if (pyramid->extent[axis] == 0 || extent > INT32_MAX / 2 || pyramid->size[axis] == 0)
        return false;
    return pyramid->direction == BLR_PYRAMID_DOWN ? small <= extent + 2 && extent <= small + 2
                                                  : pyramid->size[axis] <= 2 * extent + 1;
}

static blr_result_t check(const blr_pyramid_t *pyramid)
{
    if (pyramid == NULL || pyramid->source == NULL || pyramid->destination == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "%s NULL: a level is made of pixels, and stored",
                        pyramid == NULL ? "pyramid is" : pyramid->source == NULL ? "source is" : "destination is");
    if (pyramid->channels < 1 || pyramid->channels > 4)
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "%u channels: 1 to 4 are needed", pyramid->channels);
    if (pyramid->element != BLR_ELEMENT_U8 && pyramid->element != BLR_ELEMENT_S16 && pyramid->element != BLR_ELEMENT_U16 &&
        pyramid->element != BLR_ELEMENT_F32)
        return blr_fail(BLR_RESULT_INVALID_FORMAT, "element type %d: U8, S16, U16 or F32 is needed", (int)pyramid->element);
    if (pyramid->direction > BLR_PYRAMID_UP)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "direction %d: DOWN (0) or UP (1) is needed", (int)pyramid->direction);
    for (int axis = 0; axis < 2; axis++) {
        const blr_boundary_t boundary = pyramid->boundary[axis];
        const bool repeats = boundary == BLR_BOUNDARY_MIRROR || boundary == BLR_BOUNDARY_REPEAT;
        if (boundary != BLR_BOUNDARY_EDGE && boundary != BLR_BOUNDARY_MIRRORED_REPEAT &&
            (!repeats || pyramid->direction == BLR_PYRAMID_UP))
            return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "boundary %d: EDGE or MIRRORED_REPEAT is needed, or of DOWN MIRROR or "
                            "REPEAT", (int)boundary);
        if (!is_level(pyramid, axis))
            return blr_fail(BLR_RESULT_INVALID_SIZE, "size %" PRIu64 " of a level next to one of %" PRIu64
                            ": half or twice is needed", pyramid->size[axis], pyramid->extent[axis]);
    }
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrPyramidLevel(const blr_pyramid_t *pyramid)
{
    const blr_result_t result = check(pyramid);
    if (result != BLR_RESULT_SUCCESS)
        return result;
    blr_pyramid_t own = *pyramid;
    const uint64_t rows = own.size[1], of_row = own.extent[0] * own.extent[1] / rows * own.channels;
    blr_parallel_for(rows, blr_parallel_grain(rows, LEAST_ROWS + LEAST_PART / (of_row + 1)), run_part, &own);
    return BLR_RESULT_SUCCESS;
}
