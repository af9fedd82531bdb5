/* Commands of programs on processors and on CUDA. */

#include "targets.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "functions.h"

/* ------------------------------------------------------------------ processors */

static const char *unknown(Target *target, Name name)
{
    snprintf(target->message, sizeof target->message,
             "bindless has no function %.*s: import bindless.jax before the executable runs, in the version that "
             "compiled it",
             (int)name.length, name.text);
    return target->message;
}

static const char *host_clear(Target *target, void *buffer, size_t bytes)
{
    (void)target;
    memset(buffer, 0, bytes);
    return NULL;
}

static const char *host_call(Target *target, size_t function, const Call *call)
{
    Name name = ((HostTarget *)target)->names[function];
    Entry *entry = find_entry(name, 0);
    if (entry == NULL)
        return unknown(target, name);
    int32_t code = entry->function(call->arguments);
    if (code == 0)
        return NULL;
    snprintf(target->message, sizeof target->message, "%s failed with result %d", entry->name, (int)code);
    return target->message;
}

HostTarget host_target(const Name *names)
{
    return (HostTarget){.base = {.clear = host_clear, .call = host_call}, .names = names};
}

/* ------------------------------------------------------------------ CUDA */

enum { GET_CONTEXT, PUSH, POP, CLEAR, LOAD, GET_KERNEL, GET_FUNCTION, LAUNCH, ERROR_NAME };

const char *const CUDA_FUNCTIONS[CUDA_FUNCTION_COUNT] = {
    "cuStreamGetCtx",     "cuCtxPushCurrent",    "cuCtxPopCurrent", "cuMemsetD8Async", "cuLibraryLoadData",
    "cuLibraryGetKernel", "cuKernelGetFunction", "cuLaunchKernel",  "cuGetErrorName",
};

/* The driver's functions; handles are pointers, CUdeviceptr is an integer of 64 bits. */
static struct {
    int (*get_context)(void *stream, void **context);
    int (*push)(void *context);
    int (*pop)(void **context);
    int (*clear)(uint64_t address, unsigned char value, size_t bytes, void *stream);
    int (*load)(void **library, const void *image, const void *, const void *, unsigned, const void *, const void *,
                unsigned);
    int (*get_kernel)(void **kernel, void *library, const char *name);
    int (*get_function)(void **function, void *kernel);
    int (*launch)(void *kernel, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared, void *stream,
                  void **parameters, void **extra);
    int (*error_name)(int code, const char **name);
} cuda;

void set_cuda_function(int index, void *address)
{
    void *slots[CUDA_FUNCTION_COUNT] = {&cuda.get_context, &cuda.push,         &cuda.pop,
                                        &cuda.clear,       &cuda.load,         &cuda.get_kernel,
                                        &cuda.get_function, &cuda.launch,      &cuda.error_name};
    memcpy(slots[index], &address, sizeof address);
}

static const char *cuda_failure(Target *target, const char *function, int code)
{
    const char *name = NULL;
    if (cuda.error_name(code, &name) != 0 || name == NULL)
        name = "an unknown error";
    snprintf(target->message, sizeof target->message, "%s failed: %s (%d)", function, name, code);
    return target->message;
}

static const char *cuda_clear(Target *target, void *buffer, size_t bytes)
{
    if (bytes == 0)
        return NULL;
    int code = cuda.clear((uint64_t)(uintptr_t)buffer, 0, bytes, ((CudaTarget *)target)->stream);
    return code == 0 ? NULL : cuda_failure(target, CUDA_FUNCTIONS[CLEAR], code);
}

/* The kernel of an entry, for all contexts. */
static const char *find_kernel(Target *target, Entry *entry)
{
    if (atomic_load(&entry->kernel) != NULL)
        return NULL;
    /* Two threads may both load: the first result stays, and the library of the other is unused. */
    void *library = NULL, *kernel = NULL, *none = NULL;
    int code = cuda.load(&library, entry->image, NULL, NULL, 0, NULL, NULL, 0);
    if (code != 0)
        return cuda_failure(target, CUDA_FUNCTIONS[LOAD], code);
    /* A name may end with @ and the constants for which its image was made. */
    char symbol[128];
    snprintf(symbol, sizeof symbol, "%.*s", (int)strcspn(entry->name, "@"), entry->name);
    code = cuda.get_kernel(&kernel, library, symbol);
    if (code != 0)
        return cuda_failure(target, CUDA_FUNCTIONS[GET_KERNEL], code);
    atomic_compare_exchange_strong(&entry->kernel, &none, kernel);
    return NULL;
}

const char *load_kernel(Target *target, Name name)
{
    Entry *entry = find_entry(name, 1);
    const char *failure = entry != NULL ? find_kernel(target, entry) : unknown(target, name);
    if (failure != NULL)
        return failure;
    void *function;
    int code = cuda.get_function(&function, atomic_load(&entry->kernel));
    return code == 0 ? NULL : cuda_failure(target, CUDA_FUNCTIONS[GET_FUNCTION], code);
}

static const char *cuda_call(Target *target, size_t function, const Call *call)
{
    Name name = ((CudaTarget *)target)->names[function];
    Entry *entry = find_entry(name, 1);
    const char *failure = entry != NULL ? find_kernel(target, entry) : unknown(target, name);
    if (failure != NULL)
        return failure;
    /* The markers of cuLaunchKernel's `extra`: 0 ends, 1 precedes the block of parameters, 2 a pointer to its size. */
    size_t bytes = call->bytes;
    void *extra[] = {(void *)1, call->arguments, (void *)2, &bytes, NULL};
    int code = cuda.launch(atomic_load(&entry->kernel), call->grid[0], call->grid[1], call->grid[2], call->block[0],
                           call->block[1], call->block[2], 0, ((CudaTarget *)target)->stream, NULL, extra);
    return code == 0 ? NULL : cuda_failure(target, CUDA_FUNCTIONS[LAUNCH], code);
}

CudaTarget cuda_target(void *stream, const Name *names)
{
    return (CudaTarget){.base = {.clear = cuda_clear, .call = cuda_call}, .names = names, .stream = stream};
}

const char *enter_context(CudaTarget *target)
{
    void *context = NULL;
    if (cuda.get_context == NULL)
        return "bindless.jax has not loaded the CUDA driver: import it after CUDA's plugin of JAX is installed";
    int code = cuda.get_context(target->stream, &context);
    if (code != 0)
        return cuda_failure(&target->base, CUDA_FUNCTIONS[GET_CONTEXT], code);
    code = cuda.push(context);
    return code == 0 ? NULL : cuda_failure(&target->base, CUDA_FUNCTIONS[PUSH], code);
}

void leave_context(void)
{
    void *context;
    cuda.pop(&context);
}
