/* Event.wait and Queue.wait: short waits for the last command of a lane, and release of its objects, without Python. */

#include "types.h"

/* Polls between two signal checks, and number of checks: about a millisecond. Then Python continues, with pauses. */
enum { QUESTIONS = 128, LOOKS = 16 };

int ask(const Lane *lane, int questions)
{
    wait_function wait;
    void *address = (void *)(uintptr_t)lane->wait;
    const void *what = (const void *)(uintptr_t)lane->driver_stream;
    memcpy(&wait, &address, sizeof wait);
    int result;
    Py_BEGIN_ALLOW_THREADS
    result = wait(what, questions);
    Py_END_ALLOW_THREADS
    return result;
}

/* Notes that the commands up to an index are complete; another thread may have noted more. */
static void reach(Lane *lane, long long index)
{
#ifdef Py_GIL_DISABLED
    long long before = LOOK(lane->done);
    while (index > before && !__atomic_compare_exchange_n(&lane->done, &before, index, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        ;
#else
    if (index > lane->done)
        lane->done = index;
#endif
}

/* DONE if the event is known to be complete; OTHERWISE where Python must check. */
static int settle_mark(Event *self, Mark *mark, Lane *lane)
{
    for (int look = 0; look < LOOKS; look++) {
        const long long index = LOOK(mark->index); /* without another reference, a later command may reuse the mark */
        if (index <= LOOK(lane->done)) {
            PUT(self->done, 1);
            return DONE;
        }
        PyObject *native = LOOK(mark->native);
        if (lane->wait == 0 || LOOK(lane->pending) != (PyObject *)mark || (native != NULL && native != Py_None))
            break;
        int result = ask(lane, QUESTIONS);
        if (result == 0) {
            reach(lane, index);
        } else if (result != NOT_READY) {
            break;
        } else if (PyErr_CheckSignals() < 0) {
            return FAILED;
        }
    }
    return OTHERWISE;
}

/* Like settle_mark, for a command with a driver event: one query, since a wait inside the driver may help. */
static int look_at(Event *self, const Mark *mark, const Lane *lane)
{
    query_function query;
    void *address = (void *)(uintptr_t)lane->query, *event = (void *)(uintptr_t)LOOK(mark->number);
    memcpy(&query, &address, sizeof query);
    int result = NOT_READY;
    Py_BEGIN_ALLOW_THREADS
    if (query != NULL)
        result = query(event);
    Py_END_ALLOW_THREADS
    if (result == 0)
        PUT(self->done, 1);
    return result == 0 ? DONE : OTHERWISE;
}

int require_live(const Commands *self)
{
    PyObject *live = PyObject_GetAttr((PyObject *)self, str_live);
    if (live != NULL)
        PyErr_SetString(PyExc_RuntimeError, "the queue ended, and has its native queue");
    Py_XDECREF(live);
    return FAILED;
}

/* Begins a question to the driver: whether the queue has its native one, and keeps it until end_question. Who releases the
 * native queue takes it from the queue first, and then counts the threads that ask. */
static bool begin_question(Commands *self)
{
    BEGIN_GUARD(self->guard);
    self->waiters++;
    END_GUARD(self->guard);
    return has_native(self);
}

PyObject *commands_waiters(Commands *self, void *unused)
{
    (void)unused;
    BEGIN_GUARD(self->guard);
    const long long waiters = self->waiters;
    END_GUARD(self->guard);
    return PyLong_FromLongLong(waiters);
}

/* Ends a question to the driver: if the queue was closed meanwhile, the last thread that asks releases the native queue.
 * Keeps the exception of the question. */
static int end_question(Commands *self)
{
    BEGIN_GUARD(self->guard);
    const bool releases = --self->waiters == 0 && !LOOK(self->ended) && !has_native(self);
    END_GUARD(self->guard);
    if (!releases)
        return DONE;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *done = PyObject_CallMethodObjArgs((PyObject *)self, str_close_native, NULL);
    Py_XDECREF(done);
    if (type != NULL)
        PyErr_Restore(type, value, trace);
    return done == NULL ? FAILED : DONE;
}

PyObject *commands_ask(Commands *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count < 1) {
        PyErr_SetString(PyExc_TypeError, "ask takes a function and its arguments");
        return NULL;
    }
    if (LOOK(self->ended)) {
        require_live(self);
        return NULL;
    }
    PyObject *rest = PyTuple_New(count - 1), *result = NULL;
    if (rest == NULL)
        return NULL;
    for (Py_ssize_t i = 1; i < count; i++)
        PyTuple_SetItem(rest, i - 1, Py_NewRef(arguments[i]));
    Py_INCREF(self);
    (void)begin_question(self); /* the function looks for the native queue itself */
    result = PyObject_Call(arguments[0], rest, NULL);
    if (end_question(self) != DONE)
        Py_CLEAR(result);
    Py_DECREF(self);
    Py_DECREF(rest);
    return result;
}

/* The event belongs to a command that the driver has received. */
static int settle(Event *self, Commands *commands)
{
    if (LOOK(self->done))
        return DONE;
    PyObject *task = LOOK(self->task);
    Mark *mark = (Mark *)LOOK(self->native); /* once it is set, the event keeps it */
    if ((task != NULL && task != Py_None) || !PyType_IsSubtype(Py_TYPE(mark), (PyTypeObject *)mark_type))
        return OTHERWISE;
    if (mark->stream == NULL || !PyType_IsSubtype(Py_TYPE(mark->stream), (PyTypeObject *)lane_type))
        return OTHERWISE;
    Lane *lane = (Lane *)mark->stream;
    Py_INCREF(mark);
    Py_INCREF(lane);
    Py_INCREF(commands);
    int result = !begin_question(commands)  ? OTHERWISE
                 : LOOK(mark->number) != 0 ? look_at(self, mark, lane)
                                           : settle_mark(self, mark, lane);
    if (end_question(commands) != DONE)
        result = FAILED;
    Py_DECREF(commands);
    Py_DECREF(lane);
    Py_DECREF(mark);
    return result;
}

/* Lets go of what completed commands used. A signal that came during the wait is handled before: the handler would
 * otherwise run in a destructor, which loses its exception. */
static int let_go(Commands *commands)
{
    return PyErr_CheckSignals() < 0 ? FAILED : reap(commands);
}

PyObject *event_wait(Event *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    PyObject *native = LOOK(self->native), *error;
    if (count == 0 && names == NULL && native != NULL && native != Py_None && self->stream != NULL &&
        PyType_IsSubtype(Py_TYPE(self->stream), (PyTypeObject *)commands_type)) {
        Commands *commands = (Commands *)self->stream;
        int result = settle(self, commands);
        if (result == DONE)
            result = let_go(commands);
        if (result == FAILED)
            return NULL;
        error = LOOK(self->error);
        if (result == DONE && (error == NULL || error == Py_None))
            Py_RETURN_NONE;
    }
    return call_any((PyObject *)self, str_wait_any, arguments, count, names);
}

/* Waits shortly for all commands of a lane that counts them. It asks the driver in any case: the device may be lost. */
static int settle_lane(Lane *lane)
{
    const long long index = LOOK(lane->submitted);
    for (int look = 0; look < LOOKS; look++) {
        const int result = ask(lane, QUESTIONS);
        if (result == 0) {
            reach(lane, index);
            return DONE;
        }
        if (result != NOT_READY)
            break;
        if (PyErr_CheckSignals() < 0)
            return FAILED;
    }
    return OTHERWISE;
}

/* Waits shortly for all lanes. OTHERWISE where a lane counts no commands, or another library submits to it too. */
static int settle_lanes(PyObject *lanes)
{
    int result = lanes != NULL && PyTuple_Check(lanes) ? DONE : OTHERWISE;
    for (Py_ssize_t i = 0; result == DONE && i < PyTuple_Size(lanes); i++) {
        Lane *lane = (Lane *)PyTuple_GetItem(lanes, i);
        const bool counts = PyType_IsSubtype(Py_TYPE(lane), (PyTypeObject *)lane_type) && lane->last_event == 0 && lane->wait != 0;
        result = counts ? settle_lane(lane) : OTHERWISE;
    }
    return result;
}

/* wait_shortly(): waits for all commands, and lets go of what they used; False where Python must do that. */
PyObject *commands_wait_shortly(Commands *self, PyObject *unused)
{
    (void)unused;
    PyObject *tasks = member_of((PyObject *)self, &self->tasks);
    const bool has_tasks = tasks != NULL && PyObject_Size(tasks) != 0;
    Py_XDECREF(tasks);
    if (LOOK(self->closed) || LOOK(self->ended) || has_tasks)
        Py_RETURN_FALSE;
    Py_INCREF(self);
    int result = OTHERWISE;
    PyObject *lanes = NULL;
    if (begin_question(self)) {
        lanes = member_of((PyObject *)self, &self->lanes);
        result = settle_lanes(lanes);
    }
    if (end_question(self) != DONE)
        result = FAILED;
    if (result == DONE)
        result = let_go(self);
    Py_DECREF(self);
    Py_XDECREF(lanes);
    return result == FAILED ? NULL : PyBool_FromLong(result == DONE);
}
