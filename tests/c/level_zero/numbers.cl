kernel void multiply(global uint *numbers, uint factor) { numbers[get_global_id(0)] *= factor; }
kernel void choose_groups(global uint *counts, uint x) { counts[0] = x; counts[1] = 1; counts[2] = 1; }
kernel void sum_groups(global const uint *numbers, global uint *sums, local uint *scratch)
{
    const size_t i = get_local_id(0);
    scratch[i] = numbers[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i != 0) return;
    uint sum = 0;
    for (size_t k = 0; k < get_local_size(0); k++) sum += scratch[k];
    sums[get_group_id(0)] = sum;
}
kernel void follow(global ulong *begin, global uint *found)
{
    uint length = 0;
    for (global ulong *node = begin; node != 0; node = (global ulong *)node[0]) length++;
    found[0] = length;
}
kernel void print(uint number) { printf("work-item %u prints %u\n", (uint)get_global_id(0), number); }
