/* Dispatch of calls: to blocks where processor and texture support them, else item by item. */
#include "sampler/simd/block.h"

#include "platform/cpu_features.h"

enum blr_vectors blr_vectors_of(const struct blr_texture *texture)
{
#if BLR_HAS_X86_BLOCKS
    if (texture->flags & BLR_TEXTURE_NO_VECTORS)
        return BLR_VECTORS_NONE;
    if (!blr_processor_has_avx2())
        return BLR_VECTORS_NONE;
    if (!(texture->flags & BLR_TEXTURE_NO_AVX512) && blr_processor_has_avx512())
        return BLR_VECTORS_AVX512;
    return BLR_VECTORS_AVX2;
#elif BLR_HAS_NEON_BLOCKS
    return texture->flags & BLR_TEXTURE_NO_VECTORS ? BLR_VECTORS_NONE : BLR_VECTORS_NEON;
#else
    (void)texture;
    return BLR_VECTORS_NONE;
#endif
}

/* Runs the function of the texture's instruction set; false where none exists. */
#if BLR_HAS_X86_BLOCKS
#define IN_BLOCKS(name, texture, ...)                                                                     \
    switch (blr_vectors_of(texture)) {                                                                    \
    case BLR_VECTORS_AVX512:                                                                              \
        return name##_avx512(texture, __VA_ARGS__);                                                       \
    case BLR_VECTORS_AVX2:                                                                                \
        return name##_avx2(texture, __VA_ARGS__);                                                         \
    default:                                                                                              \
        return false;                                                                                     \
    }
#elif BLR_HAS_NEON_BLOCKS
#define IN_BLOCKS(name, texture, ...) \
    return blr_vectors_of(texture) == BLR_VECTORS_NEON && name##_neon(texture, __VA_ARGS__)
#else
static bool no_blocks(const struct blr_texture *texture, ...)
{
    (void)texture;
    return false;
}
#define IN_BLOCKS(name, ...) return no_blocks(__VA_ARGS__)
#endif

static bool sample_blocks(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end)
{
    IN_BLOCKS(blr_sample_blocks, texture, call, begin, end);
}

bool blr_fetch_blocks(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                      struct blr_fault *fault)
{
    IN_BLOCKS(blr_fetch_blocks, texture, call, begin, end, fault);
}

bool blr_write_blocks(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end,
                      struct blr_fault *fault)
{
    IN_BLOCKS(blr_write_blocks, texture, call, begin, end, fault);
}

void blr_sample_items(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin, uint64_t end)
{
    if (sample_blocks(texture, call, begin, end))
        return;
    for (uint64_t index = begin; index < end; index++)
        blr_sample_item(texture, call, index);
}
