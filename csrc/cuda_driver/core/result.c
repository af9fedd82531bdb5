/* Results, their descriptions and names, and the results of the reference driver. */
#include "cuda_driver/core/result.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(CUresult result)
{
    for (unsigned i = 0; i < bcu_result_count; i++)
        if (bcu_result_names[i].result == result)
            return bcu_result_names[i].name;
    return NULL;
}

static void tell(const char *name, const char *format, va_list arguments)
{
    static int setting = -1;
    int now = __atomic_load_n(&setting, __ATOMIC_RELAXED);
    if (now < 0) {
        const char *text = getenv("BINDLESS_CUDA_MESSAGES");
        now = text != NULL && strcmp(text, "1") == 0;
        __atomic_store_n(&setting, now, __ATOMIC_RELAXED);
    }
    if (!now)
        return;
    char line[BLR_MESSAGE_SIZE];
    vsnprintf(line, sizeof line, format, arguments);
    fprintf(stderr, "libcuda of bindless: %s: %s\n", name, line);
}

CUresult bcu_fail(CUresult result, const char *format, ...)
{
    va_list arguments;
    const char *name = name_of(result);
    va_start(arguments, format);
    tell(name != NULL ? name : "unknown result", format, arguments);
    va_end(arguments);
    return result;
}

/* For the handle table, which the reference driver's own code fills in. */
blr_result_t blr_fail(blr_result_t code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tell("handle", format, arguments);
    va_end(arguments);
    return code;
}

CUresult bcu_fail_null(const char *name)
{
    return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL: a pointer is needed", name);
}

CUresult bcu_fail_memory(const char *what) { return bcu_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for %s", what); }

CUresult bcu_not_offered(const char *name)
{
    return bcu_fail(CUDA_ERROR_NOT_SUPPORTED, "%s is not a function of this driver", name);
}

static CUresult translate(blr_result_t result)
{
    switch (result) {
    case BLR_RESULT_SUCCESS: return CUDA_SUCCESS;
    case BLR_RESULT_NOT_READY:
    case BLR_RESULT_TIMEOUT: return CUDA_ERROR_NOT_READY;
    case BLR_RESULT_OUT_OF_MEMORY: return CUDA_ERROR_OUT_OF_MEMORY;
    case BLR_RESULT_UNSUPPORTED: return CUDA_ERROR_NOT_SUPPORTED;
    case BLR_RESULT_INVALID_HANDLE: return CUDA_ERROR_INVALID_HANDLE;
    case BLR_RESULT_BUILD_FAILED: return CUDA_ERROR_INVALID_PTX;
    case BLR_RESULT_KERNEL_FAULT: return CUDA_ERROR_LAUNCH_FAILED;
    case BLR_RESULT_INVALID_ARGUMENT:
    case BLR_RESULT_INVALID_SIZE:
    case BLR_RESULT_INVALID_FORMAT: return CUDA_ERROR_INVALID_VALUE;
    default: return CUDA_ERROR_UNKNOWN;
    }
}

CUresult bcu_result(blr_result_t result)
{
    if (result == BLR_RESULT_SUCCESS)
        return CUDA_SUCCESS;
    const char *message = "";
    blrGetLastError(NULL, &message);
    return bcu_fail(translate(result), "%s", message);
}

CUresult bcu_command_result(blr_result_t result, const char *message)
{
    CUresult own = translate(result);
    if (result == BLR_RESULT_KERNEL_FAULT) {
        if (strstr(message, "longer than") != NULL)
            own = CUDA_ERROR_LAUNCH_TIMEOUT;
        else if (strstr(message, "address") != NULL || strstr(message, "0x") != NULL)
            own = strstr(message, "align") != NULL ? CUDA_ERROR_MISALIGNED_ADDRESS : CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    return bcu_fail(own, "%s", message);
}

/* ---------------------------------------------------------------- names */

CUresult cuGetErrorName(CUresult error, const char **text)
{
    if (text == NULL)
        return bcu_fail_null("pStr");
    *text = name_of(error);
    return *text != NULL ? CUDA_SUCCESS : bcu_fail(CUDA_ERROR_INVALID_VALUE, "%d is no result", (int)error);
}

/* The name as words: "invalid value" of CUDA_ERROR_INVALID_VALUE. */
CUresult cuGetErrorString(CUresult error, const char **text)
{
    enum { ROOM = 64, MOST = 128 };
    static char sentences[MOST][ROOM];
    if (text == NULL)
        return bcu_fail_null("pStr");
    *text = NULL;
    for (unsigned i = 0; i < bcu_result_count && i < MOST; i++)
        if (bcu_result_names[i].result == error) {
            if (error == CUDA_SUCCESS) {
                *text = "no error";
                return CUDA_SUCCESS;
            }
            const char *name = bcu_result_names[i].name + strlen("CUDA_ERROR_");
            for (unsigned k = 0; k + 1 < ROOM && name[k] != '\0'; k++) {
                char c = name[k] == '_' ? ' ' : name[k] >= 'A' && name[k] <= 'Z' ? (char)(name[k] - 'A' + 'a') : name[k];
                __atomic_store_n(&sentences[i][k], c, __ATOMIC_RELAXED);
            }
            *text = sentences[i];
            return CUDA_SUCCESS;
        }
    return bcu_fail(CUDA_ERROR_INVALID_VALUE, "%d is no result", (int)error);
}
