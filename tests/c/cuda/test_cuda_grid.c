/* Cooperative launches on several threads, from two host threads at once: the blocks of a grid wait for each other, and each
 * reads what its neighbours wrote. */
#include "cuda_fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 6, THREADS = 64, COUNT = BLOCKS * THREADS, TURNS = 5, LAUNCHES = 3 };

/* b[i] = 3 a[i + 1] + turn, of arrays that take turns; in between the blocks meet at a word of the launch's workspace. */
static const char *const ptx =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry sweep(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 turns)\n"
    "{ .reg .b32 %r<16>; .reg .b64 %rd<8>; .reg .pred %p<4>;\n"
    "ld.param.u64 %rd0, [a]; ld.param.u64 %rd1, [b]; ld.param.u32 %r0, [n]; ld.param.u32 %r1, [turns];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r2, %r2, %r3, %r4; mov.u32 %r9, 0;\n"
    "TURN: add.u32 %r3, %r2, 1; rem.u32 %r3, %r3, %r0;\n"
    "mul.wide.u32 %rd2, %r3, 4; add.u64 %rd2, %rd2, %rd0; ld.global.u32 %r5, [%rd2]; mad.lo.u32 %r5, %r5, 3, %r9;\n"
    "mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd2, %rd1; st.global.u32 [%rd2], %r5;\n"
    "mov.u32 %r10, %envreg2; mov.u32 %r11, %envreg1; mov.b64 %rd3, {%r10, %r11};\n"
    "bar.sync 0; setp.ne.u32 %p1, %r4, 0; @%p1 bra BEHIND;\n"
    "mov.u32 %r13, %nctaid.x; sub.u32 %r13, 0x80000001, %r13; mov.u32 %r14, %ctaid.x;\n"
    "setp.eq.u32 %p1, %r14, 0; selp.u32 %r13, %r13, 1, %p1; membar.gl; atom.global.add.u32 %r12, [%rd3+4], %r13;\n"
    "SPIN: ld.volatile.global.u32 %r13, [%rd3+4]; xor.b32 %r13, %r13, %r12; setp.ge.s32 %p1, %r13, 0; @%p1 bra SPIN;\n"
    "BEHIND: bar.sync 0;\n"
    "mov.u64 %rd2, %rd0; mov.u64 %rd0, %rd1; mov.u64 %rd1, %rd2;\n"
    "add.u32 %r9, %r9, 1; setp.lt.u32 %p0, %r9, %r1; @%p0 bra TURN; ret; }\n";

struct work {
    CUcontext context;
    CUfunction sweep;
    unsigned seed;
};

/* Launches on a stream of its own, and compares with the same sums in C. */
static void *run(void *argument)
{
    const struct work *work = argument;
    unsigned values[COUNT], other[COUNT], out[COUNT], count = COUNT, turns = TURNS;
    CUdeviceptr one, two;
    CUstream stream;
    SUCCEEDS(cuCtxSetCurrent(work->context));
    SUCCEEDS(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    SUCCEEDS(cuMemAlloc_v2(&one, sizeof values));
    SUCCEEDS(cuMemAlloc_v2(&two, sizeof values));
    for (unsigned i = 0; i < COUNT; i++)
        values[i] = (i + work->seed) * 2654435761u;
    SUCCEEDS(cuMemcpyHtoD_v2(one, values, sizeof values));
    for (int launch = 0; launch < LAUNCHES; launch++) {
        CUdeviceptr from = launch % 2 == 0 ? one : two, to = launch % 2 == 0 ? two : one; /* TURNS is odd */
        void *parameters[] = {&from, &to, &count, &turns};
        SUCCEEDS(cuLaunchCooperativeKernel(work->sweep, BLOCKS, 1, 1, THREADS, 1, 1, 0, stream, parameters));
        for (unsigned turn = 0; turn < TURNS; turn++) {
            for (unsigned i = 0; i < COUNT; i++)
                other[i] = 3 * values[(i + 1) % COUNT] + turn;
            memcpy(values, other, sizeof values);
        }
    }
    SUCCEEDS(cuMemcpyDtoHAsync_v2(out, LAUNCHES % 2 == 0 ? one : two, sizeof out, stream));
    SUCCEEDS(cuStreamSynchronize(stream));
    CHECK(memcmp(out, values, sizeof out) == 0);
    SUCCEEDS(cuMemFree_v2(one));
    SUCCEEDS(cuMemFree_v2(two));
    SUCCEEDS(cuStreamDestroy_v2(stream));
    return NULL;
}

int main(void)
{
    struct work first = {.seed = 1}, second = {.seed = 7};
    CUmodule module;
    pthread_t thread;
    setenv("BINDLESS_REFERENCE_THREADS", "4", 1);
    SUCCEEDS(cuInit(0));
    SUCCEEDS(cuCtxCreate_v2(&first.context, 0, 0));
    SUCCEEDS(cuModuleLoadData(&module, ptx));
    SUCCEEDS(cuModuleGetFunction(&first.sweep, module, "sweep"));
    second.context = first.context;
    second.sweep = first.sweep;
    CHECK_EQUAL(0, pthread_create(&thread, NULL, run, &second));
    run(&first);
    pthread_join(thread, NULL);
    SUCCEEDS(cuCtxDestroy_v2(first.context));
    return 0;
}
