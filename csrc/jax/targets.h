/* The two targets of programs: processors and CUDA. */
#ifndef BINDLESS_JAX_TARGETS_H
#define BINDLESS_JAX_TARGETS_H

#include "functions.h"

/* The functions of programs are indices into the names. */
typedef struct {
    Target base;
    const Name *names;
} HostTarget;

HostTarget host_target(const Name *names);

typedef struct {
    Target base;
    const Name *names;
    void *stream; /* CUstream */
} CudaTarget;

CudaTarget cuda_target(void *stream, const Name *names);

/* Loads a kernel into the current context, which must not happen while a stream is captured. Returns NULL or the reason
 * of a failure. */
const char *load_kernel(Target *target, Name name);

/* Makes the context of a stream current for the calls of a program, and the former one again. */
const char *enter_context(CudaTarget *target);
void leave_context(void);

/* The functions of the CUDA driver, addresses from the bindings. */
enum { CUDA_FUNCTION_COUNT = 9 };
extern const char *const CUDA_FUNCTIONS[CUDA_FUNCTION_COUNT];
void set_cuda_function(int index, void *address);

#endif
