/* Fuzzer of PTX: the compiler refuses or translates arbitrary text without crashes, leaks or accesses out of bounds, and the
 * driver takes and runs what it translates.
 *
 * Built with -DBINDLESS_FUZZ=ON and clang: fuzz_ptx CORPUS -max_len=16384 -timeout=20 -dict=ptx.dict. */
#include "fuzz_kernels.h"

#include "ptx.h"

#define MEMORY_LIMIT ((size_t)64 << 20)
#define MOST_GLOBALS ((uint64_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct bindless_ptx_options options = {.memory_limit = MEMORY_LIMIT};
    struct bindless_ptx_module compiled;
    if (context == NULL)
        open_device();
    const bool done = bindless_ptx_compile((const char *)data, size, &options, &compiled);
    if (done != (compiled.log[0] == '\0'))
        abort();
    void *globals = NULL;
    if (done && compiled.globals_bytes <= MOST_GLOBALS &&
        blrMemoryAllocate(context, BLR_MEMORY_SHARED, compiled.globals_bytes + 1, 0, &globals) == BLR_RESULT_SUCCESS) {
        const uint64_t address = (uint64_t)(uintptr_t)globals;
        const blr_specialization_t base = {BINDLESS_PTX_GLOBALS_ID, sizeof address, &address};
        blr_module_t module;
        memcpy(globals, compiled.globals_image, compiled.globals_bytes);
        if (blrModuleCreate(context, compiled.words, compiled.word_count * 4, 1, &base, &module) ==
            BLR_RESULT_SUCCESS) {
            run_kernels(module);
            blrModuleDestroy(module);
        }
        blrMemoryFree(context, globals);
    }
    bindless_ptx_destroy(&compiled);
    require_no_leaks();
    return 0;
}
