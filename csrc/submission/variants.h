/* Variants of a kernel in Python: the kernels that it was compiled to in a context, by the types of its arguments. */

#ifndef BINDLESS_SUBMISSION_VARIANTS_H
#define BINDLESS_SUBMISSION_VARIANTS_H

#include "foreign_array.h"

/* The parameters of a compiled kernel for a launch: values, references that end with them, and the addresses of other
 * libraries' arrays. */
typedef struct {
    PyObject *kernel; /* borrowed from the variant */
    PyObject *variant;
    PyObject *values[MOST_ARGUMENTS], *owned[MOST_ARGUMENTS];
    int count, owned_count;
    ForeignArguments foreign;
} Expanded;

/* Finds the variant for the arguments of a launch and computes its parameters; OTHERWISE where Python must handle the
 * launch. Only with DONE end_expanded must be called. */
int expand(const Commands *commands, PyObject *kernel, PyObject *space, PyObject *const *values, Py_ssize_t count,
           Expanded *expanded);
void end_expanded(Expanded *expanded);

bool name_variants(void);
PyObject *know_arguments(PyObject *module, PyObject *arguments);
extern PyObject *template_type, *variant_type, *variants_type;
extern PyType_Spec template_spec, variant_spec, variants_spec;

#endif
