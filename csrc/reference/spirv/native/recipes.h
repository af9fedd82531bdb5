/* What the operation behind a function pointer computes, as C. */
#ifndef BINDLESS_REFERENCE_SPIRV_NATIVE_RECIPES_H
#define BINDLESS_REFERENCE_SPIRV_NATIVE_RECIPES_H

#include "spirv/program.h"

enum blr_recipe_kind {
    BLR_RECIPE_NONE,    /* no translation */
    BLR_RECIPE_CALL,    /* the executor's own function, on lanes in the batch's registers */
    BLR_RECIPE_VALUE,   /* an expression of a and b */
    BLR_RECIPE_TEST,    /* the same with a boolean result */
    BLR_RECIPE_LESSER,  /* a where the expression holds, else b */
    BLR_RECIPE_DIVIDE,  /* a function of two scalars */
    BLR_RECIPE_CONVERT, /* between numbers of two types */
    BLR_RECIPE_TRUNCATE,/* floats to integers */
    BLR_RECIPE_COPY,
    BLR_RECIPE_SELECT,  /* a condition an element */
    BLR_RECIPE_CHOOSE,  /* a condition a lane */
    BLR_RECIPE_OFFSET,
    BLR_RECIPE_INDEX,
    BLR_RECIPE_AXIS,
    BLR_RECIPE_LOAD,
    BLR_RECIPE_STORE,
    BLR_RECIPE_IMAGE    /* the executor's own function, whose operands have sizes and components of their own */
};

struct blr_recipe {
    enum blr_recipe_kind kind;
    uint16_t opcode;    /* of an instruction whose result may be linear, else 0 */
    uint32_t operands;
    uint32_t size;      /* bytes of an operand's element */
    char type, to;      /* u, s or f: how operands and result are read */
    bool complement;       /* the complement of a test */
    const char *text;
    struct {
        uint8_t size, components;
    } image[4];         /* operands of an image instruction */
};

/* The recipe of an operation of the best instruction set; kind is BLR_RECIPE_NONE for one without. */
struct blr_recipe blr_recipe_of(const struct blr_spirv_op *op);

#endif
