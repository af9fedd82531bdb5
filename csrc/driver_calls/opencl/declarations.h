/* Additions of the OpenCL module to the driver's API, read by cffi and by the compiler. opencl_*.h hold the code. */

typedef struct bindless_lock bindless_lock_t;
static bindless_lock_t *bindless_lock_create(void);
static void bindless_lock_destroy(bindless_lock_t *lock);

/* Kinds of arguments. OBJECT: the caller passes a number that stands for a driver object. */
enum { BINDLESS_VALUE, BINDLESS_UNIFIED_ADDRESS, BINDLESS_SHARED_VIRTUAL_ADDRESS, BINDLESS_OBJECT };
enum { BINDLESS_IN_PYTHON = -2147483647 - 1 }; /* a result: nothing was submitted, Python must set the arguments */

typedef struct bindless_argument {
    int kind;
    size_t offset; /* of the argument in the packed values */
    size_t size;
} bindless_argument_t;

/* A kernel, and the current values of its arguments where all of them are plain bytes. */
typedef struct bindless_kernel {
    cl_kernel kernel;
    bindless_lock_t *lock;   /* held while arguments are set and the kernel is enqueued */
    const uint64_t *now;     /* the context's generation: a change may invalidate addresses and handles */
    int listed;              /* whether the context's shared virtual memory must be listed once per generation */
    uint64_t numbers;        /* addresses from this one on are buffer numbers */
    cl_uint count;
    const bindless_argument_t *arguments;
    size_t size;             /* of the values; 0 where an argument is not plain bytes */
    char *values;            /* the values set last */
    int known;               /* whether values is valid */
    uint64_t generation;     /* the generation in which they were set */
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
    size_t listed;
    void *const *list;
} bindless_settings_t;

/* Events of a queue's launches, each with a reference, until they are known to be complete without a failure. The
 * last one is kept, because the launch's caller may still request it. */
typedef struct bindless_events {
    bindless_lock_t *lock;
    cl_event *events;
    cl_uint count;
    cl_uint capacity;
    cl_uint most;  /* number of events that triggers a release of complete ones */
    cl_event told; /* an event whose failure was reported */
} bindless_events_t;

/* A repeated launch. */
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
