/* Arrays of device functions: reading their properties, and comparison with those of a prepared call. */

#include "image_call.h"

static PyObject *str_shape, *str_read_only, *str_array_struct;

/* Largest alignment that a kernel may rely on: that of a pixel. */
enum { MOST_ALIGNMENT = 16 };

static bool name_array_attributes(void)
{
    static const struct { PyObject **at; const char *text; } names[] = {
        {&str_shape, "shape"}, {&str_read_only, "read_only"}, {&str_array_struct, "__array_struct__"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (*names[i].at == NULL && (*names[i].at = PyUnicode_InternFromString(names[i].text)) == NULL)
            return false;
    return true;
}

void begin_array(GivenArray *given, PyObject *value)
{
    memset(given, 0, sizeof *given);
    given->value = value;
}

void end_array(GivenArray *given)
{
    Py_CLEAR(given->owner);
    Py_CLEAR(given->dtype);
    Py_CLEAR(given->context);
    Py_CLEAR(given->capsule);
}

static bool read_shape(GivenArray *given, PyObject *shape)
{
    if (shape == NULL || !PyTuple_CheckExact(shape) || PyTuple_Size(shape) > MOST_DIMENSIONS)
        return false;
    given->dimensions = (int)PyTuple_Size(shape);
    for (int i = 0; i < given->dimensions; i++)
        given->shape[i] = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
    return !PyErr_Occurred();
}

static bool read_usm(GivenArray *given)
{
    PyObject *value = given->value, *shape, *packed;
    char *bytes;
    Py_ssize_t size;
    given->owner = PyObject_GetAttr(value, str_owner);
    given->dtype = PyObject_GetAttr(value, str_dtype);
    if (given->owner == NULL || given->dtype == NULL ||
        !PyType_IsSubtype(Py_TYPE(given->owner), (PyTypeObject *)openable_type))
        return false;
    given->context = PyObject_GetAttr(given->owner, str_context);
    shape = PyObject_GetAttr(value, str_shape);
    packed = PyObject_GetAttr(value, str_packed);
    bool done = given->context != NULL && read_shape(given, shape) && packed != NULL &&
                PyBytes_AsStringAndSize(packed, &bytes, &size) == 0 && size == 8;
    if (done)
        memcpy(&given->address, bytes, 8);
    Py_XDECREF(shape);
    Py_XDECREF(packed);
    given->usable = ((Openable *)given->owner)->open && is_true(value, str_contiguous);
    given->writable = !is_true(given->owner, str_read_only);
    return done;
}

static bool read_host(GivenArray *given)
{
    given->dtype = PyObject_GetAttr(given->value, str_dtype);
    given->capsule = PyObject_GetAttr(given->value, str_array_struct);
    const Array *array = given->capsule == NULL ? NULL : PyCapsule_GetPointer(given->capsule, NULL);
    if (given->dtype == NULL || array == NULL || array->two != 2 || array->dimensions > MOST_DIMENSIONS ||
        array->type == 'V') /* numpy drops the flags of structured arrays */
        return false;
    given->address = (uint64_t)(uintptr_t)array->data;
    given->bytes = (uint64_t)array->item_size;
    given->dimensions = array->dimensions;
    for (int i = 0; i < array->dimensions; i++) {
        given->shape[i] = array->shape[i];
        given->bytes *= (uint64_t)array->shape[i];
    }
    given->usable = array->flags & ARRAY_CONTIGUOUS;
    given->writable = array->flags & ARRAY_WRITEABLE;
    return true;
}

static bool read_foreign(GivenArray *given, bool written)
{
    const ForeignArray *foreign = &given->foreign;
    if (foreign_array(given->value, written, &given->foreign) != DONE ||
        (foreign->device.device_type != DLPACK_CPU && !has_stream(foreign)))
        return false; /* others are synchronized by their libraries */
    given->address = foreign->address;
    given->bytes = foreign->bytes;
    given->dimensions = foreign->dimensions;
    memcpy(given->shape, foreign->shape, sizeof given->shape);
    given->usable = foreign->packed;
    given->writable = true; /* otherwise it cannot be read for writing */
    return true;
}

void read_array(GivenArray *given, bool written, const ImageCalls *calls)
{
    PyObject *value = given->value, *type = (PyObject *)Py_TYPE(value);
    if (given->known)
        return;
    end_array(given);
    given->known = true;
    given->kind = UNKNOWN_ARRAY;
    if (value == Py_None)
        given->kind = NO_ARRAY;
    else if (PyLong_CheckExact(value) || PyFloat_CheckExact(value))
        given->kind = ONE_NUMBER;
    else if (name_array_attributes() && type == calls->memory && read_usm(given))
        given->kind = USM_ARRAY;
    else if (type == calls->host && read_host(given))
        given->kind = HOST_ARRAY;
    else if (type != calls->memory && type != calls->host && read_foreign(given, written))
        given->kind = FOREIGN_ARRAY;
    PyErr_Clear();
}

bool set_array(CallArray *array, const GivenArray *given, bool written)
{
    array->kind = given->kind;
    array->written = written;
    array->batch = -1;
    if (given->kind == ONE_NUMBER)
        array->number = Py_NewRef(given->value);
    if (given->kind == NO_ARRAY || given->kind == ONE_NUMBER)
        return array->place == NULL;
    if (given->kind == UNKNOWN_ARRAY || array->place == NULL)
        return false;
    array->dtype = Py_XNewRef(given->dtype);
    array->device = given->foreign.device;
    array->type = given->foreign.type;
    array->dimensions = given->dimensions;
    memcpy(array->shape, given->shape, sizeof array->shape);
    array->address = given->address;
    array->alignment = given->address & -given->address;
    if (array->alignment == 0 || array->alignment > MOST_ALIGNMENT)
        array->alignment = MOST_ALIGNMENT;
    if (array->staged)
        array->alignment = 1;
    return given->usable && (given->writable || !written);
}

/* An array whose device is unknown must have the address of the call before. */
static bool is_of_device(const ForeignArray *foreign, const CallArray *array)
{
    return (foreign->library != NULL || foreign->address == array->address) &&
           foreign->device.device_type == array->device.device_type &&
           foreign->device.device_id == array->device.device_id && foreign->type.code == array->type.code &&
           foreign->type.bits == array->type.bits && foreign->type.lanes == array->type.lanes;
}

bool fits_array_of_call(const CallArray *array, GivenArray *given, const ImageCalls *calls, const Commands *commands)
{
    if (array->kind == USM_ARRAY && array->held == given->value && array->batch == commands->batch) {
        if (!given->known) { /* the batch holds the array: only its owner changes */
            end_array(given);
            given->owner = Py_NewRef(array->owner);
            given->address = array->address;
        }
        return true;
    }
    read_array(given, array->written, calls);
    if (array->kind != given->kind)
        return false;
    if (array->kind == FOREIGN_ARRAY && !is_of_device(&given->foreign, array))
        return false;
    if (array->kind == NO_ARRAY)
        return true;
    if (array->kind == ONE_NUMBER)
        return is_same_option(array->number, given->value);
    return given->usable && (given->writable || !array->written) && given->dtype == array->dtype &&
           given->dimensions == array->dimensions &&
           memcmp(given->shape, array->shape, sizeof given->shape[0] * (size_t)given->dimensions) == 0 &&
           (given->address & (array->alignment - 1)) == 0 &&
           (array->kind != USM_ARRAY || given->context == commands->context);
}

static bool is_on_host(const GivenArray *given)
{
    return given->kind == HOST_ARRAY ||
           (given->kind == FOREIGN_ARRAY && given->foreign.device.device_type == DLPACK_CPU);
}

bool overlap(const GivenArray *a, const GivenArray *b)
{
    return is_on_host(a) && is_on_host(b) && a->address < b->address + b->bytes &&
           b->address < a->address + a->bytes;
}
