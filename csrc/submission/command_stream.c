/* Commands: the submitted commands of a queue, and the cache of launches prepared for it. */

#include "prepared_copy.h"

REFERENCES(commands, Commands)
{
    EACH(self->native);
    EACH(self->blocker);
    EACH(self->context);
    EACH(self->bundles);
    EACH(self->last_bundle);
    EACH(self->event_type);
    EACH(self->lock);
    EACH(self->batch_list);
    EACH(self->copies);
    EACH(self->image_calls);
    EACH(self->lanes);
    EACH(self->active);
    EACH(self->held);
    EACH(self->tasks);
    EACH(self->outside_waits);
    EACH(self->doubtful);
    EACH(self->handles);
    EACH(self->device);
    return each_row(&self->launches, each, arg);
}

static PyMemberDef commands_members[] = {
    {"native", T_OBJECT, offsetof(Commands, native), 0, NULL},
    {"blocker", T_OBJECT, offsetof(Commands, blocker), 0, NULL},
    {"context", T_OBJECT, offsetof(Commands, context), 0, NULL},
    {"bundles", T_OBJECT, offsetof(Commands, bundles), 0, NULL},
    {"_last_bundle", T_OBJECT, offsetof(Commands, last_bundle), 0, NULL},
    {"_event", T_OBJECT, offsetof(Commands, event_type), 0, NULL},
    {"lock", T_OBJECT, offsetof(Commands, lock), 0, NULL},
    {"_batch", T_OBJECT, offsetof(Commands, batch_list), 0, NULL},
    {"copies", T_OBJECT, offsetof(Commands, copies), 0, NULL},
    {"image_calls", T_OBJECT, offsetof(Commands, image_calls), 0, NULL},
    {"_lanes", T_OBJECT, offsetof(Commands, lanes), 0, NULL},
    {"_active", T_OBJECT, offsetof(Commands, active), 0, NULL},
    {"_held", T_OBJECT, offsetof(Commands, held), 0, NULL},
    {"_doubtful", T_OBJECT, offsetof(Commands, doubtful), 0, NULL},
    {"tasks", T_OBJECT, offsetof(Commands, tasks), 0, NULL},
    {"outside", T_OBJECT, offsetof(Commands, outside_waits), 0, NULL},
    {"_handles", T_OBJECT, offsetof(Commands, handles), 0, NULL},
    {"device", T_OBJECT, offsetof(Commands, device), 0, NULL},
    {"declined", T_BOOL, offsetof(Commands, declined), READONLY, NULL},
    {"ended", T_BOOL, offsetof(Commands, ended), 0, NULL},
    {"_dlpack_type", T_INT, offsetof(Commands, dlpack_type), 0, NULL},
    {"_dlpack_id", T_INT, offsetof(Commands, dlpack_id), 0, NULL},
    {"_dlpack_alone", T_BOOL, offsetof(Commands, dlpack_alone), 0, NULL},
    {"batch", T_LONGLONG, offsetof(Commands, batch), 0, NULL},
    {"_countdown", T_LONGLONG, offsetof(Commands, countdown), 0, NULL},
    {"closed", T_BOOL, offsetof(Commands, closed), 0, NULL},
    {"_dirty", T_BOOL, offsetof(Commands, dirty), 0, NULL},
    {"in_order", T_BOOL, offsetof(Commands, in_order), 0, NULL},
    {"_in_batches", T_BOOL, offsetof(Commands, in_batches), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef commands_properties[] = {
    {"waiters", (getter)commands_waiters, NULL, "The number of threads that ask the driver.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* ---------------------------------------------------------------- prepared launches */

enum { LAUNCH_SETS = 16, LAUNCH_WAYS = 4 };

static PyObject *commands_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)arguments, (void)keywords;
    return new_table(type, LAUNCH_SETS, LAUNCH_WAYS);
}

static uint64_t hash_of_launch(const LaunchKey *key)
{
    uint64_t hash = mix((uint64_t)(uintptr_t)key->kernel, (uint64_t)key->count << 4 | (unsigned)key->dimensions);
    if (key->dimensions == 0)
        return mix(hash, (uint64_t)(uintptr_t)key->space);
    for (int i = 0; i < 3; i++)
        hash = mix(hash, (uint64_t)key->sizes[i] * 31 + (uint64_t)key->sizes[i + 3] * 37 + (uint64_t)key->sizes[i + 6] * 41);
    return hash;
}

static int is_launch(Row *row, void *call)
{
    const LaunchKey *mine = &((Prepared *)row)->key, *key = call;
    return mine->kernel == key->kernel && mine->count == key->count && mine->dimensions == key->dimensions &&
           mine->space == key->space && memcmp(mine->sizes, key->sizes, sizeof mine->sizes) == 0;
}

Prepared *find_launch(const Commands *self, PyObject *kernel, PyObject *space, Py_ssize_t count)
{
    LaunchKey key;
    read_key(kernel, space, count, &key);
    return (Prepared *)find_row(&self->launches, hash_of_launch(&key), is_launch, &key);
}

static PyObject *commands_find(Commands *self, PyObject *const *call, Py_ssize_t count)
{
    if (count != 3) {
        PyErr_SetString(PyExc_TypeError, "find takes a kernel, a range and a number of arguments");
        return NULL;
    }
    Py_ssize_t arguments = PyLong_AsSsize_t(call[2]);
    if (PyErr_Occurred())
        return NULL;
    PyObject *row = (PyObject *)find_launch(self, call[0], call[1], arguments);
    return row == NULL ? Py_NewRef(Py_None) : row;
}

/* Adds a launch in place of the one with its key. */
static PyObject *commands_remember(Commands *self, PyObject *launch)
{
    if (!PyType_IsSubtype(Py_TYPE(launch), (PyTypeObject *)prepared_type)) {
        PyErr_SetString(PyExc_TypeError, "remember takes a Prepared");
        return NULL;
    }
    LaunchKey *key = &((Prepared *)launch)->key;
    const uint64_t hash = hash_of_launch(key);
    Row *before = find_row(&self->launches, hash, is_launch, key);
    if (before != NULL)
        drop_row(before);
    Py_XDECREF(before);
    if (!watch((Row *)launch, key->kernel) || !add_row(&self->launches, (Row *)launch, hash))
        return NULL;
    Py_RETURN_NONE;
}

/* submit_prepared(command, values, depends_on=(), keep=()): the event, or None where Python must handle the command. */
static PyObject *commands_submit_prepared(Commands *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count < 2 || count > 4 || !PyType_IsSubtype(Py_TYPE(arguments[0]), (PyTypeObject *)prepared_type) ||
        !PyTuple_Check(arguments[1]) || (count > 3 && !PyTuple_Check(arguments[3])) ||
        PyTuple_Size(arguments[1]) != ((Prepared *)arguments[0])->count) {
        PyErr_SetString(PyExc_TypeError, "submit_prepared takes a Prepared, its arguments, events and a tuple of objects");
        return NULL;
    }
    PyObject *values[MOST_ARGUMENTS], *objects[MOST_OBJECTS], *event = NULL;
    Submission submission = {.command = (Prepared *)arguments[0], .values = values, .packed = true, .objects = objects,
                             .depends_on = count > 2 ? arguments[2] : NULL};
    for (Py_ssize_t i = 0; i < PyTuple_Size(arguments[1]); i++)
        values[i] = PyTuple_GetItem(arguments[1], i);
    if (count > 3 && PyTuple_Size(arguments[3]) > MOST_OBJECTS)
        objects[submission.object_count++] = arguments[3];
    else if (count > 3)
        while (submission.object_count < PyTuple_Size(arguments[3])) {
            objects[submission.object_count] = PyTuple_GetItem(arguments[3], submission.object_count);
            submission.object_count++;
        }
    if (submit(self, &submission, &event) == OTHERWISE)
        Py_RETURN_NONE;
    return event;
}

/* ---------------------------------------------------------------- pending commands */

bool announce(Commands *self)
{
    if (self->dirty || self->active == NULL)
        return true;
    PUT(self->dirty, 1);
    return PySet_Add(self->active, (PyObject *)self) == 0;
}

/* Returns whether all submitted commands are complete: a lane that counts its commands needs no driver call. The
 * lock is held, but other threads may run meanwhile. */
static bool is_idle(const Commands *self)
{
    PyObject *lanes = self->lanes;
    if (lanes == NULL || !PyTuple_Check(lanes))
        return false;
    bool idle = true;
    Py_INCREF(lanes);
    for (Py_ssize_t i = 0; idle && i < PyTuple_Size(lanes); i++) {
        const Lane *lane = (const Lane *)PyTuple_GetItem(lanes, i);
        idle = PyType_IsSubtype(Py_TYPE(lane), (PyTypeObject *)lane_type) &&
               (lane->last_event == 0 ? LOOK(lane->done) >= LOOK(lane->submitted) : lane->wait != 0 && ask(lane, 1) == 0);
    }
    Py_DECREF(lanes);
    return idle;
}

/* A new container of the type of one that is not empty; NULL for an empty one, and with an exception. */
static PyObject *new_like(PyObject *container)
{
    if (container == NULL || PyObject_Size(container) == 0)
        return NULL;
    return PyObject_CallObject((PyObject *)Py_TYPE(container), NULL);
}

static void exchange(PyObject **a, PyObject **b)
{
    PyObject *before = *a;
    if (*b != NULL) {
        PUT(*a, *b);
        *b = before;
    }
}

/* The lock is held, and the driver has said that all commands are complete. Lets go of what they used: DONE, or
 * OTHERWISE if a finalizer has submitted a command since restart, which the answer may not cover. */
static int release_all(Commands *self)
{
    enum { HELD_PAIRS, BATCH, BUNDLES, DOUBTFUL, OUTSIDE, CONTAINERS };
    PyObject **places[CONTAINERS] = {&self->held, &self->batch_list, &self->bundles, &self->doubtful,
                                     &self->outside_waits};
    PyObject *fresh[CONTAINERS];
    for (int i = 0; i < CONTAINERS; i++)
        fresh[i] = PyErr_Occurred() ? NULL : new_like(*places[i]);
    int result = PyErr_Occurred() ? FAILED : OTHERWISE;
    /* Nothing allocates from here to the last exchange. */
    if (result != FAILED && self->countdown == REAP_EVERY && self->last_bundle == NULL) {
        result = DONE;
        for (int i = 0; i < OUTSIDE; i++)
            exchange(places[i], &fresh[i]);
        PUT(self->batch, self->batch + 1);
        if (self->tasks == NULL || PyObject_Size(self->tasks) == 0) {
            exchange(places[OUTSIDE], &fresh[OUTSIDE]);
            PUT(self->dirty, 0);
            if (self->active != NULL && PySet_Discard(self->active, (PyObject *)self) < 0)
                result = FAILED;
        }
    }
    for (int i = 0; i < CONTAINERS; i++) /* last: destructors may submit to this queue */
        Py_XDECREF(fresh[i]);
    return result;
}

/* Begins to look for completed commands. Later, a command that a finalizer submits is noticed by what it changes. */
static void restart(Commands *self)
{
    self->countdown = REAP_EVERY;
    replace_member((PyObject *)self, &self->last_bundle, NULL);
}

static PyObject *commands_restart(Commands *self, PyObject *unused)
{
    (void)unused;
    restart(self);
    Py_RETURN_NONE;
}

static PyObject *commands_release_all(Commands *self, PyObject *unused)
{
    (void)unused;
    int result = release_all(self);
    return result == FAILED ? NULL : PyBool_FromLong(result == DONE);
}

/* The lock is held. */
static int reap_locked(Commands *self)
{
    if (!has_native(self))
        return DONE; /* the queue has ended */
    if (((Lock *)self->lock)->depth > 1)
        return DONE; /* this thread is in the middle of another call, perhaps a submission: see _reap */
    if (self->closed)
        return OTHERWISE;
    restart(self);
    return is_idle(self) ? release_all(self) : OTHERWISE;
}

int reap(Commands *self)
{
    PyObject *lock = self->lock;
    if (!LOOK(self->dirty))
        return DONE;
    if (!is_lock(lock))
        return OTHERWISE;
    int result = FAILED;
    Py_INCREF(self);
    Py_INCREF(lock);
    if (take((Lock *)lock)) {
        result = reap_locked(self);
        give_back((Lock *)lock);
    }
    Py_DECREF(lock);
    Py_DECREF(self);
    return result;
}

static PyMethodDef commands_methods[] = {
    {"submit_prepared", (PyCFunction)(void (*)(void))commands_submit_prepared, METH_FASTCALL,
     "Submits a prepared command: arguments, events to wait for, objects to keep; None where Python must handle it."},
    {"took", (PyCFunction)(void (*)(void))commands_took, METH_FASTCALL,
     "Accounts for a command that Python has submitted: event, and a tuple of the objects that it uses."},
    {"ask", (PyCFunction)(void (*)(void))commands_ask, METH_FASTCALL,
     "Calls a function that asks the driver, with arguments; the native queue is not released meanwhile."},
    {"find", (PyCFunction)(void (*)(void))commands_find, METH_FASTCALL,
     "The prepared launch of a kernel over a range, with a number of arguments; None without one."},
    {"layout_of_foreign", commands_layout_of_foreign, METH_O,
     "Shape, code and bits of another library's packed array on the queue's device; None for any other value."},
    {"copy_bytes", (PyCFunction)(void (*)(void))commands_copy_bytes, METH_FASTCALL,
     "Submits the prepared copy of bytes; None without one."},
    {"upload", commands_upload, METH_VARARGS, "Submits the prepared copy of an array into an image; None without one."},
    {"place_of_foreign", commands_place_of_foreign, METH_VARARGS,
     "The address of another library's packed array on the queue's device, of a shape and type; or None."},
    {"place_apart", commands_place_apart, METH_VARARGS,
     "The address of such an array that may be written and shares no memory with others; or None."},
    {"remember", (PyCFunction)commands_remember, METH_O, "Adds a prepared launch to the cache."},
    {"forget_launches", table_forget, METH_NOARGS, "Empties the cache of prepared launches."},
    {"wait_shortly", (PyCFunction)commands_wait_shortly, METH_NOARGS,
     "Waits for all commands, and lets go of what they used; False where Python must do that."},
    {"restart", (PyCFunction)commands_restart, METH_NOARGS, "Begins to look for completed commands; the lock is held."},
    {"release_all", (PyCFunction)commands_release_all, METH_NOARGS,
     "Lets go of what commands used, all of which are complete; False if others were submitted since restart."},
    {"count_launches", table_count, METH_NOARGS, "The number of cached launches."},
    {NULL, NULL, 0, NULL},
};

OBJECT_TYPE(commands, Commands, "Commands", end_table(&self->launches), , {Py_tp_new, commands_new},
            {Py_tp_members, commands_members}, {Py_tp_getset, commands_properties}, {Py_tp_methods, commands_methods}, );
