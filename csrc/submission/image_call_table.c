/* ImageCalls: the cache of a queue's prepared device functions, and the call that looks them up. */

#include "image_call.h"

enum { CALL_SETS = 16, CALL_WAYS = 8 };

REFERENCES(image_calls, ImageCalls)
{
    EACH(self->handles);
    EACH(self->report);
    return each_row(&self->table, each, arg);
}

static PyObject *image_calls_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)keywords;
    PyObject *handles, *report;
    Kinds kinds = {NULL, NULL, NULL};
    if (!PyArg_ParseTuple(arguments, "O!O!O!O:ImageCalls", &PyType_Type, &kinds.memory, &PyType_Type, &kinds.host,
                          &PyDict_Type, &handles, &report))
        return NULL;
    ImageCalls *self = (ImageCalls *)new_table(type, CALL_SETS, CALL_WAYS);
    if (self == NULL)
        return NULL;
    self->kinds = kinds;
    self->handles = Py_NewRef(handles);
    self->report = Py_NewRef(report);
    return (PyObject *)self;
}

static uint64_t hash_of_call(const PyObject *function, unsigned long long handle)
{
    return mix((uint64_t)(uintptr_t)function, handle);
}

/* Prepares a call and adds it to the cache; None where C code cannot repeat it. */
static PyObject *image_calls_prepare(ImageCalls *self, PyObject *arguments)
{
    PyObject *head = PyTuple_Pack(1, self), *all = head == NULL ? NULL : PySequence_Concat(head, arguments);
    PyObject *call = all == NULL ? NULL : prepare_image_call(all);
    if (call != NULL && call != Py_None &&
        !add_row(&self->table, (Row *)call, hash_of_call(((ImageCall *)call)->function, ((ImageCall *)call)->handle)))
        Py_CLEAR(call);
    Py_XDECREF(head);
    Py_XDECREF(all);
    return call;
}

/* ---------------------------------------------------------------- the call */

/* A call of a device function, as its arguments are read. */
typedef struct {
    Commands *commands;
    const ImageCalls *calls;
    PyObject *const *arguments;
    unsigned long long handle;
    Argument operands[CALL_ARRAYS];
} DeviceCall;

static int fits_call(Row *what, void *call)
{
    const ImageCall *row = (ImageCall *)what;
    DeviceCall *self = call;
    PyObject *const *arguments = self->arguments;
    if (row->function != arguments[FUNCTION] || row->handle != self->handle ||
        (PyObject *)Py_TYPE(arguments[IMAGE_HANDLE]) != row->handle_type)
        return false;
    int same = 1;
    for (int i = CHANNELS; same == 1 && i < ARGUMENTS; i++)
        same = same_option(row->options[i - CHANNELS], arguments[i]);
    if (same != 1)
        return same;
    for (int i = 0; i < CALL_ARRAYS; i++)
        if (!fits_array(&row->arrays[i], &self->operands[i], &self->calls->kinds, self->commands))
            return false;
    for (int i = 0; i < RESULT && !row->writes; i++)
        if (overlap(&self->operands[i], &self->operands[RESULT]))
            return false;
    return true;
}

/* Replaces the missing array of a result by a new one: DONE, OTHERWISE, or FAILED. The caller owns *new_array. */
static int make_result(const ImageCall *row, Argument operands[CALL_ARRAYS], const ImageCalls *calls, PyObject **new_array)
{
    const CallArray *array = &row->arrays[RESULT];
    if (row->makes == FOREIGN_ARRAY) {
        *new_array = foreign_empty(&operands[0], &array->layout, &operands[RESULT]);
    } else {
        *new_array = PyObject_Call(row->make_result, row->result_arguments, NULL);
        begin_argument(&operands[RESULT], *new_array);
    }
    if (*new_array == NULL)
        return FAILED;
    read_array(&operands[RESULT], true, &calls->kinds);
    return operands[RESULT].kind == row->makes && operands[RESULT].packed &&
                   (operands[RESULT].address & (array->alignment - 1)) == 0
               ? DONE
               : OTHERWISE;
}

int wait_for(PyObject *report, PyObject *event)
{
    PyObject *done = event_wait((Event *)event, NULL, 0, NULL);
    if (done == NULL)
        return FAILED;
    Py_DECREF(done);
    PyObject *error = LOOK(((Event *)event)->error);
    if (error == NULL || error == Py_None)
        return DONE;
    done = PyObject_CallFunctionObjArgs(report, event, NULL);
    Py_XDECREF(done);
    return done == NULL ? FAILED : DONE;
}

/* Submits one call: OTHERWISE where Python must handle it. */
static int run(Commands *commands, const ImageCalls *calls, ImageCall *row, Argument operands[CALL_ARRAYS],
               PyObject *depends_on, PyObject **result)
{
    PyObject *event = NULL, *new_array = NULL;
    const bool makes = row->makes != NO_ARGUMENT && operands[RESULT].value == Py_None;
    int done = makes ? make_result(row, operands, calls, &new_array) : DONE;
    if (done == DONE)
        done = submit_image_call(commands, calls, row, operands, depends_on, &event);
    if (done == DONE && row->waits) {
        done = wait_for(calls->report, event);
        if (done == DONE && row->staging != NULL && LOOK(commands->ended))
            done = require_live(commands); /* exit may have freed the staging memory */
        end_staging(row, operands, done == DONE);
    }
    if (done == DONE && (new_array != NULL || row->waits))
        *result = Py_NewRef(row->writes ? Py_None : operands[RESULT].value);
    else if (done == DONE)
        *result = Py_NewRef(event);
    Py_XDECREF(event);
    if (new_array != NULL) {
        end_argument(&operands[RESULT]);
        begin_argument(&operands[RESULT], Py_None);
        Py_DECREF(new_array);
    }
    return done;
}

/* known: a prepared call fits, whether or not C code could submit it. */
static int call_again(Commands *commands, ImageCalls *calls, PyObject *const *arguments, PyObject *depends_on,
                      bool *is_known, PyObject **result)
{
    PyObject *raw = PyObject_GetAttr(arguments[IMAGE_HANDLE], str_raw_handle);
    unsigned long long handle = raw == NULL ? 0 : PyLong_AsUnsignedLongLong(raw);
    Py_XDECREF(raw);
    if (raw == NULL || PyErr_Occurred()) {
        PyErr_Clear();
        return OTHERWISE;
    }
    DeviceCall call;
    call.commands = commands;
    call.calls = calls;
    call.arguments = arguments;
    call.handle = handle;
    for (int i = 0; i < CALL_ARRAYS; i++)
        begin_argument(&call.operands[i], arguments[COORDS + i]);
    ImageCall *row = (ImageCall *)find_row(&calls->table, hash_of_call(arguments[FUNCTION], handle), fits_call, &call);
    *is_known = row != NULL;
    const int done = row != NULL        ? run(commands, calls, row, call.operands, depends_on, result)
                     : PyErr_Occurred() ? FAILED
                                        : OTHERWISE;
    Py_XDECREF(row);
    for (int i = 0; i < CALL_ARRAYS; i++)
        end_argument(&call.operands[i]);
    return done;
}

/* Commands and ImageCalls of a queue, new references; false without prepared calls. */
static bool calls_of(PyObject *queue, Commands **commands, ImageCalls **calls)
{
    if (!PyType_IsSubtype(Py_TYPE(queue), (PyTypeObject *)submitter_type))
        return false;
    PyObject *stream = ((Submitter *)queue)->stream;
    if (stream == NULL || !PyType_IsSubtype(Py_TYPE(stream), (PyTypeObject *)commands_type))
        return false;
    *calls = (ImageCalls *)member_of(stream, &((Commands *)stream)->image_calls);
    if (*calls == NULL || (PyObject *)Py_TYPE(*calls) != image_calls_type) {
        Py_XDECREF(*calls);
        return false;
    }
    *commands = (Commands *)Py_NewRef(stream);
    return true;
}

/* depends_on without events is NULL. */
static PyObject *events_or_null(PyObject *depends_on)
{
    return PyTuple_CheckExact(depends_on) && PyTuple_Size(depends_on) == 0 ? NULL : depends_on;
}

/* The arguments: a Python function, which handles all cases, and its arguments but for the last one, whether the call
   may be prepared. */
PyObject *device_function(PyObject *module, PyObject *const *arguments, Py_ssize_t count)
{
    (void)module;
    if (count != 1 + ARGUMENTS + 1) {
        PyErr_Format(PyExc_TypeError, "device_function takes %d arguments", 1 + ARGUMENTS + 1);
        return NULL;
    }
    Commands *commands;
    ImageCalls *calls;
    PyObject *result = NULL, *const *of_call = arguments + 1;
    bool is_known = false;
    int done = OTHERWISE;
    if (calls_of(of_call[QUEUE], &commands, &calls)) {
        done = call_again(commands, calls, of_call, events_or_null(of_call[ARGUMENTS]), &is_known, &result);
        Py_DECREF(calls);
        Py_DECREF(commands);
    }
    if (done != OTHERWISE)
        return result;
    PyObject *values = PyTuple_New(ARGUMENTS + 2);
    for (int i = 0; values != NULL && i <= ARGUMENTS; i++)
        PyTuple_SetItem(values, i, Py_NewRef(of_call[i]));
    if (values != NULL)
        PyTuple_SetItem(values, ARGUMENTS + 1, Py_NewRef(is_known ? Py_False : Py_True));
    result = values == NULL ? NULL : PyObject_Call(arguments[0], values, NULL);
    Py_XDECREF(values);
    return result;
}

/* The first submission of a call, with the array of its result: NotImplemented where Python must handle it. */
static PyObject *image_calls_submit(ImageCalls *self, PyObject *arguments)
{
    PyObject *commands, *call, *values, *depends_on, *result = NULL, *of_call[ARGUMENTS];
    if (!PyArg_ParseTuple(arguments, "O!O!O!O:submit", (PyTypeObject *)commands_type, &commands,
                          (PyTypeObject *)image_call_type, &call, &PyTuple_Type, &values, &depends_on))
        return NULL;
    if (PyTuple_Size(values) != ARGUMENTS) {
        PyErr_Format(PyExc_ValueError, "an image call has %d arguments", ARGUMENTS);
        return NULL;
    }
    for (int i = 0; i < ARGUMENTS; i++)
        of_call[i] = PyTuple_GetItem(values, i);
    Argument operands[CALL_ARRAYS];
    for (int i = 0; i < CALL_ARRAYS; i++) {
        begin_argument(&operands[i], of_call[COORDS + i]);
        read_array(&operands[i], i == RESULT && !((ImageCall *)call)->writes, &self->kinds);
    }
    int done = run((Commands *)commands, self, (ImageCall *)call, operands, events_or_null(depends_on), &result);
    for (int i = 0; i < CALL_ARRAYS; i++)
        end_argument(&operands[i]);
    return done == OTHERWISE ? Py_NewRef(Py_NotImplemented) : result;
}

static PyMethodDef image_calls_methods[] = {
    {"submit", (PyCFunction)image_calls_submit, METH_VARARGS, "Submits a call for the first time."},
    {"prepare", (PyCFunction)image_calls_prepare, METH_VARARGS, "Prepares a call; None where it cannot be repeated."},
    {"forget", table_forget, METH_NOARGS, "Empties the cache."},
    {"count", table_count, METH_NOARGS, "The number of cached calls."},
    {NULL, NULL, 0, NULL},
};

OBJECT_TYPE(image_calls, ImageCalls, "ImageCalls", end_table(&self->table), , {Py_tp_new, image_calls_new},
            {Py_tp_methods, image_calls_methods}, );
