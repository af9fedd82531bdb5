/* Images: what they are, and the PTX in them. */
#include "cuda_driver/module/image.h"

#include "cuda_driver/driver/driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAT_MAGIC UINT32_C(0xba55ed50)
#define FAT_WRAPPER_MAGIC UINT32_C(0x466243b1)
#define FAT_PTX 1u
#define FAT_COMPRESSED UINT64_C(0xb000) /* flags of its forms */

struct fat_header {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size;
};

struct fat_entry {
    uint16_t kind, unknown;
    uint32_t header_size;
    uint64_t size;
    uint32_t compressed_size, options;
    uint16_t minor, major;
    uint32_t architecture;
    uint32_t name_offset, name_size;
    uint64_t flags, zero, whole_size;
};

struct fat_wrapper {
    uint32_t magic, version;
    const void *data, *name;
};

void bcu_texts_free(struct bcu_texts *texts)
{
    free(texts->texts);
    free(texts->sizes);
    *texts = (struct bcu_texts){0};
}

CUresult bcu_texts_add(struct bcu_texts *texts, const char *text, size_t size)
{
    const char **longer = realloc(texts->texts, (texts->count + 1) * sizeof *longer);
    if (longer != NULL)
        texts->texts = longer;
    size_t *sizes = realloc(texts->sizes, (texts->count + 1) * sizeof *sizes);
    if (sizes != NULL)
        texts->sizes = sizes;
    if (longer == NULL || sizes == NULL)
        return bcu_fail_memory("the texts of a module");
    longer[texts->count] = text;
    sizes[texts->count++] = size;
    return CUDA_SUCCESS;
}

static CUresult refuse(struct bcu_log *log, const char *message)
{
    bcu_log_fail(log, message);
    return bcu_fail(CUDA_ERROR_NO_BINARY_FOR_GPU, "%s", message);
}

/* The PTX of the highest architecture that the device has. */
static CUresult read_fat(const unsigned char *image, struct bcu_log *log, struct bcu_texts *texts)
{
    struct fat_header header;
    const char *best = NULL;
    size_t best_size = 0;
    uint32_t best_architecture = 0;
    bool compressed = false, later = false;
    memcpy(&header, image, sizeof header);
    const unsigned char *at = image + header.header_size, *end = at + header.size;
    while ((size_t)(end - at) >= sizeof(struct fat_entry)) {
        struct fat_entry entry;
        memcpy(&entry, at, sizeof entry);
        if (entry.header_size < sizeof entry || entry.header_size > (size_t)(end - at) ||
            entry.size > (size_t)(end - at) - entry.header_size)
            return refuse(log, "the fat binary is damaged");
        if (entry.kind == FAT_PTX && (entry.flags & FAT_COMPRESSED) != 0) {
            compressed = true;
        } else if (entry.kind == FAT_PTX && entry.architecture > (uint32_t)bcu_device.capability) {
            later = true;
        } else if (entry.kind == FAT_PTX && entry.architecture >= best_architecture) {
            best = (const char *)at + entry.header_size;
            best_size = strnlen(best, entry.size);
            best_architecture = entry.architecture;
        }
        at += entry.header_size + entry.size;
    }
    if (best != NULL)
        return bcu_texts_add(texts, best, best_size);
    return refuse(log, compressed ? "the PTX in the fat binary is compressed: build with -no-compress (nvcc) or load the PTX itself"
                       : later    ? "the PTX in the fat binary is for a later compute capability than the device's: build with "
                                    "-arch=compute_90, or set BINDLESS_CUDA_ARCH"
                                  : "the fat binary has machine code alone, which only a GPU runs: ask the compiler for PTX "
                                    "(nvcc -gencode arch=compute_90,code=compute_90; nvrtc --gpu-architecture=compute_90)");
}

static CUresult read_linked(const void *image, size_t size, struct bcu_log *log, struct bcu_texts *texts)
{
    const struct bcu_linked *linked = image;
    if ((size != 0 && linked->bytes > size) || linked->count > UINT32_MAX)
        return refuse(log, "the linker's output is damaged");
    const char *text = (const char *)(linked->sizes + linked->count);
    CUresult result = CUDA_SUCCESS;
    for (uint64_t i = 0; i < linked->count && result == CUDA_SUCCESS; i++) {
        result = bcu_texts_add(texts, text, linked->sizes[i]);
        text += linked->sizes[i] + 1;
    }
    return result;
}

CUresult bcu_image_read(const void *image, size_t size, struct bcu_log *log, struct bcu_texts *texts)
{
    uint32_t magic = 0;
    *texts = (struct bcu_texts){0};
    if (image == NULL)
        return bcu_fail_null("the image");
    size_t length = size != 0 ? strnlen(image, size) : strlen(image);
    if (length >= sizeof magic)
        memcpy(&magic, image, sizeof magic);
    if (magic == FAT_WRAPPER_MAGIC) {
        struct fat_wrapper wrapper;
        memcpy(&wrapper, image, sizeof wrapper);
        return wrapper.data == NULL ? bcu_fail_null("the data of the fat binary") : read_fat(wrapper.data, log, texts);
    }
    if (magic == FAT_MAGIC)
        return read_fat(image, log, texts);
    if (length >= 8 && memcmp(image, "bindptx1", 8) == 0)
        return read_linked(image, size, log, texts);
    if (length >= 4 && memcmp(image, "\177ELF", 4) == 0)
        return refuse(log, "a cubin has machine code alone, which only a GPU runs: ask the compiler for PTX (nvcc -ptx; nvrtc "
                           "--gpu-architecture=compute_90 and nvrtcGetPTX)");
    return bcu_texts_add(texts, image, length);
}

CUresult bcu_file_read(const char *path, char **text, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return bcu_fail(CUDA_ERROR_FILE_NOT_FOUND, "%s", path);
    CUresult result = CUDA_SUCCESS;
    long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    *text = length < 0 ? NULL : malloc((size_t)length + 1);
    rewind(file);
    if (*text != NULL && fread(*text, 1, (size_t)length, file) == (size_t)length) {
        (*text)[length] = '\0';
        *size = (size_t)length;
    } else {
        free(*text);
        result = bcu_fail(CUDA_ERROR_INVALID_SOURCE, "%s cannot be read", path);
    }
    fclose(file);
    return result;
}
