/* Submission of a prepared command to the driver. */

#include "types.h"

/* Whether the queue is open, and has no wait that its driver does not know. */
static bool takes(const Commands *self)
{
    return !self->closed && has_native(self) && (self->blocker == NULL || self->blocker == Py_None) &&
           self->batch_list != NULL && self->bundles != NULL;
}

static bool is_in_use(const Prepared *command)
{
    return !is_forgotten(&command->base) && command->bundle != NULL && is_open(command->bundle);
}

/* Completes the mark of the last command before the next one, if a reference to it exists: the lane then no longer
   provides its state. */
static int settle(const Prepared *command, Lane *lane)
{
    if (lane->pending == NULL || lane->pending == Py_None || IS_SOLE(lane->pending))
        return DONE;
    if (lane->last_event != 0 || ((PyObject *)Py_TYPE(lane->pending) == command->mark_type &&
                            record_mark(lane, (Mark *)lane->pending) == DONE)) { /* it has its event */
        replace_member((PyObject *)lane, &lane->pending, NULL);
        return DONE;
    }
    PyObject *settled = PyObject_CallFunctionObjArgs(command->settle, (PyObject *)lane, NULL);
    Py_XDECREF(settled);
    return settled == NULL ? FAILED : DONE;
}

/* The mark of the next command of a lane: a new reference. */
static Mark *mark_of(const Prepared *command, Lane *lane)
{
    if (lane->pending != NULL && (PyObject *)Py_TYPE(lane->pending) == command->mark_type)
        return (Mark *)Py_NewRef(lane->pending); /* no reference to the previous command's mark exists: reuse it */
    Mark *mark = (Mark *)make(command->mark_type);
    if (mark != NULL)
        mark->stream = Py_NewRef((PyObject *)lane);
    return mark;
}

/* Raises the exception of a driver's error. */
static int raise_refusal(const Prepared *command, int refusal)
{
    PyObject *raised = PyObject_CallFunction(command->refused, "i", refusal);
    if (raised != NULL) {
        PyErr_Format(PyExc_RuntimeError, "the driver refused a command with %d", refusal);
        Py_DECREF(raised);
    }
    return FAILED;
}

static int order(unsigned long long function, const Lane *lane, uint64_t stream)
{
    order_function order_streams;
    void *address = (void *)(uintptr_t)function;
    memcpy(&order_streams, &address, sizeof order_streams);
    return stream == 0 ? 0 : order_streams((void *)(uintptr_t)lane->order, stream);
}

/* Writes the driver's description and calls the driver; the locks are held. *late: the error of an order with another
 * library's stream, which comes after the command. From takes to the driver's call nothing runs Python code: it might
 * submit the same command, or close the queue. (The set of announce compares queues by identity.)
 *
 * Memory and bundles are looked at after announce. Whoever closes them says so first, and then waits for the queues that
 * are active: it finds this one, and waits for its lock; or announce comes later, and what is closed is seen. */
static int call_driver(Commands *self, const Submission *submission, int turn, Lane *lane, const Waits *waits, int *late)
{
    Prepared *command = submission->command;
    const uint64_t stream = submission->stream;
    int result = OTHERWISE;
    if (takes(self) && (stream == 0 || lane->order != 0))
        result = !announce(self)            ? FAILED
                 : !is_in_use(command)      ? OTHERWISE
                 : submission->fill == NULL ? pack_arguments(self, submission)
                                            : submission->fill(submission->what);
    if (result != DONE)
        return result;
    if (lane->waits != 0)
        memcpy((void *)(uintptr_t)lane->waits, waits, sizeof *waits);
    submit_function submit = command->submit;
    const void *description = command->descriptions[turn];
    int refusal;
    Py_BEGIN_ALLOW_THREADS
    refusal = order(lane->order_after, lane, stream);
    if (refusal == 0)
        refusal = submit(description);
    if (refusal == 0)
        *late = order(lane->order_before, lane, stream);
    Py_END_ALLOW_THREADS
    PUT(self->declined, refusal == IN_PYTHON);
    if (refusal == IN_PYTHON)
        return OTHERWISE;
    return refusal == 0 ? DONE : raise_refusal(command, refusal);
}

/* Submits the command to a lane and returns its event; the locks of queue and lane are held. */
static int submit_to_lane(Commands *self, const Submission *submission, const Waits *waits, int turn, PyObject **event_out)
{
    Prepared *command = submission->command;
    Lane *lane = (Lane *)PyTuple_GetItem(command->lanes, turn);
    Event *event = (Event *)make(self->event_type);
    if (event == NULL)
        return FAILED;
    PyObject *pair = NULL;
    Mark *mark = NULL;
    int result = FAILED, late = 0;
    if (begin_hold(self, submission, (PyObject *)event, &pair) && settle(command, lane) == DONE &&
        (mark = mark_of(command, lane)) != NULL) {
        event->stream = Py_NewRef((PyObject *)self);
        event->native = (PyObject *)mark;
        result = call_driver(self, submission, turn, lane, waits, &late);
    }
    if (result != DONE) {
        Py_XDECREF(pair);
        Py_DECREF(event);
        return result;
    }
    if (lane->last_event != 0)
        own_event(mark, lane);
    PUT(lane->submitted, lane->submitted + 1);
    PUT(mark->index, lane->submitted);
    PUT(lane->used, 1);
    if (lane->pending != (PyObject *)mark)
        replace_member((PyObject *)lane, &lane->pending, Py_NewRef((PyObject *)mark));
    if (end_hold(self, submission, (PyObject *)event, pair) != DONE || (late != 0 && raise_refusal(command, late) != DONE)) {
        Py_DECREF(event);
        return FAILED;
    }
    *event_out = (PyObject *)event;
    return DONE;
}

/* Submits the command to the given lane, or to the next one for -1, under the lane's lock; the queue's lock is held. */
static int submit_locked(Commands *self, const Submission *submission, const Waits *waits, int turn, PyObject **event_out)
{
    const Prepared *command = submission->command;
    if (self->event_type == NULL || command->lanes == NULL)
        return OTHERWISE;
    if (turn < 0)
        turn = command->lane_count == 1 ? 0 : (int)(self->turn++ % (unsigned)command->lane_count);
    PyObject *lock = ((Lane *)PyTuple_GetItem(command->lanes, turn))->lock;
    if (!is_lock(lock))
        return submit_to_lane(self, submission, waits, turn, event_out);
    int result = FAILED;
    Py_INCREF(lock);
    if (take((Lock *)lock)) {
        result = submit_to_lane(self, submission, waits, turn, event_out);
        give_back((Lock *)lock);
    }
    Py_DECREF(lock);
    return result;
}

/* The place among a launch's lanes of the one whose last command a mark belongs to; -1 without one. */
static int lane_after(const Prepared *launch, const Mark *mark)
{
    for (int i = 0; i < launch->lane_count; i++) {
        const Lane *lane = (const Lane *)PyTuple_GetItem(launch->lanes, i);
        if (mark->stream == (PyObject *)lane && LOOK(lane->pending) == (PyObject *)mark)
            return i;
    }
    return -1;
}

/* Adds the driver's event of a mark of this context to the waits, or chooses the lane that the mark is the end of.
 * OTHERWISE where it must be an event, and the lanes have no list of these. */
static int add_mark(const Prepared *launch, Mark *mark, Waits *waits, int *turn)
{
    if (LOOK(mark->number) == 0 && *turn < 0 && (*turn = lane_after(launch, mark)) >= 0)
        return DONE;
    if (*turn >= 0 && mark->stream == PyTuple_GetItem(launch->lanes, *turn))
        return DONE; /* it precedes the end of the lane */
    if (((const Lane *)PyTuple_GetItem(launch->lanes, 0))->waits == 0)
        return OTHERWISE;
    int result = record_for_wait(mark);
    const unsigned long long number = LOOK(mark->number);
    if (result != DONE || number == 0)
        return result; /* with DONE it is complete */
    if (waits->count == MOST_WAITS)
        return OTHERWISE;
    waits->events[waits->count++] = number;
    return DONE;
}

/* DONE if a command can wait for an event without Python; adds the driver's event to the waits if needed. */
static int add_wait(const Commands *self, const Prepared *launch, PyObject *item, Waits *waits, int *turn)
{
    if (item == NULL || (PyObject *)Py_TYPE(item) != self->event_type)
        return OTHERWISE;
    const Event *event = (const Event *)item;
    PyObject *native = LOOK(event->native), *error = LOOK(event->error); /* the caller's event keeps its native one */
    if (native == NULL || native == Py_None || (error != NULL && error != Py_None))
        return OTHERWISE;
    if (event->stream == (PyObject *)self && self->in_order)
        return DONE; /* it precedes the command in any case */
    if ((PyObject *)Py_TYPE(native) != launch->mark_type || event->stream == NULL ||
        !PyType_IsSubtype(Py_TYPE(event->stream), (PyTypeObject *)commands_type))
        return OTHERWISE;
    const Commands *home = (const Commands *)event->stream;
    if (home->context != self->context || !has_native(home))
        return OTHERWISE; /* drivers differ in what they do with events of other contexts */
    return LOOK(event->done) ? DONE : add_mark(launch, (Mark *)native, waits, turn);
}

/* Reads the events that a launch waits for: weak references, which its event keeps, the driver's events, and the lane
 * that follows one of them, or -1. OTHERWISE where Python must act, or a value is wrong. The caller holds the events. */
static int read_waits(const Commands *self, const Prepared *launch, PyObject *events, Waits *waits, int *turn,
                      PyObject **weak)
{
    if (launch->lanes == NULL || !has_native(self))
        return OTHERWISE;
    Py_ssize_t count = PyTuple_Size(events);
    int result = (*weak = PyTuple_New(count)) == NULL ? FAILED : DONE;
    for (Py_ssize_t i = 0; result == DONE && i < count; i++) {
        PyObject *item = PyTuple_GetItem(events, i);
        result = add_wait(self, launch, item, waits, turn);
        PyObject *reference = result == DONE ? PyWeakref_NewRef(item, NULL) : NULL;
        if (result == DONE && reference == NULL)
            result = FAILED;
        if (result == DONE)
            PyTuple_SetItem(*weak, i, reference);
    }
    if (result != DONE)
        Py_CLEAR(*weak);
    return result;
}

/* Like submit, after the reading of arguments, for the caller's events as a tuple that no other code modifies, or NULL. */
static int submit_after(Commands *self, const Submission *submission, PyObject *events, PyObject **event)
{
    PyObject *weak = NULL;
    Waits waits = {0};
    int turn = -1;
    if (events != NULL && PyTuple_Size(events) > 0) {
        int result = read_waits(self, submission->command, events, &waits, &turn, &weak);
        if (result != DONE)
            return result;
    }
    PyObject *lock = self->lock;
    if (!is_lock(lock)) {
        Py_XDECREF(weak);
        return OTHERWISE;
    }
    int result = FAILED;
    Py_INCREF(lock);
    if (take((Lock *)lock)) {
        result = submit_locked(self, submission, &waits, turn, event);
        give_back((Lock *)lock);
    }
    Py_DECREF(lock);
    if (result == DONE && weak != NULL && PyObject_SetAttr(*event, str_waits, weak) < 0) {
        Py_CLEAR(*event);
        result = FAILED;
    }
    Py_XDECREF(weak);
    return result;
}

/* Returns the events to wait for as a tuple; NULL without any. */
static PyObject *events_of(PyObject *depends_on)
{
    if (depends_on == NULL)
        return NULL;
    if (PyTuple_CheckExact(depends_on))
        return Py_NewRef(depends_on);
    return PyList_CheckExact(depends_on) ? PyList_AsTuple(depends_on) : PyTuple_Pack(1, depends_on);
}

/* Like submit, for the caller's events. */
static int read_and_submit(Commands *self, Submission *submission, PyObject *events, PyObject **event)
{
    if (submission->fill != NULL)
        return submit_after(self, submission, events, event);
    Parameter arguments[MOST_ARGUMENTS];
    int result = read_arguments(self, submission, arguments);
    if (result != DONE)
        return result;
    submission->arguments = arguments;
    result = submit_after(self, submission, events, event);
    end_arguments(arguments, submission->command->count);
    return result;
}

int submit(Commands *self, Submission *submission, PyObject **event)
{
    PyObject *command = (PyObject *)submission->command;
    PUT(self->declined, 0);
    Py_INCREF(self); /* other threads and finalizers may run from here on, and drop the command */
    Py_INCREF(command);
    PyObject *events = events_of(submission->depends_on);
    int result = FAILED;
    if (events != NULL || submission->depends_on == NULL)
        result = read_and_submit(self, submission, events, event);
    Py_DECREF(command);
    Py_DECREF(self);
    Py_XDECREF(events);
    return result;
}
