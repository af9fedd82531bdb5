/* What the reference's module offers besides the driver's API: read by cffi and by the compiler. The code is behind
 * reference_calls.h. */

/* What the repeated commands of a queue share: what the next one waits for, and where its event goes. */
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
typedef struct bindless_launch {
    blr_queue_t queue;
    blr_kernel_t kernel;
    blr_launch_t launch;
    bindless_ends_t *ends;
} bindless_launch_t;
static int bindless_copy_again(const bindless_image_copy_t *copy);
static int bindless_launch_again(const bindless_launch_t *launch);

/* Whether a command has ended well: 0, INT32_MIN as long as it has not ended, else it has failed or the event is none. */
static int bindless_event_query(blr_event_t event);
/* The same of all commands of a queue, failed ones too; it is asked so often at most. */
static int bindless_queue_wait(blr_queue_t queue, int questions);
/* The number that a handle is, which Python would take two objects to find out. */
static uint64_t bindless_event_number(blr_event_t event);
/* Gives an event back. */
static int bindless_event_release(blr_event_t event);

/* The number of a new image of memory; 0 where the driver refuses it, and its last error says why. */
static uint64_t bindless_unsampled_image(blr_context_t context, uint64_t memory, const blr_image_desc_t *desc);
static uint64_t bindless_sampled_image(blr_context_t context, uint64_t memory, const blr_image_desc_t *desc,
                                       const blr_sampler_desc_t *sampler);
