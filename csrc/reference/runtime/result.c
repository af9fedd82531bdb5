/* Result codes, error messages, and the last error of each thread. */
#include "runtime/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local struct blr_error last_error;
static _Thread_local struct blr_error *redirected;

static const char *const result_names[] = {
    [BLR_RESULT_SUCCESS] = "SUCCESS",
    [BLR_RESULT_NOT_READY] = "NOT_READY",
    [BLR_RESULT_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
    [BLR_RESULT_INVALID_HANDLE] = "INVALID_HANDLE",
    [BLR_RESULT_INVALID_SIZE] = "INVALID_SIZE",
    [BLR_RESULT_INVALID_FORMAT] = "INVALID_FORMAT",
    [BLR_RESULT_OUT_OF_MEMORY] = "OUT_OF_MEMORY",
    [BLR_RESULT_UNSUPPORTED] = "UNSUPPORTED",
    [BLR_RESULT_IN_USE] = "IN_USE",
    [BLR_RESULT_DEPENDENCY_FAILED] = "DEPENDENCY_FAILED",
    [BLR_RESULT_OUT_OF_RANGE] = "OUT_OF_RANGE",
    [BLR_RESULT_TIMEOUT] = "TIMEOUT",
    [BLR_RESULT_UNKNOWN] = "UNKNOWN",
    [BLR_RESULT_BUILD_FAILED] = "BUILD_FAILED",
    [BLR_RESULT_KERNEL_FAULT] = "KERNEL_FAULT",
};

const char *blr_result_name(blr_result_t code)
{
    unsigned index = (unsigned)code;
    return index < sizeof result_names / sizeof result_names[0] ? result_names[index] : "UNKNOWN";
}

blr_result_t blr_fail(blr_result_t code, const char *format, ...)
{
    /* Formatted to a temporary first: an argument may point into the message being replaced. */
    char text[BLR_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct blr_error *place = redirected != NULL ? redirected : &last_error;
    place->code = code;
    memcpy(place->message, text, strlen(text) + 1);
    return code;
}

struct blr_error *blr_error_redirect(struct blr_error *place)
{
    struct blr_error *before = redirected;
    redirected = place;
    return before;
}

void blr_error_set_last(blr_result_t code, const char *message)
{
    last_error.code = code;
    size_t length = strlen(message);
    if (length >= sizeof last_error.message)
        length = sizeof last_error.message - 1;
    memmove(last_error.message, message, length);
    last_error.message[length] = '\0';
}

blr_result_t blrGetLastError(blr_result_t *code, const char **message)
{
    if (code != NULL)
        *code = last_error.code;
    if (message != NULL)
        *message = last_error.message;
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrResultGetName(blr_result_t code, const char **name)
{
    if (name == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "name is NULL: an output pointer is required");
    *name = blr_result_name(code);
    return BLR_RESULT_SUCCESS;
}

blr_result_t blrGetVersion(uint32_t *major, uint32_t *minor, uint32_t *patch)
{
    if (major == NULL || minor == NULL || patch == NULL)
        return blr_fail(BLR_RESULT_INVALID_ARGUMENT, "an output pointer is NULL: major, minor and patch are required");
    *major = BLR_VERSION_MAJOR;
    *minor = BLR_VERSION_MINOR;
    *patch = BLR_VERSION_PATCH;
    return BLR_RESULT_SUCCESS;
}
