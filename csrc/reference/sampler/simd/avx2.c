/* Block sampler compiled for AVX2, FMA and F16C. */
#include "sampler/simd/block.h"

#if BLR_HAS_X86_BLOCKS

#include "sampler/simd/filter_float_avx2.h"
#include "sampler/simd/filter_integer_avx2.h"

#define BLEND_FP32(block, out, stream, channels, several, rows) \
    blend_floats(block, out, stream, false, channels, several, rows)
#define BLEND_FP16(block, out, stream, channels, several, rows) \
    blend_floats(block, out, stream, true, channels, several, rows)
#define BLEND_BYTES blend_bytes
#define ADD_TAPS_FP32(block, totals, channels) add_taps_of_floats(block, totals, false, channels)
#define END_TAPS_FP32(totals, lanes, out) end_taps_of_floats(totals, lanes, out, false)
#include "sampler/simd/texel_kinds.h"
#include "sampler/simd/fetch_write.h"
#include "sampler/simd/run_call.h"

#define BLR_MAP_NAME blr_map_rows_avx2
#include "texture/projective_map_rows.h"

bool blr_sample_blocks_avx2(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end)
{
    struct plan plan;
    if (!make_plan(texture, call, &plan))
        return false;
    run_plan(&plan, begin, end);
    _mm_sfence();                         /* orders the non-temporal stores */
    return true;
}

bool blr_fetch_blocks_avx2(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                            struct blr_fault *fault)
{
    const bool done = fetch_blocks(texture, call, begin, end, fault);
    _mm_sfence();
    return done;
}

bool blr_write_blocks_avx2(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                            struct blr_fault *fault)
{
    return write_blocks(texture, call, begin, end, fault);
}

#endif
