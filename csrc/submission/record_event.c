/* Driver events behind commands: recorded for marks that are still referenced. */

#include "types.h"

static int call_record(const Lane *lane, unsigned long long *number)
{
    record_function record;
    void *address = (void *)(uintptr_t)lane->record_at, *what = (void *)(uintptr_t)lane->driver_stream;
    const long long index = lane->submitted;
    memcpy(&record, &address, sizeof record);
    int result;
    Py_BEGIN_ALLOW_THREADS
    result = record(what, index, number);
    Py_END_ALLOW_THREADS
    return result;
}

int record_mark(Lane *lane, Mark *mark)
{
    if (LOOK(mark->number) != 0 || mark->index <= LOOK(lane->done))
        return DONE;
    unsigned long long number = 0;
    if (lane->record_at == 0 || call_record(lane, &number) != 0)
        return OTHERWISE;
    mark->let_go = lane->let_go;
    PUT(mark->number, number); /* no other thread has recorded it: the lane's lock is held */
    return DONE;
}

int record_for_wait(Mark *mark)
{
    if (LOOK(mark->number) != 0)
        return DONE;
    if (mark->stream == NULL || !PyType_IsSubtype(Py_TYPE(mark->stream), (PyTypeObject *)lane_type))
        return OTHERWISE;
    Lane *lane = (Lane *)mark->stream;
    PyObject *lock = lane->lock;
    if (lane->record_at == 0 || !is_lock(lock))
        return OTHERWISE;
    int result = FAILED;
    Py_INCREF(lane);
    Py_INCREF(lock);
    if (take((Lock *)lock)) {
        result = record_mark(lane, mark);
        if (lane->pending == (PyObject *)mark)
            replace_member((PyObject *)lane, &lane->pending, NULL);
        give_back((Lock *)lock);
    }
    Py_DECREF(lock);
    Py_DECREF(lane);
    return result;
}
