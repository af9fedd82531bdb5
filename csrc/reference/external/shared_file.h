/*
 * External memory files: the memory that a file descriptor of another interface or process refers to, and its mapping.
 *
 * Memory is an anonymous file (memfd, shared memory) or a dma_buf; both can be mapped by the processor. The file's name
 * identifies the exporter: each of Vulkan's software drivers has its own image layout, and llvmpipe puts a header in
 * front of its memory.
 */
#ifndef BINDLESS_REFERENCE_EXTERNAL_SHARED_FILE_H
#define BINDLESS_REFERENCE_EXTERNAL_SHARED_FILE_H

#include "platform/shared.h"
#include "runtime/result.h"
#include "texture/texture.h"

enum blr_exporter {
    BLR_EXPORTER_ANY,        /* rows, slices and levels are packed */
    BLR_EXPORTER_SWIFTSHADER, /* widths and heights rounded up to even, slices to 16 bytes */
    BLR_EXPORTER_LLVMPIPE    /* row pitch rounded up to 64 bytes, height to 4 pixels; a header of one page precedes
                              * the data */
};

struct blr_external_file {
    int file;                /* duplicated descriptor, owned; -1: none */
    enum blr_exporter exporter;
    uint64_t offset;         /* offset of the memory in the file */
    uint64_t size;           /* size of the memory in bytes */
};

/* Writable mapping of part of a file, followed by a page of zeros: samplers read whole registers. */
struct blr_mapping {
    void *pointer;           /* address of the first byte of the requested range */
    void *pages;
    uint64_t length;
};

/* Whether the file's name starts with the text. */
bool blr_file_is_named(int file, const char *name);

/* Fails with the cause of a failed duplication, from errno. */
blr_result_t blr_file_fail_open(int file);

/* Whether the descriptor is open for both reading and writing. */
bool blr_file_is_writable(int file);

#define BLR_SWIFTSHADER_MEMORY "/memfd:SwiftShader.Memory."
#define BLR_LLVMPIPE_MEMORY "/memfd:llvmpipe memory fd"

/* Identifies the memory of a descriptor and duplicates the descriptor. */
BLR_SHARED blr_result_t blr_external_open(struct blr_external_file *external, int file);
BLR_SHARED void blr_external_close(struct blr_external_file *external);

/* Maps size bytes of the memory from an offset; the caller has checked both. INVALID_ARGUMENT if the file has shrunk
 * since. */
BLR_SHARED blr_result_t blr_external_map(const struct blr_external_file *external, uint64_t offset, uint64_t size,
                              struct blr_mapping *mapping);
BLR_SHARED void blr_external_unmap(struct blr_mapping *mapping);

/* Computes the layout of a valid description's levels in memory of an exporter, as offsets from the first byte;
 * returns the total size in bytes. */
BLR_SHARED uint64_t blr_external_lay_out(enum blr_exporter exporter, const blr_image_desc_t *desc, struct blr_texture_level *levels);

#endif
