/* Samplers: which ones the device has. */
#ifndef BLR_IMAGE_SAMPLER_H
#define BLR_IMAGE_SAMPLER_H

#include "result.h"

/* Whether images of this description can be sampled so. *effective receives what the device uses: the anisotropy
 * within its limit. */
blr_result_t blr_sampler_check(const blr_sampler_desc_t *sampler, const blr_image_desc_t *desc,
                               blr_sampler_desc_t *effective);

#endif
