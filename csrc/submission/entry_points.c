/* Submitter and Bound: the calls of a queue and of a bound launch. */

#include "variants.h"

REFERENCES(submitter, Submitter)
{
    EACH(self->stream);
    return 0;
}

/* Returns the value of depends_on, NULL without it; false for another keyword. */
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

PyObject *call_any(PyObject *self, PyObject *method_name, PyObject *const *arguments, Py_ssize_t count,
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

/* Submits a prepared launch with the caller's arguments, and with the addresses of other libraries' arrays. */
static int submit_row(Commands *commands, Prepared *row, PyObject *const *values, const ForeignArguments *foreign,
                      PyObject *depends_on, PyObject **event)
{
    Submission submission = {.command = row, .values = values, .depends_on = depends_on};
    if (foreign != NULL) {
        submission.foreign = foreign->addresses;
        submission.stream = foreign->stream;
        submission.same_addresses = foreign->has_unknown_device;
    }
    LentImages lent;
    if (lend_images(row, values, &lent))
        submission.values = lent.values;
    const int result = submit(commands, &submission, event);
    end_images(&lent);
    return result;
}

static int launch_kernel(Commands *commands, PyObject *space, PyObject *kernel, PyObject *const *values,
                         Py_ssize_t count, PyObject *depends_on, PyObject **event)
{
    Prepared *row = find_launch(commands, kernel, space, count);
    if (row == NULL)
        return OTHERWISE;
    ForeignArguments foreign;
    const bool others = read_foreign_arguments(commands, row, values, &foreign) == DONE;
    const int result = submit_row(commands, row, values, others ? &foreign : NULL, depends_on, event);
    Py_DECREF(row);
    return result;
}

/* Launches a kernel in Python: the variant for the arguments, with its own parameters. */
static int launch_variant(Commands *commands, PyObject *space, PyObject *kernel, PyObject *const *values,
                          Py_ssize_t count, PyObject *depends_on, PyObject **event)
{
    Expanded expanded;
    int result = expand(commands, kernel, space, values, count, &expanded);
    if (result != DONE)
        return result;
    Prepared *row = find_launch(commands, expanded.kernel, space, expanded.count);
    result = OTHERWISE;
    if (row != NULL)
        result = submit_row(commands, row, expanded.values, expanded.foreign.any ? &expanded.foreign : NULL, depends_on,
                            event);
    Py_XDECREF(row);
    end_expanded(&expanded);
    return result;
}

static PyObject *submitter_parallel_for(Submitter *self, PyObject *const *arguments, Py_ssize_t count, PyObject *names)
{
    PyObject *depends_on;
    if (count >= 2 && read_depends_on(arguments, count, names, &depends_on) && self->stream != NULL &&
        PyType_IsSubtype(Py_TYPE(self->stream), (PyTypeObject *)commands_type)) {
        const bool has_variants = PyType_IsSubtype(Py_TYPE(arguments[1]), (PyTypeObject *)template_type);
        PyObject *event = NULL, *commands = Py_NewRef(self->stream);
        int result = (has_variants ? launch_variant : launch_kernel)((Commands *)commands, arguments[0], arguments[1],
                                                                     arguments + 2, count - 2, depends_on, &event);
        Py_DECREF(commands);
        if (result != OTHERWISE)
            return event;
    }
    return call_any((PyObject *)self, str_any, arguments, count, names);
}

static PyMemberDef submitter_members[] = {
    {"_stream", T_OBJECT_EX, offsetof(Submitter, stream), 0, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyMethodDef submitter_methods[] = {
    {"ext_oneapi_copy", (PyCFunction)(void (*)(void))submitter_copy, METH_FASTCALL | METH_KEYWORDS,
     "ext_oneapi_copy($self, src, dst, *, src_desc=None, dst_desc=None, src_offset=(0, 0, 0), dst_offset=(0, 0, 0), "
     "src_extent=None, dst_extent=None, copy_extent=None, src_pitch=None, dst_pitch=None, depends_on=())\n--\n\n"
     "Copy pixels between image memory, USM and host arrays (BI, Explicit copies).\n\n"
     "Parameters\n"
     "----------\n"
     "src, dst : array_like, ImageMem, image memory handle, UsmPointer or UsmArray\n"
     "    Source and destination.\n"
     "src_desc, dst_desc : ImageDescriptor, optional\n"
     "    The images; known for ``ImageMem`` and its handles.\n"
     "src_offset, dst_offset : tuple of int, optional\n"
     "    First pixel, (x, y, z); z is the layer or face of an array or cubemap.\n"
     "src_extent, dst_extent : tuple of int, optional\n"
     "    Pixels of a whole host image of which a part is copied.\n"
     "copy_extent : tuple of int, optional\n"
     "    Pixels to copy; None copies everything.\n"
     "src_pitch, dst_pitch : int, optional\n"
     "    Bytes between the rows of linear memory; None for tightly packed rows.\n"
     "depends_on : sequence of Event, optional\n"
     "    Events that the copy waits for.\n\n"
     "Raises\n"
     "------\n"
     "InvalidError\n"
     "    One of BI's failure scenarios; the message has its number and the offending values.\n"},
    {"parallel_for", (PyCFunction)(void (*)(void))submitter_parallel_for, METH_FASTCALL | METH_KEYWORDS,
     "parallel_for($self, index_space, kernel, *arguments, depends_on=())\n--\n\n"
     "Run a kernel once for every item of a range.\n\n"
     "Parameters\n"
     "----------\n"
     "index_space : int, tuple of int, Range or NdRange\n"
     "    One to three dimensions. The last one is dimension 0 of the native kernel (CL, OpenCL kernel conventions\n"
     "    and SYCL). An empty range runs nothing.\n"
     "kernel : Kernel\n"
     "    A kernel of a bundle loaded in the queue's context.\n"
     "*arguments : number, handle, UsmPointer, UsmArray, LocalAccessor or array\n"
     "    Python or numpy scalars, image handles, memory, and other libraries' arrays on the queue's device\n"
     "    (see ``from_dlpack``).\n"
     "depends_on : sequence of Event, optional\n"
     "    Events that the launch waits for.\n\n"
     "Raises\n"
     "------\n"
     "InvalidError\n"
     "    An argument of the wrong count, size or kind; the message names it.\n"
     "NdRangeError\n"
     "    A range or work-group that the kernel cannot have.\n"},
    {NULL, NULL, 0, NULL},
};

OBJECT_TYPE(submitter, Submitter, "Submitter", , , {Py_tp_new, PyType_GenericNew}, {Py_tp_members, submitter_members},
            {Py_tp_methods, submitter_methods}, );

REFERENCES(bound, Bound)
{
    EACH(self->stream);
    EACH(self->prepared);
    EACH(self->arguments);
    return 0;
}

/* New references to the items of a list, as of one moment; their number, or -1 for another value. */
static int take_items(PyObject *list, PyObject *values[MOST_ARGUMENTS])
{
    int count = -1;
    BEGIN_LIST(list);
    if (PyList_CheckExact(list) && PyList_Size(list) <= MOST_ARGUMENTS)
        for (count = 0; count < PyList_Size(list); count++)
            values[count] = Py_NewRef(PyList_GetItem(list, count));
    END_LIST();
    return count;
}

/* Submits the prepared launch of a bound launch: OTHERWISE where Python must handle it. */
static int launch_bound(Bound *self, PyObject *depends_on, PyObject **event)
{
    if (self->stream == NULL || !PyType_IsSubtype(Py_TYPE(self->stream), (PyTypeObject *)commands_type))
        return OTHERWISE;
    PyObject *prepared = member_of((PyObject *)self, &self->prepared), *arguments = member_of((PyObject *)self, &self->arguments);
    PyObject *values[MOST_ARGUMENTS];
    const int count = arguments == NULL ? 0 : take_items(arguments, values);
    int result = OTHERWISE;
    if (arguments != NULL && prepared != NULL && PyType_IsSubtype(Py_TYPE(prepared), (PyTypeObject *)prepared_type) &&
        count == ((Prepared *)prepared)->count) {
        Submission submission = {.command = (Prepared *)prepared, .values = values, .packed = true, .depends_on = depends_on};
        result = submit((Commands *)self->stream, &submission, event);
    }
    for (int i = 0; i < count; i++)
        Py_DECREF(values[i]);
    Py_XDECREF(prepared);
    Py_XDECREF(arguments);
    return result;
}

static PyObject *bound_call(Bound *self, PyObject *arguments, PyObject *keywords)
{
    PyObject *depends_on = keywords == NULL ? NULL : PyDict_GetItemWithError(keywords, str_depends_on), *event = NULL;
    if (PyTuple_Size(arguments) == 0 && (keywords == NULL || PyDict_Size(keywords) == (depends_on != NULL)) &&
        launch_bound(self, depends_on, &event) != OTHERWISE)
        return event;
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

OBJECT_TYPE(bound, Bound, "Bound", , , {Py_tp_new, PyType_GenericNew}, {Py_tp_members, bound_members},
            {Py_tp_call, bound_call}, );
