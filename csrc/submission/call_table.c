/* Tables of prepared calls: rows that enter and leave. */

#include "call_table.h"

#ifdef Py_GIL_DISABLED
PyMutex tables_guard;
#endif

/* Makes room in a table: the memory of an empty one, twice the memory of a full one that grows; false without memory. The
   guard is held. */
static bool grow(CallTable *table)
{
    const bool full = table->rows != NULL && table->grows && table->rows[table->ways - 1] != NULL;
    if (table->rows != NULL && !full)
        return true;
    const size_t before = full ? table->ways : 0, ways = (size_t)table->ways << full;
    PyObject **rows = PyMem_Realloc(full ? table->rows : NULL, table->sets * ways * sizeof *rows);
    if (rows == NULL)
        return false;
    memset(rows + before, 0, (table->sets * ways - before) * sizeof *rows);
    PUT(table->rows, rows);
    table->ways = (unsigned)ways;
    return true;
}

/* A row that has left its table. The watches refer to the row, which would wait for a collection with them. */
static void end_row(Row *row)
{
    PyObject *watches[MOST_WATCHES];
    BEGIN_GUARD(tables_guard);
    row->table = NULL;
    PUT(row->forgotten, true);
    memcpy(watches, row->watches, sizeof watches);
    memset(row->watches, 0, sizeof watches);
    END_GUARD(tables_guard);
    for (int i = 0; i < MOST_WATCHES; i++)
        Py_XDECREF(watches[i]);
}

bool add_row(CallTable *table, Row *row, uint64_t hash)
{
    Row *before = NULL;
    BEGIN_GUARD(tables_guard);
    const bool has_room = grow(table);
    if (has_room) {
        PyObject **set = set_of(table, hash);
        unsigned place = 0;
        while (place < table->ways - 1 && set[place] != NULL && !is_forgotten((Row *)set[place]))
            place++;
        before = (Row *)set[place];
        if (before != NULL)
            before->table = NULL;
        memmove(&set[1], &set[0], place * sizeof *set);
        set[0] = Py_NewRef((PyObject *)row);
        row->table = table;
        row->hash = hash;
    }
    END_GUARD(tables_guard);
    if (before != NULL) {
        end_row(before);
        Py_DECREF(before);
    }
    if (!has_room)
        PyErr_NoMemory();
    return has_room;
}

void drop_row(Row *row)
{
    bool is_member = false;
    BEGIN_GUARD(tables_guard);
    const CallTable *table = row->table;
    if (table != NULL && table->rows != NULL) {
        PyObject **set = set_of(table, row->hash);
        for (unsigned i = 0; i < table->ways; i++) { /* the rows behind it move up */
            is_member = is_member || set[i] == (PyObject *)row;
            if (is_member)
                set[i] = i + 1 < table->ways ? set[i + 1] : NULL;
        }
    }
    row->table = NULL;
    END_GUARD(tables_guard);
    Py_INCREF(row);
    end_row(row);
    if (is_member)
        Py_DECREF(row);
    Py_DECREF(row);
}

void end_table(CallTable *table)
{
    BEGIN_GUARD(tables_guard);
    PyObject **rows = table->rows;
    const size_t count = rows == NULL ? 0 : (size_t)table->sets * table->ways;
    PUT(table->rows, NULL); /* what ends with the rows may add others */
    END_GUARD(tables_guard);
    for (size_t i = 0; i < count; i++)
        if (rows[i] != NULL) {
            end_row((Row *)rows[i]);
            Py_DECREF(rows[i]);
        }
    PyMem_Free(rows);
}

int each_row(CallTable *table, each_function each, void *arg)
{
    for (size_t i = 0; table->rows != NULL && i < (size_t)table->sets * table->ways; i++)
        EACH(table->rows[i]);
    return 0;
}

/* The number of rows; the guard is held. */
static Py_ssize_t count_rows(const CallTable *table)
{
    Py_ssize_t count = 0;
    for (size_t i = 0; table->rows != NULL && i < (size_t)table->sets * table->ways; i++)
        count += table->rows[i] != NULL;
    return count;
}

PyObject *rows_of(const CallTable *table)
{
    PyObject *tuple = NULL;
    Py_ssize_t count = -1, size = 0;
    while (count != size) { /* again where rows came or left while the tuple was made */
        Py_XDECREF(tuple);
        BEGIN_GUARD(tables_guard);
        size = count_rows(table);
        END_GUARD(tables_guard);
        if ((tuple = PyTuple_New(size)) == NULL)
            return NULL;
        BEGIN_GUARD(tables_guard);
        count = count_rows(table);
        Py_ssize_t at = 0;
        for (size_t i = 0; count == size && at < count; i++)
            if (table->rows[i] != NULL)
                PyTuple_SetItem(tuple, at++, Py_NewRef(table->rows[i]));
        END_GUARD(tables_guard);
    }
    return tuple;
}

bool watch(Row *row, PyObject *object)
{
    int index = 0;
    while (index < MOST_WATCHES && row->watches[index] != NULL)
        index++;
    if (index == MOST_WATCHES) {
        PyErr_SetString(PyExc_RuntimeError, "a prepared call is for two objects at most");
        return false;
    }
    PyObject *forget = PyObject_GetAttrString((PyObject *)row, "forget");
    row->watches[index] = forget == NULL ? NULL : PyWeakref_NewRef(object, forget);
    Py_XDECREF(forget);
    return row->watches[index] != NULL;
}

PyObject *row_forget(PyObject *self, PyObject *unused)
{
    (void)unused;
    drop_row((Row *)self);
    Py_RETURN_NONE;
}

PyObject *table_forget(PyObject *self, PyObject *unused)
{
    (void)unused;
    end_table(&((TableObject *)self)->table);
    Py_RETURN_NONE;
}

PyObject *table_count(PyObject *self, PyObject *unused)
{
    (void)unused;
    const CallTable *table = &((TableObject *)self)->table;
    long count = 0;
    BEGIN_GUARD(tables_guard);
    for (size_t i = 0; table->rows != NULL && i < (size_t)table->sets * table->ways; i++)
        count += table->rows[i] != NULL && !is_forgotten((Row *)table->rows[i]);
    END_GUARD(tables_guard);
    return PyLong_FromLong(count);
}

PyObject *new_table(PyTypeObject *type, unsigned sets, unsigned ways)
{
    PyObject *self = make((PyObject *)type);
    if (self != NULL) {
        ((TableObject *)self)->table.sets = sets;
        ((TableObject *)self)->table.ways = ways;
    }
    return self;
}
