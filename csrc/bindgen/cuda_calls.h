/* Code of the functions that cuda_additions.h declares. */
#include "cuda_additions.h"

#include "cuda_copy.h"
#include "cuda_host_call.h"
#include "cuda_image.h"
#include "cuda_launch.h"
#include "cuda_semaphore.h"
#include "cuda_staging.h"
