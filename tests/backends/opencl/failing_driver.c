/* The OpenCL library that it is linked with, until it is told to lose its device or to have none. It stands in for
   what no driver can be asked to do. Only what a program of the tests calls is here; all else is the library's own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

typedef void *handle;

enum { DEVICE_NOT_FOUND = -1, EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST = -14, EVENT_COMMAND_EXECUTION_STATUS = 0x11D3 };

static int lost; /* what every call gives that needs the device; 0 while it is there */
static int absent;

static int calls_left, failure;
static unsigned releases; /* number of calls of clReleaseEvent */

void lose(int result) { lost = result; }
/* The call of this number from now on, among those that need the device, fails once; 0: none. */
void fail_call(int number, int result) { calls_left = number, failure = result; }
int calls_until_failure(void) { return calls_left; }
static int failed(void) { return lost ? lost : calls_left > 0 && --calls_left == 0 ? failure : 0; }
unsigned event_releases(void) { return releases; }
void have_no_device(void) { absent = 1; }

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define NEEDS_DEVICE(name, parameters, arguments)                                                                      \
    int name parameters                                                                                                \
    {                                                                                                                  \
        int result = failed();                                                                                         \
        return result ? result : NEXT(name) arguments;                                                                 \
    }
#define MAKES(name, parameters, arguments)                                                                             \
    handle name parameters                                                                                             \
    {                                                                                                                  \
        if (!lost)                                                                                                     \
            return NEXT(name) arguments;                                                                               \
        if (result)                                                                                                    \
            *result = lost;                                                                                            \
        return NULL;                                                                                                   \
    }

#define WAITS unsigned count, const handle *waits, handle *event
#define WAITED count, waits, event

NEEDS_DEVICE(clFinish, (handle queue), (queue))
NEEDS_DEVICE(clFlush, (handle queue), (queue))
NEEDS_DEVICE(clEnqueueNDRangeKernel,
             (handle queue, handle kernel, unsigned dimensions, const size_t *offset, const size_t *global,
              const size_t *local, WAITS),
             (queue, kernel, dimensions, offset, global, local, WAITED))
NEEDS_DEVICE(clEnqueueMarkerWithWaitList, (handle queue, WAITS), (queue, WAITED))
NEEDS_DEVICE(clEnqueueBarrierWithWaitList, (handle queue, WAITS), (queue, WAITED))
NEEDS_DEVICE(clEnqueueSVMMemcpy, (handle queue, unsigned blocking, void *to, const void *from, size_t size, WAITS),
             (queue, blocking, to, from, size, WAITED))
NEEDS_DEVICE(clEnqueueSVMMemFill,
             (handle queue, void *to, const void *pattern, size_t length, size_t size, WAITS),
             (queue, to, pattern, length, size, WAITED))
NEEDS_DEVICE(clEnqueueWriteImage,
             (handle queue, handle image, unsigned blocking, const size_t *origin, const size_t *region, size_t row,
              size_t slice, const void *from, WAITS),
             (queue, image, blocking, origin, region, row, slice, from, WAITED))
NEEDS_DEVICE(clEnqueueReadImage,
             (handle queue, handle image, unsigned blocking, const size_t *origin, const size_t *region, size_t row,
              size_t slice, void *to, WAITS),
             (queue, image, blocking, origin, region, row, slice, to, WAITED))
NEEDS_DEVICE(clSetKernelArg, (handle kernel, unsigned index, size_t size, const void *value),
             (kernel, index, size, value))
NEEDS_DEVICE(clSetKernelArgSVMPointer, (handle kernel, unsigned index, const void *value), (kernel, index, value))
NEEDS_DEVICE(clSetKernelExecInfo, (handle kernel, unsigned name, size_t size, const void *value),
             (kernel, name, size, value))
NEEDS_DEVICE(clBuildProgram,
             (handle program, unsigned devices, const handle *list, const char *options, void *notify, void *data),
             (program, devices, list, options, notify, data))
MAKES(clCreateImage,
      (handle context, uint64_t flags, const void *format, const void *description, void *memory, int *result),
      (context, flags, format, description, memory, result))
MAKES(clCreateCommandQueueWithProperties, (handle context, handle device, const void *properties, int *result),
      (context, device, properties, result))

int clGetEventInfo(handle event, unsigned name, size_t size, void *value,
                                                          size_t *needed)
{
    int result = NEXT(clGetEventInfo)(event, name, size, value, needed);
    if (!result && lost && name == EVENT_COMMAND_EXECUTION_STATUS && value && *(int *)value > 0)
        *(int *)value = lost;
    return result;
}

int clReleaseEvent(handle event)
{
    releases++;
    return NEXT(clReleaseEvent)(event);
}

int clWaitForEvents(unsigned count, const handle *events)
{
    return lost ? EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : NEXT(clWaitForEvents)(count, events);
}

int clGetDeviceIDs(handle platform, uint64_t type, unsigned entries,
                                                          handle *devices, unsigned *count)
{
    if (!absent)
        return NEXT(clGetDeviceIDs)(platform, type, entries, devices, count);
    if (count)
        *count = 0;
    return DEVICE_NOT_FOUND;
}
