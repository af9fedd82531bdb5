/* Two-call queries of texts and binaries: the first call returns the size, the second the value. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_CORE_TWO_CALL_QUERY_H
#define BINDLESS_LEVEL_ZERO_DRIVER_CORE_TWO_CALL_QUERY_H

#include "level_zero_driver/core/result.h"

/* Sets *size when *size is 0 or target is NULL; copies the value otherwise. Fails with INVALID_SIZE when *size is
   below the size of the value. */
ze_result_t blz_copy_out(const void *value, size_t value_size, size_t *size, void *target);

#endif
