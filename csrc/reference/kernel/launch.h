/* Prepared kernel launches for the Level Zero driver, which has queues of its own. */
#ifndef BINDLESS_REFERENCE_KERNEL_LAUNCH_H
#define BINDLESS_REFERENCE_KERNEL_LAUNCH_H

#include "platform/shared.h"
#include "runtime/context.h"
#include "runtime/scheduler.h"

/* Checks a launch and retains the resources it uses; NULL after blr_fail. Its run function executes the launch on a
 * thread with default rounding, any number of times and on several threads at once; blr_command_discard frees it. */
BLR_SHARED struct blr_command *blr_launch_new(const struct blr_context *context, blr_kernel_t kernel, const blr_launch_t *launch);

#endif
