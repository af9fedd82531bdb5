/* Samplers: what a kernel is given is the number by which the executor knows a sampler, all of its state in it. */
#ifndef BLZ_SAMPLER_H
#define BLZ_SAMPLER_H

#include "context.h"

struct blz_sampler {
    struct blr_object object;
    struct blz_context *context; /* retained */
    uint64_t number;
};

/* Checks a descriptor, stype and chain apart. */
ze_result_t blz_sampler_check(const ze_sampler_desc_t *desc);

/* What the reference driver makes of one that has been checked. */
blr_sampler_desc_t blz_sampler_translate(const ze_sampler_desc_t *desc);

#endif
