/*
 * Copies with non-temporal stores: destination lines are not read first, and the cache contents stay. blr_stream_end
 * makes the stores visible to other threads. Also copies through the caches by plain moves, faster than memcpy where
 * that uses a slow string instruction.
 */
#ifndef BINDLESS_REFERENCE_MEMORY_STREAMING_STORE_H
#define BINDLESS_REFERENCE_MEMORY_STREAMING_STORE_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>

static inline void blr_stream_bytes(unsigned char *destination, const unsigned char *source, uint64_t size)
{
    uint64_t head = (16 - (uintptr_t)destination % 16) % 16;
    if (head > size)
        head = size;
    memcpy(destination, source, head);
    destination += head;
    source += head;
    size -= head;
    for (; size >= 64; size -= 64, source += 64, destination += 64) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)source);
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(source + 16));
        __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(source + 32));
        __m128i d = _mm_loadu_si128((const __m128i *)(const void *)(source + 48));
        _mm_stream_si128((__m128i *)(void *)destination, a);
        _mm_stream_si128((__m128i *)(void *)(destination + 16), b);
        _mm_stream_si128((__m128i *)(void *)(destination + 32), c);
        _mm_stream_si128((__m128i *)(void *)(destination + 48), d);
    }
    memcpy(destination, source, size);
}

static inline void blr_stream_end(void) { _mm_sfence(); }

static inline void blr_move_bytes(unsigned char *destination, const unsigned char *source, uint64_t size)
{
    for (; size >= 64; size -= 64, source += 64, destination += 64) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)source);
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(source + 16));
        __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(source + 32));
        __m128i d = _mm_loadu_si128((const __m128i *)(const void *)(source + 48));
        _mm_storeu_si128((__m128i *)(void *)destination, a);
        _mm_storeu_si128((__m128i *)(void *)(destination + 16), b);
        _mm_storeu_si128((__m128i *)(void *)(destination + 32), c);
        _mm_storeu_si128((__m128i *)(void *)(destination + 48), d);
    }
    memcpy(destination, source, size);
}
#else
static inline void blr_move_bytes(unsigned char *destination, const unsigned char *source, uint64_t size)
{
    memcpy(destination, source, size);
}

static inline void blr_stream_bytes(unsigned char *destination, const unsigned char *source, uint64_t size)
{
    memcpy(destination, source, size);
}

static inline void blr_stream_end(void) {}
#endif

#endif
