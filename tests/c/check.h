/* Checks of the C tests: the first failing check prints its location and the cause, and ends the program with status
   1. */
#ifndef BLR_CHECK_H
#define BLR_CHECK_H

#include <bindless/reference.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            check_failed(__FILE__, __LINE__, #condition, "does not hold");                                             \
    } while (0)

#define CHECK_EQUAL(expected, actual)                                                                                  \
    do {                                                                                                               \
        long long expected_ = (long long)(expected), actual_ = (long long)(actual);                                    \
        if (expected_ != actual_) {                                                                                    \
            char text_[128];                                                                                           \
            snprintf(text_, sizeof text_, "is %lld, expected %lld", actual_, expected_);                               \
            check_failed(__FILE__, __LINE__, #actual, text_);                                                          \
        }                                                                                                              \
    } while (0)

/* The call succeeds. */
#define OK(call) check_result(__FILE__, __LINE__, #call, BLR_RESULT_SUCCESS, (call), NULL)

/* The call fails with BLR_RESULT_code, and its error text contains `text`. */
#define FAILS(code, call, text) check_result(__FILE__, __LINE__, #call, BLR_RESULT_##code, (call), (text))

static inline void check_failed(const char *file, int line, const char *what, const char *how)
{
    fprintf(stderr, "%s:%d: %s %s\n", file, line, what, how);
    fflush(stderr);
    _Exit(1);
}

static inline void check_result(const char *file, int line, const char *call, blr_result_t expected,
                                blr_result_t actual, const char *text)
{
    char how[2048];
    blr_result_t code = BLR_RESULT_SUCCESS;
    const char *message = NULL, *expected_name = NULL, *actual_name = NULL;
    blrGetLastError(&code, &message);
    if (actual != expected) {
        blrResultGetName(expected, &expected_name);
        blrResultGetName(actual, &actual_name);
        snprintf(how, sizeof how, "gives %s (%s), expected %s", actual_name,
                 actual == BLR_RESULT_SUCCESS ? "" : message, expected_name);
        check_failed(file, line, call, how);
    }
    if (text == NULL)
        return;
    if (code != expected || strstr(message, text) == NULL) {
        snprintf(how, sizeof how, "says (%d) \"%s\", expected (%d) with \"%s\"", (int)code, message, (int)expected, text);
        check_failed(file, line, call, how);
    }
}

#endif
