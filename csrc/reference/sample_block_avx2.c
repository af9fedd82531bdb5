/* Block sampler compiled for AVX2, FMA and F16C. */
#include "sample_block.h"

#if BLR_HAS_X86_BLOCKS

#include "sample_block_blend_avx2.h"
#include "sample_block_codes_avx2.h"

#define BLEND_FP32(block, out, stream, channels, several, rows) \
    blend_floats(block, out, stream, false, channels, several, rows)
#define BLEND_FP16(block, out, stream, channels, several, rows) \
    blend_floats(block, out, stream, true, channels, several, rows)
#define BLEND_BYTES blend_bytes
#define ADD_TAPS_FP32(block, totals, channels) add_taps_of_floats(block, totals, false, channels)
#define END_TAPS_FP32(totals, lanes, out) end_taps_of_floats(totals, lanes, out, false)
#include "sample_block_kinds.h"
#include "sample_block_pixels.h"
#include "sample_block_run.h"

#define BLR_MAP_NAME blr_map_rows_avx2
#include "texture_map_rows.h"

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
