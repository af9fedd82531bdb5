#include "native_binary.h"

#include "reference/allocate.h"

#include <string.h>

static const unsigned char magic[8] = {'b', 'l', 's', 'p', 'i', 'r', 'v', 1};

struct header {
    unsigned char magic[8];
    uint32_t constant_count;
    uint32_t reserved; /* 0 */
    uint64_t code_size;
    uint64_t hash; /* of constants and code */
};

/* FNV-1a. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t blz_module_source_hash(const struct blz_module_source *source)
{
    uint64_t hash = hash_bytes(UINT64_C(0xcbf29ce484222325), &source->code_size, sizeof source->code_size);
    hash = hash_bytes(hash, source->constants, source->constant_count * sizeof *source->constants);
    return hash_bytes(hash, source->code, source->code_size);
}

unsigned char *blz_native_binary_write(const struct blz_module_source *source, size_t *size)
{
    struct header header = {.constant_count = source->constant_count,
                            .code_size = source->code_size,
                            .hash = blz_module_source_hash(source)};
    size_t constants = source->constant_count * sizeof *source->constants;
    *size = sizeof header + constants + source->code_size;
    unsigned char *binary = blr_new(*size);
    if (binary == NULL) {
        blz_fail_memory("a native binary");
        return NULL;
    }
    memcpy(header.magic, magic, sizeof magic);
    memcpy(binary, &header, sizeof header);
    if (constants > 0)
        memcpy(binary + sizeof header, source->constants, constants);
    memcpy(binary + sizeof header + constants, source->code, source->code_size);
    return binary;
}

static ze_result_t fail(const char *what)
{
    return blz_fail(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY,
                    "%s: what zeModuleGetNativeBinary of this driver gave is needed, unchanged and whole", what);
}

static ze_result_t take(const struct header *header, const unsigned char *rest, struct blz_module_source *source)
{
    size_t constants = header->constant_count * sizeof *source->constants;
    source->constant_count = header->constant_count;
    source->code_size = (size_t)header->code_size;
    source->constants = blr_new(constants + 1);
    source->code = blr_new(source->code_size + 1);
    if (source->constants == NULL || source->code == NULL)
        return blz_fail_memory("a module");
    memcpy(source->constants, rest, constants);
    memcpy(source->code, rest + constants, source->code_size);
    for (uint32_t i = 0; i < source->constant_count; i++)
        if (source->constants[i].size < 1 || source->constants[i].size > sizeof source->constants[i].value)
            return fail("a native binary with a constant of no possible size");
    return blz_module_source_hash(source) == header->hash ? ZE_RESULT_SUCCESS : fail("the hash of a native binary is wrong");
}

ze_result_t blz_native_binary_read(const void *binary, size_t size, struct blz_module_source *source)
{
    struct header header;
    *source = (struct blz_module_source){0};
    if (size < sizeof header)
        return fail("too few bytes for a native binary");
    memcpy(&header, binary, sizeof header);
    if (memcmp(header.magic, magic, sizeof magic) != 0)
        return fail("bytes that do not begin as a native binary does");
    uint64_t constants = (uint64_t)header.constant_count * sizeof *source->constants, left = size - sizeof header;
    if (header.constant_count > BLZ_MAX_CONSTANTS || header.reserved != 0 || constants > left ||
        header.code_size != left - constants)
        return fail("a native binary of another size than it says");
    ze_result_t result = take(&header, (const unsigned char *)binary + sizeof header, source);
    if (result != ZE_RESULT_SUCCESS) {
        blr_delete(source->constants);
        blr_delete(source->code);
        *source = (struct blz_module_source){0};
    }
    return result;
}
