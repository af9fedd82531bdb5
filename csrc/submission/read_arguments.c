/* Reading of the arguments of a prepared launch: what may run Python code, before the lock of the queue is taken. */

#include "argument.h"

/* Each function returns OTHERWISE where Python must handle the value. */
static int set_bytes(Parameter *argument, const void *bytes, int size)
{
    copy_bytes(argument->bytes, bytes, size);
    argument->from = argument->bytes;
    argument->size = size;
    return DONE;
}

static int read_float(const Slot *slot, double value, Parameter *argument)
{
    if (slot->size == 8)
        return set_bytes(argument, &value, 8);
    float narrow = (float)value;
    if (narrow - narrow != 0 && value - value == 0) /* overflow: Python raises the error */
        return OTHERWISE;
    return set_bytes(argument, &narrow, 4);
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
static int read_bytes(const Slot *slot, PyObject *value, Parameter *argument)
{
    if (PyBytes_CheckExact(value))
        argument->object = Py_NewRef(value);
    else if (slot->kind == NUMBER && number_type != NULL &&
             (PyType_IsSubtype(Py_TYPE(value), (PyTypeObject *)number_type) || (PyObject *)Py_TYPE(value) == bool_type))
        argument->object = PyObject_CallMethodObjArgs(value, str_tobytes, NULL);
    else
        return OTHERWISE;
    char *start;
    Py_ssize_t size;
    if (argument->object == NULL || PyBytes_AsStringAndSize(argument->object, &start, &size) < 0)
        return FAILED;
    argument->from = start;
    argument->size = slot->size;
    return size == slot->size ? DONE : OTHERWISE;
}

/* Reads what the submission before wrote in place of the same value. Its batch holds memory, and its owner with it. */
static bool read_in_place(Commands *commands, const Slot *slot, PyObject *value, Parameter *argument)
{
    (void)commands; /* but for the guard and the batch */
    const bool is_number = slot->kind == NUMBER;
    const int size = is_number ? slot->size : 8;
    BEGIN_GUARD(commands->guard);
    const bool same = slot->value == value && size <= (int)sizeof argument->bytes &&
                      (is_number || slot->batch == LOOK(commands->batch));
    if (same) {
        set_bytes(argument, slot->place, size);
        argument->object = is_number ? NULL : Py_NewRef(slot->owner);
    }
    END_GUARD(commands->guard);
    return same;
}

static int read_number(Commands *commands, const Slot *slot, PyObject *value, Parameter *argument)
{
    if (read_in_place(commands, slot, value, argument))
        return DONE;
    if (PyFloat_CheckExact(value))
        return slot->takes_floats ? read_float(slot, PyFloat_AsDouble(value), argument) : OTHERWISE;
    if (!PyLong_CheckExact(value) && !PyBool_Check(value))
        return read_bytes(slot, value, argument);
    if (!slot->takes_integers)
        return OTHERWISE;
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow)
        return OTHERWISE;
    if (slot->integers_as_floats)
        return read_float(slot, (double)number, argument);
    if (slot->size < 8) {
        int bits = 8 * slot->size;
        if (number < -(1LL << (bits - 1)) || number >= 1LL << bits)
            return OTHERWISE;
    }
    return set_bytes(argument, &number, slot->size); /* little endian, as on every GPU's host */
}

/* In a context of several devices: whether the table of images has the image for the queue's device, or does not know
 * it. The key is that of Context._handles. */
static int is_on_device(const Commands *commands, PyObject *value, PyObject *raw)
{
    PyObject *sampled = PyObject_GetAttr(value, str_sampled), *one = PyLong_FromLong(1);
    PyObject *shifted = one == NULL ? NULL : PyNumber_Lshift(raw, one);
    PyObject *key = shifted == NULL || sampled == NULL ? NULL : PyNumber_Or(shifted, sampled);
    int result = key == NULL ? FAILED : DONE;
    PyObject *record = key == NULL ? NULL : dict_item(commands->handles, key);
    if (record != NULL) {
        PyObject *device = PyObject_GetAttr(record, str_device);
        result = device == NULL ? FAILED : device == commands->device ? DONE : OTHERWISE;
        Py_XDECREF(device);
        Py_DECREF(record);
    } else if (PyErr_Occurred()) {
        result = FAILED;
    }
    Py_XDECREF(key);
    Py_XDECREF(shifted);
    Py_XDECREF(one);
    Py_XDECREF(sampled);
    return result;
}

static int read_handle(const Commands *commands, const Slot *slot, PyObject *value, Parameter *argument)
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
    return PyErr_Occurred() ? FAILED : set_bytes(argument, &number, 8);
}

static NOT_INLINE int read_other_memory(const Commands *commands, const Slot *slot, PyObject *value, Parameter *argument)
{
    if ((PyObject *)Py_TYPE(value) != slot->type)
        return OTHERWISE;
    Argument memory;
    begin_argument(&memory, value);
    const bool is_array = slot->kind == ARRAY;
    int result = read_usm(&memory, USM_OWNER | USM_ADDRESS | (slot->dtype == NULL ? 0 : USM_FORMAT) | (is_array ? USM_PACKED : 0));
    if (memory.owner == NULL)
        return FAILED;
    if (result == DONE && (memory.format != slot->dtype || memory.context != commands->context || (is_array && !memory.packed)))
        result = OTHERWISE;
    PyErr_Clear(); /* Python raises it */
    if (result == DONE) {
        argument->object = Py_NewRef(memory.owner);
        result = set_bytes(argument, &memory.address, 8);
    }
    end_argument(&memory);
    return result == DONE ? DONE : OTHERWISE;
}

/* Memory that the current batch holds has been read before. */
static int read_memory(Commands *commands, const Slot *slot, PyObject *value, Parameter *argument)
{
    return read_in_place(commands, slot, value, argument) ? DONE : read_other_memory(commands, slot, value, argument);
}

static int read_local(const Slot *slot, PyObject *value)
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

static int read_parameter(Commands *commands, const Submission *submission, int index, Parameter *argument)
{
    const Slot *slot = &submission->command->slots[index];
    PyObject *value = submission->values[index];
    switch (slot->kind) {
    case NUMBER: return read_number(commands, slot, value, argument);
    case POINTER:
    case ARRAY:
        return is_foreign(submission, index) ? set_bytes(argument, &submission->foreign[index], 8)
                                             : read_memory(commands, slot, value, argument);
    case HANDLE:
    case HELD: return read_handle(commands, slot, value, argument);
    case LOCAL: return read_local(slot, value);
    case GIVEN: return submission->packed ? read_bytes(slot, value, argument) : OTHERWISE;
    default: return slot->value == value ? DONE : OTHERWISE;
    }
}

int read_arguments(Commands *commands, const Submission *submission, Parameter *arguments)
{
    const int count = submission->command->count;
    int result = DONE;
    for (int i = 0; result == DONE && i < count; i++) {
        arguments[i].from = NULL;
        arguments[i].object = NULL;
        result = read_parameter(commands, submission, i, &arguments[i]);
        if (result != DONE)
            end_arguments(arguments, i + 1);
    }
    return result;
}

void end_arguments(Parameter *arguments, int count)
{
    for (int i = 0; i < count; i++)
        Py_XDECREF(arguments[i].object);
}
