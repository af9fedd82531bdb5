/*
 * Where a kernel's native code will be: shared with the compiler (src/bindless/compiler/native_slots.py), and by kernels
 * with the same text. The driver asks for the function when its executor has run long enough, and calls it from the next
 * launch on.
 */
#ifndef BINDLESS_REFERENCE_SPIRV_NATIVE_NATIVE_SLOT_H
#define BINDLESS_REFERENCE_SPIRV_NATIVE_NATIVE_SLOT_H

#include <stdint.h>

struct blr_native_slot {
    void *function;     /* the compiled function, or NULL while there is none */
    int64_t patience;   /* nanoseconds of launches without it that pass before the driver asks */
    int32_t descriptor; /* of a pipe that then gets the slot's address, once */
};

#endif
