/* Samplers: a kernel receives a number that encodes the whole state of a sampler. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_IMAGE_SAMPLER_H
#define BINDLESS_LEVEL_ZERO_DRIVER_IMAGE_SAMPLER_H

#include "level_zero_driver/driver/context.h"

struct blz_sampler {
    struct blr_object object;
    struct blz_context *context; /* retained */
    uint64_t number;
};

/* Checks a descriptor except its stype and chain. */
ze_result_t blz_sampler_check(const ze_sampler_desc_t *desc);

/* Converts a checked descriptor to the reference driver's. */
blr_sampler_desc_t blz_sampler_translate(const ze_sampler_desc_t *desc);

#endif
