/* Code of the functions that reference_additions.h declares. */
#include "reference_additions.h"

#include "reference_copy.h"
#include "reference_image.h"
#include "reference_launch.h"
