/* Levels of pyramids: a part of the reference driver's API, bindless/reference.h. */
#ifndef BINDLESS_REFERENCE_PYRAMIDS_H
#define BINDLESS_REFERENCE_PYRAMIDS_H

#include "bindless/reference.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum blr_pyramid_direction {
    BLR_PYRAMID_DOWN = 0,                 /* the next level, of half the size */
    BLR_PYRAMID_UP = 1                    /* the level before, of twice the size */
} blr_pyramid_direction_t;

/*
 * A level of a Gaussian pyramid of pixels in memory, whose rows are packed: weights (1, 4, 6, 4, 1) / 16 along both axes at
 * every second pixel, or / 8 of pixels with zeros between them. Both are means of neighbours in single precision: DOWN four
 * times, UP of linear samples a quarter of a pixel beside the pixels. Codes are rounded to nearest, ties away from zero.
 * Source and destination do not overlap.
 */
typedef struct blr_pyramid {
    const void *source;
    void *destination;
    uint64_t extent[2];                   /* pixels of the source along x and y */
    uint64_t size[2];                     /* of the destination: UP at most twice the source's and one, DOWN half to a pixel */
    blr_pyramid_direction_t direction;
    blr_element_type_t element;           /* U8, S16, U16 or F32 */
    uint32_t channels;                    /* 1 to 4 */
    blr_boundary_t boundary[2];           /* along x and y: EDGE, MIRRORED_REPEAT, or of DOWN REPEAT or MIRROR; UP, of the samples */
} blr_pyramid_t;

/* Computes the level at once: returns when it is complete. */
BLR_API blr_result_t blrPyramidLevel(const blr_pyramid_t *pyramid);

#ifdef __cplusplus
}
#endif

#endif
