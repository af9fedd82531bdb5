/* Arguments of calls: one description of arrays and memory, whoever has made them, with the address, the layout and what
 * owns the memory. Reading may run Python code, so it comes before the locks; what is read are values and references. */

#ifndef BINDLESS_SUBMISSION_ARGUMENT_H
#define BINDLESS_SUBMISSION_ARGUMENT_H

#include "../dlpack/dlpack_layout.h"
#include "types.h"

enum { MOST_DIMENSIONS = 8 };

/* Element type and shape. Strides count elements; the arrays of numpy and of USM that calls take are packed, and have none. */
typedef struct {
    int dimensions; /* -1: no array */
    DLDataType type; /* of numpy's arrays and those of other libraries */
    DLDevice device; /* of other libraries' arrays */
    int64_t shape[MOST_DIMENSIONS], strides[MOST_DIMENSIONS];
} Layout;

typedef enum { UNREAD, UNKNOWN_ARGUMENT, NO_ARGUMENT, ONE_NUMBER, USM_ARRAY, HOST_ARRAY, FOREIGN_ARRAY, IMAGE_MEMORY } ArgumentKind;

/* References are owned, except to the value. */
typedef struct {
    ArgumentKind kind;
    bool packed, writable;
    PyObject *value;
    PyObject *owner;   /* the Openable of USM, the record of an image, the capsule of numpy */
    PyObject *format;  /* the dtype of USM, the descriptor of an image */
    PyObject *context; /* of USM and of an image */
    PyObject *device;  /* of an image */
    uint64_t address, bytes; /* the number of an image; bytes: of arrays, of USM where USM_BYTES are read */
    const DLPackExchangeAPI *library; /* of another library's array; NULL: the CUDA array interface describes it */
    uint64_t stream;                  /* then the stream to be ordered with; or 0 */
    Layout layout;
} Argument;

/* The types that are read: borrowed, since they are immortal; or NULL. */
typedef struct {
    PyObject *image, *memory, *host;
} Kinds;

/* What is read of USM; each part takes attributes of Python objects. */
enum { USM_OWNER = 1, USM_ADDRESS = 2, USM_FORMAT = 4, USM_PACKED = 8, USM_SHAPE = 16, USM_ACCESS = 32, USM_ALL = 63, USM_BYTES = 64 };

/* Begins to read a value, which the caller keeps; end_argument gives up the references. */
static inline void begin_argument(Argument *argument, PyObject *value)
{
    argument->kind = UNREAD;
    argument->value = value;
    argument->owner = argument->format = argument->context = argument->device = NULL;
    argument->address = argument->bytes = 0;
}
void end_argument(Argument *argument);

/* Reads an argument whose reading has begun, once. A value that is none of these is an UNKNOWN_ARGUMENT. written: the
 * command writes it. DONE, or FAILED with an exception. */
int read_argument(Argument *argument, const Kinds *kinds, bool written, unsigned parts);

/* Reads parts of USM: DONE, OTHERWISE where Python must handle it, or FAILED with an exception. */
int read_usm(Argument *argument, unsigned parts);

/* Whether two options are one object, or equal values of one type: numbers, strings, dtypes, descriptors, and tuples of
 * these. Values that cannot be compared differ; FAILED with an exception that is no Exception, such as KeyboardInterrupt. */
int same_option(PyObject *a, PyObject *b);

/* Whether two layouts have one shape; one type; one layout with device and strides. */
bool same_shape(const Layout *a, const Layout *b);
bool same_type(DLDataType a, DLDataType b);
bool same_layout(const Layout *a, const Layout *b);
uint64_t hash_of_layout(uint64_t hash, const Layout *layout);

/* Whether the memory is that of the host. */
bool is_on_host(const Argument *argument);

/* Whether strides are those of a packed array whose elements are a step apart. Sizes of an array without elements may
 * have any product: unsigned arithmetic wraps. */
bool is_packed(int dimensions, const int64_t *shape, const int64_t *strides, uint64_t step);

/* argument.c: one-time initialisation; false with an exception. */
bool name_attributes(void);

#endif
