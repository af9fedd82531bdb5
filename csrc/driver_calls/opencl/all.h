/* Code of the functions that declarations.h declares. */
#include "opencl/declarations.h"

#include "opencl/event_list.h"
#include "opencl/shared_virtual.h"
#include "opencl/launch.h"
#include "opencl/copy.h"
