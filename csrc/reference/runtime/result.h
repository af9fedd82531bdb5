/*
 * Result codes with an error message: the fault, the value given, and the allowed values.
 *
 * blr_fail stores a failure as the calling thread's last error, which blrGetLastError returns. While a thread runs a
 * command, failures are stored in that command instead, so that a thread that helps with work keeps its own last error.
 */
#ifndef BINDLESS_REFERENCE_RUNTIME_RESULT_H
#define BINDLESS_REFERENCE_RUNTIME_RESULT_H

#include "platform/shared.h"

#include <bindless/reference.h>

#define BLR_MESSAGE_SIZE 1024

struct blr_error {
    blr_result_t code;
    char message[BLR_MESSAGE_SIZE];
};

#if defined(__MINGW32__) && !defined(__clang__) /* its printf is GNU's by __USE_MINGW_ANSI_STDIO */
#define BLR_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#elif defined(__GNUC__)
#define BLR_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define BLR_PRINTF(text, first)
#endif

/* Records the failure and returns its code, so that callers can write: return blr_fail(...). */
BLR_SHARED blr_result_t blr_fail(blr_result_t code, const char *format, ...) BLR_PRINTF(2, 3);

/* Name of a result, such as "INVALID_SIZE"; "UNKNOWN" for an invalid code. */
const char *blr_result_name(blr_result_t code);

/* Redirects this thread's failures to the given place until redirected again; returns the previous place, NULL for
 * the thread's own last error. */
BLR_SHARED struct blr_error *blr_error_redirect(struct blr_error *place);

/* Sets the calling thread's last error. */
void blr_error_set_last(blr_result_t code, const char *message);

#endif
