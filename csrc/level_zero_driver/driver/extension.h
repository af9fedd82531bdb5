/* Extensions of the driver, and extension functions by name. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_DRIVER_EXTENSION_H
#define BINDLESS_LEVEL_ZERO_DRIVER_DRIVER_EXTENSION_H

#include "level_zero_driver/core/result.h"

ze_result_t blz_extension_list(uint32_t *count, ze_driver_extension_properties_t *properties);

/* Returns a function by name: any of the API tables, "zexCounterBasedEventCreate2" of Intel's driver, "bindlessFailCalls" and
 * "bindlessGetCallCount" (core/fault_injection.h), and
 *   "bindlessGetObjectCount", ze_result_t (*)(uint64_t *count): the number of objects and allocations of clients;
 *   "bindlessGetMemoryContext", ze_result_t (*)(const void *pointer, ze_context_handle_t *context): the context of an
 *   allocation, or NULL.
 * Fails with INVALID_ARGUMENT for another name. */
ze_result_t blz_extension_function(const char *name, void **address);

#endif
