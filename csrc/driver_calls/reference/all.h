/* Code of the functions that declarations.h declares. */
#include "reference/declarations.h"

#include "reference/copy.h"
#include "reference/image.h"
#include "reference/image_call.h"
#include "reference/launch.h"
#include "reference/picture.h"
#include "reference/semaphore.h"
