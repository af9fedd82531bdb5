/* Additions of the CUDA module to the driver's API, read by cffi and by the compiler. cuda_*.h hold the code. */
typedef struct bindless_launch {
    CUcontext context;
    CUstream stream;
    CUfunction function;
    unsigned int grid[3];
    unsigned int block[3];
    unsigned int shared;
    void **parameters;
} bindless_launch_t;

static int bindless_is_current(CUcontext context);
static CUresult bindless_activate(CUcontext context);
static CUresult bindless_launch(const bindless_launch_t *launch);

typedef struct bindless_lane {
    CUcontext context;
    CUstream stream;
} bindless_lane_t;
static int bindless_stream_wait(const bindless_lane_t *lane, int questions);

/* A stream whose commands are ordered with those of other libraries' streams; the events are created on first use. */
typedef struct bindless_order {
    CUcontext context;
    CUstream stream;
    CUevent before;
    CUevent after;
} bindless_order_t;
static int bindless_order_after(bindless_order_t *order, uint64_t other);
static int bindless_order_before(bindless_order_t *order, uint64_t other);
static void bindless_order_end(bindless_order_t *order);

/* Events that are recorded with each command of a stream. */
typedef struct bindless_markers bindless_markers_t;
typedef struct bindless_marker bindless_marker_t;
typedef struct bindless_recorder {
    bindless_markers_t *markers;
    CUstream stream;
    bindless_marker_t *last; /* of the last command */
} bindless_recorder_t;
typedef struct bindless_recorded {
    uint64_t submit;      /* address of the function that submits the command */
    uint64_t description; /* address of its argument */
    bindless_recorder_t *recorder;
} bindless_recorded_t;
static bindless_markers_t *bindless_markers_create(CUcontext context);
static int bindless_markers_have(bindless_markers_t *markers, CUevent event);
static CUevent bindless_marker_event(const bindless_marker_t *marker);
static int bindless_marker_wait(const bindless_marker_t *marker);
static int bindless_marker_release(bindless_marker_t *marker);
static CUresult bindless_recorder_mark(bindless_recorder_t *recorder);
static int bindless_recorder_wait(const bindless_recorder_t *recorder, int questions);
static void bindless_recorder_end(bindless_recorder_t *recorder);
static int bindless_recorded(const bindless_recorded_t *command);

static CUresult bindless_copy_box(CUstream stream, int source_type, uint64_t source, size_t source_x, size_t source_y,
                                  size_t source_z, size_t source_pitch, size_t source_rows, int destination_type,
                                  uint64_t destination, size_t destination_x, size_t destination_y,
                                  size_t destination_z, size_t destination_pitch, size_t destination_rows,
                                  size_t width_in_bytes, size_t height, size_t depth);

/* A repeated copy: the arguments of bindless_copy_box, and the place of each operand. */
typedef struct bindless_copy_side {
    int type;
    uint64_t place;
    size_t x;
    size_t y;
    size_t z;
    size_t pitch;
    size_t rows;
} bindless_copy_side_t;
typedef struct bindless_copy {
    CUcontext context;
    CUstream stream;
    bindless_copy_side_t source;
    bindless_copy_side_t destination;
    size_t width;
    size_t height;
    size_t depth;
} bindless_copy_t;
static CUresult bindless_copy_again(const bindless_copy_t *copy);

/* A repeated copy of bytes. */
typedef struct bindless_bytes {
    CUcontext context;
    CUstream stream;
    uint64_t destination;
    uint64_t source;
    size_t count;
} bindless_bytes_t;
static CUresult bindless_bytes_again(const bindless_bytes_t *copy);

/* A box copy between host memory and a device (bindless_copy_box). Units are bytes, except y, z, height, depth and
   rows. */
typedef struct bindless_stage {
    int to_device;
    uint64_t host;
    size_t host_pitch;
    size_t host_slice;
    int type;
    uint64_t device;
    size_t x;
    size_t y;
    size_t z;
    size_t pitch;
    size_t rows;
    size_t width;
    size_t height;
    size_t depth;
} bindless_stage_t;
typedef struct bindless_staging bindless_staging_t;
enum { BINDLESS_STAGING_BUFFERS = 2 }; /* per thread */

static bindless_staging_t *bindless_staging_create(CUcontext context, int threads, size_t piece);
static CUresult bindless_stage(bindless_staging_t *staging, CUstream stream, const bindless_stage_t *job);

/* A repeated box copy. */
typedef struct bindless_staged {
    CUcontext context;
    CUstream stream;
    bindless_staging_t *staging;
    bindless_stage_t job;
} bindless_staged_t;
static int bindless_stage_again(const bindless_staged_t *copy);

/* A kernel over host arrays, processed in pieces; the last array is the result, if there is one. */
enum { BINDLESS_CALL_ARRAYS = 6, BINDLESS_CALL_PARAMETERS = 32 };
typedef struct bindless_call {
    CUfunction function;
    unsigned int block;          /* work-items per group */
    unsigned int items_of_block; /* items that a group processes */
    size_t count;
    int arrays;
    int has_result;
    uint64_t host[BINDLESS_CALL_ARRAYS];
    size_t size[BINDLESS_CALL_ARRAYS];            /* bytes per item */
    unsigned int address_at[BINDLESS_CALL_ARRAYS]; /* offset of its address among the parameters, in bytes */
    unsigned int count_at;
    int parameters;
    unsigned int starts[BINDLESS_CALL_PARAMETERS]; /* of each parameter, in bytes */
    unsigned int packed_size;
    unsigned char packed[256];
} bindless_call_t;
static CUresult bindless_call(bindless_staging_t *staging, const bindless_call_t *call);

/* A kernel over small host arrays by way of a buffer. */
typedef struct bindless_mapped_array {
    uint64_t host;
    void *buffer;
    size_t size;   /* bytes */
    int is_result;
} bindless_mapped_array_t;
typedef struct bindless_mapped_call {
    bindless_launch_t launch;
    int *busy; /* whether a kernel may use the buffer; in its first bytes */
    int count;
    const bindless_mapped_array_t *arrays;
} bindless_mapped_call_t;
static uint64_t bindless_mapped_create(CUcontext context, size_t size);
static CUresult bindless_mapped_destroy(CUcontext context, uint64_t memory);
static CUresult bindless_mapped_begin(const bindless_mapped_call_t *call);
static void bindless_mapped_end(const bindless_mapped_call_t *call);
static int bindless_mapped_call(const bindless_mapped_call_t *call);

static CUresult bindless_refusal(void);
static uint64_t bindless_array_create(CUcontext context, const CUDA_ARRAY3D_DESCRIPTOR *description,
                                      unsigned int levels);
static CUresult bindless_array_destroy(CUcontext context, uint64_t array, int mipmapped);
static uint64_t bindless_texture_create(CUcontext context, const CUDA_RESOURCE_DESC *resource,
                                        const CUDA_TEXTURE_DESC *texture);
static uint64_t bindless_texture_create_of_array(CUcontext context, uint64_t array, int mipmapped,
                                                 const CUDA_TEXTURE_DESC *texture);
static uint64_t bindless_surface_create(CUcontext context, uint64_t array);
static CUresult bindless_image_destroy(CUcontext context, uint64_t number, int sampled);

/* A signal of an external semaphore, or a wait for it. */
typedef struct bindless_semaphore {
    CUcontext context;
    CUstream stream;
    CUexternalSemaphore semaphore;
    const uint64_t *value;
} bindless_semaphore_t;

static CUresult bindless_semaphore_signal(const bindless_semaphore_t *command);
static CUresult bindless_semaphore_wait(const bindless_semaphore_t *command);
