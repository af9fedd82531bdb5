/*
 * The reference driver of bindless: images, samplers and queues on the processor, with the arithmetic of a texture unit.
 *
 * Usable from C without Python: link with libbindless_reference, or open it at run time.
 *
 * Conventions
 *  - Every function returns blr_result_t; output parameters come last.
 *  - After a failure blrGetLastError returns a message that names the invalid values. The message belongs to the calling
 *    thread and is valid until that thread's next failure.
 *  - Handles are opaque. An object retains the objects it was made from: a queue may outlive the caller's reference to its
 *    context. NULL, a destroyed handle and a handle of another kind give BLR_RESULT_INVALID_HANDLE; nothing aborts.
 *  - Every function may be called from any thread.
 *  - Enqueue functions return before the work is complete. Process memory that they name must stay valid until then. The
 *    driver's memory and images may be freed and handles destroyed at once: the work retains them. A call that fails
 *    submits nothing.
 *  - An address inside an allocation of this driver is checked against the allocation's end and its context; any other
 *    address is used unchecked.
 *  - In a child process forked while the driver was in use, every function returns BLR_RESULT_INVALID_HANDLE: fork does
 *    not copy the worker threads.
 *  - Sizes are in bytes; offsets and extents of images are in pixels, in (x, y, z) order. z is the layer of an array and
 *    the face of a cubemap. Unused extent components are 1 or 0.
 */
#ifndef BINDLESS_REFERENCE_H
#define BINDLESS_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#  if defined(BLR_BUILD)
#    define BLR_API __declspec(dllexport)
#  elif defined(BLR_TESTING) /* a static library */
#    define BLR_API
#  else
#    define BLR_API __declspec(dllimport)
#  endif
#else
#  define BLR_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define BLR_MAX_MIP_LEVELS 18
#define BLR_MAX_NAME 128
#define BLR_UUID_SIZE 16
#define BLR_TIMEOUT_INFINITE UINT64_MAX

/* ---------------------------------------------------------------- values */

typedef enum blr_result {
    BLR_RESULT_SUCCESS = 0,
    BLR_RESULT_NOT_READY = 1,             /* the event or queue is not complete */
    BLR_RESULT_INVALID_ARGUMENT = 2,
    BLR_RESULT_INVALID_HANDLE = 3,        /* NULL, destroyed, or of another kind or context */
    BLR_RESULT_INVALID_SIZE = 4,          /* a size, offset or extent out of range */
    BLR_RESULT_INVALID_FORMAT = 5,        /* an invalid or incompatible channel type, channel count or element type */
    BLR_RESULT_OUT_OF_MEMORY = 6,
    BLR_RESULT_UNSUPPORTED = 7,           /* the device does not support the request */
    BLR_RESULT_IN_USE = 8,                /* destroyed while submitted work or another object uses it */
    BLR_RESULT_DEPENDENCY_FAILED = 9,     /* not run because an event of the wait list failed */
    BLR_RESULT_OUT_OF_RANGE = 10,         /* a fetch or write outside the image; a missing layer or face */
    BLR_RESULT_TIMEOUT = 11,
    BLR_RESULT_UNKNOWN = 12,
    BLR_RESULT_BUILD_FAILED = 13,         /* a module that is invalid or needs an unsupported feature */
    BLR_RESULT_KERNEL_FAULT = 14          /* an invalid operation of a kernel, such as an invalid address */
} blr_result_t;

typedef enum blr_channel_type {
    BLR_CHANNEL_SNORM_INT8 = 0,
    BLR_CHANNEL_SNORM_INT16 = 1,
    BLR_CHANNEL_UNORM_INT8 = 2,
    BLR_CHANNEL_UNORM_INT16 = 3,
    BLR_CHANNEL_SIGNED_INT8 = 4, BLR_CHANNEL_SIGNED_INT16 = 5, BLR_CHANNEL_SIGNED_INT32 = 6,
    BLR_CHANNEL_UNSIGNED_INT8 = 7, BLR_CHANNEL_UNSIGNED_INT16 = 8, BLR_CHANNEL_UNSIGNED_INT32 = 9,
    BLR_CHANNEL_FP16 = 10,
    BLR_CHANNEL_FP32 = 11,
    /* Formats of Level Zero only, with 1 to 4 channels: */
    BLR_CHANNEL_SNORM_INT32 = 12, BLR_CHANNEL_UNORM_INT32 = 13,
    /* Packed formats: all channels of a pixel in one word, from the lowest bits, red first. */
    BLR_CHANNEL_UNORM_INT_10_10_10_2 = 14, BLR_CHANNEL_SNORM_INT_10_10_10_2 = 15,
    BLR_CHANNEL_UNSIGNED_INT_10_10_10_2 = 16, BLR_CHANNEL_SIGNED_INT_10_10_10_2 = 17,
    BLR_CHANNEL_FP_10_10_10_2 = 18, BLR_CHANNEL_FP_11_11_10 = 19, /* unsigned floats, 5 bits of exponent; alpha: unorm */
    /* Packed formats with blue in the lowest bits, then green, red and alpha. */
    BLR_CHANNEL_UNORM_SHORT_5_6_5 = 20, BLR_CHANNEL_UNORM_SHORT_5_5_5_1 = 21, BLR_CHANNEL_UNORM_SHORT_4_4_4_4 = 22,
    /* For sampled handles alone: codes of sRGB with linear alpha; blocks of 4 x 4 texels, the pixels of copies. */
    BLR_CHANNEL_UNORM_INT8_SRGB = 23,
    BLR_CHANNEL_BC1_UNORM = 24, BLR_CHANNEL_BC1_SRGB = 25, BLR_CHANNEL_BC2_UNORM = 26, BLR_CHANNEL_BC2_SRGB = 27,
    BLR_CHANNEL_BC3_UNORM = 28, BLR_CHANNEL_BC3_SRGB = 29, BLR_CHANNEL_BC4_UNORM = 30, BLR_CHANNEL_BC4_SNORM = 31,
    BLR_CHANNEL_BC5_UNORM = 32, BLR_CHANNEL_BC5_SNORM = 33, BLR_CHANNEL_BC6H_UFLOAT = 34, BLR_CHANNEL_BC6H_SFLOAT = 35,
    BLR_CHANNEL_BC7_UNORM = 36, BLR_CHANNEL_BC7_SRGB = 37
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
    BLR_ADDRESSING_CLAMP_TO_BORDER = 3,   /* the border is transparent zero, opaque in BC6H */
    BLR_ADDRESSING_NONE = 4,              /* acts as REPEAT, see docs/internals/numerics.md */
    BLR_ADDRESSING_MIRROR = 5,            /* mirrored at the outermost texels' centres */
    BLR_ADDRESSING_EXTENT = 6             /* the border beyond the outermost texels' edges; this and MIRROR are of
                                           * BLR_PRECISION_EXACT alone: other samples are those of CLAMP_TO_EDGE */
} blr_addressing_t;

typedef enum blr_precision {
    BLR_PRECISION_HARDWARE = 0,           /* samples of the texture unit */
    BLR_PRECISION_EXACT = 1,              /* weights and sums in single precision, for 32-bit integers in double */
    BLR_PRECISION_REPRODUCIBLE = 2        /* samples of the texture unit, whatever BINDLESS_REFERENCE_FILTERING says */
} blr_precision_t;

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

/* Source of a pixel's channel in kernels: a channel of the image, or a constant. A channel that the image lacks is
 * 0, alpha 1. */
typedef enum blr_swizzle {
    BLR_SWIZZLE_RED = 0,
    BLR_SWIZZLE_GREEN = 1,
    BLR_SWIZZLE_BLUE = 2,
    BLR_SWIZZLE_ALPHA = 3,
    BLR_SWIZZLE_ZERO = 4,
    BLR_SWIZZLE_ONE = 5
} blr_swizzle_t;

/* Handle of an unsampled or sampled image, passed by value. Zero is never valid. */
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

/* The version of the loaded library: that of the package it was built with. */
BLR_API blr_result_t blrGetVersion(uint32_t *major, uint32_t *minor, uint32_t *patch);

/* The code and message of this thread's last failure. The message is never NULL. */
BLR_API blr_result_t blrGetLastError(blr_result_t *code, const char **message);

/* The name of a result code, such as "INVALID_SIZE"; "UNKNOWN" for an invalid code. The text lives as long as the
 * library. */
BLR_API blr_result_t blrResultGetName(blr_result_t code, const char **name);

/* Number of existing objects of any kind: contexts, queues, events, images, handles, modules, kernels, allocations,
 * registrations of memory, external memory and semaphores. */
BLR_API blr_result_t blrGetObjectCount(uint64_t *count);

BLR_API blr_result_t blrDeviceGetCount(uint32_t *count);
BLR_API blr_result_t blrDeviceGet(uint32_t index, blr_device_t *device);
BLR_API blr_result_t blrDeviceGetProperties(blr_device_t device, blr_device_properties_t *properties);

/* Whether the device supports images of this channel type and count; supported is 0 or 1. */
BLR_API blr_result_t blrDeviceSupportsFormat(blr_device_t device, blr_channel_type_t channel_type, uint32_t num_channels,
                                             uint32_t *supported);

/* Current time in nanoseconds of the clock that timestamps events. */
BLR_API blr_result_t blrDeviceGetTimestamp(blr_device_t device, uint64_t *nanoseconds);

/* ---------------------------------------------------------------- context and memory */

BLR_API blr_result_t blrContextCreate(blr_device_t device, blr_context_t *context);

/* Releases the caller's reference. Memory and images allocated in the context stay usable until freed;
 * blrMemoryFree, blrMemoryUnregister, blrMemoryGetProperties and blrImageHandleDestroy accept the destroyed context
 * for them. */
BLR_API blr_result_t blrContextDestroy(blr_context_t context);

/* Allocates zeroed memory of at least 1 byte. alignment is a power of two, or 0; the minimum is 512. The host can
 * read and write all kinds. OUT_OF_MEMORY when the machine cannot back the size. */
BLR_API blr_result_t blrMemoryAllocate(blr_context_t context, blr_memory_kind_t kind, uint64_t size, uint64_t alignment,
                                       void **pointer);

/* Allocates device memory for a two-dimensional image: height rows, row_pitch bytes apart. */
BLR_API blr_result_t blrMemoryAllocatePitched(blr_context_t context, uint64_t width_in_bytes, uint64_t height,
                                              uint32_t element_size, void **pointer, uint64_t *row_pitch);

/* Frees an allocation, by its first address. The address becomes invalid at once; submitted work and image handles
 * retain the memory until they are done. */
BLR_API blr_result_t blrMemoryFree(blr_context_t context, void *pointer);

/* Properties of the memory at an address; an address outside the driver's memory gives BLR_MEMORY_UNKNOWN and
 * succeeds. */
BLR_API blr_result_t blrMemoryGetProperties(blr_context_t context, const void *pointer, blr_memory_properties_t *properties);

/* Makes other process memory, size bytes from pointer, accessible to kernels of the context: for reading, and for
 * writing if writable is 1. Ranges may overlap or be equal. Copies and device functions need no registration, and
 * the addresses remain BLR_MEMORY_UNKNOWN. The driver's own memory is refused. */
BLR_API blr_result_t blrMemoryRegister(blr_context_t context, void *pointer, uint64_t size, uint32_t writable);

/* Ends one registration with these arguments, for later submissions. Submitted kernels with arguments that point
 * into the range may still run: the memory must stay valid until they are complete. */
BLR_API blr_result_t blrMemoryUnregister(blr_context_t context, void *pointer, uint64_t size, uint32_t writable);

/* ---------------------------------------------------------------- queues and events */

/* Creates a queue. In an in-order queue each command starts when the previous one has ended, failed or not. In an
 * out-of-order queue commands start as soon as the events of their wait lists are complete; up to 16 host functions
 * overlap. */
BLR_API blr_result_t blrQueueCreate(blr_context_t context, blr_queue_flags_t flags, blr_queue_t *queue);

/* Waits for the queue's work, then destroys it. Unreported failures are dropped. */
BLR_API blr_result_t blrQueueDestroy(blr_queue_t queue);

/* Waits until all work submitted so far is complete; TIMEOUT after a number of nanoseconds. Returns failures that no
 * event reported, oldest first, one a call and each once. A failure also covers this queue's commands that were not
 * run because they depended on it. */
BLR_API blr_result_t blrQueueWait(blr_queue_t queue, uint64_t timeout);

/* SUCCESS when the queue is idle, else NOT_READY. */
BLR_API blr_result_t blrQueueQuery(blr_queue_t queue);

/* Takes the oldest unreported failure of this queue without waiting; code is SUCCESS when there is none. Neither
 * this function nor blrQueueWait returns it again, nor the failures of commands that depended on it. The message is
 * valid until the calling thread's next call of this function. */
BLR_API blr_result_t blrQueueTakeFailure(blr_queue_t queue, blr_result_t *code, const char **message);

/* Enqueues a barrier: it completes after all work submitted to the queue before it and after the events; work
 * submitted to the queue later starts after it. */
BLR_API blr_result_t blrEnqueueBarrier(blr_queue_t queue, uint32_t num_waits, const blr_event_t *waits, blr_event_t *event);

/* Waits for an event and returns the result of its work; on failure the work's message becomes this thread's last
 * error. Enqueue functions create events (event may be NULL there). A command whose wait list contains a failed
 * event is not run and fails with DEPENDENCY_FAILED and the message of the cause. Wait lists may contain events of
 * any context. The waiting thread may run the work itself. */
BLR_API blr_result_t blrEventWait(blr_event_t event, uint64_t timeout);
BLR_API blr_result_t blrEventGetStatus(blr_event_t event, blr_event_status_t *status);

/* The result of a complete event's work without waiting: SUCCESS and an empty message, or the result of
 * blrEventWait; NOT_READY before completion. The message is valid until the calling thread's next call of this
 * function. blrQueueWait does not return a failure that was reported here. */
BLR_API blr_result_t blrEventGetError(blr_event_t event, blr_result_t *code, const char **message);

/* Nanoseconds at submission, start and end; NOT_READY before completion. */
BLR_API blr_result_t blrEventGetTimestamps(blr_event_t event, uint64_t *submitted, uint64_t *started, uint64_t *ended);
BLR_API blr_result_t blrEventRetain(blr_event_t event);
BLR_API blr_result_t blrEventRelease(blr_event_t event);

/* Creates an event that the caller completes, once, with SUCCESS or an error code. Releasing it first makes it fail,
 * so that no command waits for it for ever. */
BLR_API blr_result_t blrEventCreateUser(blr_context_t context, blr_event_t *event);
BLR_API blr_result_t blrEventSignalUser(blr_event_t event, blr_result_t result);

/* ---------------------------------------------------------------- commands on memory */

/* Enqueues a copy; source and destination may overlap. */
BLR_API blr_result_t blrEnqueueCopy(blr_queue_t queue, void *destination, const void *source, uint64_t size,
                                    uint32_t num_waits, const blr_event_t *waits, blr_event_t *event);

/* Enqueues a fill: count copies of a pattern of 1 to 128 bytes. */
BLR_API blr_result_t blrEnqueueFill(blr_queue_t queue, void *destination, const void *pattern, uint64_t pattern_size,
                                    uint64_t count, uint32_t num_waits, const blr_event_t *waits, blr_event_t *event);

/* Enqueues a host function, which runs on a thread of the queue. It may not wait for its own queue. */
typedef void (*blr_host_function_t)(void *user_data);
BLR_API blr_result_t blrEnqueueHostFunction(blr_queue_t queue, blr_host_function_t function, void *user_data,
                                            uint32_t num_waits, const blr_event_t *waits, blr_event_t *event);

/* Called by a running host function: its command fails with this code and message. The last call counts. */
BLR_API blr_result_t blrHostFunctionFail(blr_result_t code, const char *message);

/* ---------------------------------------------------------------- images */

/* Creates an image; the contents of its memory are undefined. */
BLR_API blr_result_t blrImageCreate(blr_context_t context, const blr_image_desc_t *desc, blr_image_t *image);

/* Destroys an image; IN_USE for a mip level, which belongs to its mipmap. Image handles and submitted work retain
 * the pixels. */
BLR_API blr_result_t blrImageDestroy(blr_image_t image);
BLR_API blr_result_t blrImageGetDesc(blr_image_t image, blr_image_desc_t *desc);

/* One level of a mipmap as a standard image; borrowed: it is destroyed with the mipmap. */
BLR_API blr_result_t blrImageGetLevel(blr_image_t image, uint32_t level, blr_image_t *level_image);

/* Address of the pixels of a standard image or of level 0; rows and slices are packed. For tests and tools. */
BLR_API blr_result_t blrImageGetPointer(blr_image_t image, void **pixels);

/* Creates an unsampled handle; desc must equal the image's. A mipmap has no unsampled handle; each of its levels has
 * one. */
BLR_API blr_result_t blrUnsampledImageCreate(blr_context_t context, blr_image_t image, const blr_image_desc_t *desc,
                                             blr_image_handle_t *handle);
BLR_API blr_result_t blrSampledImageCreate(blr_context_t context, blr_image_t image, const blr_image_desc_t *desc,
                                           const blr_sampler_desc_t *sampler, blr_image_handle_t *handle);

/* Creates a sampled handle over memory of blrMemoryAllocate or blrMemoryAllocatePitched, at a multiple of
 * image_base_align; only standard images of one or two dimensions. row_pitch is ignored in one dimension. */
BLR_API blr_result_t blrSampledImageCreateFromMemory(blr_context_t context, const void *pointer, uint64_t row_pitch,
                                                     const blr_image_desc_t *desc, const blr_sampler_desc_t *sampler,
                                                     blr_image_handle_t *handle);
/* Driver memory as an image, of any type except a mipmap; or the pixels of an image with another channel type. */
typedef struct blr_image_view_desc {
    blr_image_desc_t image;               /* an array may have 1 layer */
    void *pointer;                        /* address of pixel (0, 0, 0); a multiple of 64 */
    uint64_t row_pitch;                   /* bytes; 0: rows are packed */
    uint64_t slice_pitch;                 /* bytes between slices or layers; 0: packed */
    blr_swizzle_t swizzle[4];             /* of reads; a write stores to each channel the first that names it */
    const blr_sampler_desc_t *sampler;    /* NULL: unsampled; LINEAR drops the fraction of integers of 32 bits */
    blr_image_t memory;                   /* or NULL: the image, as large, with pixels as large, no fewer layers and levels */
} blr_image_view_desc_t;

/* Creates a handle over memory; it retains the memory. A write through a swizzled handle has four channels. */
BLR_API blr_result_t blrImageViewCreate(blr_context_t context, const blr_image_view_desc_t *desc,
                                        blr_image_handle_t *handle);
BLR_API blr_result_t blrImageHandleDestroy(blr_context_t context, blr_image_handle_t handle);

/* One side of a copy: an image, or memory of any kind with row and slice pitches. */
typedef struct blr_copy_endpoint {
    blr_image_t image;                    /* NULL for memory */
    void *pointer;
    uint64_t row_pitch;                   /* bytes, for memory; 0: rows are packed */
    uint64_t slice_pitch;                 /* bytes, for memory; 0: slices are packed */
    uint64_t offset[3];                   /* pixels */
} blr_copy_endpoint_t;

typedef struct blr_copy_region {
    blr_copy_endpoint_t source;
    blr_copy_endpoint_t destination;
    uint64_t extent[3];                   /* pixels */
    uint32_t pixel_size;                  /* bytes; equal on both sides */
} blr_copy_region_t;

/* Enqueues a copy of pixels, bit by bit; both sides have the same pixel size. The regions may overlap in memory, but
 * not in one image. A mipmap is copied level by level. */
BLR_API blr_result_t blrEnqueueCopyImage(blr_queue_t queue, const blr_copy_region_t *region, uint32_t num_waits,
                                         const blr_event_t *waits, blr_event_t *event);

/* Decodes an image of blocks in memory to packed texels: halves of BC6H, 16-bit codes of BC4 and BC5, else 8-bit codes. */
BLR_API blr_result_t blrDecodeBlocks(blr_channel_type_t type, const void *blocks, uint32_t width, uint32_t height, void *texels);

/* ---------------------------------------------------------------- means of areas */

/*
 * Every pixel of the destination is the mean of the part of the source that it covers: pixel i of an axis of size n
 * covers [i, i + 1) * extent / n. The mean of codes of 8 and 16 bits is exact before it is rounded to nearest, ties to
 * even; other pixels are weighted by their shares in double precision, along x, then y, then z, and the mean is rounded
 * once (halves: to single precision, then to half). The codes of a normalized format that mean -1 count as equal.
 * Slices are layers of an array where extent and size in z are equal. Source and destination do not overlap.
 */
typedef struct blr_area_mean {
    blr_copy_endpoint_t source;
    blr_copy_endpoint_t destination;      /* offsets are for images; memory begins at its pointer */
    uint64_t extent[3];                   /* pixels of the source */
    uint64_t size[3];                     /* pixels of the destination, 1 to extent along each axis */
    blr_channel_type_t channel_type;      /* SNORM_INT8 to FP32 */
    uint32_t source_channels;
    uint32_t destination_channels;        /* the first ones of the source, or all */
    blr_element_type_t destination_type;  /* the channel type's storage; or F32, for memory: means of codes, as floats */
} blr_area_mean_t;

BLR_API blr_result_t blrEnqueueAreaMean(blr_queue_t queue, const blr_area_mean_t *mean, uint32_t num_waits,
                                        const blr_event_t *waits, blr_event_t *event);

/* The same at once, of memory of the process to memory of the process: returns when the means are complete. */
BLR_API blr_result_t blrAreaMean(const blr_area_mean_t *mean);

/* Enqueues the levels of a mipmap from 1: means of the level before. pixels are copied to level 0 first, or NULL. */
BLR_API blr_result_t blrEnqueueFillLevels(blr_queue_t queue, blr_image_t mipmap, const void *pixels, uint32_t num_waits,
                                          const blr_event_t *waits, blr_event_t *event);

/* ---------------------------------------------------------------- B-spline coefficients */

/* Continuation of a line of n samples: mirrored at the centres of its outermost samples, mirrored at their edges, or
 * with the period n. */
typedef enum blr_spline_boundary {
    BLR_SPLINE_MIRROR = 0,
    BLR_SPLINE_MIRRORED_REPEAT = 1,
    BLR_SPLINE_REPEAT = 2
} blr_spline_boundary_t;

/*
 * Coefficients of the B-spline that interpolates samples: along each axis, the filter (1 - p)^2 / ((1 - p / z) (1 - p z)) for
 * each pole p; that of the cubic B-spline, of which (c[i - 1] + 4 c[i] + c[i + 1]) / 6 is sample i, is sqrt(3) - 2.
 * Coefficients are computed in single precision, along x, then y, then z. Samples and coefficients are packed
 * floats: channels, then x, y, z, then arrays. The source is surrounded by a margin first, and the coefficients are those
 * of all samples. Source and target do not overlap.
 */
typedef struct blr_spline_filter {
    const void *source;
    void *target;                         /* extent + 2 * margin along each axis */
    uint64_t extent[3];                   /* samples of an array of the source along x, y, z */
    uint64_t count;                       /* arrays */
    uint32_t channels;                    /* 1 to 4 */
    uint32_t dimensions;                  /* axes that are filtered: x; x and y; x, y and z */
    uint64_t margin[3];                   /* samples before and after the source; 0 for axes that are not filtered */
    blr_spline_boundary_t boundary[3];    /* of the lines with their margin */
    uint32_t fills_margin;                /* 1: the margin has the value of fill; 0: of the outermost samples */
    float fill;
    uint32_t num_poles;                   /* 1 or 2 */
    double poles[2];                      /* between -1/2 and 0 */
} blr_spline_filter_t;

BLR_API blr_result_t blrEnqueueSplineFilter(blr_queue_t queue, const blr_spline_filter_t *filter, uint32_t num_waits,
                                            const blr_event_t *waits, blr_event_t *event);

/* The same at once, of memory of the process: returns when the coefficients are complete. */
BLR_API blr_result_t blrSplineFilter(const blr_spline_filter_t *filter);

/* ---------------------------------------------------------------- external memory and semaphores */

/*
 * Memory and semaphores that another interface or process shares by a file descriptor, on Linux. Import duplicates the
 * descriptor: the caller keeps its own.
 *
 * Memory: a memfd, shared memory or a dma_buf, of which size bytes are used. Image layouts are those of the exporter:
 * SwiftShader and llvmpipe (22.3), Vulkan's software drivers, are recognised; in all other memory rows, slices and levels
 * are packed.
 */
BLR_API blr_result_t blrExternalMemoryImport(blr_context_t context, int32_t file, uint64_t size,
                                             blr_external_memory_t *memory);

/* Maps the memory as an image, STANDARD or MIPMAP, which blrImageDestroy destroys. INVALID_SIZE if the memory is too
 * small for it. */
BLR_API blr_result_t blrExternalMemoryMapImage(blr_external_memory_t memory, const blr_image_desc_t *desc, blr_image_t *image);

/* Maps a range of the memory as device memory, which blrMemoryFree unmaps. */
BLR_API blr_result_t blrExternalMemoryMapLinear(blr_external_memory_t memory, uint64_t offset, uint64_t size, void **pointer);

/* Releases the memory object; existing mappings remain. */
BLR_API blr_result_t blrExternalMemoryRelease(blr_external_memory_t memory);

typedef enum blr_semaphore_type {
    BLR_SEMAPHORE_BINARY = 0,             /* an eventfd, or a binary semaphore exported by SwiftShader */
    BLR_SEMAPHORE_TIMELINE = 1            /* a file that begins with a 64-bit counter, which only increases; others
                                           * that raise it wake the futex at its low 32 bits, else the change is
                                           * noticed within 10 ms */
} blr_semaphore_type_t;

BLR_API blr_result_t blrExternalSemaphoreImport(blr_context_t context, blr_semaphore_type_t type, int32_t file,
                                                blr_external_semaphore_t *semaphore);

/* Releases the semaphore; submitted commands retain it. */
BLR_API blr_result_t blrExternalSemaphoreRelease(blr_external_semaphore_t semaphore);

/* Enqueues a wait: completes when a binary semaphore is signalled, and resets it, or when a timeline reaches the
 * value. Fails with UNKNOWN after BINDLESS_REFERENCE_TIMEOUT seconds (600 by default, 0 for no limit). */
BLR_API blr_result_t blrEnqueueSemaphoreWait(blr_queue_t queue, blr_external_semaphore_t semaphore, uint64_t value,
                                             uint32_t num_waits, const blr_event_t *waits, blr_event_t *event);

/* Enqueues a signal: sets a binary semaphore, or raises a timeline to the value; a higher timeline stays unchanged. */
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
 * The map of a picture to a two-dimensional image. Pixel (i, j) is the sample at (u / w, v / w), where (u, v, w) is the
 * row-major matrix times (i + 1/2, j + 1/2, 1): a x + (b y + c) in double precision, each step rounded separately. The
 * result is rounded to single precision, divided by scale and offset by bias, which converts pixels to normalized
 * coordinates.
 */
typedef struct blr_image_map {
    double matrix[9];
    float scale[2];
    float bias[2];
    uint64_t width;                       /* row length of the picture in pixels; 0: no map, coordinates are an array */
} blr_image_map_t;

/*
 * A device function over count items. "dimensions" are those of the image.
 *  coordinates  (count, dimensions), int32 for FETCH and WRITE, float32 for sampling; (count, 3)
 *               directions to SAMPLE a cubemap, (count, 2) to FETCH or WRITE one
 *  layers       (count,) layers of an array or faces of a cubemap, or NULL: layer for every item
 *  levels       (count,) levels for SAMPLE_LOD, or NULL: level for every item
 *  gradient_x/y (count, dimensions) for SAMPLE_GRADIENT
 *  values       (count, value_channels) of value_type: results, or the colours of a WRITE
 *  map          replaces coordinates, layers, levels and gradients, which must be NULL: samples count pixels of a
 *               picture, row by row, with the map's gradients. Values of a normalized image may also have its storage
 *               type: codes, rounded to nearest, ties to even
 * Channels that the image lacks read as 0; a WRITE has exactly the image's channels. Pointers may be any process memory
 * aligned to the elements. Items outside the image, or with a missing layer, read as 0 or write nothing. All other items
 * are processed, and the work fails with OUT_OF_RANGE and a message about the first invalid item.
 */
typedef struct blr_image_call {
    blr_image_operation_t operation;
    blr_image_type_t type;                /* form of the function: standard, array, cubemap; MIPMAP with SAMPLE_LOD
                                           * and SAMPLE_GRADIENT */
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
    blr_precision_t precision;
    blr_image_map_t map;
} blr_image_call_t;

BLR_API blr_result_t blrEnqueueImageCall(blr_queue_t queue, const blr_image_call_t *call, uint32_t num_waits,
                                         const blr_event_t *waits, blr_event_t *event);

/* ---------------------------------------------------------------- resampling */

typedef enum blr_interpolation {
    BLR_INTERPOLATION_NEAREST = 0,
    BLR_INTERPOLATION_LINEAR = 1,
    BLR_INTERPOLATION_CUBIC = 2,          /* B-spline of coefficients */
    BLR_INTERPOLATION_CATMULL_ROM = 3,    /* cubic convolutions, with a = -1/2 */
    BLR_INTERPOLATION_BICUBIC = 4,        /* and a = -3/4 */
    BLR_INTERPOLATION_QUADRATIC = 5,      /* B-splines of coefficients, of degrees 2, 4 and 5 */
    BLR_INTERPOLATION_QUARTIC = 6,
    BLR_INTERPOLATION_QUINTIC = 7
} blr_interpolation_t;

/* Values outside of an image of n texels along an axis, at positions that count from the centre of the first texel. */
typedef enum blr_boundary {
    BLR_BOUNDARY_BORDER = 0,              /* texels outside have the fill value */
    BLR_BOUNDARY_CONSTANT = 1,            /* as MIRROR; positions below 0 and above n - 1 give the fill value */
    BLR_BOUNDARY_EDGE = 2,                /* the outermost texel */
    BLR_BOUNDARY_REPEAT = 3,              /* with the period n */
    BLR_BOUNDARY_MIRRORED_REPEAT = 4,     /* mirrored at -1/2 and n - 1/2 */
    BLR_BOUNDARY_MIRROR = 5,              /* mirrored at 0 and n - 1 */
    BLR_BOUNDARY_WRAP = 6,                /* with the period n - 1 */
    BLR_BOUNDARY_EXTENT = 7               /* as EDGE; positions below -1/2 and above n - 1/2 give the fill value */
} blr_boundary_t;

typedef enum blr_rounding {
    BLR_ROUNDING_EVEN = 0,                /* of two nearest integers the even one */
    BLR_ROUNDING_AWAY = 1                 /* the one away from zero */
} blr_rounding_t;

typedef enum blr_coordinate_type {
    BLR_COORDINATE_F32 = 0,
    BLR_COORDINATE_F64 = 1,
    BLR_COORDINATE_FIELDS = 2             /* doubles that describe fields of vectors: bindless/filter/field.h */
} blr_coordinate_type_t;

/*
 * A picture of one image, or of one layer of an array, at computed positions.
 *
 * With (x, y, z) = (i, j, k) + centre for picture element (i, j, k), each row of the matrix gives a x + (b y + (c z + d)) in
 * double precision, every step rounded. Where the last row is not (0, 0, 0, 1), the first three are divided by the fourth.
 * A vector of coordinates, if any, is added, or fields on grids of their own move the position. The centre of texel
 * (i, j, k) is at (i, j, k) + centre. Axes that the image lacks are ignored.
 *
 * Texture units sample at the position plus 1/2 - centre, rounded to single precision, divided by scale and moved by bias,
 * with the handle's sampler; a cubic B-spline is a sum of linear samples, whose handle has linear filtering. With EXACT,
 * texels are fetched, boundary and fill apply, and the sampler does not; positions that are not finite have the fill value.
 *
 * Values of integer types are the codes of a normalized image, or else values rounded to the nearest integer, clamped to
 * the range of the type, and of the codes if that is smaller; not-a-number gives 0. Pointers may be any process memory
 * aligned to the elements.
 *
 * Parts. The picture may be a part of a larger one: its first element has the index `first` there, which is added to
 * (i, j, k). The image may be a window of a larger one of `whole` texels: its texel (i, j, k) is texel
 * (origin + (i, j, k)) modulo whole of the larger image. Positions, boundary and fill are then those of the larger image.
 * A value that needs only texels of the window has the bits that the larger image gives; any other is a mean of texels
 * of the window. Texture units, too, obey boundary, which is applied in double precision: the coordinate is rounded to
 * single precision, then as the unit rounds it (to 1/256, or to the centre of the nearest texel), and the origin is
 * subtracted before it is scaled. Their samplers clamp to the edge; linear filters find texels beyond the image in the window.
 */
typedef struct blr_resampling {
    blr_image_handle_t handle;            /* sampled: standard, array, or mipmap (level 0) */
    uint32_t layer;                       /* of an array, else 0 */
    uint64_t size[3];                     /* of the picture; 1 for axes that it lacks */
    double matrix[16];                    /* by rows */
    double centre;                        /* 0.5 or 0 */
    const void *coordinates;              /* vectors, one for each picture element; or fields; or NULL */
    blr_coordinate_type_t coordinate_type;
    int64_t coordinate_strides[2];        /* between picture elements, and components; of fields: all doubles, and 0 */
    float scale[3];
    float bias[3];
    blr_interpolation_t interpolation;
    blr_precision_t precision;
    blr_boundary_t boundary[3];
    double fill;                          /* 1 is the largest code of a normalized image; may be not-a-number */
    uint32_t ignore_nan;                  /* 1: other texels share the weight of those that are not numbers; EXACT, floats */
    uint32_t ties_to_even;                /* 1: of two nearest texels the even one is meant, not the upper one; EXACT */
    uint32_t double_sums;                 /* 1: weights and sums have double precision; EXACT, images of codes */
    void *values;                         /* packed, value_channels for each element */
    blr_element_type_t value_type;
    uint32_t value_channels;              /* at most those of the image */
    blr_rounding_t rounding;              /* of integers */
    uint64_t first[3];                    /* index of the first element in a larger picture */
    int64_t origin[3];                    /* of the window, less than whole */
    uint64_t whole[3];                    /* texels of the larger image; all 0: the image is no window */
    const void *texels;                   /* packed, in place of those of the image: EXACT, standard, no window; or NULL */
} blr_resampling_t;

BLR_API blr_result_t blrEnqueueResample(blr_queue_t queue, const blr_resampling_t *resampling, uint32_t num_waits,
                                        const blr_event_t *waits, blr_event_t *event);

/* ---------------------------------------------------------------- memory of the process */

/*
 * Samples of packed images in the memory of the process, one image after the other. The sample i of an image is at the
 * coordinate i divided by scale, plus bias: in double precision, then rounded to single precision.
 */
typedef struct blr_memory_samples {
    blr_image_desc_t desc;                /* of each image: standard, FP16 or FP32 */
    blr_sampler_desc_t sampler;
    double scale[3], bias[3];             /* 1 and 0: coordinates are those of the sampler */
    uint64_t images;
    uint64_t samples;                     /* of each image */
    const void *pixels;
    const float *coordinates;             /* (images, samples, dimensions) */
    void *values;                         /* (images, samples, channels), of the image's type */
} blr_memory_samples_t;

/* Computes what a texture unit gives, at once: returns when the values are complete. */
BLR_API blr_result_t blrSampleMemory(const blr_memory_samples_t *call);

/* ---------------------------------------------------------------- gradients */

/* Types of numbers in arrays. */
typedef enum blr_number_type {
    BLR_NUMBER_F16 = 0,
    BLR_NUMBER_F32 = 1,
    BLR_NUMBER_F64 = 2
} blr_number_type_t;

typedef enum blr_gradient_operation {
    BLR_GRADIENT_FORWARD = 0,             /* values */
    BLR_GRADIENT_BACKWARD = 1,            /* gradients of texels, coordinates and levels from a gradient of values */
    BLR_GRADIENT_BACKWARD_BACKWARD = 2    /* the vector-Jacobian product of BACKWARD */
} blr_gradient_operation_t;

/* Interpolation between the levels of a mipmap. */
typedef enum blr_between {
    BLR_BETWEEN_NONE = 0,                 /* level 0 */
    BLR_BETWEEN_NEAREST = 1,
    BLR_BETWEEN_LINEAR = 2
} blr_between_t;

/* An array of numbers at any address that their size divides. Strides are in numbers, in an order that each member of
 * blr_gradients_t and blr_gradient_level_t names; a stride may be 0 or negative. */
typedef struct blr_strided {
    void *first;                          /* or NULL */
    int64_t strides[5];
} blr_strided_t;

/* One level of a texture: arrays over channels, x, y, z, and textures. The faces of a cubemap take the place of z. */
typedef struct blr_gradient_level {
    uint32_t size[3];                     /* texels along x, y, z; 1 for axes that the texture lacks; a cubemap: of a face */
    blr_strided_t texels;
    blr_strided_t cotangents;             /* of BACKWARD's gradients, or NULL for zeros */
    blr_strided_t gradients;              /* added to; NULL if not wanted */
} blr_gradient_level_t;

/*
 * Samples of textures in the memory of the process, and their derivatives. A sample's value is a sum of weighted texels
 * in single precision, or in double precision for texels of type F64; that type is "real" below. The derivative with
 * respect to a coordinate is that of the weights, and 0 where a boundary clips the position. Texels of weight 0 do not
 * count. Every sum of a gradient goes in the order of the samples: results do not depend on the number of threads.
 *
 * The position of a sample along an axis is (its coordinate + shift) * scale + offset, every step rounded, in texels of
 * level 0, whose centres are at integers. In the level l it is (position + 1/2) * size of l / size of 0 - 1/2.
 */
typedef struct blr_gradients {
    blr_gradient_operation_t operation;
    uint32_t dimensions;                  /* 1 to 3; 2 for a cubemap */
    uint32_t cubemap;                     /* 1: coordinates are directions; faces +x -x +y -y +z -z meet without a seam;
                                           * NEAREST or LINEAR */
    blr_interpolation_t interpolation;
    uint32_t ties_to_even;                /* 1: NEAREST rounds positions halfway between two texels to the even one, not up */
    blr_between_t between;
    blr_boundary_t boundary[3];           /* BORDER, EDGE, REPEAT, MIRRORED_REPEAT or MIRROR */
    double fill;                          /* of texels outside, with BORDER */
    double shift, scale[3], offset[3];
    blr_number_type_t texel_type;         /* also of the cotangents of texels */
    blr_number_type_t value_type;
    uint32_t channels;
    uint32_t num_levels;                  /* 1 to BLR_MAX_MIP_LEVELS; 1 without between */
    uint64_t textures;
    uint64_t samples;                     /* of each texture */
    blr_strided_t coordinates;            /* real: over components, samples, textures */
    blr_strided_t level;                  /* real: over samples, textures; NULL for level 0 */
    blr_strided_t values;                 /* over channels, samples, textures; FORWARD writes them */
    blr_strided_t grad_values;            /* like values; read by BACKWARD and BACKWARD_BACKWARD */
    blr_strided_t cot_coordinates;        /* cotangents of BACKWARD's results, or NULL for zeros */
    blr_strided_t cot_level;
    blr_strided_t grad_grad_values;       /* BACKWARD_BACKWARD's results, like values; NULL if not wanted */
    blr_strided_t grad_coordinates;       /* results, or NULL if not wanted */
    blr_strided_t grad_level;
    blr_gradient_level_t levels[BLR_MAX_MIP_LEVELS]; /* the first num_levels */
} blr_gradients_t;

/* Computes samples or gradients at once: returns when the results are complete. Textures of which the gradients have
 * the same address (a stride of 0) are added up. */
BLR_API blr_result_t blrSampleGradients(const blr_gradients_t *gradients);

/* Moves positions of two axes through a lens, 46 doubles (bindless/filter/lens.h), and through a matrix behind it, by rows, of
 * which the first two rows of four count. Returns when they are moved. Places that no ray leads to are at minus infinity. */
BLR_API blr_result_t blrFollowLens(const double *lens, const double *matrix, uint64_t count, double *x, double *y);

/* ---------------------------------------------------------------- modules and kernels */

/* The value of a specialization constant; its size is the constant's. */
typedef struct blr_specialization {
    uint32_t id;                          /* operand of the SpecId decoration */
    uint32_t size;
    const void *value;
} blr_specialization_t;

typedef enum blr_argument_kind {
    BLR_ARGUMENT_KIND_VALUE = 0,          /* a number, vector or struct */
    BLR_ARGUMENT_KIND_POINTER = 1,        /* a pointer to memory of this driver */
    BLR_ARGUMENT_KIND_LOCAL = 2,          /* a pointer to local memory, which the launch allocates */
    BLR_ARGUMENT_KIND_IMAGE = 3,          /* an image handle */
    BLR_ARGUMENT_KIND_SAMPLER = 4         /* the handle of a sampled image that provides the sampler */
} blr_argument_kind_t;

typedef struct blr_kernel_argument {
    blr_argument_kind_t kind;
    const char *name;                     /* empty if the module has no names; lives as long as the kernel */
    uint64_t size;                        /* bytes */
} blr_kernel_argument_t;

typedef struct blr_kernel_properties {
    const char *name;                     /* lives as long as the kernel */
    uint32_t argument_count;
    uint32_t max_work_group_size;
    uint32_t required_work_group_size[3]; /* 0: any */
    uint32_t sub_group_size, required_sub_group_size; /* required: 0 for any */
    uint64_t local_memory_size;           /* bytes for a work-group, without local arguments */
    uint64_t private_memory_size;         /* bytes for a work-item */
} blr_kernel_properties_t;

typedef struct blr_launch {
    uint32_t dimensions;                  /* 1, 2 or 3 */
    uint32_t cooperative;                 /* 1: all work-groups run at the same time and may wait for each other */
    uint64_t global_size[3];              /* work-items; dimension 0 varies fastest */
    uint64_t global_offset[3];
    uint64_t local_size[3];               /* size of a work-group, divides global_size; all 0: the driver's choice */
    uint32_t argument_count;
    const void *const *arguments;         /* bytes of each argument, copied; NULL for local memory */
    const uint64_t *argument_sizes;       /* sizes in bytes */
} blr_launch_t;

/* Creates a module from SPIR-V (1.0 to 1.6, Kernel, Physical64, OpenCL); the code is copied. BUILD_FAILED, with a
 * message that names the instruction and its word, for an invalid or unsupported module. */
BLR_API blr_result_t blrModuleCreate(blr_context_t context, const void *code, uint64_t size, uint32_t num_specializations,
                                     const blr_specialization_t *specializations, blr_module_t *module);
/* The same for a module that may import functions and variables. Kernels that depend on imports become available
 * after linking: until then blrKernelCreate returns BUILD_FAILED. */
BLR_API blr_result_t blrModuleCompile(blr_context_t context, const void *code, uint64_t size, uint32_t num_specializations,
                                      const blr_specialization_t *specializations, blr_module_t *module);

/* Links modules: creates one module with the kernels of all, in which exports resolve imports by name. It shares the
 * memory of their variables and retains what it uses; the linked modules stay usable. BUILD_FAILED when a symbol is
 * undefined or defined twice. */
BLR_API blr_result_t blrModuleLink(blr_context_t context, uint32_t num_modules, const blr_module_t *modules,
                                   blr_module_t *linked);
/* Destroys a module; kernels and submitted launches retain what they use. */
BLR_API blr_result_t blrModuleDestroy(blr_module_t module);
BLR_API blr_result_t blrModuleGetKernelCount(blr_module_t module, uint32_t *count);
/* Name of a kernel; the text lives as long as the module. */
BLR_API blr_result_t blrModuleGetKernelName(blr_module_t module, uint32_t index, const char **name);
BLR_API blr_result_t blrKernelCreate(blr_module_t module, const char *name, blr_kernel_t *kernel);
BLR_API blr_result_t blrKernelDestroy(blr_kernel_t kernel);
BLR_API blr_result_t blrKernelGetProperties(blr_kernel_t kernel, blr_kernel_properties_t *properties);
BLR_API blr_result_t blrKernelGetArgument(blr_kernel_t kernel, uint32_t index, blr_kernel_argument_t *argument);
/* The kernel as C text: *size is the room of text, then the bytes with the final zero, or 0 without a translation.
 * A slot (csrc/reference/spirv/native/native_slot.h) then gets its function blr_native_kernel; both live for ever. */
BLR_API blr_result_t blrKernelGetNativeText(blr_kernel_t kernel, char *text, uint64_t *size);
BLR_API blr_result_t blrKernelSetNative(blr_kernel_t kernel, void *slot);

/* Enqueues a kernel over all work-items, and retains the memory that its arguments point to and the images that they
 * name. KERNEL_FAULT, with a message about the work-item, for an access to memory that is neither of this driver and
 * context nor registered there, for an invalid image, and for a kernel that runs longer than
 * BINDLESS_REFERENCE_TIMEOUT seconds (600 by default, 0 for no limit). Memory written before a fault stays written. */
BLR_API blr_result_t blrEnqueueKernel(blr_queue_t queue, blr_kernel_t kernel, const blr_launch_t *launch,
                                      uint32_t num_waits, const blr_event_t *waits, blr_event_t *event);

/* ---------------------------------------------------------------- batches */

/* Begins recording on an in-order queue: until blrQueueEndRecording, enqueued commands are recorded and not run.
 * Kernels, copies, fills, image calls and barriers can be recorded, without wait lists. All checks apply; the
 * returned event is NULL. */
BLR_API blr_result_t blrQueueBeginRecording(blr_queue_t queue);

/* Ends the recording and creates a batch of the recorded commands, or discards them if batch is NULL. The batch
 * retains the memory, images and kernels that its commands use. */
BLR_API blr_result_t blrQueueEndRecording(blr_queue_t queue, blr_batch_t *batch);

/* Enqueues a batch as one command, on any queue of its context: the commands run one after the other, with their
 * recorded arguments and the current contents of memory. The first failure ends the batch and is its result.
 * Executions of one batch never overlap, also on different queues. */
BLR_API blr_result_t blrEnqueueBatch(blr_queue_t queue, blr_batch_t batch, uint32_t num_waits, const blr_event_t *waits,
                                     blr_event_t *event);

/* Destroys a batch; submitted executions continue. */
BLR_API blr_result_t blrBatchDestroy(blr_batch_t batch);

#ifdef __cplusplus
}
#endif

#endif
