/* Reading of other libraries' arrays, their current stream, and new arrays of theirs. */

#include "foreign_array.h"

enum { KNOWN_TYPES = 8, MAJOR = 1 };

/* A type whose arrays are read here. The references are kept: libraries' types live as long as the process. */
typedef struct {
    PyObject *type;
    const DLPackExchangeAPI *library; /* NULL: it has the CUDA array interface */
    bool has_gradients; /* arrays may belong to a graph of gradients, which a command would bypass */
} Known;

static Known known_types[KNOWN_TYPES];
static unsigned next_known;
static PyObject *str_exchange, *str_interface, *str_requires_grad;

static bool name_exchange(void)
{
    return (str_exchange != NULL || (str_exchange = PyUnicode_InternFromString("__dlpack_c_exchange_api__")) != NULL) &&
           (str_interface != NULL || (str_interface = PyUnicode_InternFromString("__cuda_array_interface__")) != NULL) &&
           (str_requires_grad != NULL || (str_requires_grad = PyUnicode_InternFromString("requires_grad")) != NULL);
}

/* The functions of the major version that this file knows; NULL without. */
static const DLPackExchangeAPI *functions_of(PyObject *capsule)
{
    const DLPackExchangeAPIHeader *header = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    while (header != NULL && header->version.major != MAJOR)
        header = header->prev_api;
    return (const DLPackExchangeAPI *)header;
}

/* Copies the row of a type, which Python code of an array may replace; false, without an exception, for a type that is
 * not read here. */
static bool know(PyObject *type, Known *known)
{
    for (int i = 0; i < KNOWN_TYPES; i++)
        if (known_types[i].type == type) {
            *known = known_types[i];
            return true;
        }
    PyObject *capsule = name_exchange() ? PyObject_GetAttr(type, str_exchange) : NULL;
    const DLPackExchangeAPI *library = capsule == NULL ? NULL : functions_of(capsule);
    Py_XDECREF(capsule);
    bool has_gradients = library != NULL && PyObject_HasAttr(type, str_requires_grad);
    PyErr_Clear();
    if (library == NULL && (str_interface == NULL || !PyObject_HasAttr(type, str_interface)))
        return false;
    Known *row = &known_types[next_known++ % KNOWN_TYPES];
    PyObject *before = row->type;
    *row = *known = (Known){Py_NewRef(type), library, has_gradients};
    Py_XDECREF(before);
    return true;
}

const DLPackExchangeAPI *exchange_functions(PyObject *type)
{
    Known known;
    return know(type, &known) ? known.library : NULL;
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

static bool describe(const DLTensor *tensor, ForeignArray *array)
{
    if (tensor->ndim < 0 || tensor->ndim > FOREIGN_DIMENSIONS || (tensor->ndim > 0 && tensor->shape == NULL))
        return false;
    array->device = tensor->device;
    array->type = tensor->dtype;
    array->packed = tensor->strides == NULL || is_packed(tensor->ndim, tensor->shape, tensor->strides, 1);
    array->address = (uint64_t)(uintptr_t)tensor->data + tensor->byte_offset;
    array->dimensions = tensor->ndim;
    array->bytes = (uint64_t)tensor->dtype.bits * tensor->dtype.lanes / 8;
    for (int axis = 0; axis < tensor->ndim; axis++) {
        array->shape[axis] = tensor->shape[axis];
        array->bytes *= (uint64_t)tensor->shape[axis];
    }
    return tensor->data != NULL || array->bytes == 0;
}

/* Only the owning form has flags: whether an array may be written is asked there. */
static bool read_owning(PyObject *value, bool written, ForeignArray *array)
{
    DLManagedTensorVersioned *managed = NULL;
    if (array->library->managed_tensor_from_py_object_no_sync(value, &managed) != 0 || managed == NULL)
        return false;
    bool done = managed->version.major == MAJOR && describe(&managed->dl_tensor, array) &&
                !(written && (managed->flags & DLPACK_READ_ONLY));
    if (managed->deleter != NULL)
        managed->deleter(managed);
    return done;
}

static bool read_by_interface(PyObject *value, bool written, ForeignArray *array)
{
    PyObject *interface = PyObject_GetAttr(value, str_interface);
    bool done = interface != NULL && read_interface(interface, written, array);
    Py_XDECREF(interface);
    return done;
}

int foreign_array(PyObject *value, bool written, ForeignArray *array)
{
    Known known;
    if (!know((PyObject *)Py_TYPE(value), &known) || (known.has_gradients && is_true(value, str_requires_grad)))
        return OTHERWISE;
    DLTensor tensor;
    array->library = known.library;
    array->stream = 0;
    bool done = known.library == NULL ? read_by_interface(value, written, array)
                : written || known.library->dltensor_from_py_object_no_sync == NULL
                    ? read_owning(value, written, array)
                    : known.library->dltensor_from_py_object_no_sync(value, &tensor) == 0 && describe(&tensor, array);
    PyErr_Clear();
    return done ? DONE : OTHERWISE;
}

bool has_stream(const ForeignArray *array)
{
    return array->device.device_type == DLPACK_CUDA || array->device.device_type == DLPACK_CUDA_MANAGED;
}

int foreign_stream(const ForeignArray *array, uint64_t *stream)
{
    void *current = NULL;
    if (array->library == NULL) {
        *stream = array->stream;
        return DONE;
    }
    if (array->library->current_work_stream(array->device.device_type, array->device.device_id, &current) != 0)
        return FAILED;
    *stream = current == NULL ? DEFAULT_STREAM : (uint64_t)(uintptr_t)current;
    return DONE;
}

/* ---------------------------------------------------------------- new arrays */

static void set_error(void *context, const char *kind, const char *message)
{
    (void)context;
    PyGILState_STATE state = PyGILState_Ensure();
    PyErr_Format(strcmp(kind, "MemoryError") == 0 ? PyExc_MemoryError : PyExc_RuntimeError, "%s: %s", kind, message);
    PyGILState_Release(state);
}

PyObject *foreign_empty(const ForeignArray *like, DLDataType type, int dimensions, const int64_t *shape)
{
    int64_t sizes[FOREIGN_DIMENSIONS] = {0}, strides[FOREIGN_DIMENSIONS];
    uint64_t step = 1;
    for (int axis = dimensions - 1; axis >= 0; axis--) {
        sizes[axis] = shape[axis];
        strides[axis] = (int64_t)step;
        step *= (uint64_t)shape[axis];
    }
    DLTensor prototype = {.device = like->device, .ndim = dimensions, .dtype = type, .shape = sizes, .strides = strides};
    DLManagedTensorVersioned *managed = NULL;
    void *made = NULL;
    if (like->library->managed_tensor_allocator(&prototype, &managed, NULL, set_error) == 0 && managed != NULL &&
        like->library->managed_tensor_to_py_object_no_sync(managed, &made) != 0)
        made = NULL;
    if (made == NULL && !PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "the library of the argument made no array for the result");
    return made;
}

/* empty_like_foreign(value, shape, code, bits): a new array of the value's library; None where it has no functions. */
PyObject *empty_like_foreign(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *value, *shape;
    int code, bits;
    if (!PyArg_ParseTuple(arguments, "OO!ii:empty_like_foreign", &value, &PyTuple_Type, &shape, &code, &bits))
        return NULL;
    ForeignArray like;
    int64_t sizes[FOREIGN_DIMENSIONS];
    Py_ssize_t dimensions = PyTuple_Size(shape);
    if (dimensions > FOREIGN_DIMENSIONS || foreign_array(value, false, &like) != DONE || like.library == NULL)
        Py_RETURN_NONE;
    for (Py_ssize_t axis = 0; axis < dimensions; axis++)
        sizes[axis] = PyLong_AsLongLong(PyTuple_GetItem(shape, axis));
    if (PyErr_Occurred())
        return NULL;
    return foreign_empty(&like, (DLDataType){(uint8_t)code, (uint8_t)bits, 1}, (int)dimensions, sizes);
}

/* stream_of_foreign(value): the current stream of its library on its device; None where C code does not know it. */
PyObject *stream_of_foreign(PyObject *module, PyObject *value)
{
    (void)module;
    ForeignArray array;
    uint64_t stream;
    if (foreign_array(value, false, &array) != DONE || !has_stream(&array))
        Py_RETURN_NONE;
    return foreign_stream(&array, &stream) == DONE ? PyLong_FromUnsignedLongLong(stream) : NULL;
}
