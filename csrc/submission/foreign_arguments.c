/* Other libraries' arrays as arguments of a prepared launch: on the queue's device, with the dtype of the parameter. */

#include "foreign_array.h"

static PyObject *str_kind, *str_itemsize;

/* DLPack's codes of the kinds of numpy's dtypes. */
static int code_of(Py_UCS4 kind)
{
    switch (kind) {
    case 'i': return 0;
    case 'u': return 1;
    case 'f': return 2;
    case 'c': return 5;
    case 'b': return 6;
    default: return -1;
    }
}

bool foreign_type(PyObject *dtype, int *code, int *bits)
{
    if ((str_kind == NULL && (str_kind = PyUnicode_InternFromString("kind")) == NULL) ||
        (str_itemsize == NULL && (str_itemsize = PyUnicode_InternFromString("itemsize")) == NULL))
        return false;
    PyObject *kind = PyObject_GetAttr(dtype, str_kind), *size = PyObject_GetAttr(dtype, str_itemsize);
    if (kind != NULL && size != NULL && PyUnicode_GetLength(kind) == 1) {
        *code = code_of(PyUnicode_ReadChar(kind, 0));
        *bits = 8 * (int)PyLong_AsLong(size);
    }
    Py_XDECREF(kind);
    Py_XDECREF(size);
    return !PyErr_Occurred();
}

static bool is_on_device(const Commands *commands, const ForeignArray *array)
{
    return commands->dlpack_type == DLPACK_CUDA &&
           (array->device.device_type == DLPACK_CUDA_MANAGED ||
            (array->device.device_type == DLPACK_CUDA && array->device.device_id == commands->dlpack_id));
}

static bool is_of_type(const Slot *slot, const ForeignArray *array)
{
    return slot->dtype == NULL ||
           (array->type.code == slot->code && array->type.bits == slot->bits && array->type.lanes == 1);
}

/* Reads one argument; OTHERWISE where Python must handle it. */
static int read_argument(const Commands *commands, const Slot *slot, PyObject *value, ForeignArguments *foreign, int index)
{
    ForeignArray array;
    if (foreign_array(value, false, &array) != DONE || array.library == NULL || !is_on_device(commands, &array) || !array.packed ||
        array.bytes == 0 || !is_of_type(slot, &array) ||
        (foreign->library != NULL && foreign->library != array.library))
        return OTHERWISE;
    if (foreign->library == NULL && foreign_stream(&array, &foreign->stream) != DONE) {
        PyErr_Clear();
        return OTHERWISE;
    }
    foreign->library = array.library;
    foreign->addresses[index] = array.address;
    return DONE;
}

int read_foreign_arguments(const Commands *commands, const Prepared *launch, PyObject *const *values,
                           ForeignArguments *foreign)
{
    foreign->library = NULL;
    if (commands->dlpack_type == 0 || !launch->has_memory)
        return OTHERWISE;
    for (int i = 0; i < launch->count; i++) {
        const Slot *slot = &launch->slots[i];
        foreign->addresses[i] = 0;
        if (slot->kind == ARRAY && (PyObject *)Py_TYPE(values[i]) != slot->type &&
            read_argument(commands, slot, values[i], foreign, i) != DONE)
            return OTHERWISE;
    }
    return foreign->library == NULL ? OTHERWISE : DONE;
}
