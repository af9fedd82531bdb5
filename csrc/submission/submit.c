/* Submission of a prepared launch to the driver. */

#include "types.h"

/* Accounts for a submitted command: holds its memory until it is complete. The lock is held. */
static int account(Commands *self, Prepared *launch, PyObject *event, PyObject *const *values)
{
    if (launch->bundle != self->last_bundle) {
        if (PySet_Add(self->bundles, launch->bundle) < 0)
            return FAILED;
        PyObject *before = self->last_bundle;
        self->last_bundle = Py_NewRef(launch->bundle);
        Py_XDECREF(before);
    }
    PyObject *keep = NULL;
    if (launch->has_memory && !self->in_batches && (keep = PyTuple_New(launch->count)) == NULL)
        return FAILED;
    bool more = false;
    for (int i = 0; launch->has_memory && i < launch->count; i++) {
        Slot *slot = &launch->slots[i];
        if (keep != NULL) {
            PyTuple_SetItem(keep, i, Py_NewRef(is_memory(slot) ? values[i] : Py_None));
        } else if (is_memory(slot) && slot->batch != self->batch) {
            if (PyList_Append(self->batch_list, values[i]) < 0)
                return FAILED;
            slot->batch = self->batch;
            more = true;
        }
    }
    if (keep == NULL && self->countdown > 0) {
        /* A batch without objects needs no check; repeated launches count less, because they hold nothing new. */
        if (more || (PyList_Size(self->batch_list) > 0 && ++self->repeats % REPEATS_FOR_ONE == 0))
            self->countdown--;
        return DONE;
    }
    if (keep == NULL)
        keep = PyTuple_New(0);
    PyObject *done = keep == NULL ? NULL : PyObject_CallMethodObjArgs((PyObject *)self, str_took, event, keep, NULL);
    Py_XDECREF(keep);
    Py_XDECREF(done);
    return done == NULL ? FAILED : DONE;
}

bool takes_commands(const Commands *self)
{
    return !self->closed && self->native != NULL && self->native != Py_None &&
           (self->blocker == NULL || self->blocker == Py_None) && self->batch_list != NULL && self->bundles != NULL;
}

/* Completes the mark of the last command before the next one, if a reference to it exists: the lane then no longer
   provides its state. */
static int settle(const Prepared *launch, Lane *lane)
{
    if (lane->pending == NULL || lane->pending == Py_None || Py_REFCNT(lane->pending) == 1)
        return DONE;
    if (lane->made != 0) { /* it already has its event */
        Py_CLEAR(lane->pending);
        return DONE;
    }
    PyObject *settled = PyObject_CallFunctionObjArgs(launch->settle, (PyObject *)lane, NULL);
    Py_XDECREF(settled);
    return settled == NULL ? FAILED : DONE;
}

/* Submits the command to a lane and returns its event; the locks of queue and lane are held. */
static int submit_to_lane(Commands *self, Prepared *launch, PyObject *const *values, fill_function fill,
                          const void *what, const Waits *waits, int turn, PyObject **given)
{
    Lane *lane = (Lane *)PyTuple_GetItem(launch->lanes, turn);
    Event *event = (Event *)make(self->event_type);
    if (event == NULL)
        return FAILED;
    if (settle(launch, lane) != DONE) {
        Py_DECREF(event);
        return FAILED;
    }
    Mark *mark;
    if (lane->pending != NULL && (PyObject *)Py_TYPE(lane->pending) == launch->mark_type) {
        mark = (Mark *)Py_NewRef(lane->pending); /* no reference to the previous command's mark exists: reuse it */
    } else {
        mark = (Mark *)make(launch->mark_type);
        if (mark == NULL) {
            Py_DECREF(event);
            return FAILED;
        }
        mark->stream = Py_NewRef((PyObject *)lane);
    }
    event->stream = Py_NewRef((PyObject *)self);
    event->native = (PyObject *)mark;
    /* The last step: the code above may collect garbage, whose finalizers may submit the same launch or close the
       queue. */
    int result = OTHERWISE;
    if (takes_commands(self) && launch->kernel != NULL)
        result = !announce(self) ? FAILED : fill == NULL ? put_arguments(self, launch, values) : fill(what);
    if (result != DONE) {
        Py_DECREF(event);
        return result;
    }
    if (lane->waits != 0)
        memcpy((void *)(uintptr_t)lane->waits, waits, sizeof *waits);
    submit_function submit = launch->submit;
    const void *description = launch->descriptions[turn];
    int refusal;
    Py_BEGIN_ALLOW_THREADS
    refusal = submit(description);
    Py_END_ALLOW_THREADS
    if (refusal == IN_PYTHON) {
        Py_DECREF(event);
        return OTHERWISE;
    }
    if (refusal != 0) {
        Py_DECREF(event);
        PyObject *raised = PyObject_CallFunction(launch->refused, "i", refusal);
        if (raised != NULL) {
            PyErr_Format(PyExc_RuntimeError, "the driver refused a launch with %d", refusal);
            Py_DECREF(raised);
        }
        return FAILED;
    }
    if (lane->made != 0)
        own_event(mark, lane);
    mark->index = ++lane->submitted;
    lane->used = 1;
    if (lane->pending != (PyObject *)mark) {
        PyObject *before = lane->pending;
        lane->pending = Py_NewRef((PyObject *)mark);
        Py_XDECREF(before);
    }
    if (account(self, launch, (PyObject *)event, values) != DONE) {
        Py_DECREF(event);
        return FAILED;
    }
    *given = (PyObject *)event;
    return DONE;
}

/* Submits the command to the next lane, under the lane's lock; the queue's lock is held. */
static int submit_locked(Commands *self, Prepared *launch, PyObject *const *values, fill_function fill, const void *what,
                         const Waits *waits, PyObject **given)
{
    if (self->event_type == NULL || launch->lanes == NULL)
        return OTHERWISE;
    int turn = launch->lane_count == 1 ? 0 : (int)(self->turn++ % (unsigned)launch->lane_count);
    PyObject *lock = ((Lane *)PyTuple_GetItem(launch->lanes, turn))->lock;
    if (lock == NULL || (PyObject *)Py_TYPE(lock) != lock_type)
        return submit_to_lane(self, launch, values, fill, what, waits, turn, given);
    int result = FAILED;
    Py_INCREF(lock);
    if (take((Lock *)lock)) {
        result = submit_to_lane(self, launch, values, fill, what, waits, turn, given);
        give_back((Lock *)lock);
    }
    Py_DECREF(lock);
    return result;
}

/* Returns whether a command can wait for an event without Python; adds the driver's event to the waits if needed. */
static bool add_wait(const Commands *self, const Prepared *launch, PyObject *item, Waits *waits)
{
    if (item == NULL || (PyObject *)Py_TYPE(item) != self->event_type)
        return false;
    const Event *event = (const Event *)item;
    if (event->native == NULL || event->native == Py_None || (event->error != NULL && event->error != Py_None))
        return false;
    if (event->stream == (PyObject *)self && self->in_order)
        return true; /* it precedes the command in any case */
    const Lane *lane = (const Lane *)PyTuple_GetItem(launch->lanes, 0);
    const Mark *mark = (const Mark *)event->native;
    if (lane->waits == 0 || (PyObject *)Py_TYPE(event->native) != launch->mark_type || mark->number == 0)
        return false;
    if (event->done)
        return true;
    if (waits->count == MOST_WAITS)
        return false;
    waits->events[waits->count++] = mark->number;
    return true;
}

/* Returns weak references to the events that a launch waits for, which its event keeps, and adds the driver's
 * events; NULL where Python must act, or a value is wrong. The caller holds the events. */
static PyObject *read_waits(const Commands *self, const Prepared *launch, PyObject *events, Waits *waits)
{
    if (launch->lanes == NULL)
        return NULL;
    Py_ssize_t count = PyTuple_Size(events);
    PyObject *weak = PyTuple_New(count);
    for (Py_ssize_t i = 0; weak != NULL && i < count; i++) {
        PyObject *item = PyTuple_GetItem(events, i);
        PyObject *reference = add_wait(self, launch, item, waits) ? PyWeakref_NewRef(item, NULL) : NULL;
        if (reference == NULL)
            Py_CLEAR(weak);
        else
            PyTuple_SetItem(weak, i, reference);
    }
    PyErr_Clear();
    return weak;
}

/* Like submit, but the caller holds references to the arguments; events is a tuple. */
static int submit_held(Commands *self, Prepared *launch, PyObject *const *values, fill_function fill, const void *what,
                       PyObject *events, PyObject **given)
{
    if (launch->bundle == NULL || !((Openable *)launch->bundle)->open)
        return OTHERWISE;
    PyObject *weak = NULL;
    Waits waits = {0};
    if (events != NULL && PyTuple_Size(events) > 0) {
        weak = read_waits(self, launch, events, &waits);
        if (weak == NULL)
            return OTHERWISE;
    }
    PyObject *lock = self->lock;
    if (lock == NULL || (PyObject *)Py_TYPE(lock) != lock_type) {
        Py_XDECREF(weak);
        return OTHERWISE;
    }
    int result = FAILED;
    Py_INCREF(lock);
    if (take((Lock *)lock)) {
        result = submit_locked(self, launch, values, fill, what, &waits, given);
        give_back((Lock *)lock);
    }
    Py_DECREF(lock);
    if (result == DONE && weak != NULL && PyObject_SetAttr(*given, str_waits, weak) < 0) {
        Py_CLEAR(*given);
        result = FAILED;
    }
    Py_XDECREF(weak);
    return result;
}

/* Returns the events to wait for as a tuple that no other code modifies; NULL without any. */
static PyObject *events_of(PyObject *depends_on)
{
    if (depends_on == NULL)
        return NULL;
    if (PyTuple_CheckExact(depends_on))
        return Py_NewRef(depends_on);
    return PyList_CheckExact(depends_on) ? PyList_AsTuple(depends_on) : PyTuple_Pack(1, depends_on);
}

int submit(Commands *self, Prepared *launch, PyObject *const *values, fill_function fill, const void *what,
           PyObject *depends_on, PyObject **given)
{
    PyObject *events = events_of(depends_on);
    if (events == NULL && depends_on != NULL)
        return FAILED;
    Py_INCREF(self); /* other threads may run while this thread reads attributes, waits for the lock or is in the driver */
    Py_INCREF(launch);
    int result = submit_held(self, launch, values, fill, what, events, given);
    Py_DECREF(launch);
    Py_DECREF(self);
    Py_XDECREF(events);
    return result;
}
