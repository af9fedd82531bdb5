/* Ownership of what submitted commands use: a batch of commands holds it, or the event of one command does.
 *
 * A batch ends with the event of an in-order queue's last command, or with the ends of an out-of-order queue. A command
 * that a finalizer submits in the middle of another submission is held by its own event: the event that ends the batch
 * may be that of the other command, which precedes it. */

#include "types.h"

/* Bytes of a host array that count as one more submission: 2 to the power of 20. */
enum { LARGE_SHIFT = 20 };

static bool is_nested(const Commands *self)
{
    return ((const Lock *)self->lock)->depth > 1;
}

/* Whether the current batch holds the kept objects of a submission already. */
static bool holds(const Commands *self, const Submission *submission)
{
    const Prepared *command = submission->command;
    return command->batch == self->batch && command->object_count == submission->object_count &&
           memcmp(command->objects, submission->objects, (size_t)submission->object_count * sizeof *command->objects) == 0;
}

bool begin_hold(const Commands *self, const Submission *submission, PyObject *event, PyObject **pair)
{
    const Prepared *command = submission->command;
    int values = command->has_memory ? command->count : 0, others = submission->object_count;
    *pair = NULL;
    if ((self->in_batches && !is_nested(self)) || values + others == 0)
        return true;
    PyObject *objects = PyTuple_New(values + others);
    if (objects == NULL)
        return false;
    for (int i = 0; i < values; i++)
        PyTuple_SetItem(objects, i, Py_NewRef(is_held(&command->slots[i]) ? submission->values[i] : Py_None));
    for (int i = 0; i < others; i++)
        PyTuple_SetItem(objects, values + i, Py_NewRef(submission->objects[i]));
    *pair = PyTuple_Pack(2, event, objects);
    Py_DECREF(objects);
    return *pair != NULL;
}

/* Every so many submissions, looks for completed commands. */
static int count_down(Commands *self, PyObject *event, long long submissions)
{
    self->countdown -= submissions;
    if (self->countdown >= 0)
        return DONE;
    PyObject *done = PyObject_CallMethodObjArgs((PyObject *)self, str_check, event, NULL);
    Py_XDECREF(done);
    return done == NULL ? FAILED : DONE;
}

/* Adds a pair to the held ones. Without memory for that, the pair lives forever: its command is running. */
static int add_pair(Commands *self, PyObject *pair)
{
    PyObject *done = PyObject_CallMethodObjArgs(self->held, str_append, pair, NULL);
    if (done == NULL)
        return FAILED;
    Py_DECREF(done);
    Py_DECREF(pair);
    return DONE;
}

static int add_to_batch(Commands *self, PyObject *object)
{
    if (PyList_Append(self->batch_list, object) == 0)
        return DONE;
    Py_INCREF(object); /* as in add_pair */
    return FAILED;
}

static int hold_bundle(Commands *self, PyObject *bundle)
{
    if (bundle == self->last_bundle)
        return DONE;
    if (PySet_Add(self->bundles, bundle) < 0) {
        Py_INCREF(bundle);
        return FAILED;
    }
    replace_member((PyObject *)self, &self->last_bundle, Py_NewRef(bundle));
    return DONE;
}

/* Adds the objects of a submission to the current batch, unless it has them: 1 if there were any, 0, or FAILED. */
static int hold_by_batch(Commands *self, const Submission *submission)
{
    Prepared *command = submission->command;
    int fresh = 0;
    for (int i = 0; command->has_memory && i < command->count; i++) {
        Slot *slot = &command->slots[i];
        if (!is_held(slot) || slot->batch == self->batch)
            continue;
        if (add_to_batch(self, submission->values[i]) != DONE)
            return FAILED;
        BEGIN_GUARD(self->guard);
        if (slot->value == submission->values[i]) /* not after another submission of the row meanwhile */
            slot->batch = self->batch;
        END_GUARD(self->guard);
        fresh = 1;
    }
    if (submission->object_count > 0 && !holds(self, submission)) {
        for (int i = 0; i < submission->object_count; i++)
            if (add_to_batch(self, submission->objects[i]) != DONE)
                return FAILED;
        memcpy(command->objects, submission->objects, (size_t)submission->object_count * sizeof *command->objects);
        command->object_count = submission->object_count;
        command->batch = self->batch;
        fresh = 1;
    }
    if (submission->held != NULL) {
        BEGIN_GUARD(self->guard);
        submission->held(submission->what, self->batch);
        END_GUARD(self->guard);
    }
    return fresh;
}

int end_hold(Commands *self, const Submission *submission, PyObject *event, PyObject *pair)
{
    int fresh = pair != NULL ? 1 : is_nested(self) || !self->in_batches ? 0 : hold_by_batch(self, submission);
    if (pair != NULL && add_pair(self, pair) != DONE)
        fresh = FAILED;
    if (hold_bundle(self, submission->command->bundle) != DONE || fresh == FAILED)
        return FAILED;
    if (fresh || self->countdown <= 0)
        return count_down(self, event, 1 + submission->weight);
    /* A batch without objects needs no check; repeated commands count less, because they hold nothing new. */
    if (PyList_Size(self->batch_list) > 0 && ++self->repeats % REPEATS_FOR_ONE == 0)
        self->countdown--;
    return DONE;
}

static long long weight_of(PyObject *keep)
{
    long long weight = 0;
    for (Py_ssize_t i = 0; i < PyTuple_Size(keep); i++) {
        PyObject *item = PyTuple_GetItem(keep, i);
        if (is_host_array(item)) {
            PyObject *bytes = PyObject_GetAttr(item, str_nbytes);
            if (bytes != NULL)
                weight += PyLong_AsLongLong(bytes) >> LARGE_SHIFT;
            Py_XDECREF(bytes);
        }
    }
    PyErr_Clear();
    return weight;
}

/* took(event, keep): accounts for a command that Python has submitted, which uses the objects of a tuple. */
PyObject *commands_took(Commands *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count != 2 || !PyTuple_Check(arguments[1])) {
        PyErr_SetString(PyExc_TypeError, "took takes an event and a tuple");
        return NULL;
    }
    PyObject *event = arguments[0], *keep = arguments[1];
    Py_ssize_t objects = PyTuple_Size(keep);
    int result = announce(self) ? DONE : FAILED;
    if (objects > 0 && self->in_order && !is_nested(self)) {
        for (Py_ssize_t i = 0; i < objects; i++)
            if (add_to_batch(self, PyTuple_GetItem(keep, i)) != DONE)
                result = FAILED;
    } else if (objects > 0) {
        PyObject *pair = PyTuple_Pack(2, event, keep);
        if (pair == NULL)
            Py_INCREF(keep); /* as in add_pair */
        if (pair == NULL || add_pair(self, pair) != DONE)
            result = FAILED;
    }
    if (result != DONE || count_down(self, event, 1 + weight_of(keep)) != DONE)
        return NULL;
    Py_RETURN_NONE;
}
