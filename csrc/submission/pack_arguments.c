/* Packing of the arguments of a prepared launch, after they were read. Nothing here runs Python code. */

#include "types.h"

static bool is_memory(const Submission *submission, int index)
{
    const Kind kind = submission->command->slots[index].kind;
    return (kind == POINTER || kind == ARRAY) && !is_foreign(submission, index);
}

/* Whether memory is open, and another library's array has the address that it must have. */
static bool may_pack(const Submission *submission, int index)
{
    const Parameter *argument = &submission->arguments[index];
    if (is_memory(submission, index))
        return is_open(argument->object);
    return !is_foreign(submission, index) || !submission->same_addresses ||
           memcmp(submission->command->slots[index].place, argument->from, (size_t)argument->size) == 0;
}

/* Keeps the number whose bytes are in place, if its end runs no Python code: that of a type from Python may. Numbers of
 * other types do not change. Returns the number before, or NULL. */
static PyObject *remember_number(Slot *slot, PyObject *value)
{
    if (slot->value == value)
        return NULL;
    PyObject *before = slot->value;
    slot->value = (PyType_GetFlags(Py_TYPE(value)) & Py_TPFLAGS_HEAPTYPE) == 0 ? Py_NewRef(value) : NULL;
    return before;
}

/* Notes the object whose address or handle is in place; another one is not among those that the batch holds. */
static void remember_object(Slot *slot, PyObject *value, PyObject *owner)
{
    if (slot->value != value || value == NULL)
        slot->batch = -1;
    slot->value = value;
    slot->owner = owner;
}

int pack_arguments(Commands *commands, const Submission *submission)
{
    (void)commands; /* but for the guard */
    const Prepared *launch = submission->command;
    for (int i = 0; i < launch->count; i++)
        if (!may_pack(submission, i))
            return OTHERWISE;
    for (int i = 0; i < launch->count; i++) {
        Slot *slot = &launch->slots[i];
        const Parameter *argument = &submission->arguments[i];
        PyObject *value = submission->values[i], *before = NULL;
        BEGIN_GUARD(commands->guard); /* other threads read the place and the note of it without the queue's lock */
        if (argument->from != NULL)
            copy_bytes(slot->place, argument->from, argument->size);
        if (slot->kind == NUMBER)
            before = remember_number(slot, value);
        else if (slot->kind == HELD || is_memory(submission, i))
            remember_object(slot, value, argument->object);
        else if (is_foreign(submission, i))
            remember_object(slot, NULL, NULL);
        END_GUARD(commands->guard);
        Py_XDECREF(before);
    }
    return DONE;
}
