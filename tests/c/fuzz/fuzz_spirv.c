/* Fuzzer of SPIR-V modules: the driver refuses or runs arbitrary bytes without crashes, leaks or accesses out of
 * bounds.
 *
 * Built with -DBINDLESS_FUZZ=ON and clang: fuzz_spirv CORPUS -max_len=65536 -timeout=20. Every kernel of a module
 * that builds runs over a few work-items, with one buffer for all its pointers. */
#include "fuzz_kernels.h"

static blr_module_t library;

static void prepare(void)
{
    /* A function f, which adds its argument to a variable t. */
    static const uint32_t code[] = {0x07230203u, 0x00010400u, 0, 12, 0, 0x20011, 6, 0x3000e, 2, 2,
                                    0x50047, 1, 41, 0x66, 0, 0x50047, 2, 41, 0x74, 0, /* OpDecorate LinkageAttributes Export */
                                    0x40015, 3, 32, 0, 0x40020, 4, 5, 3, 0x40021, 5, 3, 3, 0x4002b, 3, 6, 7, 0x5003b, 4, 2, 5, 6,
                                    0x50036, 3, 1, 0, 5, 0x30037, 3, 7, 0x200f8, 8, 0x4003d, 3, 9, 2, 0x50080, 3, 10, 9, 7,
                                    0x3003e, 2, 10, 0x200fe, 10, 0x10038};
    if (context != NULL)
        return;
    open_device();
    if (blrModuleCompile(context, code, sizeof code, 0, NULL, &library))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    blr_module_t module;
    prepare();
    if (blrModuleCompile(context, data, size, 0, NULL, &module) != BLR_RESULT_SUCCESS)
        return 0;
    /* Linked alone, a module is equal to the result of blrModuleCreate; linked with our functions, it may have more. */
    blr_module_t linked, both[2] = {module, library};
    bool links = blrModuleLink(context, 2, both, &linked) == BLR_RESULT_SUCCESS ||
                 blrModuleLink(context, 1, &module, &linked) == BLR_RESULT_SUCCESS;
    run_kernels(links ? linked : module);
    blrModuleDestroy(module);
    if (links)
        blrModuleDestroy(linked);
    require_no_leaks();
    return 0;
}
