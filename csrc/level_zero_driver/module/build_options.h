/* Build options of a module. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_MODULE_BUILD_OPTIONS_H
#define BINDLESS_LEVEL_ZERO_DRIVER_MODULE_BUILD_OPTIONS_H

#include "level_zero_driver/core/result.h"

/* Checks a string of options, which may be NULL. The executor has a single way to run a kernel: valid options change
 * nothing. Fails with MODULE_BUILD_FAILURE for an option that Level Zero does not define. */
ze_result_t blz_build_options_check(const char *options);

#endif
