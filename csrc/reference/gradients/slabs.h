/* Slabs of rows of texels, for one REAL. Included by gradients_part.c for each. */

/* The slabs of the rows from low to high of an axis of n texels. */
INLINE uint64_t NAME(slabs_between)(int32_t low, int32_t high, uint64_t n, uint32_t slabs)
{
    const uint64_t from = (((uint64_t)low + 1) * slabs - 1) / n, to = (((uint64_t)high + 1) * slabs - 1) / n;
    return (to >= 63 ? UINT64_MAX : ((uint64_t)1 << (to + 1)) - 1) & ~(((uint64_t)1 << from) - 1);
}

static uint64_t NAME(find_slabs)(const blr_gradients_t *call, const struct blr_gradient_part *part)
{
    struct NAME(block) block;
    uint64_t mask = 0;
    block.call = call;
    block.part = part;
    block.is_backward_backward = block.dots = false;
    const uint32_t last = call->dimensions - 1, taps = bindless_taps(call->interpolation);
    for (uint32_t done = 0; done < part->count; done += block.count) {
        block.first = part->first + done;
        block.count = part->count - done < BLOCK ? part->count - done : BLOCK;
        NAME(find_levels)(&block);
        NAME(load_positions)(&block);
        for (uint32_t level = 0; level < call->num_levels; level++) {
            if (!(block.used >> level & 1))
                continue;
            NAME(begin_axis)(&block, level, last, taps);
            for (uint32_t k = 0; k < taps; k++) {
                int32_t low = INT32_MAX, high = -1;
                for (uint32_t i = 0; i < block.count; i++) {
                    const int32_t index = block.axis[last].index[k][i];
                    low = index >= 0 && index < low ? index : low;
                    high = index > high ? index : high;
                }
                if (high >= 0)
                    mask |= NAME(slabs_between)(low, high, call->levels[level].size[last], part->slabs);
            }
        }
    }
    return mask != 0 ? mask : 1;
}
