/* Prepared device functions of a queue (sample_image and its kind), and the arrays of their calls. */

#ifndef BINDLESS_SUBMISSION_IMAGE_CALL_H
#define BINDLESS_SUBMISSION_IMAGE_CALL_H

#include "foreign_array.h"

/* The arguments of a call; those from COORDS to VALUES may be arrays, in the order of the back ends' places. */
enum { FUNCTION, QUEUE, IMAGE_HANDLE, COORDS, LAYERS, LEVELS, DX, DY, VALUES, CHANNELS, DTYPE, HINT, ARGUMENTS };
enum { CALL_ARRAYS = VALUES - COORDS + 1, RESULT = CALL_ARRAYS - 1 };

/* An array of a prepared call: the conditions for another one to take its place. */
typedef struct {
    ArgumentKind kind;
    bool written, staged;      /* staged: the address is not the driver's */
    bool anywhere;             /* an array whose device is unknown may have any address */
    PyObject *number, *dtype;  /* owned; dtype: of USM */
    Layout layout;             /* shape; type of numpy's and of another library's array; device of the latter */
    uint64_t alignment;        /* bytes; other addresses are multiples of it */
    unsigned char *place;      /* the 8 bytes of the address in the driver's description */
    PyObject *held, *owner;    /* the array held last and its owner, owned by the batch: */
    long long batch;
    uint64_t address;          /* of that array */
} CallArray;

typedef struct {
    Row base;
    bool writes;                      /* VALUES is written to the image, otherwise it is the result */
    bool waits;                       /* arrays are on the host: the call waits */
    ArgumentKind makes;               /* kind of the array that each call makes for its result; or NO_ARGUMENT */
    PyObject *function, *handle_type; /* the type is immortal */
    unsigned long long handle;
    PyObject *key;                    /* of the image in the context's table */
    PyObject *image;                  /* the image's native object: borrowed, and watched */
    PyObject *options[ARGUMENTS - CHANNELS];
    PyObject *make_result, *result_arguments; /* make the host array of a result */
    CallArray arrays[CALL_ARRAYS];
    PyObject *command;                /* a Prepared without arguments */
    PyObject *staging;                /* memory that takes the place of host arrays out of the device's reach; or NULL */
    unsigned char *staged[CALL_ARRAYS]; /* the places of the arrays in it */
    bool busy;                        /* a command uses the staging memory */
} ImageCall;

/* Cache of a queue's prepared calls. */
typedef struct {
    PyObject_HEAD
    CallTable table;
    Kinds kinds;
    PyObject *handles;                /* the context's table of images */
    PyObject *report;                 /* raises the error of a completed command */
} ImageCalls;

/* image_call_array.c. read_array reads what may be an array, once; an UNKNOWN_ARGUMENT where Python must handle it. */
void read_array(Argument *argument, bool written, const Kinds *kinds);
bool set_array(CallArray *array, const Argument *argument, bool written);
bool fits_array(const CallArray *array, Argument *argument, const Kinds *kinds, Commands *commands);
bool overlap(const Argument *a, const Argument *b);

/* image_call_table.c: waits for a call with arrays on the host, and raises its error: DONE or FAILED. */
int wait_for(PyObject *report, PyObject *event);

/* image_call.c: submits a call whose arguments fit. */
bool name_record(void);
PyObject *prepare_image_call(PyObject *arguments); /* None where C code cannot repeat the call */
void end_staging(ImageCall *call, const Argument arrays[CALL_ARRAYS], bool done); /* after a wait */
int submit_image_call(Commands *commands, const ImageCalls *calls, ImageCall *call, Argument arrays[CALL_ARRAYS],
                      PyObject *depends_on, PyObject **event);

#endif
