/* The CUDA driver by its exported functions: misuse, threads, two contexts, and nothing left behind. */
#include "cuda_fixture.h"

#include <pthread.h>
#include <string.h>

static void test_before_start(void)
{
    CUdevice device;
    int count;
    GIVES(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuInit(1));
    SUCCEEDS(cuInit(0));
    SUCCEEDS(cuInit(0));
    SUCCEEDS(cuDeviceGetCount(&count));
    CHECK(count == 1);
    SUCCEEDS(cuDeviceGet(&device, 0));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, 1));
    GIVES(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxSynchronize());
}

static void test_names(void)
{
    const char *text = NULL;
    SUCCEEDS(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    CHECK(strcmp(text, "CUDA_ERROR_ILLEGAL_ADDRESS") == 0);
    SUCCEEDS(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text));
    CHECK(strcmp(text, "invalid value") == 0);
    GIVES(CUDA_ERROR_INVALID_VALUE, cuGetErrorName((CUresult)12345, &text));
    CHECK(text == NULL);
}

static void test_lookup(void)
{
    CUdriverProcAddressQueryResult status;
    void *function = NULL, *other = NULL;
    SUCCEEDS(cuGetProcAddress_v2("cuMemAlloc", &function, 12000, 0, &status));
    CUresult (*allocate)(CUdeviceptr *, size_t) = cuMemAlloc_v2;
    CHECK(memcmp(&function, &allocate, sizeof function) == 0);
    SUCCEEDS(cuGetProcAddress_v2("cuMemAlloc", &function, 1000, 0, &status));
    CHECK(function == NULL && status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    SUCCEEDS(cuGetProcAddress_v2("cuNothing", &function, 12000, 0, &status));
    CHECK(function == NULL && status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    SUCCEEDS(cuGetProcAddress_v2("cuStreamSynchronize", &function, 12000, 0, &status));
    SUCCEEDS(cuGetProcAddress_v2("cuStreamSynchronize", &other, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
    CHECK(function != NULL && other != NULL && function != other);
}

/* Handles that were never made, were destroyed, or are of another kind. */
static void test_handles(void)
{
    CUcontext context;
    CUstream stream;
    CUevent event;
    CUarray array;
    CUgraph graph;
    SUCCEEDS(cuCtxCreate_v2(&context, 0, 0));
    SUCCEEDS(cuStreamCreate(&stream, 0));
    SUCCEEDS(cuEventCreate(&event, 0));
    SUCCEEDS(cuGraphCreate(&graph, 0));
    CUDA_ARRAY_DESCRIPTOR descriptor = {8, 8, CU_AD_FORMAT_FLOAT, 1};
    SUCCEEDS(cuArrayCreate_v2(&array, &descriptor));
    void *const bad[] = {(void *)stream, (void *)event, (void *)array, (void *)graph, (void *)context, (void *)0x1234,
                         (void *)UINTPTR_MAX, (void *)bad};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (bad[i] != (void *)stream) {
            GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamSynchronize((CUstream)bad[i]));
            GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy_v2((CUstream)bad[i]));
        }
        if (bad[i] != (void *)event)
            GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventRecord((CUevent)bad[i], stream));
        if (bad[i] != (void *)array)
            GIVES(CUDA_ERROR_INVALID_HANDLE, cuArrayDestroy((CUarray)bad[i]));
        if (bad[i] != (void *)context)
            GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxPushCurrent_v2((CUcontext)bad[i]));
        if (bad[i] != (void *)graph)
            GIVES(CUDA_ERROR_INVALID_HANDLE, cuGraphDestroy((CUgraph)bad[i]));
        GIVES(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload((CUmodule)bad[i]));
        GIVES(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel((CUfunction)bad[i], 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectDestroy((CUtexObject)(uintptr_t)bad[i]));
        GIVES(CUDA_ERROR_INVALID_VALUE, cuMemFree_v2((CUdeviceptr)(uintptr_t)bad[i]));
    }
    SUCCEEDS(cuStreamDestroy_v2(stream));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuStreamDestroy_v2(stream));
    SUCCEEDS(cuEventDestroy_v2(event));
    GIVES(CUDA_ERROR_INVALID_HANDLE, cuEventQuery(event));
    SUCCEEDS(cuGraphDestroy(graph));
    SUCCEEDS(cuArrayDestroy(array));
    SUCCEEDS(cuCtxDestroy_v2(context));
    GIVES(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy_v2(context));
}

/* A context's end takes along what is left in it. */
static void test_left_behind(void)
{
    CUcontext context, now;
    CUstream stream;
    CUevent event;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    CUmipmappedArray mipmap;
    CUarray level;
    CUtexObject texture;
    SUCCEEDS(cuCtxCreate_v2(&context, 0, 0));
    SUCCEEDS(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    SUCCEEDS(cuEventCreate(&event, 0));
    SUCCEEDS(cuMemAlloc_v2(&memory, 4096));
    SUCCEEDS(cuModuleLoadData(&module, add_ptx));
    SUCCEEDS(cuModuleGetFunction(&function, module, "add"));
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {16, 16, 0, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0};
    SUCCEEDS(cuMipmappedArrayCreate(&mipmap, &descriptor, 5));
    SUCCEEDS(cuMipmappedArrayGetLevel(&level, mipmap, 1));
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY, .res.mipmap.hMipmappedArray = mipmap};
    CUDA_TEXTURE_DESC description = {.flags = CU_TRSF_NORMALIZED_COORDINATES, .filterMode = CU_TR_FILTER_MODE_LINEAR,
                                     .maxMipmapLevelClamp = 4};
    SUCCEEDS(cuTexObjectCreate(&texture, &resource, &description, NULL));
    unsigned value = 3;
    void *parameters[] = {&memory, &value};
    SUCCEEDS(cuLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, parameters, NULL));
    SUCCEEDS(cuEventRecord(event, stream));
    SUCCEEDS(cuCtxDestroy_v2(context));
    SUCCEEDS(cuCtxGetCurrent(&now));
    CHECK(now == NULL);
}

/* Arrays of blocks: copies count blocks of texels, there are no surfaces, and textures of sRGB need their flag. */
static void test_blocks(void)
{
    CUcontext context;
    CUarray array, level;
    CUmipmappedArray mipmap;
    CUtexObject texture;
    CUdeviceptr memory;
    unsigned char blocks[4][5][16], back[4][5][16] = {{{0}}};
    SUCCEEDS(cuCtxCreate_v2(&context, 0, 0));
    for (int i = 0; i < (int)sizeof blocks; i++)
        ((unsigned char *)blocks)[i] = (unsigned char)(7 * i);
    CUDA_ARRAY3D_DESCRIPTOR descriptor = {18, 14, 0, CU_AD_FORMAT_BC7_UNORM_SRGB, 4, CUDA_ARRAY3D_SURFACE_LDST};
    GIVES(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate_v2(&array, &descriptor));
    descriptor.Flags = 0;
    descriptor.NumChannels = 2;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate_v2(&array, &descriptor));
    descriptor.NumChannels = 4;
    descriptor.Height = 0;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuArray3DCreate_v2(&array, &descriptor));
    descriptor.Height = 14;
    SUCCEEDS(cuArray3DCreate_v2(&array, &descriptor));
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = blocks, .srcPitch = sizeof blocks[0],
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = array, .WidthInBytes = sizeof blocks[0],
                          .Height = 4, .Depth = 1};
    SUCCEEDS(cuMemcpy3D_v2(&copy));
    copy.Height = 5;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D_v2(&copy));
    copy.Height = 4;
    copy.WidthInBytes = 4;
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpy3D_v2(&copy));
    CUDA_MEMCPY3D out = {.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = array, .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = back, .dstPitch = sizeof back[0], .WidthInBytes = sizeof back[0], .Height = 4, .Depth = 1};
    SUCCEEDS(cuMemcpy3D_v2(&out));
    CHECK(memcmp(blocks, back, sizeof blocks) == 0);
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    CUDA_TEXTURE_DESC description = {.flags = 0};
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuTexObjectCreate(&texture, &resource, &description, NULL));
    description.flags = CU_TRSF_SRGB;
    SUCCEEDS(cuTexObjectCreate(&texture, &resource, &description, NULL));
    SUCCEEDS(cuTexObjectDestroy(texture));
    SUCCEEDS(cuArrayDestroy(array));
    CUDA_ARRAY_MEMORY_REQUIREMENTS requirements;
    SUCCEEDS(cuMipmappedArrayCreate(&mipmap, &descriptor, 5));
    SUCCEEDS(cuMipmappedArrayGetMemoryRequirements(&requirements, mipmap, 0));
    CHECK_EQUAL(16 * (5 * 4 + 3 * 2 + 1 + 1 + 1), requirements.size);
    SUCCEEDS(cuMipmappedArrayGetLevel(&level, mipmap, 1));
    SUCCEEDS(cuArray3DGetDescriptor_v2(&descriptor, level));
    CHECK(descriptor.Width == 9 && descriptor.Height == 7);
    SUCCEEDS(cuMipmappedArrayDestroy(mipmap));
    SUCCEEDS(cuMemAlloc_v2(&memory, 4096));
    CUDA_RESOURCE_DESC linear = {.resType = CU_RESOURCE_TYPE_PITCH2D,
                                 .res.pitch2D = {memory, CU_AD_FORMAT_BC1_UNORM, 4, 8, 8, 512}};
    GIVES(CUDA_ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, &linear, &description, NULL));
    SUCCEEDS(cuMemFree_v2(memory));
    SUCCEEDS(cuCtxDestroy_v2(context));
}

enum { THREADS = 4, ROUNDS = 50, ITEMS = 64 };

/* Every thread launches on streams of both contexts; the sums tell whether each launch ran once. */
struct work {
    CUcontext contexts[2];
    CUfunction functions[2];
    CUdeviceptr memory[2];
};

static void *launch_many(void *argument)
{
    struct work *work = argument;
    CUdeviceptr own[2];
    unsigned one = 1, values[ITEMS];
    CUstream streams[2];
    for (int c = 0; c < 2; c++) {
        SUCCEEDS(cuCtxPushCurrent_v2(work->contexts[c]));
        SUCCEEDS(cuStreamCreate(&streams[c], CU_STREAM_NON_BLOCKING));
        SUCCEEDS(cuMemAlloc_v2(&own[c], sizeof values));
        SUCCEEDS(cuMemsetD32_v2(own[c], 0, ITEMS));
        SUCCEEDS(cuCtxPopCurrent_v2(NULL));
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int c = 0; c < 2; c++) {
            void *parameters[] = {&own[c], &one};
            SUCCEEDS(cuCtxSetCurrent(work->contexts[c]));
            SUCCEEDS(cuLaunchKernel(work->functions[c], 1, 1, 1, ITEMS, 1, 1, 0, streams[c], parameters, NULL));
        }
    for (int c = 0; c < 2; c++) {
        SUCCEEDS(cuCtxSetCurrent(work->contexts[c]));
        SUCCEEDS(cuMemcpyDtoHAsync_v2(values, own[c], sizeof values, streams[c]));
        SUCCEEDS(cuStreamSynchronize(streams[c]));
        for (int i = 0; i < ITEMS; i++)
            CHECK(values[i] == ROUNDS);
        SUCCEEDS(cuStreamDestroy_v2(streams[c]));
        SUCCEEDS(cuMemFree_v2(own[c]));
    }
    SUCCEEDS(cuCtxSetCurrent(NULL));
    return NULL;
}

static void test_threads(void)
{
    struct work work;
    pthread_t threads[THREADS];
    CUmodule modules[2];
    for (int c = 0; c < 2; c++) {
        SUCCEEDS(cuCtxCreate_v2(&work.contexts[c], 0, 0));
        SUCCEEDS(cuModuleLoadData(&modules[c], add_ptx));
        SUCCEEDS(cuModuleGetFunction(&work.functions[c], modules[c], "add"));
        SUCCEEDS(cuCtxPopCurrent_v2(NULL));
    }
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, launch_many, &work) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int c = 0; c < 2; c++)
        SUCCEEDS(cuCtxDestroy_v2(work.contexts[c]));
}

/* Functions without an implementation say so. */
static void test_absent(void)
{
    CUtexref reference;
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuTexRefCreate(&reference));
    GIVES(CUDA_ERROR_NOT_SUPPORTED, cuGraphicsUnregisterResource(NULL));
}

int main(void)
{
    test_before_start();
    test_names();
    test_lookup();
    test_handles();
    test_left_behind();
    test_blocks();
    test_threads();
    test_absent();
    return 0;
}
