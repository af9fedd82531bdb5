/* Additions of the Level Zero module to the driver's API, read by cffi and by the compiler. all.h includes the code. */

typedef struct bindless_pool bindless_pool_t;

/* A driver event that is shared by references, and returns to its pool with the last one. */
typedef struct bindless_event {
    ze_event_handle_t handle;
    bindless_pool_t *pool;       /* NULL for an event of another library */
    struct bindless_event *next; /* of the unused events */
    uint32_t references;
    int owned;                   /* whether the last reference destroys an event of another library */
} bindless_event_t;

/* Pools of events of a context, which grow as needed. A pool is closed when no command uses its events; references may
   outlive it. */
static bindless_pool_t *bindless_pool_create(ze_context_handle_t context, int timed);
static ze_result_t bindless_pool_close(bindless_pool_t *pool);
/* Counts the pool's events, or its unused ones, and writes up to `room` handles. */
static uint32_t bindless_pool_count(bindless_pool_t *pool, int unused, uint32_t room, ze_event_handle_t *handles);
/* Takes an unsignalled event with one reference. */
static ze_result_t bindless_event_take(bindless_pool_t *pool, bindless_event_t **slot);
static ze_result_t bindless_event_adopt(ze_event_handle_t handle, int owned, bindless_event_t **adopted);
/* Writes the event of a number, its address, with a new reference. */
static void bindless_event_share(uint64_t number, bindless_event_t **shared);
static int bindless_event_release(bindless_event_t *event);
/* Releases an event, if there is one. */
static void bindless_event_drop(bindless_event_t **slot);
/* From now on, in the child of a fork, references are dropped without effect. Returns 0, or an error. */
static int bindless_watch_forks(void);

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

/* An event that commands use; index is the number of the command at whose end the stream signals it, 0 for others. */
typedef struct bindless_entry {
    bindless_event_t *event;
    long long index;
} bindless_entry_t;

enum { BINDLESS_MOST_WAITS = 8 };
typedef struct bindless_waits {
    uint64_t count;
    bindless_event_t *events[8];
} bindless_waits_t;

/* In-order commands. The stream's lock protects the members. */
typedef struct bindless_stream {
    bindless_lists_t *lists;
    bindless_pool_t *pool;     /* of events without timestamps */
    bindless_waits_t waits;    /* of the next command that C code submits */
    bindless_entry_t *entries; /* from first to end: events that unfinished commands may use, each with a reference */
    size_t first;
    size_t end;
    size_t capacity;
    size_t sweep_at;
} bindless_stream_t;

/* Keeps events of a command until it is complete; called before the driver has the command. */
static ze_result_t bindless_keep(bindless_stream_t *stream, uint32_t count, bindless_event_t *const *events,
                                 long long index);
/* Makes the driver signal a new event after all commands; index is the number of the last one. Writes the event with a
   reference. */
static int bindless_record(bindless_stream_t *stream, long long index, bindless_event_t **recorded);
/* The same; takes the event that was recorded last, if no command has followed. */
static int bindless_record_end(bindless_stream_t *stream, long long index, bindless_event_t **recorded);
/* The same; writes the event's number, its address. */
static int bindless_record_number(bindless_stream_t *stream, long long index, unsigned long long *number);
/* Releases the events of complete commands. */
static void bindless_sweep(bindless_stream_t *stream);
/* Releases all events; the commands are complete. */
static void bindless_stream_clear(bindless_stream_t *stream);

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
    bindless_stream_t *stream;
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
/* Submits the launch to its stream. */
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
    bindless_stream_t *stream;
    int way;
    bindless_copy_side_t source;
    bindless_copy_side_t destination;
    ze_copy_region_t box; /* of a copy between memory: bytes, rows and slices */
    size_t size;          /* bytes of a linear copy */
} bindless_copy_t;

/* Appends the copy to a list. */
static ze_result_t bindless_append_copy(const bindless_copy_t *copy, ze_command_list_handle_t list,
                                        ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits);
/* Submits the copy to its stream. */
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
