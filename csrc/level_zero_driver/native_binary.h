/*
 * Modules as binaries: for each input the SPIR-V that the module was made of, and the values of its specialization constants, in a
 * frame by which it is recognised and damage found. Good for this driver in any version that knows the frame.
 */
#ifndef BLZ_NATIVE_BINARY_H
#define BLZ_NATIVE_BINARY_H

#include "module_source.h"

/* A new array (blr_delete), or NULL after blz_fail. */
unsigned char *blz_native_binary_write(const struct blz_module_sources *sources, size_t *size);

/* INVALID_NATIVE_BINARY for bytes that are none, are cut off or were changed. The sources are to be deleted either way. */
ze_result_t blz_native_binary_read(const void *binary, size_t size, struct blz_module_sources *sources);

#endif
