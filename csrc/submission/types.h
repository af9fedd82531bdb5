/* Submission of prepared commands: launches, copies and device functions. A back end prepares a command at its first
 * call; the code here packs its arguments, calls the driver, and holds what the command uses until it is complete.
 * Later calls run in C alone, because Python would take as long as the driver.
 *
 * The types here are base classes of the package's Python classes. They hold the attributes that the C path uses;
 * the Python classes define the rest. A call that does not match a prepared command goes to the Python method, which
 * prepares another one, or explains the refusal.
 *
 *   Submitter   base of the queue: parallel_for
 *   Bound       a bound launch: its call
 *   Template    base of a kernel in Python; Variants: the kernels that it was compiled to, by the types of arguments
 *   Commands    submitted commands of a queue, and the cache of prepared launches
 *   Prepared    a prepared launch: the driver function, its descriptions, the packing of arguments
 *   Copies      cache of prepared copies, each a Copy, for Submitter.ext_oneapi_copy
 *   ImageCalls  cache of prepared device functions, each an ImageCall, for device_function
 *   Event       the event of a command, as users hold it
 *   Lock        reentrant lock of a queue; Ctrl-C interrupts a wait for it
 *   Owner       releases a native object in its destructor, which signals cannot interrupt
 *   Openable    base of memory and kernel bundles, which users close
 *   Lane        a driver stream; records the event of its last command only if a reference to the mark exists. Its
 *               lock, if it has one, is held around a submission: other threads record events in the stream.
 *   Mark        the end of a command in a lane
 *
 * Two rules keep a call whole while other Python code runs: methods and properties of arguments, finalizers (before
 * Python 3.12 a collection may begin at any new object), and other threads.
 *
 *   A submission has two steps. It first reads: all that may run Python code becomes plain values and references
 *   (argument.h, read_arguments), before the queue's lock is taken. Then, under the locks, call_driver checks
 *   the state once more (the queue accepts commands, the row is in use, memory is open), writes the driver's description,
 *   and calls the driver. From that check to the driver's call nothing runs Python code: no call, no attribute of an
 *   argument, no new object, no end of an object with a finalizer. Other code may submit the same row between the steps.
 *
 *   Who looks up a row of a table has a reference to it before anything runs Python code, until the last use: other code
 *   may replace the row meanwhile.
 *
 * docs/internals/submission.md describes the steps of a call, the locks, the tables, and who keeps what alive. */

#ifndef BINDLESS_SUBMISSION_TYPES_H
#define BINDLESS_SUBMISSION_TYPES_H

#include "call_table.h"

enum { MOST_LANES = 8, MOST_ARGUMENTS = 64, MOST_OBJECTS = 8, MOST_WAITS = 8, REPEATS_FOR_ONE = 8 };

/* Submissions between two checks for completed commands; Python reads it from here. */
enum { REAP_EVERY = 64 };

/* A driver function: takes the description of a launch and returns 0, the driver's error, or INT32_MIN where Python
 * must act first. */
enum { IN_PYTHON = INT32_MIN };
typedef int (*submit_function)(const void *description);

/* Queries of a driver event, and of a lane with a maximum number of polls. Both return 0 when all work is complete,
 * NOT_READY when not, else the error. */
enum { NOT_READY = INT32_MIN };
typedef int (*query_function)(const void *event);
typedef int (*wait_function)(const void *lane, int questions);

/* Releases a driver event. */
typedef int (*release_function)(void *event);

/* Makes the driver signal a new event after all commands of a lane, of which the last one has this index; returns 0 and
 * the event's number, or the driver's error. */
typedef int (*record_function)(const void *lane, long long index, unsigned long long *number);

/* Driver events that a submission function adds to the command's wait list. */
typedef struct {
    uint64_t count, events[MOST_WAITS];
} Waits;

typedef struct {
    PyObject_HEAD
    PyObject *stream, *native;
    long long index;
    unsigned long long number;  /* the driver event that ends with the mark; or 0 */
    unsigned long long let_go;  /* address of the release function of that event */
} Mark;

typedef struct {
    PyObject_HEAD
    PyObject *pending, *lock;
    long long submitted, done;
    unsigned long long wait, driver_stream; /* addresses of the query of all work, and of the driver's stream; or 0 */
    unsigned long long last_event, query, let_go; /* addresses of the last command's event, its query and its release; or 0 */
    unsigned long long waits; /* address of the Waits of a command; or 0 */
    unsigned long long record_at; /* address of the function that records events in the lane, with `driver_stream`; or 0 */
    char used;
    unsigned long long order, order_after, order_before; /* addresses of functions that make the lane wait for a stream of
                                                          * another library, and that stream for the lane, and of their
                                                          * first argument; or 0 */
} Lane;

/* The second argument is the number of the stream. Returns 0, or the driver's error. */
typedef int (*order_function)(void *order, uint64_t stream);

typedef struct {
    PyObject_HEAD
    PyObject *stream, *native, *task, *error;
    char done;
} Event;

/* The guard, or the interpreter lock, guards the members: without contention the lock makes no system call. */
typedef struct {
    PyObject_HEAD
    GUARD(guard)
    unsigned long owner, depth;
    PyThread_type_lock bell; /* locked, unless a release has signalled a waiter */
    unsigned long waiting, passed; /* how often other threads took the lock before the signalled waiter */
    bool rung;
} Lock;

typedef struct {
    PyObject_HEAD
    char open;
} Openable;

/* How an argument is packed into bytes. HELD: a handle that keeps its image, and that the command keeps. GIVEN: Python
 * has packed it. LOCAL: only its size may not change. */
typedef enum { NUMBER, POINTER, ARRAY, HANDLE, HELD, LOCAL, GIVEN, FIXED } Kind;

typedef struct {
    unsigned char *place;
    int size;
    Kind kind;
    bool integers_as_floats;
    bool takes_integers, takes_floats;
    bool sampled;     /* HELD: of a sampled image */
    PyObject *type;   /* of memory, handles and local memory; borrowed, since the types are immortal */
    PyObject *value;  /* FIXED: the value, owned. NUMBER: the scalar of numpy in place, owned, or NULL. Memory: the last value seen, owned by the batch below */
    PyObject *owner;  /* owner of that memory */
    PyObject *dtype;  /* required dtype of arrays; owned. NULL: any */
    int code, bits;   /* the same for DLPack; code -1: it has no such type */
    long long batch;
} Slot;

/* What a prepared launch is for. */
typedef struct {
    PyObject *kernel; /* borrowed: a watch forgets the row */
    PyObject *space;    /* a range that C code does not read; else NULL */
    long long sizes[9]; /* of an NdRange global ones, local ones, and the offset, three of each */
    int dimensions;     /* and the kind of the range; 0: not read */
    Py_ssize_t count; /* arguments */
} LaunchKey;

typedef struct {
    Row base;
    LaunchKey key;
    PyObject *bundle, *mark_type, *lanes, *settle, *refused, *keep;
    submit_function submit;
    const void *descriptions[MOST_LANES];
    int lane_count, count;
    bool has_memory, has_images;
    Slot *slots;
    PyObject *objects[MOST_OBJECTS]; /* the objects of the last submission, owned by the batch below, for comparison */
    int object_count;
    long long batch;
} Prepared;

/* The bytes of a parameter, as read from an argument: what the packing writes. */
typedef struct {
    const void *from;         /* the bytes of the parameter; NULL: nothing is written */
    int size;
    PyObject *object;         /* owned: the owner of memory, which must be open; or what has the bytes; or NULL */
    unsigned char bytes[16];  /* the bytes, unless an object has them */
} Parameter;

/* Writes the numbers of a command into the driver's descriptions: DONE, OTHERWISE or FAILED. Must not run Python code. */
typedef int (*fill_function)(const void *what);

/* Called when a batch holds the kept objects of a submission. Must not run Python code. */
typedef void (*held_function)(const void *what, long long batch);

/* A submission of a prepared command. The caller holds references to the objects. */
typedef struct {
    Prepared *command;
    PyObject *const *values; /* the arguments of the command */
    bool packed;             /* whether Python has packed the arguments of kind GIVEN */
    fill_function fill;      /* NULL: the command has arguments; else fill(what) writes what changes */
    const void *what;
    PyObject *const *objects; /* live until the command is complete, in addition to the arguments */
    int object_count;        /* at most MOST_OBJECTS */
    held_function held;      /* NULL, or called with what */
    long long weight;        /* further submissions that it counts as, since it holds large host memory */
    PyObject *depends_on;    /* NULL or the caller's value */
    uint64_t stream;         /* of another library: precedes the command now, and follows it afterwards; or 0 */
    const uint64_t *foreign; /* addresses of the arguments that are other libraries' arrays, 0 for others; or NULL */
    bool same_addresses;     /* these must be the addresses of the submission before: their device is unknown */
    const Parameter *arguments; /* the values, as submit has read them */
} Submission;

/* The queue's lock guards the members, but for those that are read and written without it: `waiters`, and the notes in rows
 * of what the last submission wrote in place (Slot.value, CallArray.held), which the guard guards. */
typedef struct {
    PyObject_HEAD
    CallTable launches;
    GUARD(guard)
    PyObject *native, *blocker, *context, *bundles, *last_bundle, *event_type, *lock, *batch_list, *copies;
    PyObject *lanes;                         /* of the native queue, which is idle when all of them are; or None */
    PyObject *active;                        /* the set of queues with work not known to be complete */
    PyObject *held;                          /* pairs of an event and what its command, or its batch, uses */
    PyObject *doubtful;                      /* what running and interrupted submissions of Python may use */
    PyObject *tasks, *outside_waits;         /* objects that only Python handles; mostly empty */
    PyObject *handles, *device; /* in a context of several devices: the context's table of images, and the queue's device */
    long long batch, countdown;
    char closed; /* accepts no more commands; submitted ones continue */
    char dirty, in_order, in_batches; /* in_batches: batches of commands hold memory; otherwise each event does */
    char declined; /* the driver function of the last submission returned IN_PYTHON */
    char ended;    /* the interpreter is ending, or was forked: native memory may be gone */
    long long waiters; /* threads that ask the driver without the lock: they keep the native queue; see begin_question */
    unsigned turn, repeats;
    PyObject *image_calls;                   /* an ImageCalls; or None */
    int dlpack_type, dlpack_id;              /* the device as DLPack's, if libraries share its streams; or 0 */
    char dlpack_alone;                       /* the process has no other device of that type */
} Commands;

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
extern PyObject *str_owner, *str_open, *str_context, *str_contiguous, *str_packed, *str_raw_handle, *str_check,
    *str_depends_on, *str_dtype, *str_any, *str_again, *str_waits, *str_copy_any, *str_wait_any, *str_finalize,
    *str_append, *str_nbytes, *str_sampled, *str_device, *str_tobytes, *str_live, *str_close_native;
extern PyType_Spec lock_spec, openable_spec, mark_spec, lane_spec, event_spec, prepared_spec, commands_spec, submitter_spec, bound_spec,
    copy_spec, copies_spec, owner_spec;

/* Whether the command holds the argument. */
static inline bool is_held(const Slot *slot)
{
    return slot->kind == POINTER || slot->kind == ARRAY || slot->kind == HELD;
}

/* Whether memory or a bundle may be used; whoever closes it then waits for the queues that are active (active_streams.py). */
static inline bool is_open(const PyObject *openable)
{
    return LOOK(((const Openable *)openable)->open);
}

/* Whether the queue still has its native one. */
static inline bool has_native(const Commands *commands)
{
    PyObject *native = LOOK(commands->native);
    return native != NULL && native != Py_None;
}

/* image_arguments.c: the arguments of a launch, with handles in place of the images among them. lend_images: false, and
 * nothing to end, without images and where Python must say what is wrong with one. */
typedef struct {
    PyObject *values[MOST_ARGUMENTS], *owned[MOST_ARGUMENTS];
    int count;
} LentImages;
bool lend_images(const Prepared *launch, PyObject *const *values, LentImages *lent);
void end_images(LentImages *lent);
bool name_image_arguments(void);

/* wait.c: queries a lane whose wait is not 0. */
int ask(const Lane *lane, int questions);

/* lane_and_event.c: stores the driver event of the command just submitted to a lane in a mark. */
void own_event(Mark *mark, const Lane *lane);

/* record_event.c: record a driver event for a mark, where its completion is unknown. OTHERWISE where Python must act.
 * record_mark: the lane's lock is held. */
int record_mark(Lane *lane, Mark *mark);
int record_for_wait(Mark *mark);

/* lock.c. take: false with an exception from a signal handler. */
static inline bool is_lock(PyObject *object)
{
    return object != NULL && PyObject_TypeCheck(object, (PyTypeObject *)lock_type);
}

bool take(Lock *self);
void give_back(Lock *self);

/* prepared_command.c: describes a launch; the references are borrowed. Runs no Python code. range_dimensions: 1 to 3; 0 for
 * a range that Python must read. */
bool name_ranges(void);
int range_dimensions(PyObject *space);
void read_key(PyObject *kernel, PyObject *space, Py_ssize_t count, LaunchKey *key);

/* foreign_arguments.c: DLPack's code and bits of a dtype; false with an exception. */
bool name_types(void);
bool foreign_type(PyObject *dtype, int *code, int *bits);

/* read_arguments.c: the values of a submission; OTHERWISE where Python must handle one. With DONE the caller ends them.
 * know_types: the types of numpy. */
int read_arguments(Commands *commands, const Submission *submission, Parameter *arguments);
void end_arguments(Parameter *arguments, int count);
PyObject *know_types(PyObject *module, PyObject *arguments);
bool is_host_array(PyObject *value);

/* pack_arguments.c: writes what was read into the driver's description. Runs no Python code. OTHERWISE, with nothing
 * written, where Python must handle the command. */
int pack_arguments(Commands *commands, const Submission *submission);

static inline bool is_foreign(const Submission *submission, int index)
{
    return submission->foreign != NULL && submission->foreign[index] != 0;
}

/* Like memcpy, without a call for the sizes of most parameters. */
static inline void copy_bytes(void *to, const void *from, int size)
{
    if (size == 8)
        memcpy(to, from, 8);
    else if (size == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, (size_t)size);
}

/* command_stream.c: the prepared launch of a kernel over a range, a new reference; NULL without one. */
Prepared *find_launch(const Commands *self, PyObject *kernel, PyObject *space, Py_ssize_t count);

/* owner.c: one-time initialisation: which thread handles signals, in children of forks, too; false with an exception. */
bool watch_threads(void);
PyObject *uninterrupted(PyObject *module, PyObject *function);

/* owner.c: whether this is the child of a fork that still has objects of its parent, whose ends release nothing; and its
 * end, a function of the module. */
bool is_new_child(void);
PyObject *has_begun_fork(PyObject *module, PyObject *unused);
PyObject *expect_end_fork(PyObject *module, PyObject *unused);
PyObject *end_fork(PyObject *module, PyObject *unused);

/* submit.c: DONE with an event, or OTHERWISE where Python must handle the command. Takes the queue's lock. */
int submit(Commands *self, Submission *submission, PyObject **event);

/* hold.c: ownership of the objects that a submitted command uses; the lock is held. begin_hold makes the pair of event
 * and objects, or NULL where a batch holds them; end_hold takes it over after the submission. Nothing in between
 * allocates memory for this. */
bool begin_hold(const Commands *self, const Submission *submission, PyObject *event, PyObject **pair);
int end_hold(Commands *self, const Submission *submission, PyObject *event, PyObject *pair);
PyObject *commands_took(Commands *self, PyObject *const *arguments, Py_ssize_t count);

/* entry_points.c: calls the Python method that handles all cases. */
PyObject *call_any(PyObject *self, PyObject *method_name, PyObject *const *arguments, Py_ssize_t count, PyObject *names);

/* array_layout.c: the module's array_layout. */
bool name_layouts(void);
PyObject *array_layout(PyObject *module, PyObject *array);

/* copy_table.c: Submitter.ext_oneapi_copy; copy_operand.c: one-time initialisation. */
PyObject *submitter_copy(Submitter *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names);
bool name_attributes(void);

/* image_call_table.c: the module's device_function, for the device functions. */
PyObject *device_function(PyObject *module, PyObject *const *arguments, Py_ssize_t count);
extern PyObject *image_call_type, *image_calls_type;
extern PyType_Spec image_call_spec, image_calls_spec;

/* wait.c: commands_ask calls a function that asks the driver, with arguments, and keeps the native queue until it returns;
 * require_live raises the error of a queue that has ended. */
PyObject *commands_ask(Commands *self, PyObject *const *arguments, Py_ssize_t count);
int require_live(const Commands *self);
PyObject *commands_waiters(Commands *self, void *unused);

/* wait.c: Event.wait, and a method of Commands for Queue.wait. */
PyObject *commands_wait_shortly(Commands *self, PyObject *unused);
PyObject *event_wait(Event *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names);

/* command_stream.c: announce marks the queue as active before a submission; reap releases the objects of completed
 * commands if all are known to be complete, else returns OTHERWISE. */
bool announce(Commands *self);
int reap(Commands *self);

#endif
