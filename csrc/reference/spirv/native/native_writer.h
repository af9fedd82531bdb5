/* Text that grows. */
#ifndef BINDLESS_REFERENCE_SPIRV_NATIVE_NATIVE_WRITER_H
#define BINDLESS_REFERENCE_SPIRV_NATIVE_NATIVE_WRITER_H

#include "spirv/native/phases.h"

struct blr_native_writer {
    const struct blr_spirv_program *program;
    struct blr_native_values *values;
    char *text;
    size_t used, room;
    bool no_memory;
    uint32_t *stops; /* pairs of block and operation: where the function may stop */
    uint32_t stop_count, stop_room;
    uint32_t *phases; /* by block */
    bool leaves;     /* some phase may stop */
    bool is_grouped; /* the batches of a group run from barrier to barrier */
};

void blr_native_write(struct blr_native_writer *w, const char *format, ...) BLR_PRINTF(2, 3);

/* Declares a temporary of an operand as a scalar, a line (name and its stride, with an s) or lanes. */
void blr_native_declare(struct blr_native_writer *w, const char *name, const struct blr_native_value *x, enum blr_native_class as);

/* The label of a stop before an operation of a block. */
void blr_native_stop(struct blr_native_writer *w, uint32_t block, uint32_t op);

/* The statements of one operation. mask: a name of the active lanes as a vector, where results blend. */
void blr_native_operation(struct blr_native_writer *w, uint32_t block, uint32_t op, bool diverges);

#endif
