/* Native binaries of modules: for each input the SPIR-V and the values of its specialization constants, in a frame
 * with a magic number and a hash. Every version of this driver that supports the frame reads them. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_MODULE_NATIVE_BINARY_H
#define BINDLESS_LEVEL_ZERO_DRIVER_MODULE_NATIVE_BINARY_H

#include "level_zero_driver/module/source.h"

/* Returns a new array (blr_delete), or NULL after blz_fail. */
unsigned char *blz_native_binary_write(const struct blz_module_sources *sources, size_t *size);

/* Fails with INVALID_NATIVE_BINARY for bytes that are not a native binary, truncated or damaged. The caller deletes
   the sources, also after a failure. */
ze_result_t blz_native_binary_read(const void *binary, size_t size, struct blz_module_sources *sources);

#endif
