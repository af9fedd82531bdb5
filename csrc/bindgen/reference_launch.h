/* A launch as one call with one argument, which stays as it is but for the values of its arguments. */
#ifndef BINDLESS_REFERENCE_LAUNCH_H
#define BINDLESS_REFERENCE_LAUNCH_H

static int bindless_launch_again(const bindless_launch_t *launch)
{
    return (int)blrEnqueueKernel(launch->queue, launch->kernel, &launch->launch, 0, NULL, launch->event);
}

static int bindless_event_release(blr_event_t event)
{
    return (int)blrEventRelease(event);
}

#endif
