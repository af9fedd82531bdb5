/* Calls of functions on arrays of another library that repeat an earlier call: the same options, and operands of the same
 * shapes, strides, types and devices at other addresses. Such a call needs no Python: the program of the earlier call runs
 * with the new addresses. */

#ifndef BINDLESS_SUBMISSION_TENSOR_CALL_H
#define BINDLESS_SUBMISSION_TENSOR_CALL_H

#include "../programs/program.h"
#include "foreign_array.h"

enum { MOST_TENSORS = 64 };

/* Functions of the CUDA driver. */
typedef struct {
    int (*get_context)(void **context);
    int (*clear)(uint64_t address, unsigned char value, size_t bytes, void *stream);
    int (*launch)(void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned shared, void *stream,
                  void **parameters, void **extra);
} CudaFunctions;

/* A call that can be repeated. */
typedef struct {
    Row base;
    PyObject *options; /* compared by identity, then by value */
    PyObject *makers;  /* of the results and of scratch memory, pairs of a function and its arguments */
    int results[MOST_TENSORS], result_count; /* which makers make the tuple of results; -1 for None */
    int operands;
    Layout *layouts;
    int64_t *words; /* the program */
    size_t word_count;
    void *functions[MOST_FUNCTIONS];
    int function_count;
    bool on_cuda;       /* else on the processor */
    CudaFunctions cuda;
    void *context;      /* the functions belong to it */
} TensorCall;

/* The operands of a call. None has a layout of -1 dimensions. */
typedef struct {
    const DLPackExchangeAPI *library;
    Argument operands[MOST_TENSORS];
    int count;
} Operands;

extern PyObject *tensor_call_type, *tensor_calls_type;
extern PyType_Spec tensor_call_spec, tensor_calls_spec;

bool name_tensor_calls(void);

/* Hash of the layouts of operands. */
uint64_t hash_of(const Operands *operands);

/* Whether a call has these options and layouts; -1 with an exception. */
int matches(const TensorCall *call, PyObject *options, const Operands *operands);

/* Makes the call of layouts without program and results; NULL with an exception. */
TensorCall *make_tensor_call(PyObject *options, const Operands *operands);

/* Runs the program. A new tuple of the results; None where Python must handle the call; NULL with an exception. */
PyObject *repeat_call(TensorCall *call, const Operands *operands);

#endif
