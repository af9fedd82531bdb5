/* Lock: the reentrant lock of a queue. */

#include "types.h"

/* How often other threads may take the lock before a signalled waiter. Without a limit the waiter would starve when
   calls under the lock let other threads run. */
enum { MOST_PASSED = 16 };

/* False with an exception from a signal handler. */
bool take(Lock *self)
{
    bool woken = false;
    unsigned long me = PyThread_get_thread_ident();
    BEGIN_GUARD(self->guard);
    if (self->depth > 0 && self->owner == me) {
        self->depth++;
        END_GUARD(self->guard);
        return true;
    }
    while (self->depth > 0 || (self->rung && !woken && self->passed >= MOST_PASSED)) {
        PyLockStatus status;
        self->waiting++;
        END_GUARD(self->guard);
        Py_BEGIN_ALLOW_THREADS
        status = PyThread_acquire_lock_timed(self->bell, -1, 1);
        Py_END_ALLOW_THREADS
        BEGIN_GUARD(self->guard);
        self->waiting--;
        if (status == PY_LOCK_ACQUIRED) {
            self->rung = false;
            woken = true;
        }
        else if (status == PY_LOCK_INTR) {
            END_GUARD(self->guard);
            if (Py_MakePendingCalls() < 0)
                return false;
            BEGIN_GUARD(self->guard);
        }
    }
    self->passed = woken || self->waiting == 0 ? 0 : self->passed + 1;
    self->owner = me;
    self->depth = 1;
    END_GUARD(self->guard);
    return true;
}

void give_back(Lock *self)
{
    BEGIN_GUARD(self->guard);
    if (--self->depth == 0) {
        self->owner = 0;
        if (self->waiting > 0 && !self->rung) { /* a signalled waiter that finds the lock taken waits again */
            self->rung = true;
            PyThread_release_lock(self->bell);
        }
    }
    END_GUARD(self->guard);
}

static bool is_mine(Lock *self)
{
    BEGIN_GUARD(self->guard);
    const bool mine = self->depth > 0 && self->owner == PyThread_get_thread_ident();
    END_GUARD(self->guard);
    return mine;
}

static PyObject *lock_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)keywords;
    if (PyTuple_Size(arguments) != 0) {
        PyErr_SetString(PyExc_TypeError, "Lock takes no arguments");
        return NULL;
    }
    Lock *self = (Lock *)make((PyObject *)type);
    if (self != NULL && (self->bell = PyThread_allocate_lock()) == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    if (self != NULL)
        PyThread_acquire_lock(self->bell, NOWAIT_LOCK);
    return (PyObject *)self;
}

static void lock_dealloc(Lock *self)
{
    if (self->bell != NULL) {
        if (!self->rung)
            PyThread_release_lock(self->bell);
        PyThread_free_lock(self->bell);
    }
    finish((PyObject *)self);
}

static PyObject *lock_acquire(Lock *self, PyObject *unused)
{
    (void)unused;
    return take(self) ? Py_NewRef(Py_True) : NULL;
}

static PyObject *lock_release(Lock *self, PyObject *unused)
{
    (void)unused;
    if (!is_mine(self)) {
        PyErr_SetString(PyExc_RuntimeError, "this thread does not hold the lock");
        return NULL;
    }
    give_back(self);
    Py_RETURN_NONE;
}

/* An attribute, since the interpreter looks for signals after a call: core/lock.py. */
static PyObject *lock_acquired(Lock *self, void *unused)
{
    return lock_acquire(self, unused);
}

static PyObject *lock_is_mine(Lock *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(is_mine(self));
}

static PyMethodDef lock_methods[] = {
    {"acquire", (PyCFunction)lock_acquire, METH_NOARGS, "Acquires the lock; nests if this thread holds it."},
    {"release", (PyCFunction)lock_release, METH_NOARGS, "Undoes one acquire."},
    {"__enter__", (PyCFunction)lock_acquire, METH_NOARGS, "Acquires."},
    {"__exit__", (PyCFunction)lock_release, METH_VARARGS, "Releases."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef lock_members[] = {
    {"depth", T_ULONG, offsetof(Lock, depth), READONLY, "How often the thread that holds the lock has acquired it."},
    {NULL, 0, 0, 0, NULL},
};

static PyGetSetDef lock_properties[] = {
    {"_acquired", (getter)lock_acquired, NULL, "Acquires the lock when it is read; true.", NULL},
    {"is_mine", (getter)lock_is_mine, NULL, "Whether this thread holds the lock.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot lock_slots[] = {
    {Py_tp_members, lock_members}, {Py_tp_getset, lock_properties}, {Py_tp_new, lock_new}, {Py_tp_dealloc, lock_dealloc}, {Py_tp_methods, lock_methods}, {0, NULL},
};
PyType_Spec lock_spec = {"bindless.core._submission.Lock", sizeof(Lock), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, lock_slots};
