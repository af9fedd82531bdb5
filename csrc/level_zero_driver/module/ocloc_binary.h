/* SPIR-V in the binaries of Intel's offline compiler, ocloc. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_MODULE_OCLOC_BINARY_H
#define BINDLESS_LEVEL_ZERO_DRIVER_MODULE_OCLOC_BINARY_H

#include "level_zero_driver/core/result.h"

/* Whether the bytes are an ar archive or an ELF file. */
bool blz_is_ocloc_binary(const void *binary, size_t size);

/* Finds the SPIR-V: in an archive, that of the member generic_ir; in an ELF file, the first section with SPIR-V. Fails
 * with INVALID_NATIVE_BINARY where there is none. */
ze_result_t blz_ocloc_binary_read(const void *binary, size_t size, const uint8_t **code, size_t *code_size);

#endif
