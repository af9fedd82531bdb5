/* Copy: a prepared copy, and its submission to the driver. */

#include "prepared_copy.h"

REFERENCES(copy, Copy)
{
    EACH_WATCH(&self->base);
    for (int i = 0; i < 2; i++) {
        if (self->sides[i].any)
            EACH(self->sides[i].object);
        EACH(self->sides[i].device);
    }
    EACH(self->names);
    EACH(self->values);
    EACH(self->launch);
    return 0;
}

/* ---------------------------------------------------------------- operands */

void end_operands(Argument operands[2])
{
    end_argument(&operands[0]);
    end_argument(&operands[1]);
}

bool read_operands(PyObject *source, PyObject *destination, const Kinds *kinds, unsigned parts, Argument operands[2])
{
    begin_argument(&operands[0], source);
    begin_argument(&operands[1], destination);
    return read_argument(&operands[0], kinds, false, parts) == DONE &&
           read_argument(&operands[1], kinds, true, parts) == DONE;
}

/* Largest alignment that a copy may rely on: that of a pixel. */
enum { MOST_ALIGNMENT = 16 };

static uint64_t alignment_of(uint64_t address)
{
    const uint64_t alignment = address & -address;
    return alignment == 0 || alignment > MOST_ALIGNMENT ? MOST_ALIGNMENT : alignment;
}

static bool has_layout(const Side *side, const Argument *operand)
{
    return operand->packed && (operand->writable || !side->written) &&
           same_type(operand->layout.type, side->layout.type) && same_shape(&operand->layout, &side->layout);
}

/* An array of which nothing tells the device must have the address of the prepared copy, unless there is one device. */
static bool is_in_reach(const Side *side, const Argument *operand, const Commands *commands, uint64_t alignment)
{
    return operand->kind == FOREIGN_ARRAY && has_stream(operand) && is_on_device_of(commands, operand) &&
           operand->layout.device.device_type == side->layout.device.device_type &&
           (operand->address == side->address ||
            (side->place_count > 0 && operand->address % alignment == 0 &&
             (operand->layout.device.device_id != UNKNOWN_DEVICE || commands->dlpack_alone)));
}

static bool fits_foreign(const Side *side, const Argument *operand, const Commands *commands)
{
    return is_in_reach(side, operand, commands, side->alignment) && has_layout(side, operand);
}

/* An array of numpy, and another library's on the host, may take each other's place. */
static bool fits_side(const Side *side, const Argument *operand, const Commands *commands)
{
    switch (side->kind) {
    case HOST_ARRAY: return is_on_host(operand) && has_layout(side, operand);
    case FOREIGN_ARRAY: return fits_foreign(side, operand, commands);
    case USM_ARRAY: return operand->kind == USM_ARRAY && operand->value == side->object;
    case IMAGE_MEMORY:
        return operand->kind == IMAGE_MEMORY &&
               (side->any ? operand->format == side->object && operand->device == side->device &&
                                operand->context == commands->context
                          : operand->owner == side->object);
    default: return false;
    }
}

bool fits_operands(const Copy *copy, const CopyCall *call)
{
    return fits_side(&copy->sides[0], &call->operands[0], call->commands) &&
           fits_side(&copy->sides[1], &call->operands[1], call->commands);
}

/* Whether the memory has the bytes of a copy, and lies where that of the prepared copy does. */
static bool has_bytes(const Copy *copy, const Side *side, const Argument *operand, const Commands *commands)
{
    if (!operand->packed || operand->bytes < copy->size || (side->written && !operand->writable))
        return false;
    switch (side->kind) {
    case HOST_ARRAY: return is_on_host(operand);
    case FOREIGN_ARRAY: return is_in_reach(side, operand, commands, 1);
    case USM_ARRAY: return operand->kind == USM_ARRAY && operand->context == commands->context;
    default: return false;
    }
}

int fits_bytes(Row *row, void *call)
{
    const Copy *copy = (const Copy *)row;
    const CopyCall *bytes = call;
    return copy->size == bytes->size && has_bytes(copy, &copy->sides[0], &bytes->operands[0], bytes->commands) &&
           has_bytes(copy, &copy->sides[1], &bytes->operands[1], bytes->commands);
}

/* ---------------------------------------------------------------- the row */

static bool set_side(Copy *self, int index, const Argument *operand, PyObject *places)
{
    Side *side = &self->sides[index];
    if (!PyTuple_Check(places) || PyTuple_Size(places) > MOST_LANES) {
        PyErr_SetString(PyExc_TypeError, "places: a tuple of at most 8 addresses");
        return false;
    }
    side->kind = is_on_host(operand) ? HOST_ARRAY : operand->kind;
    side->written = index == 1;
    side->place_count = (int)PyTuple_Size(places);
    for (int i = 0; i < side->place_count; i++)
        side->places[i] = (uint64_t *)(uintptr_t)PyLong_AsUnsignedLongLong(PyTuple_GetItem(places, i));
    if (PyErr_Occurred())
        return false;
    if (side->kind == HOST_ARRAY || side->kind == FOREIGN_ARRAY) {
        side->layout = operand->layout;
        side->address = operand->address;
        side->alignment = alignment_of(operand->address);
    }
    if ((side->kind != IMAGE_MEMORY && side->kind != USM_ARRAY) || self->size > 0)
        return true;
    side->any = side->kind == IMAGE_MEMORY && side->place_count > 0;
    if (side->any) {
        side->object = Py_NewRef(operand->format);
        side->device = Py_NewRef(operand->device);
        return true;
    }
    side->object = side->kind == IMAGE_MEMORY ? operand->owner : operand->value;
    return watch(&self->base, side->object);
}

static PyObject *copy_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)keywords;
    PyObject *copies, *values[2], *places[2], *names, *others, *launch;
    unsigned long long offsets[2], size = 0;
    if (!PyArg_ParseTuple(arguments, "O!OOOOKKO!O!O!K:Copy", (PyTypeObject *)copies_type, &copies, &values[0],
                          &values[1], &places[0], &places[1], &offsets[0], &offsets[1], &PyTuple_Type, &names,
                          &PyTuple_Type, &others, (PyTypeObject *)prepared_type, &launch, &size))
        return NULL;
    Copy *self = (Copy *)make((PyObject *)type);
    if (self == NULL)
        return NULL;
    self->size = size;
    Argument operands[2];
    bool done = read_operands(values[0], values[1], &((Copies *)copies)->kinds, USM_OWNER, operands);
    for (int i = 0; done && i < 2; i++) {
        done = set_side(self, i, &operands[i], places[i]);
        self->sides[i].offset = offsets[i];
    }
    end_operands(operands);
    if (!done) {
        Py_DECREF(self);
        return NULL;
    }
    self->names = Py_NewRef(names);
    self->values = Py_NewRef(others);
    self->launch = Py_NewRef(launch);
    return (PyObject *)self;
}

static PyMethodDef copy_methods[] = {
    {"forget", row_forget, METH_O, "Disables the prepared copy."},
    {NULL, NULL, 0, NULL},
};

OBJECT_TYPE(copy, Copy, "Copy", self->base.forgotten = true, , {Py_tp_new, copy_new}, {Py_tp_methods, copy_methods}, );

/* ---------------------------------------------------------------- submission */

typedef struct {
    const Copy *copy;
    const Argument *operands;
} Filling;

/* Writes addresses and handles into the driver's descriptions; OTHERWISE if memory is freed. */
static int fill(const void *what)
{
    const Filling *filling = what;
    if (is_forgotten(&filling->copy->base))
        return OTHERWISE;
    for (int i = 0; i < 2; i++)
        if (filling->operands[i].kind == USM_ARRAY && !is_open(filling->operands[i].owner))
            return OTHERWISE;
    for (int i = 0; i < 2; i++) {
        const Side *side = &filling->copy->sides[i];
        for (int place = 0; place < side->place_count; place++)
            *side->places[place] = filling->operands[i].address + side->offset;
    }
    return DONE;
}

/* Megabytes of host memory: a large array is released sooner. */
static long long weight_of(const Argument *operand)
{
    return is_on_host(operand) ? (long long)(operand->bytes >> 20) : 0;
}

static PyObject *owner_of(const Argument *operand)
{
    return operand->kind == IMAGE_MEMORY ? operand->owner : operand->value;
}

int submit_copy(Commands *commands, Copy *copy, const Argument operands[2], PyObject *depends_on, PyObject **event)
{
    if (is_forgotten(&copy->base))
        return OTHERWISE;
    Filling filling = {copy, operands};
    PyObject *objects[2] = {owner_of(&operands[0]), owner_of(&operands[1])};
    Submission submission = {.command = (Prepared *)copy->launch, .fill = fill, .what = &filling, .objects = objects,
                             .object_count = 2, .weight = weight_of(&operands[0]) + weight_of(&operands[1]),
                             .depends_on = depends_on};
    Py_INCREF(copy); /* other threads may run while this thread waits for the lock or is in the driver */
    int result = stream_of_arrays(operands, 2, &submission.stream);
    if (result == DONE)
        result = submit(commands, &submission, event);
    Py_DECREF(copy);
    return result;
}
