/*
 * The reference driver of bindless: images, samplers and queues on the processor,
 * with the arithmetic of a texture unit.
 *
 * Usable from C without Python: link with libbindless_reference, or open it at run time.
 *
 * Conventions
 *  - Every function returns blr_result_t; results come back through the last parameters.
 *  - On failure blrGetLastError gives a sentence with the values concerned; it belongs to the
 *    calling thread and lives until that thread's next failing call.
 *  - Handles are opaque. An object keeps alive what it was made from: a queue may outlive the
 *    caller's reference to its context. Passing NULL or a handle of the wrong kind, or one that
 *    was destroyed, returns BLR_RESULT_INVALID_HANDLE; nothing aborts.
 *  - Every function may be called from any thread.
 *  - Enqueue functions return before the work is done. Memory of the process named in them must stay
 *    valid until the work has completed; memory and images of the driver may be freed and handles
 *    destroyed at once, what the work uses goes after the work. A call that fails submits nothing.
 *  - An address inside an allocation of this driver is checked against the allocation's end and its
 *    context; any other address is taken as it is.
 *  - A child process made by fork while the driver was in use gets BLR_RESULT_INVALID_HANDLE from
 *    every function: the worker threads did not come along.
 *  - Sizes are bytes, offsets and extents of images are pixels in (x, y, z) order; z is the layer
 *    of an array and the face of a cubemap. Unused extent components are 1 or 0.
 */
#ifndef BINDLESS_REFERENCE_H
#define BINDLESS_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#  if defined(BLR_BUILD)
#    define BLR_API __declspec(dllexport)
#  else
#    define BLR_API __declspec(dllimport)
#  endif
#else
#  define BLR_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define BLR_VERSION_MAJOR 0
#define BLR_VERSION_MINOR 1
#define BLR_VERSION_PATCH 0

#define BLR_MAX_MIP_LEVELS 18
#define BLR_MAX_NAME 128
#define BLR_UUID_SIZE 16
#define BLR_TIMEOUT_INFINITE UINT64_MAX

/* ---------------------------------------------------------------- values */

typedef enum blr_result {
    BLR_RESULT_SUCCESS = 0,
    BLR_RESULT_NOT_READY = 1,             /* an event or a queue still has work to do */
    BLR_RESULT_INVALID_ARGUMENT = 2,
    BLR_RESULT_INVALID_HANDLE = 3,        /* NULL, destroyed, or of another kind or context */
    BLR_RESULT_INVALID_SIZE = 4,          /* a size, offset or extent out of range */
    BLR_RESULT_INVALID_FORMAT = 5,        /* a channel type, channel count or element type that does not fit */
    BLR_RESULT_OUT_OF_MEMORY = 6,
    BLR_RESULT_UNSUPPORTED = 7,           /* asked of the device what its properties exclude */
    BLR_RESULT_IN_USE = 8,                /* freed while submitted work or another object uses it */
    BLR_RESULT_DEPENDENCY_FAILED = 9,     /* work not run because an event it waited for failed */
    BLR_RESULT_OUT_OF_RANGE = 10,         /* a fetch or write outside the image, a layer or face that does not exist */
    BLR_RESULT_TIMEOUT = 11,
    BLR_RESULT_UNKNOWN = 12,
    BLR_RESULT_BUILD_FAILED = 13,         /* a module that is not valid, or needs what is not supported */
    BLR_RESULT_KERNEL_FAULT = 14          /* a kernel did what it must not, such as touch memory that is none */
} blr_result_t;

typedef enum blr_channel_type {
    BLR_CHANNEL_SNORM_INT8 = 0,
    BLR_CHANNEL_SNORM_INT16 = 1,
    BLR_CHANNEL_UNORM_INT8 = 2,
    BLR_CHANNEL_UNORM_INT16 = 3,
    BLR_CHANNEL_SIGNED_INT8 = 4,
    BLR_CHANNEL_SIGNED_INT16 = 5,
    BLR_CHANNEL_SIGNED_INT32 = 6,
    BLR_CHANNEL_UNSIGNED_INT8 = 7,
    BLR_CHANNEL_UNSIGNED_INT16 = 8,
    BLR_CHANNEL_UNSIGNED_INT32 = 9,
    BLR_CHANNEL_FP16 = 10,
    BLR_CHANNEL_FP32 = 11,
    /* What Level Zero has beside them, with 1 to 4 channels: */
    BLR_CHANNEL_SNORM_INT32 = 12,
    BLR_CHANNEL_UNORM_INT32 = 13,
    /* The channels of a pixel in one word, so many as the name has numbers: from the lowest bits, red first. */
    BLR_CHANNEL_UNORM_INT_10_10_10_2 = 14,
    BLR_CHANNEL_SNORM_INT_10_10_10_2 = 15,
    BLR_CHANNEL_UNSIGNED_INT_10_10_10_2 = 16,
    BLR_CHANNEL_SIGNED_INT_10_10_10_2 = 17,
    BLR_CHANNEL_FP_10_10_10_2 = 18,       /* floats without sign, 5 bits of exponent; the last channel unorm */
    BLR_CHANNEL_FP_11_11_10 = 19,
    /* The same with blue in the lowest bits, red above green, alpha highest. */
    BLR_CHANNEL_UNORM_SHORT_5_6_5 = 20,
    BLR_CHANNEL_UNORM_SHORT_5_5_5_1 = 21,
    BLR_CHANNEL_UNORM_SHORT_4_4_4_4 = 22
} blr_channel_type_t;

/* The element type of an array of values in memory. */
typedef enum blr_element_type {
    BLR_ELEMENT_S8 = 0,
    BLR_ELEMENT_U8 = 1,
    BLR_ELEMENT_S16 = 2,
    BLR_ELEMENT_U16 = 3,
    BLR_ELEMENT_S32 = 4,
    BLR_ELEMENT_U32 = 5,
    BLR_ELEMENT_F16 = 6,
    BLR_ELEMENT_F32 = 7
} blr_element_type_t;

typedef enum blr_image_type {
    BLR_IMAGE_STANDARD = 0,
    BLR_IMAGE_MIPMAP = 1,
    BLR_IMAGE_ARRAY = 2,
    BLR_IMAGE_CUBEMAP = 3
} blr_image_type_t;

typedef enum blr_addressing {
    BLR_ADDRESSING_REPEAT = 0,
    BLR_ADDRESSING_CLAMP_TO_EDGE = 1,
    BLR_ADDRESSING_MIRRORED_REPEAT = 2,
    BLR_ADDRESSING_CLAMP_TO_BORDER = 3,   /* the border is transparent zero */
    BLR_ADDRESSING_NONE = 4               /* acts as REPEAT, see docs/numerics.md */
} blr_addressing_t;

typedef enum blr_filtering {
    BLR_FILTERING_NEAREST = 0,
    BLR_FILTERING_LINEAR = 1
} blr_filtering_t;

typedef enum blr_cubemap_filtering {
    BLR_CUBEMAP_DISJOINTED = 0,
    BLR_CUBEMAP_SEAMLESS = 1
} blr_cubemap_filtering_t;

typedef enum blr_memory_kind {
    BLR_MEMORY_UNKNOWN = 0,               /* not allocated by this driver */
    BLR_MEMORY_DEVICE = 1,
    BLR_MEMORY_HOST = 2,
    BLR_MEMORY_SHARED = 3
} blr_memory_kind_t;

typedef enum blr_queue_flags {
    BLR_QUEUE_OUT_OF_ORDER = 0,
    BLR_QUEUE_IN_ORDER = 1
} blr_queue_flags_t;

typedef enum blr_event_status {
    BLR_EVENT_SUBMITTED = 0,
    BLR_EVENT_RUNNING = 1,
    BLR_EVENT_COMPLETE = 2,
    BLR_EVENT_FAILED = 3
} blr_event_status_t;

typedef struct blr_device *blr_device_t;
typedef struct blr_context *blr_context_t;
typedef struct blr_queue *blr_queue_t;
typedef struct blr_event *blr_event_t;
typedef struct blr_image *blr_image_t;
typedef struct blr_module *blr_module_t;
typedef struct blr_kernel *blr_kernel_t;
typedef struct blr_batch *blr_batch_t;
typedef struct blr_external_memory *blr_external_memory_t;
typedef struct blr_external_semaphore *blr_external_semaphore_t;

/* What a channel of a pixel in a kernel is: a channel of the image, or a number. A channel that the image lacks is 0, and
 * alpha 1. */
typedef enum blr_swizzle {
    BLR_SWIZZLE_RED = 0,
    BLR_SWIZZLE_GREEN = 1,
    BLR_SWIZZLE_BLUE = 2,
    BLR_SWIZZLE_ALPHA = 3,
    BLR_SWIZZLE_ZERO = 4,
    BLR_SWIZZLE_ONE = 5
} blr_swizzle_t;

/* An unsampled or sampled image: passed by value, in any number. Zero is never a valid one. */
typedef uint64_t blr_image_handle_t;

typedef struct blr_device_properties {
    char name[BLR_MAX_NAME];
    char vendor[BLR_MAX_NAME];
    char driver_version[BLR_MAX_NAME];
    uint8_t uuid[BLR_UUID_SIZE];
    uint32_t compute_units;               /* threads of the pool that runs the device functions */
    uint32_t max_work_group_size;
    uint64_t global_memory_size;
    uint64_t max_allocation_size;
    uint64_t timer_resolution;            /* nanoseconds */
    uint64_t max_image_1d_width;
    uint64_t max_image_2d_width;
    uint64_t max_image_2d_height;
    uint64_t max_image_3d_width;
    uint64_t max_image_3d_height;
    uint64_t max_image_3d_depth;
    uint64_t max_image_layers;
    uint64_t max_mipmap_width;
    uint64_t max_mipmap_height;
    uint32_t image_row_pitch_align;
    uint32_t image_base_align;
    uint64_t max_image_linear_1d_width;
    uint64_t max_image_linear_width;
    uint64_t max_image_linear_height;
    uint64_t max_image_linear_row_pitch;
    float max_anisotropy;
    uint32_t exact_filtering;             /* 1 when BINDLESS_REFERENCE_FILTERING=exact */
} blr_device_properties_t;

typedef struct blr_image_desc {
    uint64_t width;
    uint64_t height;                      /* 0 for one dimension */
    uint64_t depth;                       /* 0 for one and two dimensions */
    uint32_t num_channels;                /* 1, 2, 3 or 4 */
    blr_channel_type_t channel_type;
    blr_image_type_t type;
    uint32_t num_levels;
    uint32_t array_size;
} blr_image_desc_t;

typedef struct blr_sampler_desc {
    blr_addressing_t addressing[3];
    uint32_t normalized_coordinates;      /* 0 or 1 */
    blr_filtering_t filtering;
    blr_filtering_t mipmap_filtering;
    blr_cubemap_filtering_t cubemap_filtering;
    float min_mipmap_level_clamp;
    float max_mipmap_level_clamp;
    float max_anisotropy;
} blr_sampler_desc_t;

typedef struct blr_memory_properties {
    blr_memory_kind_t kind;
    uint64_t base;                        /* address of the allocation */
    uint64_t size;
    blr_context_t context;                /* borrowed */
} blr_memory_properties_t;

/* ---------------------------------------------------------------- library and device */

/* The version of the library that was loaded, as BLR_VERSION_*. */
BLR_API blr_result_t blrGetVersion(uint32_t *major, uint32_t *minor, uint32_t *patch);

/* The code and sentence of this thread's last failure. The text is never NULL. */
BLR_API blr_result_t blrGetLastError(blr_result_t *code, const char **message);

/* The name of a result as text: "INVALID_SIZE"; "UNKNOWN" for a value that is none. It lives as long as the library. */
BLR_API blr_result_t blrResultGetName(blr_result_t code, const char **name);

/* How many native objects of any kind are alive: contexts, queues, events, images, handles, modules, kernels,
 * allocations, registrations of memory, memory and semaphores of others. */
BLR_API blr_result_t blrGetObjectCount(uint64_t *count);

BLR_API blr_result_t blrDeviceGetCount(uint32_t *count);
BLR_API blr_result_t blrDeviceGet(uint32_t index, blr_device_t *device);
BLR_API blr_result_t blrDeviceGetProperties(blr_device_t device, blr_device_properties_t *properties);

/* Whether images of this channel type and count can be made; supported is 0 or 1. */
BLR_API blr_result_t blrDeviceSupportsFormat(blr_device_t device, blr_channel_type_t channel_type, uint32_t num_channels,
                                             uint32_t *supported);

/* Nanoseconds of the clock that stamps events. */
BLR_API blr_result_t blrDeviceGetTimestamp(blr_device_t device, uint64_t *nanoseconds);

/* ---------------------------------------------------------------- context and memory */

BLR_API blr_result_t blrContextCreate(blr_device_t device, blr_context_t *context);

/* Gives back the caller's reference. Memory and images still allocated in it stay usable until freed; blrMemoryFree,
 * blrMemoryUnregister, blrMemoryGetProperties and blrImageHandleDestroy take the destroyed context for them. */
BLR_API blr_result_t blrContextDestroy(blr_context_t context);

/* Zeroed memory of 1 byte or more. alignment is a power of two, or 0; 512 is the least. All kinds can be read and
 * written by the host. More than the machine can back is refused with OUT_OF_MEMORY. */
BLR_API blr_result_t blrMemoryAllocate(blr_context_t context, blr_memory_kind_t kind, uint64_t size, uint64_t alignment,
                                       void **pointer);

/* Device memory for a two-dimensional image: height rows, row_pitch bytes apart. */
BLR_API blr_result_t blrMemoryAllocatePitched(blr_context_t context, uint64_t width_in_bytes, uint64_t height,
                                              uint32_t element_size, void **pointer, uint64_t *row_pitch);

/* Takes the address of an allocation's start. Submitted work and image handles that use the memory keep it until
 * they are done; the address is forgotten at once. */
BLR_API blr_result_t blrMemoryFree(blr_context_t context, void *pointer);

/* What an address belongs to; an address that is not ours gives BLR_MEMORY_UNKNOWN and succeeds. */
BLR_API blr_result_t blrMemoryGetProperties(blr_context_t context, const void *pointer, blr_memory_properties_t *properties);

/* Lets kernels of the context use other memory of the process, size bytes from pointer: read it, and write it if writable
 * is 1. Ranges may overlap and be the same. Copies and device functions need no registration, and the addresses remain
 * BLR_MEMORY_UNKNOWN. Memory of the driver itself is refused. */
BLR_API blr_result_t blrMemoryRegister(blr_context_t context, void *pointer, uint64_t size, uint32_t writable);

/* Ends one registration of these arguments, at once for later submissions. Submitted kernels with arguments that point
 * into the range may go on: the memory must stay valid until they are done. */
BLR_API blr_result_t blrMemoryUnregister(blr_context_t context, void *pointer, uint64_t size, uint32_t writable);

/* ---------------------------------------------------------------- queues and events */

/* In an in-order queue each command starts when the one before it has ended, failed or not. In an out-of-order queue
 * commands start as soon as the events they wait for are complete; up to 16 functions of the host overlap. */
BLR_API blr_result_t blrQueueCreate(blr_context_t context, blr_queue_flags_t flags, blr_queue_t *queue);

/* Waits for the queue's work, then destroys it. Failures that nobody asked for are dropped. */
BLR_API blr_result_t blrQueueDestroy(blr_queue_t queue);

/* Waits until all work submitted so far is complete; TIMEOUT after so many nanoseconds.
 * A failure of work that no event reported is returned here, one by each call, oldest first, each once. Failures of
 * this queue's commands that were not run because they waited for it are told with it. */
BLR_API blr_result_t blrQueueWait(blr_queue_t queue, uint64_t timeout);

/* SUCCESS when idle, else NOT_READY. */
BLR_API blr_result_t blrQueueQuery(blr_queue_t queue);

/* The oldest failure of this queue that nobody was told of yet, without waiting: code is SUCCESS when there is none.
 * Once taken it is not returned again, here or by blrQueueWait. Failures that only repeat it, because their commands
 * waited for it, go with it. The text belongs to the calling thread until its next call of this function. */
BLR_API blr_result_t blrQueueTakeFailure(blr_queue_t queue, blr_result_t *code, const char **message);

/* Completes after all work submitted to the queue before it, and after the events. Work submitted to the queue
 * later starts after it. */
BLR_API blr_result_t blrEnqueueBarrier(blr_queue_t queue, uint32_t num_waits, const blr_event_t *waits, blr_event_t *event);

/* Events are made by enqueue functions (event may be NULL there). Waiting for one returns the
 * result of its work; the work's sentence becomes this thread's last error. A command that waits for an
 * event of failed work is not run and fails with DEPENDENCY_FAILED and the sentence of the cause.
 * Events of any context can be waited for. The waiting thread may run the work itself. */
BLR_API blr_result_t blrEventWait(blr_event_t event, uint64_t timeout);
BLR_API blr_result_t blrEventGetStatus(blr_event_t event, blr_event_status_t *status);

/* The result of a complete event's work without waiting and without failing: SUCCESS and an empty text, or what
 * blrEventWait would return; NOT_READY before. The text belongs to the calling thread until its next call of this
 * function. A failure told here is not returned by blrQueueWait any more. */
BLR_API blr_result_t blrEventGetError(blr_event_t event, blr_result_t *code, const char **message);

/* Nanoseconds at submission, start and end; NOT_READY before the work is complete. */
BLR_API blr_result_t blrEventGetTimestamps(blr_event_t event, uint64_t *submitted, uint64_t *started, uint64_t *ended);
BLR_API blr_result_t blrEventRetain(blr_event_t event);
BLR_API blr_result_t blrEventRelease(blr_event_t event);

/* An event that the caller completes, once, with SUCCESS or the code of a failure. When it is released before, it
 * fails, so that nothing waits for it for ever. */
BLR_API blr_result_t blrEventCreateUser(blr_context_t context, blr_event_t *event);
BLR_API blr_result_t blrEventSignalUser(blr_event_t event, blr_result_t result);

/* ---------------------------------------------------------------- commands on memory */

/* Source and destination may overlap. */
BLR_API blr_result_t blrEnqueueCopy(blr_queue_t queue, void *destination, const void *source, uint64_t size,
                                    uint32_t num_waits, const blr_event_t *waits, blr_event_t *event);

/* Writes count copies of a pattern of 1 to 128 bytes. */
BLR_API blr_result_t blrEnqueueFill(blr_queue_t queue, void *destination, const void *pattern, uint64_t pattern_size,
                                    uint64_t count, uint32_t num_waits, const blr_event_t *waits, blr_event_t *event);

/* Runs a function of the host in the queue, on a thread of the queue. Waiting in it for the same queue is refused. */
typedef void (*blr_host_function_t)(void *user_data);
BLR_API blr_result_t blrEnqueueHostFunction(blr_queue_t queue, blr_host_function_t function, void *user_data,
                                            uint32_t num_waits, const blr_event_t *waits, blr_event_t *event);

/* Called by a function that a queue runs: its command fails with this code and sentence. The last call counts. */
BLR_API blr_result_t blrHostFunctionFail(blr_result_t code, const char *message);

/* ---------------------------------------------------------------- images */

/* Zeroed image memory. */
BLR_API blr_result_t blrImageCreate(blr_context_t context, const blr_image_desc_t *desc, blr_image_t *image);

/* Refused with IN_USE for a mip level: it belongs to its mipmap. Image handles and submitted work keep the pixels. */
BLR_API blr_result_t blrImageDestroy(blr_image_t image);
BLR_API blr_result_t blrImageGetDesc(blr_image_t image, blr_image_desc_t *desc);

/* One level of a mipmap, as a standard image; borrowed, it dies with the mipmap. */
BLR_API blr_result_t blrImageGetLevel(blr_image_t image, uint32_t level, blr_image_t *level_image);

/* The pixels of a standard image or of level 0, rows and slices tightly packed. For tests and tools. */
BLR_API blr_result_t blrImageGetPointer(blr_image_t image, void **pixels);

/* desc is the image's own. A mipmap has no unsampled handle; each of its levels has. */
BLR_API blr_result_t blrUnsampledImageCreate(blr_context_t context, blr_image_t image, const blr_image_desc_t *desc,
                                             blr_image_handle_t *handle);
BLR_API blr_result_t blrSampledImageCreate(blr_context_t context, blr_image_t image, const blr_image_desc_t *desc,
                                           const blr_sampler_desc_t *sampler, blr_image_handle_t *handle);

/* Over memory of blrMemoryAllocate or blrMemoryAllocatePitched, from a multiple of image_base_align; standard images
 * of one or two dimensions. row_pitch is ignored in one dimension. */
BLR_API blr_result_t blrSampledImageCreateFromMemory(blr_context_t context, const void *pointer, uint64_t row_pitch,
                                                     const blr_image_desc_t *desc, const blr_sampler_desc_t *sampler,
                                                     blr_image_handle_t *handle);
/* Memory of the driver as an image, of any type but a mipmap. */
typedef struct blr_image_view_desc {
    blr_image_desc_t image;               /* an array may have 1 layer */
    void *pointer;                        /* of pixel (0, 0, 0); a multiple of 64 */
    uint64_t row_pitch;                   /* bytes; 0: rows follow each other */
    uint64_t slice_pitch;                 /* bytes from slice to slice, or from layer to layer; 0: they follow each other */
    blr_swizzle_t swizzle[4];             /* of reads; a write stores each channel of the image from the first that names it */
    const blr_sampler_desc_t *sampler;    /* NULL for an unsampled image */
} blr_image_view_desc_t;

/* The handle keeps the memory. A write through a swizzled one has four channels. */
BLR_API blr_result_t blrImageViewCreate(blr_context_t context, const blr_image_view_desc_t *desc,
                                        blr_image_handle_t *handle);
BLR_API blr_result_t blrImageHandleDestroy(blr_context_t context, blr_image_handle_t handle);

/* One side of a copy: either an image, or memory of any kind with the distances between rows and slices. */
typedef struct blr_copy_endpoint {
    blr_image_t image;                    /* NULL: memory */
    void *pointer;
    uint64_t row_pitch;                   /* of memory; 0: rows follow each other */
    uint64_t slice_pitch;                 /* of memory; 0: slices follow each other */
    uint64_t offset[3];                   /* pixels */
} blr_copy_endpoint_t;

typedef struct blr_copy_region {
    blr_copy_endpoint_t source;
    blr_copy_endpoint_t destination;
    uint64_t extent[3];                   /* pixels */
    uint32_t pixel_size;                  /* bytes, the same on both sides */
} blr_copy_region_t;

/* Bits are copied between pixels of equal size. The two regions may overlap in memory, not in one image. A mipmap is
 * copied level by level. */
BLR_API blr_result_t blrEnqueueCopyImage(blr_queue_t queue, const blr_copy_region_t *region, uint32_t num_waits,
                                         const blr_event_t *waits, blr_event_t *event);

/* ---------------------------------------------------------------- memory and semaphores of others */

/*
 * What another interface or process shares by a file descriptor, on Linux. Import keeps a descriptor of its own: the one given
 * stays the caller's.
 *
 * Memory: a memfd, shared memory or a dma_buf; size bytes of it are used. Images lie in it as whoever made it lays them
 * out: SwiftShader and llvmpipe (22.3), Vulkan's drivers for processors, are known; in all other memory rows, slices and levels
 * follow each other without gaps.
 */
BLR_API blr_result_t blrExternalMemoryImport(blr_context_t context, int32_t file, uint64_t size,
                                             blr_external_memory_t *memory);

/* The memory as an image, STANDARD or MIPMAP, that is destroyed by blrImageDestroy. INVALID_SIZE if the memory is too
 * small for it. */
BLR_API blr_result_t blrExternalMemoryMapImage(blr_external_memory_t memory, const blr_image_desc_t *desc, blr_image_t *image);

/* A range of the memory as device memory, which ends by blrMemoryFree. */
BLR_API blr_result_t blrExternalMemoryMapLinear(blr_external_memory_t memory, uint64_t offset, uint64_t size, void **pointer);

/* What was mapped of it stays. */
BLR_API blr_result_t blrExternalMemoryRelease(blr_external_memory_t memory);

typedef enum blr_semaphore_type {
    BLR_SEMAPHORE_BINARY = 0,             /* an eventfd, or a binary semaphore that SwiftShader exports */
    BLR_SEMAPHORE_TIMELINE = 1            /* a file that begins with a number of 64 bits, which only grows; whoever raises it
                                             elsewhere wakes the futex at its low 32 bits, or is seen 10 ms later */
} blr_semaphore_type_t;

BLR_API blr_result_t blrExternalSemaphoreImport(blr_context_t context, blr_semaphore_type_t type, int32_t file,
                                                blr_external_semaphore_t *semaphore);

/* Submitted commands keep what they need of it. */
BLR_API blr_result_t blrExternalSemaphoreRelease(blr_external_semaphore_t semaphore);

/* Completes when the semaphore is signalled, which it then no longer is, or when the timeline has come to the value. Fails with
 * UNKNOWN after BINDLESS_REFERENCE_TIMEOUT seconds (600 by default, 0 for no limit). */
BLR_API blr_result_t blrEnqueueSemaphoreWait(blr_queue_t queue, blr_external_semaphore_t semaphore, uint64_t value,
                                             uint32_t num_waits, const blr_event_t *waits, blr_event_t *event);

/* Signals it, or raises the timeline to the value; a timeline that has come further stays where it is. */
BLR_API blr_result_t blrEnqueueSemaphoreSignal(blr_queue_t queue, blr_external_semaphore_t semaphore, uint64_t value,
                                               uint32_t num_waits, const blr_event_t *waits, blr_event_t *event);

/* ---------------------------------------------------------------- device functions */

typedef enum blr_image_operation {
    BLR_OPERATION_FETCH = 0,              /* integer coordinates; sampled or unsampled handle */
    BLR_OPERATION_SAMPLE = 1,             /* float coordinates; a direction for cubemaps */
    BLR_OPERATION_SAMPLE_LOD = 2,         /* mipmaps, explicit level */
    BLR_OPERATION_SAMPLE_GRADIENT = 3,    /* mipmaps, gradients */
    BLR_OPERATION_WRITE = 4               /* integer coordinates; unsampled handle */
} blr_image_operation_t;

/*
 * Where the pixels of a picture lie in an image of two dimensions. Pixel (i, j) is the sample at (u / w, v / w), where (u, v, w)
 * is the matrix, by rows, times (i + 1/2, j + 1/2, 1): a x + (b y + c) in double precision, each step rounded by itself. Rounded
 * to single precision it is divided by scale and moved by bias, which turns pixels into coordinates from 0 to 1.
 */
typedef struct blr_image_map {
    double matrix[9];
    float scale[2];
    float bias[2];
    uint64_t width;                       /* pixels of a row of the picture; 0: no map, coordinates are an array */
} blr_image_map_t;

/*
 * A device function over count items. Dimensions are those of the image.
 *  coordinates  (count, dimensions), int32 for FETCH and WRITE, float32 for sampling; (count, 3)
 *               directions to SAMPLE a cubemap, (count, 2) to FETCH or WRITE one
 *  layers       (count,) layers of an array or faces of a cubemap, or NULL: layer for every item
 *  levels       (count,) levels for SAMPLE_LOD, or NULL: level for every item
 *  gradient_x/y (count, dimensions) for SAMPLE_GRADIENT
 *  values       (count, value_channels) of value_type: result, or for WRITE the colours
 *  map          instead of coordinates, layers, levels and gradients, which are NULL then, to sample count pixels of a picture,
 *               row by row. Gradients are those of the map. Values of a normalized image may also be of its own storage type:
 *               codes, rounded to the nearest, ties to even
 * Channels that the image lacks read as 0; a WRITE has exactly the image's channels. Pointers may be any memory of
 * the process, aligned to their elements. Items that name a pixel or a layer outside the image read as 0 or write
 * nothing, all others are done, and the work fails with OUT_OF_RANGE and a sentence about the first of them.
 */
typedef struct blr_image_call {
    blr_image_operation_t operation;
    blr_image_type_t type;                /* which form of the function: standard, array, cubemap; MIPMAP with SAMPLE_LOD and SAMPLE_GRADIENT */
    blr_image_handle_t handle;
    uint64_t count;
    const void *coordinates;
    const uint32_t *layers;
    const float *levels;
    const float *gradient_x;
    const float *gradient_y;
    void *values;
    blr_element_type_t value_type;
    uint32_t value_channels;
    uint32_t layer;
    float level;
    blr_image_map_t map;
} blr_image_call_t;

BLR_API blr_result_t blrEnqueueImageCall(blr_queue_t queue, const blr_image_call_t *call, uint32_t num_waits,
                                         const blr_event_t *waits, blr_event_t *event);

/* ---------------------------------------------------------------- modules and kernels */

/* A value for a specialization constant: as many bytes as the constant has. */
typedef struct blr_specialization {
    uint32_t id;                          /* of the decoration SpecId */
    uint32_t size;
    const void *value;
} blr_specialization_t;

typedef enum blr_argument_kind {
    BLR_ARGUMENT_KIND_VALUE = 0,          /* a number, vector or struct */
    BLR_ARGUMENT_KIND_POINTER = 1,        /* to memory of this driver */
    BLR_ARGUMENT_KIND_LOCAL = 2,          /* a pointer to memory of the work-group, made by the launch */
    BLR_ARGUMENT_KIND_IMAGE = 3,          /* an image handle */
    BLR_ARGUMENT_KIND_SAMPLER = 4         /* the handle of a sampled image, whose sampler it is */
} blr_argument_kind_t;

typedef struct blr_kernel_argument {
    blr_argument_kind_t kind;
    const char *name;                     /* empty when the module does not say; lives as long as the kernel */
    uint64_t size;                        /* bytes */
} blr_kernel_argument_t;

typedef struct blr_kernel_properties {
    const char *name;                     /* lives as long as the kernel */
    uint32_t argument_count;
    uint32_t max_work_group_size;
    uint32_t required_work_group_size[3]; /* 0: any */
    uint32_t sub_group_size;
    uint64_t local_memory_size;           /* bytes of a work-group, without those of arguments */
    uint64_t private_memory_size;         /* bytes of a work-item */
} blr_kernel_properties_t;

typedef struct blr_launch {
    uint32_t dimensions;                  /* 1, 2 or 3 */
    uint64_t global_size[3];              /* work-items; dimension 0 varies fastest */
    uint64_t global_offset[3];
    uint64_t local_size[3];               /* of a work-group, divides global_size; all 0: the driver's choice */
    uint32_t argument_count;
    const void *const *arguments;         /* bytes of each, copied; NULL for local memory */
    const uint64_t *argument_sizes;       /* bytes of each */
} blr_launch_t;

/* Builds SPIR-V (1.0 to 1.6, Kernel, Physical64, OpenCL). BUILD_FAILED with a sentence that names the instruction and
 * its word when the module is not valid or needs something that is not supported. The code is copied. */
BLR_API blr_result_t blrModuleCreate(blr_context_t context, const void *code, uint64_t size, uint32_t num_specializations,
                                     const blr_specialization_t *specializations, blr_module_t *module);

/* The same for a module that may import functions and variables. Kernels that need them are made once it is linked: until then
 * blrKernelCreate says BUILD_FAILED. */
BLR_API blr_result_t blrModuleCompile(blr_context_t context, const void *code, uint64_t size, uint32_t num_specializations,
                                      const blr_specialization_t *specializations, blr_module_t *module);

/* One module with the kernels of all, in which imports are what the other modules export by that name. It shares the memory
 * of their variables and keeps what it needs of them, which go on as they were. BUILD_FAILED when something is in none of
 * them, or twice. */
BLR_API blr_result_t blrModuleLink(blr_context_t context, uint32_t num_modules, const blr_module_t *modules,
                                   blr_module_t *linked);

/* Kernels and submitted launches keep what they need of it. */
BLR_API blr_result_t blrModuleDestroy(blr_module_t module);
BLR_API blr_result_t blrModuleGetKernelCount(blr_module_t module, uint32_t *count);

/* The text lives as long as the module. */
BLR_API blr_result_t blrModuleGetKernelName(blr_module_t module, uint32_t index, const char **name);

BLR_API blr_result_t blrKernelCreate(blr_module_t module, const char *name, blr_kernel_t *kernel);
BLR_API blr_result_t blrKernelDestroy(blr_kernel_t kernel);
BLR_API blr_result_t blrKernelGetProperties(blr_kernel_t kernel, blr_kernel_properties_t *properties);
BLR_API blr_result_t blrKernelGetArgument(blr_kernel_t kernel, uint32_t index, blr_kernel_argument_t *argument);

/* Runs a kernel over all work-items. Memory that arguments point to and images that they name stay until it is done.
 * A kernel that touches memory which is neither of this driver and context nor registered there, or an image that does not
 * exist, fails with KERNEL_FAULT and a sentence about the work-item; so does one that runs longer than
 * BINDLESS_REFERENCE_TIMEOUT seconds (600 by default, 0 for no limit). What it had written by then stays. */
BLR_API blr_result_t blrEnqueueKernel(blr_queue_t queue, blr_kernel_t kernel, const blr_launch_t *launch,
                                      uint32_t num_waits, const blr_event_t *waits, blr_event_t *event);

/* ---------------------------------------------------------------- batches */

/* Until blrQueueEndRecording the queue, which is in order, keeps what is enqueued in it and runs none of it: kernels, copies, fills,
 * image calls and barriers, without events to wait for. Everything is checked as usual; the event is NULL. */
BLR_API blr_result_t blrQueueBeginRecording(blr_queue_t queue);

/* A batch of what was recorded, or with batch NULL nothing. It keeps the memory, images and kernels that its commands use. */
BLR_API blr_result_t blrQueueEndRecording(blr_queue_t queue, blr_batch_t *batch);

/* Runs the commands of a batch, one after the other, as one command of any queue of the context: arguments are as they were recorded,
 * memory as it is then. The first that fails ends the run, and its failure is the batch's. Runs of one batch come one
 * after the other, whatever queues they are in. */
BLR_API blr_result_t blrEnqueueBatch(blr_queue_t queue, blr_batch_t batch, uint32_t num_waits, const blr_event_t *waits,
                                     blr_event_t *event);

/* Runs that were submitted go on. */
BLR_API blr_result_t blrBatchDestroy(blr_batch_t batch);

#ifdef __cplusplus
}
#endif

#endif
