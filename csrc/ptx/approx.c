/*
 * The functions that hardware approximates. The results here are those nearest to the exact ones; a model of the
 * hardware's bits would take this place.
 */
#include "emit.h"

#include <string.h>

struct ptx_value ptx_approximate(struct ptx_emitter *e, const char *name, struct ptx_value a)
{
    static const struct {
        const char *name;
        uint32_t number;
    } functions[] = {{"rsqrt", MATH_RSQRT}, {"sin", MATH_SIN}, {"cos", MATH_COS}, {"ex2", MATH_EXP2}, {"lg2", MATH_LOG2}, {"tanh", MATH_TANH}};
    for (unsigned k = 0; k < sizeof functions / sizeof *functions; k++)
        if (strcmp(functions[k].name, name) == 0)
            return ptx_math1(e, functions[k].number, a);
    ptx_refuse(e, "it is not supported for floats");
}
