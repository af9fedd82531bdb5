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

static CUstream stream_of(const Target *target) { return ((const CudaTarget *)target)->textures.stream; }

static const char *cuda_clear(Target *target, void *buffer, size_t bytes)
{
    if (bytes == 0)
        return NULL;
    return cuda_result(target, CLEAR, cuda.clear((CUdeviceptr)(uintptr_t)buffer, 0, bytes, stream_of(target)));
}

/* The kernel of an entry, for all contexts. */
static const char *find_kernel(Target *target, Entry *entry)
{
    if (atomic_load(&entry->kernel) != NULL)
        return NULL;
    /* Two threads may both load: the first result stays, and the library of the other is unused. */
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    void *none = NULL;
    const char *failure = cuda_result(target, LOAD, cuda.load(&library, entry->image, NULL, NULL, 0, NULL, NULL, 0));
    if (failure != NULL)
        return failure;
    /* A name may end with @ and the constants for which its image was made. */
    char symbol[128];
    snprintf(symbol, sizeof symbol, "%.*s", (int)strcspn(entry->name, "@"), entry->name);
    failure = cuda_result(target, GET_KERNEL, cuda.get_kernel(&kernel, library, symbol));
    if (failure == NULL)
        atomic_compare_exchange_strong(&entry->kernel, &none, (void *)kernel);
    return failure;
}

const char *load_kernel(Target *target, Name name)
{
    Entry *entry = find_entry(name, 1);
    const char *failure = entry != NULL ? find_kernel(target, entry) : unknown(target, name);
    if (failure != NULL)
        return failure;
    CUfunction function;
    return cuda_result(target, GET_FUNCTION, cuda.get_function(&function, (CUkernel)atomic_load(&entry->kernel)));
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
    CUresult code = cuda.launch((CUfunction)atomic_load(&entry->kernel), call->grid[0], call->grid[1], call->grid[2],
                                call->block[0], call->block[1], call->block[2], 0, stream_of(target), NULL, extra);
    return cuda_result(target, LAUNCH, code);
}

static const char *cuda_texture(Target *target, const void *pixels, const int64_t *words, uint64_t *handle)
{
    return fill_texture(target, &((CudaTarget *)target)->textures, pixels, words, handle);
}

CudaTarget cuda_target(void *stream, const Name *names)
{
    return (CudaTarget){
        .base = {.clear = cuda_clear, .call = cuda_call, .texture = cuda_texture},
        .names = names,
        .textures = {.stream = stream},
    };
}

const char *enter_context(CudaTarget *target)
{
    CUcontext *context = &target->textures.context;
    if (cuda.get_context == NULL)
        return "bindless.jax has not loaded the CUDA driver: import it after CUDA's plugin of JAX is installed";
    const char *failure = cuda_result(&target->base, GET_CONTEXT, cuda.get_context(target->textures.stream, context));
    return failure != NULL ? failure : cuda_result(&target->base, PUSH, cuda.push(*context));
}

const char *leave_context(CudaTarget *target)
{
    CUcontext context;
    const char *failure = release_textures(&target->base, &target->textures);
    cuda.pop(&context);
    return failure;
}
