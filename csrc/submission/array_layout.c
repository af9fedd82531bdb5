/* array_layout: a key of arrays of one type, place, dtype, shape and strides, which may differ in their addresses. */

#include "foreign_array.h"

static PyObject *str_shape, *str_strides, *str_stride, *str_place, *str_kind, *str_read_only;

bool name_layouts(void)
{
    static const Name names[] = {
        {&str_shape, "shape"}, {&str_strides, "strides"}, {&str_stride, "stride"}, {&str_place, "__dlpack_device__"},
        {&str_kind, "kind"}, {&str_read_only, "read_only"},
    };
    return INTERN(names);
}

/* The attribute, or NULL without an exception where there is none. */
static PyObject *attribute(PyObject *object, PyObject *name)
{
    PyObject *value = PyObject_GetAttr(object, name);
    if (value == NULL && PyErr_ExceptionMatches(PyExc_AttributeError))
        PyErr_Clear();
    return value;
}

/* The items as a tuple, which takes over the references; NULL where one is NULL, with its exception. */
static PyObject *tuple_of(PyObject *const *items, int count)
{
    PyObject *tuple = NULL;
    bool all = true;
    for (int i = 0; i < count; i++)
        all = all && items[i] != NULL;
    if (all && (tuple = PyTuple_New(count)) != NULL)
        for (int i = 0; i < count; i++)
            PyTuple_SetItem(tuple, i, Py_NewRef(items[i]));
    for (int i = 0; i < count; i++)
        Py_XDECREF(items[i]);
    return tuple;
}

/* The place of USM: the context, which keeps the device, the device, the kind, and whether it is read alone. */
static PyObject *place_of_usm(PyObject *owner)
{
    PyObject *items[4] = {PyObject_GetAttr(owner, str_context), NULL, NULL, NULL};
    PyObject *device = items[0] == NULL ? NULL : PyObject_GetAttr(owner, str_device);
    if (device != NULL) {
        items[1] = PyLong_FromVoidPtr(device);
        items[2] = items[1] == NULL ? NULL : PyObject_GetAttr(owner, str_kind);
        items[3] = items[2] == NULL ? NULL : PyObject_GetAttr(owner, str_read_only);
        Py_DECREF(device);
    }
    return tuple_of(items, 4);
}

/* NULL with an exception, or without one for an array of a library with exchange functions, which tell its layout. */
static PyObject *place_of(PyObject *array)
{
    if (is_host_array(array))
        return Py_NewRef(Py_None);
    PyObject *owner = attribute(array, str_owner), *place = NULL;
    if (owner == NULL && PyErr_Occurred())
        return NULL;
    if (owner != NULL && PyObject_TypeCheck(owner, (PyTypeObject *)openable_type))
        place = place_of_usm(owner);
    else if (exchange_functions((PyObject *)Py_TYPE(array)) == NULL) {
        PyErr_Clear();
        place = PyObject_CallMethodObjArgs(array, str_place, NULL);
    }
    Py_XDECREF(owner);
    return place;
}

/* Bytes between elements, or elements where the library counts these; None of a library whose arrays have no strides. */
static PyObject *strides_of(PyObject *array)
{
    PyObject *strides = attribute(array, str_strides);
    if (strides != NULL || PyErr_Occurred())
        return strides;
    PyObject *method = attribute(array, str_stride);
    if (method == NULL)
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    strides = PyObject_CallNoArgs(method);
    Py_DECREF(method);
    return strides;
}

static PyObject *numbers(const int64_t *values, int count)
{
    PyObject *tuple = PyTuple_New(count);
    for (int i = 0; tuple != NULL && i < count; i++) {
        PyObject *value = PyLong_FromLongLong(values[i]);
        if (value == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SetItem(tuple, i, value);
    }
    return tuple;
}

/* The layout by exchange functions: no Python code of the library runs. NULL without an exception where these refuse. */
static PyObject *exchanged_layout(PyObject *array)
{
    Argument argument;
    const Layout *layout = &argument.layout;
    begin_argument(&argument, array);
    if (read_foreign(&argument, false) != DONE || argument.library == NULL)
        return NULL;
    PyObject *const items[5] = {
        Py_NewRef((PyObject *)Py_TYPE(array)),
        Py_BuildValue("ii", (int)layout->device.device_type, (int)layout->device.device_id),
        Py_BuildValue("iii", layout->type.code, layout->type.bits, layout->type.lanes),
        numbers(layout->shape, layout->dimensions),
        numbers(layout->strides, layout->dimensions),
    };
    return tuple_of(items, 5);
}

PyObject *array_layout(PyObject *module, PyObject *array)
{
    (void)module;
    PyObject *place = NULL, *layout;
    bool exchanges = !is_host_array(array) && has_exchanged((PyObject *)Py_TYPE(array));
    if (!exchanges && (place = place_of(array)) == NULL) {
        if (PyErr_Occurred())
            return NULL;
        exchanges = true;
    }
    if (exchanges) {
        if ((layout = exchanged_layout(array)) != NULL || PyErr_Occurred())
            return layout;
        place = PyObject_CallMethodObjArgs(array, str_place, NULL);
    }
    PyObject *items[5] = {Py_NewRef((PyObject *)Py_TYPE(array)), place, NULL, NULL, NULL};
    if (items[1] != NULL)
        items[2] = PyObject_GetAttr(array, str_dtype);
    if (items[2] != NULL)
        items[3] = PyObject_GetAttr(array, str_shape);
    if (items[3] != NULL)
        items[4] = strides_of(array);
    return tuple_of(items, 5);
}
