/*
 * What a file descriptor of another interface or process names, and mapping it.
 *
 * Memory is a file without a name (memfd, shared memory) or a dma_buf, which a processor maps as it maps anything. Who
 * exported it is told by the name that its maker gave the file: Vulkan's drivers for processors lay images out each in
 * their own way, and one of them begins its memory with a header.
 */
#ifndef BLR_EXTERNAL_FILE_H
#define BLR_EXTERNAL_FILE_H

#include "result.h"
#include "texture.h"

enum blr_exporter {
    BLR_EXPORTER_ANY,        /* rows, slices and levels follow each other without gaps */
    BLR_EXPORTER_SWIFTSHADER, /* rows and heights of an even number of pixels, slices of a multiple of 16 bytes */
    BLR_EXPORTER_LLVMPIPE    /* rows of a multiple of 64 bytes, heights of 4 pixels; after a header of one page */
};

struct blr_external_file {
    int file;                /* a descriptor of its own; -1: none */
    enum blr_exporter exporter;
    uint64_t offset;         /* of the first byte of the memory in the file */
    uint64_t size;           /* bytes of the memory */
};

/* Part of a file in the process's memory, writable, with a page of zeros behind it: samplers read whole registers. */
struct blr_mapping {
    void *pointer;           /* of the first byte asked for */
    void *pages;
    uint64_t length;
};

/* Whether the file's maker named it so, up to the end of the text. */
bool blr_file_is_named(int file, const char *name);

/* The failure of a duplicate, by errno. */
blr_result_t blr_file_fail_open(int file);

/* Whether it is open for both reading and writing. */
bool blr_file_is_writable(int file);

#define BLR_SWIFTSHADER_MEMORY "/memfd:SwiftShader.Memory."
#define BLR_LLVMPIPE_MEMORY "/memfd:llvmpipe memory fd"

/* Looks at the memory that a descriptor names and keeps a descriptor of its own. */
blr_result_t blr_external_open(struct blr_external_file *external, int file);
void blr_external_close(struct blr_external_file *external);

/* Maps size bytes of the memory from an offset, both checked before. INVALID_ARGUMENT if the file became smaller since. */
blr_result_t blr_external_map(const struct blr_external_file *external, uint64_t offset, uint64_t size,
                              struct blr_mapping *mapping);
void blr_external_unmap(struct blr_mapping *mapping);

/* Where the levels of a valid description lie in memory of an exporter, as distances from its first byte; gives the bytes
 * of all. */
uint64_t blr_external_lay_out(enum blr_exporter exporter, const blr_image_desc_t *desc, struct blr_texture_level *levels);

#endif
