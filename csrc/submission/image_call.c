/* ImageCall: a prepared device function, and its submission to the driver. */

#include "image_call.h"

static PyObject *str_held, *str_memory; /* attributes of the image's record */

bool name_record(void)
{
    static const Name names[] = {{&str_held, "_held"}, {&str_memory, "memory"}};
    return INTERN(names);
}

REFERENCES(image_call, ImageCall)
{
    EACH_WATCH(&self->base);
    EACH(self->key);
    EACH(self->function);
    for (int i = 0; i < ARGUMENTS - CHANNELS; i++)
        EACH(self->options[i]);
    for (int i = 0; i < CALL_ARRAYS; i++) {
        EACH(self->arrays[i].number);
        EACH(self->arrays[i].dtype);
    }
    EACH(self->make_result);
    EACH(self->result_arguments);
    EACH(self->command);
    EACH(self->staging);
    return 0;
}

/* The result of a call that makes its array; NO_ARGUMENT with a place stands for it. */
static bool read_result(ImageCall *self, const ImageCalls *calls, PyObject *result)
{
    CallArray *array = &self->arrays[RESULT];
    Argument operand;
    begin_argument(&operand, result);
    read_array(&operand, true, &calls->kinds);
    bool done = set_array(array, &operand, true);
    self->makes = operand.kind;
    array->kind = NO_ARGUMENT;
    end_argument(&operand);
    return done;
}

/* Reads the arrays; false where C code cannot repeat the call. addresses: those of the prepared call. */
static bool read_arrays(ImageCall *self, const ImageCalls *calls, PyObject *arguments, PyObject *result,
                        PyObject *places, PyObject *addresses)
{
    for (int i = 0; i < CALL_ARRAYS; i++) {
        PyObject *place = PyTuple_GetItem(places, i);
        bool written = i == RESULT && !self->writes;
        self->arrays[i].staged = self->staging != NULL;
        self->arrays[i].place =
            place == Py_None ? NULL : (unsigned char *)(uintptr_t)PyLong_AsUnsignedLongLong(place);
        unsigned long long address = PyLong_AsUnsignedLongLong(PyTuple_GetItem(addresses, i));
        if (PyErr_Occurred())
            return false;
        if (written && result != Py_None) {
            if (!read_result(self, calls, result))
                return false;
            continue;
        }
        Argument operand;
        begin_argument(&operand, PyTuple_GetItem(arguments, COORDS + i));
        read_array(&operand, written, &calls->kinds);
        bool set = set_array(&self->arrays[i], &operand, written) && operand.address == address; /* not of a copy */
        end_argument(&operand);
        if (!set)
            return false;
    }
    return true;
}

/* Reads all members; OTHERWISE where C code cannot repeat the call. */
static int set_call(ImageCall *self, PyObject *arguments)
{
    PyObject *calls, *call_arguments, *result, *addresses, *image, *key, *places, *make_result, *result_arguments, *command;
    PyObject *staging, *staged;
    int writes, waits;
    if (!PyArg_ParseTuple(arguments, "O!O!OO!OO!O!ppOO!O!OO!:prepare", (PyTypeObject *)image_calls_type, &calls,
                          &PyTuple_Type, &call_arguments, &result, &PyTuple_Type, &addresses, &image, &PyLong_Type, &key,
                          &PyTuple_Type, &places, &writes, &waits, &make_result, &PyTuple_Type, &result_arguments,
                          (PyTypeObject *)prepared_type, &command, &staging, &PyTuple_Type, &staged))
        return FAILED;
    if (PyTuple_Size(call_arguments) != ARGUMENTS || PyTuple_Size(places) != CALL_ARRAYS ||
        PyTuple_Size(addresses) != CALL_ARRAYS || PyTuple_Size(staged) != CALL_ARRAYS) {
        PyErr_Format(PyExc_ValueError, "an image call has %d arguments and %d places", ARGUMENTS, CALL_ARRAYS);
        return FAILED;
    }
    unsigned long long number = PyLong_AsUnsignedLongLong(key);
    if (PyErr_Occurred())
        return FAILED;
    self->makes = NO_ARGUMENT;
    self->writes = writes;
    self->waits = waits;
    self->handle = number >> 1; /* see handle_key in Python */
    self->key = Py_NewRef(key);
    self->function = Py_NewRef(PyTuple_GetItem(call_arguments, FUNCTION));
    self->handle_type = (PyObject *)Py_TYPE(PyTuple_GetItem(call_arguments, IMAGE_HANDLE));
    self->command = Py_NewRef(command);
    for (int i = CHANNELS; i < ARGUMENTS; i++)
        self->options[i - CHANNELS] = Py_NewRef(PyTuple_GetItem(call_arguments, i));
    self->make_result = Py_NewRef(make_result);
    self->result_arguments = Py_NewRef(result_arguments);
    if (staging != Py_None)
        self->staging = Py_NewRef(staging);
    for (int i = 0; i < CALL_ARRAYS; i++)
        self->staged[i] = (unsigned char *)(uintptr_t)PyLong_AsUnsignedLongLong(PyTuple_GetItem(staged, i));
    if (PyErr_Occurred())
        return FAILED;
    if (!read_arrays(self, (ImageCalls *)calls, call_arguments, result, places, addresses))
        return PyErr_Occurred() ? FAILED : OTHERWISE;
    self->image = image;
    return watch(&self->base, image) ? DONE : FAILED;
}

PyObject *prepare_image_call(PyObject *arguments)
{
    ImageCall *self = (ImageCall *)make(image_call_type);
    int result = self == NULL ? FAILED : set_call(self, arguments);
    if (result == DONE)
        return (PyObject *)self;
    Py_XDECREF(self);
    return result == OTHERWISE ? Py_NewRef(Py_None) : NULL;
}

static PyMethodDef image_call_methods[] = {
    {"forget", row_forget, METH_O, "Disables the prepared call."},
    {NULL, NULL, 0, NULL},
};

OBJECT_TYPE(image_call, ImageCall, "ImageCall", self->base.forgotten = true, , {Py_tp_methods, image_call_methods}, );

/* ---------------------------------------------------------------- submission */

typedef struct {
    const ImageCalls *calls;
    const ImageCall *call;
    Argument *operands;
    PyObject *image, *memory; /* owned */
    bool took_staging;
} Filling;

/* Finds the image and its memory: new references; OTHERWISE if the handle is destroyed. */
static int find_image(const ImageCalls *calls, const ImageCall *call, PyObject **image, PyObject **memory)
{
    PyObject *record = dict_item(calls->handles, call->key);
    if (record == NULL)
        return PyErr_Occurred() ? FAILED : OTHERWISE;
    *image = PyObject_GetAttr(record, str_held);
    *memory = *image == NULL ? NULL : PyObject_GetAttr(record, str_memory);
    Py_DECREF(record);
    if (is_forgotten(&call->base))
        return PyErr_Occurred() ? FAILED : OTHERWISE;
    if (*memory == NULL)
        return FAILED;
    return *image == call->image ? DONE : OTHERWISE;
}

/* Writes the address of an array into the driver's description; OTHERWISE if the memory is freed. */
static int put_array(const CallArray *array, const Argument *operands)
{
    if (array->kind == USM_ARRAY && !is_open(operands->owner))
        return OTHERWISE;
    memcpy(array->place, &operands->address, sizeof operands->address);
    return DONE;
}

/* Copies what the command reads to the staging memory; OTHERWISE while another command uses that. */
static int fill_staging(Filling *filling)
{
    ImageCall *call = (ImageCall *)filling->call;
    if (LOOK(call->busy))
        return OTHERWISE;
    filling->took_staging = true;
    PUT(call->busy, true);
    for (int i = 0; i < CALL_ARRAYS; i++)
        if (call->staged[i] != NULL && (i != RESULT || call->writes))
            memcpy(call->staged[i], (const void *)(uintptr_t)filling->operands[i].address, (size_t)filling->operands[i].bytes);
    return DONE;
}

void end_staging(ImageCall *call, const Argument operands[CALL_ARRAYS], bool done)
{
    if (call->staging == NULL)
        return;
    if (!done) /* the command may still run */
        PUT(call->base.forgotten, true);
    else if (!call->writes)
        memcpy((void *)(uintptr_t)operands[RESULT].address, call->staged[RESULT], (size_t)operands[RESULT].bytes);
    PUT(call->busy, !done);
}

/* The queue's lock is held. Another thread may have destroyed the image since it was found. */
static int fill(const void *what)
{
    const Filling *filling = what;
    PyObject *image = NULL, *memory = NULL;
    int result = find_image(filling->calls, filling->call, &image, &memory);
    Py_XDECREF(image);
    Py_XDECREF(memory);
    if (filling->call->staging != NULL)
        return result == DONE ? fill_staging((Filling *)what) : result;
    for (int i = 0; i < CALL_ARRAYS && result == DONE; i++)
        if (filling->call->arrays[i].place != NULL)
            result = put_array(&filling->call->arrays[i], &filling->operands[i]);
    return result;
}

/* A batch holds the arrays: fits_array need not read them again. */
static void note_arrays(const void *what, long long batch)
{
    const Filling *filling = what;
    ImageCall *call = (ImageCall *)filling->call;
    for (int i = 0; i < CALL_ARRAYS; i++) {
        CallArray *array = &call->arrays[i];
        const Argument *operands = &filling->operands[i];
        if (array->place == NULL)
            continue;
        array->held = operands->value;
        array->owner = operands->owner;
        array->address = operands->address;
        array->batch = batch;
    }
}

int submit_image_call(Commands *commands, const ImageCalls *calls, ImageCall *call, Argument operands[CALL_ARRAYS],
                      PyObject *depends_on, PyObject **event)
{
    Filling filling = {calls, call, operands, NULL, NULL, false};
    /* The staging memory is filled now: nothing that comes before the command may write the arrays. */
    if (call->staging != NULL && (depends_on != NULL || (commands->in_order && commands->dirty)))
        return OTHERWISE;
    Py_INCREF(calls); /* other threads may run while this thread waits for the lock or is in the driver */
    Py_INCREF(call);
    uint64_t stream = 0;
    int result = stream_of_arrays(operands, CALL_ARRAYS, &stream);
    if (result == DONE)
        result = find_image(calls, call, &filling.image, &filling.memory);
    if (result == DONE) {
        PyObject *objects[2 + CALL_ARRAYS] = {filling.image, filling.memory};
        Submission submission = {.command = (Prepared *)call->command, .fill = fill, .what = &filling, .objects = objects,
                                 .object_count = 2, .held = call->staging == NULL ? note_arrays : NULL,
                                 .depends_on = depends_on, .stream = stream};
        if (call->staging != NULL)
            objects[submission.object_count++] = call->staging;
        for (int i = 0; i < CALL_ARRAYS && call->staging == NULL; i++)
            if (call->arrays[i].place != NULL) {
                objects[submission.object_count++] = operands[i].value;
                submission.weight += (long long)(operands[i].bytes >> 20);
            }
        result = submit(commands, &submission, event);
        if (result != DONE && filling.took_staging)
            PUT(call->busy, false);
    }
    Py_XDECREF(filling.image);
    Py_XDECREF(filling.memory);
    Py_DECREF(call);
    Py_DECREF(calls);
    return result;
}
