/* Results with a description, which BINDLESS_CUDA_MESSAGES=1 prints on standard error. */
#ifndef BINDLESS_CUDA_DRIVER_CORE_RESULT_H
#define BINDLESS_CUDA_DRIVER_CORE_RESULT_H

#include "cuda_driver/core/exports.h"
#include "reference/runtime/result.h"

/* Describes a failure and returns it. */
CUresult bcu_fail(CUresult result, const char *format, ...) BLR_PRINTF(2, 3);

CUresult bcu_fail_null(const char *name);
CUresult bcu_fail_memory(const char *what);

/* The result for one of the reference driver, whose last error describes it. */
CUresult bcu_result(blr_result_t result);

/* The result for the failure of a command. */
CUresult bcu_command_result(blr_result_t result, const char *message);

#endif
