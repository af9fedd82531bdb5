/*
 * Modules as binaries: the SPIR-V that a module was made of, and the values of its specialization constants, in a frame by which it is
 * recognised and damage found. Good for this driver in any version that knows the frame.
 */
#ifndef BLZ_NATIVE_BINARY_H
#define BLZ_NATIVE_BINARY_H

#include "failure.h"

#define BLZ_MAX_CONSTANTS 4096u

/* The value of a specialization constant. */
struct blz_constant {
    uint32_t id;
    uint32_t size; /* bytes: 1 to 8 */
    unsigned char value[8];
};

/* What a module is made from. The arrays are owned by whoever holds it: blr_delete. */
struct blz_module_source {
    unsigned char *code; /* SPIR-V in the processor's byte order */
    size_t code_size;
    struct blz_constant *constants;
    uint32_t constant_count;
};

/* A new array (blr_delete), or NULL after blz_fail. */
unsigned char *blz_native_binary_write(const struct blz_module_source *source, size_t *size);

/* INVALID_NATIVE_BINARY for bytes that are none, are cut off or were changed. */
ze_result_t blz_native_binary_read(const void *binary, size_t size, struct blz_module_source *source);

/* A hash of a source: the same for the same source in every process. */
uint64_t blz_module_source_hash(const struct blz_module_source *source);

#endif
