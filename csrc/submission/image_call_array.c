/* Arrays of device functions: reading, and comparison with those of a prepared call. */

#include "image_call.h"

/* Largest alignment that a kernel may rely on: that of a pixel. */
enum { MOST_ALIGNMENT = 16 };

/* Arrays on other devices than the host and CUDA's are synchronized by their libraries. */
void read_array(Argument *argument, bool written, const Kinds *kinds)
{
    (void)read_argument(argument, kinds, written, USM_ALL);
    if (argument->kind == FOREIGN_ARRAY && !is_on_host(argument) && !has_stream(argument))
        argument->kind = UNKNOWN_ARGUMENT;
    PyErr_Clear(); /* Python handles the argument */
}

/* Whether a command may use an array. */
static bool is_usable(const Argument *argument, bool written)
{
    return argument->packed && (argument->writable || !written) &&
           (argument->kind != USM_ARRAY || is_open(argument->owner));
}

bool set_array(CallArray *array, const Argument *argument, bool written)
{
    array->kind = argument->kind;
    array->written = written;
    array->batch = -1;
    if (argument->kind == ONE_NUMBER)
        array->number = Py_NewRef(argument->value);
    if (argument->kind == NO_ARGUMENT || argument->kind == ONE_NUMBER)
        return array->place == NULL;
    if (argument->kind == UNKNOWN_ARGUMENT || array->place == NULL)
        return false;
    array->dtype = Py_XNewRef(argument->format);
    array->layout = argument->layout;
    array->address = argument->address;
    array->alignment = argument->address & -argument->address;
    if (array->alignment == 0 || array->alignment > MOST_ALIGNMENT)
        array->alignment = MOST_ALIGNMENT;
    if (array->staged)
        array->alignment = 1;
    return is_usable(argument, written);
}

/* An array whose device is unknown must have the address of the call before, unless there is one device alone. */
static bool is_on_device(const Argument *argument, const CallArray *array)
{
    const DLDevice *a = &argument->layout.device, *b = &array->layout.device;
    return (argument->library != NULL || array->anywhere || argument->address == array->address) && a->device_type == b->device_type &&
           a->device_id == b->device_id;
}

/* Whether the batch holds the array: then only its owner and its address are read. */
static bool is_held_by_batch(const CallArray *array, Argument *argument, Commands *commands)
{
    PyObject *before = NULL;
    (void)commands; /* but for the guard and the batch */
    BEGIN_GUARD(commands->guard);
    const bool held = array->held == argument->value && array->batch == LOOK(commands->batch);
    if (held && argument->kind == UNREAD) {
        before = argument->owner;
        argument->owner = Py_NewRef(array->owner);
        argument->address = array->address;
    }
    END_GUARD(commands->guard);
    Py_XDECREF(before);
    return held;
}

bool fits_array(const CallArray *array, Argument *argument, const Kinds *kinds, Commands *commands)
{
    if (array->kind == USM_ARRAY && is_held_by_batch(array, argument, commands))
        return true;
    read_array(argument, array->written, kinds);
    if (array->kind != argument->kind)
        return false;
    if (array->kind == NO_ARGUMENT)
        return true;
    if (array->kind == ONE_NUMBER)
        return same_option(array->number, argument->value) == 1; /* int and float: no exception */
    if (array->kind == USM_ARRAY && (argument->format != array->dtype || argument->context != commands->context))
        return false;
    if (array->kind != USM_ARRAY && !same_type(argument->layout.type, array->layout.type))
        return false;
    return is_usable(argument, array->written) && same_shape(&argument->layout, &array->layout) &&
           (argument->address & (array->alignment - 1)) == 0 &&
           (array->kind != FOREIGN_ARRAY || is_on_device(argument, array));
}

bool overlap(const Argument *a, const Argument *b)
{
    return is_on_host(a) && is_on_host(b) && a->address < b->address + b->bytes && b->address < a->address + a->bytes;
}
