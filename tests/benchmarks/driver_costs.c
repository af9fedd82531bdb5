/* What the CUDA driver's own calls cost from C: nanoseconds, the median of many. */
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 2001

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

static void must(CUresult result, const char *what) {
    if (result != CUDA_SUCCESS) {
        fprintf(stderr, "%s: %d\n", what, (int)result);
        exit(1);
    }
}

#define LOAD(name, symbol) __typeof__(name) *p_##name = (__typeof__(name) *)dlsym(library, symbol); \
    if (!p_##name) { fprintf(stderr, "no %s\n", symbol); return 1; }

#define MEASURE(label, statement)                                   \
    do {                                                            \
        for (int i = 0; i < ROUNDS; ++i) {                          \
            double start = now();                                   \
            statement;                                              \
            times[i] = now() - start;                               \
        }                                                           \
        qsort(times, ROUNDS, sizeof times[0], ascending);           \
        printf("%s %.1f\n", label, times[ROUNDS / 2]);              \
    } while (0)

static const char FOUR_ARGUMENTS[] =
    ".version 6.3\n.target sm_75\n.address_size 64\n"
    ".visible .entry four(.param .u64 a, .param .u64 b, .param .f32 factor, .param .u32 count) { ret; }\n";

/* Batches with one wait, as the Python side measures. */
static void measure_launches(const char *name, __typeof__(cuLaunchKernel) *p_cuLaunchKernel,
                             __typeof__(cuStreamSynchronize) *p_cuStreamSynchronize, CUfunction function, CUstream stream, void **arguments)
{
    enum { BATCH = 1000, BATCHES = 21 };
    double batches[BATCHES];
    for (int b = 0; b < BATCHES; ++b) {
        double start = now();
        for (int i = 0; i < BATCH; ++i)
            must(p_cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL), "cuLaunchKernel");
        must(p_cuStreamSynchronize(stream), "cuStreamSynchronize");
        batches[b] = (now() - start) / BATCH;
    }
    qsort(batches, BATCHES, sizeof batches[0], ascending);
    printf("%s %.1f\n", name, batches[BATCHES / 2]);
}

int main(int argc, char **argv) {
    static double times[ROUNDS];
    static char text[1 << 20];
    if (argc != 2) return 2;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) return 1;
    LOAD(cuInit, "cuInit")
    LOAD(cuDeviceGet, "cuDeviceGet")
    LOAD(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain")
    LOAD(cuCtxSetCurrent, "cuCtxSetCurrent")
    LOAD(cuModuleLoadData, "cuModuleLoadData")
    LOAD(cuModuleGetFunction, "cuModuleGetFunction")
    LOAD(cuStreamCreate, "cuStreamCreate")
    LOAD(cuStreamSynchronize, "cuStreamSynchronize")
    LOAD(cuLaunchKernel, "cuLaunchKernel")
    LOAD(cuArray3DCreate, "cuArray3DCreate_v2")
    LOAD(cuArrayDestroy, "cuArrayDestroy")
    LOAD(cuTexObjectCreate, "cuTexObjectCreate")
    LOAD(cuTexObjectDestroy, "cuTexObjectDestroy")
    LOAD(cuSurfObjectCreate, "cuSurfObjectCreate")
    LOAD(cuSurfObjectDestroy, "cuSurfObjectDestroy")

    FILE *file = fopen(argv[1], "rb");
    if (!file || fread(text, 1, sizeof text - 1, file) == 0) return 1;
    fclose(file);
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUstream stream;
    must(p_cuInit(0), "cuInit");
    must(p_cuDeviceGet(&device, 0), "cuDeviceGet");
    must(p_cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(p_cuCtxSetCurrent(context), "cuCtxSetCurrent");
    must(p_cuModuleLoadData(&module, text), "cuModuleLoadData");
    must(p_cuModuleGetFunction(&function, module, "bindless_empty"), "cuModuleGetFunction");
    must(p_cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");

    measure_launches("launch", p_cuLaunchKernel, p_cuStreamSynchronize, function, stream, NULL);

    must(p_cuModuleLoadData(&module, FOUR_ARGUMENTS), "cuModuleLoadData");
    must(p_cuModuleGetFunction(&function, module, "four"), "cuModuleGetFunction");
    unsigned long long first = 0, second = 0;
    float factor = 2.0f;
    unsigned int count = 16;
    void *arguments[] = {&first, &second, &factor, &count};
    measure_launches("launch_arguments", p_cuLaunchKernel, p_cuStreamSynchronize, function, stream, arguments);

    CUDA_ARRAY3D_DESCRIPTOR desc = {256, 256, 0, CU_AD_FORMAT_FLOAT, 4, CUDA_ARRAY3D_SURFACE_LDST};
    CUarray anchor, array;
    must(p_cuArray3DCreate(&anchor, &desc), "cuArray3DCreate");
    MEASURE("array", must(p_cuArray3DCreate(&array, &desc), "create"); must(p_cuArrayDestroy(array), "destroy"));

    CUDA_RESOURCE_DESC resource = {0};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = anchor;
    CUDA_TEXTURE_DESC texture = {0};
    texture.addressMode[0] = texture.addressMode[1] = texture.addressMode[2] = CU_TR_ADDRESS_MODE_CLAMP;
    texture.filterMode = CU_TR_FILTER_MODE_LINEAR;
    CUtexObject sampled;
    MEASURE("texture", must(p_cuTexObjectCreate(&sampled, &resource, &texture, NULL), "create");
            must(p_cuTexObjectDestroy(sampled), "destroy"));
    CUsurfObject unsampled;
    MEASURE("surface", must(p_cuSurfObjectCreate(&unsampled, &resource), "create");
            must(p_cuSurfObjectDestroy(unsampled), "destroy"));
    return 0;
}
