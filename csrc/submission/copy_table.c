/* Copies: the cache of prepared copies of a queue, which ext_oneapi_copy looks up. */

#include "prepared_copy.h"

enum { COPIES = 32 };

REFERENCES(copies, Copies)
{
    return each_row(&self->table, each, arg);
}

static PyObject *copies_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)keywords;
    Kinds kinds;
    if (!PyArg_ParseTuple(arguments, "O!O!O!:Copies", &PyType_Type, &kinds.image, &PyType_Type, &kinds.memory,
                          &PyType_Type, &kinds.host))
        return NULL;
    Copies *self = (Copies *)new_table(type, 1, COPIES);
    if (self != NULL)
        self->kinds = kinds;
    return (PyObject *)self;
}

static PyObject *copies_remember(Copies *self, PyObject *copy)
{
    if (!PyType_IsSubtype(Py_TYPE(copy), (PyTypeObject *)copy_type)) {
        PyErr_SetString(PyExc_TypeError, "remember takes a Copy");
        return NULL;
    }
    if (!add_row(&self->table, (Row *)copy, 0))
        return NULL;
    Py_RETURN_NONE;
}

/* submit(commands, copy, source, destination, depends_on): the event, or None where Python must handle the copy. */
static PyObject *copies_submit(Copies *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 5 || !PyType_IsSubtype(Py_TYPE(arguments[0]), (PyTypeObject *)commands_type) ||
        !PyType_IsSubtype(Py_TYPE(arguments[1]), (PyTypeObject *)copy_type)) {
        PyErr_SetString(PyExc_TypeError, "submit takes Commands, a Copy, its operands and events");
        return NULL;
    }
    Commands *commands = (Commands *)arguments[0];
    Copy *copy = (Copy *)arguments[1];
    CopyCall call;
    call.commands = commands;
    PyObject *event = NULL;
    int result = FAILED;
    if (read_operands(arguments[2], arguments[3], &self->kinds, call.operands))
        result = fits_operands(copy, &call) ? submit_copy(commands, copy, call.operands, arguments[4], &event) : OTHERWISE;
    end_operands(call.operands);
    if (result == OTHERWISE)
        Py_RETURN_NONE;
    return event;
}

static PyMethodDef copies_methods[] = {
    {"submit", (PyCFunction)(void (*)(void))copies_submit, METH_FASTCALL,
     "Submits a prepared copy; None where Python must handle it."},
    {"remember", (PyCFunction)copies_remember, METH_O, "Adds a prepared copy to the cache."},
    {"forget", table_forget, METH_NOARGS, "Empties the cache."},
    {"count", table_count, METH_NOARGS, "The number of cached copies."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef copies_members[] = {
    {"declined", T_BOOL, offsetof(Copies, declined), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

OBJECT_TYPE(copies, Copies, "Copies", end_table(&self->table), , {Py_tp_new, copies_new}, {Py_tp_members, copies_members},
            {Py_tp_methods, copies_methods}, );

/* ---------------------------------------------------------------- the call */

/* Compares the keywords, except depends_on, with those of a copy, in its order. */
static int has_keywords(const Copy *copy, const CopyCall *call)
{
    Py_ssize_t count = call->names == NULL ? 0 : PyTuple_Size(call->names);
    int same = count - (call->waits_at >= 0) == PyTuple_Size(copy->names);
    for (Py_ssize_t i = 0, at = 0; same == 1 && i < count; i++) {
        if (i == call->waits_at)
            continue;
        same = PyTuple_GetItem(call->names, i) == PyTuple_GetItem(copy->names, at)
                   ? same_option(call->values[i], PyTuple_GetItem(copy->values, at))
                   : 0;
        at++;
    }
    return same;
}

static int fits_copy(Row *row, void *call)
{
    return fits_operands((Copy *)row, call) ? has_keywords((Copy *)row, call) : 0;
}

static int copy_again(Commands *commands, Copies *copies, PyObject *const *arguments, PyObject *names, PyObject **event)
{
    CopyCall call;
    call.commands = commands;
    call.names = names;
    call.values = arguments + 2;
    call.waits_at = -1;
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_Size(names); i++)
        if (PyTuple_GetItem(names, i) == str_depends_on)
            call.waits_at = i;
    copies->declined = false;
    int result = FAILED;
    if (read_operands(arguments[0], arguments[1], &copies->kinds, call.operands)) {
        Copy *copy = (Copy *)find_row(&copies->table, 0, fits_copy, &call);
        if (copy != NULL)
            result = submit_copy(commands, copy, call.operands,
                                 call.waits_at < 0 ? NULL : call.values[call.waits_at], event);
        else if (!PyErr_Occurred())
            result = OTHERWISE;
        copies->declined = copy != NULL && result == OTHERWISE;
        Py_XDECREF(copy);
    }
    end_operands(call.operands);
    return result;
}

PyObject *submitter_copy(Submitter *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    if (count == 2 && self->stream != NULL && PyType_IsSubtype(Py_TYPE(self->stream), (PyTypeObject *)commands_type)) {
        Commands *commands = (Commands *)self->stream;
        PyObject *copies = commands->copies, *event = NULL;
        if (copies != NULL && (PyObject *)Py_TYPE(copies) == copies_type) {
            Py_INCREF(commands);
            Py_INCREF(copies);
            int result = copy_again(commands, (Copies *)copies, arguments, names, &event);
            Py_DECREF(copies);
            Py_DECREF(commands);
            if (result != OTHERWISE)
                return event;
        }
    }
    return call_any((PyObject *)self, str_copy_any, arguments, count, names);
}
