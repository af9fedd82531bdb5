/*
 * Semaphores of other interfaces and processes, by a file descriptor: those of the reference driver (its external_semaphore.h).
 *
 *   ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_OPAQUE_FD                  binary: the values of the calls' parameters do not count
 *   ZE_EXTERNAL_SEMAPHORE_EXT_FLAG_VK_TIMELINE_SEMAPHORE_FD   timelines
 */
#ifndef BLZ_EXTERNAL_SEMAPHORE_H
#define BLZ_EXTERNAL_SEMAPHORE_H

#include "handle.h"
#include "reference/external_semaphore.h"

struct blz_semaphore {
    struct blr_object object;
    struct blr_semaphore semaphore;
};

#endif
