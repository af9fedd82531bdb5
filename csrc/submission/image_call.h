/* Prepared device functions of a queue (sample_image and its kind), and the arrays of their calls. */

#ifndef BINDLESS_SUBMISSION_IMAGE_CALL_H
#define BINDLESS_SUBMISSION_IMAGE_CALL_H

#include "foreign_array.h"
#include "prepared_copy.h"

/* The arguments of a call; those from COORDS to VALUES may be arrays, in the order of the back ends' places. */
enum { FUNCTION, QUEUE, IMAGE_HANDLE, COORDS, LAYERS, LEVELS, DX, DY, VALUES, CHANNELS, DTYPE, HINT, ARGUMENTS };
enum { CALL_ARRAYS = VALUES - COORDS + 1, RESULT = CALL_ARRAYS - 1 };

typedef enum { NO_ARRAY, ONE_NUMBER, USM_ARRAY, HOST_ARRAY, FOREIGN_ARRAY, UNKNOWN_ARRAY } ArrayKind;

/* An argument that may be an array, as a call gives it. References are owned, except to the value. */
typedef struct {
    ArrayKind kind;
    bool known;                /* the members below are set */
    bool usable, writable;     /* usable: packed, and not freed */
    PyObject *value, *owner, *dtype, *context, *capsule;
    uint64_t address, bytes;   /* bytes: of a host array, and of another library's */
    int dimensions;
    int64_t shape[MOST_DIMENSIONS];
    ForeignArray foreign;      /* of another library's array */
} GivenArray;

/* An array of a prepared call: the conditions for another one to take its place. */
typedef struct {
    ArrayKind kind;
    bool written, staged;      /* staged: the address is not the driver's */
    PyObject *number, *dtype;  /* owned */
    DLDevice device;           /* of another library's array, like the type */
    DLDataType type;
    int dimensions;
    int64_t shape[MOST_DIMENSIONS];
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
    ArrayKind makes;                  /* kind of the array that each call makes for its result; or NO_ARRAY */
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
    PyObject *memory, *host;          /* the types of arrays: immortal */
    PyObject *handles;                /* the context's table of images */
    PyObject *report;                 /* raises the error of a completed command */
} ImageCalls;

/* image_call_array.c. A value that cannot be read is UNKNOWN_ARRAY. */
void begin_array(GivenArray *given, PyObject *value);
void read_array(GivenArray *given, bool written, const ImageCalls *calls);
void end_array(GivenArray *given);
bool set_array(CallArray *array, const GivenArray *given, bool written);
bool fits_array_of_call(const CallArray *array, GivenArray *given, const ImageCalls *calls, const Commands *commands);
bool overlap(const GivenArray *a, const GivenArray *b);

/* image_call.c: whether two values of a keyword are equal; submits a call whose arguments fit. */
bool is_same_option(PyObject *a, PyObject *b);
PyObject *prepare_image_call(PyObject *arguments); /* None where C code cannot repeat the call */
void end_staging(ImageCall *call, const GivenArray given[CALL_ARRAYS], bool done); /* after a wait */
int submit_image_call(Commands *commands, const ImageCalls *calls, ImageCall *call, GivenArray given[CALL_ARRAYS],
                      PyObject *depends_on, PyObject **event);

#endif
