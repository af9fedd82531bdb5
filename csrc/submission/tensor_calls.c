/* TensorCalls: the calls of one function that can be repeated. */

#include "tensor_call.h"

enum { SETS = 64, CALLS_OF_SET = 8 };

typedef struct {
    PyObject_HEAD
    CallTable table;
    PyObject *types; /* a tuple: the types of operands */
    const DLPackExchangeAPI *library;
} TensorCalls;

PyObject *tensor_calls_type;
static PyObject *str_is_neg;

bool name_tensor_calls(void)
{
    static const Name names[] = {{&str_is_neg, "is_neg"}};
    return INTERN(names);
}

REFERENCES(tensor_calls, TensorCalls)
{
    EACH(self->types);
    return each_row(&self->table, each, arg);
}

static PyObject *calls_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)arguments, (void)keywords;
    return new_table(type, SETS, CALLS_OF_SET);
}

/* TensorCalls(types): arrays of these types of one library. */
static int calls_init(TensorCalls *self, PyObject *arguments, PyObject *keywords)
{
    PyObject *types;
    if (keywords != NULL || !PyArg_ParseTuple(arguments, "O!:TensorCalls", &PyTuple_Type, &types))
        return -1;
    self->library = exchange_functions(PyTuple_GetItem(types, 0));
    if (PyErr_Occurred())
        return -1;
    if (self->library != NULL && self->library->dltensor_from_py_object_no_sync == NULL)
        self->library = NULL;
    Py_INCREF(types);
    Py_XDECREF(self->types);
    self->types = types;
    return 0;
}

static bool has_type(const TensorCalls *self, PyObject *value)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(self->types); i++)
        if (PyTuple_GetItem(self->types, i) == (PyObject *)Py_TYPE(value))
            return true;
    return false;
}

/* Whether the numbers are in memory with the opposite sign, which DLPack cannot say. */
static bool is_negated(PyObject *value)
{
    PyObject *answer = PyObject_CallMethodObjArgs(value, str_is_neg, NULL);
    bool negated = answer != Py_False;
    Py_XDECREF(answer);
    return negated;
}

static bool read_operand(const TensorCalls *self, PyObject *value, Argument *operand)
{
    DLTensor tensor;
    begin_argument(operand, value);
    operand->layout.dimensions = -1;
    return value == Py_None ||
           (has_type(self, value) && !is_negated(value) &&
            self->library->dltensor_from_py_object_no_sync(value, &tensor) == 0 && read_tensor(&tensor, operand));
}

/* Whether all operands are None or arrays that can be read, on one device; no exception is set. */
static bool read_tensors(const TensorCalls *self, PyObject *const *values, Py_ssize_t count, Operands *operands)
{
    operands->library = self->library;
    operands->count = (int)count;
    bool done = self->library != NULL && count <= MOST_TENSORS;
    const DLDevice *device = NULL;
    for (Py_ssize_t i = 0; done && i < count; i++) {
        const Layout *layout = &operands->operands[i].layout;
        done = read_operand(self, values[i], &operands->operands[i]);
        if (!done || layout->dimensions < 0)
            continue;
        done = device == NULL || memcmp(device, &layout->device, sizeof *device) == 0;
        device = &layout->device;
    }
    PyErr_Clear();
    return done && device != NULL;
}

typedef struct {
    PyObject *options;
    const Operands *operands;
} TensorKey;

static int fits_tensors(Row *row, void *call)
{
    const TensorKey *key = call;
    return matches((TensorCall *)row, key->options, key->operands);
}

/* The call of these operands, and a new reference to it; NULL, with or without an exception, where none was added. */
static TensorCall *find_call(TensorCalls *self, PyObject *const *arguments, Py_ssize_t count, Operands *operands)
{
    if (count < 2 || !read_tensors(self, arguments + 1, count - 1, operands))
        return NULL;
    TensorKey key = {arguments[0], operands};
    return (TensorCall *)find_row(&self->table, hash_of(operands), fits_tensors, &key);
}

/* repeat(options, *operands): a tuple of the results; None for a call that was not added. */
static PyObject *calls_repeat(TensorCalls *self, PyObject *const *arguments, Py_ssize_t count)
{
    Operands operands;
    TensorCall *call = find_call(self, arguments, count, &operands);
    if (call == NULL)
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    PyObject *result = repeat_call(call, &operands);
    Py_DECREF(call);
    return result;
}

/* has(options, *operands): whether a call was added. */
static PyObject *calls_has(TensorCalls *self, PyObject *const *arguments, Py_ssize_t count)
{
    Operands operands;
    TensorCall *call = find_call(self, arguments, count, &operands);
    if (PyErr_Occurred())
        return NULL;
    Py_XDECREF(call);
    return PyBool_FromLong(call != NULL);
}

/* ---------------------------------------------------------------- new calls */

static bool read_functions(TensorCall *call, PyObject *functions)
{
    call->function_count = (int)PyTuple_Size(functions);
    if (call->function_count > MOST_FUNCTIONS) {
        PyErr_SetString(PyExc_ValueError, "a program has too many functions");
        return false;
    }
    for (int i = 0; i < call->function_count; i++)
        call->functions[i] = (void *)(uintptr_t)PyLong_AsUnsignedLongLong(PyTuple_GetItem(functions, i));
    return !PyErr_Occurred();
}

static bool read_results(TensorCall *call, PyObject *results, Py_ssize_t makers)
{
    call->result_count = (int)PyTuple_Size(results);
    for (int i = 0; i < call->result_count && i < MOST_TENSORS; i++) {
        PyObject *index = PyTuple_GetItem(results, i);
        const long number = index == Py_None ? -1 : PyLong_AsLong(index);
        call->results[i] = (int)number;
        if (PyErr_Occurred() || number >= makers)
            call->result_count = MOST_TENSORS + 1;
    }
    if (call->result_count > MOST_TENSORS && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "results are not among those that are made");
    return !PyErr_Occurred();
}

static bool read_words(TensorCall *call, PyObject *bytes)
{
    char *words;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(bytes, &words, &size) != 0)
        return false;
    call->words = PyMem_Malloc((size_t)size + 1);
    if (call->words == NULL) {
        PyErr_NoMemory();
        return false;
    }
    memcpy(call->words, words, (size_t)size);
    call->word_count = (size_t)size / sizeof *call->words;
    return true;
}

static bool read_cuda(TensorCall *call, PyObject *cuda)
{
    unsigned long long get_context, clear, launch;
    if (!PyArg_ParseTuple(cuda, "KKK:cuda", &get_context, &clear, &launch))
        return false;
    void *addresses[] = {(void *)(uintptr_t)get_context, (void *)(uintptr_t)clear, (void *)(uintptr_t)launch};
    memcpy(&call->cuda.get_context, &addresses[0], sizeof addresses[0]);
    memcpy(&call->cuda.clear, &addresses[1], sizeof addresses[1]);
    memcpy(&call->cuda.launch, &addresses[2], sizeof addresses[2]);
    return true;
}

/* add(options, operands, makers, results, words, functions, cuda): the call of these operands. cuda is None on the
 * processor, else addresses of cuCtxGetCurrent, cuMemsetD8Async and cuLaunchKernel; the current context is that of the
 * functions. False where such operands cannot be read. */
static PyObject *calls_add(TensorCalls *self, PyObject *arguments)
{
    PyObject *options, *values, *makers, *results, *words, *functions, *cuda, *tensors[MOST_TENSORS];
    Operands operands;
    if (!PyArg_ParseTuple(arguments, "OO!O!O!O!O!O:add", &options, &PyTuple_Type, &values, &PyTuple_Type, &makers,
                          &PyTuple_Type, &results, &PyBytes_Type, &words, &PyTuple_Type, &functions, &cuda))
        return NULL;
    const Py_ssize_t count = PyTuple_Size(values);
    for (Py_ssize_t i = 0; i < count && i < MOST_TENSORS; i++)
        tensors[i] = PyTuple_GetItem(values, i);
    if (PyTuple_Size(makers) > MOST_TENSORS || !read_tensors(self, tensors, count, &operands))
        Py_RETURN_FALSE;
    TensorCall *call = make_tensor_call(options, &operands);
    if (call == NULL || !read_results(call, results, PyTuple_Size(makers)) || !read_words(call, words) ||
        !read_functions(call, functions) || (cuda != Py_None && !read_cuda(call, cuda)))
        goto failed;
    call->makers = Py_NewRef(makers);
    if (cuda != Py_None) {
        call->on_cuda = true;
        if (call->cuda.get_context(&call->context) != 0) {
            Py_DECREF(call);
            Py_RETURN_FALSE;
        }
    }
    if (!add_row(&self->table, (Row *)call, hash_of(&operands)))
        goto failed;
    Py_DECREF(call);
    Py_RETURN_TRUE;
failed:
    Py_XDECREF(call);
    return NULL;
}

static PyMethodDef calls_methods[] = {
    {"repeat", (PyCFunction)(void (*)(void))calls_repeat, METH_FASTCALL,
     "repeat(options, *operands): a tuple of new results; None for a call that was not added."},
    {"has", (PyCFunction)(void (*)(void))calls_has, METH_FASTCALL, "has(options, *operands): whether a call was added."},
    {"add", (PyCFunction)calls_add, METH_VARARGS, "Adds a call, with the program that repeats it."},
    {NULL, NULL, 0, NULL},
};
OBJECT_TYPE(tensor_calls, TensorCalls, "TensorCalls", end_table(&self->table), , {Py_tp_new, calls_new}, {Py_tp_init, calls_init},
            {Py_tp_methods, calls_methods}, );
