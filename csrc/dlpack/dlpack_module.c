/* DLPack's capsules: making one of an array, reading one, taking one over, giving it back.
 *
 * This is C because a deleter and a capsule's destructor are called at moments when no Python code may start: from
 * threads that do not hold the interpreter lock, while an exception is on its way, and when the interpreter has ended. */

#include <Python.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "dlpack_layout.h"

#define MAJOR 1
#define MINOR 1

/* Capsules keep these pointers, so they are static. */
static const char LEGACY[] = "dltensor";
static const char LEGACY_TAKEN[] = "used_dltensor";
static const char VERSIONED[] = "dltensor_versioned";
static const char VERSIONED_TAKEN[] = "used_dltensor_versioned";

/* Exports whose deleter was not called yet. */
static atomic_long alive;
/* Set at interpreter exit: from then on deleters leave Python alone, and the memory to the end of the process. */
static atomic_bool finished;
/* Threads in release_owner, which may be about to take the interpreter lock. */
static atomic_long active;

/* ------------------------------------------------------------------ export */

/* One allocation holds the structure, of either form, and its sizes; manager_ctx is the Python object that keeps the
 * memory. */
typedef struct {
    union {
        DLManagedTensor legacy;
        DLManagedTensorVersioned versioned;
    } managed;
    int64_t sizes[];
} Export;

/* Lets go of an owner, from any thread, leaving an exception on its way as it is. */
static void release_owner(PyObject *owner)
{
    atomic_fetch_add(&active, 1); /* before the look: finish either sees this thread or is seen by it */
    if (!atomic_load(&finished) && Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        PyObject *type, *value, *traceback;
        PyErr_Fetch(&type, &value, &traceback);
        Py_DECREF(owner);
        PyErr_Restore(type, value, traceback);
        PyGILState_Release(state);
    }
    atomic_fetch_sub(&active, 1);
}

static void delete_legacy(DLManagedTensor *self)
{
    release_owner(self->manager_ctx);
    free(self); /* the first member of its Export */
    atomic_fetch_sub(&alive, 1);
}

static void delete_versioned(DLManagedTensorVersioned *self)
{
    release_owner(self->manager_ctx);
    free(self);
    atomic_fetch_sub(&alive, 1);
}

/* Deletes what a capsule holds that nobody has taken. */
static void destroy_capsule(PyObject *capsule)
{
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (PyCapsule_IsValid(capsule, LEGACY))
        delete_legacy(PyCapsule_GetPointer(capsule, LEGACY));
    else if (PyCapsule_IsValid(capsule, VERSIONED))
        delete_versioned(PyCapsule_GetPointer(capsule, VERSIONED));
    PyErr_Restore(type, value, traceback);
}

/* Copies ndim integers of a tuple; false with an exception set. */
static bool read_sizes(PyObject *tuple, Py_ssize_t ndim, int64_t *sizes)
{
    for (Py_ssize_t i = 0; i < ndim; i++) {
        sizes[i] = PyLong_AsLongLong(PyTuple_GetItem(tuple, i));
        if (sizes[i] == -1 && PyErr_Occurred())
            return false;
    }
    return true;
}

static PyObject *make_capsule(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *owner, *shape, *strides;
    unsigned long long address, flags;
    int versioned, device_type, device_id, code, bits;
    if (!PyArg_ParseTuple(arguments, "OK(ii)(ii)O!O!Kp:make_capsule", &owner, &address, &device_type, &device_id, &code,
                          &bits, &PyTuple_Type, &shape, &PyTuple_Type, &strides, &flags, &versioned))
        return NULL;
    Py_ssize_t ndim = PyTuple_Size(shape);
    if (PyTuple_Size(strides) != ndim) {
        PyErr_SetString(PyExc_ValueError, "shape and strides differ in length");
        return NULL;
    }
    Export *export = calloc(1, sizeof *export + 2 * (size_t)ndim * sizeof(int64_t));
    if (export == NULL)
        return PyErr_NoMemory();
    if (!read_sizes(shape, ndim, export->sizes) || !read_sizes(strides, ndim, export->sizes + ndim)) {
        free(export);
        return NULL;
    }
    DLTensor tensor = {
        .data = (void *)(uintptr_t)address,
        .device = {device_type, device_id},
        .ndim = (int32_t)ndim,
        .dtype = {(uint8_t)code, (uint8_t)bits, 1},
        .shape = export->sizes,
        .strides = export->sizes + ndim,
    };
    if (versioned)
        export->managed.versioned = (DLManagedTensorVersioned){
            .version = {MAJOR, MINOR},
            .manager_ctx = owner,
            .deleter = delete_versioned,
            .flags = flags,
            .dl_tensor = tensor,
        };
    else
        export->managed.legacy = (DLManagedTensor){.dl_tensor = tensor, .manager_ctx = owner, .deleter = delete_legacy};
    PyObject *capsule = PyCapsule_New(export, versioned ? VERSIONED : LEGACY, destroy_capsule);
    if (capsule == NULL) {
        free(export);
        return NULL;
    }
    Py_INCREF(owner);
    atomic_fetch_add(&alive, 1);
    return capsule;
}

/* ------------------------------------------------------------------ import */

/* The tensor of an untaken capsule and whether it is of the versioned form; NULL with an exception set. */
static DLTensor *tensor_of(PyObject *capsule, DLManagedTensorVersioned **versioned)
{
    *versioned = NULL;
    if (PyCapsule_IsValid(capsule, LEGACY))
        return &((DLManagedTensor *)PyCapsule_GetPointer(capsule, LEGACY))->dl_tensor;
    if (PyCapsule_IsValid(capsule, VERSIONED)) {
        *versioned = PyCapsule_GetPointer(capsule, VERSIONED);
        return &(*versioned)->dl_tensor;
    }
    if (PyCapsule_IsValid(capsule, LEGACY_TAKEN) || PyCapsule_IsValid(capsule, VERSIONED_TAKEN))
        PyErr_SetString(PyExc_ValueError, "the DLPack capsule was consumed before: ask the exporter for another one");
    else
        PyErr_Format(PyExc_ValueError, "%R is no DLPack capsule", capsule);
    return NULL;
}

static PyObject *tuple_of(int32_t ndim, const int64_t *sizes)
{
    PyObject *tuple = PyTuple_New(ndim);
    for (int32_t i = 0; tuple != NULL && i < ndim; i++) {
        PyObject *size = PyLong_FromLongLong(sizes[i]);
        if (size == NULL || PyTuple_SetItem(tuple, i, size) < 0)
            Py_CLEAR(tuple);
    }
    return tuple;
}

static PyObject *read_capsule(PyObject *module, PyObject *capsule)
{
    (void)module;
    DLManagedTensorVersioned *versioned;
    DLTensor *tensor = tensor_of(capsule, &versioned);
    if (tensor == NULL)
        return NULL;
    unsigned int major = versioned ? versioned->version.major : 0, minor = versioned ? versioned->version.minor : 0;
    if (major > MAJOR) /* only the deleter of such a structure lies where it is known to be */
        return PyErr_Format(PyExc_ValueError, "the exporter speaks DLPack %u.%u, this package up to %d.x", major, minor,
                            MAJOR);
    if (tensor->ndim < 0 || (tensor->ndim > 0 && tensor->shape == NULL))
        return PyErr_Format(PyExc_ValueError, "a DLPack tensor of %d dimensions without a shape", (int)tensor->ndim);
    PyObject *shape = tuple_of(tensor->ndim, tensor->shape);
    PyObject *strides = tensor->strides == NULL ? Py_NewRef(Py_None) : tuple_of(tensor->ndim, tensor->strides);
    if (shape == NULL || strides == NULL) {
        Py_XDECREF(shape);
        Py_XDECREF(strides);
        return NULL;
    }
    return Py_BuildValue("{s:K,s:(ii),s:(iii),s:N,s:N,s:K,s:(II)}", "address",
                         (unsigned long long)(uintptr_t)tensor->data + tensor->byte_offset, "device",
                         (int)tensor->device.device_type, (int)tensor->device.device_id, "dtype",
                         (int)tensor->dtype.code, (int)tensor->dtype.bits, (int)tensor->dtype.lanes, "shape", shape,
                         "strides", strides, "flags", (unsigned long long)(versioned ? versioned->flags : 0), "version",
                         major, minor);
}

/* The structure of a capsule that is now taken; NULL with an exception. */
static void *take(PyObject *capsule, DLManagedTensorVersioned **versioned)
{
    if (tensor_of(capsule, versioned) == NULL)
        return NULL;
    void *managed = PyCapsule_GetPointer(capsule, *versioned ? VERSIONED : LEGACY);
    return PyCapsule_SetName(capsule, *versioned ? VERSIONED_TAKEN : LEGACY_TAKEN) < 0 ? NULL : managed;
}

static PyObject *take_capsule(PyObject *module, PyObject *capsule)
{
    (void)module;
    DLManagedTensorVersioned *versioned;
    void *managed;
#ifdef Py_GIL_DISABLED
    Py_BEGIN_CRITICAL_SECTION(capsule); /* two threads may ask: one takes it */
    managed = take(capsule, &versioned);
    Py_END_CRITICAL_SECTION();
#else
    managed = take(capsule, &versioned);
#endif
    if (managed == NULL)
        return NULL;
    return Py_BuildValue("(KO)", (unsigned long long)(uintptr_t)managed, versioned ? Py_True : Py_False);
}

static PyObject *delete_taken(PyObject *module, PyObject *arguments)
{
    (void)module;
    unsigned long long address;
    int versioned;
    if (!PyArg_ParseTuple(arguments, "Kp:delete_taken", &address, &versioned))
        return NULL;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (versioned) {
        DLManagedTensorVersioned *managed = (DLManagedTensorVersioned *)(uintptr_t)address;
        if (managed->deleter != NULL)
            managed->deleter(managed);
    } else {
        DLManagedTensor *managed = (DLManagedTensor *)(uintptr_t)address;
        if (managed->deleter != NULL)
            managed->deleter(managed);
    }
    PyErr_Restore(type, value, traceback);
    Py_RETURN_NONE;
}

/* ------------------------------------------------------------------ the module */

static PyObject *count_exports(PyObject *module, PyObject *nothing)
{
    (void)module;
    (void)nothing;
    return PyLong_FromLong(atomic_load(&alive));
}

/* Returns when no thread is in release_owner: one that took the lock of an interpreter that has ended would hang, or end
 * with pthread_exit in the middle of its library. Each round hands the lock to a thread that waits for it. */
static PyObject *finish(PyObject *module, PyObject *nothing)
{
    (void)module;
    (void)nothing;
    atomic_store(&finished, true);
    while (atomic_load(&active) != 0) {
        Py_BEGIN_ALLOW_THREADS
        Py_END_ALLOW_THREADS
    }
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"make_capsule", make_capsule, METH_VARARGS,
     "make_capsule(owner, address, device, dtype, shape, strides, flags, versioned)\n\n"
     "A capsule of memory that ``owner`` keeps alive; device is (type, id), dtype (code, bits), strides count elements."},
    {"read_capsule", read_capsule, METH_O, "What a capsule that nobody has taken describes, as a dict."},
    {"take_capsule", take_capsule, METH_O,
     "Takes a capsule over: (address, versioned) of the structure, to be given to delete_taken once."},
    {"delete_taken", delete_taken, METH_VARARGS, "Calls the deleter of a structure taken over."},
    {"count_exports", count_exports, METH_NOARGS, "How many exports have not been deleted."},
    {"finish", finish, METH_NOARGS, "The interpreter is ending: deleters called from now on leave Python alone."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_dlpack", "DLPack's capsules.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__dlpack(void)
{
    PyObject *module = PyModule_Create(&definition);
#ifdef Py_GIL_DISABLED
    if (module != NULL)
        PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED);
#endif
    return module;
}
