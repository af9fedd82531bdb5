/* Native binaries: writer and reader of the frame format. */

#include "level_zero_driver/module/native_binary.h"

#include "reference/platform/heap.h"

#include <string.h>

static const unsigned char magic[8] = {'b', 'l', 's', 'p', 'i', 'r', 'v', 1};

/* Header of each input; constants and code follow. */
struct header {
    unsigned char magic[8];
    uint32_t constant_count;
    uint32_t reserved; /* 0 */
    uint64_t code_size;
    uint64_t hash; /* of constants and code */
};

static uint64_t hash_of(struct blz_module_source *source)
{
    return blz_module_sources_hash(&(struct blz_module_sources){.each = source, .count = 1});
}

static size_t frame_size(const struct blz_module_source *source)
{
    return sizeof(struct header) + source->constant_count * sizeof *source->constants + source->code_size;
}

static void write_frame(struct blz_module_source *source, unsigned char *frame)
{
    struct header header = {.constant_count = source->constant_count, .code_size = source->code_size, .hash = hash_of(source)};
    size_t constants = source->constant_count * sizeof *source->constants;
    memcpy(header.magic, magic, sizeof magic);
    memcpy(frame, &header, sizeof header);
    if (constants > 0)
        memcpy(frame + sizeof header, source->constants, constants);
    memcpy(frame + sizeof header + constants, source->code, source->code_size);
}

unsigned char *blz_native_binary_write(const struct blz_module_sources *sources, size_t *size)
{
    *size = 0;
    for (uint32_t i = 0; i < sources->count; i++)
        *size += frame_size(&sources->each[i]);
    unsigned char *binary = blr_new(*size), *frame = binary;
    if (binary == NULL) {
        blz_fail_memory("a native binary");
        return NULL;
    }
    for (uint32_t i = 0; i < sources->count; i++) {
        write_frame(&sources->each[i], frame);
        frame += frame_size(&sources->each[i]);
    }
    return binary;
}

static ze_result_t fail(const char *what)
{
    return blz_fail(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY,
                    "%s: the unchanged bytes from this driver's zeModuleGetNativeBinary are needed", what);
}

/* Reads the header of the frame, and checks that the frame is complete. */
static ze_result_t read_header(const unsigned char *frame, size_t rest, struct header *header)
{
    if (rest < sizeof *header)
        return fail("too few bytes for a native binary");
    memcpy(header, frame, sizeof *header);
    if (memcmp(header->magic, magic, sizeof magic) != 0)
        return fail("bytes without the magic number of a native binary");
    uint64_t constants = (uint64_t)header->constant_count * sizeof(struct blz_constant);
    rest -= sizeof *header;
    if (header->constant_count > BLZ_MAX_CONSTANTS || header->reserved != 0 || constants > rest ||
        header->code_size > rest - constants)
        return fail("a native binary whose size differs from its header's");
    return ZE_RESULT_SUCCESS;
}

static ze_result_t read_frame(const unsigned char *frame, struct blz_module_source *source)
{
    struct header header;
    memcpy(&header, frame, sizeof header);
    size_t constants = header.constant_count * sizeof *source->constants;
    source->constants = blr_new(constants + 1);
    source->code = blr_new((size_t)header.code_size + 1);
    if (source->constants == NULL || source->code == NULL)
        return blz_fail_memory("a module");
    source->constant_count = header.constant_count;
    source->code_size = (size_t)header.code_size;
    memcpy(source->constants, frame + sizeof header, constants);
    memcpy(source->code, frame + sizeof header + constants, source->code_size);
    for (uint32_t i = 0; i < source->constant_count; i++)
        if (source->constants[i].size < 1 || source->constants[i].size > sizeof source->constants[i].value)
            return fail("a native binary with an invalid constant size");
    return hash_of(source) == header.hash ? ZE_RESULT_SUCCESS : fail("the hash of a native binary is wrong");
}

ze_result_t blz_native_binary_read(const void *binary, size_t size, struct blz_module_sources *sources)
{
    const unsigned char *bytes = binary;
    struct header header;
    uint32_t count = 0;
    *sources = (struct blz_module_sources){0};
    for (size_t at = 0; at < size || count == 0; count++) {
        ze_result_t result = read_header(bytes + at, size - at, &header);
        if (result != ZE_RESULT_SUCCESS)
            return result;
        at += sizeof header + header.constant_count * sizeof(struct blz_constant) + (size_t)header.code_size;
    }
    ze_result_t result = blz_module_sources_make(count, sources);
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++) {
        result = read_frame(bytes, &sources->each[i]);
        bytes += frame_size(&sources->each[i]);
    }
    return result;
}
