/* Two-call queries of variable-size values. */

#include "level_zero_driver/core/two_call_query.h"

#include <string.h>

ze_result_t blz_copy_out(const void *value, size_t value_size, size_t *size, void *target)
{
    if (size == NULL)
        return blz_fail_null("pSize");
    if (target != NULL && *size != 0 && *size < value_size)
        return blz_fail(ZE_RESULT_ERROR_INVALID_SIZE, "*pSize is %zu: there are %zu bytes", *size, value_size);
    if (target != NULL && *size != 0)
        memcpy(target, value, value_size);
    *size = value_size;
    return ZE_RESULT_SUCCESS;
}
