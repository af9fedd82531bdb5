/*
 * Results with a sentence: what was wrong, the value given, what is allowed. The sentence belongs to the calling
 * thread; zeDriverGetLastErrorDescription gives it out.
 */
#ifndef BLZ_FAILURE_H
#define BLZ_FAILURE_H

#include "level_zero.h"
#include "reference/result.h"

/* Records the failure and returns its result, so that callers can write: return blz_fail(...). */
ze_result_t blz_fail(ze_result_t result, const char *format, ...) BLR_PRINTF(2, 3);

/* INVALID_NULL_POINTER for a parameter. */
ze_result_t blz_fail_null(const char *parameter);

/* INVALID_ENUMERATION for a parameter. */
ze_result_t blz_fail_enumeration(const char *parameter, long long value, const char *allowed);

/* OUT_OF_HOST_MEMORY for an object of the driver. */
ze_result_t blz_fail_memory(const char *what);

/* The result of Level Zero for one of the reference driver, whose sentence is kept. */
ze_result_t blz_result(blr_result_t result);

/* "ERROR_INVALID_SIZE" and so on, with or without ZE_RESULT_ before it, or a number. */
bool blz_result_named(const char *name, ze_result_t *result);

/* The calling thread's sentence. Never NULL. */
const char *blz_failure_text(void);

#endif
