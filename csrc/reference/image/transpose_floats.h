/* Floats of four rows as four columns. */
#ifndef BINDLESS_REFERENCE_IMAGE_TRANSPOSE_FLOATS_H
#define BINDLESS_REFERENCE_IMAGE_TRANSPOSE_FLOATS_H

#include <stdint.h>
#include <string.h>

typedef float blr_lane_4 __attribute__((vector_size(16)));

#if defined(__clang__)
#define BLR_SHUFFLE_4(A, B, I, J, K, L) __builtin_shufflevector(A, B, I, J, K, L)
#else
typedef int32_t blr_order_4 __attribute__((vector_size(16)));
#define BLR_SHUFFLE_4(A, B, I, J, K, L) __builtin_shuffle(A, B, (blr_order_4){I, J, K, L})
#endif

/* Reads four floats at each of the addresses in from, and stores their columns at those in to. */
static inline void blr_transpose_4(const float *const from[4], float *const to[4])
{
    blr_lane_4 row[4];
    for (int i = 0; i < 4; i++)
        memcpy(&row[i], from[i], sizeof row[i]);
    const blr_lane_4 a = BLR_SHUFFLE_4(row[0], row[1], 0, 4, 1, 5), b = BLR_SHUFFLE_4(row[2], row[3], 0, 4, 1, 5);
    const blr_lane_4 c = BLR_SHUFFLE_4(row[0], row[1], 2, 6, 3, 7), d = BLR_SHUFFLE_4(row[2], row[3], 2, 6, 3, 7);
    row[0] = BLR_SHUFFLE_4(a, b, 0, 1, 4, 5);
    row[1] = BLR_SHUFFLE_4(a, b, 2, 3, 6, 7);
    row[2] = BLR_SHUFFLE_4(c, d, 0, 1, 4, 5);
    row[3] = BLR_SHUFFLE_4(c, d, 2, 3, 6, 7);
    for (int i = 0; i < 4; i++)
        memcpy(to[i], &row[i], sizeof row[i]);
}

#endif
