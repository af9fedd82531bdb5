/* One call that can be repeated: comparison of layouts, new results, execution of the program. */

#include "tensor_call.h"

PyObject *tensor_call_type;

REFERENCES(tensor_call, TensorCall)
{
    EACH_WATCH(&self->base);
    EACH(self->options);
    EACH(self->makers);
    return 0;
}

OBJECT_TYPE(tensor_call, TensorCall, "TensorCall", self->base.forgotten = true,
            (PyMem_Free(self->words), PyMem_Free(self->layouts)), );

/* ---------------------------------------------------------------- comparison */

uint64_t hash_of(const Operands *operands)
{
    uint64_t hash = (uint64_t)operands->count;
    for (int i = 0; i < operands->count; i++)
        hash = hash_of_layout(hash, &operands->operands[i].layout);
    return hash;
}

int matches(const TensorCall *call, PyObject *options, const Operands *operands)
{
    if (call->operands != operands->count)
        return 0;
    for (int i = 0; i < operands->count; i++)
        if (!same_layout(&call->layouts[i], &operands->operands[i].layout))
            return 0;
    return PyObject_RichCompareBool(call->options, options, Py_EQ);
}

TensorCall *make_tensor_call(PyObject *options, const Operands *operands)
{
    TensorCall *call = (TensorCall *)make(tensor_call_type);
    if (call == NULL)
        return NULL;
    call->layouts = PyMem_Malloc((size_t)operands->count * sizeof *call->layouts + 1);
    if (call->layouts == NULL) {
        Py_DECREF(call);
        PyErr_NoMemory();
        return NULL;
    }
    for (int i = 0; i < operands->count; i++)
        call->layouts[i] = operands->operands[i].layout;
    call->options = Py_NewRef(options);
    call->operands = operands->count;
    return call;
}

/* ---------------------------------------------------------------- execution */

typedef struct {
    Target base;
    const TensorCall *call;
    void *stream;
} Execution;

static const char REFUSED[] = "refused"; /* Python repeats the call and finds the reason */

static const char *clear_host(Target *target, void *buffer, size_t bytes)
{
    (void)target;
    memset(buffer, 0, bytes);
    return NULL;
}

static const char *call_host(Target *target, size_t function, const Call *call)
{
    int32_t (*pointer)(const void *arguments);
    memcpy(&pointer, &((Execution *)target)->call->functions[function], sizeof pointer);
    return pointer(call->arguments) == 0 ? NULL : REFUSED;
}

static const char *clear_cuda(Target *target, void *buffer, size_t bytes)
{
    const Execution *execution = (Execution *)target;
    return execution->call->cuda.clear((uint64_t)(uintptr_t)buffer, 0, bytes, execution->stream) == 0 ? NULL : REFUSED;
}

static const char *call_cuda(Target *target, size_t function, const Call *call)
{
    const Execution *execution = (Execution *)target;
    size_t bytes = call->bytes;
    /* The markers of `extra`: 1 precedes the parameters, 2 a pointer to their size, 0 ends. */
    void *extra[] = {(void *)1, call->arguments, (void *)2, &bytes, NULL};
    int code = execution->call->cuda.launch(execution->call->functions[function], call->grid[0], call->grid[1],
                                            call->grid[2], call->block[0], call->block[1], call->block[2], 0,
                                            execution->stream, NULL, extra);
    return code == 0 ? NULL : REFUSED;
}

static bool begin_execution(const TensorCall *call, const Operands *operands, Execution *execution)
{
    *execution = (Execution){.base = {.clear = clear_host, .call = call_host}, .call = call};
    if (!call->on_cuda)
        return true;
    execution->base.clear = clear_cuda;
    execution->base.call = call_cuda;
    void *context = NULL;
    const DLDevice *device = NULL;
    for (int i = 0; device == NULL && i < operands->count; i++)
        device = operands->operands[i].layout.dimensions < 0 ? NULL : &operands->operands[i].layout.device;
    return call->cuda.get_context(&context) == 0 && context == call->context && device != NULL &&
           operands->library->current_work_stream(device->device_type, device->device_id, &execution->stream) == 0;
}

/* Appends new results and scratch memory to the buffers; false with an exception. */
static bool make_results(const TensorCall *call, const DLPackExchangeAPI *library, PyObject **tensors, void **buffers)
{
    for (Py_ssize_t i = 0; i < PyTuple_Size(call->makers); i++) {
        PyObject *maker = PyTuple_GetItem(call->makers, i);
        DLTensor tensor;
        tensors[i] = PyObject_CallObject(PyTuple_GetItem(maker, 0), PyTuple_GetItem(maker, 1));
        if (tensors[i] == NULL || library->dltensor_from_py_object_no_sync(tensors[i], &tensor) != 0)
            return false;
        buffers[i] = (char *)tensor.data + tensor.byte_offset;
    }
    return true;
}

PyObject *repeat_call(TensorCall *call, const Operands *operands)
{
    Execution execution;
    PyObject *tensors[MOST_TENSORS] = {NULL}, *result = NULL;
    void *buffers[2 * MOST_TENSORS];
    const Py_ssize_t count = PyTuple_Size(call->makers);
    if (!begin_execution(call, operands, &execution)) {
        PyErr_Clear();
        Py_RETURN_NONE;
    }
    for (int i = 0; i < operands->count; i++)
        buffers[i] = (void *)(uintptr_t)operands->operands[i].address;
    if (make_results(call, operands->library, tensors, buffers + operands->count)) {
        const char *failure;
        Py_BEGIN_ALLOW_THREADS
        failure = run_program(&execution.base, call->words, call->word_count, (size_t)call->function_count, buffers,
                              (size_t)(operands->count + count));
        Py_END_ALLOW_THREADS
        result = failure == NULL ? PyTuple_New(call->result_count) : Py_NewRef(Py_None);
        for (int i = 0; failure == NULL && result != NULL && i < call->result_count; i++)
            PyTuple_SetItem(result, i, Py_NewRef(call->results[i] < 0 ? Py_None : tensors[call->results[i]]));
    }
    for (Py_ssize_t i = 0; i < count; i++)
        Py_XDECREF(tensors[i]);
    return result;
}
