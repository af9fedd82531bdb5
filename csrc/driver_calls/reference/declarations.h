/* Additions of the reference driver's module to its API, read by cffi and by the compiler. all.h
 * includes the code. */

/* Shared state of a queue's repeated commands: the events that the next one waits for, and its own event. */
typedef struct bindless_ends {
    uint64_t count;
    blr_event_t waits[8];
    blr_event_t event;
} bindless_ends_t;
typedef struct bindless_image_copy {
    blr_queue_t queue;
    blr_copy_region_t region;
    bindless_ends_t *ends;
} bindless_image_copy_t;
typedef struct bindless_bytes {
    blr_queue_t queue;
    void *destination;
    const void *source;
    uint64_t count;
    bindless_ends_t *ends;
} bindless_bytes_t;
typedef struct bindless_levels {
    blr_queue_t queue;
    blr_image_t mipmap;
    const void *pixels;
    bindless_ends_t *ends;
} bindless_levels_t;
typedef struct bindless_launch {
    blr_queue_t queue;
    blr_kernel_t kernel;
    blr_launch_t launch;
    bindless_ends_t *ends;
} bindless_launch_t;
typedef struct bindless_image_call {
    blr_queue_t queue;
    blr_image_call_t call;
    bindless_ends_t *ends;
} bindless_image_call_t;
typedef struct bindless_resample {
    blr_queue_t queue;
    blr_resampling_t picture;
    bindless_ends_t *ends;
} bindless_resample_t;
typedef struct bindless_area_mean {
    blr_queue_t queue;
    blr_area_mean_t mean;
    bindless_ends_t *ends;
} bindless_area_mean_t;
typedef struct bindless_semaphore {
    blr_queue_t queue;
    blr_external_semaphore_t semaphore;
    uint64_t value;
    int waits; /* whether the command waits for the semaphore; otherwise it signals it */
    bindless_ends_t *ends;
} bindless_semaphore_t;
static int bindless_semaphore_again(const bindless_semaphore_t *command);
static int bindless_copy_again(const bindless_image_copy_t *copy);
static int bindless_bytes_again(const bindless_bytes_t *copy);
static int bindless_levels_again(const bindless_levels_t *levels);
static int bindless_image_call_again(const bindless_image_call_t *call);
static int bindless_resample_again(const bindless_resample_t *call);
static int bindless_area_mean_again(const bindless_area_mean_t *call);
static int bindless_launch_again(const bindless_launch_t *launch);

/* Returns 0 for a command that is complete without a failure, INT32_MIN while it is incomplete, else an error for a
   failed command or an invalid event. */
static int bindless_event_query(blr_event_t event);
/* The same for all commands of a queue, including failed ones; polls at most `questions` times. */
static int bindless_queue_wait(blr_queue_t queue, int questions);
/* Converts a handle to its number; Python would need two objects for that. */
static uint64_t bindless_event_number(blr_event_t event);
/* Releases an event. */
static int bindless_event_release(blr_event_t event);

/* Creates an image of memory and returns its number; 0 where the driver refuses it: the last error has the reason. */
static uint64_t bindless_unsampled_image(blr_context_t context, uint64_t memory, const blr_image_desc_t *desc);
static uint64_t bindless_sampled_image(blr_context_t context, uint64_t memory, const blr_image_desc_t *desc,
                                       const blr_sampler_desc_t *sampler);
