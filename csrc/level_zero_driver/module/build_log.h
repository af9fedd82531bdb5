/* Build logs: the text that a module build or link returns to the caller. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_MODULE_BUILD_LOG_H
#define BINDLESS_LEVEL_ZERO_DRIVER_MODULE_BUILD_LOG_H

#include "level_zero_driver/core/handle.h"

/* Creates a log that holds a copy of text. Does nothing when handle is NULL. */
ze_result_t blz_build_log_create(const char *text, ze_module_build_log_handle_t *handle);

/* Creates the log of a build or a link: the notes after success, else the thread's error text, which is kept. */
ze_result_t blz_build_log_tell(ze_result_t result, const char *notes, ze_module_build_log_handle_t *handle);

/* Text of a log that grows by lines; starts as {0}, and blr_delete frees bytes, which is NULL without lines. */
struct blz_log_text {
    char *bytes;
    size_t length, capacity;
    bool failed; /* no memory for a line */
};

/* Adds a line of two parts. */
void blz_log_add(struct blz_log_text *text, const char *what, const char *name);

#endif
