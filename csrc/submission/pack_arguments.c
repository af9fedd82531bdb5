/* Packing of the arguments of a prepared launch into bytes. */

#include "types.h"

/* Each function returns OTHERWISE where Python must handle the value. */
static int put_float(const Slot *slot, double value)
{
    if (slot->size == 8) {
        memcpy(slot->place, &value, 8);
        return DONE;
    }
    float narrow = (float)value;
    if (narrow - narrow != 0 && value - value == 0) /* overflow: Python raises the error */
        return OTHERWISE;
    memcpy(slot->place, &narrow, 4);
    return DONE;
}

static int put_number(const Slot *slot, PyObject *value)
{
    if (PyFloat_CheckExact(value))
        return slot->takes_floats ? put_float(slot, PyFloat_AsDouble(value)) : OTHERWISE;
    if (!PyLong_CheckExact(value) || !slot->takes_integers)
        return OTHERWISE;
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow)
        return OTHERWISE;
    if (slot->integers_as_floats)
        return put_float(slot, (double)number);
    if (slot->size < 8) {
        int bits = 8 * slot->size;
        if (number < -(1LL << (bits - 1)) || number >= 1LL << bits)
            return OTHERWISE;
    }
    memcpy(slot->place, &number, (size_t)slot->size); /* little endian, as on every GPU's host */
    return DONE;
}

static int put_handle(const Slot *slot, PyObject *value)
{
    if ((PyObject *)Py_TYPE(value) != slot->type)
        return OTHERWISE;
    PyObject *raw = PyObject_GetAttr(value, str_raw_handle);
    if (raw == NULL)
        return FAILED;
    unsigned long long number = PyLong_AsUnsignedLongLong(raw);
    Py_DECREF(raw);
    if (PyErr_Occurred())
        return FAILED;
    memcpy(slot->place, &number, 8);
    return DONE;
}

/* Memory that the current batch holds needs one check only: that it is not freed. */
static int put_memory(const Commands *commands, Slot *slot, PyObject *value)
{
    if (slot->value == value && slot->batch == commands->batch)
        return ((Openable *)slot->owner)->open ? DONE : OTHERWISE;
    if ((PyObject *)Py_TYPE(value) != slot->type)
        return OTHERWISE;
    PyObject *owner = PyObject_GetAttr(value, str_owner);
    if (owner == NULL)
        return FAILED;
    PyObject *dtype = slot->dtype == NULL ? NULL : PyObject_GetAttr(value, str_dtype);
    PyObject *context = PyObject_GetAttr(owner, str_context), *packed = PyObject_GetAttr(value, str_packed);
    int result = OTHERWISE;
    char *bytes;
    Py_ssize_t size;
    if (dtype == slot->dtype && context == commands->context && packed != NULL && PyType_IsSubtype(Py_TYPE(owner), (PyTypeObject *)openable_type) &&
        ((Openable *)owner)->open && (slot->kind == POINTER || is_true(value, str_contiguous)) &&
        PyBytes_AsStringAndSize(packed, &bytes, &size) == 0 && size == 8) {
        memcpy(slot->place, bytes, 8);
        slot->value = value;
        slot->owner = owner;
        slot->batch = -1;
        result = DONE;
    }
    PyErr_Clear();
    Py_XDECREF(dtype);
    Py_XDECREF(context);
    Py_XDECREF(packed);
    Py_DECREF(owner);
    return result;
}

int put_arguments(const Commands *commands, Prepared *launch, PyObject *const *values)
{
    for (int i = 0; i < launch->count; i++) {
        Slot *slot = &launch->slots[i];
        int result;
        switch (slot->kind) {
        case NUMBER: result = put_number(slot, values[i]); break;
        case POINTER:
        case ARRAY: result = put_memory(commands, slot, values[i]); break;
        case HANDLE: result = put_handle(slot, values[i]); break;
        default: result = slot->value == values[i] ? DONE : OTHERWISE;
        }
        if (result != DONE)
            return result;
    }
    return DONE;
}
