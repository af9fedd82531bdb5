/* Kernels: names, properties, arguments, all kinds of launches, printf output. */
#include "guide.h"
#include "guide_spirv.h"

#include <unistd.h>

enum { COUNT = 256 };

static ze_module_handle_t make_module(void)
{
    ze_module_desc_t desc = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC, .inputSize = sizeof numbers, .pInputModule = (const uint8_t *)numbers};
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

static void destroy(ze_kernel_handle_t kernel, ze_module_handle_t module)
{
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
}

void section_kernels(void)
{
    ze_module_handle_t module = make_module();
    ze_kernel_desc_t missing = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, "image_scaling"};
    ze_kernel_handle_t kernel = NULL;
    HOLDS(zeKernelCreate(module, &missing, &kernel) == ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    kernel = make_kernel(module, "sum_groups");
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    uint32_t count = 0;
    OK(zeKernelGetProperties(kernel, &properties));
    HOLDS(properties.numKernelArgs == 3 && properties.maxSubgroupSize > 0);
    OK(zeModuleGetKernelNames(module, &count, NULL));
    const char **names = calloc(count, sizeof *names);
    OK(zeModuleGetKernelNames(module, &count, names));
    bool found = false;
    for (uint32_t i = 0; i < count; i++)
        found = found || strcmp(names[i], "multiply") == 0;
    HOLDS(found && count == 5);
    free(names);
    OK(zeKernelSetCacheConfig(kernel, ZE_CACHE_CONFIG_FLAG_LARGE_SLM));
    destroy(kernel, module);
}

/* An append copies the arguments; local memory has a size and no value. */
void section_arguments(void)
{
    ze_module_handle_t module = make_module();
    ze_kernel_handle_t multiply = make_kernel(module, "multiply"), sum = make_kernel(module, "sum_groups");
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    uint32_t *data = make_numbers(COUNT), *sums = make_numbers(COUNT / 64);
    ze_group_count_t groups = {COUNT / 64, 1, 1};
    for (uint32_t i = 0; i < COUNT; i++)
        data[i] = i;
    OK(zeKernelSetGroupSize(multiply, 64, 1, 1));
    OK(zeKernelSetArgumentValue(multiply, 0, sizeof data, &data));
    for (uint32_t factor = 2; factor < 4; factor++) {
        OK(zeKernelSetArgumentValue(multiply, 1, sizeof factor, &factor));
        OK(zeCommandListAppendLaunchKernel(list, multiply, &groups, NULL, 0, NULL));
        OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    }
    OK(zeKernelSetGroupSize(sum, 64, 1, 1));
    OK(zeKernelSetArgumentValue(sum, 0, sizeof data, &data));
    OK(zeKernelSetArgumentValue(sum, 1, sizeof sums, &sums));
    OK(zeKernelSetArgumentValue(sum, 2, 64 * sizeof(uint32_t), NULL));
    OK(zeCommandListAppendLaunchKernel(list, sum, &groups, NULL, 0, NULL));
    run_list(queue, list);
    for (uint32_t group = 0; group < COUNT / 64; group++)
        HOLDS(sums[group] == 6 * (64 * 63 / 2 + 64 * 64 * group));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeKernelDestroy(sum));
    destroy(multiply, module);
    OK(zeMemFree(context, data));
    OK(zeMemFree(context, sums));
}

/* The group count of a launch is in memory that an earlier kernel writes. */
void section_indirect_launches(void)
{
    ze_module_handle_t module = make_module();
    ze_kernel_handle_t choose = make_kernel(module, "choose_groups"), multiply = make_kernel(module, "multiply");
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    uint32_t *data = make_numbers(COUNT), *counts = make_numbers(3);
    const uint32_t few = 5, factor = 7;
    ze_group_count_t single = {1, 1, 1};
    for (uint32_t i = 0; i < COUNT; i++)
        data[i] = 1;
    OK(zeKernelSetGroupSize(choose, 1, 1, 1));
    OK(zeKernelSetArgumentValue(choose, 0, sizeof counts, &counts));
    OK(zeKernelSetArgumentValue(choose, 1, sizeof few, &few));
    OK(zeKernelSetGroupSize(multiply, 4, 1, 1));
    OK(zeKernelSetArgumentValue(multiply, 0, sizeof data, &data));
    OK(zeKernelSetArgumentValue(multiply, 1, sizeof factor, &factor));
    OK(zeCommandListAppendLaunchKernel(list, choose, &single, NULL, 0, NULL));
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    OK(zeCommandListAppendLaunchKernelIndirect(list, multiply, (const ze_group_count_t *)(void *)counts, NULL, 0, NULL));
    run_list(queue, list);
    HOLDS(all_are(data, 7, 20) && all_are(data + 20, 1, COUNT - 20));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeKernelDestroy(choose));
    destroy(multiply, module);
    OK(zeMemFree(context, data));
    OK(zeMemFree(context, counts));
}

void section_cooperative_launches(void)
{
    ze_module_handle_t module = make_module();
    ze_kernel_handle_t multiply = make_kernel(module, "multiply");
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    uint32_t *data = make_numbers(64), most = 0;
    const uint32_t factor = 3;
    data[0] = 2;
    OK(zeKernelSuggestMaxCooperativeGroupCount(multiply, &most));
    HOLDS(most >= 1);
    OK(zeKernelSetGroupSize(multiply, 64, 1, 1));
    OK(zeKernelSetArgumentValue(multiply, 0, sizeof data, &data));
    OK(zeKernelSetArgumentValue(multiply, 1, sizeof factor, &factor));
    ze_group_count_t groups = {1, 1, 1};
    OK(zeCommandListAppendLaunchCooperativeKernel(list, multiply, &groups, NULL, 0, NULL));
    run_list(queue, list);
    HOLDS(data[0] == 6 && data[1] == 0);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    destroy(multiply, module);
    OK(zeMemFree(context, data));
}

/* A linked list in memory, of which only the first node is an argument. */
void section_indirect_access(void)
{
    ze_module_handle_t module = make_module();
    ze_kernel_handle_t follow = make_kernel(module, "follow");
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    ze_host_mem_alloc_desc_t desc = {ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, NULL, 0};
    ze_group_count_t groups = {1, 1, 1};
    uint32_t *length = make_numbers(1);
    void **nodes[3];
    for (int i = 0; i < 3; i++)
        OK(zeMemAllocHost(context, &desc, sizeof(void *), 1, (void **)&nodes[i]));
    for (int i = 0; i < 3; i++)
        *nodes[i] = i < 2 ? nodes[i + 1] : NULL;
    OK(zeKernelSetIndirectAccess(follow, ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST));
    OK(zeKernelSetGroupSize(follow, 1, 1, 1));
    OK(zeKernelSetArgumentValue(follow, 0, sizeof nodes[0], &nodes[0]));
    OK(zeKernelSetArgumentValue(follow, 1, sizeof length, &length));
    OK(zeCommandListAppendLaunchKernel(list, follow, &groups, NULL, 0, NULL));
    run_list(queue, list);
    HOLDS(*length == 3);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    destroy(follow, module);
    for (int i = 0; i < 3; i++)
        OK(zeMemFree(context, nodes[i]));
    OK(zeMemFree(context, length));
}

/* The printf output is complete when the launch is: a file replaces the standard output. */
void section_printing(void)
{
    ze_module_handle_t module = make_module();
    ze_kernel_handle_t print = make_kernel(module, "print");
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    ze_device_module_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    ze_group_count_t groups = {1, 1, 1};
    const uint32_t number = 7;
    char text[64] = "";
    OK(zeDeviceGetModuleProperties(device, &properties));
    HOLDS(properties.printfBufferSize > 0);
    OK(zeKernelSetGroupSize(print, 1, 1, 1));
    OK(zeKernelSetArgumentValue(print, 0, sizeof number, &number));
    OK(zeCommandListAppendLaunchKernel(list, print, &groups, NULL, 0, NULL));
    fflush(stdout);
    FILE *file = tmpfile();
    int output = dup(STDOUT_FILENO);
    HOLDS(file != NULL && dup2(fileno(file), STDOUT_FILENO) >= 0);
    run_list(queue, list);
    HOLDS(dup2(output, STDOUT_FILENO) >= 0);
    close(output);
    rewind(file);
    HOLDS(fgets(text, sizeof text, file) != NULL && strcmp(text, "work-item 0 prints 7\n") == 0);
    fclose(file);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    destroy(print, module);
}
