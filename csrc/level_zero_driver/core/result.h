/* Results with an error text: the cause, the given value and the allowed values. The text belongs to the calling
 * thread; zeDriverGetLastErrorDescription returns it. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_CORE_RESULT_H
#define BINDLESS_LEVEL_ZERO_DRIVER_CORE_RESULT_H

#include "level_zero_driver/level_zero_api.h"
#include "reference/runtime/result.h"

/* Records the error text and returns result, so that callers can write: return blz_fail(...). */
ze_result_t blz_fail(ze_result_t result, const char *format, ...) BLR_PRINTF(2, 3);

/* Fails with INVALID_NULL_POINTER for a parameter. */
ze_result_t blz_fail_null(const char *parameter);

/* Fails with INVALID_ENUMERATION for a parameter. */
ze_result_t blz_fail_enumeration(const char *parameter, long long value, const char *allowed);

/* Fails with OUT_OF_HOST_MEMORY for an object of the driver. */
ze_result_t blz_fail_memory(const char *what);

/* For calls that Level Zero forbids and Intel's driver takes: success, where the error text tells what was wrong with the
 * call. With BINDLESS_LEVEL_ZERO_STRICT=1 the result, which is an error. */
ze_result_t blz_tolerate(ze_result_t result);

/* Maps a result of the reference driver to one of Level Zero and keeps its error text. */
ze_result_t blz_result(blr_result_t result);

/* Parses "ERROR_INVALID_SIZE", with or without the prefix ZE_RESULT_, or a number. */
bool blz_result_named(const char *name, ze_result_t *result);

/* The calling thread's error text. Never NULL. */
const char *blz_failure_text(void);

#endif
