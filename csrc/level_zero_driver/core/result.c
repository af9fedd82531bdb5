/* Results with an error text, and the map from the reference driver's results. */

#include "level_zero_driver/core/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMED(name) {#name, ZE_RESULT_##name}

static const struct {
    const char *name;
    ze_result_t result;
} results[] = {
    NAMED(SUCCESS),
    NAMED(NOT_READY),
    NAMED(ERROR_DEVICE_LOST),
    NAMED(ERROR_OUT_OF_HOST_MEMORY),
    NAMED(ERROR_OUT_OF_DEVICE_MEMORY),
    NAMED(ERROR_MODULE_BUILD_FAILURE),
    NAMED(ERROR_MODULE_LINK_FAILURE),
    NAMED(ERROR_DEVICE_REQUIRES_RESET),
    NAMED(ERROR_DEVICE_IN_LOW_POWER_STATE),
    NAMED(EXP_ERROR_DEVICE_IS_NOT_VERTEX),
    NAMED(EXP_ERROR_VERTEX_IS_NOT_DEVICE),
    NAMED(EXP_ERROR_REMOTE_DEVICE),
    NAMED(EXP_ERROR_OPERANDS_INCOMPATIBLE),
    NAMED(EXP_RTAS_BUILD_RETRY),
    NAMED(EXP_RTAS_BUILD_DEFERRED),
    NAMED(ERROR_INSUFFICIENT_PERMISSIONS),
    NAMED(ERROR_NOT_AVAILABLE),
    NAMED(ERROR_DEPENDENCY_UNAVAILABLE),
    NAMED(WARNING_DROPPED_DATA),
    NAMED(ERROR_UNINITIALIZED),
    NAMED(ERROR_UNSUPPORTED_VERSION),
    NAMED(ERROR_UNSUPPORTED_FEATURE),
    NAMED(ERROR_INVALID_ARGUMENT),
    NAMED(ERROR_INVALID_NULL_HANDLE),
    NAMED(ERROR_HANDLE_OBJECT_IN_USE),
    NAMED(ERROR_INVALID_NULL_POINTER),
    NAMED(ERROR_INVALID_SIZE),
    NAMED(ERROR_UNSUPPORTED_SIZE),
    NAMED(ERROR_UNSUPPORTED_ALIGNMENT),
    NAMED(ERROR_INVALID_SYNCHRONIZATION_OBJECT),
    NAMED(ERROR_INVALID_ENUMERATION),
    NAMED(ERROR_UNSUPPORTED_ENUMERATION),
    NAMED(ERROR_UNSUPPORTED_IMAGE_FORMAT),
    NAMED(ERROR_INVALID_NATIVE_BINARY),
    NAMED(ERROR_INVALID_GLOBAL_NAME),
    NAMED(ERROR_INVALID_KERNEL_NAME),
    NAMED(ERROR_INVALID_FUNCTION_NAME),
    NAMED(ERROR_INVALID_GROUP_SIZE_DIMENSION),
    NAMED(ERROR_INVALID_GLOBAL_WIDTH_DIMENSION),
    NAMED(ERROR_INVALID_KERNEL_ARGUMENT_INDEX),
    NAMED(ERROR_INVALID_KERNEL_ARGUMENT_SIZE),
    NAMED(ERROR_INVALID_KERNEL_ATTRIBUTE_VALUE),
    NAMED(ERROR_INVALID_MODULE_UNLINKED),
    NAMED(ERROR_INVALID_COMMAND_LIST_TYPE),
    NAMED(ERROR_OVERLAPPING_REGIONS),
    NAMED(WARNING_ACTION_REQUIRED),
    NAMED(ERROR_INVALID_KERNEL_HANDLE),
    NAMED(EXT_RTAS_BUILD_RETRY),
    NAMED(EXT_RTAS_BUILD_DEFERRED),
    NAMED(EXT_ERROR_OPERANDS_INCOMPATIBLE),
    NAMED(ERROR_SURVIVABILITY_MODE_DETECTED),
    NAMED(ERROR_ADDRESS_NOT_FOUND),
    NAMED(QUERY_TRUE),
    NAMED(QUERY_FALSE),
    NAMED(ERROR_INVALID_GRAPH),
    NAMED(ERROR_GRAPH_CAPTURE_UNSUPPORTED),
    NAMED(ERROR_GRAPH_CAPTURE_INVALIDATED),
    NAMED(ERROR_GRAPH_CAPTURE_MERGE_ATTEMPT),
    NAMED(ERROR_COMMAND_LIST_NOT_CAPTURING),
    NAMED(ERROR_GRAPH_UNJOINED_FORKS),
    NAMED(ERROR_GRAPH_INTERNAL_EVENT),
    NAMED(ERROR_UNKNOWN),
};

ze_result_t blz_fail(ze_result_t result, const char *format, ...)
{
    char message[BLR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    blr_fail(BLR_RESULT_UNKNOWN, "%s", message);
    return result;
}

ze_result_t blz_fail_null(const char *parameter)
{
    return blz_fail(ZE_RESULT_ERROR_INVALID_NULL_POINTER, "%s is NULL: an address is needed", parameter);
}

ze_result_t blz_fail_enumeration(const char *parameter, long long value, const char *allowed)
{
    return blz_fail(ZE_RESULT_ERROR_INVALID_ENUMERATION, "%s is 0x%llx: %s", parameter, value, allowed);
}

ze_result_t blz_fail_memory(const char *what)
{
    return blz_fail(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no host memory for %s", what);
}

ze_result_t blz_tolerate(ze_result_t result)
{
    const char *strict = getenv("BINDLESS_LEVEL_ZERO_STRICT");
    return strict != NULL && strcmp(strict, "1") == 0 ? result : ZE_RESULT_SUCCESS;
}

ze_result_t blz_result(blr_result_t result)
{
    switch (result) {
    case BLR_RESULT_SUCCESS: return ZE_RESULT_SUCCESS;
    case BLR_RESULT_NOT_READY:
    case BLR_RESULT_TIMEOUT: return ZE_RESULT_NOT_READY;
    case BLR_RESULT_INVALID_ARGUMENT:
    case BLR_RESULT_INVALID_HANDLE:
    case BLR_RESULT_OUT_OF_RANGE: return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    case BLR_RESULT_INVALID_SIZE: return ZE_RESULT_ERROR_INVALID_SIZE;
    case BLR_RESULT_INVALID_FORMAT: return ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT;
    case BLR_RESULT_OUT_OF_MEMORY: return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    case BLR_RESULT_UNSUPPORTED: return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    case BLR_RESULT_IN_USE: return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    case BLR_RESULT_BUILD_FAILED: return ZE_RESULT_ERROR_MODULE_BUILD_FAILURE;
    case BLR_RESULT_DEPENDENCY_FAILED: /* only the command failed; the device continues */
    case BLR_RESULT_KERNEL_FAULT:
    case BLR_RESULT_UNKNOWN: break;
    }
    return ZE_RESULT_ERROR_UNKNOWN;
}

bool blz_result_named(const char *name, ze_result_t *result)
{
    if (strncmp(name, "ZE_RESULT_", 10) == 0)
        name += 10;
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        if (strcmp(results[i].name, name) == 0) {
            *result = results[i].result;
            return true;
        }
    }
    char *end = NULL;
    unsigned long number = strtoul(name, &end, 0);
    if (*name == '\0' || *end != '\0' || number > INT32_MAX)
        return false;
    *result = (ze_result_t)number;
    return true;
}

const char *blz_failure_text(void)
{
    blr_result_t code = BLR_RESULT_SUCCESS;
    const char *message = "";
    blrGetLastError(&code, &message);
    return message;
}
