/* Images, modules and kernels of the Level Zero driver: bindless images, threads, invalid handles, failing
   allocations. */
#include "fixture.h"
#include "level_zero_tables.h"

#include "level_zero/guide_spirv.h"
#include "reference/platform/heap.h"
#include "reference/platform/threads.h"

#include <math.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WIDTH = 60, HEIGHT = 32, POINTS = 64 };

/* Work of a destroyed list ends a little later. */
static void settle(uint64_t objects)
{
    for (int i = 0; i < 20000 && count_objects() != objects; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CHECK_EQUAL(objects, count_objects());
}

static const ze_image_format_t bytes_format = {
    ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, ZE_IMAGE_FORMAT_TYPE_UNORM, ZE_IMAGE_FORMAT_SWIZZLE_R,
    ZE_IMAGE_FORMAT_SWIZZLE_G,      ZE_IMAGE_FORMAT_SWIZZLE_B,  ZE_IMAGE_FORMAT_SWIZZLE_A};

static ze_image_desc_t image_desc(const void *next, uint32_t width, uint32_t height)
{
    return (ze_image_desc_t){.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC,
                             .pNext = next,
                             .type = ZE_IMAGE_TYPE_2D,
                             .format = bytes_format,
                             .width = width,
                             .height = height,
                             .depth = 1};
}

static ze_sampler_desc_t sampler_desc(const void *next)
{
    return (ze_sampler_desc_t){.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC,
                               .pNext = next,
                               .addressMode = ZE_SAMPLER_ADDRESS_MODE_CLAMP,
                               .filterMode = ZE_SAMPLER_FILTER_MODE_LINEAR,
                               .isNormalized = 1};
}

static ze_image_bindless_exp_desc_t bindless_desc(const void *next, ze_image_bindless_exp_flags_t flags)
{
    return (ze_image_bindless_exp_desc_t){.stype = ZE_STRUCTURE_TYPE_BINDLESS_IMAGE_EXP_DESC, .pNext = next, .flags = flags};
}

static ze_module_handle_t new_module(const uint32_t *code, size_t size)
{
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC, .inputSize = size, .pInputModule = (const uint8_t *)code};
    ze_module_handle_t module = NULL;
    ZE_OK(ze.Module.pfnCreate(context, device, &desc, &module, NULL));
    return module;
}

static ze_kernel_handle_t new_kernel(ze_module_handle_t module, const char *name)
{
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = name};
    ze_kernel_handle_t kernel = NULL;
    ZE_OK(ze.Kernel.pfnCreate(module, &desc, &kernel));
    return kernel;
}

/* ---------------------------------------------------------------- bindless images */

/* Samples through a bindless handle at the centres of the first pixels of a row. */
static void gather(ze_command_list_handle_t list, ze_kernel_handle_t kernel, uint64_t handle, float *at, float *out)
{
    const ze_group_count_t groups = {4, 1, 1};
    for (int i = 0; i < POINTS; i++) {
        at[2 * i] = ((float)(i % WIDTH) + 0.5f) / WIDTH;
        at[2 * i + 1] = 3.5f / HEIGHT;
    }
    ZE_OK(ze.Kernel.pfnSetGroupSize(kernel, 16, 1, 1));
    ZE_OK(ze.Kernel.pfnSetArgumentValue(kernel, 0, 8, &handle));
    ZE_OK(ze.Kernel.pfnSetArgumentValue(kernel, 1, 8, &at));
    ZE_OK(ze.Kernel.pfnSetArgumentValue(kernel, 2, 8, &out));
    ZE_FAILS(INVALID_KERNEL_ARGUMENT_SIZE, ze.Kernel.pfnSetArgumentValue(kernel, 0, 0, &handle), "8 bytes");
    ZE_OK(ze.CommandList.pfnAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    ZE_OK(ze.CommandList.pfnHostSynchronize(list, UINT64_MAX));
}

static void check_gathered(const unsigned char *pixels, const float *out)
{
    for (int i = 0; i < POINTS; i++)
        for (int c = 0; c < 4; c++)
            CHECK(fabsf(out[4 * i + c] - pixels[(3 * WIDTH + i % WIDTH) * 4 + c] / 255.0f) < 1e-3f);
}

/* The call sequence that creates bindless images on Intel's driver works on this one. */
static void bindless_images(void)
{
    uint64_t objects = count_objects();
    static unsigned char pixels[WIDTH * HEIGHT * 4], found[WIDTH * HEIGHT * 4];
    fill_random(pixels, sizeof pixels, 5);
    ze_sampler_desc_t sampler = sampler_desc(NULL);
    ze_image_bindless_exp_desc_t plain = bindless_desc(NULL, ZE_IMAGE_BINDLESS_EXP_FLAG_BINDLESS);
    ze_image_bindless_exp_desc_t sampled = bindless_desc(&sampler, 3);
    ze_image_desc_t desc = image_desc(&plain, WIDTH, HEIGHT), view_desc = image_desc(&sampled, WIDTH, HEIGHT);
    ze_image_handle_t image = NULL, view = NULL, pitched = NULL;
    uint64_t offsets[3] = {0};
    ZE_OK(ze.Image.pfnCreate(context, device, &desc, &image));
    ZE_OK(ze.Context.pfnMakeImageResident(context, device, image));
    ZE_OK(ze.Image.pfnViewCreateExt(context, device, &view_desc, image, &view));
    ZE_OK(ze.ImageExp.pfnGetDeviceOffsetExp(image, &offsets[0]));
    ZE_OK(ze.ImageExp.pfnGetDeviceOffsetExp(view, &offsets[1]));
    size_t pitch = 0;
    ZE_OK(ze.Mem.pfnGetPitchFor2dImage(context, device, WIDTH, HEIGHT, 4, &pitch));
    CHECK(pitch >= WIDTH * 4);
    unsigned char *memory = new_memory(pitch * HEIGHT);
    ze_image_pitched_exp_desc_t pitched_desc = {.stype = ZE_STRUCTURE_TYPE_PITCHED_IMAGE_EXP_DESC, .ptr = memory};
    ze_sampler_desc_t chained = sampler_desc(&pitched_desc);
    ze_image_bindless_exp_desc_t over_memory = bindless_desc(&chained, 3);
    ze_image_desc_t memory_desc = image_desc(&over_memory, WIDTH, HEIGHT);
    ZE_OK(ze.Image.pfnCreate(context, device, &memory_desc, &pitched));
    ZE_OK(ze.ImageExp.pfnGetDeviceOffsetExp(pitched, &offsets[2]));
    CHECK(offsets[0] != 0 && offsets[1] != offsets[0] && offsets[2] != offsets[1]);

    ze_module_handle_t module = new_module(bindless, sizeof bindless);
    ze_kernel_handle_t kernel = new_kernel(module, "gather");
    ze_command_list_handle_t list = new_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    float *at = new_memory(POINTS * 8), *out = new_memory(POINTS * 16);
    ze_image_region_t region = {0, 0, 0, WIDTH, HEIGHT, 1};
    ZE_OK(ze.CommandList.pfnAppendImageCopyFromMemoryExt(list, image, pixels, &region, WIDTH * 4, WIDTH * HEIGHT * 4, NULL, 0, NULL));
    gather(list, kernel, offsets[1], at, out);
    check_gathered(pixels, out);
    for (int y = 0; y < HEIGHT; y++)
        memcpy(memory + (size_t)y * pitch, pixels + (size_t)y * WIDTH * 4, WIDTH * 4);
    memset(out, 0, POINTS * 16);
    gather(list, kernel, offsets[2], at, out);
    check_gathered(pixels, out);
    ZE_OK(ze.CommandList.pfnAppendImageCopyToMemoryExt(list, found, image, &region, WIDTH * 4, WIDTH * HEIGHT * 4, NULL, 0, NULL));
    ZE_OK(ze.CommandList.pfnHostSynchronize(list, UINT64_MAX));
    CHECK(memcmp(found, pixels, sizeof pixels) == 0);

    /* A destroyed object stays while other objects use it; a destroyed image handle is a fault, not a crash. */
    ZE_OK(ze.Mem.pfnFree(context, memory));
    gather(list, kernel, offsets[2], at, out);
    check_gathered(pixels, out);
    ZE_OK(ze.Image.pfnDestroy(image));
    gather(list, kernel, offsets[1], at, out);
    check_gathered(pixels, out);
    ZE_OK(ze.Image.pfnDestroy(view));
    ZE_OK(ze.Image.pfnDestroy(pitched));
    const ze_group_count_t groups = {1, 1, 1};
    ZE_OK(ze.CommandList.pfnAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    ZE_FAILS(UNKNOWN, ze.CommandList.pfnHostSynchronize(list, UINT64_MAX), "does not exist");
    ZE_FAILS(INVALID_ARGUMENT, ze.Image.pfnDestroy(view), "destroyed");
    ZE_OK(ze.CommandList.pfnDestroy(list));
    ZE_OK(ze.Kernel.pfnDestroy(kernel));
    ZE_OK(ze.Module.pfnDestroy(module));
    ZE_OK(ze.Mem.pfnFree(context, at));
    ZE_OK(ze.Mem.pfnFree(context, out));
    settle(objects);
}

/* ---------------------------------------------------------------- many threads */

struct task {
    ze_module_handle_t module;
    uint32_t number;
};

/* Each thread has its own list, image and kernel; all share the module and the sampler. */
static void *multiply_and_copy(void *argument)
{
    enum { COUNT = 512, ROUNDS = 20 };
    const struct task *task = argument;
    ze_command_list_handle_t list = new_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_kernel_handle_t kernel = new_kernel(task->module, "multiply");
    ze_image_desc_t desc = image_desc(NULL, COUNT / 4, 4);
    ze_image_handle_t image = NULL;
    uint32_t *numbers_in = new_memory(COUNT * 4), *numbers_out = new_memory(COUNT * 4);
    const ze_group_count_t groups = {COUNT / 32, 1, 1};
    ZE_OK(ze.Image.pfnCreate(context, device, &desc, &image));
    ZE_OK(ze.Kernel.pfnSetGroupSize(kernel, 32, 1, 1));
    ZE_OK(ze.Kernel.pfnSetArgumentValue(kernel, 0, 8, &numbers_in));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t factor = task->number + round;
        for (uint32_t i = 0; i < COUNT; i++)
            numbers_in[i] = i;
        ZE_OK(ze.Kernel.pfnSetArgumentValue(kernel, 1, 4, &factor));
        ZE_OK(ze.CommandList.pfnAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
        ZE_OK(ze.CommandList.pfnAppendImageCopyFromMemory(list, image, numbers_in, NULL, NULL, 0, NULL));
        ZE_OK(ze.CommandList.pfnAppendImageCopyToMemory(list, numbers_out, image, NULL, NULL, 0, NULL));
        ZE_OK(ze.CommandList.pfnHostSynchronize(list, UINT64_MAX));
        for (uint32_t i = 0; i < COUNT; i++)
            CHECK_EQUAL(i * factor, numbers_out[i]);
    }
    ZE_OK(ze.CommandList.pfnDestroy(list));
    ZE_OK(ze.Kernel.pfnDestroy(kernel));
    ZE_OK(ze.Image.pfnDestroy(image));
    ZE_OK(ze.Mem.pfnFree(context, numbers_in));
    ZE_OK(ze.Mem.pfnFree(context, numbers_out));
    return NULL;
}

static void many_threads(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    struct task tasks[THREADS];
    ze_module_handle_t module = new_module(numbers, sizeof numbers);
    for (uint32_t i = 0; i < THREADS; i++) {
        tasks[i] = (struct task){module, 10 * i};
        CHECK(pthread_create(&threads[i], NULL, multiply_and_copy, &tasks[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ZE_OK(ze.Module.pfnDestroy(module));
}

/* Two lists, one of which waits for the other's signal through an eventfd semaphore. */
static void semaphores(void)
{
    int file = eventfd(0, 0);
    ze_external_semaphore_fd_ext_desc_t given = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_FD_EXT_DESC, .fd = file};
    ze_external_semaphore_ext_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_EXT_DESC,
                                             .pNext = &given,
                                             .flags = ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_OPAQUE_FD};
    ze_external_semaphore_ext_handle_t semaphore = NULL;
    ze_external_semaphore_signal_params_ext_t signal = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_EXT};
    ze_external_semaphore_wait_params_ext_t wait = {.stype = ZE_STRUCTURE_TYPE_EXTERNAL_SEMAPHORE_WAIT_PARAMS_EXT};
    ze_command_list_handle_t first = new_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_list_handle_t second = new_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    uint32_t *number = new_memory(4), one = 1, two = 2;
    ZE_OK(ze.Device.pfnImportExternalSemaphoreExt(device, &desc, &semaphore));
    close(file);
    ZE_OK(ze.CommandList.pfnAppendWaitExternalSemaphoreExt(second, 1, &semaphore, &wait, NULL, 0, NULL));
    ZE_OK(ze.CommandList.pfnAppendMemoryFill(second, number, &two, 4, 4, NULL, 0, NULL));
    ZE_OK(ze.CommandList.pfnAppendMemoryFill(first, number, &one, 4, 4, NULL, 0, NULL));
    ZE_OK(ze.CommandList.pfnAppendSignalExternalSemaphoreExt(first, 1, &semaphore, &signal, NULL, 0, NULL));
    ZE_OK(ze.CommandList.pfnHostSynchronize(second, UINT64_MAX));
    CHECK_EQUAL(2, *number);
    ZE_OK(ze.CommandList.pfnHostSynchronize(first, UINT64_MAX));
    /* A list can be destroyed while it waits; its work ends after the signal. */
    ze_event_pool_handle_t pool = new_pool(ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1);
    ze_event_handle_t event = new_event(pool, 0);
    ZE_OK(ze.CommandList.pfnAppendWaitExternalSemaphoreExt(second, 1, &semaphore, &wait, event, 0, NULL));
    ZE_GIVES(NOT_READY, ze.CommandList.pfnHostSynchronize(second, 1000));
    ZE_OK(ze.CommandList.pfnDestroy(second));
    ZE_GIVES(NOT_READY, ze.Event.pfnQueryStatus(event));
    ZE_OK(ze.CommandList.pfnAppendSignalExternalSemaphoreExt(first, 1, &semaphore, &signal, NULL, 0, NULL));
    ZE_OK(ze.Event.pfnHostSynchronize(event, UINT64_MAX));
    ZE_OK(ze.Event.pfnDestroy(event));
    ZE_OK(ze.EventPool.pfnDestroy(pool));
    ZE_OK(ze.Device.pfnReleaseExternalSemaphoreExt(semaphore));
    ZE_FAILS(INVALID_ARGUMENT, ze.Device.pfnReleaseExternalSemaphoreExt(semaphore), "destroyed");
    ZE_OK(ze.CommandList.pfnDestroy(first));
    ZE_OK(ze.Mem.pfnFree(context, number));
}

/* ---------------------------------------------------------------- invalid handles */

/* Every function with handles of every other kind, NULL, and destroyed handles. */
static void wrong_handles(void)
{
    ze_module_handle_t module = new_module(numbers, sizeof numbers);
    ze_kernel_handle_t kernel = new_kernel(module, "print");
    ze_image_desc_t desc = image_desc(NULL, 4, 4);
    ze_image_handle_t image = NULL;
    ze_sampler_handle_t sampler = NULL;
    ze_sampler_desc_t sampling = sampler_desc(NULL);
    ze_command_list_handle_t list = new_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ZE_OK(ze.Image.pfnCreate(context, device, &desc, &image));
    ZE_OK(ze.Sampler.pfnCreate(context, device, &sampling, &sampler));
    void *wrong[] = {NULL, (void *)0x1234000, (void *)UINTPTR_MAX, (void *)(uintptr_t)7, module, kernel, image, sampler, list, context,
                     device, driver};
    char bytes[256] = {0};
    ze_group_count_t groups = {1, 1, 1};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        void *w = wrong[i];
#define REFUSED(right, call) CHECK(w == (void *)(uintptr_t)(right) || (call) != ZE_RESULT_SUCCESS)
        REFUSED(image, ze.CommandList.pfnAppendImageCopyToMemory(list, bytes, w, NULL, NULL, 0, NULL));
        REFUSED(1, ze.CommandList.pfnAppendImageCopy(list, w, image, NULL, 0, NULL)); /* not onto itself either */
        REFUSED(list, ze.CommandList.pfnAppendImageCopyToMemory(w, bytes, image, NULL, NULL, 0, NULL));
        REFUSED(list, ze.CommandList.pfnAppendLaunchKernel(w, kernel, &groups, NULL, 0, NULL));
        REFUSED(kernel, ze.CommandList.pfnAppendLaunchKernel(list, w, &groups, NULL, 0, NULL));
        REFUSED(context, ze.Image.pfnCreate(w, device, &desc, &image));
        REFUSED(device, ze.Image.pfnCreate(context, w, &desc, &image));
        REFUSED(image, ze.Image.pfnDestroy(w));
        REFUSED(sampler, ze.Sampler.pfnDestroy(w));
        REFUSED(module, ze.Module.pfnDestroy(w));
        REFUSED(kernel, ze.Kernel.pfnDestroy(w));
        REFUSED(module, ze.Module.pfnDynamicLink(1, (ze_module_handle_t *)&w, NULL));
        REFUSED(module, ze.Module.pfnGetNativeBinary(w, &(size_t){0}, NULL));
        REFUSED(kernel, ze.Kernel.pfnSetGroupSize(w, 1, 1, 1));
        REFUSED(kernel, ze.Kernel.pfnSetArgumentValue(w, 0, 4, bytes));
        REFUSED(1, ze.Device.pfnReleaseExternalSemaphoreExt(w));
        REFUSED(1, ze.ModuleBuildLog.pfnDestroy(w));
#undef REFUSED
    }
    ZE_OK(ze.CommandList.pfnHostSynchronize(list, UINT64_MAX));
    ZE_OK(ze.CommandList.pfnDestroy(list));
    ZE_OK(ze.Sampler.pfnDestroy(sampler));
    ZE_OK(ze.Image.pfnDestroy(image));
    ZE_OK(ze.Kernel.pfnDestroy(kernel));
    ZE_OK(ze.Module.pfnDestroy(module));
    ZE_FAILS(INVALID_ARGUMENT, ze.Kernel.pfnDestroy(kernel), "destroyed");
    ZE_FAILS(INVALID_ARGUMENT, ze.Module.pfnDestroy(module), "destroyed");
    ZE_FAILS(INVALID_ARGUMENT, ze.Sampler.pfnDestroy(sampler), "destroyed");
}

/* ---------------------------------------------------------------- failing allocations */

/* Objects of a run, so that it can end at any point. */
struct held {
    ze_module_handle_t modules[2], native;
    ze_module_build_log_handle_t log;
    ze_kernel_handle_t kernel;
    ze_image_handle_t images[3];
    ze_sampler_handle_t sampler;
    ze_command_list_handle_t list;
    void *exported;
};

static void drop(struct held *held)
{
    if (held->list != NULL)
        ZE_OK(ze.CommandList.pfnDestroy(held->list));
    if (held->kernel != NULL)
        ZE_OK(ze.Kernel.pfnDestroy(held->kernel));
    for (int i = 0; i < 2; i++)
        if (held->modules[i] != NULL)
            ZE_OK(ze.Module.pfnDestroy(held->modules[i]));
    if (held->native != NULL)
        ZE_OK(ze.Module.pfnDestroy(held->native));
    if (held->log != NULL)
        ZE_OK(ze.ModuleBuildLog.pfnDestroy(held->log));
    for (int i = 0; i < 3; i++)
        if (held->images[i] != NULL)
            ZE_OK(ze.Image.pfnDestroy(held->images[i]));
    if (held->sampler != NULL)
        ZE_OK(ze.Sampler.pfnDestroy(held->sampler));
    if (held->exported != NULL)
        ZE_OK(ze.Mem.pfnFree(context, held->exported));
}

/* Returns at the first call that fails; it must fail with an out-of-memory result and an error text. */
#define TRY(call)                                                                                                             \
    do {                                                                                                                      \
        ze_result_t result_ = (call);                                                                                         \
        if (result_ != ZE_RESULT_SUCCESS) {                                                                                   \
            CHECK(result_ == ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY || result_ == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);          \
            return false;                                                                                                     \
        }                                                                                                                     \
    } while (0)

static bool path(struct held *held)
{
    const uint32_t ids[] = {0, 2}, values[] = {4, 5};
    const void *places[] = {&values[0], &values[1]};
    ze_module_constants_t constants = {2, ids, places};
    ze_module_desc_t code = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC, .inputSize = sizeof importer, .pInputModule = (const uint8_t *)importer};
    ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "count"};
    ze_sampler_desc_t sampling = sampler_desc(NULL);
    ze_image_bindless_exp_desc_t bindless_image = bindless_desc(&sampling, 3);
    ze_image_desc_t desc = image_desc(&bindless_image, 8, 8);
    ze_command_list_desc_t list = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_external_memory_export_desc_t export = {
        .stype = ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, .flags = ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD};
    ze_device_mem_alloc_desc_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, .pNext = &export};
    ze_group_count_t groups = {1, 1, 1};
    unsigned char pixels[256] = {0};
    TRY(ze.Module.pfnCreate(context, device, &code, &held->modules[0], NULL));
    code.inputSize = sizeof exporter;
    code.pInputModule = (const uint8_t *)exporter;
    TRY(ze.Module.pfnCreate(context, device, &code, &held->modules[1], &held->log));
    TRY(ze.Module.pfnDynamicLink(2, held->modules, NULL));
    TRY(ze.Kernel.pfnCreate(held->modules[0], &kernel, &held->kernel));
    code.inputSize = sizeof group_size;
    code.pInputModule = (const uint8_t *)group_size;
    code.pConstants = &constants;
    TRY(ze.Module.pfnCreate(context, device, &code, &held->native, NULL));
    TRY(ze.Mem.pfnAllocDevice(context, &memory, 100, 0, device, &held->exported));
    TRY(ze.Image.pfnCreate(context, device, &desc, &held->images[0]));
    TRY(ze.Image.pfnViewCreateExt(context, device, &desc, held->images[0], &held->images[1]));
    bindless_image.pNext = &export;
    bindless_image.flags = 1;
    TRY(ze.Image.pfnCreate(context, device, &desc, &held->images[2]));
    TRY(ze.Sampler.pfnCreate(context, device, &sampling, &held->sampler));
    TRY(ze.CommandList.pfnCreate(context, device, &list, &held->list));
    TRY(ze.Kernel.pfnSetArgumentValue(held->kernel, 0, 8, &held->exported));
    TRY(ze.CommandList.pfnAppendLaunchKernel(held->list, held->kernel, &groups, NULL, 0, NULL));
    TRY(ze.CommandList.pfnAppendImageCopyFromMemory(held->list, held->images[1], pixels, NULL, NULL, 0, NULL));
    return true;
}

static void no_memory(void)
{
    uint64_t objects = count_objects();
    bool whole = false;
    for (int64_t n = 1; !whole; n++) {
        struct held held = {0};
        CHECK(n < 2000);
        blr_allocate_fail_after(n);
        whole = path(&held);
        blr_allocate_fail_after(0);
        drop(&held);
        CHECK_EQUAL(objects, count_objects());
    }
}

int main(void)
{
    open_driver();
    uint64_t objects = count_objects();
    bindless_images();
    many_threads();
    semaphores();
    wrong_handles();
    settle(objects);
    no_memory();
    close_driver(objects);
    return 0;
}
