/* Launches that are made ready once, for the Level Zero driver, which has queues of its own. */
#ifndef BLR_KERNEL_LAUNCH_H
#define BLR_KERNEL_LAUNCH_H

#include "context.h"
#include "scheduler.h"

/* Checks a launch and keeps what it uses; NULL after blr_fail. Its run runs it, on a thread that rounds as usual, as often as wanted
 * and in several threads at a time; blr_command_discard ends it. */
struct blr_command *blr_launch_new(const struct blr_context *context, blr_kernel_t kernel, const blr_launch_t *launch);

#endif
