/* What the OpenCL module offers besides the driver's API: read by cffi and by the compiler. The code is in opencl_*.h. */

typedef struct bindless_lock bindless_lock_t;
static bindless_lock_t *bindless_lock_create(void);
static void bindless_lock_destroy(bindless_lock_t *lock);

/* Kinds of arguments. An object is one of the driver's that stands for the number a caller gives. */
enum { BINDLESS_VALUE, BINDLESS_UNIFIED_ADDRESS, BINDLESS_SHARED_VIRTUAL_ADDRESS, BINDLESS_OBJECT };
enum { BINDLESS_IN_PYTHON = -2147483647 - 1 }; /* a result: nothing was submitted, Python has to set the arguments */

typedef struct bindless_argument {
    int kind;
    size_t offset; /* among the values, which lie one behind the other */
    size_t size;
} bindless_argument_t;

/* A kernel, and what its arguments are set to where they are bytes alone. */
typedef struct bindless_kernel {
    cl_kernel kernel;
    bindless_lock_t *lock;   /* held while arguments are set and the kernel is enqueued */
    const uint64_t *now;     /* the context's generation: in another one addresses and handles may mean something else */
    int listed;              /* whether the context's shared virtual memory is listed in each generation */
    uint64_t numbers;        /* addresses from here on are numbers of buffers */
    cl_uint count;
    const bindless_argument_t *arguments;
    size_t size;             /* of the values; 0 where arguments are not bytes alone */
    char *values;            /* those that are set */
    int known;               /* whether they are */
    uint64_t generation;     /* in which they were set */
} bindless_kernel_t;

typedef struct bindless_range {
    cl_uint dimensions;
    size_t whole[3];
    size_t group[3];
    int grouped; /* whether the work-group is given: else the driver chooses */
    size_t offset[3]; /* what global ids begin at */
} bindless_range_t;

/* Arguments as Python has found them for a generation of the context; without a value, local memory. */
typedef struct bindless_setting {
    int kind;
    size_t size;
    const void *value;
} bindless_setting_t;
typedef struct bindless_settings {
    uint64_t generation;
    cl_uint count;
    const bindless_setting_t *rows;
    size_t listed;
    void *const *list;
} bindless_settings_t;

/* Events of a queue's launches, each with a reference, until they are known to have ended well. The last one stays: its holder
 * may still come for it. */
typedef struct bindless_events {
    bindless_lock_t *lock;
    cl_event *events;
    cl_uint count;
    cl_uint capacity;
    cl_uint most;  /* how many are kept before those that are complete are let go */
    cl_event told; /* one among them whose failure was told */
} bindless_events_t;

/* A launch to be repeated. */
typedef struct bindless_launch {
    cl_command_queue queue;
    bindless_kernel_t *kernel;
    const bindless_range_t *range;
    const char *values;
    bindless_events_t *events;
} bindless_launch_t;

static int bindless_submit(const void *launch);
static cl_int bindless_enqueue(bindless_kernel_t *kernel, cl_command_queue queue, const bindless_range_t *range,
                               const char *values, const bindless_settings_t *settings, cl_uint count,
                               const cl_event *waits, cl_event *event);
static void *bindless_allocate_shared_virtual(bindless_lock_t *lock, cl_context context, cl_svm_mem_flags flags,
                                              size_t size, cl_uint alignment);
static void bindless_free_shared_virtual(bindless_lock_t *lock, cl_context context, void *memory);

static void bindless_ask_events(cl_uint count, const cl_event *events, cl_int *statuses);
static cl_event bindless_events_last(bindless_events_t *events);
static cl_uint bindless_events_pending(bindless_events_t *events, int last, cl_event *pending, cl_uint most);
static cl_uint bindless_events_failed(bindless_events_t *events, cl_event *failed, cl_uint most);
static void bindless_events_tell(bindless_events_t *events, cl_event event);
static void bindless_events_clear(bindless_events_t *events);
