/*
 * Memory that other interfaces and processes share by a file descriptor: files without a name (memfd), which a processor maps as
 * it maps anything. A descriptor of a dma_buf is mapped in the same way, where its exporter lets processors do that.
 */
#ifndef BLZ_EXTERNAL_MEMORY_H
#define BLZ_EXTERNAL_MEMORY_H

#include "memory.h"

#define BLZ_EXTERNAL_TYPES (ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD | ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF)

/* The file that memory lies in, and what it can be exported as. */
struct blz_external {
    ze_external_memory_type_flags_t types; /* 0 for imported memory */
    int file;
    uint64_t offset; /* of the memory in the file */
};

void blz_external_delete(struct blz_external *external);

/* Memory of the device or the host as the chained structs say, either of which may be NULL, not both: a mapping of the file imported, or
 * memory of a file that is exported. The descriptor imported stays the caller's. */
ze_result_t blz_external_allocate(struct blz_context *context, struct blz_device *device, ze_memory_type_t type,
                                  const ze_external_memory_import_fd_t *import, const ze_external_memory_export_desc_t *export,
                                  uint64_t size, uint64_t alignment, void **pointer);

/* The same for physical memory: the file alone. */
ze_result_t blz_external_physical(const ze_external_memory_import_fd_t *import, const ze_external_memory_export_desc_t *export,
                                  uint64_t size, struct blz_external **external);

/* The pitches of an image in imported memory, as its exporter lays it out; 0 for an array of images, which has none. */
ze_result_t blz_external_pitches(const ze_external_memory_import_fd_t *import, const blr_image_desc_t *desc, uint64_t *row,
                                 uint64_t *slice);

/* Fills a chained struct with a new descriptor of the memory, which is the caller's to close. Memory without a file is NULL. */
ze_result_t blz_external_export(const struct blz_external *external, ze_external_memory_export_fd_t *export);

#endif
