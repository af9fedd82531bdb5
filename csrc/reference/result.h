/*
 * Result codes with a sentence: what was wrong, the value given, what is allowed.
 *
 * A failure is written by blr_fail to the calling thread, where blrGetLastError finds it. While a thread runs a
 * command, failures go to that command instead, so that a thread that helps with work keeps its own last error.
 */
#ifndef BLR_RESULT_H
#define BLR_RESULT_H

#include <bindless/reference.h>

#define BLR_MESSAGE_SIZE 1024

struct blr_error {
    blr_result_t code;
    char message[BLR_MESSAGE_SIZE];
};

#if defined(__GNUC__)
#define BLR_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define BLR_PRINTF(text, first)
#endif

/* Records the failure and returns its code, so that callers can write: return blr_fail(...). */
blr_result_t blr_fail(blr_result_t code, const char *format, ...) BLR_PRINTF(2, 3);

/* "INVALID_SIZE" and so on; "UNKNOWN" for a value that is no result. */
const char *blr_result_name(blr_result_t code);

/* Failures of this thread go to the given place until it is set back; returns the place before, NULL for the
 * thread's own last error. */
struct blr_error *blr_error_redirect(struct blr_error *place);

/* Makes this the calling thread's last error. */
void blr_error_set_last(blr_result_t code, const char *message);

#endif
