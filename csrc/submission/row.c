/* Row: what prepared copies and prepared device functions share as rows of a table. */

#include "types.h"

PyObject *row_forget(PyObject *self, PyObject *unused)
{
    (void)unused;
    ((Row *)self)->forgotten = true;
    Py_RETURN_NONE;
}

bool watch(Row *row, int index, PyObject *object)
{
    PyObject *forget = PyObject_GetAttrString((PyObject *)row, "forget");
    row->watches[index] = forget == NULL ? NULL : PyWeakref_NewRef(object, forget);
    Py_XDECREF(forget);
    return row->watches[index] != NULL;
}

/* Disables a row that has left its table, and gives up the reference of the table. The watches refer to the row, which
 * would wait for a collection with them. */
static void end_row(Row *row)
{
    row->forgotten = true;
    for (int i = 0; i < MOST_WATCHES; i++)
        Py_CLEAR(row->watches[i]);
    Py_DECREF(row);
}

void add_row(Row **rows, unsigned count, unsigned *next, PyObject *row)
{
    unsigned place = *next;
    for (unsigned i = 0; i < count; i++) /* a free row, else the oldest */
        if (rows[i] == NULL || rows[i]->forgotten) {
            place = i;
            break;
        }
    if (place == *next)
        *next = (place + 1) % count;
    Row *before = rows[place];
    rows[place] = (Row *)Py_NewRef(row);
    if (before != NULL)
        end_row(before);
}

void end_rows(Row **rows, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        Row *row = rows[i];
        rows[i] = NULL;
        if (row != NULL)
            end_row(row);
    }
}

PyObject *count_rows(Row *const *rows, unsigned count)
{
    long found = 0;
    for (unsigned i = 0; i < count; i++)
        found += rows[i] != NULL && !rows[i]->forgotten;
    return PyLong_FromLong(found);
}
