/* PictureCalls: the pictures of one image that come again, and the call that looks them up. */

#include "picture_call.h"

enum { PICTURE_SETS = 4, PICTURE_WAYS = 8 };

REFERENCES(picture_calls, PictureCalls)
{
    EACH(self->commands);
    EACH(self->images);
    EACH(self->report);
    EACH(self->convert);
    return each_row(&self->table, each, arg);
}

static PyObject *picture_calls_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)keywords;
    PyObject *commands, *images, *report, *convert;
    Kinds kinds = {NULL, NULL, NULL};
    if (!PyArg_ParseTuple(arguments, "O!O!O!O!OO:PictureCalls", (PyTypeObject *)commands_type, &commands, &PyType_Type,
                          &kinds.memory, &PyType_Type, &kinds.host, &PyDict_Type, &images, &report, &convert))
        return NULL;
    PictureCalls *self = (PictureCalls *)new_table(type, PICTURE_SETS, PICTURE_WAYS);
    if (self == NULL)
        return NULL;
    self->kinds = kinds;
    self->commands = Py_NewRef(commands);
    self->images = Py_NewRef(images);
    self->report = Py_NewRef(report);
    self->convert = Py_NewRef(convert);
    return (PyObject *)self;
}

/* Hash of a method and a shape: false where the shape is not made of exact integers, whose comparison runs no code. */
static bool hash_of_picture(long method, PyObject *shape, uint64_t *hash)
{
    *hash = mix(UINT64_C(7), (uint64_t)method);
    if (shape == Py_None)
        return true;
    const Py_ssize_t count = PyTuple_CheckExact(shape) ? PyTuple_Size(shape) : 1;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *size = PyTuple_CheckExact(shape) ? PyTuple_GetItem(shape, i) : shape;
        int overflow;
        if (!PyLong_CheckExact(size))
            return false;
        *hash = mix(*hash, (uint64_t)PyLong_AsLongLongAndOverflow(size, &overflow));
    }
    return true;
}

/* add(...): adds a picture; False where C code cannot repeat it. The arguments are those of set_picture. */
static PyObject *picture_calls_add(PictureCalls *self, PyObject *arguments)
{
    uint64_t hash;
    PyObject *row = prepare_picture(self, arguments);
    if (row == NULL)
        return NULL;
    const bool adds = row != Py_None && hash_of_picture(((Picture *)row)->method, ((Picture *)row)->shape, &hash);
    const bool done = !adds || add_row(&self->table, (Row *)row, hash);
    Py_DECREF(row);
    return done ? PyBool_FromLong(adds) : NULL;
}

/* Whether all commands of a picture are in use: others leave with the row. */
static bool is_live(Picture *row)
{
    bool live = true;
    for (Py_ssize_t i = 0; live && i < PyTuple_Size(row->steps); i++)
        live = !is_forgotten(&((Prepared *)PyTuple_GetItem(PyTuple_GetItem(row->steps, i), 0))->base);
    if (!live)
        drop_row(&row->base);
    return live;
}

static int repeat(PictureCalls *self, PictureCall *call, PyObject **result)
{
    uint64_t hash;
    if (!hash_of_picture(call->method, call->shape, &hash))
        return OTHERWISE;
    Picture *row = (Picture *)find_row(&self->table, hash, fits_picture, call);
    if (row == NULL)
        return PyErr_Occurred() ? FAILED : OTHERWISE;
    call->declined = is_live(row);
    const int done = call->declined ? submit_picture(self, row, call, result) : OTHERWISE;
    Py_DECREF(row);
    return done;
}

/* repeat(method, matrix, shape, vectors, out): the picture; None where Python must make it. */
static PyObject *picture_calls_repeat(PictureCalls *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 5) {
        PyErr_SetString(PyExc_TypeError, "repeat takes a method, a matrix, a shape, vectors and an array");
        return NULL;
    }
    PictureCall call = {.calls = self, .method = PyLong_AsLong(arguments[0]), .matrix = arguments[1], .shape = arguments[2]};
    PyObject *result = NULL;
    if (PyErr_Occurred())
        return NULL;
    PUT(self->declined, false);
    if (LOOK(self->table.rows) == NULL)
        Py_RETURN_NONE;
    begin_argument(&call.vectors, arguments[3]);
    begin_argument(&call.out, arguments[4]);
    Py_INCREF(self);
    const int done = repeat(self, &call, &result);
    PUT(self->declined, done == OTHERWISE && call.declined);
    end_argument(&call.vectors);
    end_argument(&call.out);
    if (call.maps != call.one)
        PyMem_Free(call.maps);
    Py_DECREF(self);
    return done == OTHERWISE ? Py_NewRef(Py_None) : result;
}

static PyMemberDef picture_calls_members[] = {
    {"declined", T_BOOL, offsetof(PictureCalls, declined), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyMethodDef picture_calls_methods[] = {
    {"repeat", (PyCFunction)(void (*)(void))picture_calls_repeat, METH_FASTCALL,
     "repeat(method, matrix, shape, vectors, out): the picture of a prepared call; None for all others."},
    {"add", (PyCFunction)picture_calls_add, METH_VARARGS, "Adds a picture; False where C code cannot repeat it."},
    {"forget", table_forget, METH_NOARGS, "Forgets all pictures."},
    {"count", table_count, METH_NOARGS, "The number of pictures."},
    {NULL, NULL, 0, NULL},
};

OBJECT_TYPE(picture_calls, PictureCalls, "PictureCalls", end_table(&self->table), , {Py_tp_new, picture_calls_new},
            {Py_tp_members, picture_calls_members}, {Py_tp_methods, picture_calls_methods}, );
