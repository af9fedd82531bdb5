/* The lock of a queue. */

#include "launch.h"

/* False with an exception of a signal's handler. */
bool take(Lock *self)
{
    unsigned long me = PyThread_get_thread_ident();
    if (self->depth > 0 && self->owner == me) {
        self->depth++;
        return true;
    }
    if (!PyThread_acquire_lock(self->lock, NOWAIT_LOCK)) {
        PyLockStatus status;
        do {
            Py_BEGIN_ALLOW_THREADS
            status = PyThread_acquire_lock_timed(self->lock, -1, 1);
            Py_END_ALLOW_THREADS
            if (status == PY_LOCK_INTR && Py_MakePendingCalls() < 0)
                return false;
        } while (status != PY_LOCK_ACQUIRED);
    }
    self->owner = me;
    self->depth = 1;
    return true;
}

void give_back(Lock *self)
{
    if (--self->depth == 0) {
        self->owner = 0;
        PyThread_release_lock(self->lock);
    }
}

static PyObject *lock_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)keywords;
    if (PyTuple_Size(arguments) != 0) {
        PyErr_SetString(PyExc_TypeError, "Lock takes no arguments");
        return NULL;
    }
    Lock *self = (Lock *)make((PyObject *)type);
    if (self != NULL && (self->lock = PyThread_allocate_lock()) == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

static void lock_dealloc(Lock *self)
{
    if (self->lock != NULL) {
        if (self->depth > 0)
            PyThread_release_lock(self->lock);
        PyThread_free_lock(self->lock);
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
    if (self->depth == 0 || self->owner != PyThread_get_thread_ident()) {
        PyErr_SetString(PyExc_RuntimeError, "this thread does not hold the lock");
        return NULL;
    }
    give_back(self);
    Py_RETURN_NONE;
}

static PyMethodDef lock_methods[] = {
    {"acquire", (PyCFunction)lock_acquire, METH_NOARGS, "Waits for it; once more if this thread holds it already."},
    {"release", (PyCFunction)lock_release, METH_NOARGS, "Undoes one acquire."},
    {"__enter__", (PyCFunction)lock_acquire, METH_NOARGS, "Acquires."},
    {"__exit__", (PyCFunction)lock_release, METH_VARARGS, "Releases."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot lock_slots[] = {
    {Py_tp_new, lock_new}, {Py_tp_dealloc, lock_dealloc}, {Py_tp_methods, lock_methods}, {0, NULL},
};
PyType_Spec lock_spec = {"bindless.drivers._launch.Lock", sizeof(Lock), 0, Py_TPFLAGS_DEFAULT, lock_slots};
