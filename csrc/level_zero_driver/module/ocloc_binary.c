/* Reader of ocloc's binaries: ar archives with a member for each device, and ELF files with a section for each part. */

#include "level_zero_driver/module/ocloc_binary.h"

#include "reference/spirv/opcodes.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

static const char archive[] = {'!', '<', 'a', 'r', 'c', 'h', '>', '\n'};

/* Header of an archive's member, in text; its bytes follow, and a byte after an odd number of them. */
struct member {
    char name[16];
    char other[32];
    char size[10];
    char end[2];
};

static bool starts_with(const uint8_t *bytes, size_t size, const void *start, size_t length)
{
    return size >= length && memcmp(bytes, start, length) == 0;
}

static bool is_spirv(const uint8_t *bytes, size_t size)
{
    const uint32_t magic = BLR_SPIRV_MAGIC;
    return starts_with(bytes, size, &magic, sizeof magic);
}

bool blz_is_ocloc_binary(const void *binary, size_t size)
{
    return starts_with(binary, size, archive, sizeof archive) || starts_with(binary, size, ELFMAG, SELFMAG);
}

/* Narrows the bytes to those of the member generic_ir; false without it. */
static bool find_member(const uint8_t **bytes, size_t *size)
{
    static const char name[] = "generic_ir";
    struct member member;
    for (size_t at = sizeof archive; at <= *size && *size - at >= sizeof member;) {
        char digits[sizeof member.size + 1] = "";
        memcpy(&member, *bytes + at, sizeof member);
        memcpy(digits, member.size, sizeof member.size);
        at += sizeof member;
        const unsigned long long length = strtoull(digits, NULL, 10);
        if (length > *size - at)
            return false;
        if (memcmp(member.name, name, sizeof name - 1) == 0) {
            *bytes += at;
            *size = (size_t)length;
            return true;
        }
        at += (size_t)(length + length % 2);
    }
    return false;
}

/* Narrows an ELF file to its first section with SPIR-V; false without one. */
static bool find_section(const uint8_t **bytes, size_t *size)
{
    Elf64_Ehdr header;
    Elf64_Shdr section;
    if (*size < sizeof header)
        return false;
    memcpy(&header, *bytes, sizeof header);
    for (uint64_t i = 0; header.e_ident[EI_CLASS] == ELFCLASS64 && i < header.e_shnum; i++) {
        const uint64_t before = i * sizeof section;
        if (header.e_shoff > *size || *size - header.e_shoff < before || *size - header.e_shoff - before < sizeof section)
            return false;
        memcpy(&section, *bytes + header.e_shoff + before, sizeof section);
        if (section.sh_offset > *size || section.sh_size > *size - section.sh_offset)
            continue;
        if (is_spirv(*bytes + section.sh_offset, (size_t)section.sh_size)) {
            *bytes += section.sh_offset;
            *size = (size_t)section.sh_size;
            return true;
        }
    }
    return false;
}

ze_result_t blz_ocloc_binary_read(const void *binary, size_t size, const uint8_t **code, size_t *code_size)
{
    *code = binary;
    *code_size = size;
    const bool is_archive = starts_with(*code, size, archive, sizeof archive);
    if (is_archive && !find_member(code, code_size))
        return blz_fail(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY,
                        "an archive of ocloc without the member generic_ir: code of GPUs does not run on processors");
    if (is_spirv(*code, *code_size))
        return ZE_RESULT_SUCCESS;
    if (starts_with(*code, *code_size, ELFMAG, SELFMAG) && find_section(code, code_size))
        return ZE_RESULT_SUCCESS;
    return blz_fail(ZE_RESULT_ERROR_INVALID_NATIVE_BINARY,
                    "a binary of ocloc without SPIR-V: code of GPUs does not run on processors");
}
