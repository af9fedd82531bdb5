/* Other libraries' arrays as arguments of a prepared launch: on the queue's device, with the dtype of the parameter. */

#include "foreign_array.h"

static PyObject *str_kind, *str_itemsize;

/* DLPack's codes of the kinds of numpy's dtypes. */
static int code_of(Py_UCS4 kind)
{
    switch (kind) {
    case 'i': return 0;
    case 'u': return 1;
    case 'f': return 2;
    case 'c': return 5;
    case 'b': return 6;
    default: return -1;
    }
}

bool name_types(void)
{
    static const Name names[] = {{&str_kind, "kind"}, {&str_itemsize, "itemsize"}};
    return INTERN(names);
}

bool foreign_type(PyObject *dtype, int *code, int *bits)
{
    PyObject *kind = PyObject_GetAttr(dtype, str_kind), *size = PyObject_GetAttr(dtype, str_itemsize);
    if (kind != NULL && size != NULL && PyUnicode_GetLength(kind) == 1) {
        const long bytes = PyLong_AsLong(size);
        *code = code_of(PyUnicode_ReadChar(kind, 0));
        *bits = bytes < 0 || bytes > UINT8_MAX / 8 ? 0 : (int)(8 * bytes); /* DLPack has types of up to 255 bits */
    }
    Py_XDECREF(kind);
    Py_XDECREF(size);
    return !PyErr_Occurred();
}

bool is_on_device_of(const Commands *commands, const Argument *array)
{
    return commands->dlpack_type == DLPACK_CUDA &&
           (array->layout.device.device_type == DLPACK_CUDA_MANAGED ||
            (array->layout.device.device_type == DLPACK_CUDA &&
             (array->layout.device.device_id == commands->dlpack_id || array->layout.device.device_id == UNKNOWN_DEVICE)));
}

/* A code of -1 or bits of 0 are those of no type. */
bool has_dlpack_type(const Argument *array, int code, int bits)
{
    return code >= 0 && same_type(array->layout.type, (DLDataType){(uint8_t)code, (uint8_t)bits, 1});
}

static bool is_of_type(const Slot *slot, const Argument *array)
{
    return slot->dtype == NULL || has_dlpack_type(array, slot->code, slot->bits);
}

int add_foreign_argument(const Commands *commands, const Argument *array, ForeignArguments *foreign, int index)
{
    uint64_t stream;
    if (!is_on_device_of(commands, array) || !array->packed || array->bytes == 0 ||
        (foreign->any && foreign->library != array->library))
        return OTHERWISE;
    if (foreign->any && array->library != NULL)
        stream = foreign->stream; /* a library has one current stream */
    else if (foreign_stream(array, &stream) != DONE) {
        PyErr_Clear();
        return OTHERWISE;
    }
    if (foreign->any && foreign->stream != stream)
        return OTHERWISE;
    foreign->has_unknown_device =
        (foreign->any && foreign->has_unknown_device) ||
        (array->layout.device.device_id == UNKNOWN_DEVICE && !commands->dlpack_alone);
    foreign->any = true;
    foreign->library = array->library;
    foreign->stream = stream;
    foreign->addresses[index] = array->address;
    return DONE;
}

int read_foreign_arguments(const Commands *commands, const Prepared *launch, PyObject *const *values,
                           ForeignArguments *foreign)
{
    foreign->any = false;
    if (commands->dlpack_type == 0 || !launch->has_memory)
        return OTHERWISE;
    for (int i = 0; i < launch->count; i++) {
        const Slot *slot = &launch->slots[i];
        Argument array;
        foreign->addresses[i] = 0;
        begin_argument(&array, values[i]);
        if (slot->kind == ARRAY && (PyObject *)Py_TYPE(values[i]) != slot->type &&
            (read_foreign(&array, false) != DONE || !is_of_type(slot, &array) ||
             add_foreign_argument(commands, &array, foreign, i) != DONE))
            return OTHERWISE;
    }
    return foreign->any ? DONE : OTHERWISE;
}

bool has_shape(const Layout *layout, PyObject *shape)
{
    if (PyTuple_Size(shape) != layout->dimensions)
        return false;
    for (int axis = 0; axis < layout->dimensions; axis++)
        if (PyLong_AsLongLong(PyTuple_GetItem(shape, axis)) != layout->shape[axis])
            return false;
    return true;
}

/* Reads another library's array, whose layout and address stay in `array`: whether it is packed, not empty, and commands of
 * the queue may use it. */
static bool read_packed(const Commands *commands, PyObject *value, bool written, Argument *array)
{
    begin_argument(array, value);
    const bool fits = read_foreign(array, written) == DONE && is_on_device_of(commands, array) && array->packed &&
                      array->bytes != 0;
    end_argument(array);
    return fits;
}

/* layout_of_foreign(value): shape, code and bits of another library's packed array that commands of the queue may read;
 * None for any other value, which Python handles. */
PyObject *commands_layout_of_foreign(PyObject *self, PyObject *value)
{
    Argument array;
    const Layout *layout = &array.layout;
    const bool fits = read_packed((const Commands *)self, value, false, &array) && layout->type.lanes == 1;
    if (PyErr_Occurred())
        return NULL;
    if (!fits)
        Py_RETURN_NONE;
    PyObject *shape = PyTuple_New(layout->dimensions);
    for (int axis = 0; shape != NULL && axis < layout->dimensions; axis++) {
        PyObject *size = PyLong_FromLongLong(layout->shape[axis]);
        if (size == NULL)
            Py_CLEAR(shape);
        else
            PyTuple_SetItem(shape, axis, size);
    }
    return shape == NULL ? NULL : Py_BuildValue("Nii", shape, layout->type.code, layout->type.bits);
}

/* Reads a packed array of a shape and a type; -1 with an exception for a form that is none. */
static int read_form(const Commands *commands, PyObject *value, PyObject *shape, int code, int bits, bool written,
                     Argument *array)
{
    const bool fits = read_packed(commands, value, written, array) && has_dlpack_type(array, code, bits) &&
                      has_shape(&array->layout, shape);
    return PyErr_Occurred() ? FAILED : fits ? DONE : OTHERWISE;
}

/* place_of_foreign(value, shape, code, bits): the address of another library's array that commands of the queue may
 * read, packed, of a shape and type; None for any other value, which Python handles. */
PyObject *commands_place_of_foreign(PyObject *self, PyObject *arguments)
{
    PyObject *value, *shape;
    int code, bits;
    Argument array;
    if (!PyArg_ParseTuple(arguments, "OO!ii:place_of_foreign", &value, &PyTuple_Type, &shape, &code, &bits))
        return NULL;
    const int result = read_form((const Commands *)self, value, shape, code, bits, false, &array);
    if (result == FAILED)
        return NULL;
    return result == DONE ? PyLong_FromUnsignedLongLong(array.address) : Py_NewRef(Py_None);
}

static int read_described(const Commands *commands, PyObject *value, PyObject *form, bool written, Argument *array)
{
    PyObject *shape, *dtype;
    int code, bits;
    long long bytes;
    if (!PyTuple_Check(form) || !PyArg_ParseTuple(form, "O!iiLO", &PyTuple_Type, &shape, &code, &bits, &bytes, &dtype))
        return FAILED;
    return read_form(commands, value, shape, code, bits, written, array);
}

/* place_apart(output, form, values, forms): the address of another library's array that commands of the queue may
 * write, if the first arrays among the values, of which there are forms, share no memory with it; None otherwise. */
PyObject *commands_place_apart(PyObject *self, PyObject *arguments)
{
    const Commands *commands = (const Commands *)self;
    PyObject *output, *form, *values, *forms;
    Argument target, array;
    if (!PyArg_ParseTuple(arguments, "OO!O!O!:place_apart", &output, &PyTuple_Type, &form, &PyTuple_Type, &values,
                          &PyTuple_Type, &forms))
        return NULL;
    int result = read_described(commands, output, form, true, &target);
    for (Py_ssize_t i = 0; result == DONE && i < PyTuple_Size(values) && i < PyTuple_Size(forms); i++) {
        result = read_described(commands, PyTuple_GetItem(values, i), PyTuple_GetItem(forms, i), false, &array);
        if (result == DONE && target.address < array.address + array.bytes && array.address < target.address + target.bytes)
            result = OTHERWISE;
    }
    if (result == FAILED) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "place_apart: a form is a tuple");
        return NULL;
    }
    return result == DONE ? PyLong_FromUnsignedLongLong(target.address) : Py_NewRef(Py_None);
}
