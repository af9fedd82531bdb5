/* The OpenCL library that it is linked with, and in front of its drivers cl_khr_external_memory over files in memory
   and cl_khr_external_semaphore over eventfds: what drivers of GPUs do, on a processor. It is as strict as the
   specification: memory is acquired once before it is released once, and descriptors are taken over by what succeeds. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "opencl_types.h"

#include "opencl_functions.h"

enum {
    MEMORY_TYPES = 0x204F, /* questions */
    SEMAPHORE_TYPES = 0x204C,
    SEMAPHORE_HANDLES = 0x204D,
    OPAQUE_FD = 0x2060, /* properties and answers */
    DMA_BUF = 0x2067,
    SEMAPHORE_FD = 0x2055,
    SEMAPHORE_TYPE = 0x203D,
    BINARY = 1,
    MEMORY_DEVICES = 0x2051,
    SEMAPHORE_DEVICES = 0x2053,
    INVALID_SEMAPHORE = -1142
};

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- what the device says of itself */

static cl_int answer(const void *value, size_t length, size_t size, void *out, size_t *needed)
{
    if (needed)
        *needed = length;
    if (out && size < length)
        return CL_INVALID_VALUE;
    if (out)
        memcpy(out, value, length);
    return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void *value, size_t *needed)
{
    static const cl_uint memory[] = {OPAQUE_FD, DMA_BUF}, semaphores[] = {SEMAPHORE_FD}, types[] = {BINARY};
    static const char more[] = " cl_khr_external_memory cl_khr_external_memory_opaque_fd cl_khr_external_memory_dma_buf"
                               " cl_khr_external_semaphore cl_khr_external_semaphore_opaque_fd cl_khr_semaphore";
    char text[8192] = "Sharing ";
    size_t begin = name == CL_DEVICE_NAME ? strlen(text) : 0, length = 0;
    switch (name) {
    case MEMORY_TYPES:
        return answer(memory, sizeof memory, size, value, needed);
    case SEMAPHORE_HANDLES:
        return answer(semaphores, sizeof semaphores, size, value, needed);
    case SEMAPHORE_TYPES:
        return answer(types, sizeof types, size, value, needed);
    case CL_DEVICE_NAME:
    case CL_DEVICE_EXTENSIONS: {
        cl_int result = NEXT(clGetDeviceInfo)(device, name, sizeof text - sizeof more - begin, text + begin, &length);
        if (result != CL_SUCCESS)
            return result;
        if (name == CL_DEVICE_EXTENSIONS)
            strcat(text, more);
        return answer(text, strlen(text) + 1, size, value, needed);
    }
    default:
        return NEXT(clGetDeviceInfo)(device, name, size, value, needed);
    }
}

/* ---- memory */

typedef struct object {
    cl_mem memory;
    void *mapped;
    size_t size;
    int acquired;
    struct object *next;
} object_t;

static object_t *objects;

static void forget(cl_mem memory, void *data)
{
    object_t *gone = data;
    (void)memory;
    pthread_mutex_lock(&lock);
    for (object_t **place = &objects; *place; place = &(*place)->next) {
        if (*place == gone) {
            *place = gone->next;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    munmap(gone->mapped, gone->size);
    free(gone);
}

/* The file descriptor among properties; -1 without any, -2 for what is not known. */
static int descriptor_of(const cl_mem_properties *properties)
{
    int found = -1;
    for (; properties && *properties; properties += 2) {
        if (*properties == OPAQUE_FD || *properties == DMA_BUF) {
            found = (int)properties[1];
        } else if (*properties == MEMORY_DEVICES) {
            while (properties[2])
                properties++;
            properties++;
        } else {
            return -2;
        }
    }
    return found;
}

static cl_mem fail(cl_int *result, cl_int code)
{
    if (result)
        *result = code;
    return NULL;
}

static object_t *map(int fd, size_t size)
{
    struct stat file;
    object_t *made = calloc(1, sizeof *made);
    if (!made || fstat(fd, &file) || !S_ISREG(file.st_mode) || (size_t)file.st_size < size)
        goto refused;
    made->size = size;
    made->mapped = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (made->mapped != MAP_FAILED)
        return made;
refused:
    free(made);
    return NULL;
}

/* What the driver made over mapped memory; the descriptor is the driver's from now on. */
static cl_mem keep(object_t *made, cl_mem memory, int fd)
{
    if (!memory) {
        munmap(made->mapped, made->size);
        free(made);
        return NULL;
    }
    close(fd);
    made->memory = memory;
    pthread_mutex_lock(&lock);
    made->next = objects;
    objects = made;
    pthread_mutex_unlock(&lock);
    clSetMemObjectDestructorCallback(memory, forget, made);
    return memory;
}

cl_mem clCreateBufferWithProperties(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
                                    size_t size, void *host, cl_int *result)
{
    int fd = descriptor_of(properties);
    if (fd == -1)
        return NEXT(clCreateBufferWithProperties)(context, properties, flags, size, host, result);
    object_t *made = fd >= 0 ? map(fd, size) : NULL;
    if (!made)
        return fail(result, fd >= 0 ? CL_INVALID_VALUE : CL_INVALID_PROPERTY);
    cl_mem memory = NEXT(clCreateBuffer)(context, flags | CL_MEM_USE_HOST_PTR, size, made->mapped, result);
    return keep(made, memory, fd);
}

static size_t pixel_size(const cl_image_format *format)
{
    size_t channels = format->image_channel_order == CL_R ? 1 : format->image_channel_order == CL_RG ? 2 : 4;
    switch (format->image_channel_data_type) {
    case CL_FLOAT:
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
        return 4 * channels;
    case CL_UNORM_INT8:
    case CL_SNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8:
        return channels;
    default:
        return 2 * channels;
    }
}

cl_mem clCreateImageWithProperties(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
                                   const cl_image_format *format, const cl_image_desc *desc, void *host, cl_int *result)
{
    int fd = descriptor_of(properties);
    if (fd == -1)
        return NEXT(clCreateImageWithProperties)(context, properties, flags, format, desc, host, result);
    size_t pixels = desc->image_width * (desc->image_height ? desc->image_height : 1);
    object_t *made = fd >= 0 ? map(fd, pixels * (desc->image_depth ? desc->image_depth : 1) * pixel_size(format)) : NULL;
    if (!made)
        return fail(result, fd >= 0 ? CL_INVALID_VALUE : CL_INVALID_PROPERTY);
    cl_mem memory = NEXT(clCreateImage)(context, flags | CL_MEM_USE_HOST_PTR, format, desc, made->mapped, result);
    return keep(made, memory, fd);
}

/* How many of the objects are acquired at the moment, for tests. */
int sharing_acquired(void)
{
    int count = 0;
    pthread_mutex_lock(&lock);
    for (object_t *each = objects; each; each = each->next)
        count += each->acquired;
    pthread_mutex_unlock(&lock);
    return count;
}

static cl_int turn(cl_uint count, const cl_mem *listed, int acquire)
{
    cl_int result = CL_SUCCESS;
    pthread_mutex_lock(&lock);
    for (cl_uint i = 0; i < count && result == CL_SUCCESS; i++) {
        object_t *each = objects;
        while (each && each->memory != listed[i])
            each = each->next;
        if (!each)
            result = CL_INVALID_MEM_OBJECT;
        else if (each->acquired == acquire)
            result = CL_INVALID_OPERATION;
        else
            each->acquired = acquire;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

static cl_int acquire(cl_command_queue queue, cl_uint count, const cl_mem *listed, cl_uint events, const cl_event *waits,
                      cl_event *event)
{
    cl_int result = turn(count, listed, 1);
    return result == CL_SUCCESS ? clEnqueueMarkerWithWaitList(queue, events, waits, event) : result;
}

static cl_int release(cl_command_queue queue, cl_uint count, const cl_mem *listed, cl_uint events, const cl_event *waits,
                      cl_event *event)
{
    cl_int result = turn(count, listed, 0);
    return result == CL_SUCCESS ? clEnqueueMarkerWithWaitList(queue, events, waits, event) : result;
}

/* ---- semaphores */

typedef struct {
    void *dispatch; /* first in every object of a driver */
    int fd;
} semaphore_t;

static semaphore_t *create(cl_context context, const cl_mem_properties *properties, cl_int *result)
{
    int fd = -1, binary = 0;
    for (; *properties; properties += 2) {
        if (*properties == SEMAPHORE_TYPE)
            binary = properties[1] == BINARY;
        else if (*properties == SEMAPHORE_FD)
            fd = (int)properties[1];
        else if (*properties == SEMAPHORE_DEVICES)
            for (; properties[2]; properties++)
                ;
    }
    char path[64], target[64] = "";
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(path, target, sizeof target - 1);
    semaphore_t *made = calloc(1, sizeof *made);
    if (!made || !binary || length < 0 || strcmp(target, "anon_inode:[eventfd]")) {
        free(made);
        return (semaphore_t *)fail(result, CL_INVALID_VALUE);
    }
    memcpy(&made->dispatch, context, sizeof made->dispatch);
    made->fd = fd;
    *result = CL_SUCCESS;
    return made;
}

static cl_int destroy(semaphore_t *semaphore)
{
    if (!semaphore)
        return INVALID_SEMAPHORE;
    close(semaphore->fd);
    free(semaphore);
    return CL_SUCCESS;
}

typedef struct {
    cl_event before, after;
    int fd, signals;
} step_t;

static void *take_step(void *data)
{
    step_t *step = data;
    uint64_t value = 1;
    clWaitForEvents(1, &step->before);
    struct pollfd ready = {.fd = step->fd, .events = POLLIN};
    if (step->signals)
        (void)!write(step->fd, &value, sizeof value);
    else
        while (poll(&ready, 1, -1) < 0 || read(step->fd, &value, sizeof value) < 0)
            ;
    clSetUserEventStatus(step->after, CL_COMPLETE);
    clReleaseEvent(step->before);
    clReleaseEvent(step->after);
    close(step->fd);
    free(step);
    return NULL;
}

static cl_int enqueue(cl_command_queue queue, semaphore_t *const *semaphores, int signals, cl_uint events,
                      const cl_event *waits, cl_event *event)
{
    cl_context context = NULL;
    cl_int result = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    step_t *step = calloc(1, sizeof *step);
    if (result != CL_SUCCESS || !step)
        return CL_OUT_OF_HOST_MEMORY;
    step->fd = dup(semaphores[0]->fd);
    step->signals = signals;
    step->after = clCreateUserEvent(context, &result);
    clEnqueueMarkerWithWaitList(queue, events, waits, &step->before);
    clRetainEvent(step->after);
    cl_event after = step->after;
    result = clEnqueueBarrierWithWaitList(queue, 1, &after, event);
    clReleaseEvent(after);
    clFlush(queue);
    pthread_t thread;
    if (pthread_create(&thread, NULL, take_step, step))
        return CL_OUT_OF_RESOURCES;
    pthread_detach(thread);
    return result;
}

static cl_int wait_for(cl_command_queue queue, cl_uint count, semaphore_t *const *semaphores, const cl_ulong *payloads,
                       cl_uint events, const cl_event *waits, cl_event *event)
{
    return count != 1 || payloads ? CL_INVALID_VALUE : enqueue(queue, semaphores, 0, events, waits, event);
}

static cl_int signal_it(cl_command_queue queue, cl_uint count, semaphore_t *const *semaphores, const cl_ulong *payloads,
                        cl_uint events, const cl_event *waits, cl_event *event)
{
    return count != 1 || payloads ? CL_INVALID_VALUE : enqueue(queue, semaphores, 1, events, waits, event);
}

void *clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
    static const struct {
        const char *name;
        void *function;
    } own[] = {
        {"clEnqueueAcquireExternalMemObjectsKHR", (void *)acquire},
        {"clEnqueueReleaseExternalMemObjectsKHR", (void *)release},
        {"clCreateSemaphoreWithPropertiesKHR", (void *)create},
        {"clEnqueueWaitSemaphoresKHR", (void *)wait_for},
        {"clEnqueueSignalSemaphoresKHR", (void *)signal_it},
        {"clReleaseSemaphoreKHR", (void *)destroy},
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (!strcmp(own[i].name, name))
            return own[i].function;
    }
    return NEXT(clGetExtensionFunctionAddressForPlatform)(platform, name);
}
