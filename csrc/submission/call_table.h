/* Tables of prepared calls: what launches, copies, device functions, calls on tensors and kernels in Python look up.
 *
 * A client has a type of rows, which begins with Row, and an object that begins with a CallTable, as TableObject does. It
 * reads a call into a key, computes a hash of what it can compare cheaply, and gives find_row a function that compares the
 * rest. A table has sets of rows, which the hash chooses; the oldest row of a full set leaves. */

#ifndef BINDLESS_SUBMISSION_CALL_TABLE_H
#define BINDLESS_SUBMISSION_CALL_TABLE_H

#include "object.h"

enum { MOST_WATCHES = 2 };

typedef struct {
    PyObject **rows;     /* sets of `ways` rows each, the newest first, then NULL; NULL before the first row */
    unsigned sets, ways; /* sets: a power of 2 */
    bool grows;          /* no row leaves: the table has one set */
} CallTable;

typedef struct {
    PyObject_HEAD
    CallTable *table; /* that has the row; NULL outside of tables */
    uint64_t hash;
    bool forgotten;   /* it is submitted no more */
    PyObject *watches[MOST_WATCHES]; /* weak references, whose callbacks forget the row */
} Row;

typedef struct {
    PyObject_HEAD
    CallTable table;
} TableObject;

/* Says nothing of what comes later: who submits the row has what keeps it from being forgotten, or asks once more. */
static inline bool is_forgotten(const Row *row)
{
    return LOOK(row->forgotten);
}

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

#ifdef Py_GIL_DISABLED
/* Of all tables: a row refers to its table without owning it, so a guard in the table may end before it is held. */
extern PyMutex tables_guard;
#endif

/* Whether a row is that of a call: 1 or 0, or FAILED with an exception. It may run Python code. */
typedef int (*fits_function)(Row *row, void *call);

static inline PyObject **set_of(const CallTable *table, uint64_t hash)
{
    return &table->rows[(hash & (table->sets - 1)) * table->ways];
}

/* Moves to the next row of a hash, from a place in its set: a new reference, or NULL. */
static inline Row *next_row(const CallTable *table, uint64_t hash, unsigned *place)
{
    Row *next = NULL;
    BEGIN_GUARD(tables_guard);
    while (next == NULL && table->rows != NULL && *place < table->ways) {
        Row *row = (Row *)set_of(table, hash)[(*place)++];
        if (row == NULL)
            break;
        if (row->hash == hash && !is_forgotten(row))
            next = (Row *)Py_NewRef((PyObject *)row);
    }
    END_GUARD(tables_guard);
    return next;
}

/* Returns a new reference to the row of a call; NULL without one, with or without an exception. Inline, so that fits is.
 * What fits runs may change the table. */
static inline Row *find_row(const CallTable *table, uint64_t hash, fits_function fits, void *call)
{
    unsigned place = 0;
    for (Row *row; (row = next_row(table, hash, &place)) != NULL; Py_DECREF(row)) {
        const int same = fits(row, call);
        if (same > 0)
            return row;
        if (same < 0) {
            Py_DECREF(row);
            break;
        }
    }
    return NULL;
}

/* Adds a row; false with an exception. */
bool add_row(CallTable *table, Row *row, uint64_t hash);

/* Forgets the row when an object ends; false with an exception. */
bool watch(Row *row, PyObject *object);

/* Disables a row, which leaves its table. */
void drop_row(Row *row);

/* Empties a table. */
void end_table(CallTable *table);

/* For collections, which stop all other threads. */
int each_row(CallTable *table, each_function each, void *arg);

/* A new tuple of the rows, the newest of each set first. */
PyObject *rows_of(const CallTable *table);

#define EACH_WATCH(row)                                                                                                \
    do {                                                                                                               \
        for (int watch_ = 0; watch_ < MOST_WATCHES; watch_++)                                                          \
            EACH((row)->watches[watch_]);                                                                              \
    } while (0)

/* Methods of rows and of objects with a table. */
PyObject *row_forget(PyObject *self, PyObject *unused);
PyObject *table_forget(PyObject *self, PyObject *unused);
PyObject *table_count(PyObject *self, PyObject *unused);

/* A new object with a table. */
PyObject *new_table(PyTypeObject *type, unsigned sets, unsigned ways);

#endif
