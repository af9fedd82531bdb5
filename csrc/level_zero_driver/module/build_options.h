/* Build options of a module. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_MODULE_BUILD_OPTIONS_H
#define BINDLESS_LEVEL_ZERO_DRIVER_MODULE_BUILD_OPTIONS_H

#include "level_zero_driver/module/build_log.h"

/* Checks a string of options, which may be NULL. The executor has a single way to run a kernel: options change nothing.
 * Those that Level Zero does not define are noted in the log; when the driver is strict, they fail the build with
 * MODULE_BUILD_FAILURE. */
ze_result_t blz_build_options_check(const char *options, struct blz_log_text *log);

#endif
