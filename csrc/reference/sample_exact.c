#include "sample.h"
void blr_sample_exact_items(const struct blr_texture *texture, const blr_image_call_t *call, uint64_t begin,
                            uint64_t end)
{
    blr_sample_items(texture, call, begin, end);
}
