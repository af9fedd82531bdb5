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

static bool read_side(Copy *self, int index, PyObject *value, PyObject *places, const Kinds *kinds)
{
    Side *side = &self->sides[index];
    Given given;
    if (!PyTuple_Check(places) || PyTuple_Size(places) > MOST_LANES) {
        PyErr_SetString(PyExc_TypeError, "places: a tuple of at most 8 addresses");
        return false;
    }
    bool done = read_given(value, kinds, index == 1, &given);
    if (!done) {
        let_go(&given);
        return false;
    }
    side->kind = given.kind;
    side->written = index == 1;
    side->place_count = (int)PyTuple_Size(places);
    for (int i = 0; i < side->place_count; i++)
        side->places[i] = (uint64_t *)(uintptr_t)PyLong_AsUnsignedLongLong(PyTuple_GetItem(places, i));
    if (given.kind == HOST) {
        side->type = given.array->type;
        side->item_size = given.array->item_size;
        side->dimensions = given.array->dimensions;
        for (int i = 0; i < side->dimensions; i++)
            side->shape[i] = given.array->shape[i];
    } else if (given.kind == IMAGE && side->place_count > 0) {
        side->any = true;
        side->object = Py_NewRef(given.descriptor);
        side->device = Py_NewRef(given.device);
    } else if (given.kind != OTHER) {
        side->object = given.kind == IMAGE ? given.record : value;
        done = watch(&self->base, side->object);
    }
    let_go(&given);
    return done && !PyErr_Occurred();
}

static PyObject *copy_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)keywords;
    PyObject *copies, *values[2], *places[2], *names, *others, *launch;
    unsigned long long offsets[2];
    if (!PyArg_ParseTuple(arguments, "O!OOOOKKO!O!O!:Copy", (PyTypeObject *)copies_type, &copies, &values[0], &values[1],
                          &places[0], &places[1], &offsets[0], &offsets[1], &PyTuple_Type, &names, &PyTuple_Type,
                          &others, (PyTypeObject *)prepared_type, &launch))
        return NULL;
    Copy *self = (Copy *)make((PyObject *)type);
    for (int i = 0; self != NULL && i < 2; i++) {
        if (!read_side(self, i, values[i], places[i], &((Copies *)copies)->kinds))
            Py_CLEAR(self);
        else
            self->sides[i].offset = offsets[i];
    }
    if (self == NULL)
        return NULL;
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
    const Given *given;
} Filling;

/* Writes addresses and handles into the driver's descriptions; OTHERWISE if memory is freed. */
static int fill(const void *what)
{
    const Filling *filling = what;
    if (filling->copy->base.forgotten)
        return OTHERWISE;
    for (int i = 0; i < 2; i++)
        if (filling->given[i].owner != NULL && !((const Openable *)filling->given[i].owner)->open)
            return OTHERWISE;
    for (int i = 0; i < 2; i++) {
        const Side *side = &filling->copy->sides[i];
        for (int place = 0; place < side->place_count; place++)
            *side->places[place] = filling->given[i].number + side->offset;
    }
    return DONE;
}

/* Megabytes of host memory: a large array is released sooner. */
static long long weight_of(const Side *side)
{
    uint64_t bytes = side->kind == HOST ? (uint64_t)side->item_size : 0;
    for (int axis = 0; axis < side->dimensions; axis++)
        bytes *= (uint64_t)side->shape[axis];
    return (long long)(bytes >> 20);
}

int submit_copy(Commands *commands, Copy *copy, const Given given[2], PyObject *depends_on, PyObject **event)
{
    if (copy->base.forgotten)
        return OTHERWISE;
    Filling filling = {copy, given};
    PyObject *kept[2] = {kept_of(&given[0]), kept_of(&given[1])};
    Submission submission = {.command = (Prepared *)copy->launch, .fill = fill, .what = &filling, .kept = kept,
                             .kept_count = 2, .weight = weight_of(&copy->sides[0]) + weight_of(&copy->sides[1]),
                             .depends_on = depends_on};
    Py_INCREF(copy); /* other threads may run while this thread waits for the lock or is in the driver */
    int result = submit(commands, &submission, event);
    Py_DECREF(copy);
    return result;
}
