/* The extensions that the driver offers, and its functions by name. */
#ifndef BLZ_EXTENSION_H
#define BLZ_EXTENSION_H

#include "failure.h"

ze_result_t blz_extension_list(uint32_t *count, ze_driver_extension_properties_t *properties);

/* Any function of the tables; and "bindlessFailCalls", "bindlessGetCallCount" (see call.h) and "bindlessGetObjectCount", which
 * counts the objects and allocations of clients: ze_result_t (*)(uint64_t *count); "bindlessGetMemoryContext", the
 * context that an address was allocated in or NULL: ze_result_t (*)(const void *pointer, ze_context_handle_t *context); and "zexCounterBasedEventCreate2" of Intel's driver. INVALID_ARGUMENT for another name. */
ze_result_t blz_extension_function(const char *name, void **address);

#endif
