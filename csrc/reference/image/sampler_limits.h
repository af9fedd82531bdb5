/* Sampler descriptions: the combinations that the device supports. */
#ifndef BINDLESS_REFERENCE_IMAGE_SAMPLER_LIMITS_H
#define BINDLESS_REFERENCE_IMAGE_SAMPLER_LIMITS_H

#include "runtime/result.h"

/* Checks that images of this description can be sampled with this sampler. *effective receives the sampler with its
 * anisotropy clamped to the device's limit. */
blr_result_t blr_sampler_check(const blr_sampler_desc_t *sampler, const blr_image_desc_t *desc,
                               blr_sampler_desc_t *effective);

/* The same without the limit of the texture unit that 32-bit integers are not filtered: their fraction is dropped. */
blr_result_t blr_sampler_check_view(const blr_sampler_desc_t *sampler, const blr_image_desc_t *desc,
                                    blr_sampler_desc_t *effective);

#endif
