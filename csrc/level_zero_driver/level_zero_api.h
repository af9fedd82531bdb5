/* The Level Zero API of this driver: types, functions, and the tables between the loader and a driver. */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_LEVEL_ZERO_API_H
#define BINDLESS_LEVEL_ZERO_DRIVER_LEVEL_ZERO_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "level_zero_types.h"

#include "level_zero_functions.h"

#include "level_zero_ddi.h"

#endif
