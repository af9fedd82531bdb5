/* Types of objects that own references: a type lists them once, for collections and for its end. */

#ifndef BINDLESS_SUBMISSION_OBJECT_H
#define BINDLESS_SUBMISSION_OBJECT_H

#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <structmember.h>

/* Results of a C path that does not return an object. */
enum { OTHERWISE = 0, DONE = 1, FAILED = -1 };

/* Of a function whose frame would slow down its caller, which seldom calls it. */
#ifdef __GNUC__
#define NOT_INLINE __attribute__((noinline))
#else
#define NOT_INLINE
#endif

/* What the interpreter lock guards in an ordinary Python, a Guard does in a free-threaded one. It is held for a few
 * instructions, which run no Python code and let no other thread run.
 *
 * LOOK and PUT: a member that is compared, not followed, and that other threads write without the reader's guard. What
 * precedes a PUT is seen by who has seen its value. */
#ifdef Py_GIL_DISABLED
#ifndef __GNUC__
#error "the modules of a free-threaded Python are compiled by GCC or Clang"
#endif
#define GUARD(name) PyMutex name;
#define BEGIN_GUARD(guard) PyMutex_Lock(&(guard))
#define END_GUARD(guard) PyMutex_Unlock(&(guard))
#define LOOK(member) __atomic_load_n(&(member), __ATOMIC_ACQUIRE)
#define PUT(member, value) __atomic_store_n(&(member), (value), __ATOMIC_RELEASE)
#else
#define GUARD(name)
#define BEGIN_GUARD(guard) ((void)0)
#define END_GUARD(guard) ((void)0)
#define LOOK(member) (member)
#define PUT(member, value) ((void)((member) = (value)))
#endif

/* No other thread changes a list in between. */
#ifdef Py_GIL_DISABLED
#define BEGIN_LIST(list) Py_BEGIN_CRITICAL_SECTION(list)
#define END_LIST() Py_END_CRITICAL_SECTION()
#else
#define BEGIN_LIST(list) ((void)(list))
#define END_LIST() ((void)0)
#endif

/* Whether the caller's reference, or the one of the container that it looks into, is the only one. */
#if defined(Py_GIL_DISABLED) && PY_VERSION_HEX >= 0x030E0000
#define IS_SOLE(object) (PyUnstable_Object_IsUniquelyReferenced(object) != 0)
#else
#define IS_SOLE(object) (Py_REFCNT(object) == 1)
#endif

/* New references to what other threads may replace meanwhile: a member of an object, an item of a dict or of a list. NULL
 * without one; then the dict may, and the list does, set an exception. */
static inline PyObject *member_of(PyObject *self, PyObject **member)
{
#ifdef Py_GIL_DISABLED
    PyObject *value;
    Py_BEGIN_CRITICAL_SECTION(self); /* Python sets members in one */
    value = Py_XNewRef(*member);
    Py_END_CRITICAL_SECTION();
    return value;
#else
    (void)self;
    return Py_XNewRef(*member);
#endif
}

/* Replaces a member by a new reference, or NULL. */
static inline void replace_member(PyObject *self, PyObject **member, PyObject *value)
{
    PyObject *before;
#ifdef Py_GIL_DISABLED
    Py_BEGIN_CRITICAL_SECTION(self);
    before = *member;
    PUT(*member, value);
    Py_END_CRITICAL_SECTION();
#else
    (void)self;
    before = *member;
    *member = value;
#endif
    Py_XDECREF(before);
}

static inline PyObject *dict_item(PyObject *dict, PyObject *key)
{
#ifdef Py_GIL_DISABLED
    PyObject *value;
    (void)PyDict_GetItemRef(dict, key, &value);
    return value;
#else
    return Py_XNewRef(PyDict_GetItemWithError(dict, key));
#endif
}

static inline PyObject *list_item(PyObject *list, Py_ssize_t index)
{
#ifdef Py_GIL_DISABLED
    return PyList_GetItemRef(list, index);
#else
    return Py_XNewRef(PyList_GetItem(list, index));
#endif
}

/* object.c: creates an object of a heap type; frees one after its contents; tests whether an attribute is True. */
PyObject *make(PyObject *type);
void finish(PyObject *self);
bool is_true(PyObject *object, PyObject *name);

/* Interns names of attributes, each once; false with an exception. */
typedef struct {
    PyObject **at;
    const char *text;
} Name;
bool intern_names(const Name *names, size_t count);
#define INTERN(names) intern_names(names, sizeof(names) / sizeof *(names))

/* What is done with the place of each reference: a visit, or clearing. */
typedef int (*each_function)(PyObject **place, void *arg);
typedef struct {
    visitproc visit;
    void *arg;
} Visitor;
int visit_place(PyObject **place, void *visitor);
int clear_place(PyObject **place, void *unused);

#define EACH(member)                                                                                                   \
    do {                                                                                                               \
        const int result_ = each(&(member), arg);                                                                      \
        if (result_ != 0)                                                                                              \
            return result_;                                                                                            \
    } while (0)

/* Begins the function that calls EACH for the references of an object. */
#define REFERENCES(name, type) static int name##_each(type *self, each_function each, void *arg)

/* Defines NAME_spec of a type whose references NAME_each lists. disable: a statement before these are cleared; free: one
 * before the memory is freed; the rest are slots. */
#define OBJECT_TYPE(name, type, text, disable, free, ...)                                                              \
    static int name##_traverse(type *self, visitproc visit, void *arg)                                                 \
    {                                                                                                                  \
        Visitor visitor = {visit, arg};                                                                                \
        Py_VISIT(Py_TYPE(self));                                                                                       \
        return name##_each(self, visit_place, &visitor);                                                               \
    }                                                                                                                  \
    static int name##_clear(type *self)                                                                                \
    {                                                                                                                  \
        disable;                                                                                                       \
        return name##_each(self, clear_place, NULL);                                                                   \
    }                                                                                                                  \
    static void name##_dealloc(type *self)                                                                             \
    {                                                                                                                  \
        PyObject_GC_UnTrack(self);                                                                                     \
        name##_clear(self);                                                                                            \
        free;                                                                                                          \
        finish((PyObject *)self);                                                                                      \
    }                                                                                                                  \
    static PyType_Slot name##_slots[] = {                                                                              \
        {Py_tp_traverse, name##_traverse}, {Py_tp_clear, name##_clear}, {Py_tp_dealloc, name##_dealloc},               \
        __VA_ARGS__ {0, NULL},                                                                                         \
    };                                                                                                                 \
    PyType_Spec name##_spec = {"bindless.core._submission." text, sizeof(type), 0,                                     \
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, name##_slots}

#endif
