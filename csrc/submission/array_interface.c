/* The CUDA array interface, versions 1 to 3: a dict that describes an array in CUDA's memory. */

#include "foreign_array.h"

enum { NEWEST = 3 };

/* Reads a tuple of ints; false for another value. */
static bool read_sizes(PyObject *tuple, int count, int64_t *sizes)
{
    if (tuple == NULL || !PyTuple_Check(tuple) || PyTuple_Size(tuple) != count)
        return false;
    for (int i = 0; i < count; i++)
        sizes[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
    return !PyErr_Occurred();
}

/* Reads a type such as "<f4", in native byte order. */
static bool read_type(PyObject *text, DLDataType *type)
{
    static const char kinds[] = "iuf"; /* by DLPack's codes */
    if (text == NULL || !PyUnicode_Check(text) || PyUnicode_GetLength(text) != 3)
        return false;
    Py_UCS4 order = PyUnicode_ReadChar(text, 0), kind = PyUnicode_ReadChar(text, 1), size = PyUnicode_ReadChar(text, 2);
    const char *code = kind < 128 ? strchr(kinds, (int)kind) : NULL;
    if ((order != '<' && order != '|') || code == NULL || size < '1' || size > '8')
        return false;
    *type = (DLDataType){(uint8_t)(code - kinds), (uint8_t)(8 * (size - '0')), 1};
    return true;
}

static bool is_absent(PyObject *value)
{
    return value == NULL || value == Py_None;
}

/* The items that are read: new references, since the values of sizes and flags may run Python code, which may change the
 * dict; or NULL. */
enum { VERSION, TYPE, DATA, SHAPE, STRIDES, STREAM, MASK, ITEMS };
static const char *const names[ITEMS] = {"version", "typestr", "data", "shape", "strides", "stream", "mask"};

static bool read_items(PyObject *const *items, bool written, Argument *array)
{
    PyObject *data = items[DATA], *shape = items[SHAPE], *strides = items[STRIDES];
    Layout *layout = &array->layout;
    int64_t steps[MOST_DIMENSIONS]; /* bytes */
    if (items[VERSION] == NULL || !PyLong_Check(items[VERSION]) || PyLong_AsLong(items[VERSION]) > NEWEST ||
        !is_absent(items[MASK]) || data == NULL || !PyTuple_Check(data) || PyTuple_Size(data) != 2 || shape == NULL ||
        !PyTuple_Check(shape) || PyTuple_Size(shape) > MOST_DIMENSIONS || !read_type(items[TYPE], &layout->type))
        return false;
    layout->device = (DLDevice){DLPACK_CUDA, UNKNOWN_DEVICE};
    array->address = PyLong_AsUnsignedLongLong(PyTuple_GetItem(data, 0));
    layout->dimensions = (int)PyTuple_Size(shape);
    if (PyErr_Occurred() || !read_sizes(shape, layout->dimensions, layout->shape) ||
        (written && PyObject_IsTrue(PyTuple_GetItem(data, 1)) != 0))
        return false;
    if (!is_absent(strides) && !read_sizes(strides, layout->dimensions, steps))
        return false;
    array->bytes = layout->type.bits / 8;
    array->packed = is_absent(strides) || is_packed(layout->dimensions, layout->shape, steps, array->bytes);
    for (int axis = 0; axis < layout->dimensions; axis++)
        array->bytes *= (uint64_t)layout->shape[axis];
    if (!is_absent(items[STREAM]))
        array->stream = PyLong_AsUnsignedLongLong(items[STREAM]);
    return !PyErr_Occurred() && array->address != 0;
}

/* A new reference; NULL without the item. */
static PyObject *named_item(PyObject *dict, const char *name)
{
#ifdef Py_GIL_DISABLED
    PyObject *value;
    (void)PyDict_GetItemStringRef(dict, name, &value);
    return value;
#else
    return Py_XNewRef(PyDict_GetItemString(dict, name));
#endif
}

bool read_interface(PyObject *interface, bool written, Argument *array)
{
    if (!PyDict_Check(interface))
        return false;
    PyObject *items[ITEMS];
    for (int i = 0; i < ITEMS; i++)
        items[i] = named_item(interface, names[i]);
    const bool done = read_items(items, written, array);
    for (int i = 0; i < ITEMS; i++)
        Py_XDECREF(items[i]);
    return done;
}
