/* The two targets of programs: processors and CUDA. */
#ifndef BINDLESS_JAX_TARGETS_H
#define BINDLESS_JAX_TARGETS_H

#include "functions.h"
#include "textures.h"

/* The functions of programs are indices into the names. */
typedef struct {
    Target base;
    const Name *names;
} HostTarget;

HostTarget host_target(const Name *names);

typedef struct {
    Target base;
    const Name *names;
    Textures textures; /* and the stream */
} CudaTarget;

CudaTarget cuda_target(void *stream, const Name *names);

/* Loads a kernel into the current context, which must not happen while a stream is captured. Returns NULL or the reason
 * of a failure. */
const char *load_kernel(Target *target, Name name);

/* Makes the context of a stream current for the calls of a program; the former one again, after all of its launches.
 * Returns NULL or the reason of a failure. */
const char *enter_context(CudaTarget *target);
const char *leave_context(CudaTarget *target);

#endif
