/* What a build or a link has to say. */
#ifndef BLZ_BUILD_LOG_H
#define BLZ_BUILD_LOG_H

#include "handle.h"

/* Makes a log of a text; nothing when handle is NULL. */
ze_result_t blz_build_log_create(const char *text, ze_module_build_log_handle_t *handle);

/* The log of a build or a link: empty after success, else the thread's sentence, which stays. */
ze_result_t blz_build_log_tell(ze_result_t result, ze_module_build_log_handle_t *handle);

#endif
