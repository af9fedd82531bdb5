/* Block sampler compiled for AVX-512 (F, DQ, BW, VL). */
#include "sampler/simd/block.h"

#if BLR_HAS_X86_BLOCKS

#include "sampler/simd/filter_unorm8_avx512.h"
#include "sampler/simd/filter_half_avx512.h"
#include "sampler/simd/filter_fp32_avx512.h"

/* With two channels, spreading the weights costs more than single precision saves. */
#define BLEND_FP32(block, out, stream, channels, several, rows)                                 \
    ((several) || (channels) == 2 ? blend_wide(block, out, stream, channels, several, rows)     \
                                  : blend_wide_ones(block, out, stream, channels, rows))
#define BLEND_FP16(block, out, stream, channels, several, rows)                     \
    ((several) ? blend_floats(block, out, stream, true, channels, true, rows)       \
               : blend_wide_half(block, out, stream, channels, rows))
#define BLEND_BYTES(block, out, stream, channels, several, rows)           \
    ((channels) == 4 ? blend_wide_bytes(block, out, stream, 4, several, rows, false) \
                     : blend_bytes(block, out, stream, channels, several, rows))
#define BLEND_TO_BYTES(block, out, stream, channels, several, rows) \
    blend_wide_bytes(block, out, stream, channels, several, rows, true)
#define ADD_TAPS_FP32 add_wide_taps
#define END_TAPS_FP32 end_wide_taps
#include "sampler/simd/texel_kinds.h"
#include "sampler/simd/fetch_write.h"
#include "sampler/simd/run_call.h"

#define BLR_MAP_NAME blr_map_rows_avx512
#include "texture/projective_map_rows.h"
#include "texture/blend_floats_avx512.h"

bool blr_sample_blocks_avx512(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end)
{
    struct plan plan;
    if (!make_plan(texture, call, &plan))
        return false;
    run_plan(&plan, begin, end);
    _mm_sfence();                         /* orders the non-temporal stores */
    return true;
}

bool blr_fetch_blocks_avx512(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                            struct blr_fault *fault)
{
    const bool done = fetch_blocks(texture, call, begin, end, fault);
    _mm_sfence();
    return done;
}

bool blr_write_blocks_avx512(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                            struct blr_fault *fault)
{
    return write_blocks(texture, call, begin, end, fault);
}

#endif
