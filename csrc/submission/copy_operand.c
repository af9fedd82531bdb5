/* Operands of copies: reading their properties, and comparison with prepared copies. */

#include "prepared_copy.h"

static PyObject *str_resource, *str_descriptor, *str_number, *str_array_struct, *str_memory_context;

bool name_attributes(void)
{
    static const struct { PyObject **at; const char *text; } names[] = {
        {&str_resource, "_resource"}, {&str_descriptor, "descriptor"},
        {&str_number, "number"}, {&str_array_struct, "__array_struct__"}, {&str_memory_context, "_context"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((*names[i].at = PyUnicode_InternFromString(names[i].text)) == NULL)
            return false;
    return true;
}

void let_go(Given *given)
{
    Py_CLEAR(given->owner);
    Py_CLEAR(given->record);
    Py_CLEAR(given->descriptor);
    Py_CLEAR(given->device);
    Py_CLEAR(given->context);
    Py_CLEAR(given->capsule);
    given->array = NULL;
}

/* Describes another library's array on the host as numpy does. */
static bool read_foreign(PyObject *value, bool written, Given *given)
{
    static const char types[] = {'i', 'u', 'f'}; /* by DLPack's codes */
    ForeignArray array;
    if (foreign_array(value, written, &array) != DONE || array.device.device_type != DLPACK_CPU || !array.packed ||
        array.type.code >= sizeof types || array.type.lanes != 1)
        return false;
    for (int axis = 0; axis < array.dimensions; axis++)
        given->shape[axis] = (Py_ssize_t)array.shape[axis];
    given->foreign = (Array){.two = 2, .dimensions = array.dimensions, .type = types[array.type.code],
                             .item_size = array.type.bits / 8, .shape = given->shape,
                             .flags = ARRAY_CONTIGUOUS | ARRAY_NATIVE | ARRAY_WRITEABLE,
                             .data = (void *)(uintptr_t)array.address};
    given->array = &given->foreign;
    return true;
}

static bool read_host(PyObject *value, Given *given)
{
    given->capsule = PyObject_GetAttr(value, str_array_struct);
    given->array = given->capsule == NULL ? NULL : PyCapsule_GetPointer(given->capsule, NULL);
    if (given->array == NULL)
        return false;
    given->kind = given->array->two == 2 && given->array->dimensions <= MOST_DIMENSIONS ? HOST : OTHER;
    return true;
}

static bool read_image(PyObject *value, Given *given)
{
    given->record = PyObject_GetAttr(value, str_resource);
    if (given->record == NULL || given->record == Py_None)
        return given->record != NULL;
    given->context = PyObject_GetAttr(value, str_memory_context);
    given->descriptor = PyObject_GetAttr(given->record, str_descriptor);
    given->device = PyObject_GetAttr(given->record, str_device);
    PyObject *number = PyObject_GetAttr(given->record, str_number);
    if (number != NULL)
        given->number = PyLong_AsUnsignedLongLong(number);
    Py_XDECREF(number);
    given->kind = IMAGE;
    return given->context != NULL && given->descriptor != NULL && given->device != NULL && !PyErr_Occurred();
}

static bool read_memory(PyObject *value, Given *given)
{
    given->owner = PyObject_GetAttr(value, str_owner);
    if (given->owner != NULL && PyType_IsSubtype(Py_TYPE(given->owner), (PyTypeObject *)openable_type))
        given->kind = MEMORY;
    else
        Py_CLEAR(given->owner);
    return !PyErr_Occurred();
}

/* kinds holds the operand types. An operand of another type, or one without memory, is OTHER. */
bool read_given(PyObject *value, const Kinds *kinds, bool written, Given *given)
{
    PyObject *type = (PyObject *)Py_TYPE(value);
    memset(given, 0, sizeof *given);
    given->value = value;
    bool done = true;
    if (type == kinds->host)
        done = read_host(value, given);
    else if (type == kinds->image)
        done = read_image(value, given);
    else if (type == kinds->memory)
        done = read_memory(value, given);
    else if (read_foreign(value, written, given))
        given->kind = HOST;
    if (given->kind == HOST)
        given->number = (uint64_t)(uintptr_t)given->array->data;
    return done;
}

static bool fits_array(const Side *side, const Array *array)
{
    int wanted = ARRAY_CONTIGUOUS | ARRAY_NATIVE | (side->written ? ARRAY_WRITEABLE : 0);
    if (array->type != side->type || array->item_size != side->item_size || array->dimensions != side->dimensions ||
        (array->flags & wanted) != wanted)
        return false;
    for (int i = 0; i < side->dimensions; i++)
        if (array->shape[i] != side->shape[i])
            return false;
    return true;
}

bool fits(const Side *side, const Given *given, const Commands *commands)
{
    if (side->kind != given->kind)
        return false;
    switch (side->kind) {
    case HOST: return fits_array(side, given->array);
    case MEMORY: return given->value == side->object;
    case IMAGE:
        return side->any ? given->descriptor == side->object && given->device == side->device &&
                               given->context == commands->context
                         : given->record == side->object;
    default: return false;
    }
}

PyObject *kept_of(const Given *given)
{
    return given->kind == IMAGE ? given->record : given->value;
}
