/* Objects of heap types, their references, and names of attributes. */

#include "object.h"

PyObject *make(PyObject *type)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
    return allocate((PyTypeObject *)type, 0);
}

void finish(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

bool is_true(PyObject *object, PyObject *name)
{
    PyObject *value = PyObject_GetAttr(object, name);
    bool result = value == Py_True;
    if (value == NULL)
        PyErr_Clear();
    Py_XDECREF(value);
    return result;
}

bool intern_names(const Name *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (*names[i].at == NULL && (*names[i].at = PyUnicode_InternFromString(names[i].text)) == NULL)
            return false;
    return true;
}

int visit_place(PyObject **place, void *visitor)
{
    const Visitor *self = visitor;
    return *place == NULL ? 0 : self->visit(*place, self->arg);
}

int clear_place(PyObject **place, void *unused)
{
    (void)unused;
    Py_CLEAR(*place);
    return 0;
}
