/* Images as arguments of a prepared launch: the handles that they give. */

#include "types.h"

static PyObject *str_image_handle;

bool lend_images(const Prepared *launch, PyObject *const *values, LentImages *lent)
{
    lent->count = 0;
    if (!launch->has_images)
        return false;
    for (int i = 0; i < launch->count; i++) {
        const Slot *slot = &launch->slots[i];
        lent->values[i] = values[i];
        if (slot->kind != HELD || (PyObject *)Py_TYPE(values[i]) == slot->type)
            continue;
        PyObject *sampled = slot->sampled ? Py_True : Py_False;
        PyObject *handle = PyObject_CallMethodObjArgs(values[i], str_image_handle, sampled, NULL);
        if (handle == NULL) {
            PyErr_Clear(); /* Python says what the value is */
            end_images(lent);
            return false;
        }
        lent->values[i] = lent->owned[lent->count++] = handle;
    }
    return lent->count > 0;
}

void end_images(LentImages *lent)
{
    while (lent->count > 0)
        Py_DECREF(lent->owned[--lent->count]);
}

bool name_image_arguments(void)
{
    return str_image_handle != NULL || (str_image_handle = PyUnicode_InternFromString("_image_handle")) != NULL;
}
