/* Images, samplers, external memory. */
#define _DEFAULT_SOURCE
#include "guide.h"
#include "guide_spirv.h"

#include <unistd.h>

enum { WIDTH = 128, HEIGHT = 64 }; /* powers of two, so that normalized coordinates are exact */

static ze_image_handle_t make_image(ze_image_flags_t flags, uint32_t width, uint32_t height)
{
    ze_image_format_t format = {ZE_IMAGE_FORMAT_LAYOUT_32,   ZE_IMAGE_FORMAT_TYPE_FLOAT, ZE_IMAGE_FORMAT_SWIZZLE_R,
                                ZE_IMAGE_FORMAT_SWIZZLE_0, ZE_IMAGE_FORMAT_SWIZZLE_0,  ZE_IMAGE_FORMAT_SWIZZLE_1};
    ze_image_desc_t desc = {ZE_STRUCTURE_TYPE_IMAGE_DESC, NULL, flags, ZE_IMAGE_TYPE_2D, format, width, height, 0, 0, 0};
    ze_image_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES};
    ze_image_handle_t image = NULL;
    OK(zeImageGetProperties(device, &desc, &properties));
    HOLDS(properties.samplerFilterFlags & ZE_IMAGE_SAMPLER_FILTER_FLAG_LINEAR);
    OK(zeImageCreate(context, device, &desc, &image));
    return image;
}

static float *make_pixels(uint32_t count)
{
    float *pixels = malloc(count * sizeof *pixels);
    for (uint32_t i = 0; i < count; i++)
        pixels[i] = (float)i * 0.25f;
    return pixels;
}

/* Upload, a copy of a region, download. */
void section_images(void)
{
    ze_image_handle_t image = make_image(0, WIDTH, HEIGHT), part = make_image(0, WIDTH / 2, HEIGHT / 2);
    float *pixels = make_pixels(WIDTH * HEIGHT), *quarter = make_pixels(WIDTH * HEIGHT / 4);
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    ze_image_region_t to = {0, 0, 0, WIDTH / 2, HEIGHT / 2, 1}, from = {WIDTH / 4, HEIGHT / 2, 0, WIDTH / 2, HEIGHT / 2, 1};
    OK(zeContextMakeImageResident(context, device, image));
    OK(zeCommandListAppendImageCopyFromMemory(list, image, pixels, NULL, NULL, 0, NULL));
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    OK(zeCommandListAppendImageCopyRegion(list, part, image, &to, &from, NULL, 0, NULL));
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    OK(zeCommandListAppendImageCopyToMemory(list, quarter, part, NULL, NULL, 0, NULL));
    run_list(queue, list);
    for (uint32_t y = 0; y < HEIGHT / 2; y++)
        for (uint32_t x = 0; x < WIDTH / 2; x++)
            HOLDS(quarter[y * (WIDTH / 2) + x] == pixels[(y + HEIGHT / 2) * WIDTH + x + WIDTH / 4]);
    OK(zeContextEvictImage(context, device, image));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeImageDestroy(image));
    OK(zeImageDestroy(part));
    free(pixels);
    free(quarter);
}

static ze_module_handle_t make_module(const uint32_t *code, size_t size)
{
    ze_module_desc_t desc = {ZE_STRUCTURE_TYPE_MODULE_DESC, NULL, ZE_MODULE_FORMAT_IL_SPIRV, size, (const uint8_t *)code, NULL, NULL};
    ze_module_handle_t module = NULL;
    OK(zeModuleCreate(context, device, &desc, &module, NULL));
    return module;
}

static ze_kernel_handle_t make_kernel(ze_module_handle_t module, const char *name)
{
    ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, name};
    ze_kernel_handle_t kernel = NULL;
    OK(zeKernelCreate(module, &desc, &kernel));
    return kernel;
}

/* The guide's kernel scales an image, and a second one after new argument values. */
void section_image_scaling(void)
{
    const uint32_t width = WIDTH / 2, height = HEIGHT / 2;
    ze_module_handle_t module = make_module(image_scaling, sizeof image_scaling);
    ze_kernel_handle_t kernel = make_kernel(module, "image_scaling");
    ze_image_handle_t source = make_image(0, WIDTH, HEIGHT);
    ze_image_handle_t results[2] = {make_image(ZE_IMAGE_FLAG_KERNEL_WRITE, width, height),
                                    make_image(ZE_IMAGE_FLAG_KERNEL_WRITE, width, height)};
    float *pixels = make_pixels(WIDTH * HEIGHT), *scaled = make_pixels(width * height);
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    uint32_t group[3];
    OK(zeKernelSuggestGroupSize(kernel, width, height, 1, &group[0], &group[1], &group[2]));
    OK(zeKernelSetGroupSize(kernel, group[0], group[1], 1));
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof source, &source));
    OK(zeKernelSetArgumentValue(kernel, 2, sizeof width, &width));
    OK(zeKernelSetArgumentValue(kernel, 3, sizeof height, &height));
    ze_group_count_t groups = {width / group[0], height / group[1], 1};
    OK(zeCommandListAppendImageCopyFromMemory(list, source, pixels, NULL, NULL, 0, NULL));
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    for (int i = 0; i < 2; i++) {
        OK(zeKernelSetArgumentValue(kernel, 1, sizeof results[i], &results[i]));
        OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    }
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    OK(zeCommandListAppendImageCopyToMemory(list, scaled, results[1], NULL, NULL, 0, NULL));
    run_list(queue, list);
    /* The centre of a scaled pixel is the corner of four texels: the nearest one is the one after it. */
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            HOLDS(scaled[y * width + x] == pixels[(2 * y + 1) * WIDTH + 2 * x + 1]);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeImageDestroy(source));
    OK(zeImageDestroy(results[0]));
    OK(zeImageDestroy(results[1]));
    free(pixels);
    free(scaled);
}

/* Linear filtering, and addressing beyond the image. */
void section_samplers(void)
{
    ze_sampler_desc_t desc = {ZE_STRUCTURE_TYPE_SAMPLER_DESC, NULL, ZE_SAMPLER_ADDRESS_MODE_CLAMP, ZE_SAMPLER_FILTER_MODE_LINEAR, false};
    ze_sampler_handle_t sampler = NULL;
    ze_module_handle_t module = make_module(sampled, sizeof sampled);
    ze_kernel_handle_t kernel = make_kernel(module, "sampled");
    ze_image_handle_t image = make_image(0, WIDTH, HEIGHT);
    float *pixels = make_pixels(WIDTH * HEIGHT);
    float *at = (float *)make_numbers(6), *out = (float *)make_numbers(12);
    const float places[] = {2.0f, 3.5f, -5.0f, 0.5f, 1000.0f, 1000.0f};
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    ze_group_count_t groups = {3, 1, 1};
    memcpy(at, places, sizeof places);
    OK(zeSamplerCreate(context, device, &desc, &sampler));
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof image, &image));
    OK(zeKernelSetArgumentValue(kernel, 1, sizeof sampler, &sampler));
    OK(zeKernelSetArgumentValue(kernel, 2, sizeof at, &at));
    OK(zeKernelSetArgumentValue(kernel, 3, sizeof out, &out));
    OK(zeCommandListAppendImageCopyFromMemory(list, image, pixels, NULL, NULL, 0, NULL));
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    run_list(queue, list);
    HOLDS(out[0] == (pixels[3 * WIDTH + 1] + pixels[3 * WIDTH + 2]) / 2 && out[1] == 0.0f && out[3] == 1.0f);
    HOLDS(out[4] == pixels[0] && out[8] == pixels[WIDTH * HEIGHT - 1]);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeSamplerDestroy(sampler));
    OK(zeImageDestroy(image));
    OK(zeMemFree(context, at));
    OK(zeMemFree(context, out));
    free(pixels);
}

/* One allocation exports memory; another one and an image import it. */
void section_external_memory(void)
{
    ze_device_external_memory_properties_t offered = {.stype = ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES};
    OK(zeDeviceGetExternalMemoryProperties(device, &offered));
    if ((offered.memoryAllocationExportTypes & offered.memoryAllocationImportTypes & ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF) == 0)
        return; /* an optional feature */
    ze_external_memory_export_desc_t export_desc = {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, NULL,
                                                    ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF};
    ze_device_mem_alloc_desc_t alloc_desc = {ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, &export_desc, 0, 0};
    void *pointer = NULL, *imported = NULL;
    const size_t size = WIDTH * HEIGHT * sizeof(float);
    OK(zeMemAllocDevice(context, &alloc_desc, size, 0, device, &pointer));
    ze_external_memory_export_fd_t export_fd = {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, NULL, ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF, 0};
    ze_memory_allocation_properties_t alloc_props = {.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, .pNext = &export_fd};
    OK(zeMemGetAllocProperties(context, pointer, &alloc_props, NULL));
    ze_external_memory_import_fd_t import_fd = {ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, NULL, ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF,
                                                export_fd.fd};
    alloc_desc.pNext = &import_fd;
    OK(zeMemAllocDevice(context, &alloc_desc, size, 0, device, &imported));
    ze_image_format_t format = {ZE_IMAGE_FORMAT_LAYOUT_32,   ZE_IMAGE_FORMAT_TYPE_FLOAT, ZE_IMAGE_FORMAT_SWIZZLE_R,
                                ZE_IMAGE_FORMAT_SWIZZLE_0, ZE_IMAGE_FORMAT_SWIZZLE_0,  ZE_IMAGE_FORMAT_SWIZZLE_1};
    ze_image_desc_t image_desc = {ZE_STRUCTURE_TYPE_IMAGE_DESC, &import_fd, 0, ZE_IMAGE_TYPE_2D, format, WIDTH, HEIGHT, 0, 0, 0};
    ze_image_handle_t image = NULL;
    OK(zeImageCreate(context, device, &image_desc, &image));
    close(export_fd.fd);

    float *pixels = make_pixels(WIDTH * HEIGHT), *found = make_pixels(1), *image_found = malloc(size);
    found = realloc(found, size);
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    OK(zeCommandListAppendMemoryCopy(list, pointer, pixels, size, NULL, 0, NULL));
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, found, imported, size, NULL, 0, NULL));
    OK(zeCommandListAppendImageCopyToMemory(list, image_found, image, NULL, NULL, 0, NULL));
    run_list(queue, list);
    HOLDS(memcmp(found, pixels, size) == 0 && memcmp(image_found, pixels, size) == 0);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeImageDestroy(image));
    OK(zeMemFree(context, imported));
    OK(zeMemFree(context, pointer));
    free(pixels);
    free(found);
    free(image_found);
}
