/* The linker: keeps the texts of PTX, and gives them as one image, which is compiled when it is loaded. */
#include "cuda_driver/driver/context.h"
#include "cuda_driver/module/image.h"
#include "cuda_driver/module/module.h"

#include <stdlib.h>
#include <string.h>

struct link {
    struct bcu_resource resource;
    struct bcu_log log;
    struct bcu_texts texts; /* owned copies */
    struct bcu_linked *output;
};

static void release(struct bcu_resource *resource)
{
    struct link *link = (struct link *)resource;
    for (uint32_t i = 0; i < link->texts.count; i++)
        free((void *)(uintptr_t)link->texts.texts[i]);
    bcu_texts_free(&link->texts);
    free(link->output);
    blr_delete(link);
}

CUresult cuLinkCreate_v2(unsigned int count, CUjit_option *options, void **values, CUlinkState *handle)
{
    struct bcu_context *context;
    struct bcu_log log;
    CUresult result = bcu_context_current(&context);
    if (result == CUDA_SUCCESS)
        result = handle == NULL ? bcu_fail_null("stateOut") : bcu_log_read(count, options, values, &log);
    if (result != CUDA_SUCCESS)
        return result;
    struct link *link = blr_new(sizeof *link);
    if (link == NULL)
        return bcu_fail_memory("a linker");
    link->log = log;
    return bcu_resource_register(&link->resource, BCU_LINK, context, release, handle);
}

CUresult cuLinkCreate(unsigned int count, CUjit_option *options, void **values, CUlinkState *handle)
{
    return cuLinkCreate_v2(count, options, values, handle);
}

/* The result of a compilation; a failure goes to the linker's log. */
static CUresult result_of(struct link *link, bool good, const struct bindless_ptx_module *module)
{
    const char *log = module->log != NULL ? module->log : "no memory";
    if (good)
        return CUDA_SUCCESS;
    bcu_log_fail(&link->log, log);
    return bcu_fail(CUDA_ERROR_INVALID_PTX, "%s", log);
}

/* Names that other texts define may be missing, a mistake may not. */
static CUresult check_text(struct link *link, const char *text, size_t size)
{
    struct bindless_ptx_module module;
    bool good = bindless_ptx_compile(text, size, &(struct bindless_ptx_options){.only_reads = true}, &module);
    CUresult result = result_of(link, good, &module);
    bindless_ptx_destroy(&module);
    return result;
}

static CUresult add_text(struct link *link, const char *text, size_t size)
{
    char *copy = malloc(size + 1);
    if (copy == NULL)
        return bcu_fail_memory("a text");
    memcpy(copy, text, size);
    copy[size] = '\0';
    CUresult result = bcu_texts_add(&link->texts, copy, size);
    if (result != CUDA_SUCCESS)
        free(copy);
    return result;
}

/* The library of the functions of the device's runtime: the compiler has those that are possible here. */
static bool is_device_runtime(CUjitInputType type, const void *data, size_t size, const char *name)
{
    static const char magic[] = "!<arch>\n";
    return type == CU_JIT_INPUT_LIBRARY && name != NULL && strstr(name, "cudadevrt") != NULL && size >= sizeof magic - 1 &&
           memcmp(data, magic, sizeof magic - 1) == 0;
}

CUresult cuLinkAddData_v2(CUlinkState handle, CUjitInputType type, void *data, size_t size, const char *name, unsigned int count,
                          CUjit_option *options, void **values)
{
    struct link *link;
    struct bcu_texts texts;
    struct bcu_log log;
    CUresult result = bcu_resource_acquire(handle, BCU_LINK, &link);
    if (result != CUDA_SUCCESS)
        return result;
    result = bcu_log_read(count, options, values, &log);
    if (result == CUDA_SUCCESS && (data == NULL || size == 0 || type < 0 || type >= CU_JIT_NUM_INPUT_TYPES))
        result = bcu_fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes of input type %d", size, (int)type);
    const bool is_known = result == CUDA_SUCCESS && is_device_runtime(type, data, size, name);
    if (result == CUDA_SUCCESS && !is_known && type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY) {
        const char *message = "the input has machine code or another intermediate form: only PTX is linked here";
        bcu_log_fail(&link->log, message);
        result = bcu_fail(CUDA_ERROR_NO_BINARY_FOR_GPU, "%s", message);
    }
    if (result == CUDA_SUCCESS && !is_known) {
        result = bcu_image_read(data, size, &link->log, &texts);
        for (uint32_t i = 0; i < texts.count && result == CUDA_SUCCESS; i++)
            if ((result = check_text(link, texts.texts[i], texts.sizes[i])) == CUDA_SUCCESS)
                result = add_text(link, texts.texts[i], texts.sizes[i]);
        bcu_texts_free(&texts);
    }
    bcu_resource_release(&link->resource);
    return result;
}

CUresult cuLinkAddData(CUlinkState handle, CUjitInputType type, void *data, size_t size, const char *name, unsigned int count,
                       CUjit_option *options, void **values)
{
    return cuLinkAddData_v2(handle, type, data, size, name, count, options, values);
}

CUresult cuLinkAddFile_v2(CUlinkState handle, CUjitInputType type, const char *path, unsigned int count, CUjit_option *options, void **values)
{
    char *data;
    size_t size;
    if (path == NULL)
        return bcu_fail_null("path");
    CUresult result = bcu_file_read(path, &data, &size);
    if (result != CUDA_SUCCESS)
        return result;
    result = cuLinkAddData_v2(handle, type, data, size, path, count, options, values);
    free(data);
    return result;
}

CUresult cuLinkAddFile(CUlinkState handle, CUjitInputType type, const char *path, unsigned int count, CUjit_option *options, void **values)
{
    return cuLinkAddFile_v2(handle, type, path, count, options, values);
}

/* Compiles the texts, so that a failure is known now, and packs them. */
static CUresult complete(struct link *link)
{
    const struct bcu_texts *texts = &link->texts;
    struct bindless_ptx_module module;
    if (texts->count == 0)
        return bcu_fail(CUDA_ERROR_INVALID_VALUE, "the linker has no input");
    bool good = bindless_ptx_link(texts->texts, texts->sizes, texts->count, &(struct bindless_ptx_options){0}, &module);
    CUresult result = result_of(link, good, &module);
    bindless_ptx_destroy(&module);
    if (result != CUDA_SUCCESS)
        return result;
    size_t bytes = sizeof(struct bcu_linked) + texts->count * sizeof(uint64_t);
    for (uint32_t i = 0; i < texts->count; i++)
        bytes += texts->sizes[i] + 1;
    struct bcu_linked *output = malloc(bytes);
    if (output == NULL)
        return bcu_fail_memory("the linker's output");
    *output = (struct bcu_linked){.magic = BCU_LINKED_MAGIC, .bytes = bytes, .count = texts->count};
    char *at = (char *)(output->sizes + texts->count);
    for (uint32_t i = 0; i < texts->count; i++) {
        output->sizes[i] = texts->sizes[i];
        memcpy(at, texts->texts[i], texts->sizes[i] + 1);
        at += texts->sizes[i] + 1;
    }
    free(link->output);
    link->output = output;
    bcu_log_end(&link->log);
    return CUDA_SUCCESS;
}

CUresult cuLinkComplete(CUlinkState handle, void **output, size_t *size)
{
    struct link *link;
    if (output == NULL)
        return bcu_fail_null("cubinOut");
    CUresult result = bcu_resource_acquire(handle, BCU_LINK, &link);
    if (result != CUDA_SUCCESS)
        return result;
    result = complete(link);
    if (result == CUDA_SUCCESS) {
        *output = link->output;
        if (size != NULL)
            *size = link->output->bytes;
    }
    bcu_resource_release(&link->resource);
    return result;
}

CUresult cuLinkDestroy(CUlinkState handle) { return bcu_resource_destroy(handle, BCU_LINK); }
