/* Code of the functions that declarations.h declares. */
#include "level_zero/declarations.h"

#include "level_zero/copy.h"
#include "level_zero/events.h"
#include "level_zero/image.h"
#include "level_zero/launch.h"
#include "level_zero/lists.h"
#include "level_zero/stream.h"
