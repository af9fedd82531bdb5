/*
 * Kernels as native code: the program as C text, and the frame through which the compiled function and the executor
 * work together.
 *
 * One call runs consecutive work-groups of a row of groups, all batches of each from barrier to barrier; or, without
 * local memory and barriers, consecutive batches of a row of work-items, each as a group of one batch. A batch runs as in
 * the executor: the same blocks in the same order, under the same masks. Values are uniform (one scalar), linear (base
 * and stride) or lanes, decided when the text is written. Where something is unusual (an address out of reach, an index
 * that counts from the end in some lanes alone) the function stops before the operation, writes all live values to the
 * registers of the group's batches, and the executor goes on from there until the group's end.
 */
#ifndef BINDLESS_REFERENCE_SPIRV_NATIVE_NATIVE_CODE_H
#define BINDLESS_REFERENCE_SPIRV_NATIVE_NATIVE_CODE_H

#include "spirv/program.h"

/* The declarations that the text and the driver share. batches: of a group, or one. offsets: what a batch adds to each
 * built-in variable of its group. group: the one that runs, of groups. last: the lanes of a group's last batch. number:
 * the batch that runs, or leaves before op of its block. */
#define BLR_NATIVE_FRAME                                                                                               \
    struct blr_native_window {                                                                                         \
        unsigned long long begin, end;                                                                                 \
    };                                                                                                                 \
    struct blr_native_batch {                                                                                          \
        unsigned char *registers;                                                                                      \
        unsigned long long *arrived;                                                                                   \
        const unsigned long long *offsets;                                                                             \
        unsigned long long mask, alive, waiting;                                                                       \
        unsigned block, waiting_in;                                                                                    \
    };                                                                                                                 \
    struct blr_native_frame {                                                                                          \
        struct blr_native_batch *batches;                                                                              \
        const unsigned long long *numbers;                                                                             \
        struct blr_native_window *windows;                                                                             \
        unsigned long long group, groups, last;                                                                        \
        unsigned count, number, op;                                                                                    \
        unsigned *patience;                                                                                            \
        int (*reach)(struct blr_native_frame *, unsigned op, unsigned long long address, unsigned long long size,      \
                     int write);                                                                                       \
        int (*go_on)(struct blr_native_frame *);                                                                       \
        void (*spill)(struct blr_native_frame *, unsigned place, unsigned size, unsigned long long base,               \
                      unsigned long long stride);                                                                      \
        void (*take)(struct blr_native_frame *, unsigned place);                                                       \
        void (*call)(struct blr_native_frame *, unsigned op, unsigned place);                                          \
        int (*image)(struct blr_native_frame *, unsigned op, unsigned place, unsigned long long mask);                 \
    };

BLR_NATIVE_FRAME

enum blr_native_end {
    BLR_NATIVE_DONE,    /* all groups have run */
    BLR_NATIVE_LEFT,    /* the executor goes on with the group, before an operation of a batch */
    BLR_NATIVE_APART,   /* batches of the group wait at different barriers */
    BLR_NATIVE_STOPPED
};

typedef unsigned (*blr_native_run_t)(struct blr_native_frame *frame);

/* What precedes the function in the text. */
extern const char blr_native_prelude[];

/* The program as C text, allocated with blr_new; NULL if an operation has no translation, or without memory. */
char *blr_native_text(const struct blr_spirv_program *program);

/* Components of the built-in variables: each has an offset by batch, and behind the presets two of frame.numbers, its base
 * and what a group adds. Those that count lanes count by one. */
uint32_t blr_native_components_of_builtins(const struct blr_spirv_program *program);

#endif
