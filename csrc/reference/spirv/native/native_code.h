/*
 * Kernels as native code: the program as C text, and the frame through which the compiled function and the executor
 * work together.
 *
 * The function runs one batch as the executor does: the same blocks in the same order, under the same masks. Values
 * are uniform (one scalar), linear (base and stride) or lanes, decided when the text is written. Where something is
 * unusual (an address out of reach, an index that counts from the end in some lanes alone) it stops before the operation,
 * writes all live values to the batch's registers, and the executor goes on from there.
 */
#ifndef BINDLESS_REFERENCE_SPIRV_NATIVE_NATIVE_CODE_H
#define BINDLESS_REFERENCE_SPIRV_NATIVE_NATIVE_CODE_H

#include "spirv/program.h"

/* The declaration that the text and the driver share. */
#define BLR_NATIVE_FRAME                                                                                               \
    struct blr_native_window {                                                                                         \
        unsigned long long begin, end;                                                                                 \
    };                                                                                                                 \
    struct blr_native_frame {                                                                                          \
        void *batch;                                                                                                   \
        unsigned char *registers;                                                                                      \
        unsigned long long *arrived;                                                                                   \
        const unsigned long long *numbers;                                                                             \
        struct blr_native_window *windows;                                                                             \
        unsigned long long mask, alive, waiting;                                                                       \
        unsigned block, op, waiting_in;                                                                                \
        unsigned *patience;                                                                                            \
        int (*reach)(struct blr_native_frame *, unsigned op, unsigned long long address, unsigned long long size,      \
                     int write);                                                                                       \
        int (*go_on)(struct blr_native_frame *);                                                                       \
        void (*spill)(struct blr_native_frame *, unsigned place, unsigned size, unsigned long long base,               \
                      unsigned long long stride);                                                                      \
        void (*take)(struct blr_native_frame *, unsigned place);                                                       \
        void (*call)(struct blr_native_frame *, unsigned op, unsigned place);                                          \
    };

BLR_NATIVE_FRAME

enum blr_native_end {
    BLR_NATIVE_DONE,  /* all lanes have returned, or wait at a barrier */
    BLR_NATIVE_LEFT,  /* the executor goes on, before frame.op of frame.block */
    BLR_NATIVE_STOPPED
};

typedef unsigned (*blr_native_run_t)(struct blr_native_frame *frame);

/* What precedes the function in the text. */
extern const char blr_native_prelude[];

/* The program as C text, allocated with blr_new; NULL if an operation has no translation, or without memory. */
char *blr_native_text(const struct blr_spirv_program *program);

/* The number of frame.numbers: presets, then base and stride of each component of the built-in variables. */
uint32_t blr_native_numbers(const struct blr_spirv_program *program);

#endif
