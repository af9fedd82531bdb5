/* A wait for the last command of a lane, without Python for as long as a short one lasts. */

#include "launch.h"

/* Questions between two looks at signals, and looks: about a millisecond. Then Python goes on, with pauses. */
enum { QUESTIONS = 128, LOOKS = 16 };

/* Whether the event is known to be complete now; false where Python has to look. */
static PyObject *settle(Event *self, Mark *mark, Lane *lane)
{
    for (int look = 0; look < LOOKS; look++) {
        if (mark->index <= lane->done) {
            self->done = 1;
            Py_RETURN_TRUE;
        }
        if (lane->query == 0 || lane->pending != (PyObject *)mark || (mark->native != NULL && mark->native != Py_None))
            break;
        query_function query;
        void *address = (void *)(uintptr_t)lane->query;
        const void *what = (const void *)(uintptr_t)lane->asked;
        memcpy(&query, &address, sizeof query);
        long long index = mark->index; /* the mark may come to stand for another command, if nobody keeps it */
        int result = NOT_READY;
        Py_BEGIN_ALLOW_THREADS
        for (int question = 0; question < QUESTIONS && result == NOT_READY; question++)
            result = query(what);
        Py_END_ALLOW_THREADS
        if (result == 0) {
            if (index > lane->done)
                lane->done = index;
        } else if (result != NOT_READY) {
            break;
        } else if (PyErr_CheckSignals() < 0) {
            return NULL;
        }
    }
    Py_RETURN_FALSE;
}

/* As settle, where the driver made an event of the command: one look, for who waits for it in the driver may help. */
static PyObject *look_at(Event *self, const Mark *mark, const Lane *lane)
{
    query_function query;
    void *address = (void *)(uintptr_t)lane->query, *event = (void *)(uintptr_t)mark->number;
    memcpy(&query, &address, sizeof query);
    int result = NOT_READY;
    Py_BEGIN_ALLOW_THREADS
    if (query != NULL)
        result = query(event);
    Py_END_ALLOW_THREADS
    self->done = result == 0;
    return PyBool_FromLong(self->done);
}

PyObject *event_settle(Event *self, PyObject *unused)
{
    (void)unused;
    if (self->done)
        Py_RETURN_TRUE;
    if ((self->task != NULL && self->task != Py_None) || self->native == NULL || self->stream == NULL ||
        !PyType_IsSubtype(Py_TYPE(self->native), (PyTypeObject *)mark_type) ||
        !PyType_IsSubtype(Py_TYPE(self->stream), (PyTypeObject *)commands_type))
        Py_RETURN_FALSE;
    Mark *mark = (Mark *)self->native;
    const Commands *commands = (const Commands *)self->stream;
    if (commands->native == NULL || commands->native == Py_None || mark->stream == NULL ||
        !PyType_IsSubtype(Py_TYPE(mark->stream), (PyTypeObject *)lane_type))
        Py_RETURN_FALSE;
    Lane *lane = (Lane *)mark->stream;
    Py_INCREF(mark);
    Py_INCREF(lane);
    PyObject *result = mark->number != 0 ? look_at(self, mark, lane) : settle(self, mark, lane);
    Py_DECREF(lane);
    Py_DECREF(mark);
    return result;
}
