/* External memory: import and export of file descriptors. */

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif

#include "level_zero_driver/memory/external_memory.h"

#include "reference/runtime/device.h"
#include "reference/external/shared_file.h"
#include "level_zero_driver/core/descriptor_chain.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES_ALIGN ((uint64_t)4096)

void blz_external_delete(struct blz_external *external)
{
    if (external == NULL)
        return;
    close(external->file);
    blr_delete(external);
}

/* ---------------------------------------------------------------- mappings */

static ze_result_t take(struct blz_context *context, struct blz_device *device, ze_memory_type_t type, const struct blr_external_file *source,
                        struct blz_external *external, uint64_t size, void **pointer)
{
    uint64_t page = blz_page_size(), length = (size + page - 1) / page * page;
    struct blr_mapping mapping;
    bool own = external != NULL;
    struct blz_memory description = {.device = device,
                                     .type = type,
                                     .reserved = own ? length : 0,
                                     .external = external};
    if (own && !blr_memory_reserve(length))
        return blz_fail(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "%" PRIu64 " bytes are not available: the device has %" PRIu64
                        " bytes in all", size, blr_device_memory_size());
    ze_result_t result = blz_result(blr_external_map(source, 0, size, &mapping));
    if (result == ZE_RESULT_SUCCESS) {
        description.mapping = mapping.pages;
        description.mapped = mapping.length;
        result = mapping.pointer == mapping.pages
                     ? blz_memory_take(context, &description, size, pointer)
                     : blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, "imported memory starts inside a page: a multiple of the page size is needed");
        if (result != ZE_RESULT_SUCCESS)
            blr_external_unmap(&mapping);
    }
    if (result != ZE_RESULT_SUCCESS && own)
        blr_memory_unreserve(length);
    return result;
}

/* ---------------------------------------------------------------- import and export */

static ze_result_t check_types(const char *name, ze_external_memory_type_flags_t types, bool single)
{
    if (types == 0 || (types & ~(uint32_t)0xff) != 0)
        return blz_fail_enumeration(name, types, "one of the ZE_EXTERNAL_MEMORY_TYPE_FLAGs is needed");
    if ((types & ~(uint32_t)BLZ_EXTERNAL_TYPES) != 0 || (single && (types & (types - 1)) != 0))
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, "%s is 0x%x: %s OPAQUE_FD (1) and DMA_BUF (2) is supported", name,
                        types, single ? "one of" : "any of");
    return ZE_RESULT_SUCCESS;
}

/* Opens the file of imported memory and checks that it holds size bytes. */
static ze_result_t open_file(const ze_external_memory_import_fd_t *import, uint64_t size, struct blr_external_file *source)
{
    ze_result_t result = check_types("import->flags", import->flags, true);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_result(blr_external_open(source, import->fd));
    if (result != ZE_RESULT_SUCCESS || source->size >= size)
        return result;
    result = blz_fail(ZE_RESULT_ERROR_INVALID_SIZE,
                      "the memory of file descriptor %d has %" PRIu64 " bytes: %" PRIu64 " are needed for the import", import->fd, source->size, size);
    blr_external_close(source);
    return result;
}

/* Creates a file of whole pages for memory that is exported. */
static ze_result_t make_file(ze_external_memory_type_flags_t types, uint64_t size, struct blz_external **output)
{
    ze_result_t result = check_types("export->flags", types, false);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    struct blz_external *external = blr_new(sizeof *external);
    if (external == NULL)
        return blz_fail_memory("the description of an export");
    external->types = types;
    external->file = memfd_create("bindless-level-zero", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (external->file < 0) {
        blr_delete(external);
        return blz_fail(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "no file for %" PRIu64 " bytes of memory: %s", size,
                        strerror(errno));
    }
    uint64_t page = blz_page_size();
    if (ftruncate(external->file, (off_t)((size + page - 1) / page * page)) != 0 ||
        fcntl(external->file, F_ADD_SEALS, F_SEAL_SHRINK) != 0) { /* no importer takes pages away from under others */
        result = blz_fail(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "%" PRIu64 " bytes of memory that can be exported: %s", size,
                          strerror(errno));
        blz_external_delete(external);
        return result;
    }
    *output = external;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t import_memory(struct blz_context *context, struct blz_device *device, ze_memory_type_t type,
                                 const ze_external_memory_import_fd_t *import, uint64_t size, void **pointer)
{
    struct blr_external_file source;
    ze_result_t result = open_file(import, size, &source);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = take(context, device, type, &source, NULL, size, pointer);
    blr_external_close(&source);
    return result;
}

static ze_result_t export_memory(struct blz_context *context, struct blz_device *device, ze_memory_type_t type,
                                 ze_external_memory_type_flags_t types, uint64_t size, void **pointer)
{
    struct blz_external *external;
    ze_result_t result = make_file(types, size, &external);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    result = take(context, device, type, &(struct blr_external_file){.file = external->file}, external, size, pointer);
    if (result != ZE_RESULT_SUCCESS)
        blz_external_delete(external);
    return result;
}

static ze_result_t check_one(const ze_external_memory_import_fd_t *import, const ze_external_memory_export_desc_t *export)
{
    if (import == NULL || export == NULL)
        return ZE_RESULT_SUCCESS;
    return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "memory is either imported or exported: chain one struct, not both");
}

ze_result_t blz_external_allocate(struct blz_context *context, struct blz_device *device, ze_memory_type_t type,
                                  const ze_external_memory_import_fd_t *import, const ze_external_memory_export_desc_t *export,
                                  uint64_t size, uint64_t alignment, void **pointer)
{
    ze_result_t result = check_one(import, export);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (size == 0 || size > blr_device_max_allocation())
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "an allocation of %" PRIu64 " bytes: 1 to %" PRIu64 " are possible here",
                        size, blr_device_max_allocation());
    if ((alignment & (alignment - 1)) != 0 || alignment > PAGES_ALIGN)
        return blz_fail(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                        "alignment %" PRIu64 ": a power of two up to %" PRIu64 " is needed for memory of a file", alignment, PAGES_ALIGN);
    return import != NULL ? import_memory(context, device, type, import, size, pointer)
                          : export_memory(context, device, type, export->flags, size, pointer);
}

ze_result_t blz_external_physical(const ze_external_memory_import_fd_t *import, const ze_external_memory_export_desc_t *export,
                                  uint64_t size, struct blz_external **external)
{
    struct blr_external_file source;
    ze_result_t result = check_one(import, export);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (import == NULL)
        return make_file(export->flags, size, external);
    result = open_file(import, size, &source);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    *external = blr_new(sizeof **external);
    if (*external == NULL) {
        blr_external_close(&source);
        return blz_fail_memory("the description of an import");
    }
    **external = (struct blz_external){.file = source.file, .offset = source.offset};
    return ZE_RESULT_SUCCESS;
}

ze_result_t blz_external_pitches(const ze_external_memory_import_fd_t *import, const blr_image_desc_t *desc, uint64_t *row,
                                 uint64_t *slice)
{
    struct blr_texture_level level[BLR_MAX_MIP_LEVELS];
    struct blr_external_file source;
    *row = *slice = 0;
    if (desc->type != BLR_IMAGE_STANDARD)
        return ZE_RESULT_SUCCESS;
    ze_result_t result = blz_result(blr_external_open(&source, import->fd));
    if (result != ZE_RESULT_SUCCESS)
        return result;
    blr_external_lay_out(source.exporter, desc, level);
    *row = level[0].row_pitch;
    *slice = level[0].slice_pitch;
    blr_external_close(&source);
    return ZE_RESULT_SUCCESS;
}

ze_result_t blz_external_export(const struct blz_external *external, ze_external_memory_export_fd_t *export)
{
    ze_result_t result = check_types("export->flags", export->flags, true);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (external == NULL || (external->types & export->flags) == 0)
        return blz_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                        "the memory cannot be exported as 0x%x: chain a ze_external_memory_export_desc_t that requests it when it "
                        "is allocated", export->flags);
    int copy = fcntl(external->file, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        return blz_fail(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no file descriptor for exported memory: %s", strerror(errno));
    export->fd = copy;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetExternalMemoryProperties(ze_device_handle_t handle, ze_device_external_memory_properties_t *properties)
{
    struct blz_device *device;
    ze_result_t result = blz_device_check(handle, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = blz_properties(properties, ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES, "pExternalMemoryProperties");
    if (result != ZE_RESULT_SUCCESS)
        return result;
    properties->memoryAllocationImportTypes = BLZ_EXTERNAL_TYPES;
    properties->memoryAllocationExportTypes = BLZ_EXTERNAL_TYPES;
    properties->imageImportTypes = BLZ_EXTERNAL_TYPES;
    properties->imageExportTypes = BLZ_EXTERNAL_TYPES;
    return ZE_RESULT_SUCCESS;
}
