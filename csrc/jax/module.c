/* The extension module bindless/jax/_ffi: handlers of XLA's custom calls, and the functions that these call.
 *
 * XLA runs handlers on its own threads, without Python's global lock, so that they are C and never call Python. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>

#include "functions.h"
#include "handlers.h"
#include "targets.h"

static PyObject *capsule_of(FfiError *(*handler)(FfiFrame *))
{
    void *address = NULL;
    memcpy(&address, &handler, sizeof address);
    return PyCapsule_New(address, NULL, NULL);
}

static PyObject *host_capsule(PyObject *module, PyObject *arguments)
{
    (void)module, (void)arguments;
    return capsule_of(host_handler);
}

static PyObject *cuda_capsule(PyObject *module, PyObject *arguments)
{
    (void)module, (void)arguments;
    return capsule_of(cuda_handler);
}

static PyObject *cuda_texture_capsule(PyObject *module, PyObject *arguments)
{
    (void)module, (void)arguments;
    return capsule_of(cuda_texture_handler);
}

static PyObject *register_function(PyObject *module, PyObject *arguments)
{
    (void)module;
    const char *name;
    unsigned long long address;
    if (!PyArg_ParseTuple(arguments, "sK:register_function", &name, &address))
        return NULL;
    void *pointer = (void *)(uintptr_t)address;
    HostFunction function;
    memcpy(&function, &pointer, sizeof function);
    return add_function(name, function) ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

static PyObject *register_kernel(PyObject *module, PyObject *arguments)
{
    (void)module;
    const char *name, *image;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(arguments, "sy#:register_kernel", &name, &image, &size))
        return NULL;
    return add_kernel(name, image, (size_t)size) ? Py_NewRef(Py_None) : PyErr_NoMemory();
}

static PyObject *cuda_functions(PyObject *module, PyObject *arguments)
{
    (void)module, (void)arguments;
    PyObject *names = PyTuple_New(CUDA_FUNCTION_COUNT);
    for (int i = 0; names != NULL && i < CUDA_FUNCTION_COUNT; i++) {
        PyObject *name = PyUnicode_FromString(CUDA_FUNCTIONS[i]);
        if (name == NULL)
            Py_CLEAR(names);
        else
            PyTuple_SetItem(names, i, name);
    }
    return names;
}

static PyObject *use_cuda(PyObject *module, PyObject *addresses)
{
    (void)module;
    if (!PyTuple_Check(addresses) || PyTuple_Size(addresses) != CUDA_FUNCTION_COUNT) {
        PyErr_SetString(PyExc_ValueError, "use_cuda takes the addresses of cuda_functions()");
        return NULL;
    }
    for (int i = 0; i < CUDA_FUNCTION_COUNT; i++) {
        unsigned long long address = PyLong_AsUnsignedLongLong(PyTuple_GetItem(addresses, i));
        if (PyErr_Occurred())
            return NULL;
        set_cuda_function(i, (void *)(uintptr_t)address);
    }
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"host_handler", host_capsule, METH_NOARGS, "Return the handler for processors as a capsule."},
    {"cuda_handler", cuda_capsule, METH_NOARGS, "Return the handler for CUDA as a capsule; stages initialize and execute."},
    {"cuda_texture_handler", cuda_texture_capsule, METH_NOARGS, "Return the handler for CUDA's texture unit, of the same stages."},
    {"register_function", register_function, METH_VARARGS, "Add a C function, by name and address."},
    {"register_kernel", register_kernel, METH_VARARGS, "Add a CUDA kernel, by name and PTX."},
    {"cuda_functions", cuda_functions, METH_NOARGS, "Return the names of the driver's functions that use_cuda takes."},
    {"use_cuda", use_cuda, METH_O, "Set the addresses of the CUDA driver's functions, a tuple."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_ffi", "Handlers of XLA's custom calls.", -1, methods, NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__ffi(void)
{
    PyObject *module = PyModule_Create(&definition);
#ifdef Py_GIL_DISABLED
    if (module != NULL)
        PyUnstable_Module_SetGIL(module, Py_MOD_GIL_NOT_USED);
#endif
    return module;
}
