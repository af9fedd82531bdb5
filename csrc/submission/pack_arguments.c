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

/* numpy's types: borrowed, since they are immortal. */
static PyObject *array_type, *number_type, *bool_type;

PyObject *know_types(PyObject *module, PyObject *arguments)
{
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!O!O!:know_types", &PyType_Type, &array_type, &PyType_Type, &number_type,
                          &PyType_Type, &bool_type))
        return NULL;
    Py_RETURN_NONE;
}

bool is_host_array(PyObject *value)
{
    return (PyObject *)Py_TYPE(value) == array_type;
}

/* Bytes, or a scalar of numpy, of the parameter's size. */
static int put_bytes(const Slot *slot, PyObject *value)
{
    PyObject *bytes = NULL;
    if (PyBytes_CheckExact(value))
        bytes = Py_NewRef(value);
    else if (slot->kind == NUMBER && number_type != NULL &&
             (PyType_IsSubtype(Py_TYPE(value), (PyTypeObject *)number_type) || (PyObject *)Py_TYPE(value) == bool_type))
        bytes = PyObject_CallMethodObjArgs(value, str_tobytes, NULL);
    else
        return OTHERWISE;
    char *start;
    Py_ssize_t size;
    if (bytes == NULL || PyBytes_AsStringAndSize(bytes, &start, &size) < 0) {
        Py_XDECREF(bytes);
        return FAILED;
    }
    int result = size == slot->size ? DONE : OTHERWISE;
    if (result == DONE)
        memcpy(slot->place, start, (size_t)size);
    Py_DECREF(bytes);
    return result;
}

/* Keeps the scalar whose bytes are in place, if its end runs no Python code: a type that Python code made may. */
static void remember_scalar(Slot *slot, PyObject *value)
{
    PyObject *before = slot->value;
    bool is_plain = value != NULL && (PyType_GetFlags(Py_TYPE(value)) & Py_TPFLAGS_HEAPTYPE) == 0;
    slot->value = is_plain ? Py_NewRef(value) : NULL;
    Py_XDECREF(before);
}

static int put_number(Slot *slot, PyObject *value)
{
    if (slot->value == value)
        return DONE;
    remember_scalar(slot, NULL);
    if (PyFloat_CheckExact(value))
        return slot->takes_floats ? put_float(slot, PyFloat_AsDouble(value)) : OTHERWISE;
    if (!PyLong_CheckExact(value) && !PyBool_Check(value)) {
        int result = put_bytes(slot, value);
        if (result == DONE)
            remember_scalar(slot, value);
        return result;
    }
    if (!slot->takes_integers)
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

/* In a context of several devices: whether the table of images has the image for the queue's device, or does not know
 * it. The key is that of Context._handles. */
static int is_on_device(const Commands *commands, PyObject *value, PyObject *raw)
{
    PyObject *sampled = PyObject_GetAttr(value, str_sampled), *one = PyLong_FromLong(1);
    PyObject *shifted = one == NULL ? NULL : PyNumber_Lshift(raw, one);
    PyObject *key = shifted == NULL || sampled == NULL ? NULL : PyNumber_Or(shifted, sampled);
    int result = key == NULL ? FAILED : DONE;
    PyObject *record = key == NULL ? NULL : PyDict_GetItemWithError(commands->handles, key); /* borrowed */
    if (record != NULL) {
        PyObject *device = PyObject_GetAttr(record, str_device);
        result = device == NULL ? FAILED : device == commands->device ? DONE : OTHERWISE;
        Py_XDECREF(device);
    } else if (PyErr_Occurred()) {
        result = FAILED;
    }
    Py_XDECREF(key);
    Py_XDECREF(shifted);
    Py_XDECREF(one);
    Py_XDECREF(sampled);
    return result;
}

static int put_handle(const Commands *commands, const Slot *slot, PyObject *value)
{
    if ((PyObject *)Py_TYPE(value) != slot->type)
        return OTHERWISE;
    PyObject *raw = PyObject_GetAttr(value, str_raw_handle);
    if (raw == NULL)
        return FAILED;
    int result = DONE;
    if (commands->handles != NULL && PyDict_Check(commands->handles))
        result = is_on_device(commands, value, raw);
    unsigned long long number = PyLong_AsUnsignedLongLong(raw);
    Py_DECREF(raw);
    if (result != DONE)
        return result;
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

static int put_local(const Slot *slot, PyObject *value)
{
    if ((PyObject *)Py_TYPE(value) != slot->type)
        return OTHERWISE;
    PyObject *bytes = PyObject_GetAttr(value, str_nbytes);
    if (bytes == NULL)
        return FAILED;
    bool same = PyLong_AsLong(bytes) == slot->size;
    Py_DECREF(bytes);
    return PyErr_Occurred() ? FAILED : same ? DONE : OTHERWISE;
}

static int put_foreign(Slot *slot, uint64_t address, bool same)
{
    if (same && memcmp(slot->place, &address, sizeof address) != 0)
        return OTHERWISE;
    memcpy(slot->place, &address, sizeof address);
    slot->value = NULL;
    slot->batch = -1;
    return DONE;
}

int put_arguments(const Commands *commands, const Submission *submission)
{
    Prepared *launch = submission->command;
    PyObject *const *values = submission->values;
    for (int i = 0; i < launch->count; i++) {
        Slot *slot = &launch->slots[i];
        int result;
        switch (slot->kind) {
        case NUMBER: result = put_number(slot, values[i]); break;
        case POINTER:
        case ARRAY:
            result = submission->foreign != NULL && submission->foreign[i] != 0
                         ? put_foreign(slot, submission->foreign[i], submission->same_addresses)
                         : put_memory(commands, slot, values[i]);
            break;
        case HANDLE: result = put_handle(commands, slot, values[i]); break;
        case HELD:
            result = put_handle(commands, slot, values[i]);
            if (slot->value != values[i])
                slot->batch = -1;
            slot->value = values[i];
            break;
        case LOCAL: result = put_local(slot, values[i]); break;
        case GIVEN: result = submission->packed ? put_bytes(slot, values[i]) : OTHERWISE; break;
        default: result = slot->value == values[i] ? DONE : OTHERWISE;
        }
        if (result != DONE)
            return result;
    }
    return DONE;
}
