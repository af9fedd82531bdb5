/* External memory: memory that other APIs and processes share by a file descriptor of an anonymous file (memfd),
 * which the processor maps. A dma_buf descriptor is mapped the same way, where its exporter supports mapping by the
 * processor. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_MEMORY_EXTERNAL_MEMORY_H
#define BINDLESS_LEVEL_ZERO_DRIVER_MEMORY_EXTERNAL_MEMORY_H

#include "level_zero_driver/memory/allocation.h"

#define BLZ_EXTERNAL_TYPES (ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD | ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF)

/* The file that holds an allocation, and the external memory types that it can be exported as. */
struct blz_external {
    ze_external_memory_type_flags_t types; /* 0 for imported memory */
    int file;
    uint64_t offset; /* of the allocation in the file */
};

void blz_external_delete(struct blz_external *external);

/* Allocates device or host memory as the chained structs request; one of import and export may be NULL: a mapping of
 * the imported file, or memory of a new file that can be exported. The caller keeps the imported descriptor. */
ze_result_t blz_external_allocate(struct blz_context *context, struct blz_device *device, ze_memory_type_t type,
                                  const ze_external_memory_import_fd_t *import, const ze_external_memory_export_desc_t *export,
                                  uint64_t size, uint64_t alignment, void **pointer);

/* The same for physical memory: creates the file without a mapping. */
ze_result_t blz_external_physical(const ze_external_memory_import_fd_t *import, const ze_external_memory_export_desc_t *export,
                                  uint64_t size, struct blz_external **external);

/* The pitches of an image in imported memory, in the exporter's layout; 0 for an array of images, which has no
   pitches. */
ze_result_t blz_external_pitches(const ze_external_memory_import_fd_t *import, const blr_image_desc_t *desc, uint64_t *row,
                                 uint64_t *slice);

/* Fills a chained struct with a new descriptor of the memory; the caller closes it. The descriptor is invalid for
   memory without a file. */
ze_result_t blz_external_export(const struct blz_external *external, ze_external_memory_export_fd_t *export);

#endif
