/* The plain data types Mark, Lane, Event, Openable. */

#include "types.h"

static void release_event(unsigned long long number, unsigned long long let_go)
{
    release_function release;
    void *address = (void *)(uintptr_t)let_go;
    memcpy(&release, &address, sizeof release);
    if (number != 0 && let_go != 0 && !is_new_child())
        (void)release((void *)(uintptr_t)number); /* a destructor has no caller that could receive the error */
}

void own_event(Mark *mark, const Lane *lane)
{
    const unsigned long long number = mark->number, let_go = mark->let_go;
    unsigned long long last;
    memcpy(&last, (const void *)(uintptr_t)lane->last_event, sizeof last);
    mark->let_go = lane->let_go;
    PUT(mark->number, last);
    release_event(number, let_go);
}

REFERENCES(mark, Mark)
{
    EACH(self->stream);
    EACH(self->native);
    return 0;
}

static PyMemberDef mark_members[] = {
    {"stream", T_OBJECT, offsetof(Mark, stream), 0, NULL},
    {"native", T_OBJECT, offsetof(Mark, native), 0, NULL},
    {"index", T_LONGLONG, offsetof(Mark, index), 0, NULL},
    {"number", T_ULONGLONG, offsetof(Mark, number), 0, NULL},
    {"let_go", T_ULONGLONG, offsetof(Mark, let_go), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

REFERENCES(lane, Lane)
{
    EACH(self->pending);
    EACH(self->lock);
    return 0;
}

static PyMemberDef lane_members[] = {
    {"pending", T_OBJECT, offsetof(Lane, pending), 0, NULL},
    {"lock", T_OBJECT, offsetof(Lane, lock), 0, NULL},
    {"submitted", T_LONGLONG, offsetof(Lane, submitted), 0, NULL},
    {"done", T_LONGLONG, offsetof(Lane, done), 0, NULL},
    {"used", T_BOOL, offsetof(Lane, used), 0, NULL},
    {"wait_for", T_ULONGLONG, offsetof(Lane, wait), 0, NULL},
    {"driver_stream", T_ULONGLONG, offsetof(Lane, driver_stream), 0, NULL},
    {"last_event", T_ULONGLONG, offsetof(Lane, last_event), 0, NULL},
    {"query", T_ULONGLONG, offsetof(Lane, query), 0, NULL},
    {"let_go", T_ULONGLONG, offsetof(Lane, let_go), 0, NULL},
    {"waits", T_ULONGLONG, offsetof(Lane, waits), 0, NULL},
    {"order", T_ULONGLONG, offsetof(Lane, order), 0, NULL},
    {"order_after", T_ULONGLONG, offsetof(Lane, order_after), 0, NULL},
    {"order_before", T_ULONGLONG, offsetof(Lane, order_before), 0, NULL},
    {"record_at", T_ULONGLONG, offsetof(Lane, record_at), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

REFERENCES(event, Event)
{
    EACH(self->stream);
    EACH(self->native);
    EACH(self->task);
    EACH(self->error);
    return 0;
}

static PyMemberDef event_members[] = {
    {"_stream", T_OBJECT, offsetof(Event, stream), 0, NULL},
    {"_native", T_OBJECT, offsetof(Event, native), 0, NULL},
    {"_task", T_OBJECT, offsetof(Event, task), 0, NULL},
    {"_error", T_OBJECT, offsetof(Event, error), 0, NULL},
    {"_done", T_BOOL, offsetof(Event, done), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyMemberDef openable_members[] = {
    {"_open", T_BOOL, offsetof(Openable, open), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot openable_slots[] = {
    {Py_tp_new, PyType_GenericNew}, {Py_tp_dealloc, finish}, {Py_tp_members, openable_members}, {0, NULL},
};
PyType_Spec openable_spec = {"bindless.core._submission.Openable", sizeof(Openable), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, openable_slots};

OBJECT_TYPE(mark, Mark, "Mark", , release_event(self->number, self->let_go), {Py_tp_new, PyType_GenericNew},
            {Py_tp_members, mark_members}, );

OBJECT_TYPE(lane, Lane, "Lane", , , {Py_tp_new, PyType_GenericNew}, {Py_tp_members, lane_members}, );

static PyMethodDef event_methods[] = {
    {"wait", (PyCFunction)(void (*)(void))event_wait, METH_FASTCALL | METH_KEYWORDS,
     "wait($self, timeout=None)\n--\n\n"
     "Wait until the command is complete.\n\n"
     "The wait uses no processor time, and Ctrl-C interrupts it.\n\n"
     "Parameters\n"
     "----------\n"
     "timeout : float, optional\n"
     "    Seconds to wait at most; None waits without limit.\n\n"
     "Raises\n"
     "------\n"
     "WaitTimeoutError\n"
     "    The command is not complete after ``timeout``; the message names the external semaphore or the queue that\n"
     "    it waits for. The command continues, and can be waited for again.\n"
     "Error\n"
     "    The command failed, and neither its queue nor its context has an ``async_handler``.\n"},
    {NULL, NULL, 0, NULL},
};

OBJECT_TYPE(event, Event, "Event", , , {Py_tp_new, PyType_GenericNew}, {Py_tp_members, event_members},
            {Py_tp_methods, event_methods}, );
