/* Copies that a queue has made before, and what is given to be copied. */

#ifndef BINDLESS_LAUNCH_COPY_H
#define BINDLESS_LAUNCH_COPY_H

#include "launch.h"

enum { COPIES = 32, MOST_DIMENSIONS = 4 };

typedef enum { OTHER, IMAGE, MEMORY, HOST } SideKind;

/* What numpy's protocol __array_struct__ gives. */
typedef struct {
    int two, dimensions;
    char type;
    int item_size, flags;
    Py_ssize_t *shape, *strides;
    void *data;
    PyObject *description;
} Array;
enum { ARRAY_CONTIGUOUS = 0x1, ARRAY_NATIVE = 0x200, ARRAY_WRITEABLE = 0x400 };

/* The types of what is copied: borrowed, they are immortal. */
typedef struct {
    PyObject *image, *memory, *host;
} Kinds;

/* A side of a prepared copy: what has to be so for a value to take its place. */
typedef struct {
    SideKind kind;
    bool written, any; /* any: whatever image has this descriptor; its handle is read each time */
    PyObject *object;  /* the memory, or the image's record: watched, not kept. Of any image: its descriptor, kept */
    PyObject *watch;   /* the weak reference that forgets the copy with it */
    PyObject *device;  /* of any image, kept */
    char type;         /* of an array, and so on */
    int item_size, dimensions;
    Py_ssize_t shape[MOST_DIMENSIONS];
    uint64_t *places[MOST_LANES]; /* where its address or handle goes in each description */
    int place_count;
    uint64_t offset;              /* added to that */
    PyObject *held;               /* what was held last; not kept here, but by the batch: */
    long long batch;
} Side;

typedef struct {
    PyObject_HEAD
    bool forgotten;
    Side sides[2];
    PyObject *names, *values; /* tuples: the keywords but for depends_on */
    PyObject *launch;         /* a Prepared without arguments */
} Copy;

typedef struct {
    PyObject_HEAD
    Kinds kinds;
    Copy *rows[COPIES];
    unsigned next;
} Copies;

/* A value as it is now, for sides to be compared with. */
typedef struct {
    SideKind kind;
    PyObject *value;                                 /* borrowed of the call */
    PyObject *record, *descriptor, *device, *context; /* of an image */
    PyObject *capsule;                               /* of an array */
    const Array *array;
} Given;

/* given.c. read_given: false with an exception; let_go ends it either way. */
bool read_given(PyObject *value, const Kinds *kinds, Given *given);
void let_go(Given *given);
bool fits(const Side *side, const Given *given, const Commands *commands);
int number_of(const Given *given, uint64_t *number);
PyObject *kept_of(const Given *given); /* what has to stay until the copy is done; borrowed */

/* copy.c */
int submit_copy(Commands *commands, Copy *copy, const Given given[2], PyObject *depends_on, PyObject **event);

#endif
