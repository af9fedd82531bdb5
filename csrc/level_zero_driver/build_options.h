/* The options of a module's build. */
#ifndef BLZ_BUILD_OPTIONS_H
#define BLZ_BUILD_OPTIONS_H

#include "failure.h"

/* Checks a string of options, which may be NULL. The executor has one way to run a kernel, so that known options change nothing.
 * MODULE_BUILD_FAILURE, with a sentence, for an option that is none of Level Zero's. */
ze_result_t blz_build_options_check(const char *options);

#endif
