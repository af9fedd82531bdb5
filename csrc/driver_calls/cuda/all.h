/* Code of the functions that declarations.h declares. */
#include "cuda/declarations.h"

#include "cuda/copy.h"
#include "cuda/pipelined_image_call.h"
#include "cuda/image.h"
#include "cuda/launch.h"
#include "cuda/mapped_image_call.h"
#include "cuda/markers.h"
#include "cuda/semaphore.h"
#include "cuda/stream_order.h"
#include "cuda/pinned_staging.h"
