/* Initialisation of the module bindless.core._submission. */

#include "pictures/picture_call.h"
#include "prepared_copy.h"
#include "tensor_call.h"
#include "variants.h"

PyObject *lock_type, *openable_type, *mark_type, *lane_type, *event_type, *prepared_type,
    *commands_type, *submitter_type, *bound_type, *copy_type, *copies_type, *owner_type, *image_call_type, *image_calls_type,
    *template_type, *variant_type, *variants_type, *picture_type, *picture_calls_type;
PyObject *str_owner, *str_open, *str_context, *str_contiguous, *str_packed, *str_raw_handle, *str_check,
    *str_depends_on, *str_dtype, *str_any, *str_again, *str_waits, *str_copy_any, *str_wait_any, *str_finalize,
    *str_append, *str_nbytes, *str_sampled, *str_device, *str_tobytes, *str_live, *str_close_native;

/* The types and names are static: one set per process, not per interpreter. */
static int fill_module(PyObject *module)
{
    if (PyInterpreterState_GetID(PyInterpreterState_Get()) != 0) {
        PyErr_SetString(PyExc_ImportError, "bindless does not work in a subinterpreter: its objects and the drivers' belong "
                                           "to the process; use the main interpreter, threads, or processes");
        return -1;
    }
    static const Name names[] = {
        {&str_owner, "_owner"}, {&str_open, "open"}, {&str_context, "context"}, {&str_contiguous, "_contiguous"},
        {&str_packed, "_packed"}, {&str_raw_handle, "_raw_handle"}, {&str_check, "_check"},
        {&str_depends_on, "depends_on"}, {&str_dtype, "dtype"}, {&str_any, "_parallel_for_any"}, {&str_again, "_again"},
        {&str_waits, "_waits"}, {&str_copy_any, "_copy_any"}, {&str_wait_any, "_wait_any"},
        {&str_finalize, "_finalize"}, {&str_append, "append"}, {&str_nbytes, "nbytes"}, {&str_sampled, "_sampled"},
        {&str_device, "device"}, {&str_tobytes, "tobytes"}, {&str_live, "live"},
        {&str_close_native, "_close_native"},
    };
    static const struct { PyObject **at; PyType_Spec *spec; const char *name; } types[] = {
        {&lock_type, &lock_spec, "Lock"}, {&mark_type, &mark_spec, "Mark"}, {&lane_type, &lane_spec, "Lane"},
        {&event_type, &event_spec, "Event"}, {&openable_type, &openable_spec, "Openable"},
        {&prepared_type, &prepared_spec, "Prepared"}, {&commands_type, &commands_spec, "Commands"},
        {&submitter_type, &submitter_spec, "Submitter"}, {&bound_type, &bound_spec, "Bound"},
        {&copy_type, &copy_spec, "Copy"}, {&copies_type, &copies_spec, "Copies"},
        {&owner_type, &owner_spec, "Owner"}, {&image_call_type, &image_call_spec, "ImageCall"},
        {&image_calls_type, &image_calls_spec, "ImageCalls"}, {&tensor_call_type, &tensor_call_spec, "TensorCall"},
        {&tensor_calls_type, &tensor_calls_spec, "TensorCalls"}, {&template_type, &template_spec, "Template"},
        {&variant_type, &variant_spec, "Variant"}, {&variants_type, &variants_spec, "Variants"},
        {&picture_type, &picture_spec, "Picture"}, {&picture_calls_type, &picture_calls_spec, "PictureCalls"},
    };
    if (!watch_threads() || !name_attributes() || !name_image_arguments() || !name_pictures() || !name_ranges() ||
        !name_types() || !name_layouts() || !name_variants() || !name_exchange() || !name_record() || !name_tensor_calls() ||
         PyModule_AddIntConstant(module, "REAP_EVERY", REAP_EVERY) < 0 ||
        PyModule_AddIntConstant(module, "MOST_ARGUMENTS", MOST_ARGUMENTS) < 0 ||
        !INTERN(names))
        return -1;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if ((*types[i].at == NULL && (*types[i].at = PyType_FromSpec(types[i].spec)) == NULL) ||
            PyModule_AddObjectRef(module, types[i].name, *types[i].at) < 0)
            return -1;
    return 0;
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, fill_module},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};
static PyMethodDef module_methods[] = {
    {"array_layout", array_layout, METH_O, "A key of the type, place, dtype, shape and strides of an array of any library."},
    {"device_function", (PyCFunction)(void (*)(void))device_function, METH_FASTCALL,
     "Calls a device function: repeats a prepared call, or calls the Python function for all others."},
    {"know_types", know_types, METH_VARARGS, "Stores numpy's types: of arrays, numbers and truth values."},
    {"know_arguments", know_arguments, METH_VARARGS,
     "Stores the types of arguments of kernels in Python: of arrays, of images, of plain values, and what makes keys of others."},
    {"empty_like_foreign", empty_like_foreign, METH_VARARGS,
     "A new array of another library, like one of its arrays; None where C code does not read it."},
    {"free_item", free_item, METH_O, "An item of a list that nothing else refers to; None without one."},
    {"stream_of_foreign", stream_of_foreign, METH_O,
     "The current stream of another library on the device of its array; None where C code does not know it."},
    {"expect_end_fork", expect_end_fork, METH_NOARGS,
     "From now on, in the child of a fork, objects that end are not released until end_fork is called."},
    {"end_fork", end_fork, METH_NOARGS,
     "In the child of a fork, when what the parent owns is forgotten: from now on objects that end are released."},
    {"is_new_child", has_begun_fork, METH_NOARGS, "Whether this is the child of a fork that has not called end_fork yet."},
    {"uninterrupted", uninterrupted, METH_O,
     "A callback that calls a function. Ctrl-C does not interrupt it, and is raised after it, in the code that was running."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_submission", "Submission of prepared commands.", 0, module_methods, module_slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__submission(void)
{
    return PyModuleDef_Init(&definition);
}
