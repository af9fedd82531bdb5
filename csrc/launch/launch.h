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
 *   Copies      the copies prepared for it, each a Copy, which repeats what Submitter.ext_oneapi_copy is given
 *   Event       a command's end, as users hold it
 *   Lock        of a queue; reentrant, Ctrl-C ends a wait for it
 *   Owner       what releases a native object when it is dropped; no signal splits that
 *   Openable    memory and bundles of kernels, which users close
 *   Lane        a stream of the driver, whose last event is recorded only if somebody keeps it
 *   Mark        the end of a command in a lane
 */

#ifndef BINDLESS_LAUNCH_H
#define BINDLESS_LAUNCH_H

#define Py_LIMITED_API 0x030a0000
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <structmember.h>

enum { ROWS = 64, MOST_LANES = 8, MOST_ARGUMENTS = 64, MOST_WAITS = 8, REPEATS_FOR_ONE = 8 };

/* Submissions between two looks at what has completed; Python has it from here. */
enum { REAP_EVERY = 64 };

/* The driver's function: takes the description of a launch, gives 0 or the driver's error, or INT32_MIN where Python has
 * to see to something first. */
enum { IN_PYTHON = INT32_MIN };
typedef int (*submit_function)(const void *description);

/* Others: of an event that the driver made, and of a lane, which is asked so often at most. 0 when all is done, NOT_READY
 * when not, else the error. */
enum { NOT_READY = INT32_MIN };
typedef int (*query_function)(const void *event);
typedef int (*wait_function)(const void *lane, int questions);

/* Gives an event of the driver's back. */
typedef int (*release_function)(void *event);

/* Events of the driver's that its function has the command wait for. */
typedef struct {
    uint64_t count, events[MOST_WAITS];
} Waits;

typedef struct {
    PyObject_HEAD
    PyObject *stream, *native;
    long long index;
    unsigned long long number;  /* the driver's event that ends with the mark; or 0 */
    unsigned long long let_go;  /* the function that it is given back by */
} Mark;

typedef struct {
    PyObject_HEAD
    PyObject *pending;
    long long submitted, done;
    unsigned long long wait, asked; /* a function of the driver's that tells whether all is done, and what it is given; or 0 */
    unsigned long long made, query, let_go; /* where the driver leaves the event of each command, what tells whether that is
                                               complete, and what gives it back; or 0 */
    unsigned long long waits; /* where the driver finds the Waits of a command; or 0 */
    char used;
} Lane;

typedef struct {
    PyObject_HEAD
    PyObject *stream, *native, *task, *error;
    char done;
} Event;

/* The interpreter lock guards its fields: without others in the way it takes no lock of the system's. */
typedef struct {
    PyObject_HEAD
    unsigned long owner, depth;
    PyThread_type_lock bell; /* locked, but when it was rung for one who waits */
    unsigned long waiting, passed; /* how often others were quicker than who waits */
    bool rung;
} Lock;

typedef struct {
    PyObject_HEAD
    char open;
} Openable;

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
    PyObject *dtype;  /* that arrays must have; kept. NULL: any */
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
    PyObject *native, *blocker, *context, *bundles, *last_bundle, *event_type, *lock, *batch_list, *copies;
    PyObject *lanes;                         /* of the native queue: idle when all of them are known to be; or None */
    PyObject *active;                        /* the set of those with work that is not known to be complete */
    PyObject *held, *tasks, *outside_waits;  /* what only Python looks after; mostly empty */
    long long batch, countdown;
    char closed; /* takes no more commands; those before go on */
    char dirty, in_order, in_batches; /* in_batches: memory is held by batches of commands, else by each event */
    unsigned turn, repeats;
    unsigned dropped; /* how many launches had lost their kernels when the rows were looked at last */
    Prepared *rows[ROWS];
} Commands;

/* prepared.c: how many launches have lost their kernels, in all. */
extern unsigned launches_dropped;

typedef struct {
    PyObject_HEAD
    PyObject *stream;
} Submitter;

typedef struct {
    PyObject_HEAD
    PyObject *stream, *prepared, *arguments;
} Bound;

extern PyObject *lock_type, *openable_type, *mark_type, *lane_type, *event_type, *prepared_type,
    *commands_type, *submitter_type, *bound_type, *copy_type, *copies_type, *owner_type;
extern PyObject *str_owner, *str_open, *str_context, *str_contiguous, *str_packed, *str_raw_handle, *str_took,
    *str_depends_on, *str_dtype, *str_any, *str_again, *str_waits, *str_copy_any, *str_wait_any, *str_finalize;
extern PyType_Spec lock_spec, openable_spec, mark_spec, lane_spec, event_spec, prepared_spec, commands_spec, submitter_spec, bound_spec,
    copy_spec, copies_spec, owner_spec;

/* What a way can end in besides an object. */
enum { OTHERWISE = 0, DONE = 1, FAILED = -1 };

static inline bool is_memory(const Slot *slot)
{
    return slot->kind == POINTER || slot->kind == ARRAY;
}

/* objects.c: an object of a heap type; its end, after its contents; whether an attribute is True. */
PyObject *make(PyObject *type);
void finish(PyObject *self);
bool is_true(PyObject *object, PyObject *name);

/* wait.c: the answer of a lane whose wait is not 0. */
int ask(const Lane *lane, int questions);

/* objects.c: the driver's event of the command just submitted to a lane becomes a mark's. */
void own_event(Mark *mark, const Lane *lane);

/* lock.c. take: false with an exception of a signal's handler. */
bool take(Lock *self);
void give_back(Lock *self);

/* prepared.c: sizes of a range as ints; false for another kind of range, and where there is nothing to launch. */
bool read_space(PyObject *space, long long sizes[3], int *dimensions);

/* arguments.c: puts the values where the driver reads them; OTHERWISE where Python has to look at one. */
int put_arguments(const Commands *commands, Prepared *launch, PyObject *const *values);

/* commands.c: where a prepared launch lies. */
unsigned row_of(PyObject *kernel, PyObject *space, const long long sizes[3], int dimensions, Py_ssize_t count);

/* Puts the numbers of a command where the driver reads them: DONE, OTHERWISE or FAILED. It calls nothing of Python's. */
typedef int (*fill_function)(const void *what);

/* submit.c: DONE with an event; depends_on is NULL or what the caller gave. The values are put in place, or fill(what) is
 * called, last of all. takes_commands: whether the queue is open and waits for nothing that its driver does not know. */
int submit(Commands *self, Prepared *launch, PyObject *const *values, fill_function fill, const void *what,
           PyObject *depends_on, PyObject **given);
bool takes_commands(const Commands *self);

/* queue.c: the Python method that knows all cases. */
PyObject *call_any(PyObject *self, PyObject *method_name, PyObject *const *arguments, Py_ssize_t count, PyObject *names);

/* copies.c: Submitter.ext_oneapi_copy; given.c: makes ready, once. */
PyObject *submitter_copy(Submitter *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names);
bool name_attributes(void);

/* wait.c: Event.wait. */
PyObject *event_wait(Event *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names);

/* commands.c: says that there is work, before it is submitted; lets go of what completed commands used, if all are known to
 * be complete, else OTHERWISE. */
bool announce(Commands *self);
int reap(Commands *self);

#define SLOTS(name, members_, ...)                                                                                     \
    static PyType_Slot name##_slots[] = {                                                                              \
        {Py_tp_traverse, name##_traverse}, {Py_tp_clear, name##_clear}, {Py_tp_dealloc, name##_dealloc},               \
        {Py_tp_members, members_}, __VA_ARGS__ {0, NULL},                                                              \
    };

#define BASE (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC)
#define SPEC(name, type, text)                                                                                         \
    PyType_Spec name##_spec = {"bindless.drivers._launch." text, sizeof(type), 0, BASE, name##_slots};

#endif
