/* What the OpenCL module offers besides the driver's API: read by cffi and by the compiler. The code is in opencl_*.h. */
enum { BINDLESS_VALUE, BINDLESS_UNIFIED_ADDRESS, BINDLESS_SHARED_VIRTUAL_ADDRESS }; /* kinds of arguments */
enum { BINDLESS_OTHER_ADDRESS = 1 }; /* a result: an argument is the number of a buffer, nothing was submitted */

typedef struct bindless_argument {
    int kind;
    size_t offset; /* among the values, which lie one behind the other */
    size_t size;
} bindless_argument_t;

/* A kernel with what its arguments are set to; one thread at a time. */
typedef struct bindless_kernel {
    cl_kernel kernel;
    cl_uint count;
    const bindless_argument_t *arguments;
    char *values;      /* those that are set */
    int known;         /* whether they are: else all are set */
    uint64_t numbers;  /* addresses from here on are numbers of buffers */
    cl_int result;     /* of the last launch */
} bindless_kernel_t;

typedef struct bindless_range {
    cl_uint dimensions;
    size_t whole[3];
    size_t group[3];
    int grouped; /* whether the work-group is given: else the driver chooses */
} bindless_range_t;

static cl_event bindless_launch(bindless_kernel_t *kernel, cl_command_queue queue, const bindless_range_t *range,
                                const char *values, cl_uint count, const cl_event *waits);
static void bindless_ask_events(cl_uint count, const cl_event *events, cl_int *statuses);
