/* Modules: builds, build logs, specialization constants, links, native binaries. */
#include "guide.h"
#include "guide_spirv.h"

static ze_module_desc_t module_desc(const uint32_t *code, size_t size)
{
    return (ze_module_desc_t){.stype = ZE_STRUCTURE_TYPE_MODULE_DESC, .inputSize = size, .pInputModule = (const uint8_t *)code};
}

/* Returns the text of a log and destroys the log. */
static char *read_log(ze_module_build_log_handle_t log)
{
    size_t size = 0;
    OK(zeModuleBuildLogGetString(log, &size, NULL));
    char *text = malloc(size);
    OK(zeModuleBuildLogGetString(log, &size, text));
    OK(zeModuleBuildLogDestroy(log));
    return text;
}

static ze_kernel_handle_t make_kernel(ze_module_handle_t module, const char *name)
{
    ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, name};
    ze_kernel_handle_t kernel = NULL;
    OK(zeKernelCreate(module, &desc, &kernel));
    return kernel;
}

/* Runs a kernel of one work-item with the numbers as its argument. */
static void run_single(ze_module_handle_t module, const char *name, uint32_t *numbers)
{
    ze_kernel_handle_t kernel = make_kernel(module, name);
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    ze_group_count_t groups = {1, 1, 1};
    OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof numbers, &numbers));
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    run_list(queue, list);
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeKernelDestroy(kernel));
}

void section_build_options(void)
{
    static const char *const options[] = {"-ze-opt-disable", "-ze-opt-level=1", "-ze-opt-level=2 -ze-opt-large-register-file",
                                          "-ze-opt-greater-than-4GB-buffer-required -g", "-ze-opt-has-buffer-offset-arg"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        ze_module_desc_t desc = module_desc(numbers, sizeof numbers);
        ze_module_handle_t module = NULL;
        desc.pBuildFlags = options[i];
        OK(zeModuleCreate(context, device, &desc, &module, NULL));
        OK(zeModuleDestroy(module));
    }
}

void section_specialization_constants(void)
{
    const uint32_t ids[] = {0, 1, 2}, sizes[] = {16, 8, 2};
    const void *values[] = {&sizes[0], &sizes[1], &sizes[2]};
    ze_module_constants_t constants = {3, ids, values};
    ze_module_desc_t desc = module_desc(group_size, sizeof group_size);
    ze_module_handle_t plain = NULL, special = NULL;
    uint32_t *found = make_numbers(3);
    OK(zeModuleCreate(context, device, &desc, &plain, NULL));
    desc.pConstants = &constants;
    OK(zeModuleCreate(context, device, &desc, &special, NULL));
    run_single(plain, "group_size", found);
    HOLDS(found[0] == 1 && found[1] == 1 && found[2] == 1);
    run_single(special, "group_size", found);
    HOLDS(found[0] == 16 && found[1] == 8 && found[2] == 2);
    OK(zeModuleDestroy(plain));
    OK(zeModuleDestroy(special));
    OK(zeMemFree(context, found));
}

void section_build_log(void)
{
    ze_module_build_log_handle_t log = NULL;
    ze_module_handle_t module = NULL;
    ze_module_desc_t desc = module_desc(numbers, sizeof numbers / 2);
    HOLDS(zeModuleCreate(context, device, &desc, &module, &log) == ZE_RESULT_ERROR_MODULE_BUILD_FAILURE);
    char *text = read_log(log);
    HOLDS(strlen(text) > 0);
    free(text);
    desc = module_desc(numbers, sizeof numbers);
    OK(zeModuleCreate(context, device, &desc, &module, &log));
    free(read_log(log));
    OK(zeModuleDestroy(module));
}

void section_dynamic_link(void)
{
    ze_module_desc_t first = module_desc(importer, sizeof importer), second = module_desc(exporter, sizeof exporter);
    ze_module_handle_t modules[2] = {NULL, NULL};
    ze_module_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES};
    ze_module_build_log_handle_t log = NULL;
    ze_kernel_desc_t kernel_desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, NULL, 0, "count"};
    ze_kernel_handle_t kernel = NULL;
    uint32_t *found = make_numbers(1);
    OK(zeModuleCreate(context, device, &first, &modules[0], NULL));
    OK(zeModuleCreate(context, device, &second, &modules[1], NULL));
    OK(zeModuleGetProperties(modules[0], &properties));
    HOLDS(properties.flags == ZE_MODULE_PROPERTY_FLAG_IMPORTS);
    HOLDS(zeKernelCreate(modules[0], &kernel_desc, &kernel) == ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED);
    HOLDS(zeModuleDynamicLink(1, modules, &log) == ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
    char *text = read_log(log);
    HOLDS(strlen(text) > 0);
    free(text);
    OK(zeModuleDynamicLink(2, modules, &log));
    free(read_log(log));
    run_single(modules[0], "count", found);
    HOLDS(found[0] == 10);
    run_single(modules[0], "count", found);
    HOLDS(found[0] == 20);
    void *counter = NULL;
    size_t size = 0;
    OK(zeModuleGetGlobalPointer(modules[1], "counter", &size, &counter));
    HOLDS(size == sizeof(uint32_t) && counter != NULL);
    HOLDS(zeModuleGetGlobalPointer(modules[1], "another", &size, &counter) == ZE_RESULT_ERROR_INVALID_GLOBAL_NAME);
    OK(zeModuleDestroy(modules[0]));
    OK(zeModuleDestroy(modules[1]));
    OK(zeMemFree(context, found));
}

/* A native binary for a program's own cache, and a module created from it. */
void section_native_binaries(void)
{
    ze_module_desc_t desc = module_desc(group_size, sizeof group_size);
    ze_module_handle_t module = NULL, again = NULL;
    size_t size = 0;
    uint32_t *found = make_numbers(3);
    OK(zeModuleCreate(context, device, &desc, &module, NULL));
    OK(zeModuleGetNativeBinary(module, &size, NULL));
    uint8_t *binary = malloc(size);
    OK(zeModuleGetNativeBinary(module, &size, binary));
    OK(zeModuleDestroy(module));
    ze_module_desc_t native = {
        .stype = ZE_STRUCTURE_TYPE_MODULE_DESC, .format = ZE_MODULE_FORMAT_NATIVE, .inputSize = size, .pInputModule = binary};
    OK(zeModuleCreate(context, device, &native, &again, NULL));
    run_single(again, "group_size", found);
    HOLDS(found[0] == 1);
    OK(zeModuleDestroy(again));
    native.inputSize = size / 2;
    HOLDS(zeModuleCreate(context, device, &native, &again, NULL) == ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    OK(zeMemFree(context, found));
    free(binary);
}
