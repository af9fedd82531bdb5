/* Reading of arguments: USM, arrays of numpy, image memory; foreign_array.c reads those of other libraries. */

#include "foreign_array.h"

/* The struct of numpy's __array_struct__ protocol. */
typedef struct {
    int two, dimensions;
    char type;
    int item_size, flags;
    Py_ssize_t *shape, *strides;
    void *data;
    PyObject *description;
} NumpyArray;
enum { NUMPY_CONTIGUOUS = 0x1, NUMPY_NATIVE = 0x200, NUMPY_WRITEABLE = 0x400 };

static PyObject *str_resource, *str_descriptor, *str_number, *str_array_struct, *str_memory_context, *str_shape,
    *str_read_only;

bool name_attributes(void)
{
    static const Name names[] = {
        {&str_resource, "_resource"}, {&str_descriptor, "descriptor"}, {&str_number, "number"},
        {&str_array_struct, "__array_struct__"}, {&str_memory_context, "_context"}, {&str_shape, "shape"},
        {&str_read_only, "read_only"},
    };
    return INTERN(names);
}

void end_argument(Argument *argument)
{
    Py_CLEAR(argument->owner);
    Py_CLEAR(argument->format);
    Py_CLEAR(argument->context);
    Py_CLEAR(argument->device);
}

int same_option(PyObject *a, PyObject *b)
{
    if (a == b)
        return true;
    if (Py_TYPE(a) != Py_TYPE(b) || PyType_IsSubtype(Py_TYPE(a), &PyType_Type))
        return false;
    if (PyTuple_CheckExact(a)) { /* 1 and 1.0 are equal numbers, but not one option */
        int same = PyTuple_Size(a) == PyTuple_Size(b);
        for (Py_ssize_t i = 0; same == 1 && i < PyTuple_Size(a); i++)
            same = same_option(PyTuple_GetItem(a, i), PyTuple_GetItem(b, i));
        return same;
    }
    const int same = PyObject_RichCompareBool(a, b, Py_EQ);
    if (same >= 0 || !PyErr_ExceptionMatches(PyExc_Exception))
        return same;
    PyErr_Clear(); /* Python says what is wrong with the option */
    return 0;
}

/* ---------------------------------------------------------------- layouts */

bool same_type(DLDataType a, DLDataType b)
{
    return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

bool same_shape(const Layout *a, const Layout *b)
{
    return a->dimensions == b->dimensions &&
           (a->dimensions <= 0 || memcmp(a->shape, b->shape, (size_t)a->dimensions * sizeof *a->shape) == 0);
}

bool same_layout(const Layout *a, const Layout *b)
{
    return same_shape(a, b) &&
           (a->dimensions < 0 || (same_type(a->type, b->type) && a->device.device_type == b->device.device_type &&
                                  a->device.device_id == b->device.device_id &&
                                  memcmp(a->strides, b->strides, (size_t)a->dimensions * sizeof *a->strides) == 0));
}

uint64_t hash_of_layout(uint64_t hash, const Layout *layout)
{
    hash = mix(hash, (uint64_t)layout->dimensions);
    if (layout->dimensions >= 0)
        hash = mix(hash, (uint64_t)layout->type.code << 8 | layout->type.bits);
    for (int axis = 0; axis < layout->dimensions; axis++)
        hash = mix(mix(hash, (uint64_t)layout->shape[axis]), (uint64_t)layout->strides[axis]);
    return hash;
}

bool is_packed(int dimensions, const int64_t *shape, const int64_t *strides, uint64_t step)
{
    for (int axis = dimensions - 1; axis >= 0; axis--) {
        if (shape[axis] != 1 && (uint64_t)strides[axis] != step)
            return false;
        step *= (uint64_t)shape[axis];
    }
    return true;
}

bool is_on_host(const Argument *argument)
{
    return argument->kind == HOST_ARRAY ||
           (argument->kind == FOREIGN_ARRAY && argument->layout.device.device_type == DLPACK_CPU);
}

/* ---------------------------------------------------------------- USM */

static int read_usm_shape(PyObject *value, Layout *layout)
{
    PyObject *shape = PyObject_GetAttr(value, str_shape);
    if (shape == NULL)
        return FAILED;
    const bool fits = PyTuple_CheckExact(shape) && PyTuple_Size(shape) <= MOST_DIMENSIONS;
    layout->dimensions = fits ? (int)PyTuple_Size(shape) : 0;
    for (int i = 0; i < layout->dimensions; i++)
        layout->shape[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
    Py_DECREF(shape);
    return PyErr_Occurred() ? FAILED : fits ? DONE : OTHERWISE;
}

static int read_usm_address(PyObject *value, uint64_t *address)
{
    PyObject *packed = PyObject_GetAttr(value, str_packed);
    char *bytes;
    Py_ssize_t size;
    const int result = packed == NULL || PyBytes_AsStringAndSize(packed, &bytes, &size) < 0 ? FAILED : size == 8 ? DONE : OTHERWISE;
    if (result == DONE)
        memcpy(address, bytes, 8);
    Py_XDECREF(packed);
    return result;
}

int read_usm(Argument *argument, unsigned parts)
{
    PyObject *value = argument->value;
    int result = DONE;
    if (parts & USM_OWNER) {
        argument->owner = PyObject_GetAttr(value, str_owner);
        if (argument->owner == NULL)
            return FAILED;
        if (!PyType_IsSubtype(Py_TYPE(argument->owner), (PyTypeObject *)openable_type))
            return OTHERWISE;
    }
    if (parts & USM_FORMAT && (argument->format = PyObject_GetAttr(value, str_dtype)) == NULL)
        return FAILED;
    if (parts & USM_ADDRESS && (argument->context = PyObject_GetAttr(argument->owner, str_context)) == NULL)
        return FAILED;
    if (parts & USM_SHAPE)
        result = read_usm_shape(value, &argument->layout);
    if (parts & USM_ADDRESS && result == DONE)
        result = read_usm_address(value, &argument->address);
    if (parts & USM_BYTES && result == DONE) {
        PyObject *bytes = PyObject_GetAttr(value, str_nbytes);
        argument->bytes = bytes == NULL ? 0 : PyLong_AsUnsignedLongLong(bytes);
        Py_XDECREF(bytes);
        result = PyErr_Occurred() ? FAILED : DONE;
    }
    if (parts & USM_PACKED)
        argument->packed = is_true(value, str_contiguous);
    if (parts & USM_ACCESS)
        argument->writable = !is_true(argument->owner, str_read_only);
    return result;
}

/* ---------------------------------------------------------------- arrays of numpy */

/* DLPack's codes of numpy's kinds of elements; lanes of 0: it has no such type. */
static DLDataType type_of(const NumpyArray *array)
{
    static const char kinds[] = {'i', 'u', 'f', 0, 0, 'c', 'b'};
    const char *code = array->type == 0 ? NULL : memchr(kinds, array->type, sizeof kinds);
    const bool valid = code != NULL && array->item_size > 0 && array->item_size <= UINT8_MAX / 8 && array->flags & NUMPY_NATIVE;
    return (DLDataType){valid ? (uint8_t)(code - kinds) : 0, valid ? (uint8_t)(8 * array->item_size) : 0, valid};
}

static int read_host(Argument *argument)
{
    argument->owner = PyObject_GetAttr(argument->value, str_array_struct);
    const NumpyArray *array = argument->owner == NULL ? NULL : PyCapsule_GetPointer(argument->owner, NULL);
    if (array == NULL)
        return FAILED;
    Layout *layout = &argument->layout;
    layout->type = type_of(array);
    layout->device = (DLDevice){DLPACK_CPU, 0};
    if (array->two != 2 || array->dimensions > MOST_DIMENSIONS || layout->type.lanes == 0)
        return OTHERWISE;
    argument->address = (uint64_t)(uintptr_t)array->data;
    argument->bytes = (uint64_t)array->item_size;
    layout->dimensions = array->dimensions;
    for (int i = 0; i < array->dimensions; i++) {
        layout->shape[i] = array->shape[i];
        argument->bytes *= (uint64_t)array->shape[i];
    }
    argument->packed = array->flags & NUMPY_CONTIGUOUS;
    argument->writable = array->flags & NUMPY_WRITEABLE;
    return DONE;
}

/* ---------------------------------------------------------------- image memory */

static int read_image(Argument *argument)
{
    argument->owner = PyObject_GetAttr(argument->value, str_resource);
    if (argument->owner == NULL)
        return FAILED;
    if (argument->owner == Py_None)
        return OTHERWISE;
    argument->context = PyObject_GetAttr(argument->value, str_memory_context);
    argument->format = PyObject_GetAttr(argument->owner, str_descriptor);
    argument->device = PyObject_GetAttr(argument->owner, str_device);
    PyObject *number = PyObject_GetAttr(argument->owner, str_number);
    if (number != NULL)
        argument->address = PyLong_AsUnsignedLongLong(number);
    Py_XDECREF(number);
    return PyErr_Occurred() ? FAILED : DONE;
}

/* ---------------------------------------------------------------- any argument */

int read_argument(Argument *argument, const Kinds *kinds, bool written, unsigned parts)
{
    PyObject *value = argument->value, *type = (PyObject *)Py_TYPE(value);
    ArgumentKind kind = FOREIGN_ARRAY;
    int result = DONE;
    if (argument->kind != UNREAD)
        return DONE;
    end_argument(argument);
    argument->kind = UNKNOWN_ARGUMENT;
    if (value == Py_None)
        kind = NO_ARGUMENT;
    else if (PyLong_CheckExact(value) || PyFloat_CheckExact(value))
        kind = ONE_NUMBER;
    else if (type == kinds->memory)
        kind = USM_ARRAY, result = read_usm(argument, parts);
    else if (type == kinds->host)
        kind = HOST_ARRAY, result = read_host(argument);
    else if (type == kinds->image)
        kind = IMAGE_MEMORY, result = read_image(argument);
    else
        result = read_foreign(argument, written);
    if (result == DONE)
        argument->kind = kind;
    return result == FAILED ? FAILED : DONE;
}
