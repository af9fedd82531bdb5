/* Use of an image by an instruction. */
#ifndef BINDLESS_REFERENCE_SPIRV_EXECUTE_IMAGE_H
#define BINDLESS_REFERENCE_SPIRV_EXECUTE_IMAGE_H

#include "spirv/execute/interpreter.h"

enum blr_spirv_query {
    BLR_QUERY_NONE,
    BLR_QUERY_SIZE,
    BLR_QUERY_SIZE_LOD,
    BLR_QUERY_LEVELS,
    BLR_QUERY_FORMAT,
    BLR_QUERY_ORDER
};

struct blr_spirv_image_use {
    blr_image_operation_t operation;
    enum blr_spirv_query query;
    uint32_t dimensions;
    bool arrayed;
    bool cube;           /* sampled by a direction of three components */
    bool depths;         /* texels are scalars (depth image) */
    bool plain;          /* as CUDA has images: pixels without sampler move as bits, and a 1D image is a 2D one of one row */
    bool float_coordinates;
    bool samples;        /* in[0] contains a sampler, or 0, after the image */
    bool gathers;        /* gather: one channel of the four texels of a linear sample; in[2]: the channel */
    bool floats;         /* texel type in the kernel */
    uint8_t size;        /* bytes of each of its elements */
    uint32_t components; /* components of the result */
};

/* in[0]: handles, in[1]: coordinates; in[2]: level, first gradient or texel; in[3]: second gradient. */
void blr_spirv_run_image(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);
void blr_spirv_run_image_query(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, unsigned char *result);

#endif
