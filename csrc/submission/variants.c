/* Variants: finds the compiled kernel for the types of a launch's arguments, and its parameters.
 *
 * The types of arguments are a flat list of descriptions: a tuple is one entry, followed by those of its elements. */

#include "variants.h"

enum { MOST_ENTRIES = 256, MOST_DEPTH = 8, FIRST_WAYS = 4 };

/* ARRAY: in USM, or of another library. TYPE: the value's Python type decides. KEY: a value with a key from Python. */
typedef enum { ARRAY_ENTRY, INTEGER_ENTRY, TYPE_ENTRY, TUPLE_ENTRY, KEY_ENTRY } EntryKind;
typedef struct {
    EntryKind kind;
    PyObject *object; /* dtype of an array, or NULL; type; key; owned */
    int count;        /* dimensions of an array, elements of a tuple; 1: an integer above the largest signed one */
    bool packed;
    int code, bits;   /* DLPack's type of an array without dtype */
} Entry;

/* The arguments that are arrays of other libraries. */
enum { MOST_FOREIGN = 16 };
typedef struct {
    Argument arrays[MOST_FOREIGN];
    int count;
    signed char places[MOST_ARGUMENTS]; /* of each argument among the arrays, or -1 */
} ForeignValues;

/* VALUE: the argument itself. SHAPE and STRIDES: an element of these. CALL: the result of a function. */
typedef enum { VALUE_STEP, SHAPE_STEP, STRIDES_STEP, CALL_STEP } StepKind;
typedef struct {
    StepKind kind;
    int path[MOST_DEPTH], depth, index;
    PyObject *function; /* owned, or NULL */
} Step;

typedef struct {
    Row base;
    int dimensions, entry_count, step_count;
    Entry *entries;
    Step *steps;
    PyObject *kernel;
} Variant;

typedef struct {
    PyObject_HEAD
    CallTable table;
} Variants;

/* Of the package: the type of arrays, the base type of objects that stand for image handles, the set of types that
 * decide by themselves, and the function that makes a key of another value. */
static PyObject *array_type, *image_type, *plain_types, *key_function;
static PyObject *str_shape, *str_strides, *str_kernels, *str_token;

bool name_variants(void)
{
    static const Name names[] = {
        {&str_shape, "shape"}, {&str_strides, "strides"}, {&str_kernels, "_kernels"}, {&str_token, "_token"},
    };
    return INTERN(names);
}

PyObject *know_arguments(PyObject *module, PyObject *arguments)
{
    (void)module;
    PyObject *array, *image, *plain, *key;
    if (!PyArg_ParseTuple(arguments, "O!O!O!O:know_arguments", &PyType_Type, &array, &PyType_Type, &image,
                          &PyFrozenSet_Type, &plain, &key))
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

static NOT_INLINE int describe_array(PyObject *value, Entry *entry)
{
    Argument array;
    begin_argument(&array, value);
    const int result = read_usm(&array, USM_FORMAT | USM_PACKED | USM_SHAPE);
    entry->kind = ARRAY_ENTRY;
    entry->object = array.format;
    entry->packed = array.packed;
    entry->count = array.layout.dimensions;
    return result;
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
    if (foreign == NULL || argument < 0 || argument >= MOST_ARGUMENTS || foreign->count == MOST_FOREIGN)
        return describe_key(value, entry);
    Argument *array = &foreign->arrays[foreign->count];
    begin_argument(array, value);
    if (read_foreign(array, false) != DONE)
        return describe_key(value, entry);
    const DLDataType type = array->layout.type;
    foreign->places[argument] = (signed char)foreign->count++;
    *entry = (Entry){ARRAY_ENTRY, NULL, array->layout.dimensions, array->packed, type.code, type.bits};
    return array->packed && array->bytes != 0 && type.lanes == 1 ? DONE : OTHERWISE;
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
            foreign->places[i] = -1;
        result = describe(values[i], entries, entry_count, foreign, (int)i);
    }
    if (result != DONE)
        end_entries(entries, *entry_count);
    return result;
}

/* Whether an entry is that of a variant; -1 with an exception. */
static int is_same(const Entry *row, const Entry *entry)
{
    if (row->kind != entry->kind || row->count != entry->count || row->packed != entry->packed)
        return 0;
    if (row->kind == ARRAY_ENTRY && entry->object == NULL)
        return row->code == entry->code && row->bits == entry->bits;
    if (row->object == entry->object)
        return 1;
    if (row->kind == TYPE_ENTRY)
        return 0;
    return PyObject_RichCompareBool(row->object, entry->object, Py_EQ);
}

/* ---------------------------------------------------------------- variants */

REFERENCES(variant, Variant)
{
    EACH_WATCH(&self->base);
    for (int i = 0; i < self->entry_count; i++)
        EACH(self->entries[i].object);
    for (int i = 0; i < self->step_count; i++)
        EACH(self->steps[i].function);
    EACH(self->kernel);
    return 0;
}

OBJECT_TYPE(variant, Variant, "Variant", self->base.forgotten = true,
            (PyMem_Free(self->entries), PyMem_Free(self->steps)), );

REFERENCES(variants, Variants)
{
    return each_row(&self->table, each, arg);
}

/* A call of a kernel in Python: the dimensions of its range, and its arguments. */
typedef struct {
    int dimensions, count;
    Entry entries[MOST_ENTRIES];
} VariantCall;

/* Values of types that are equal in different objects, dtypes and keys, are not part of it. */
static uint64_t hash_of_entries(const VariantCall *call)
{
    uint64_t hash = mix((uint64_t)call->dimensions, (uint64_t)call->count);
    for (int i = 0; i < call->count; i++) {
        const Entry *entry = &call->entries[i];
        hash = mix(hash, (uint64_t)(unsigned)entry->count << 8 | (uint64_t)entry->kind << 1 | entry->packed);
        if (entry->kind == TYPE_ENTRY)
            hash = mix(hash, (uint64_t)(uintptr_t)entry->object);
    }
    return hash;
}

static int is_variant(Row *row, void *what)
{
    const Variant *variant = (Variant *)row;
    const VariantCall *call = what;
    int same = variant->dimensions == call->dimensions && variant->entry_count == call->count;
    for (int i = 0; same == 1 && i < call->count; i++)
        same = is_same(&variant->entries[i], &call->entries[i]);
    return same;
}

/* A new reference to the variant of a call, whose entries end; NULL without one, with or without an exception. */
static Variant *find_variant(const Variants *self, VariantCall *call)
{
    Variant *variant = (Variant *)find_row(&self->table, hash_of_entries(call), is_variant, call);
    end_entries(call->entries, call->count);
    return variant;
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

/* The array of another library that a step names as a whole; NULL for another one. */
static const Argument *foreign_of(const ForeignValues *foreign, const Step *step)
{
    const int place = foreign == NULL || step->depth != 1 ? -1 : foreign->places[step->path[0]];
    return place < 0 ? NULL : &foreign->arrays[place];
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
        if (foreign_of(foreign, step) != NULL)
            return PyLong_FromLongLong(foreign_of(foreign, step)->layout.shape[step->index]);
        return element_of(value, str_shape, step->index);
    case STRIDES_STEP: return element_of(value, str_strides, step->index);
    case CALL_STEP: return PyObject_CallFunctionObjArgs(step->function, value, NULL);
    default: return Py_NewRef(value);
    }
}

/* Reads the arguments of find and add: DONE, OTHERWISE for too many, or FAILED. The values are borrowed. */
static int read_call(int dimensions, PyObject *arguments, PyObject **values, VariantCall *call)
{
    const Py_ssize_t size = PyTuple_Size(arguments);
    if (size > MOST_ENTRIES)
        return OTHERWISE;
    for (Py_ssize_t i = 0; i < size; i++)
        values[i] = PyTuple_GetItem(arguments, i);
    call->dimensions = dimensions;
    return describe_all(values, size, call->entries, &call->count, NULL);
}

/* find(dimensions, arguments): the kernel and the values of its parameters, or None. */
static PyObject *variants_find(Variants *self, PyObject *tuple)
{
    int dimensions;
    PyObject *arguments, *values[MOST_ENTRIES];
    VariantCall call;
    if (!PyArg_ParseTuple(tuple, "iO!:find", &dimensions, &PyTuple_Type, &arguments))
        return NULL;
    const int described = read_call(dimensions, arguments, values, &call);
    Variant *variant = described == DONE ? find_variant(self, &call) : NULL;
    if (variant == NULL)
        return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
    PyObject *parameters = PyTuple_New(variant->step_count);
    for (int i = 0; parameters != NULL && i < variant->step_count; i++) {
        PyObject *value = take_step(&variant->steps[i], values, NULL);
        if (value == NULL)
            Py_CLEAR(parameters);
        else
            PyTuple_SetItem(parameters, i, value);
    }
    PyObject *result = parameters == NULL ? NULL : PyTuple_Pack(2, variant->kernel, parameters);
    Py_DECREF(variant);
    Py_XDECREF(parameters);
    return result;
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

/* A new variant, which takes over the entries of a call; NULL with an exception. */
static Variant *make_variant(VariantCall *call, PyObject *kernel, PyObject *steps, Py_ssize_t argument_count)
{
    Variant *self = (Variant *)make(variant_type);
    if (self != NULL) {
        self->entries = PyMem_Calloc((size_t)call->count + 1, sizeof(Entry));
        self->steps = PyMem_Calloc((size_t)PyTuple_Size(steps) + 1, sizeof(Step));
    }
    if (self == NULL || self->entries == NULL || self->steps == NULL) {
        end_entries(call->entries, call->count);
        Py_XDECREF(self);
        return (Variant *)PyErr_NoMemory();
    }
    self->dimensions = call->dimensions;
    self->kernel = Py_NewRef(kernel);
    memcpy(self->entries, call->entries, (size_t)call->count * sizeof(Entry));
    self->entry_count = call->count;
    bool done = read_types(self->entries, self->entry_count);
    for (Py_ssize_t i = 0; done && i < PyTuple_Size(steps); i++) {
        self->step_count = (int)i + 1;
        done = read_step(PyTuple_GetItem(steps, i), &self->steps[i]) && self->steps[i].path[0] >= 0 &&
               self->steps[i].path[0] < argument_count;
    }
    if (done)
        return self;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "a step names an argument that does not exist");
    Py_DECREF(self);
    return NULL;
}

/* add(dimensions, arguments, kernel, steps) */
static PyObject *variants_add(Variants *self, PyObject *tuple)
{
    int dimensions;
    PyObject *arguments, *kernel, *steps, *values[MOST_ENTRIES];
    VariantCall call;
    if (!PyArg_ParseTuple(tuple, "iO!OO!:add", &dimensions, &PyTuple_Type, &arguments, &kernel, &PyTuple_Type, &steps))
        return NULL;
    const int described = read_call(dimensions, arguments, values, &call);
    if (described == OTHERWISE)
        PyErr_Format(PyExc_ValueError, "a kernel takes at most %d arguments and elements of tuples", MOST_ENTRIES);
    const uint64_t hash = described == DONE ? hash_of_entries(&call) : 0;
    Variant *variant = described == DONE ? make_variant(&call, kernel, steps, PyTuple_Size(arguments)) : NULL;
    const bool done = variant != NULL && add_row(&self->table, (Row *)variant, hash);
    Py_XDECREF(variant);
    return done ? Py_NewRef(Py_None) : NULL;
}

/* The kernels, the newest first. */
static PyObject *variants_kernels(Variants *self, PyObject *unused)
{
    (void)unused;
    PyObject *rows = rows_of(&self->table);
    PyObject *list = rows == NULL ? NULL : PyList_New(PyTuple_Size(rows));
    for (Py_ssize_t i = 0; list != NULL && i < PyTuple_Size(rows); i++)
        PyList_SetItem(list, i, Py_NewRef(((Variant *)PyTuple_GetItem(rows, i))->kernel));
    Py_XDECREF(rows);
    return list;
}

static PyObject *variants_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    (void)arguments, (void)keywords;
    Variants *self = (Variants *)new_table(type, 1, FIRST_WAYS);
    if (self != NULL)
        self->table.grows = true;
    return (PyObject *)self;
}

static PyMethodDef variants_methods[] = {
    {"find", (PyCFunction)variants_find, METH_VARARGS,
     "The kernel for the arguments of a launch, and its parameters; or None."},
    {"add", (PyCFunction)variants_add, METH_VARARGS, "Adds the kernel for the types of arguments."},
    {"kernels", (PyCFunction)variants_kernels, METH_NOARGS, "The compiled kernels."},
    {NULL, NULL, 0, NULL},
};

OBJECT_TYPE(variants, Variants, "Variants", end_table(&self->table), , {Py_tp_new, variants_new},
            {Py_tp_methods, variants_methods}, );

/* ---------------------------------------------------------------- launches */

/* A new reference to the variants of a kernel in a context; NULL without. */
static Variants *variants_of(const Commands *commands, PyObject *kernel)
{
    PyObject *kernels = commands->context == NULL ? NULL : PyObject_GetAttr(commands->context, str_kernels);
    PyObject *token = PyObject_GetAttr(kernel, str_token), *variants = NULL;
    if (kernels != NULL && token != NULL && PyDict_Check(kernels))
        variants = dict_item(kernels, token);
    Py_XDECREF(kernels);
    Py_XDECREF(token);
    if (variants != NULL && !PyType_IsSubtype(Py_TYPE(variants), (PyTypeObject *)variants_type))
        Py_CLEAR(variants);
    PyErr_Clear();
    return (Variants *)variants;
}

void end_expanded(Expanded *expanded)
{
    while (expanded->owned_count > 0)
        Py_DECREF(expanded->owned[--expanded->owned_count]);
    Py_CLEAR(expanded->variant);
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
        const Argument *array = steps[i].kind == VALUE_STEP ? foreign_of(foreign, &steps[i]) : NULL;
        if (array != NULL && add_foreign_argument(commands, array, &expanded->foreign, i) != DONE)
            return OTHERWISE;
    }
    expanded->count = count;
    return DONE;
}

int expand(const Commands *commands, PyObject *kernel, PyObject *space, PyObject *const *values, Py_ssize_t count,
           Expanded *expanded)
{
    const int dimensions = range_dimensions(space);
    if (array_type == NULL || dimensions == 0 || count > MOST_ARGUMENTS)
        return OTHERWISE;
    Variants *variants = variants_of(commands, kernel);
    if (variants == NULL)
        return OTHERWISE;
    VariantCall call;
    call.dimensions = dimensions;
    ForeignValues foreign;
    foreign.count = 0;
    Variant *variant = NULL;
    if (describe_all(values, count, call.entries, &call.count, &foreign) == DONE)
        variant = find_variant(variants, &call);
    Py_DECREF(variants);
    expanded->variant = (PyObject *)variant;
    expanded->owned_count = 0;
    int result = OTHERWISE;
    if (variant != NULL) {
        expanded->kernel = variant->kernel;
        result = take_steps(commands, variant, values, &foreign, expanded);
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

REFERENCES(template, Template)
{
    (void)self, (void)each, (void)arg;
    return 0;
}

OBJECT_TYPE(template, Template, "Template", , , {Py_tp_new, PyType_GenericNew}, );
