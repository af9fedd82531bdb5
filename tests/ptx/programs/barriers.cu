#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
// producers (warps 0 and 1) fill a ring of two slots, consumers (warps 2 and 3) add: barriers 1 to 4 of 128 threads
extern "C" __global__ void ring(const int *a, int *o, int rounds) {
    __shared__ int slot[2][64];
    const int t = threadIdx.x & 63;
    if (threadIdx.x < 64) {
        for (int k = 0; k < rounds; k++) {
            asm volatile("bar.sync %0, 128;" :: "r"(3 + (k & 1)) : "memory");
            slot[k & 1][t] = a[k * 64 + t];
            asm volatile("bar.arrive %0, 128;" :: "r"(1 + (k & 1)) : "memory");
        }
    } else {
        int sum = 0;
        asm volatile("bar.arrive 3, 128; bar.arrive 4, 128;" ::: "memory");
        for (int k = 0; k < rounds; k++) {
            asm volatile("bar.sync %0, 128;" :: "r"(1 + (k & 1)) : "memory");
            sum += slot[k & 1][63 - t] * (k + 1);
            if (k + 2 < rounds) asm volatile("bar.arrive %0, 128;" :: "r"(3 + (k & 1)) : "memory");
        }
        o[t] = sum;
    }
}
// each pair of warps counts on a barrier of its own
extern "C" __global__ void pairs(const int *a, int *o) {
    int v = a[threadIdx.x], n = threadIdx.x / 64 + 1, count, any, all;
    asm volatile("{ .reg .pred p; setp.gt.s32 p, %1, 0; barrier.cta.red.popc.u32 %0, %2, 64, p; }" : "=r"(count) : "r"(v), "r"(n) : "memory");
    asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, 48; barrier.cta.red.or.pred q, %2, 64, p; selp.b32 %0, 1, 0, q; }" : "=r"(any) : "r"(v), "r"(n) : "memory");
    asm volatile("{ .reg .pred p, q; setp.gt.s32 p, %1, -48; barrier.cta.red.and.aligned.pred q, %2, 64, p; selp.b32 %0, 1, 0, q; }" : "=r"(all) : "r"(v), "r"(n) : "memory");
    o[threadIdx.x] = count + any * 100 + all * 1000;
}
// __syncthreads at different places
extern "C" __global__ void places(const int *a, int *o) {
    __shared__ int s[128];
    const int t = threadIdx.x;
    s[t] = a[t];
    if (t < 32) { asm volatile("bar.sync 0;" ::: "memory"); o[t] = s[127 - t]; asm volatile("bar.sync 0;" ::: "memory"); s[t] = 7; }
    else if (t < 96) { asm volatile("bar.sync 0;" ::: "memory"); o[t] = s[(t + 1) & 127] * 2; asm volatile("bar.sync 0;" ::: "memory"); }
    else { asm volatile("bar.sync 0;" ::: "memory"); o[t] = s[t - 96] * 3; asm volatile("bar.sync 0;" ::: "memory"); }
}
// a lock for which the lanes of a warp wait, then a sum over the warp
extern "C" __global__ void lock(int *word, int *o) {
    __shared__ int own, sum;
    if (threadIdx.x == 0) own = sum = 0;
    __syncthreads();
    while (atomicCAS(&own, 0, 1) != 0) {}
    ((volatile int *)&sum)[0] = ((volatile int *)&sum)[0] * 1 + threadIdx.x;
    __threadfence_block();
    atomicExch(&own, 0);
    while (atomicCAS(word, 0, 1) != 0) __nanosleep(20);
    ((volatile int *)word)[1] += 1;
    __threadfence();
    atomicExch(word, 0);
    int all = __reduce_add_sync(~0u, (int)threadIdx.x + 1);
    __syncthreads();
    o[blockIdx.x * blockDim.x + threadIdx.x] = sum * 100000 + all;
}
// a lane waits for another one of its warp, in both orders
extern "C" __global__ void order(int *o) {
    __shared__ volatile int flag[4];
    const int w = threadIdx.x / 32, l = threadIdx.x & 31;
    if (l == 0) flag[w] = 0;
    __syncthreads();
    if (l == (int)(w & 1 ? 3 : 30)) while (flag[w] == 0) {}
    if (l == 10) flag[w] = w + 5;
    __syncwarp();
    o[threadIdx.x] = __shfl_sync(~0u, flag[w] + l, (l + 1) & 31);
}
using bar = cuda::barrier<cuda::thread_scope_block>;
extern "C" __global__ void phases(const int *a, int *o, int rounds) {
    __shared__ bar full[2], empty[2];
    __shared__ int slot[2][64];
    if (threadIdx.x < 2) { init(&full[threadIdx.x], 128); init(&empty[threadIdx.x], 128); }
    __syncthreads();
    const int t = threadIdx.x & 63;
    if (threadIdx.x < 64) {
        for (int k = 0; k < rounds; k++) { empty[k & 1].arrive_and_wait(); slot[k & 1][t] = a[k * 64 + t]; bar::arrival_token x = full[k & 1].arrive(); (void)x; }
    } else {
        bar::arrival_token x = empty[0].arrive(), y = empty[1].arrive(); (void)x; (void)y;
        int sum = 0;
        for (int k = 0; k < rounds; k++) { full[k & 1].arrive_and_wait(); sum += slot[k & 1][63 - t] * (k + 1); bar::arrival_token z = empty[k & 1].arrive(); (void)z; }
        o[t] = sum;
    }
}
// a group leaves after half of the rounds
extern "C" __global__ void drops(int *o, int rounds) {
    __shared__ bar b; __shared__ int count;
    if (threadIdx.x == 0) { init(&b, blockDim.x); count = 0; }
    __syncthreads();
    for (int k = 0; k < rounds; k++) {
        if (threadIdx.x >= 32 && k == rounds / 2) { b.arrive_and_drop(); return; }
        atomicAdd(&count, 1);
        b.arrive_and_wait();
        const int seen = count;
        b.arrive_and_wait();
        if (threadIdx.x == 0) o[k] = seen;
    }
}
extern "C" __global__ void copies(const int *a, int *o, int tiles) {
    __shared__ int s[2][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    cg::thread_block block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    pipe.producer_acquire(); cuda::memcpy_async(block, s[0], a, cuda::aligned_size_t<16>(512), pipe); pipe.producer_commit();
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles) { pipe.producer_acquire(); cuda::memcpy_async(block, s[(k + 1) & 1], a + (k + 1) * 128, cuda::aligned_size_t<16>(512), pipe); pipe.producer_commit(); }
        pipe.consumer_wait();
        sum += s[k & 1][127 - threadIdx.x] * (k + 1);
        block.sync();
        pipe.consumer_release();
    }
    o[threadIdx.x] = sum;
}
extern "C" __global__ void groups(const int *a, int *o) {
    cg::thread_block block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    auto warp = cg::tiled_partition<32>(block);
    const int v = a[threadIdx.x];
    int sum = cg::reduce(tile, v, cg::plus<int>()), most = cg::reduce(warp, v, cg::greater<int>());
    int odd = 0;
    if (v & 1) { auto some = cg::coalesced_threads(); odd = some.size() * 100 + some.thread_rank(); }
    auto part = cg::labeled_partition(warp, v & 3);
    o[threadIdx.x * 4] = sum; o[threadIdx.x * 4 + 1] = most; o[threadIdx.x * 4 + 2] = odd; o[threadIdx.x * 4 + 3] = part.size();
    block.sync();
}
extern "C" __global__ void single(const int *a, int *o) {
    __shared__ alignas(16) int s[128];
    __shared__ bar b;
    cg::thread_block block = cg::this_thread_block();
    if (threadIdx.x == 0) init(&b, 128);
    block.sync();
    cuda::memcpy_async(block, s, a, cuda::aligned_size_t<16>(512), b);
    if (threadIdx.x % 32 == 0) b.wait(b.arrive()); else { auto t = b.arrive(); (void)t; }
    __syncwarp();
    o[threadIdx.x] = s[127 - threadIdx.x] + __shfl_sync(~0u, s[threadIdx.x], 5);
    block.sync();
    cg::memcpy_async(block, s, a + 128, 400); cg::wait(block);
    o[128 + threadIdx.x] = threadIdx.x < 100 ? s[threadIdx.x] : 0;
}
