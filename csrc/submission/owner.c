/* Owner: base class of objects whose destructor a signal must not interrupt.
 *
 * CPython prints and discards an exception that leaves a destructor or a callback of the garbage collector. A
 * KeyboardInterrupt there would be lost, and the native object would leak. The destructor of this type calls the Python
 * method _finalize; meanwhile a handler records SIGINT, and the exception is raised afterwards, in the code that dropped
 * the object. The function uninterrupted does the same for a callback. A child that another thread forks meanwhile has
 * Python's handler: the destructor does not end there. */

#include "types.h"

#if defined(__linux__) || defined(__APPLE__)

#include <pthread.h>
#include <signal.h>

typedef struct {
    bool on;
} Shield;

static volatile sig_atomic_t noted;
static bool shielded; /* set by an outer destructor; guarded by the interpreter lock, like the next ones */
static struct sigaction before;
static pthread_t main_thread;
static bool new_child, forks_end; /* forks_end: Python code calls end_fork in each child */

static void note(int number)
{
    (void)number;
    noted = 1;
}

static void lower_shield(Shield *shield)
{
    if (!shield->on)
        return;
    sigaction(SIGINT, &before, NULL);
    shield->on = shielded = false;
    if (noted) {
        noted = 0;
        raise(SIGINT);
    }
}

/* In the child of a fork, in its only thread, which is the main one from now on. Signals of the parent are the parent's.
 *
 * Objects of the parent's other threads may end before Python calls its hooks, the package's among them, which forget what
 * the parent owns: until end_fork, ends release nothing. */
static void begin_child(void)
{
    PUT(new_child, forks_end);
    const bool goes_on = !shielded || pthread_equal(main_thread, pthread_self()); /* a destructor goes on in the child */
    noted = 0;
    if (!goes_on) {
        sigaction(SIGINT, &before, NULL);
        shielded = false;
    }
    main_thread = pthread_self();
}

/* No C function reports the main thread's id: ask the module threading, before a callback of the collector would import it
 * within another import, which CPython 3.11 does not bear. */
static bool know_main_thread(void)
{
    PyObject *threading = PyImport_ImportModule("threading");
    PyObject *thread = threading == NULL ? NULL : PyObject_CallMethod(threading, "main_thread", NULL);
    PyObject *ident = thread == NULL ? NULL : PyObject_GetAttrString(thread, "ident");
    main_thread = (pthread_t)(ident == NULL ? 0 : PyLong_AsUnsignedLong(ident));
    Py_XDECREF(ident);
    Py_XDECREF(thread);
    Py_XDECREF(threading);
    return PyErr_Occurred() == NULL;
}

bool watch_threads(void)
{
    static bool watches;
    if (watches)
        return true;
    if (!know_main_thread())
        return false;
    watches = pthread_atfork(NULL, NULL, begin_child) == 0;
    if (!watches)
        PyErr_NoMemory();
    return watches;
}

/* Only the main thread handles Ctrl-C; while it runs no Python code, no exception is raised there. */
static void raise_shield(Shield *shield, bool in_main_thread)
{
    struct sigaction noting;
    shield->on = false;
    if (!in_main_thread || shielded)
        return;
    memset(&noting, 0, sizeof noting);
    noting.sa_handler = note;
    sigemptyset(&noting.sa_mask);
    shield->on = shielded = sigaction(SIGINT, &noting, &before) == 0;
    if (shield->on && (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN))
        lower_shield(shield); /* Python has no handler: nothing to raise */
}

static bool is_main_thread(void)
{
    return pthread_equal(main_thread, pthread_self());
}

bool is_new_child(void)
{
    return LOOK(new_child);
}

PyObject *expect_end_fork(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    forks_end = true;
    Py_RETURN_NONE;
}

PyObject *end_fork(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    PUT(new_child, false);
    Py_RETURN_NONE;
}

#else

typedef struct {
    char none;
} Shield;

static void raise_shield(Shield *shield, bool in_main_thread)
{
    (void)shield, (void)in_main_thread;
}

static void lower_shield(Shield *shield)
{
    (void)shield;
}

static bool is_main_thread(void)
{
    return false;
}

bool watch_threads(void)
{
    return true;
}

bool is_new_child(void)
{
    return false;
}

PyObject *expect_end_fork(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    Py_RETURN_NONE;
}

PyObject *end_fork(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    Py_RETURN_NONE;
}

#endif

/* Pending call: raises the exception that a destructor recorded. */
static int raise_later(void *error)
{
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF((PyObject *)error);
    return -1;
}

/* Takes the current exception. One that is not an Exception, such as KeyboardInterrupt, is raised after the
   destructor; others are printed, as for any destructor. */
static void pass_on(PyObject *self)
{
    PyObject *type, *value, *trace;
    if (PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_WriteUnraisable(self);
        return;
    }
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    if (value != NULL && Py_AddPendingCall(raise_later, value) != 0)
        Py_DECREF(value);
}

/* Calls _finalize of an owner (without arguments) or a callback. */
static PyObject *call(PyObject *self, PyObject *arguments)
{
    return arguments == NULL ? PyObject_CallMethodObjArgs(self, str_finalize, NULL) : PyObject_CallObject(self, arguments);
}

static void call_shielded(PyObject *self, PyObject *arguments)
{
    Shield shield;
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    const bool in_main_thread = is_main_thread();
    if (in_main_thread && PyErr_CheckSignals() < 0) /* a signal that arrived just before */
        pass_on(self);
    raise_shield(&shield, in_main_thread);
    PyObject *done = call(self, arguments);
    if (done == NULL) { /* an exception raised before the call began, out of memory included: call again */
        pass_on(self);
        done = call(self, arguments);
        if (done == NULL)
            pass_on(self);
    }
    Py_XDECREF(done);
    lower_shield(&shield);
    PyErr_Restore(type, value, trace);
}

static PyObject *call_callback(PyObject *function, PyObject *arguments)
{
    call_shielded(function, arguments);
    Py_RETURN_NONE;
}

PyObject *uninterrupted(PyObject *module, PyObject *function)
{
    static PyMethodDef method = {"callback", call_callback, METH_VARARGS, "Calls a function that signals do not interrupt."};
    (void)module;
    return PyCFunction_New(&method, function);
}

PyObject *has_begun_fork(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    return PyBool_FromLong(is_new_child());
}

static void owner_finalize(PyObject *self)
{
    if (!is_new_child())
        call_shielded(self, NULL);
}

static void owner_dealloc(PyObject *self)
{
    finish(self);
}

static PyType_Slot owner_slots[] = {
    {Py_tp_new, PyType_GenericNew}, {Py_tp_finalize, owner_finalize}, {Py_tp_dealloc, owner_dealloc}, {0, NULL},
};
PyType_Spec owner_spec = {"bindless.core._submission.Owner", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                          owner_slots};
