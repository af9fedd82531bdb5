/* Fuzzer of the Level Zero driver's entry points. The input encodes calls on images, samplers, modules, kernels and
 * command lists, with mostly valid arguments and mostly valid handles.
 *
 *   cmake -DBINDLESS_BUILD_C_TESTS=ON -DBINDLESS_FUZZ=ON -DBINDLESS_SANITIZE=address,undefined
 *   -DCMAKE_C_COMPILER=clang ...
 *   tests/c/fuzz_level_zero -max_total_time=600
 *
 * It finds crashes, undefined behaviour, hangs and leaked objects. */
#include "../level_zero_tables.h"

#include "../level_zero/guide_spirv.h"

enum { HANDLES = 6, MEMORY = 16384 };

static const uint8_t *input;
static size_t left;

/* Objects that the calls use. A destroyed handle stays in its place, to be used again. */
static struct {
    ze_image_handle_t images[HANDLES];
    ze_sampler_handle_t samplers[HANDLES];
    ze_module_handle_t modules[HANDLES];
    ze_kernel_handle_t kernels[HANDLES];
    ze_command_list_handle_t list;
    unsigned char *memory;
} at;

/* ---------------------------------------------------------------- choices */

static uint8_t byte(void)
{
    if (left == 0)
        return 0;
    left--;
    return *input++;
}

static uint32_t word(void)
{
    uint32_t value = byte();
    for (int i = 1; i < 4; i++)
        value = value << 8 | byte();
    return value;
}

/* A small number; one in sixteen is arbitrary. */
static uint32_t number(uint32_t most)
{
    uint8_t choice = byte();
    return choice < 240 ? choice % (most + 1) : word();
}

static void *any_handle(void **of_this_kind)
{
    static const uintptr_t others[] = {0, 1, 0x1000, UINTPTR_MAX, 0x2c00000004000040};
    uint8_t choice = byte();
    if (choice < 230)
        return of_this_kind[choice % HANDLES];
    if (choice < 240)
        return ((void **)&at)[byte() % (sizeof at / sizeof(void *))];
    return (void *)others[choice % 5];
}

/* An address in an allocation: the driver does not check the program's other memory. */
static unsigned char *place_in_memory(void) { return at.memory + (uint32_t)(byte() << 8 | byte()) % MEMORY; }

#define ANY(kind) any_handle((void **)at.kind)

/* ---------------------------------------------------------------- images */

static union {
    ze_image_bindless_exp_desc_t bindless;
    ze_sampler_desc_t sampler;
    ze_image_pitched_exp_desc_t pitched;
    ze_custom_pitch_exp_desc_t pitch;
    ze_external_memory_export_desc_t export;
    ze_external_memory_import_fd_t import;
} links[8];

static ze_sampler_desc_t any_sampler(const void *next)
{
    return (ze_sampler_desc_t){ZE_STRUCTURE_TYPE_SAMPLER_DESC, next, (ze_sampler_address_mode_t)number(5),
                               (ze_sampler_filter_mode_t)number(2), byte() & 1};
}

/* A chain of structs, some of which the call does not accept. */
static const void *any_chain(void)
{
    const void *next = NULL;
    for (uint32_t i = 0, count = byte() % 5; i < count; i++) {
        switch (byte() % 7) {
        case 0:
        case 1: links[i].bindless = (ze_image_bindless_exp_desc_t){ZE_STRUCTURE_TYPE_BINDLESS_IMAGE_EXP_DESC, next, number(3)}; break;
        case 2: links[i].sampler = any_sampler(next); break;
        case 3:
            links[i].pitched =
                (ze_image_pitched_exp_desc_t){ZE_STRUCTURE_TYPE_PITCHED_IMAGE_EXP_DESC, next, at.memory + 64 * number(300)};
            break;
        case 4:
            links[i].pitch = (ze_custom_pitch_exp_desc_t){ZE_STRUCTURE_TYPE_CUSTOM_PITCH_EXP_DESC, next, number(255), number(255)};
            break;
        case 5: links[i].export = (ze_external_memory_export_desc_t){ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, next, number(3)}; break;
        default:
            links[i].import = (ze_external_memory_import_fd_t){ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, next, number(2), -1};
            break;
        }
        next = &links[i];
    }
    return next;
}

static ze_image_desc_t any_image(void)
{
    ze_image_desc_t desc = {.stype = byte() < 250 ? ZE_STRUCTURE_TYPE_IMAGE_DESC : (ze_structure_type_t)number(200)};
    desc.pNext = any_chain();
    desc.flags = number(3);
    desc.type = (ze_image_type_t)number(5);
    desc.format.layout = (ze_image_format_layout_t)number(46);
    desc.format.type = (ze_image_format_type_t)number(4);
    desc.format.x = (ze_image_format_swizzle_t)number(6);
    desc.format.y = (ze_image_format_swizzle_t)number(6);
    desc.format.z = (ze_image_format_swizzle_t)number(6);
    desc.format.w = (ze_image_format_swizzle_t)number(6);
    desc.width = number(40);
    desc.height = number(20);
    desc.depth = number(6);
    desc.arraylevels = number(6);
    return desc;
}

static ze_image_region_t any_region(void)
{
    return (ze_image_region_t){number(8), number(8), number(3), number(40), number(20), number(6)};
}

static void call_images(uint8_t operation)
{
    ze_image_desc_t desc = any_image();
    ze_image_region_t first = any_region(), second = any_region();
    const ze_image_region_t *to = byte() & 1 ? &first : NULL, *from = byte() & 1 ? &second : NULL;
    ze_image_handle_t made = NULL;
    uint64_t offset;
    switch (operation) {
    case 0:
        if (ze.Image.pfnCreate(context, device, &desc, &made) == ZE_RESULT_SUCCESS)
            break;
        return;
    case 1:
        if (ze.Image.pfnViewCreateExt(context, device, &desc, ANY(images), &made) == ZE_RESULT_SUCCESS)
            break;
        return;
    case 2: ze.Image.pfnDestroy(ANY(images)); return;
    case 3: ze.CommandList.pfnAppendImageCopyRegion(at.list, ANY(images), ANY(images), to, from, NULL, 0, NULL); return;
    case 4:
        ze.CommandList.pfnAppendImageCopyToMemoryExt(at.list, place_in_memory(), ANY(images), from, number(255), number(255), NULL,
                                                     0, NULL);
        return;
    case 5:
        ze.CommandList.pfnAppendImageCopyFromMemoryExt(at.list, ANY(images), place_in_memory(), to, number(255), number(255), NULL,
                                                       0, NULL);
        return;
    default: ze.ImageExp.pfnGetDeviceOffsetExp(ANY(images), &offset); return;
    }
    /* One slot per handle, so that all can be destroyed. */
    ze_image_handle_t *place = &at.images[byte() % HANDLES];
    ze.Image.pfnDestroy(*place);
    *place = made;
}

/* ---------------------------------------------------------------- modules and kernels */

static const struct {
    const uint32_t *code;
    size_t size;
} codes[] = {{numbers, sizeof numbers},   {sampled, sizeof sampled},   {image_scaling, sizeof image_scaling}, {bindless, sizeof bindless},
             {group_size, sizeof group_size}, {importer, sizeof importer}, {exporter, sizeof exporter}};

static ze_result_t make_module(ze_module_handle_t *module)
{
    static unsigned char code[32768];
    size_t which = byte() % 7, size = codes[which].size;
    static const char *const flags[] = {NULL, "", "-g", "-ze-opt-level", "-ze-opt-level=2 -x"};
    uint32_t ids[2] = {number(3), number(3)};
    uint64_t values[2] = {word(), word()};
    const void *places[2] = {&values[0], byte() < 250 ? &values[1] : NULL};
    ze_module_constants_t constants = {number(2) % 3, ids, places};
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC, .format = (ze_module_format_t)(byte() % 8 == 0)};
    memcpy(code, codes[which].code, size);
    if (desc.format == ZE_MODULE_FORMAT_NATIVE) {
        size = sizeof code;
        if (ze.Module.pfnGetNativeBinary(ANY(modules), &size, code) != ZE_RESULT_SUCCESS)
            return ZE_RESULT_ERROR_UNKNOWN;
    }
    for (uint32_t i = 0, changes = byte() % 4; i < changes; i++)
        code[word() % size] = byte();
    desc.inputSize = byte() < 240 ? size : word() % size;
    desc.pInputModule = code;
    desc.pBuildFlags = flags[byte() % 16 < 11 ? 0 : byte() % 5];
    desc.pConstants = byte() & 1 ? &constants : NULL;
    ze_module_build_log_handle_t log = NULL;
    ze_result_t result = ze.Module.pfnCreate(context, device, &desc, module, byte() & 1 ? &log : NULL);
    if (log != NULL) {
        char text[64];
        size_t length = byte() & 1 ? sizeof text : 0;
        ze.ModuleBuildLog.pfnGetString(log, &length, text);
        ze.ModuleBuildLog.pfnDestroy(log);
    }
    return result;
}

static void set_argument(void)
{
    ze_kernel_handle_t kernel = ANY(kernels);
    uint32_t index = number(5);
    uint64_t value = 0;
    void *handle = NULL;
    static const char *const names[] = {"twice", "counter", "count", "no such name"};
    size_t size;
    switch (byte() % 8) {
    case 0: handle = ANY(images); break;
    case 1: handle = ANY(samplers); break;
    case 5: ze.Module.pfnGetFunctionPointer(ANY(modules), names[byte() % 4], &handle); break;
    case 6: ze.Module.pfnGetGlobalPointer(ANY(modules), names[byte() % 4], &size, &handle); break;
    case 2: handle = at.memory + number(200); break;
    case 3: ze.ImageExp.pfnGetDeviceOffsetExp(ANY(images), &value); handle = (void *)(uintptr_t)value; break;
    case 4: ze.Kernel.pfnSetArgumentValue(kernel, index, number(64), NULL); return;
    default: handle = (void *)(uintptr_t)number(255); break;
    }
    ze.Kernel.pfnSetArgumentValue(kernel, index, byte() & 1 ? 8 : 4, &handle);
}

static void call_kernels(uint8_t operation)
{
    static const char *const names[] = {"multiply", "choose_groups", "sum_groups", "follow", "sampled", "image_scaling", "gather",
                                        "group_size", "count", "no such kernel"};
    ze_group_count_t groups = {number(8), number(3), number(2)};
    ze_module_handle_t module = NULL, both[2] = {ANY(modules), ANY(modules)};
    ze_kernel_handle_t kernel = NULL;
    ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = names[byte() % 10]};
    switch (operation) {
    case 0:
        if (make_module(&module) != ZE_RESULT_SUCCESS)
            return;
        ze.Module.pfnDestroy(at.modules[0]);
        memmove(at.modules, at.modules + 1, sizeof at.modules - sizeof *at.modules);
        at.modules[HANDLES - 1] = module;
        return;
    case 1:
        if (ze.Kernel.pfnCreate(ANY(modules), &desc, &kernel) != ZE_RESULT_SUCCESS)
            return;
        ze.Kernel.pfnDestroy(at.kernels[0]);
        memmove(at.kernels, at.kernels + 1, sizeof at.kernels - sizeof *at.kernels);
        at.kernels[HANDLES - 1] = kernel;
        return;
    case 2: ze.Module.pfnDynamicLink(1 + byte() % 2, both, NULL); return;
    case 3:
    case 4: set_argument(); return;
    case 5: ze.Kernel.pfnSetGroupSize(ANY(kernels), number(64), number(4), number(2)); return;
    case 6: ze.Kernel.pfnDestroy(ANY(kernels)); return;
    case 7: ze.Module.pfnDestroy(ANY(modules)); return;
    case 8:
        ze.CommandList.pfnAppendLaunchKernelIndirect(at.list, ANY(kernels), (const ze_group_count_t *)(void *)place_in_memory(),
                                                     NULL, 0, NULL);
        return;
    default: ze.CommandList.pfnAppendLaunchKernel(at.list, ANY(kernels), &groups, NULL, 0, NULL); return;
    }
}

static void call_samplers(void)
{
    ze_sampler_desc_t desc = any_sampler(NULL);
    ze_sampler_handle_t *place = &at.samplers[byte() % HANDLES];
    ze.Sampler.pfnDestroy(*place);
    if (byte() & 3)
        ze.Sampler.pfnCreate(context, device, &desc, place);
}

/* ---------------------------------------------------------------- runs */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint64_t objects;
    if (driver == NULL) {
        setenv("BINDLESS_REFERENCE_TIMEOUT", "0.05", 1);
        open_driver();
        at.memory = new_memory(MEMORY);
        at.list = new_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
        objects = count_objects();
    }
    input = data;
    left = size;
    memset(at.memory, 0, MEMORY);
    while (left > 0) {
        uint8_t choice = byte();
        if (choice < 100)
            call_images(choice % 7);
        else if (choice < 240)
            call_kernels(choice % 11);
        else
            call_samplers();
    }
    for (int i = 0; i < HANDLES; i++) {
        ze.Kernel.pfnDestroy(at.kernels[i]);
        ze.Module.pfnDestroy(at.modules[i]);
        ze.Image.pfnDestroy(at.images[i]);
        ze.Sampler.pfnDestroy(at.samplers[i]);
        at.kernels[i] = NULL;
        at.modules[i] = NULL;
        at.images[i] = NULL;
        at.samplers[i] = NULL;
    }
    ze.CommandList.pfnHostSynchronize(at.list, UINT64_MAX);
    CHECK_EQUAL(objects, count_objects());
    return 0;
}
