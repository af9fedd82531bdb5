/* Values of the other work-items in a group of 32 neighbours, all of which take part. */
#ifndef BINDLESS_KERNELS_INCLUDE_LANES_H
#define BINDLESS_KERNELS_INCLUDE_LANES_H

#include "mode.h"

INLINED uint lane_id(void) { return (uint)bindless_local_id(0) & 31u; }

#ifdef __PTX__
INLINED int int_of_lane(int value, uint lane)
{
    int result;
    __asm__ volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;" : "=r"(result) : "r"(value), "r"(lane));
    return result;
}
/* A bit for each item whose answer is yes. */
INLINED uint votes(bool yes)
{
    uint bits;
    __asm__ volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }" : "=r"(bits) : "r"((uint)yes));
    return bits;
}
#elif defined(__SPIRV__) /* sub-groups of 64 */
INLINED int int_of_lane(int value, uint lane) { return sub_group_shuffle(value, (get_sub_group_local_id() & ~31u) + lane); }
INLINED uint votes(bool yes)
{
    const uint4 ballot = sub_group_ballot(yes);
    return (get_sub_group_local_id() & 32u) != 0 ? ballot.y : ballot.x;
}
#else /* one work-item at a time: it is alone */
INLINED int int_of_lane(int value, uint lane) { return value; }
INLINED uint votes(bool yes) { return yes ? 1u << lane_id() : 0; }
#endif

INLINED float float_of_lane(float value, uint lane) { return as_float(int_of_lane(as_int(value), lane)); }
INLINED uint lowest_bit(uint bits) { return 31u - (uint)__builtin_clz(bits & (0u - bits)); }
INLINED uint highest_bit(uint bits) { return 31u - (uint)__builtin_clz(bits); }

#endif
