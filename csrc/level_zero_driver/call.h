/*
 * What happens to every call on its way in: it is counted, and made to fail where a test asks for that.
 *
 * BINDLESS_LEVEL_ZERO_FAIL holds rules, separated by commas: [FUNCTION:]N=RESULT. The N-th call of the function returns
 * RESULT and does nothing else; without a function, the N-th of all calls but those that only give something back (destroy, free,
 * close, put, evict, release) and those that a program makes after a failure. N is a number from 1, or * for each
 * call. RESULT is a number or a name: BINDLESS_LEVEL_ZERO_FAIL="zeMemAllocDevice:2=ERROR_OUT_OF_DEVICE_MEMORY".
 */
#ifndef BLZ_CALL_H
#define BLZ_CALL_H

#include "level_zero.h"

/* SUCCESS, or the result that the call is to fail with. */
ze_result_t blz_call_enter(enum blz_call call);

/* UNSUPPORTED_FEATURE, with a sentence. */
ze_result_t blz_call_unsupported(enum blz_call call);

/* Whether a table of this version can be filled, and with the entries of which minor version. */
ze_result_t blz_call_table(ze_api_version_t version, const void *table, int *minor);

/* Replaces the rules and starts counting anew; NULL or "" for no rules. What zeDriverGetExtensionFunctionAddress gives as
 * "bindlessFailCalls". */
ze_result_t blz_call_set_rules(const char *rules);

/* Calls since the rules were set, as the rules without a function count them. "bindlessGetCallCount". */
ze_result_t blz_call_get_count(uint64_t *count);

#endif
