/* Copies: the cache of prepared copies of a queue, which ext_oneapi_copy, memcpy and updates of images look up. */

#include "prepared_copy.h"

enum { COPIES = 32, BYTES_OF_USM = USM_OWNER | USM_ADDRESS | USM_PACKED | USM_ACCESS | USM_BYTES };

REFERENCES(copies, Copies)
{
    return each_row(&self->table, each, arg);
}

static PyObject *copies_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)keywords;
    Kinds kinds;
    if (!PyArg_ParseTuple(arguments, "O!O!O!:Copies", &PyType_Type, &kinds.image, &PyType_Type, &kinds.memory,
                          &PyType_Type, &kinds.host))
        return NULL;
    Copies *self = (Copies *)new_table(type, 1, COPIES);
    if (self != NULL)
        self->kinds = kinds;
    return (PyObject *)self;
}

/* remember(copy, levels): levels: it fills all levels of a mipmap. */
static PyObject *copies_remember(Copies *self, PyObject *arguments)
{
    PyObject *copy;
    int levels;
    if (!PyArg_ParseTuple(arguments, "O!p:remember", (PyTypeObject *)copy_type, &copy, &levels))
        return NULL;
    const uint64_t size = ((Copy *)copy)->size;
    if (!add_row(&self->table, (Row *)copy, size > 0 ? COPY_OF_BYTES + size : levels ? COPY_TO_LEVELS : COPY_OF_PIXELS))
        return NULL;
    Py_RETURN_NONE;
}

/* submit(commands, copy, source, destination, depends_on): the event, or None where Python must handle the copy. */
static PyObject *copies_submit(Copies *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 5 || !PyType_IsSubtype(Py_TYPE(arguments[0]), (PyTypeObject *)commands_type) ||
        !PyType_IsSubtype(Py_TYPE(arguments[1]), (PyTypeObject *)copy_type)) {
        PyErr_SetString(PyExc_TypeError, "submit takes Commands, a Copy, its operands and events");
        return NULL;
    }
    Commands *commands = (Commands *)arguments[0];
    Copy *copy = (Copy *)arguments[1];
    CopyCall call;
    call.commands = commands;
    call.size = copy->size;
    PyObject *event = NULL;
    int result = FAILED;
    if (read_operands(arguments[2], arguments[3], &self->kinds, copy->size > 0 ? BYTES_OF_USM : USM_OWNER, call.operands))
        result = (copy->size > 0 ? fits_bytes((Row *)copy, &call) : fits_operands(copy, &call)) ? submit_copy(commands, copy, call.operands, arguments[4], &event) : OTHERWISE;
    end_operands(call.operands);
    if (result == OTHERWISE)
        Py_RETURN_NONE;
    return event;
}

static PyMethodDef copies_methods[] = {
    {"submit", (PyCFunction)(void (*)(void))copies_submit, METH_FASTCALL,
     "Submits a prepared copy; None where Python must handle it."},
    {"remember", (PyCFunction)copies_remember, METH_VARARGS, "Adds a prepared copy to the cache."},
    {"forget", table_forget, METH_NOARGS, "Empties the cache."},
    {"count", table_count, METH_NOARGS, "The number of cached copies."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef copies_members[] = {
    {"declined", T_BOOL, offsetof(Copies, declined), READONLY, NULL},
    {"image", T_OBJECT, offsetof(Copies, kinds.image), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

OBJECT_TYPE(copies, Copies, "Copies", end_table(&self->table), , {Py_tp_new, copies_new}, {Py_tp_members, copies_members},
            {Py_tp_methods, copies_methods}, );

/* ---------------------------------------------------------------- the call */

/* Compares the keywords, except depends_on, with those of a copy, in its order. */
static int has_keywords(const Copy *copy, const CopyCall *call)
{
    Py_ssize_t count = call->names == NULL ? 0 : PyTuple_Size(call->names);
    int same = count - (call->waits_at >= 0) == PyTuple_Size(copy->names);
    for (Py_ssize_t i = 0, at = 0; same == 1 && i < count; i++) {
        if (i == call->waits_at)
            continue;
        same = PyTuple_GetItem(call->names, i) == PyTuple_GetItem(copy->names, at)
                   ? same_option(call->values[i], PyTuple_GetItem(copy->values, at))
                   : 0;
        at++;
    }
    return same;
}

static int fits_copy(Row *row, void *call)
{
    return fits_operands((Copy *)row, call) ? has_keywords((Copy *)row, call) : 0;
}

static int copy_again(Commands *commands, Copies *copies, PyObject *const *arguments, PyObject *names, PyObject **event)
{
    CopyCall call;
    call.commands = commands;
    call.names = names;
    call.values = arguments + 2;
    call.waits_at = -1;
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_Size(names); i++)
        if (PyTuple_GetItem(names, i) == str_depends_on)
            call.waits_at = i;
    PUT(copies->declined, false);
    int result = FAILED;
    if (read_operands(arguments[0], arguments[1], &copies->kinds, USM_OWNER, call.operands)) {
        Copy *copy = (Copy *)find_row(&copies->table, COPY_OF_PIXELS, fits_copy, &call);
        if (copy != NULL)
            result = submit_copy(commands, copy, call.operands,
                                 call.waits_at < 0 ? NULL : call.values[call.waits_at], event);
        else if (!PyErr_Occurred())
            result = OTHERWISE;
        PUT(copies->declined, copy != NULL && result == OTHERWISE);
        Py_XDECREF(copy);
    }
    end_operands(call.operands);
    return result;
}

/* A new reference to the queue's prepared copies; NULL without. */
static PyObject *copies_of(Commands *commands)
{
    PyObject *copies = member_of((PyObject *)commands, &commands->copies);
    if (copies != NULL && (PyObject *)Py_TYPE(copies) != copies_type)
        Py_CLEAR(copies);
    return copies;
}

PyObject *submitter_copy(Submitter *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    if (count == 2 && self->stream != NULL && PyType_IsSubtype(Py_TYPE(self->stream), (PyTypeObject *)commands_type)) {
        Commands *commands = (Commands *)self->stream;
        PyObject *copies = copies_of(commands), *event = NULL;
        if (copies != NULL) {
            Py_INCREF(commands);
            int result = copy_again(commands, (Copies *)copies, arguments, names, &event);
            Py_DECREF(copies);
            Py_DECREF(commands);
            if (result != OTHERWISE)
                return event;
        }
    }
    return call_any((PyObject *)self, str_copy_any, arguments, count, names);
}

/* ---------------------------------------------------------------- copies of bytes */

/* The bytes of a copy: those of the source where None says that both sides have as many. False where Python must say. */
static bool read_size(PyObject *count, const Argument operands[2], uint64_t *size)
{
    *size = operands[0].bytes;
    if (count == Py_None)
        return operands[0].bytes == operands[1].bytes;
    *size = PyLong_CheckExact(count) ? PyLong_AsUnsignedLongLong(count) : 0;
    return *size > 0 && !PyErr_Occurred();
}

static int copy_bytes_again(Commands *commands, Copies *copies, PyObject *const *arguments, PyObject **event)
{
    CopyCall call = {.commands = commands, .waits_at = -1};
    int result = FAILED;
    PUT(copies->declined, false);
    if (read_operands(arguments[0], arguments[1], &copies->kinds, BYTES_OF_USM, call.operands)) {
        result = OTHERWISE;
        Copy *copy = NULL;
        if (read_size(arguments[2], call.operands, &call.size))
            copy = (Copy *)find_row(&copies->table, COPY_OF_BYTES + call.size, fits_bytes, &call);
        if (copy != NULL)
            result = submit_copy(commands, copy, call.operands, arguments[3], event);
        PUT(copies->declined, copy != NULL && result == OTHERWISE);
        Py_XDECREF(copy);
    }
    if (result == OTHERWISE)
        PyErr_Clear(); /* Python says what is wrong with the number of bytes */
    end_operands(call.operands);
    return result;
}

/* copy_bytes(source, destination, nbytes, depends_on): the event, or None where Python must handle the copy. */
PyObject *commands_copy_bytes(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 4) {
        PyErr_SetString(PyExc_TypeError, "copy_bytes takes two operands, a number of bytes and events");
        return NULL;
    }
    PyObject *copies = copies_of((Commands *)self), *event = NULL;
    if (copies == NULL)
        Py_RETURN_NONE;
    const int result = copy_bytes_again((Commands *)self, (Copies *)copies, arguments, &event);
    Py_DECREF(copies);
    return result == OTHERWISE ? Py_NewRef(Py_None) : event;
}

/* ---------------------------------------------------------------- uploads of images */

/* What is done with pixels of the host: nothing, or the wait for the copy, or the copy of a copy. */
typedef enum { LEAVE, AWAIT, DUPLICATE } HostPixels;

typedef struct {
    PyObject *array, *image, *shape;
    int code, bits, host, levels;
    PyObject *pinned; /* a list of pinned arrays for copies, or None */
} Upload;

/* free_item(list): an item that nothing else refers to, or None. Between this question and the new reference no other
 * thread runs; in a free-threaded Python only the thread that made an item finds it free. */
PyObject *free_item(PyObject *module, PyObject *list)
{
    (void)module;
    PyObject *free = NULL;
    BEGIN_LIST(list); /* no item leaves between the two looks */
    const Py_ssize_t count = PyList_Check(list) ? PyList_Size(list) : 0;
    for (Py_ssize_t i = 0; free == NULL && i < count; i++)
        if (IS_SOLE(PyList_GetItem(list, i)))
            free = Py_NewRef(PyList_GetItem(list, i));
    END_LIST();
    return free == NULL ? Py_NewRef(Py_None) : free;
}

/* Whether the array has the shape and the type of the image's pixels. */
static bool has_pixels(const Upload *upload, Argument *array)
{
    if (array->kind == USM_ARRAY) {
        int code = -1, bits = 0;
        if (!foreign_type(array->format, &code, &bits))
            return false;
        array->layout.type = (DLDataType){code < 0 ? 0 : (uint8_t)code, code < 0 ? 0 : (uint8_t)bits, 1};
    } else if (array->kind != HOST_ARRAY && array->kind != FOREIGN_ARRAY) {
        return false;
    }
    return has_dlpack_type(array, upload->code, upload->bits) && has_shape(&array->layout, upload->shape);
}

/* Copies an array of the host to bytes: a new reference. */
static PyObject *copy_to_bytes(Argument *array)
{
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)(uintptr_t)array->address, (Py_ssize_t)array->bytes);
    if (bytes != NULL)
        array->address = (uint64_t)(uintptr_t)PyBytes_AsString(bytes);
    return bytes;
}

/* Copies an array of the host to a pinned array: a new reference; NULL without a free one. */
static PyObject *copy_to_pinned(const Commands *commands, const Kinds *kinds, PyObject *pinned, Argument *array)
{
    PyObject *item = free_item(NULL, pinned);
    Argument target;
    begin_argument(&target, item);
    if (item == Py_None || read_argument(&target, kinds, true, 0) != DONE || target.kind != HOST_ARRAY ||
        target.bytes != array->bytes || LOOK(commands->ended)) { /* the end of the interpreter frees pinned memory */
        PyErr_Clear();
        Py_CLEAR(item);
    } else {
        memcpy((void *)(uintptr_t)target.address, (const void *)(uintptr_t)array->address, (size_t)array->bytes);
        array->address = target.address;
    }
    end_argument(&target);
    return item;
}

/* Replaces an array of the host by a copy, which is a new reference. */
static PyObject *duplicate(const Commands *commands, const Kinds *kinds, PyObject *pinned, Argument *array)
{
    PyObject *own = copy_to_pinned(commands, kinds, pinned, array);
    if (own == NULL)
        own = copy_to_bytes(array);
    if (own != NULL)
        array->value = own;
    return own;
}

static int wait_for_upload(PyObject *event)
{
    PyObject *done = event_wait((Event *)event, NULL, 0, NULL);
    Py_XDECREF(done);
    return done == NULL ? FAILED : DONE;
}

/* Submits the prepared copy of an upload whose operands are read. */
static int submit_upload(Commands *commands, const Kinds *kinds, const Upload *upload, Copy *copy, Argument operands[2],
                         PyObject **event)
{
    const bool on_host = is_on_host(&operands[0]);
    PyObject *own = NULL;
    if (on_host && (upload->host == LEAVE || !operands[0].packed))
        return OTHERWISE;
    if (on_host && upload->host == DUPLICATE &&
        (own = duplicate(commands, kinds, upload->pinned, &operands[0])) == NULL)
        return FAILED;
    int result = submit_copy(commands, copy, operands, NULL, event);
    if (result == DONE && on_host) {
        if (own == NULL)
            result = wait_for_upload(*event);
        Py_DECREF(*event);
        *event = result == DONE ? Py_NewRef(Py_True) : NULL;
    }
    Py_XDECREF(own);
    return result;
}

static int upload_again(Commands *commands, const Copies *copies, const Upload *upload, PyObject **event)
{
    CopyCall call = {.commands = commands, .waits_at = -1};
    Argument *array = &call.operands[0], *image = &call.operands[1];
    begin_argument(array, upload->array);
    begin_argument(image, upload->image);
    int result = OTHERWISE;
    if (read_argument(array, &copies->kinds, false, USM_ALL) == DONE && has_pixels(upload, array) &&
        read_argument(image, &copies->kinds, true, USM_OWNER) == DONE) {
        Copy *copy = (Copy *)find_row(&copies->table, upload->levels ? COPY_TO_LEVELS : COPY_OF_PIXELS, fits_copy, &call);
        if (copy != NULL)
            result = submit_upload(commands, &copies->kinds, upload, copy, call.operands, event);
        Py_XDECREF(copy);
    }
    if (result == OTHERWISE && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))
        result = FAILED;
    if (result == OTHERWISE)
        PyErr_Clear(); /* Python says what is wrong with the array */
    end_operands(call.operands);
    return result;
}

/* upload(array, image, shape, code, bits, host, levels, pinned): the event of a prepared copy of an array of this shape and type
 * into an image, or all levels of a mipmap; True where the pixels of the host have been read; None where Python must handle the copy. */
PyObject *commands_upload(PyObject *self, PyObject *arguments)
{
    Upload upload;
    if (!PyArg_ParseTuple(arguments, "OOO!iiipO:upload", &upload.array, &upload.image, &PyTuple_Type, &upload.shape,
                          &upload.code, &upload.bits, &upload.host, &upload.levels, &upload.pinned))
        return NULL;
    PyObject *copies = copies_of((Commands *)self), *event = NULL;
    if (copies == NULL)
        Py_RETURN_NONE;
    const int result = upload_again((Commands *)self, (const Copies *)copies, &upload, &event);
    Py_DECREF(copies);
    return result == OTHERWISE ? Py_NewRef(Py_None) : event;
}
