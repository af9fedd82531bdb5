/* Block sampler compiled for NEON, which every 64-bit ARM processor has. */
#include "sampler/simd/block.h"

#if BLR_HAS_NEON_BLOCKS

#include "sampler/simd/filter_float_neon.h"
#include "sampler/simd/filter_integer_neon.h"

#define BLEND_FP32(block, out, stream, channels, several, boxes) \
    blend_floats(block, out, stream, false, channels, several, boxes)
#define BLEND_FP16(block, out, stream, channels, several, boxes) \
    blend_floats(block, out, stream, true, channels, several, boxes)
#define BLEND_BYTES(block, out, stream, channels, several, boxes) blend_bytes(block, out, stream, channels, boxes)
#define ADD_TAPS_FP32(block, totals, channels) add_taps_of_floats(block, totals, false, channels)
#define END_TAPS_FP32(totals, lanes, out) end_taps_of_floats(totals, lanes, out, false)
#include "sampler/simd/texel_kinds.h"
#include "sampler/simd/fetch_write.h"
#include "sampler/simd/run_call.h"

bool blr_sample_blocks_neon(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end)
{
    struct plan plan;
    if (!make_plan(texture, call, &plan))
        return false;
    run_plan(&plan, begin, end);
    return true;
}

bool blr_fetch_blocks_neon(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                           struct blr_fault *fault)
{
    return fetch_blocks(texture, call, begin, end, fault);
}

bool blr_write_blocks_neon(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                           struct blr_fault *fault)
{
    return write_blocks(texture, call, begin, end, fault);
}

#endif
