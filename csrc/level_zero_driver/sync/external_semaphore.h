/* External semaphores: semaphores of other APIs and processes, imported by a file descriptor; the reference driver
 * implements them (external/semaphore_file.h).
 *
 * ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_OPAQUE_FD                  binary semaphores: the calls ignore the value
 * ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_VK_TIMELINE_SEMAPHORE_FD   timeline semaphores */
#ifndef BINDLESS_LEVEL_ZERO_DRIVER_SYNC_EXTERNAL_SEMAPHORE_H
#define BINDLESS_LEVEL_ZERO_DRIVER_SYNC_EXTERNAL_SEMAPHORE_H

#include "level_zero_driver/core/handle.h"
#include "reference/external/semaphore_file.h"

struct blz_semaphore {
    struct blr_object object;
    struct blr_semaphore semaphore;
};

#endif
