/* The handlers of the custom calls. */
#ifndef BINDLESS_JAX_HANDLERS_H
#define BINDLESS_JAX_HANDLERS_H

#include "xla_ffi.h"

FfiError *host_handler(FfiFrame *frame); /* stage: execute */
FfiError *cuda_handler(FfiFrame *frame); /* stages: initialize, which loads the kernels, and execute */
/* As cuda_handler, for programs with textures. XLA records no CUDA graph of them: which array a call fills is known when it
 * runs. */
FfiError *cuda_texture_handler(FfiFrame *frame);

#endif
