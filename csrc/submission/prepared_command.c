/* Prepared: a prepared launch. */

#include "types.h"

static PyObject *str_sizes, *str_global_range, *str_local_range, *str_offset;
static PyObject *nd_range_type; /* of the first NdRange; kept */

bool name_ranges(void)
{
    static const Name names[] = {
        {&str_sizes, "_sizes"}, {&str_global_range, "global_range"}, {&str_local_range, "local_range"}, {&str_offset, "offset"},
    };
    return INTERN(names);
}

REFERENCES(prepared, Prepared)
{
    EACH(self->key.space);
    EACH(self->bundle);
    EACH(self->lanes);
    EACH(self->settle);
    EACH(self->refused);
    EACH(self->keep);
    EACH_WATCH(&self->base);
    for (int i = 0; i < self->count; i++) {
        EACH(self->slots[i].dtype);
        if (self->slots[i].kind == FIXED || self->slots[i].kind == NUMBER)
            EACH(self->slots[i].value);
    }
    return 0;
}

/* Reads one to three sizes of a tuple, none of them less than `lowest`; false for another value. */
static bool read_sizes(PyObject *tuple, long long lowest, long long sizes[3], int *count)
{
    if (tuple == NULL || !PyTuple_CheckExact(tuple) || PyTuple_Size(tuple) < 1 || PyTuple_Size(tuple) > 3)
        return false;
    *count = (int)PyTuple_Size(tuple);
    for (int i = 0; i < *count; i++) {
        PyObject *size = PyTuple_GetItem(tuple, i);
        int overflow;
        if (!PyLong_CheckExact(size))
            return false;
        sizes[i] = PyLong_AsLongLongAndOverflow(size, &overflow);
        if (overflow || sizes[i] < lowest)
            return false;
    }
    return true;
}

/* Reads the sizes of a Range, or of the one that is an attribute. */
static bool read_range(PyObject *value, PyObject *attribute, long long lowest, long long sizes[3], int *count)
{
    PyObject *range = attribute == NULL ? Py_NewRef(value) : PyObject_GetAttr(value, attribute);
    PyObject *tuple = range == NULL ? NULL : PyObject_GetAttr(range, str_sizes);
    const bool done = read_sizes(tuple, lowest, sizes, count);
    Py_XDECREF(range);
    Py_XDECREF(tuple);
    PyErr_Clear();
    return done;
}

enum { OF_TUPLE = 1, OF_RANGE = 4, OF_ND_RANGE = 7, MOST = 3 };

/* Reads a range by value; false for one that is empty, or of another kind. Kinds differ: (n,) from n, since their sizes of
 * a required work-group differ. */
static bool read_space(PyObject *space, long long sizes[9], int *dimensions)
{
    int count = 0, others[2];
    if (PyLong_CheckExact(space)) {
        int overflow;
        sizes[0] = PyLong_AsLongLongAndOverflow(space, &overflow);
        *dimensions = 1;
        return !overflow && sizes[0] > 0;
    }
    if (PyTuple_CheckExact(space)) {
        const bool done = read_sizes(space, 1, sizes, &count);
        *dimensions = OF_TUPLE + count;
        return done;
    }
    const bool is_nd_range = (PyObject *)Py_TYPE(space) == LOOK(nd_range_type); /* the question for _sizes would raise */
    if (!is_nd_range && read_range(space, NULL, 1, sizes, &count)) {
        *dimensions = OF_RANGE + count;
        return true;
    }
    *dimensions = OF_ND_RANGE;
    if (!read_range(space, str_global_range, 1, sizes, &count) || !read_range(space, str_local_range, 1, sizes + 3, &others[0]) ||
        !read_range(space, str_offset, 0, sizes + 6, &others[1]))
        return false;
    *dimensions += count;
    if (LOOK(nd_range_type) == NULL)
        PUT(nd_range_type, Py_NewRef((PyObject *)Py_TYPE(space)));
    return others[0] == count && others[1] == count;
}

int range_dimensions(PyObject *space)
{
    long long sizes[9];
    int dimensions = 0;
    const bool done = read_space(space, sizes, &dimensions);
    PyErr_Clear();
    return !done ? 0 : dimensions == 1 ? 1 : (dimensions - OF_TUPLE - 1) % MOST + 1;
}

void read_key(PyObject *kernel, PyObject *space, Py_ssize_t count, LaunchKey *key)
{
    *key = (LaunchKey){.kernel = kernel, .count = count};
    if (read_space(space, key->sizes, &key->dimensions))
        return;
    PyErr_Clear();
    key->dimensions = 0;
    key->space = space;
    memset(key->sizes, 0, sizeof key->sizes);
}

static bool read_slot(PyObject *row, Slot *slot)
{
    const char *kind;
    unsigned long long place;
    int integers, floats;
    PyObject *value;
    if (!PyArg_ParseTuple(row, "sKippO", &kind, &place, &slot->size, &integers, &floats, &value))
        return false;
    slot->place = (unsigned char *)(uintptr_t)place;
    slot->batch = -1;
    slot->code = -1;
    slot->takes_integers = integers;
    slot->takes_floats = floats;
    switch (kind[0]) {
    case 'n':
    case 'f': /* a number, where integers convert to float */
        slot->kind = NUMBER;
        slot->integers_as_floats = kind[0] == 'f';
        return true;
    case 'g':
        slot->kind = GIVEN;
        return true;
    case 'i':
        slot->kind = HELD;
        slot->sampled = is_true(value, str_sampled);
        slot->type = (PyObject *)Py_TYPE(value);
        return true;
    case 'l': /* local memory of this accessor's size */
        slot->kind = LOCAL;
        slot->type = (PyObject *)Py_TYPE(value);
        return true;
    case 't': /* an array of this dtype */
        if ((slot->dtype = PyObject_GetAttr(value, str_dtype)) == NULL ||
            !foreign_type(slot->dtype, &slot->code, &slot->bits))
            return false;
        /* fall through */
    case 'p':
    case 'a':
    case 'h':
        slot->kind = kind[0] == 'p' ? POINTER : kind[0] == 'h' ? HANDLE : ARRAY;
        slot->type = (PyObject *)Py_TYPE(value);
        return true;
    default:
        slot->kind = FIXED;
        slot->value = Py_NewRef(value);
        return true;
    }
}

static PyObject *prepared_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)keywords;
    PyObject *kernel, *space, *bundle, *mark, *lanes, *settle, *refused, *keep, *descriptions, *slots;
    unsigned long long submit;
    if (!PyArg_ParseTuple(arguments, "OOOOO!OOOKO!O!:Prepared", &kernel, &space, &bundle, &mark, &PyTuple_Type, &lanes,
                          &settle, &refused, &keep, &submit, &PyTuple_Type, &descriptions, &PyTuple_Type, &slots))
        return NULL;
    if (!PyType_IsSubtype(Py_TYPE(bundle), (PyTypeObject *)openable_type)) {
        PyErr_SetString(PyExc_TypeError, "bundle: an Openable");
        return NULL;
    }
    Py_ssize_t lane_count = PyTuple_Size(lanes), count = PyTuple_Size(slots);
    if (lane_count < 1 || lane_count > MOST_LANES || PyTuple_Size(descriptions) != lane_count ||
        count > MOST_ARGUMENTS || !PyType_Check(mark) || !PyType_IsSubtype((PyTypeObject *)mark, (PyTypeObject *)mark_type)) {
        PyErr_SetString(PyExc_ValueError, "a prepared launch has 1 to 8 lanes with a description each, and at most 64 arguments");
        return NULL;
    }
    Prepared *self = (Prepared *)make((PyObject *)type);
    if (self == NULL)
        return NULL;
    self->slots = PyMem_Calloc((size_t)count + 1, sizeof(Slot));
    if (self->slots == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < lane_count; i++) {
        PyObject *lane = PyTuple_GetItem(lanes, i);
        unsigned long long address = PyLong_AsUnsignedLongLong(PyTuple_GetItem(descriptions, i));
        if (PyErr_Occurred() || !PyType_IsSubtype(Py_TYPE(lane), (PyTypeObject *)lane_type)) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_TypeError, "lanes are of the type Lane");
            Py_DECREF(self);
            return NULL;
        }
        self->descriptions[i] = (const void *)(uintptr_t)address;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        self->count = (int)i + 1; /* the slot is released with the launch from here on */
        if (!read_slot(PyTuple_GetItem(slots, i), &self->slots[i])) {
            Py_DECREF(self);
            return NULL;
        }
        self->has_memory = self->has_memory || is_held(&self->slots[i]);
        self->has_images = self->has_images || self->slots[i].kind == HELD;
    }
    self->lane_count = (int)lane_count;
    self->batch = -1;
    read_key(kernel, space, count, &self->key);
    Py_XINCREF(self->key.space);
    submit_function function;
    void *address = (void *)(uintptr_t)submit;
    memcpy(&function, &address, sizeof function);
    self->submit = function;
    self->bundle = Py_NewRef(bundle);
    self->mark_type = mark; /* a type of the package: immortal */
    self->lanes = Py_NewRef(lanes);
    self->settle = Py_NewRef(settle);
    self->refused = Py_NewRef(refused);
    self->keep = Py_NewRef(keep);
    return (PyObject *)self;
}

static PyMethodDef prepared_methods[] = {
    {"forget", row_forget, METH_O, "Disables the launch."},
    {NULL, NULL, 0, NULL},
};

OBJECT_TYPE(prepared, Prepared, "Prepared", self->base.forgotten = true, PyMem_Free(self->slots),
            {Py_tp_new, prepared_new}, {Py_tp_methods, prepared_methods}, );
