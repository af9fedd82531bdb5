/* Additions of the OpenCL module to the driver's API, read by cffi and by the compiler. all.h includes the code. */

typedef struct bindless_lock bindless_lock_t;
static bindless_lock_t *bindless_lock_create(void);
static void bindless_lock_destroy(bindless_lock_t *lock);

/* Kinds of arguments. OBJECT: the caller passes a number that stands for a driver object. */
enum { BINDLESS_VALUE, BINDLESS_UNIFIED_ADDRESS, BINDLESS_SHARED_VIRTUAL_ADDRESS, BINDLESS_OBJECT };
enum { BINDLESS_IN_PYTHON = -2147483647 - 1 }; /* a result: nothing was submitted, Python must submit the command */
enum { BINDLESS_OBJECTS = 32 };

typedef struct bindless_context {
    cl_context handle;
    uint64_t generation;    /* a change may give addresses and handles another meaning */
    int needs_acquire;      /* whether external memory must be acquired before the next command, which Python does */
    bindless_lock_t *lock;  /* of the list, and of kernels whose launches need it */
    void **list;            /* shared virtual memory; the first piece lives as long as the context */
    size_t count;
    size_t capacity;
    uint64_t changes;       /* of the list */
} bindless_context_t;

/* A queue, and the events of its commands until they are known to be complete without a failure. */
typedef struct bindless_queue {
    cl_command_queue handle; /* NULL after its release */
    uint64_t wait_count;     /* events that the next command of a prepared description waits for */
    cl_event waits[8];
    cl_event last_event;     /* the event of the last such command, with a reference */
    bindless_lock_t *lock;   /* of the members below */
    cl_event *events;        /* each with a reference */
    cl_uint count;
    cl_uint capacity;
    cl_uint limit;        /* number of events that triggers a release of complete ones */
    cl_uint lowest_limit; /* the smallest such number */
} bindless_queue_t;

typedef struct bindless_argument {
    int kind;
    size_t offset; /* of the argument in the packed values */
    size_t size;
} bindless_argument_t;

/* The driver object that an argument's number stands for, as Python found it. */
typedef struct bindless_object {
    uint64_t number;
    uint64_t generation;
    cl_uint index; /* of the argument */
    int is_valid;
    const void *object;
} bindless_object_t;

/* A kernel, and the current values of its arguments where all of them are plain bytes. */
typedef struct bindless_kernel {
    cl_kernel kernel;
    bindless_lock_t *lock;   /* held while arguments are set and the kernel is enqueued */
    const bindless_context_t *context;
    int listed;              /* whether launches list the context's shared virtual memory */
    uint64_t changes;        /* the list that was given last */
    uint64_t numbers;        /* addresses from this one on are buffer numbers */
    cl_uint count;
    const bindless_argument_t *arguments;
    size_t size;             /* of the values; 0 where an argument is not plain bytes */
    char *values;            /* the values set last */
    int is_valid;            /* whether values is valid */
    uint64_t generation;     /* the generation in which they were set */
    bindless_object_t objects[32]; /* cache, by argument and number */
} bindless_kernel_t;

typedef struct bindless_range {
    cl_uint dimensions;
    size_t whole[3];
    size_t group[3];
    int grouped; /* whether the work-group size is given; otherwise the driver chooses it */
    size_t offset[3]; /* global work offset */
} bindless_range_t;

/* Arguments that Python resolved for a generation of the context; local memory has no value. */
typedef struct bindless_setting {
    int kind;
    size_t size;
    const void *value;
} bindless_setting_t;
typedef struct bindless_settings {
    uint64_t generation;
    cl_uint count;
    const bindless_setting_t *rows;
    int foreign; /* whether the owner of the kernel has set everything */
} bindless_settings_t;

/* A prepared launch. */
typedef struct bindless_launch {
    bindless_queue_t *queue;
    bindless_kernel_t *kernel;
    const bindless_range_t *range;
    const char *values;
} bindless_launch_t;

/* Kinds of copies. */
enum {
    BINDLESS_WRITE_IMAGE,
    BINDLESS_READ_IMAGE,
    BINDLESS_BUFFER_TO_IMAGE,
    BINDLESS_IMAGE_TO_BUFFER,
    BINDLESS_COPY_IMAGE,
    BINDLESS_COPY_UNIFIED,
    BINDLESS_COPY_SHARED_VIRTUAL,
    BINDLESS_WRITE_BUFFER,
    BINDLESS_READ_BUFFER,
    BINDLESS_COPY_BUFFER
};

/* One side of a copy. */
typedef struct bindless_side {
    uint64_t place;   /* a cl_mem, or an address */
    size_t origin[3]; /* of an image, in pixels */
    size_t offset;    /* into a buffer, in bytes */
} bindless_side_t;

/* A copy as one command. */
typedef struct bindless_copy {
    int kind;
    bindless_side_t source;
    bindless_side_t target;
    size_t region[3]; /* pixels of an image */
    size_t row;       /* bytes between rows and between slices of memory next to an image */
    size_t slice;
    size_t nbytes;    /* of a copy without images */
    bindless_queue_t *queue; /* of a prepared copy, as the next one */
    const bindless_context_t *context;
    uint64_t numbers; /* images from this one on are numbers for foreign images */
} bindless_copy_t;

static int bindless_submit_launch(const void *launch);
static int bindless_submit_copy(const void *copy);

static cl_int bindless_enqueue(bindless_kernel_t *kernel, cl_command_queue queue, const bindless_range_t *range,
                               const char *values, const bindless_settings_t *settings, cl_uint count,
                               const cl_event *waits, cl_event *event);
static cl_int bindless_enqueue_copy(const bindless_copy_t *copy, cl_command_queue queue, cl_uint count,
                                    const cl_event *waits, cl_event *event);
/* Adds the driver objects of the arguments to the kernel's cache. */
static void bindless_find_objects(bindless_kernel_t *kernel, const char *values, const bindless_settings_t *settings);
static void *bindless_allocate_shared_virtual(bindless_context_t *context, cl_svm_mem_flags flags, size_t size,
                                              cl_uint alignment);
static void bindless_free_shared_virtual(bindless_context_t *context, void *memory);
static void bindless_end_shared_virtual(bindless_context_t *context);

/* From now on, in the child of a fork, no function here calls the driver. Returns 0, or an error. */
static int bindless_watch_forks(void);

/* Returns the event as a number, with the caller's reference, after flushing the queue and recording the event. */
static uint64_t bindless_note(bindless_queue_t *queue, cl_event event);
static int bindless_event_release(void *event);
static int bindless_event_query(const void *event);
static int bindless_queue_wait(const void *queue, int questions);
/* Copies events with references; bindless_release_events releases those of an array that ends with NULL. */
static void bindless_hold_events(cl_uint count, const cl_event *events, cl_event *held);
static void bindless_release_events(void *events);
static cl_uint bindless_poll(cl_uint count, cl_event *events, uint64_t nanoseconds);
static cl_uint bindless_events_pending(bindless_queue_t *queue, cl_event *pending, cl_uint room);
static cl_uint bindless_events_failed(bindless_queue_t *queue, cl_event *failed, cl_uint room);
static void bindless_events_tell(bindless_queue_t *queue, uint64_t event);
static void bindless_events_clear(bindless_queue_t *queue);
