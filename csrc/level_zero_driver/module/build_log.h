/* Build logs: the text that a module build or link returns to the caller. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_MODULE_BUILD_LOG_H
#define BINDLESS_LEVEL_ZERO_DRIVER_MODULE_BUILD_LOG_H

#include "level_zero_driver/core/handle.h"

/* Creates a log that holds a copy of text. Does nothing when handle is NULL. */
ze_result_t blz_build_log_create(const char *text, ze_module_build_log_handle_t *handle);

/* Creates the log of a build or a link: empty after success, else the thread's error text, which is kept. */
ze_result_t blz_build_log_tell(ze_result_t result, ze_module_build_log_handle_t *handle);

#endif
