/* Additions of the Level Zero module to the driver's API, read by cffi and by the compiler. all.h includes the code. */

/* A regular command list for one command, and the fence that signals the end of its execution. */
typedef struct bindless_slot {
    struct bindless_slot *next;     /* of the free or the running slots */
    struct bindless_slot *older;    /* of all slots */
    ze_command_list_handle_t list;
    ze_fence_handle_t fence;
} bindless_slot_t;

/* The command lists of a stream: one list that takes all commands, or a command queue and a list for each command.
   The stream's lock protects the members. */
typedef struct bindless_lists {
    ze_command_list_handle_t list;  /* an immediate list, or one that is recorded; NULL with a command queue */
    int in_order;                   /* whether the list keeps the order of its commands */
    int barrier;                    /* whether a barrier precedes the next command */
    ze_command_queue_handle_t queue;
    ze_context_handle_t context;    /* of the queue, like the next members */
    ze_device_handle_t device;
    uint32_t ordinal;
    bindless_slot_t *slots;
    bindless_slot_t *free;
    bindless_slot_t *running;       /* oldest first */
    bindless_slot_t *newest;        /* the last running slot */
} bindless_lists_t;

/* A list that takes one command; slot is NULL if it takes all. */
typedef struct bindless_open {
    ze_command_list_handle_t list;
    bindless_slot_t *slot;
} bindless_open_t;

/* A command is appended between begin and end. Its result is passed to end, which submits the list, or empties it
   after a failure. */
static ze_result_t bindless_begin(bindless_lists_t *lists, bindless_open_t *opened);
static ze_result_t bindless_end(bindless_lists_t *lists, const bindless_open_t *opened, ze_result_t result);
/* Prepares the lists of finished commands for reuse. */
static ze_result_t bindless_tidy(bindless_lists_t *lists);
/* Destroys the lists and fences of the slots; returns the first failure. Waits for running ones. */
static ze_result_t bindless_lists_clear(bindless_lists_t *lists);

/* A kernel with the values that were set last. Functions that use it exclude one another: the driver keeps values in
   the kernel from zeKernelSet... to the append. */
typedef struct bindless_kernel bindless_kernel_t;
typedef ze_result_t (*bindless_set_offset_t)(ze_kernel_handle_t kernel, uint32_t x, uint32_t y, uint32_t z);

/* Values of `size` bytes are set when they change; size 0 stands for an argument that is set before each launch: the
   driver looks up the memory at an address. */
static bindless_kernel_t *bindless_kernel_create(ze_kernel_handle_t kernel, bindless_set_offset_t set_offset,
                                                 uint32_t count, const uint32_t *sizes);
static void bindless_kernel_destroy(bindless_kernel_t *kernel);
/* Writes the driver's suggested work-group for a range; group[0] is 0 if it does not divide the range. */
static void bindless_kernel_suggest_group(bindless_kernel_t *kernel, const uint32_t *sizes, uint32_t *group);
static ze_result_t bindless_kernel_count_cooperative(bindless_kernel_t *kernel, const uint32_t *group, uint32_t *count);
static ze_result_t bindless_kernel_prefer_cache(bindless_kernel_t *kernel, ze_cache_config_flags_t flags);

/* The value of an argument; value is NULL for local memory. */
typedef struct bindless_setting {
    size_t size;
    const void *value;
} bindless_setting_t;

enum { BINDLESS_PLAIN, BINDLESS_COOPERATIVE, BINDLESS_INDIRECT };
typedef struct bindless_launch {
    bindless_lists_t *lists;
    bindless_kernel_t *kernel;
    int way;
    const ze_group_count_t *groups; /* in the device's memory for an indirect launch */
    uint32_t group[3];
    uint32_t offset[3];
    uint32_t count;
    const bindless_setting_t *settings;
} bindless_launch_t;

/* Sets the values and appends the launch to a list. */
static ze_result_t bindless_append_launch(const bindless_launch_t *launch, ze_command_list_handle_t list,
                                          ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits);
/* Submits the launch to its lists. */
static int bindless_launch(const bindless_launch_t *launch);

/* One side of a copy: an address with pitches in bytes, or a ze_image_handle_t with a region. */
typedef struct bindless_copy_side {
    uint64_t place;
    uint32_t pitch; /* between rows */
    uint32_t slice; /* between slices */
    ze_image_region_t region;
} bindless_copy_side_t;

enum { BINDLESS_LINEAR, BINDLESS_BOX, BINDLESS_TO_IMAGE, BINDLESS_FROM_IMAGE, BINDLESS_BETWEEN_IMAGES };
typedef struct bindless_copy {
    bindless_lists_t *lists;
    int way;
    bindless_copy_side_t source;
    bindless_copy_side_t destination;
    ze_copy_region_t box; /* of a copy between memory: bytes, rows and slices */
    size_t size;          /* bytes of a linear copy */
} bindless_copy_t;

/* Appends the copy to a list. */
static ze_result_t bindless_append_copy(const bindless_copy_t *copy, ze_command_list_handle_t list,
                                        ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits);
/* Submits the copy to its lists. */
static int bindless_copy(const bindless_copy_t *copy);

/* A new image; created is 1 if the driver created it, also where it could not make it resident. */
typedef struct bindless_image {
    ze_image_handle_t image;
    int created;
} bindless_image_t;
/* Creates an image of the type and format of a description, and makes it resident. */
static ze_result_t bindless_image_create(ze_context_handle_t context, ze_device_handle_t device,
                                         const ze_image_desc_t *format, uint64_t width, uint32_t height, uint32_t depth,
                                         uint32_t layers, bindless_image_t *image);
