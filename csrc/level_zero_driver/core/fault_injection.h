/* Entry of every API call: counts the call, and makes it fail where a test requests that.
 *
 * BINDLESS_LEVEL_ZERO_FAIL holds rules, separated by commas: [FUNCTION:]N=RESULT. The N-th call of FUNCTION returns
 * RESULT and does nothing else. A rule without a function counts all calls except those that release an object
 * (destroy, free, close, put, evict, release) or query a failure. N is a number from 1, or * for every call. RESULT
 * is a number or a name: BINDLESS_LEVEL_ZERO_FAIL="zeMemAllocDevice:2=ERROR_OUT_OF_DEVICE_MEMORY". */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_CORE_FAULT_INJECTION_H
#define BINDLESS_LEVEL_ZERO_DRIVER_CORE_FAULT_INJECTION_H

#include "level_zero_driver/level_zero_api.h"

/* Returns SUCCESS, or the result that a rule injects. */
ze_result_t blz_call_enter(enum blz_call call);

/* Fails with UNSUPPORTED_FEATURE. */
ze_result_t blz_call_unsupported(enum blz_call call);

/* Checks that a table of this API version can be filled; *minor is the minor version of its entries. */
ze_result_t blz_call_table(ze_api_version_t version, const void *table, int *minor);

/* Replaces the rules and resets the counters; NULL or "" removes all rules. zeDriverGetExtensionFunctionAddress
 * returns this function as "bindlessFailCalls". */
ze_result_t blz_call_set_rules(const char *rules);

/* Returns the number of calls since the rules were set, counted like a rule without a function. Extension function
   "bindlessGetCallCount". */
ze_result_t blz_call_get_count(uint64_t *count);

#endif
