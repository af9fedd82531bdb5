/* Prepared copies of a queue: of pixels and of bytes. */

#ifndef BINDLESS_SUBMISSION_PREPARED_COPY_H
#define BINDLESS_SUBMISSION_PREPARED_COPY_H

#include "foreign_array.h"

/* One side of a prepared copy: the conditions for an operand to take its place. */
typedef struct {
    ArgumentKind kind;
    bool written, any; /* any: accepts every image with this descriptor; the handle is read at each submission */
    PyObject *object;  /* the memory, or the image's record: borrowed, and watched. For any image: its descriptor, owned */
    PyObject *device;  /* of any image, owned */
    Layout layout;     /* of an array of the host, or of another library on the device */
    uint64_t address, alignment;  /* of another library's array on the device: those of the prepared copy */
    uint64_t *places[MOST_LANES]; /* address of the operand in each driver description */
    int place_count;
    uint64_t offset;              /* added to the operand's address */
} Side;

typedef struct {
    Row base;
    Side sides[2];
    PyObject *names, *values; /* tuples: the keywords except depends_on */
    PyObject *launch;         /* a Prepared without arguments */
    uint64_t size;            /* of a copy of bytes, which takes any memory that has as many; 0: of pixels */
} Copy;

typedef struct {
    PyObject_HEAD
    CallTable table;
    Kinds kinds;
    bool declined; /* the last call found a prepared copy, and Python must handle it */
} Copies;

/* A copy, as its operands are read; waits_at: the place of depends_on among the keywords, or -1. */
typedef struct {
    const Commands *commands;
    Argument operands[2];
    PyObject *names, *const *values;
    Py_ssize_t waits_at;
    uint64_t size; /* of a copy of bytes */
} CopyCall;

/* What is looked up: copies of pixels, fillings of all levels of a mipmap, and copies of bytes, their number added. */
enum { COPY_OF_PIXELS, COPY_TO_LEVELS, COPY_OF_BYTES };

/* prepared_copy.c. read_operands: false with an exception; call end_operands in both cases. */
bool read_operands(PyObject *source, PyObject *destination, const Kinds *kinds, unsigned parts, Argument operands[2]);
void end_operands(Argument operands[2]);
bool fits_operands(const Copy *copy, const CopyCall *call);
int fits_bytes(Row *row, void *call);
/* copy_table.c: a method of Commands, and a function of the module. */
PyObject *free_item(PyObject *module, PyObject *list);
PyObject *commands_upload(PyObject *self, PyObject *arguments);
PyObject *commands_copy_bytes(PyObject *self, PyObject *const *arguments, Py_ssize_t count);

int submit_copy(Commands *commands, Copy *copy, const Argument operands[2], PyObject *depends_on, PyObject **event);

#endif
