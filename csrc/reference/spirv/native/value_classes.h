/* The values of a program as native code keeps them: a register by its place and the size of an element. */
#ifndef BINDLESS_REFERENCE_SPIRV_NATIVE_VALUE_CLASSES_H
#define BINDLESS_REFERENCE_SPIRV_NATIVE_VALUE_CLASSES_H

#include "spirv/native/recipes.h"

enum blr_native_class {
    BLR_CLASS_UNIFORM, /* one scalar */
    BLR_CLASS_LINEAR,  /* base + lane x stride */
    BLR_CLASS_LANES
};

struct blr_native_value {
    enum blr_native_class class;
    bool used, preset;
    bool crosses;       /* blocks other than the one that writes it may read it */
    uint32_t place, size;
    uint32_t number;    /* its own, for its name */
    uint32_t writers;   /* operations that write it */
    uint32_t writer, component; /* the last of them, and which of its components */
};

struct blr_native_values {
    const struct blr_spirv_program *program;
    struct blr_recipe *recipes;      /* by operation */
    struct blr_native_value *values; /* by place and size, then one for each result that stays within its block */
    uint32_t count, room, shared; /* shared: those by place and size */
    struct blr_native_value **operands; /* of all operations */
    uint32_t *first_operand;         /* by operation */
    uint32_t operand_count;
    struct blr_native_value **results, **conditions; /* by operation, its first component; by block */
    bool *diverges;                  /* by block: some of the living lanes may run it without the others */
    bool failed;
};

/* The recipes and classes of a program; failed is set if an operation has no translation. False without memory. */
bool blr_native_values_new(struct blr_native_values *values, const struct blr_spirv_program *program);
void blr_native_values_free(struct blr_native_values *values);

/* Operand k of an operation, component c; NULL behind the last operand. */
struct blr_native_value *blr_native_operand(const struct blr_native_values *values, uint32_t op, uint32_t k, uint32_t c);
struct blr_native_value *blr_native_result(const struct blr_native_values *values, uint32_t op, uint32_t c);
/* The value of a register that blocks share, or that is set before the kernel starts. */
struct blr_native_value *blr_native_value_at(const struct blr_native_values *values, uint32_t place, uint32_t size);

/* Components of an operation's result, or of a stored value. */
uint32_t blr_native_components(const struct blr_native_values *values, uint32_t op);

/* How an operation is computed from its operands, for component c; the class of its result is the same or above. */
enum blr_native_class blr_native_class_of(const struct blr_native_values *values, uint32_t op, uint32_t c);

/* The stride of a line, where it is the same whenever the value is written. */
bool blr_native_stride_of(const struct blr_native_values *values, const struct blr_native_value *x, uint64_t *stride);

/* Whether an access reaches its memory: that of the work-group, by an index that is checked against an axis. */
bool blr_native_is_within_local(const struct blr_native_values *values, uint32_t op, uint32_t size);

/* Whether a condition is that a work-item's number in its group, a component of the built-in variables, is below a number that
 * all work-items of the group share. */
bool blr_native_is_below_bound(const struct blr_native_values *values, const struct blr_native_value *condition, uint32_t *component);

/* Whether the result replaces that of the active lanes alone. */
static inline bool blr_native_blends(const struct blr_spirv_op *op) { return op->blend || op->keeps; }

#endif
