/* What programs load: PTX, a fat binary that contains PTX, or the output of this driver's linker. */
#ifndef BINDLESS_CUDA_DRIVER_MODULE_IMAGE_H
#define BINDLESS_CUDA_DRIVER_MODULE_IMAGE_H

#include "cuda_driver/module/log.h"

#define BCU_LINKED_MAGIC UINT64_C(0x31787470646e6962) /* "bindptx1" */

/* The head of the linker's output; sizes and texts follow. */
struct bcu_linked {
    uint64_t magic, bytes;
    uint64_t count;
    uint64_t sizes[]; /* of each text, which follow in their order, each with a final zero */
};

struct bcu_texts {
    const char **texts; /* into the image */
    size_t *sizes;
    uint32_t count;
};

/* Finds the texts of an image. size is 0 where the caller does not know it. A binary for GPUs alone is refused with
 * NO_BINARY_FOR_GPU and a message in the log. bcu_texts_free frees the lists. */
CUresult bcu_image_read(const void *image, size_t size, struct bcu_log *log, struct bcu_texts *texts);
void bcu_texts_free(struct bcu_texts *texts);

/* The contents of a file with a final zero: the caller frees them. */
CUresult bcu_file_read(const char *path, char **text, size_t *size);

/* Adds a text. */
CUresult bcu_texts_add(struct bcu_texts *texts, const char *text, size_t size);

#endif
