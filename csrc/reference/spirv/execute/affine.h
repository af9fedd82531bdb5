/*
 * Affine values: registers whose lane i holds base + i x stride, such as ids of work-items, sizes, and addresses of
 * consecutive elements.
 *
 * The decoder marks values that can be affine in every batch (compile/affine_values.c). At execution such a register
 * has a description next to its lanes: while it is affine, its operations compute base and stride alone, and the lanes
 * are written only for an operation that reads them. Where lanes diverge or a number wraps, the operation runs on all
 * lanes, and the register holds lanes alone.
 */
#ifndef BINDLESS_REFERENCE_SPIRV_EXECUTE_AFFINE_H
#define BINDLESS_REFERENCE_SPIRV_EXECUTE_AFFINE_H

#include "spirv/execute/interpreter.h"

/* What the register at a place holds. Zeros: lanes. */
struct blr_affine {
    uint64_t base, stride; /* of size bytes each, with zeros above */
    bool is_affine;        /* base and stride are valid for the lanes that may read the register */
    bool has_lanes;        /* the lanes are written, too */
    uint8_t size;
};

static inline struct blr_affine *blr_affine_at(const struct blr_spirv_batch *batch, uint32_t place)
{
    return &batch->affine[place / BLR_LANES];
}

/* Describes a register by base and stride; the lanes are written if has_lanes. */
static inline void blr_affine_set(const struct blr_spirv_batch *batch, uint32_t place, uint8_t size, uint64_t base,
                                  uint64_t stride, bool has_lanes)
{
    const uint64_t bits = UINT64_MAX >> (64 - 8 * size);
    *blr_affine_at(batch, place) = (struct blr_affine){base & bits, stride & bits, true, has_lanes, size};
}

/* Writes base + i x stride. */
void blr_affine_write(unsigned char *lanes, uint8_t size, uint64_t base, uint64_t stride);

static inline void blr_affine_expand(const struct blr_spirv_batch *batch, uint32_t place)
{
    struct blr_affine *value = blr_affine_at(batch, place);
    if (value->is_affine && !value->has_lanes) {
        blr_affine_write(batch->registers + place, value->size, value->base, value->stride);
        value->has_lanes = true;
    }
}

/* Writes the lanes of all operands that an operation reads as lanes. */
static inline void blr_affine_expand_operands(const struct blr_spirv_batch *batch, const struct blr_spirv_op *op)
{
    for (uint32_t operands = op->expand; operands != 0; operands &= operands - 1)
        blr_affine_expand(batch, op->in[__builtin_ctz(operands)]);
}

/* The operations on affine values, by form; op->plain is the operation on lanes. */
extern const blr_spirv_run_t blr_affine_operations[BLR_AFFINE_FORMS];

/* Writes a result for the lanes of the mask only. */
void blr_spirv_blend(struct blr_spirv_batch *batch, const struct blr_spirv_op *op, const unsigned char *from);

#endif
