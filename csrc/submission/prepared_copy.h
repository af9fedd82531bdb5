/* Prepared copies of a queue, and their operands. */

#ifndef BINDLESS_SUBMISSION_PREPARED_COPY_H
#define BINDLESS_SUBMISSION_PREPARED_COPY_H

#include "foreign_array.h"

enum { COPIES = 32, MOST_DIMENSIONS = 4 };

typedef enum { OTHER, IMAGE, MEMORY, HOST } SideKind;

/* The struct of numpy's __array_struct__ protocol. */
typedef struct {
    int two, dimensions;
    char type;
    int item_size, flags;
    Py_ssize_t *shape, *strides;
    void *data;
    PyObject *description;
} Array;
enum { ARRAY_CONTIGUOUS = 0x1, ARRAY_NATIVE = 0x200, ARRAY_WRITEABLE = 0x400 };

/* The types of operands: borrowed, since they are immortal. */
typedef struct {
    PyObject *image, *memory, *host;
} Kinds;

/* One side of a prepared copy: the conditions for an operand to take its place. */
typedef struct {
    SideKind kind;
    bool written, any; /* any: accepts every image with this descriptor; the handle is read at each submission */
    PyObject *object;  /* the memory, or the image's record: borrowed, and watched. For any image: its descriptor, owned */
    PyObject *device;  /* of any image, owned */
    char type;         /* of an array, like the next members */
    int item_size, dimensions;
    Py_ssize_t shape[MOST_DIMENSIONS];
    uint64_t *places[MOST_LANES]; /* address of the operand in each driver description */
    int place_count;
    uint64_t offset;              /* added to the operand's address */
} Side;

typedef struct {
    Row base;
    Side sides[2];
    PyObject *names, *values; /* tuples: the keywords except depends_on */
    PyObject *launch;         /* a Prepared without arguments */
} Copy;

typedef struct {
    PyObject_HEAD
    CallTable table;
    Kinds kinds;
    bool declined; /* the last call found a prepared copy, and Python must handle it */
} Copies;

/* The current properties of an operand, compared with a side. */
typedef struct {
    SideKind kind;
    PyObject *value;                                 /* borrowed from the call */
    PyObject *owner;                                 /* of memory, an Openable */
    uint64_t number;                                 /* of an image, or the address of an array */
    PyObject *record, *descriptor, *device, *context; /* of an image */
    PyObject *capsule;                               /* of an array */
    const Array *array;
    Array foreign;                                   /* another library's array on the host, as numpy's */
    Py_ssize_t shape[MOST_DIMENSIONS];
} Given;

/* copy_operand.c. read_given returns false with an exception; call let_go in both cases. */
bool read_given(PyObject *value, const Kinds *kinds, bool written, Given *given);
void let_go(Given *given);
bool fits(const Side *side, const Given *given, const Commands *commands);
PyObject *kept_of(const Given *given); /* the object to keep until the copy is complete; borrowed */

/* prepared_copy.c */
int submit_copy(Commands *commands, Copy *copy, const Given given[2], PyObject *depends_on, PyObject **event);

#endif
