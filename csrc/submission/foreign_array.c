/* Reading of other libraries' arrays, their current stream, and new arrays of theirs. */

#include "foreign_array.h"

enum { KNOWN_TYPES = 8, MAJOR = 1 };

/* A type whose arrays are read here. The references are kept: libraries' types live as long as the process. */
typedef struct {
    PyObject *type;
    const DLPackExchangeAPI *library; /* NULL: it has the CUDA array interface */
    bool has_gradients; /* arrays may belong to a graph of gradients, which a command would bypass */
} ForeignType;

static ForeignType known_types[KNOWN_TYPES];
static unsigned next_known;
#ifdef Py_GIL_DISABLED
static PyMutex known_guard;
#endif
static PyObject *str_exchange, *str_interface, *str_requires_grad;

bool name_exchange(void)
{
    static const Name names[] = {
        {&str_exchange, "__dlpack_c_exchange_api__"}, {&str_interface, "__cuda_array_interface__"},
        {&str_requires_grad, "requires_grad"},
    };
    return INTERN(names);
}

/* The functions of the major version that this file knows; NULL without. */
static const DLPackExchangeAPI *functions_of(PyObject *capsule)
{
    const DLPackExchangeAPIHeader *header = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    while (header != NULL && header->version.major != MAJOR)
        header = header->prev_api;
    return (const DLPackExchangeAPI *)header;
}

/* Copies the row of a type, which Python code of an array may replace; false of one that has none. */
static bool find_type(PyObject *type, ForeignType *entry)
{
    bool is_known = false;
    BEGIN_GUARD(known_guard);
    for (int i = 0; !is_known && i < KNOWN_TYPES; i++)
        if (known_types[i].type == type) {
            *entry = known_types[i];
            is_known = true;
        }
    END_GUARD(known_guard);
    return is_known;
}

/* The row of a type, which may be a new one; false, without an exception, for a type that is not read here. */
static bool know(PyObject *type, ForeignType *entry)
{
    if (find_type(type, entry))
        return true;
    PyObject *capsule = PyObject_GetAttr(type, str_exchange);
    const DLPackExchangeAPI *library = capsule == NULL ? NULL : functions_of(capsule);
    Py_XDECREF(capsule);
    bool has_gradients = library != NULL && PyObject_HasAttr(type, str_requires_grad);
    PyErr_Clear();
    if (library == NULL && !PyObject_HasAttr(type, str_interface))
        return false;
    *entry = (ForeignType){Py_NewRef(type), library, has_gradients};
    BEGIN_GUARD(known_guard);
    ForeignType *row = &known_types[next_known++ % KNOWN_TYPES];
    PyObject *before = row->type;
    *row = *entry;
    END_GUARD(known_guard);
    Py_XDECREF(before);
    return true;
}

const DLPackExchangeAPI *exchange_functions(PyObject *type)
{
    ForeignType entry;
    return know(type, &entry) ? entry.library : NULL;
}

bool has_exchanged(PyObject *type)
{
    ForeignType entry;
    return find_type(type, &entry) && entry.library != NULL;
}

bool read_tensor(const DLTensor *tensor, Argument *array)
{
    Layout *layout = &array->layout;
    if (tensor->ndim < 0 || tensor->ndim > MOST_DIMENSIONS || (tensor->ndim > 0 && tensor->shape == NULL))
        return false;
    layout->dimensions = tensor->ndim;
    layout->type = tensor->dtype;
    layout->device = tensor->device;
    array->address = (uint64_t)(uintptr_t)tensor->data + tensor->byte_offset;
    uint64_t elements = 1;
    for (int axis = tensor->ndim - 1; axis >= 0; axis--) {
        layout->shape[axis] = tensor->shape[axis];
        layout->strides[axis] = tensor->strides == NULL ? (int64_t)elements : tensor->strides[axis];
        elements *= (uint64_t)tensor->shape[axis];
    }
    array->packed = tensor->strides == NULL || is_packed(tensor->ndim, layout->shape, layout->strides, 1);
    array->bytes = (uint64_t)tensor->dtype.bits * tensor->dtype.lanes / 8 * elements;
    return tensor->data != NULL || array->bytes == 0;
}

/* Only the owning form has flags: whether an array may be written is asked there. */
static bool read_owning(Argument *array, bool written)
{
    DLManagedTensorVersioned *managed = NULL;
    if (array->library->managed_tensor_from_py_object_no_sync(array->value, &managed) != 0 || managed == NULL)
        return false;
    bool done = managed->version.major == MAJOR && read_tensor(&managed->dl_tensor, array) &&
                !(written && (managed->flags & DLPACK_READ_ONLY));
    if (managed->deleter != NULL)
        managed->deleter(managed);
    return done;
}

static bool read_by_interface(Argument *array, bool written)
{
    PyObject *interface = PyObject_GetAttr(array->value, str_interface);
    bool done = interface != NULL && read_interface(interface, written, array);
    Py_XDECREF(interface);
    return done;
}

int read_foreign(Argument *array, bool written)
{
    ForeignType entry;
    if (!know((PyObject *)Py_TYPE(array->value), &entry) ||
        (entry.has_gradients && is_true(array->value, str_requires_grad)))
        return OTHERWISE;
    DLTensor tensor;
    array->library = entry.library;
    array->stream = 0;
    array->writable = true; /* otherwise it cannot be read for writing */
    bool done = entry.library == NULL ? read_by_interface(array, written)
                : written || entry.library->dltensor_from_py_object_no_sync == NULL
                    ? read_owning(array, written)
                    : entry.library->dltensor_from_py_object_no_sync(array->value, &tensor) == 0 &&
                          read_tensor(&tensor, array);
    PyErr_Clear();
    return done ? DONE : OTHERWISE;
}

bool has_stream(const Argument *array)
{
    return array->layout.device.device_type == DLPACK_CUDA || array->layout.device.device_type == DLPACK_CUDA_MANAGED;
}

int foreign_stream(const Argument *array, uint64_t *stream)
{
    void *current = NULL;
    if (array->library == NULL) {
        *stream = array->stream;
        return DONE;
    }
    if (array->library->current_work_stream(array->layout.device.device_type, array->layout.device.device_id, &current) != 0)
        return FAILED;
    *stream = current == NULL ? DEFAULT_STREAM : (uint64_t)(uintptr_t)current;
    return DONE;
}

int stream_of_arrays(const Argument *arguments, int count, uint64_t *stream)
{
    const Argument *first = NULL;
    *stream = 0;
    for (int i = 0; i < count; i++) {
        const Argument *array = &arguments[i];
        if (array->kind != FOREIGN_ARRAY || !has_stream(array))
            continue;
        if (first != NULL && (first->library != array->library || first->stream != array->stream))
            return OTHERWISE;
        if (first == NULL && foreign_stream(array, stream) != DONE) {
            PyErr_Clear();
            return OTHERWISE;
        }
        first = array;
    }
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

bool make_room(void)
{
    if (!PyErr_ExceptionMatches(PyExc_MemoryError) && !PyErr_ExceptionMatches(PyExc_RuntimeError))
        return false;
    PyErr_Clear();
    PyObject *streams = PyImport_ImportModule("bindless.submission.active_streams");
    PyObject *wait = streams == NULL ? NULL : PyObject_GetAttrString(streams, "wait_for_all");
    PyObject *done = wait == NULL ? NULL : PyObject_CallNoArgs(wait);
    Py_XDECREF(streams);
    Py_XDECREF(wait);
    Py_XDECREF(done);
    return done != NULL;
}

/* Reads the array on the way: what has just been made is writable. */
static PyObject *allocate_foreign(const Argument *like, const Layout *layout, Argument *array)
{
    int64_t shape[MOST_DIMENSIONS] = {0}, strides[MOST_DIMENSIONS];
    uint64_t step = 1;
    for (int axis = layout->dimensions - 1; axis >= 0; axis--) {
        shape[axis] = layout->shape[axis];
        strides[axis] = (int64_t)step;
        step *= (uint64_t)shape[axis];
    }
    DLTensor prototype = {.device = like->layout.device, .ndim = layout->dimensions, .dtype = layout->type, .shape = shape,
                          .strides = strides};
    DLManagedTensorVersioned *managed = NULL;
    void *result = NULL;
    begin_argument(array, NULL);
    array->library = like->library;
    array->stream = 0;
    array->writable = true;
    bool is_read = false;
    if (like->library->managed_tensor_allocator(&prototype, &managed, NULL, set_error) == 0 && managed != NULL) {
        is_read = managed->version.major == MAJOR && read_tensor(&managed->dl_tensor, array);
        if (like->library->managed_tensor_to_py_object_no_sync(managed, &result) != 0)
            result = NULL;
    }
    if (result == NULL && !PyErr_Occurred())
        PyErr_SetString(PyExc_RuntimeError, "the library of the argument made no array for the result");
    array->value = result;
    array->kind = is_read ? FOREIGN_ARRAY : UNKNOWN_ARGUMENT;
    return result;
}

PyObject *foreign_empty(const Argument *like, const Layout *layout, Argument *array)
{
    PyObject *result = allocate_foreign(like, layout, array);
    return result == NULL && make_room() ? allocate_foreign(like, layout, array) : result;
}

/* empty_like_foreign(value, shape, code, bits): a new array of the value's library; None where it has no functions. */
PyObject *empty_like_foreign(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *value, *shape;
    int code, bits;
    if (!PyArg_ParseTuple(arguments, "OO!ii:empty_like_foreign", &value, &PyTuple_Type, &shape, &code, &bits))
        return NULL;
    Argument like;
    begin_argument(&like, value);
    Layout layout = {.dimensions = (int)PyTuple_Size(shape), .type = {(uint8_t)code, (uint8_t)bits, 1}};
    if (PyTuple_Size(shape) > MOST_DIMENSIONS || read_foreign(&like, false) != DONE || like.library == NULL)
        Py_RETURN_NONE;
    for (int axis = 0; axis < layout.dimensions; axis++)
        layout.shape[axis] = PyLong_AsLongLong(PyTuple_GetItem(shape, axis));
    Argument array;
    return PyErr_Occurred() ? NULL : foreign_empty(&like, &layout, &array);
}

/* stream_of_foreign(value): the current stream of its library on its device; None where C code does not know it. */
PyObject *stream_of_foreign(PyObject *module, PyObject *value)
{
    (void)module;
    Argument array;
    uint64_t stream;
    begin_argument(&array, value);
    if (read_foreign(&array, false) != DONE || !has_stream(&array))
        Py_RETURN_NONE;
    return foreign_stream(&array, &stream) == DONE ? PyLong_FromUnsignedLongLong(stream) : NULL;
}
