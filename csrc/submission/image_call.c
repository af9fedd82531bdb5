/* ImageCall: a prepared device function, and its submission to the driver. */

#include "image_call.h"

static PyObject *str_held, *str_memory; /* attributes of the image's record */

static bool name_record(void)
{
    return (str_held != NULL || (str_held = PyUnicode_InternFromString("_held")) != NULL) &&
           (str_memory != NULL || (str_memory = PyUnicode_InternFromString("memory")) != NULL);
}

static int image_call_traverse(ImageCall *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->watch);
    Py_VISIT(self->function);
    for (int i = 0; i < ARGUMENTS - CHANNELS; i++)
        Py_VISIT(self->options[i]);
    Py_VISIT(self->make_result);
    Py_VISIT(self->result_arguments);
    for (int i = 0; i < CALL_ARRAYS; i++) {
        Py_VISIT(self->arrays[i].number);
        Py_VISIT(self->arrays[i].dtype);
    }
    Py_VISIT(self->command);
    return 0;
}

static int image_call_clear(ImageCall *self)
{
    self->forgotten = true;
    Py_CLEAR(self->watch);
    Py_CLEAR(self->key);
    Py_CLEAR(self->function);
    for (int i = 0; i < ARGUMENTS - CHANNELS; i++)
        Py_CLEAR(self->options[i]);
    Py_CLEAR(self->make_result);
    Py_CLEAR(self->result_arguments);
    for (int i = 0; i < CALL_ARRAYS; i++) {
        Py_CLEAR(self->arrays[i].number);
        Py_CLEAR(self->arrays[i].dtype);
    }
    Py_CLEAR(self->command);
    return 0;
}

static void image_call_dealloc(ImageCall *self)
{
    PyObject_GC_UnTrack(self);
    image_call_clear(self);
    finish((PyObject *)self);
}

static PyObject *image_call_forget(ImageCall *self, PyObject *unused)
{
    (void)unused;
    self->forgotten = true;
    Py_RETURN_NONE;
}

bool is_same_option(PyObject *a, PyObject *b)
{
    if (a == b)
        return true;
    if (Py_TYPE(a) != Py_TYPE(b) || PyType_IsSubtype(Py_TYPE(a), &PyType_Type))
        return false;
    int same = PyObject_RichCompareBool(a, b, Py_EQ); /* ints, floats, strings and dtypes: see image_call_new */
    PyErr_Clear();
    return same == 1;
}

static bool watch_image(ImageCall *self, PyObject *image)
{
    PyObject *forget = PyObject_GetAttrString((PyObject *)self, "forget");
    self->image = image;
    self->watch = forget == NULL ? NULL : PyWeakref_NewRef(image, forget);
    Py_XDECREF(forget);
    return self->watch != NULL;
}

static bool read_places(ImageCall *self, const ImageCalls *calls, PyObject *arguments, PyObject *places)
{
    self->waits = false;
    for (int i = 0; i < CALL_ARRAYS; i++) {
        PyObject *at = PyTuple_GetItem(places, i);
        unsigned long long place = at == Py_None ? 0 : PyLong_AsUnsignedLongLong(at);
        if (PyErr_Occurred())
            return false;
        GivenArray given;
        begin_array(&given, PyTuple_GetItem(arguments, COORDS + i));
        read_array(&given, calls);
        bool set = set_array(&self->arrays[i], &given, (unsigned char *)(uintptr_t)place, i == RESULT && !self->writes);
        self->waits = self->waits || given.kind == HOST_ARRAY;
        end_array(&given);
        if (!set) {
            PyErr_SetString(PyExc_ValueError, "an array of the call cannot be prepared");
            return false;
        }
    }
    return true;
}

static PyObject *image_call_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)keywords;
    PyObject *calls, *given, *image, *key, *places, *make_result, *result_arguments, *command;
    int writes;
    if (!PyArg_ParseTuple(arguments, "O!O!OO!O!pOO!O!:ImageCall", (PyTypeObject *)image_calls_type, &calls,
                          &PyTuple_Type, &given, &image, &PyLong_Type, &key, &PyTuple_Type, &places, &writes,
                          &make_result, &PyTuple_Type, &result_arguments, (PyTypeObject *)prepared_type, &command))
        return NULL;
    if (PyTuple_Size(given) != ARGUMENTS || PyTuple_Size(places) != CALL_ARRAYS) {
        PyErr_Format(PyExc_ValueError, "an image call has %d arguments and %d places", ARGUMENTS, CALL_ARRAYS);
        return NULL;
    }
    unsigned long long number = PyLong_AsUnsignedLongLong(key);
    ImageCall *self = PyErr_Occurred() ? NULL : (ImageCall *)make((PyObject *)type);
    if (self == NULL)
        return NULL;
    self->image_batch = -1;
    self->writes = writes;
    self->handle = number >> 1; /* see handle_key in Python */
    self->key = Py_NewRef(key);
    self->function = Py_NewRef(PyTuple_GetItem(given, FUNCTION));
    self->handle_type = (PyObject *)Py_TYPE(PyTuple_GetItem(given, IMAGE_HANDLE));
    self->command = Py_NewRef(command);
    for (int i = CHANNELS; i < ARGUMENTS; i++)
        self->options[i - CHANNELS] = Py_NewRef(PyTuple_GetItem(given, i));
    if (make_result != Py_None) {
        self->make_result = Py_NewRef(make_result);
        self->result_arguments = Py_NewRef(result_arguments);
    }
    if (!name_record() || !read_places(self, (ImageCalls *)calls, given, places) || !watch_image(self, image)) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static PyMethodDef image_call_methods[] = {
    {"forget", (PyCFunction)image_call_forget, METH_O, "Disables the prepared call."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef image_call_members[] = {{NULL, 0, 0, 0, NULL}};

SLOTS(image_call, image_call_members, {Py_tp_new, image_call_new}, {Py_tp_methods, image_call_methods}, )
SPEC(image_call, ImageCall, "ImageCall")

/* ---------------------------------------------------------------- submission, with the queue's lock held */

typedef struct {
    Commands *commands;
    const ImageCalls *calls;
    ImageCall *call;
    GivenArray *given;
    PyObject *image, *memory; /* owned */
} Filling;

/* Finds the image; OTHERWISE if its handle is destroyed. */
static int find_image(Filling *filling)
{
    PyObject *record = PyDict_GetItemWithError(filling->calls->handles, filling->call->key);
    if (record == NULL || filling->call->forgotten)
        return PyErr_Occurred() ? FAILED : OTHERWISE;
    filling->image = PyObject_GetAttr(record, str_held);
    filling->memory = filling->image == NULL ? NULL : PyObject_GetAttr(record, str_memory);
    if (filling->memory == NULL)
        return FAILED;
    return filling->image == filling->call->image ? DONE : OTHERWISE;
}

/* Writes the address of an array into the driver's description; OTHERWISE if the memory is freed. */
static int put_array(const CallArray *array, const GivenArray *given)
{
    if (given->owner != NULL && !((const Openable *)given->owner)->open)
        return OTHERWISE;
    memcpy(array->place, &given->address, sizeof given->address);
    return DONE;
}

/* Makes the batch hold the image and the arrays until the command is complete. */
static int hold(Filling *filling)
{
    Commands *commands = filling->commands;
    ImageCall *call = filling->call;
    if (call->image_batch != commands->batch) {
        if (PyList_Append(commands->batch_list, filling->image) < 0 ||
            PyList_Append(commands->batch_list, filling->memory) < 0)
            return FAILED;
        call->image_batch = commands->batch;
        commands->countdown--;
    }
    for (int i = 0; i < CALL_ARRAYS; i++) {
        CallArray *array = &call->arrays[i];
        const GivenArray *given = &filling->given[i];
        if (array->place == NULL)
            continue;
        if (array->held != given->value || array->batch != commands->batch) {
            if (PyList_Append(commands->batch_list, given->value) < 0)
                return FAILED;
            commands->countdown -= 1 + (long long)(given->bytes >> 20); /* large host arrays are released sooner */
        }
        array->held = given->value;
        array->owner = given->owner;
        array->address = given->address;
        array->batch = commands->batch;
    }
    return DONE;
}

static int fill(const void *what)
{
    Filling *filling = (Filling *)what;
    int result = find_image(filling);
    for (int i = 0; i < CALL_ARRAYS && result == DONE; i++)
        if (filling->call->arrays[i].place != NULL)
            result = put_array(&filling->call->arrays[i], &filling->given[i]);
    return result == DONE && filling->commands->in_batches ? hold(filling) : result;
}

/* Makes the event hold the image and the arrays, in queues without batches. */
static int hold_by_event(const Filling *filling, PyObject *event, PyObject *keep)
{
    PyTuple_SetItem(keep, 0, Py_NewRef(filling->image));
    PyTuple_SetItem(keep, 1, Py_NewRef(filling->memory));
    for (int i = 0; i < CALL_ARRAYS; i++)
        PyTuple_SetItem(keep, 2 + i, Py_NewRef(filling->given[i].value));
    PyObject *done = PyObject_CallMethodObjArgs((PyObject *)filling->commands, str_took, event, keep, NULL);
    Py_XDECREF(done);
    return done == NULL ? FAILED : DONE;
}

static int submit_locked(Filling *filling, PyObject *depends_on, PyObject **event)
{
    PyObject *keep = filling->commands->in_batches ? NULL : PyTuple_New(2 + CALL_ARRAYS);
    if (keep == NULL && !filling->commands->in_batches)
        return FAILED;
    int result = submit(filling->commands, (Prepared *)filling->call->command, NULL, fill, filling, depends_on, event);
    if (result == DONE && keep != NULL && hold_by_event(filling, *event, keep) != DONE) {
        Py_CLEAR(*event);
        result = FAILED;
    }
    Py_XDECREF(keep);
    return result;
}

int submit_image_call(Commands *commands, const ImageCalls *calls, ImageCall *call, GivenArray given[CALL_ARRAYS],
                      PyObject *depends_on, PyObject **event)
{
    PyObject *lock = commands->lock;
    if (lock == NULL || (PyObject *)Py_TYPE(lock) != lock_type)
        return OTHERWISE;
    Filling filling = {commands, calls, call, given, NULL, NULL};
    int result = FAILED;
    Py_INCREF(commands); /* other threads may run while this thread waits for the lock or is in the driver */
    Py_INCREF(calls);
    Py_INCREF(call);
    Py_INCREF(lock);
    if (take((Lock *)lock)) {
        result = call->forgotten ? OTHERWISE : submit_locked(&filling, depends_on, event);
        give_back((Lock *)lock);
    }
    Py_XDECREF(filling.image);
    Py_XDECREF(filling.memory);
    Py_DECREF(lock);
    Py_DECREF(call);
    Py_DECREF(calls);
    Py_DECREF(commands);
    return result;
}
