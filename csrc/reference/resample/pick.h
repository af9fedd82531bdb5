/* Registers of elements that are picked from a register of texels next to each other, of floats and of doubles: VECTOR
 * elements, 0 where the instruction set has no such register. Included by resample_part.c for each REAL.
 *
 * The order of a register has the bits that its instruction reads. */

#if defined(__AVX512F__)
#define PICK_BYTES 64
#elif defined(__AVX2__)
#define PICK_BYTES 32
#else
#define PICK_BYTES 0
#endif
#define VECTOR (PICK_BYTES / (uint32_t)sizeof(REAL))
#define WORDS ((uint32_t)sizeof(REAL) / 4u)  /* 32-bit words of an element, and of its order */

#if PICK_BYTES
typedef REAL NAME(vector) __attribute__((vector_size(PICK_BYTES), aligned(sizeof(REAL)), may_alias));

/* The order of an element that is texel number place of a register. */
INLINE void NAME(set_order)(int32_t place, int32_t *order)
{
#if PICK_BYTES == 32
    for (int32_t word = 0; word < (int32_t)WORDS; word++)
        order[word] = place * (int32_t)WORDS + word;
#else
    order[WORDS - 1] = 0;
    order[0] = place;
#endif
}

/* The elements of an order, from texels on. Arguments are pointers, because not every processor returns registers. */
INLINE void NAME(pick)(const REAL *texels, const int32_t *order, NAME(vector) *elements)
{
#if PICK_BYTES == 32
    const __m256i all = _mm256_loadu_si256((const __m256i *)(const void *)texels);
    *elements = (NAME(vector))_mm256_permutevar8x32_epi32(all, _mm256_load_si256((const __m256i *)(const void *)order));
#else
    const __m512i all = _mm512_loadu_si512(texels), places = _mm512_load_si512(order);
    *elements = sizeof(REAL) == sizeof(float) ? (NAME(vector))_mm512_permutexvar_epi32(places, all)
                                              : (NAME(vector))_mm512_permutexvar_epi64(places, all);
#endif
}
#endif
