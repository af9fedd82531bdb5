/* The CUDA driver API of this driver: types, exported functions, and what their defaults call. */
#ifndef BINDLESS_CUDA_DRIVER_CORE_EXPORTS_H
#define BINDLESS_CUDA_DRIVER_CORE_EXPORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda_types.h"

#include "cuda_exports.h"

/* Sets whether the stream NULL is the calling thread's own; returns the value before. */
bool bcu_default_per_thread(bool own);
bool bcu_is_default_per_thread(void);

/* NOT_SUPPORTED, for a function that the driver does not offer. */
CUresult bcu_not_offered(const char *name);

#endif
