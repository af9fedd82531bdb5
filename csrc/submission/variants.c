/* Variants: finds the compiled kernel for the types of a launch's arguments, and its parameters.
 *
 * The types of arguments are a flat list of descriptions: a tuple is one entry, followed by those of its elements. */

#include "variants.h"

enum { MOST_ENTRIES = 256, MOST_DEPTH = 8 };

/* ARRAY: in USM, or of another library. TYPE: the value's Python type decides. KEY: a value with a key from Python. */
typedef enum { ARRAY_ENTRY, INTEGER_ENTRY, TYPE_ENTRY, TUPLE_ENTRY, KEY_ENTRY } EntryKind;
typedef struct {
    EntryKind kind;
    PyObject *object; /* dtype of an array, or NULL; type; key; owned */
    int count;        /* dimensions of an array, elements of a tuple; 1: an integer above the largest signed one */
    bool packed;
    int code, bits;   /* DLPack's type of an array without dtype */
} Entry;

/* An argument that is an array of another library, by its position among the arguments. */
typedef struct {
    ForeignArray arrays[MOST_ARGUMENTS];
    bool is_foreign[MOST_ARGUMENTS];
    bool any;
} ForeignValues;

/* VALUE: the argument itself. SHAPE and STRIDES: an element of these. CALL: the result of a function. */
typedef enum { VALUE_STEP, SHAPE_STEP, STRIDES_STEP, CALL_STEP } StepKind;
typedef struct {
    StepKind kind;
    int path[MOST_DEPTH], depth, index;
    PyObject *function; /* owned, or NULL */
} Step;

typedef struct {
    int dimensions, entry_count, step_count;
    Entry *entries;
    Step *steps;
    PyObject *kernel; /* owned */
} Variant;

typedef struct {
    PyObject_HEAD
    Variant *list;
    int count;
} Variants;

/* Of the package: the type of arrays, the base type of objects that stand for image handles, the set of types that
 * decide by themselves, and the function that makes a key of another value. */
static PyObject *array_type, *image_type, *plain_types, *key_function;
static PyObject *str_shape, *str_strides, *str_kernels, *str_token, *str_global_range, *str_sizes;

PyObject *know_arguments(PyObject *module, PyObject *arguments)
{
    static const struct { PyObject **at; const char *text; } names[] = {
        {&str_shape, "shape"}, {&str_strides, "strides"}, {&str_kernels, "_kernels"}, {&str_token, "_token"},
        {&str_global_range, "global_range"}, {&str_sizes, "_sizes"},
    };
    (void)module;
    PyObject *array, *image, *plain, *key;
    if (!PyArg_ParseTuple(arguments, "O!O!O!O:know_arguments", &PyType_Type, &array, &PyType_Type, &image,
                          &PyFrozenSet_Type, &plain, &key))
        return NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (*names[i].at == NULL && (*names[i].at = PyUnicode_InternFromString(names[i].text)) == NULL)
            return NULL;
    array_type = Py_NewRef(array);
    image_type = Py_NewRef(image);
    plain_types = Py_NewRef(plain);
    key_function = Py_NewRef(key);
    Py_RETURN_NONE;
}

/* ---------------------------------------------------------------- descriptions of arguments */

static void end_entries(Entry *entries, int count)
{
    for (int i = 0; i < count; i++)
        Py_CLEAR(entries[i].object);
}

static int describe_array(PyObject *value, Entry *entry)
{
    PyObject *shape = PyObject_GetAttr(value, str_shape);
    entry->object = PyObject_GetAttr(value, str_dtype);
    entry->kind = ARRAY_ENTRY;
    entry->packed = is_true(value, str_contiguous);
    entry->count = shape != NULL && PyTuple_Check(shape) ? (int)PyTuple_Size(shape) : -1;
    Py_XDECREF(shape);
    return entry->object == NULL || entry->count < 0 ? FAILED : DONE;
}

static int describe_key(PyObject *value, Entry *entry)
{
    entry->kind = KEY_ENTRY;
    entry->object = PyObject_CallFunctionObjArgs(key_function, value, NULL);
    return entry->object == NULL ? FAILED : entry->object == Py_None ? OTHERWISE : DONE;
}

/* OTHERWISE for an array that must be imported first. */
static int describe_foreign(PyObject *value, Entry *entry, ForeignValues *foreign, int argument)
{
    if (foreign == NULL || argument < 0 || argument >= MOST_ARGUMENTS)
        return describe_key(value, entry);
    ForeignArray *array = &foreign->arrays[argument];
    if (foreign_array(value, false, array) != DONE)
        return describe_key(value, entry);
    foreign->is_foreign[argument] = foreign->any = true;
    *entry = (Entry){ARRAY_ENTRY, NULL, array->dimensions, array->packed, array->type.code, array->type.bits};
    return array->packed && array->bytes != 0 && array->type.lanes == 1 ? DONE : OTHERWISE;
}

/* Appends the descriptions of a value; argument: its position, or -1 within a tuple. */
static int describe(PyObject *value, Entry *entries, int *count, ForeignValues *foreign, int argument)
{
    if (*count == MOST_ENTRIES)
        return OTHERWISE;
    Entry *entry = &entries[*count];
    PyObject *type = (PyObject *)Py_TYPE(value);
    *entry = (Entry){.kind = TYPE_ENTRY};
    (*count)++;
    if (type == array_type)
        return describe_array(value, entry);
    if (PyLong_CheckExact(value)) {
        int overflow;
        (void)PyLong_AsLongLongAndOverflow(value, &overflow);
        entry->kind = INTEGER_ENTRY;
        entry->count = overflow != 0;
        return DONE;
    }
    if (PyTuple_Check(value)) {
        entry->kind = TUPLE_ENTRY;
        entry->count = (int)PyTuple_Size(value);
        int result = DONE;
        for (int i = 0; result == DONE && i < entry->count; i++)
            result = describe(PyTuple_GetItem(value, i), entries, count, foreign, -1);
        return result;
    }
    int plain = PySet_Contains(plain_types, type);
    if (plain < 0)
        return FAILED;
    if (plain || PyType_IsSubtype((PyTypeObject *)type, (PyTypeObject *)image_type)) {
        entry->object = Py_NewRef(type);
        return DONE;
    }
    return describe_foreign(value, entry, foreign, argument);
}

static int describe_all(PyObject *const *values, Py_ssize_t count, Entry *entries, int *entry_count,
                        ForeignValues *foreign)
{
    int result = DONE;
    *entry_count = 0;
    for (Py_ssize_t i = 0; result == DONE && i < count; i++) {
        if (foreign != NULL && i < MOST_ARGUMENTS)
            foreign->is_foreign[i] = false;
        result = describe(values[i], entries, entry_count, foreign, (int)i);
    }
    if (result != DONE)
        end_entries(entries, *entry_count);
    return result;
}

/* Whether an entry is that of a variant; -1 with an exception. */
static int is_same(const Entry *known, const Entry *given)
{
    if (known->kind != given->kind || known->count != given->count || known->packed != given->packed)
        return 0;
    if (known->kind == ARRAY_ENTRY && given->object == NULL)
        return known->code == given->code && known->bits == given->bits;
    if (known->object == given->object)
        return 1;
    if (known->kind == TYPE_ENTRY)
        return 0;
    return PyObject_RichCompareBool(known->object, given->object, Py_EQ);
}

/* ---------------------------------------------------------------- variants */

static void end_variant(Variant *variant)
{
    end_entries(variant->entries, variant->entry_count);
    for (int i = 0; i < variant->step_count; i++)
        Py_CLEAR(variant->steps[i].function);
    PyMem_Free(variant->entries);
    PyMem_Free(variant->steps);
    Py_CLEAR(variant->kernel);
}

static int variants_traverse(Variants *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    for (int i = 0; i < self->count; i++) {
        Py_VISIT(self->list[i].kernel);
        for (int k = 0; k < self->list[i].entry_count; k++)
            Py_VISIT(self->list[i].entries[k].object);
        for (int k = 0; k < self->list[i].step_count; k++)
            Py_VISIT(self->list[i].steps[k].function);
    }
    return 0;
}

static int variants_clear(Variants *self)
{
    Variant *list = self->list;
    int count = self->count;
    self->list = NULL;
    self->count = 0;
    for (int i = 0; i < count; i++)
        end_variant(&list[i]);
    PyMem_Free(list);
    return 0;
}

static void variants_dealloc(Variants *self)
{
    PyObject_GC_UnTrack(self);
    variants_clear(self);
    finish((PyObject *)self);
}

/* A new reference to the kernel of a variant, and its position; NULL without one, with or without an exception. Other
 * threads may add variants while dtypes are compared. */
static PyObject *find_variant(const Variants *self, int dimensions, const Entry *entries, int count, int *position)
{
    for (int i = 0; i < self->count; i++) {
        if (self->list[i].dimensions != dimensions || self->list[i].entry_count != count)
            continue;
        int same = 1;
        for (int k = 0; same == 1 && k < count && i < self->count; k++)
            same = is_same(&self->list[i].entries[k], &entries[k]);
        if (same < 0)
            return NULL;
        if (same && i < self->count) {
            *position = i;
            return Py_NewRef(self->list[i].kernel);
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------- parameters of the compiled kernel */

/* An element of a tuple among the attributes of a value: a new reference. */
static PyObject *element_of(PyObject *value, PyObject *name, int index)
{
    PyObject *tuple = PyObject_GetAttr(value, name);
    PyObject *item = tuple == NULL ? NULL : PySequence_GetItem(tuple, index);
    Py_XDECREF(tuple);
    return item;
}

/* The value of a step: a new reference. */
static PyObject *take_step(const Step *step, PyObject *const *arguments, const ForeignValues *foreign)
{
    PyObject *value = arguments[step->path[0]]; /* borrowed: tuples keep their elements */
    for (int i = 1; i < step->depth; i++)
        value = PyTuple_GetItem(value, step->path[i]);
    if (value == NULL)
        return NULL;
    switch (step->kind) {
    case SHAPE_STEP:
        if (foreign != NULL && step->depth == 1 && foreign->is_foreign[step->path[0]])
            return PyLong_FromLongLong(foreign->arrays[step->path[0]].shape[step->index]);
        return element_of(value, str_shape, step->index);
    case STRIDES_STEP: return element_of(value, str_strides, step->index);
    case CALL_STEP: return PyObject_CallFunctionObjArgs(step->function, value, NULL);
    default: return Py_NewRef(value);
    }
}

/* find(dimensions, arguments): the kernel and the values of its parameters, or None. */
static PyObject *variants_find(Variants *self, PyObject *given)
{
    int dimensions, count, position;
    PyObject *arguments;
    if (!PyArg_ParseTuple(given, "iO!:find", &dimensions, &PyTuple_Type, &arguments))
        return NULL;
    PyObject *values[MOST_ENTRIES];
    Entry entries[MOST_ENTRIES];
    Py_ssize_t size = PyTuple_Size(arguments);
    if (size > MOST_ENTRIES)
        Py_RETURN_NONE;
    for (Py_ssize_t i = 0; i < size; i++)
        values[i] = PyTuple_GetItem(arguments, i);
    int result = describe_all(values, size, entries, &count, NULL);
    if (result == FAILED)
        return NULL;
    PyObject *kernel = result == DONE ? find_variant(self, dimensions, entries, count, &position) : NULL;
    if (result == DONE)
        end_entries(entries, count);
    if (kernel == NULL && PyErr_Occurred())
        return NULL;
    if (kernel == NULL)
        Py_RETURN_NONE;
    PyObject *parameters = PyTuple_New(self->list[position].step_count);
    for (int i = 0; parameters != NULL && i < self->list[position].step_count; i++) {
        PyObject *value = take_step(&self->list[position].steps[i], values, NULL);
        if (value == NULL)
            Py_CLEAR(parameters);
        else
            PyTuple_SetItem(parameters, i, value);
    }
    PyObject *found = parameters == NULL ? NULL : PyTuple_Pack(2, kernel, parameters);
    Py_DECREF(kernel);
    Py_XDECREF(parameters);
    return found;
}

/* A step from Python: the path, the name of the part or a function, and an index. */
static bool read_step(PyObject *row, Step *step)
{
    PyObject *path, *part;
    if (!PyArg_ParseTuple(row, "O!Oi", &PyTuple_Type, &path, &part, &step->index))
        return false;
    step->depth = (int)PyTuple_Size(path);
    if (step->depth < 1 || step->depth > MOST_DEPTH) {
        PyErr_SetString(PyExc_ValueError, "tuples among the arguments of a kernel are nested 7 deep at most");
        return false;
    }
    for (int i = 0; i < step->depth; i++)
        step->path[i] = (int)PyLong_AsLong(PyTuple_GetItem(path, i));
    if (part == Py_None)
        step->kind = VALUE_STEP;
    else if (PyCallable_Check(part)) {
        step->kind = CALL_STEP;
        step->function = Py_NewRef(part);
    } else
        step->kind = PyUnicode_Compare(part, str_shape) == 0 ? SHAPE_STEP : STRIDES_STEP;
    return !PyErr_Occurred();
}

static bool read_types(Entry *entries, int count)
{
    for (int i = 0; i < count; i++) {
        entries[i].code = -1;
        if (entries[i].kind == ARRAY_ENTRY && !foreign_type(entries[i].object, &entries[i].code, &entries[i].bits))
            return false;
    }
    return true;
}

/* Last: what was read before may have run Python code, which added another one. */
static bool append_variant(Variants *self, const Variant *variant)
{
    Variant *list = PyMem_Realloc(self->list, (size_t)(self->count + 1) * sizeof(Variant));
    if (list == NULL) {
        PyErr_NoMemory();
        return false;
    }
    self->list = list;
    list[self->count++] = *variant;
    return true;
}

/* add(dimensions, arguments, kernel, steps) */
static PyObject *variants_add(Variants *self, PyObject *given)
{
    int dimensions, count;
    PyObject *arguments, *kernel, *steps, *values[MOST_ENTRIES];
    Entry entries[MOST_ENTRIES];
    if (!PyArg_ParseTuple(given, "iO!OO!:add", &dimensions, &PyTuple_Type, &arguments, &kernel, &PyTuple_Type, &steps))
        return NULL;
    Py_ssize_t size = PyTuple_Size(arguments);
    for (Py_ssize_t i = 0; i < size && size <= MOST_ENTRIES; i++)
        values[i] = PyTuple_GetItem(arguments, i);
    int described = size > MOST_ENTRIES ? OTHERWISE : describe_all(values, size, entries, &count, NULL);
    if (described != DONE) {
        if (described == OTHERWISE)
            PyErr_Format(PyExc_ValueError, "a kernel takes at most %d arguments and elements of tuples", MOST_ENTRIES);
        return NULL;
    }
    Variant made = {.dimensions = dimensions, .kernel = Py_NewRef(kernel), .step_count = 0};
    made.entries = PyMem_Calloc((size_t)count + 1, sizeof(Entry));
    made.steps = PyMem_Calloc((size_t)PyTuple_Size(steps) + 1, sizeof(Step));
    if (made.entries == NULL || made.steps == NULL) {
        end_entries(entries, count);
        end_variant(&made);
        return PyErr_NoMemory();
    }
    memcpy(made.entries, entries, (size_t)count * sizeof(Entry));
    made.entry_count = count;
    bool done = read_types(made.entries, count);
    for (Py_ssize_t i = 0; done && i < PyTuple_Size(steps); i++) {
        made.step_count = (int)i + 1;
        done = read_step(PyTuple_GetItem(steps, i), &made.steps[i]) && made.steps[i].path[0] >= 0 &&
               made.steps[i].path[0] < size;
    }
    if (!done && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "a step names an argument that does not exist");
    if (!done || !append_variant(self, &made)) {
        end_variant(&made);
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *variants_kernels(Variants *self, PyObject *unused)
{
    (void)unused;
    PyObject *list = PyList_New(0);
    for (int i = 0; list != NULL && i < self->count; i++)
        if (PyList_Append(list, self->list[i].kernel) < 0)
            Py_CLEAR(list);
    return list;
}

static PyMemberDef variants_members[] = {{NULL, 0, 0, 0, NULL}};

static PyMethodDef variants_methods[] = {
    {"find", (PyCFunction)variants_find, METH_VARARGS,
     "The kernel for the arguments of a launch, and its parameters; or None."},
    {"add", (PyCFunction)variants_add, METH_VARARGS, "Adds the kernel for the types of arguments."},
    {"kernels", (PyCFunction)variants_kernels, METH_NOARGS, "The compiled kernels."},
    {NULL, NULL, 0, NULL},
};

SLOTS(variants, variants_members, {Py_tp_new, PyType_GenericNew}, {Py_tp_methods, variants_methods}, )
SPEC(variants, Variants, "Variants")

/* ---------------------------------------------------------------- launches */

/* The dimensions of a range; 0 for what Python must read. */
static int dimensions_of(PyObject *space)
{
    if (PyLong_CheckExact(space))
        return 1;
    if (PyTuple_Check(space))
        return (int)PyTuple_Size(space);
    PyObject *range = PyObject_GetAttr(space, str_global_range);
    if (range == NULL) { /* a Range itself */
        PyErr_Clear();
        range = Py_NewRef(space);
    }
    PyObject *sizes = PyObject_GetAttr(range, str_sizes);
    int found = sizes != NULL && PyTuple_Check(sizes) ? (int)PyTuple_Size(sizes) : 0;
    Py_DECREF(range);
    Py_XDECREF(sizes);
    PyErr_Clear();
    return found;
}

/* A new reference to the variants of a kernel in a context; NULL without. */
static Variants *variants_of(const Commands *commands, PyObject *kernel)
{
    PyObject *kernels = commands->context == NULL ? NULL : PyObject_GetAttr(commands->context, str_kernels);
    PyObject *token = PyObject_GetAttr(kernel, str_token), *found = NULL;
    if (kernels != NULL && token != NULL && PyDict_Check(kernels))
        found = PyDict_GetItemWithError(kernels, token);
    Py_XINCREF(found);
    Py_XDECREF(kernels);
    Py_XDECREF(token);
    if (found != NULL && !PyType_IsSubtype(Py_TYPE(found), (PyTypeObject *)variants_type))
        Py_CLEAR(found);
    PyErr_Clear();
    return (Variants *)found;
}

void end_expanded(Expanded *expanded)
{
    while (expanded->owned_count > 0)
        Py_DECREF(expanded->owned[--expanded->owned_count]);
    Py_CLEAR(expanded->variants);
}

/* Computes the parameters; OTHERWISE with an exception, which Python raises again, or without one. */
static int take_steps(const Commands *commands, const Variant *variant, PyObject *const *values,
                      const ForeignValues *foreign, Expanded *expanded)
{
    const int count = variant->step_count;
    const Step *steps = variant->steps;
    if (count > MOST_ARGUMENTS)
        return OTHERWISE;
    expanded->foreign.any = false;
    for (int i = 0; i < count; i++) {
        PyObject *value = take_step(&steps[i], values, foreign);
        if (value == NULL)
            return OTHERWISE;
        expanded->values[i] = expanded->owned[expanded->owned_count++] = value;
        expanded->foreign.addresses[i] = 0;
        if (steps[i].kind == VALUE_STEP && steps[i].depth == 1 && foreign->is_foreign[steps[i].path[0]] &&
            add_foreign_argument(commands, &foreign->arrays[steps[i].path[0]], &expanded->foreign, i) != DONE)
            return OTHERWISE;
    }
    expanded->count = count;
    return DONE;
}

int expand(const Commands *commands, PyObject *kernel, PyObject *space, PyObject *const *values, Py_ssize_t count,
           Expanded *expanded)
{
    const int dimensions = dimensions_of(space);
    if (array_type == NULL || dimensions == 0 || count > MOST_ARGUMENTS)
        return OTHERWISE;
    Variants *variants = variants_of(commands, kernel);
    if (variants == NULL)
        return OTHERWISE;
    Entry entries[MOST_ENTRIES];
    ForeignValues foreign;
    foreign.any = false;
    int entry_count, position = 0;
    PyObject *found = NULL;
    if (describe_all(values, count, entries, &entry_count, &foreign) == DONE) {
        found = find_variant(variants, dimensions, entries, entry_count, &position);
        end_entries(entries, entry_count);
    }
    expanded->kernel = found;
    expanded->variants = (PyObject *)variants;
    expanded->owned_count = 0;
    int result = OTHERWISE;
    if (found != NULL) {
        result = take_steps(commands, &variants->list[position], values, &foreign, expanded);
        Py_DECREF(found); /* the variants keep it */
    }
    PyErr_Clear(); /* Python repeats what failed, and raises it */
    if (result != DONE)
        end_expanded(expanded);
    return result;
}

/* ---------------------------------------------------------------- kernels that have variants */

typedef struct {
    PyObject_HEAD
} Template;

static int template_traverse(Template *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int template_clear(Template *self)
{
    (void)self;
    return 0;
}

static void template_dealloc(Template *self)
{
    PyObject_GC_UnTrack(self);
    finish((PyObject *)self);
}

static PyMemberDef template_members[] = {{NULL, 0, 0, 0, NULL}};

SLOTS(template, template_members, {Py_tp_new, PyType_GenericNew}, )
SPEC(template, Template, "Template")
