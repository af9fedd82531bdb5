/* The short way of launches: a launch that a queue has seen before goes from Python's call to the driver's without
 * Python code in between, which would take as long as the driver.
 *
 * The types here are bases of the package's own. They hold the attributes that the way touches; everything else about
 * them is Python, and so is every launch that is not exactly like one that was prepared: then parallel_for and a bound
 * launch call the Python method that knows all cases and all errors.
 *
 *   Submitter   a queue: parallel_for
 *   Bound       a bound launch: the call
 *   Commands    the commands of a queue, with the launches prepared for it
 *   Prepared    one of them: the driver's function, what it is given, how arguments become bytes
 *   Event       a command's end, as users hold it
 *   Lock        of a queue; reentrant, Ctrl-C ends a wait for it
 *   Lane        a stream of the driver, whose last event is recorded only if somebody keeps it
 *   Mark        the end of a command in a lane
 */

#define Py_LIMITED_API 0x030A0000
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <structmember.h>

enum { ROWS = 64, MOST_LANES = 8, MOST_ARGUMENTS = 64 };

/* The driver's function: takes the description of a launch, gives 0 or the driver's error, or INT32_MIN where Python has
 * to see to something first. */
enum { IN_PYTHON = INT32_MIN };
typedef int (*submit_function)(const void *description);

typedef struct {
    PyObject_HEAD
    PyObject *stream, *native;
    long long index;
} Mark;

typedef struct {
    PyObject_HEAD
    PyObject *pending;
    long long submitted, done;
    char used;
} Lane;

typedef struct {
    PyObject_HEAD
    PyObject *stream, *native;
} Event;

typedef struct {
    PyObject_HEAD
    PyThread_type_lock lock;
    unsigned long owner, depth;
} Lock;

/* How an argument becomes bytes. */
typedef enum { NUMBER, POINTER, ARRAY, HANDLE, FIXED } Kind;

typedef struct {
    unsigned char *place;
    int size;
    Kind kind;
    bool integers_as_floats;
    bool takes_integers, takes_floats;
    PyObject *type;   /* of memory and handles; borrowed, the types are immortal */
    PyObject *value;  /* fixed: the value, kept. Memory: the one last seen, not kept here but by the batch below */
    PyObject *owner;  /* of that memory */
    long long batch;
} Slot;

typedef struct {
    PyObject_HEAD
    PyObject *kernel; /* borrowed: the weak reference below forgets this launch with it. NULL: forgotten */
    PyObject *watch;
    PyObject *space;  /* of a range that is neither an int nor a tuple of ints */
    long long sizes[3];
    int dimensions;
    PyObject *bundle, *mark_type, *lanes, *settle, *refused, *keep;
    submit_function submit;
    const void *descriptions[MOST_LANES];
    int lane_count, count;
    bool has_memory;
    Slot *slots;
} Prepared;

typedef struct {
    PyObject_HEAD
    PyObject *native, *blocker, *context, *bundles, *last_bundle, *event_type, *lock, *batch_list;
    long long batch, countdown;
    char dirty, in_order, in_batches; /* in_batches: memory is held by batches of commands, else by each event */
    unsigned turn;
    Prepared *rows[ROWS];
} Commands;

typedef struct {
    PyObject_HEAD
    PyObject *stream;
} Submitter;

typedef struct {
    PyObject_HEAD
    PyObject *stream, *prepared, *arguments;
} Bound;

static PyObject *lock_type, *mark_type, *lane_type, *event_type, *prepared_type, *commands_type, *submitter_type, *bound_type;
static PyObject *str_owner, *str_open, *str_context, *str_contiguous, *str_packed, *str_raw_handle, *str_took,
    *str_depends_on, *str_any, *str_again, *str_bundle_open, *str_waits;

/* What a way can end in besides an object. */
enum { OTHERWISE = 0, DONE = 1, FAILED = -1 };

static bool is_memory(const Slot *slot)
{
    return slot->kind == POINTER || slot->kind == ARRAY;
}

static PyObject *make(PyObject *type)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot((PyTypeObject *)type, Py_tp_alloc);
    return allocate((PyTypeObject *)type, 0);
}

/* The end of an object of a heap type, after its contents. */
static void finish(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static bool is_true(PyObject *object, PyObject *name)
{
    PyObject *value = PyObject_GetAttr(object, name);
    bool result = value == Py_True;
    if (value == NULL)
        PyErr_Clear();
    Py_XDECREF(value);
    return result;
}

/* ------------------------------------------------------------------ the lock of a queue */

/* False with an exception of a signal's handler. */
static bool take(Lock *self)
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

static void give_back(Lock *self)
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

/* ------------------------------------------------------------------ types that only hold */

static int mark_traverse(Mark *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->stream);
    Py_VISIT(self->native);
    return 0;
}

static int mark_clear(Mark *self)
{
    Py_CLEAR(self->stream);
    Py_CLEAR(self->native);
    return 0;
}

static void mark_dealloc(Mark *self)
{
    PyObject_GC_UnTrack(self);
    mark_clear(self);
    finish((PyObject *)self);
}

static PyMemberDef mark_members[] = {
    {"stream", T_OBJECT, offsetof(Mark, stream), 0, NULL},
    {"native", T_OBJECT, offsetof(Mark, native), 0, NULL},
    {"index", T_LONGLONG, offsetof(Mark, index), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static int lane_traverse(Lane *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->pending);
    return 0;
}

static int lane_clear(Lane *self)
{
    Py_CLEAR(self->pending);
    return 0;
}

static void lane_dealloc(Lane *self)
{
    PyObject_GC_UnTrack(self);
    lane_clear(self);
    finish((PyObject *)self);
}

static PyMemberDef lane_members[] = {
    {"pending", T_OBJECT, offsetof(Lane, pending), 0, NULL},
    {"submitted", T_LONGLONG, offsetof(Lane, submitted), 0, NULL},
    {"done", T_LONGLONG, offsetof(Lane, done), 0, NULL},
    {"used", T_BOOL, offsetof(Lane, used), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static int event_traverse(Event *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->stream);
    Py_VISIT(self->native);
    return 0;
}

static int event_clear(Event *self)
{
    Py_CLEAR(self->stream);
    Py_CLEAR(self->native);
    return 0;
}

static void event_dealloc(Event *self)
{
    PyObject_GC_UnTrack(self);
    event_clear(self);
    finish((PyObject *)self);
}

static PyMemberDef event_members[] = {
    {"_stream", T_OBJECT, offsetof(Event, stream), 0, NULL},
    {"_native", T_OBJECT, offsetof(Event, native), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

/* ------------------------------------------------------------------ a prepared launch */

static int prepared_traverse(Prepared *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->watch);
    Py_VISIT(self->space);
    Py_VISIT(self->bundle);
    Py_VISIT(self->lanes);
    Py_VISIT(self->settle);
    Py_VISIT(self->refused);
    Py_VISIT(self->keep);
    for (int i = 0; i < self->count; i++)
        if (self->slots[i].kind == FIXED)
            Py_VISIT(self->slots[i].value);
    return 0;
}

/* Nothing is launched by it any more. What it uses stays until it goes: a launch may be under way. */
static int prepared_clear(Prepared *self)
{
    self->kernel = NULL;
    Py_CLEAR(self->watch);
    Py_CLEAR(self->space);
    Py_CLEAR(self->bundle);
    Py_CLEAR(self->lanes);
    Py_CLEAR(self->settle);
    Py_CLEAR(self->refused);
    Py_CLEAR(self->keep);
    for (int i = 0; i < self->count; i++)
        if (self->slots[i].kind == FIXED)
            Py_CLEAR(self->slots[i].value);
    return 0;
}

static void prepared_dealloc(Prepared *self)
{
    PyObject_GC_UnTrack(self);
    prepared_clear(self);
    PyMem_Free(self->slots);
    finish((PyObject *)self);
}

static PyObject *prepared_forget(Prepared *self, PyObject *unused)
{
    (void)unused;
    self->kernel = NULL;
    Py_RETURN_NONE;
}

/* Sizes of a range as ints; false for another kind of range, and where there is nothing to launch. */
static bool read_space(PyObject *space, long long sizes[3], int *dimensions)
{
    if (PyLong_CheckExact(space)) {
        int overflow;
        sizes[0] = PyLong_AsLongLongAndOverflow(space, &overflow);
        sizes[1] = sizes[2] = *dimensions = 1;
        return !overflow && sizes[0] > 0;
    }
    if (!PyTuple_CheckExact(space))
        return false;
    Py_ssize_t count = PyTuple_Size(space);
    if (count < 1 || count > 3)
        return false;
    sizes[1] = sizes[2] = 1;
    *dimensions = (int)count + 1; /* (n,) is not n: sizes of a required work-group differ */
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *size = PyTuple_GetItem(space, i);
        int overflow;
        if (!PyLong_CheckExact(size))
            return false;
        sizes[i] = PyLong_AsLongLongAndOverflow(size, &overflow);
        if (overflow || sizes[i] < 1)
            return false;
    }
    return true;
}

static bool read_slot(PyObject *row, Slot *slot)
{
    const char *kind;
    unsigned long long place;
    int integers, floats;
    PyObject *value;
    if (!PyArg_ParseTuple(row, "sKippO", &kind, &place, &slot->size, &integers, &floats, &value))
        return false;
    slot->place = (unsigned char *)(uintptr_t)place;
    slot->batch = -1;
    slot->takes_integers = integers;
    slot->takes_floats = floats;
    switch (kind[0]) {
    case 'n':
    case 'f': /* a number where integers become floats */
        slot->kind = NUMBER;
        slot->integers_as_floats = kind[0] == 'f';
        return true;
    case 'p':
    case 'a':
    case 'h':
        slot->kind = kind[0] == 'p' ? POINTER : kind[0] == 'a' ? ARRAY : HANDLE;
        slot->type = (PyObject *)Py_TYPE(value);
        return true;
    default:
        slot->kind = FIXED;
        slot->value = Py_NewRef(value);
        return true;
    }
}

static PyObject *prepared_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)keywords;
    PyObject *kernel, *space, *bundle, *mark, *lanes, *settle, *refused, *keep, *descriptions, *slots;
    unsigned long long submit;
    if (!PyArg_ParseTuple(arguments, "OOOOO!OOOKO!O!:Prepared", &kernel, &space, &bundle, &mark, &PyTuple_Type, &lanes,
                          &settle, &refused, &keep, &submit, &PyTuple_Type, &descriptions, &PyTuple_Type, &slots))
        return NULL;
    Py_ssize_t lane_count = PyTuple_Size(lanes), count = PyTuple_Size(slots);
    if (lane_count < 1 || lane_count > MOST_LANES || PyTuple_Size(descriptions) != lane_count ||
        count > MOST_ARGUMENTS || !PyType_Check(mark) || !PyType_IsSubtype((PyTypeObject *)mark, (PyTypeObject *)mark_type)) {
        PyErr_SetString(PyExc_ValueError, "a prepared launch has 1 to 8 lanes with a description each, 64 arguments at most");
        return NULL;
    }
    Prepared *self = (Prepared *)make((PyObject *)type);
    if (self == NULL)
        return NULL;
    self->slots = PyMem_Calloc((size_t)count + 1, sizeof(Slot));
    if (self->slots == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < lane_count; i++) {
        PyObject *lane = PyTuple_GetItem(lanes, i);
        unsigned long long address = PyLong_AsUnsignedLongLong(PyTuple_GetItem(descriptions, i));
        if (PyErr_Occurred() || !PyType_IsSubtype(Py_TYPE(lane), (PyTypeObject *)lane_type)) {
            if (!PyErr_Occurred())
                PyErr_SetString(PyExc_TypeError, "lanes are of the type Lane");
            Py_DECREF(self);
            return NULL;
        }
        self->descriptions[i] = (const void *)(uintptr_t)address;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!read_slot(PyTuple_GetItem(slots, i), &self->slots[i])) {
            Py_DECREF(self);
            return NULL;
        }
        self->count = (int)i + 1;
        self->has_memory = self->has_memory || is_memory(&self->slots[i]);
    }
    self->lane_count = (int)lane_count;
    if (!read_space(space, self->sizes, &self->dimensions)) {
        self->dimensions = 0;
        self->space = Py_NewRef(space);
    }
    submit_function function;
    void *address = (void *)(uintptr_t)submit;
    memcpy(&function, &address, sizeof function);
    self->submit = function;
    self->kernel = kernel;
    self->bundle = Py_NewRef(bundle);
    self->mark_type = mark; /* a type of the package: immortal */
    self->lanes = Py_NewRef(lanes);
    self->settle = Py_NewRef(settle);
    self->refused = Py_NewRef(refused);
    self->keep = Py_NewRef(keep);
    return (PyObject *)self;
}

static PyMemberDef prepared_members[] = {
    {"watch", T_OBJECT, offsetof(Prepared, watch), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyMethodDef prepared_methods[] = {
    {"forget", (PyCFunction)prepared_forget, METH_O, "Nothing is launched by it any more."},
    {NULL, NULL, 0, NULL},
};

/* ------------------------------------------------------------------ arguments */

/* What each of these gives: OTHERWISE where Python has to look at the value. */
static int put_float(const Slot *slot, double value)
{
    if (slot->size == 8) {
        memcpy(slot->place, &value, 8);
        return DONE;
    }
    float narrow = (float)value;
    if (narrow - narrow != 0 && value - value == 0) /* too large: an error */
        return OTHERWISE;
    memcpy(slot->place, &narrow, 4);
    return DONE;
}

static int put_number(const Slot *slot, PyObject *value)
{
    if (PyFloat_CheckExact(value))
        return slot->takes_floats ? put_float(slot, PyFloat_AsDouble(value)) : OTHERWISE;
    if (!PyLong_CheckExact(value) || !slot->takes_integers)
        return OTHERWISE;
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow)
        return OTHERWISE;
    if (slot->integers_as_floats)
        return put_float(slot, (double)number);
    if (slot->size < 8) {
        int bits = 8 * slot->size;
        if (number < -(1LL << (bits - 1)) || number >= 1LL << bits)
            return OTHERWISE;
    }
    memcpy(slot->place, &number, (size_t)slot->size); /* the least significant byte is first, as on every GPU's host */
    return DONE;
}

static int put_handle(const Slot *slot, PyObject *value)
{
    if ((PyObject *)Py_TYPE(value) != slot->type)
        return OTHERWISE;
    PyObject *raw = PyObject_GetAttr(value, str_raw_handle);
    if (raw == NULL)
        return FAILED;
    unsigned long long number = PyLong_AsUnsignedLongLong(raw);
    Py_DECREF(raw);
    if (PyErr_Occurred())
        return FAILED;
    memcpy(slot->place, &number, 8);
    return DONE;
}

/* Memory that the batch in progress holds is looked at no further than whether it was freed. */
static int put_memory(const Commands *commands, Slot *slot, PyObject *value)
{
    if (slot->value == value && slot->batch == commands->batch)
        return is_true(slot->owner, str_open) ? DONE : OTHERWISE;
    if ((PyObject *)Py_TYPE(value) != slot->type)
        return OTHERWISE;
    PyObject *owner = PyObject_GetAttr(value, str_owner);
    if (owner == NULL)
        return FAILED;
    PyObject *context = PyObject_GetAttr(owner, str_context), *packed = PyObject_GetAttr(value, str_packed);
    int result = OTHERWISE;
    char *bytes;
    Py_ssize_t size;
    if (context == commands->context && packed != NULL && is_true(owner, str_open) && (slot->kind == POINTER || is_true(value, str_contiguous)) &&
        PyBytes_AsStringAndSize(packed, &bytes, &size) == 0 && size == 8) {
        memcpy(slot->place, bytes, 8);
        slot->value = value;
        slot->owner = owner;
        slot->batch = -1;
        result = DONE;
    }
    PyErr_Clear();
    Py_XDECREF(context);
    Py_XDECREF(packed);
    Py_DECREF(owner);
    return result;
}

static int put_arguments(const Commands *commands, Prepared *launch, PyObject *const *values)
{
    for (int i = 0; i < launch->count; i++) {
        Slot *slot = &launch->slots[i];
        int result;
        switch (slot->kind) {
        case NUMBER: result = put_number(slot, values[i]); break;
        case POINTER:
        case ARRAY: result = put_memory(commands, slot, values[i]); break;
        case HANDLE: result = put_handle(slot, values[i]); break;
        default: result = slot->value == values[i] ? DONE : OTHERWISE;
        }
        if (result != DONE)
            return result;
    }
    return DONE;
}

/* ------------------------------------------------------------------ commands */

static void drop_rows(Commands *self)
{
    for (int i = 0; i < ROWS; i++) {
        Prepared *row = self->rows[i];
        self->rows[i] = NULL;
        if (row != NULL) {
            row->kernel = NULL;
            Py_CLEAR(row->watch); /* whose callback refers to it */
            Py_DECREF(row);
        }
    }
}

static int commands_traverse(Commands *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->native);
    Py_VISIT(self->blocker);
    Py_VISIT(self->context);
    Py_VISIT(self->bundles);
    Py_VISIT(self->last_bundle);
    Py_VISIT(self->event_type);
    Py_VISIT(self->lock);
    Py_VISIT(self->batch_list);
    for (int i = 0; i < ROWS; i++)
        Py_VISIT(self->rows[i]);
    return 0;
}

static int commands_clear(Commands *self)
{
    drop_rows(self);
    Py_CLEAR(self->native);
    Py_CLEAR(self->blocker);
    Py_CLEAR(self->context);
    Py_CLEAR(self->bundles);
    Py_CLEAR(self->last_bundle);
    Py_CLEAR(self->event_type);
    Py_CLEAR(self->lock);
    Py_CLEAR(self->batch_list);
    return 0;
}

static void commands_dealloc(Commands *self)
{
    PyObject_GC_UnTrack(self);
    commands_clear(self);
    finish((PyObject *)self);
}

static PyMemberDef commands_members[] = {
    {"native", T_OBJECT, offsetof(Commands, native), 0, NULL},
    {"blocker", T_OBJECT, offsetof(Commands, blocker), 0, NULL},
    {"context", T_OBJECT, offsetof(Commands, context), 0, NULL},
    {"bundles", T_OBJECT, offsetof(Commands, bundles), 0, NULL},
    {"_last_bundle", T_OBJECT, offsetof(Commands, last_bundle), 0, NULL},
    {"_event", T_OBJECT, offsetof(Commands, event_type), 0, NULL},
    {"lock", T_OBJECT, offsetof(Commands, lock), 0, NULL},
    {"_batch", T_OBJECT, offsetof(Commands, batch_list), 0, NULL},
    {"batch", T_LONGLONG, offsetof(Commands, batch), 0, NULL},
    {"_countdown", T_LONGLONG, offsetof(Commands, countdown), 0, NULL},
    {"_dirty", T_BOOL, offsetof(Commands, dirty), 0, NULL},
    {"in_order", T_BOOL, offsetof(Commands, in_order), 0, NULL},
    {"_in_batches", T_BOOL, offsetof(Commands, in_batches), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static unsigned row_of(PyObject *kernel, PyObject *space, const long long sizes[3], int dimensions, Py_ssize_t count)
{
    uint64_t mixed = (uint64_t)(uintptr_t)kernel >> 4;
    if (dimensions == 0)
        mixed += (uint64_t)(uintptr_t)space >> 4;
    else
        mixed += (uint64_t)sizes[0] * 31 + (uint64_t)sizes[1] * 37 + (uint64_t)sizes[2] * 41 + (unsigned)dimensions;
    mixed = (mixed + (uint64_t)count) * 0x9E3779B97F4A7C15u;
    return (unsigned)(mixed >> 58); /* ROWS is 2 to the 6 */
}

static PyObject *commands_remember(Commands *self, PyObject *launch)
{
    if (!PyType_IsSubtype(Py_TYPE(launch), (PyTypeObject *)prepared_type)) {
        PyErr_SetString(PyExc_TypeError, "remember takes a Prepared");
        return NULL;
    }
    Prepared *made = (Prepared *)launch;
    unsigned row = row_of(made->kernel, made->space, made->sizes, made->dimensions, made->count);
    Prepared *before = self->rows[row];
    self->rows[row] = (Prepared *)Py_NewRef(launch);
    if (before != NULL) {
        before->kernel = NULL;
        Py_CLEAR(before->watch);
        Py_DECREF(before);
    }
    Py_RETURN_NONE;
}

static PyObject *commands_forget_launches(Commands *self, PyObject *unused)
{
    (void)unused;
    drop_rows(self);
    Py_RETURN_NONE;
}

static PyObject *commands_count_launches(Commands *self, PyObject *unused)
{
    (void)unused;
    long count = 0;
    for (int i = 0; i < ROWS; i++)
        count += self->rows[i] != NULL && self->rows[i]->kernel != NULL;
    return PyLong_FromLong(count);
}

static int submit(Commands *self, Prepared *launch, PyObject *const *values, PyObject *depends_on, PyObject **given);

/* A prepared command of one argument: its event, or None where Python has to look at it. */
static PyObject *commands_submit_one(Commands *self, PyObject *const *given, Py_ssize_t count)
{
    PyObject *event = NULL;
    if (count != 2 || !PyType_IsSubtype(Py_TYPE(given[0]), (PyTypeObject *)prepared_type) ||
        ((Prepared *)given[0])->count != 1) {
        PyErr_SetString(PyExc_TypeError, "submit_one takes a Prepared of one argument, and that");
        return NULL;
    }
    if (submit(self, (Prepared *)given[0], &given[1], NULL, &event) == OTHERWISE)
        Py_RETURN_NONE;
    return event;
}

static PyMethodDef commands_methods[] = {
    {"submit_one", (PyCFunction)(void (*)(void))commands_submit_one, METH_FASTCALL,
     "Submits a prepared command of one argument; None where that takes Python."},
    {"remember", (PyCFunction)commands_remember, METH_O, "Repeats this launch from now on when it comes again."},
    {"forget_launches", (PyCFunction)commands_forget_launches, METH_NOARGS, "Forgets those remembered."},
    {"count_launches", (PyCFunction)commands_count_launches, METH_NOARGS, "How many are remembered."},
    {NULL, NULL, 0, NULL},
};

/* ------------------------------------------------------------------ the way itself */

/* What a command just submitted leaves to do: its memory is held until it is complete. The lock is held. */
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
    for (int i = 0; launch->has_memory && i < launch->count; i++) {
        Slot *slot = &launch->slots[i];
        if (keep != NULL) {
            PyTuple_SetItem(keep, i, Py_NewRef(is_memory(slot) ? values[i] : Py_None));
        } else if (is_memory(slot) && slot->batch != self->batch) {
            if (PyList_Append(self->batch_list, values[i]) < 0)
                return FAILED;
            slot->batch = self->batch;
        }
    }
    if (keep == NULL && self->dirty && self->countdown > 0) {
        if (PyList_Size(self->batch_list) > 0) /* where nothing is kept there is nothing to let go of either */
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

/* Submits and gives the event; the lock is held. */
static int submit_locked(Commands *self, Prepared *launch, PyObject *const *values, PyObject **given)
{
    if (self->native == NULL || self->native == Py_None || (self->blocker != NULL && self->blocker != Py_None) ||
        launch->kernel == NULL || self->batch_list == NULL || self->bundles == NULL || self->event_type == NULL)
        return OTHERWISE;
    int result = put_arguments(self, launch, values);
    if (result != DONE)
        return result;
    int turn = launch->lane_count == 1 ? 0 : (int)(self->turn++ % (unsigned)launch->lane_count);
    Lane *lane = (Lane *)PyTuple_GetItem(launch->lanes, turn);
    if (lane->pending != NULL && lane->pending != Py_None && Py_REFCNT(lane->pending) > 1) {
        PyObject *settled = PyObject_CallFunctionObjArgs(launch->settle, (PyObject *)lane, NULL);
        if (settled == NULL)
            return FAILED;
        Py_DECREF(settled);
    }
    Event *event = (Event *)make(self->event_type);
    if (event == NULL)
        return FAILED;
    Mark *mark;
    if (lane->pending != NULL && (PyObject *)Py_TYPE(lane->pending) == launch->mark_type) {
        mark = (Mark *)Py_NewRef(lane->pending); /* nobody has kept the mark of the command before: it serves again */
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

/* What the event of a launch remembers of those it waits for, weak references; NULL where the driver has something to do
 * for them, or the value is wrong. Those of its own queue, if that is in order, come before it anyway. */
static PyObject *own_waits(const Commands *self, PyObject *depends_on)
{
    bool many = PyTuple_CheckExact(depends_on), listed = PyList_CheckExact(depends_on);
    Py_ssize_t count = many ? PyTuple_Size(depends_on) : listed ? PyList_Size(depends_on) : 1;
    if (!self->in_order)
        return NULL;
    PyObject *waits = PyTuple_New(count);
    for (Py_ssize_t i = 0; waits != NULL && i < count; i++) {
        PyObject *item = many ? PyTuple_GetItem(depends_on, i) : listed ? PyList_GetItem(depends_on, i) : depends_on;
        PyObject *weak = NULL;
        if ((PyObject *)Py_TYPE(item) == self->event_type && ((Event *)item)->stream == (PyObject *)self &&
            ((Event *)item)->native != NULL && ((Event *)item)->native != Py_None)
            weak = PyWeakref_NewRef(item, NULL);
        if (weak == NULL)
            Py_CLEAR(waits);
        else
            PyTuple_SetItem(waits, i, weak);
    }
    PyErr_Clear();
    return waits;
}

/* depends_on: NULL or what the caller gave. */
static int submit(Commands *self, Prepared *launch, PyObject *const *values, PyObject *depends_on, PyObject **given)
{
    PyObject *waits = NULL;
    if (depends_on != NULL && (!PyTuple_CheckExact(depends_on) || PyTuple_Size(depends_on) > 0)) {
        waits = own_waits(self, depends_on);
        if (waits == NULL)
            return OTHERWISE;
    }

    PyObject *lock = self->lock;
    if (launch->bundle == NULL || lock == NULL || (PyObject *)Py_TYPE(lock) != lock_type ||
        !is_true(launch->bundle, str_bundle_open)) {
        Py_XDECREF(waits);
        return OTHERWISE;
    }
    Py_INCREF(self); /* others may run while this thread waits for the lock or is in the driver */
    Py_INCREF(launch);
    Py_INCREF(lock);
    int result = FAILED;
    if (take((Lock *)lock)) {
        result = submit_locked(self, launch, values, given);
        give_back((Lock *)lock);
    }
    if (result == DONE && waits != NULL && PyTuple_Size(waits) > 0 && PyObject_SetAttr(*given, str_waits, waits) < 0) {
        Py_CLEAR(*given);
        result = FAILED;
    }
    Py_XDECREF(waits);
    Py_DECREF(lock);
    Py_DECREF(launch);
    Py_DECREF(self);
    return result;
}

/* ------------------------------------------------------------------ queues */

static int submitter_traverse(Submitter *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->stream);
    return 0;
}

static int submitter_clear(Submitter *self)
{
    Py_CLEAR(self->stream);
    return 0;
}

static void submitter_dealloc(Submitter *self)
{
    PyObject_GC_UnTrack(self);
    submitter_clear(self);
    finish((PyObject *)self);
}

/* The value of depends_on, NULL if it is not given; false where there is another keyword. */
static bool read_depends_on(PyObject *const *arguments, Py_ssize_t count, PyObject *names, PyObject **depends_on)
{
    *depends_on = NULL;
    if (names == NULL)
        return true;
    if (PyTuple_Size(names) != 1 || PyUnicode_Compare(PyTuple_GetItem(names, 0), str_depends_on) != 0)
        return false;
    *depends_on = arguments[count];
    return true;
}

static PyObject *call_any(PyObject *self, PyObject *method_name, PyObject *const *arguments, Py_ssize_t count,
                          PyObject *names)
{
    PyObject *method = PyObject_GetAttr(self, method_name), *positional = PyTuple_New(count), *keywords = NULL;
    PyObject *result = NULL;
    if (method == NULL || positional == NULL)
        goto end;
    for (Py_ssize_t i = 0; i < count; i++)
        PyTuple_SetItem(positional, i, Py_NewRef(arguments[i]));
    if (names != NULL) {
        keywords = PyDict_New();
        for (Py_ssize_t i = 0; keywords != NULL && i < PyTuple_Size(names); i++)
            if (PyDict_SetItem(keywords, PyTuple_GetItem(names, i), arguments[count + i]) < 0)
                Py_CLEAR(keywords);
        if (keywords == NULL)
            goto end;
    }
    result = PyObject_Call(method, positional, keywords);
end:
    Py_XDECREF(method);
    Py_XDECREF(positional);
    Py_XDECREF(keywords);
    return result;
}

static PyObject *submitter_parallel_for(Submitter *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    PyObject *depends_on;
    if (count >= 2 && read_depends_on(arguments, count, names, &depends_on) && self->stream != NULL &&
        PyType_IsSubtype(Py_TYPE(self->stream), (PyTypeObject *)commands_type)) {
        Commands *commands = (Commands *)self->stream;
        PyObject *space = arguments[0], *kernel = arguments[1];
        long long sizes[3] = {1, 1, 1};
        int dimensions = 0;
        if (!read_space(space, sizes, &dimensions))
            dimensions = 0;
        Prepared *row = commands->rows[row_of(kernel, space, sizes, dimensions, count - 2)];
        if (row != NULL && row->kernel == kernel && row->count == count - 2 && row->dimensions == dimensions &&
            (dimensions ? memcmp(row->sizes, sizes, sizeof sizes) == 0 : row->space == space)) {
            PyObject *event = NULL;
            int result = submit(commands, row, arguments + 2, depends_on, &event);
            if (result != OTHERWISE)
                return event;
        }
    }
    return call_any((PyObject *)self, str_any, arguments, count, names);
}

static PyMemberDef submitter_members[] = {
    {"_stream", T_OBJECT_EX, offsetof(Submitter, stream), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyMethodDef submitter_methods[] = {
    {"parallel_for", (PyCFunction)(void (*)(void))submitter_parallel_for, METH_FASTCALL | METH_KEYWORDS,
     "parallel_for($self, index_space, kernel, *arguments, depends_on=())\n--\n\n"
     "Runs a kernel once for every item of a range.\n\n"
     "Args:\n"
     "    index_space: an int, a tuple, a ``Range`` or an ``NdRange`` of one to three dimensions. The last one is\n"
     "        dimension 0 of the native kernel (CL, OpenCL kernel conventions and SYCL). Without items nothing runs.\n"
     "    kernel: of a bundle loaded in the queue's context.\n"
     "    arguments: numbers, numpy scalars, image handles, ``UsmPointer``, ``UsmArray``, ``LocalAccessor``, and other\n"
     "        libraries' arrays on the queue's device (see ``from_dlpack``).\n"
     "    depends_on: events that it waits for.\n\n"
     "Raises:\n"
     "    InvalidError: an argument of the wrong count, size or kind; the message names it.\n"
     "    NdRangeError: a range or work-group that the kernel cannot have.\n"},
    {NULL, NULL, 0, NULL},
};

/* ------------------------------------------------------------------ bound launches */

static int bound_traverse(Bound *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->stream);
    Py_VISIT(self->prepared);
    Py_VISIT(self->arguments);
    return 0;
}

static int bound_clear(Bound *self)
{
    Py_CLEAR(self->stream);
    Py_CLEAR(self->prepared);
    Py_CLEAR(self->arguments);
    return 0;
}

static void bound_dealloc(Bound *self)
{
    PyObject_GC_UnTrack(self);
    bound_clear(self);
    finish((PyObject *)self);
}

static PyObject *bound_call(Bound *self, PyObject *arguments, PyObject *keywords)
{
    PyObject *depends_on = keywords == NULL ? NULL : PyDict_GetItemWithError(keywords, str_depends_on);
    if (PyTuple_Size(arguments) == 0 && (keywords == NULL || PyDict_Size(keywords) == (depends_on != NULL)) &&
        self->prepared != NULL &&
        self->stream != NULL && self->arguments != NULL && PyList_CheckExact(self->arguments) &&
        PyType_IsSubtype(Py_TYPE(self->prepared), (PyTypeObject *)prepared_type) &&
        PyType_IsSubtype(Py_TYPE(self->stream), (PyTypeObject *)commands_type)) {
        Prepared *launch = (Prepared *)self->prepared;
        PyObject *values[MOST_ARGUMENTS], *event = NULL;
        if (PyList_Size(self->arguments) == launch->count) {
            for (int i = 0; i < launch->count; i++)
                values[i] = Py_NewRef(PyList_GetItem(self->arguments, i));
            int result = submit((Commands *)self->stream, launch, values, depends_on, &event);
            for (int i = 0; i < launch->count; i++)
                Py_DECREF(values[i]);
            if (result != OTHERWISE)
                return event;
        }
    }
    PyObject *method = PyObject_GetAttr((PyObject *)self, str_again);
    PyObject *result = method == NULL ? NULL : PyObject_Call(method, arguments, keywords);
    Py_XDECREF(method);
    return result;
}

static PyMemberDef bound_members[] = {
    {"_stream", T_OBJECT, offsetof(Bound, stream), 0, NULL},
    {"_direct", T_OBJECT, offsetof(Bound, prepared), 0, NULL},
    {"_arguments", T_OBJECT, offsetof(Bound, arguments), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

/* ------------------------------------------------------------------ the module */

#define SLOTS(name, members_, ...)                                                                                     \
    static PyType_Slot name##_slots[] = {                                                                              \
        {Py_tp_traverse, name##_traverse}, {Py_tp_clear, name##_clear}, {Py_tp_dealloc, name##_dealloc},               \
        {Py_tp_members, members_}, __VA_ARGS__ {0, NULL},                                                              \
    };

#define BASE (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC)
#define SPEC(name, type, text)                                                                                         \
    static PyType_Spec name##_spec = {"bindless.drivers._launch." text, sizeof(type), 0, BASE, name##_slots};

static PyType_Slot lock_slots[] = {
    {Py_tp_new, lock_new}, {Py_tp_dealloc, lock_dealloc}, {Py_tp_methods, lock_methods}, {0, NULL},
};
static PyType_Spec lock_spec = {"bindless.drivers._launch.Lock", sizeof(Lock), 0, Py_TPFLAGS_DEFAULT, lock_slots};

SLOTS(mark, mark_members, {Py_tp_new, PyType_GenericNew}, )
SLOTS(lane, lane_members, {Py_tp_new, PyType_GenericNew}, )
SLOTS(event, event_members, {Py_tp_new, PyType_GenericNew}, )
SLOTS(prepared, prepared_members, {Py_tp_new, prepared_new}, {Py_tp_methods, prepared_methods}, )
SLOTS(commands, commands_members, {Py_tp_new, PyType_GenericNew}, {Py_tp_methods, commands_methods}, )
SLOTS(submitter, submitter_members, {Py_tp_new, PyType_GenericNew}, {Py_tp_methods, submitter_methods}, )
SLOTS(bound, bound_members, {Py_tp_new, PyType_GenericNew}, {Py_tp_call, bound_call}, )

SPEC(mark, Mark, "Mark")
SPEC(lane, Lane, "Lane")
SPEC(event, Event, "Event")
SPEC(prepared, Prepared, "Prepared")
SPEC(commands, Commands, "Commands")
SPEC(submitter, Submitter, "Submitter")
SPEC(bound, Bound, "Bound")

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_launch", "The short way of launches.", -1, NULL, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__launch(void)
{
    static const struct { PyObject **at; const char *text; } names[] = {
        {&str_owner, "_owner"}, {&str_open, "open"}, {&str_context, "context"}, {&str_contiguous, "_contiguous"},
        {&str_packed, "_packed"}, {&str_raw_handle, "_raw_handle"}, {&str_took, "_took"},
        {&str_depends_on, "depends_on"}, {&str_any, "_parallel_for_any"}, {&str_again, "_again"},
        {&str_bundle_open, "_open"}, {&str_waits, "_waits"},
    };
    static const struct { PyObject **at; PyType_Spec *spec; const char *name; } types[] = {
        {&lock_type, &lock_spec, "Lock"}, {&mark_type, &mark_spec, "Mark"}, {&lane_type, &lane_spec, "Lane"}, {&event_type, &event_spec, "Event"},
        {&prepared_type, &prepared_spec, "Prepared"}, {&commands_type, &commands_spec, "Commands"},
        {&submitter_type, &submitter_spec, "Submitter"}, {&bound_type, &bound_spec, "Bound"},
    };
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((*names[i].at = PyUnicode_InternFromString(names[i].text)) == NULL)
            goto failed;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if ((*types[i].at = PyType_FromSpec(types[i].spec)) == NULL ||
            PyModule_AddObjectRef(module, types[i].name, *types[i].at) < 0)
            goto failed;
    return module;
failed:
    Py_DECREF(module);
    return NULL;
}
