/* Texts and binaries that a program asks for twice: for their size, then for themselves. */
#ifndef BLZ_COPY_OUT_H
#define BLZ_COPY_OUT_H

#include "failure.h"

/* Sets *size when it is 0 or there is no target; copies otherwise, INVALID_SIZE for less room than the value has. */
ze_result_t blz_copy_out(const void *value, size_t value_size, size_t *size, void *target);

#endif
