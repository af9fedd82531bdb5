/* Picture: a prepared picture, the comparison with a call, and its submission. */

#include "picture_call.h"

static PyObject *str_ready, *str_kind;

bool name_pictures(void)
{
    static const Name names[] = {{&str_ready, "ready"}, {&str_kind, "kind"}};
    return INTERN(names);
}

REFERENCES(picture, Picture)
{
    EACH_WATCH(&self->base);
    EACH(self->shape);
    EACH(self->out.dtype);
    EACH(self->vectors.dtype);
    EACH(self->out_kind);
    EACH(self->maker);
    EACH(self->library);
    EACH(self->steps);
    EACH(self->uploads);
    EACH(self->key);
    EACH(self->record);
    EACH(self->staged_out.object);
    EACH(self->staged_out.owner);
    EACH(self->staged_vectors.object);
    EACH(self->staged_vectors.owner);
    return 0;
}

static PyMethodDef picture_methods[] = {
    {"forget", row_forget, METH_O, "Disables the prepared picture."},
    {NULL, NULL, 0, NULL},
};

OBJECT_TYPE(picture, Picture, "Picture", self->base.forgotten = true, , {Py_tp_methods, picture_methods}, );

/* ---------------------------------------------------------------- preparation */

static bool read_numbers(PyObject *tuple, double *numbers, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = i < PyTuple_Size(tuple) ? PyTuple_GetItem(tuple, i) : NULL;
        numbers[i] = item == NULL ? 0 : PyFloat_AsDouble(item);
    }
    return !PyErr_Occurred();
}

static bool set_map(Picture *self, PyObject *map)
{
    PyObject *unit, *margin, *fixed;
    int affine;
    if (!PyArg_ParseTuple(map, "iiOO!O!p:map", &self->maps, &self->rule.dims, &unit, &PyTuple_Type, &margin, &PyTuple_Type,
                          &fixed, &affine))
        return false;
    self->affine = affine;
    self->rule.scaled = unit != Py_None;
    if (!read_numbers(margin, self->rule.margin, SPACE) || !read_numbers(fixed, self->map, MATRIX))
        return false;
    for (int axis = 0; axis < SPACE; axis++) {
        self->rule.unit[axis] = 1;
        self->rule.scaled = self->rule.scaled || self->rule.margin[axis] != 0;
    }
    return unit == Py_None || (PyTuple_Check(unit) && read_numbers(unit, self->rule.unit, self->rule.dims));
}

static bool is_step(PyObject *step)
{
    return PyTuple_Check(step) && PyTuple_Size(step) == 3 &&
           PyType_IsSubtype(Py_TYPE(PyTuple_GetItem(step, 0)), (PyTypeObject *)prepared_type) &&
           PyTuple_Check(PyTuple_GetItem(step, 1)) && PyTuple_Check(PyTuple_GetItem(step, 2)) &&
           PyTuple_Size(PyTuple_GetItem(step, 1)) == ((Prepared *)PyTuple_GetItem(step, 0))->count &&
           PyTuple_Size(PyTuple_GetItem(step, 2)) + 2 <= MOST_OBJECTS;
}

static bool set_program(Picture *self, PyObject *program)
{
    PyObject *steps, *entries;
    unsigned long long alignment, vector_alignment;
    if (!PyArg_ParseTuple(program, "O!iiiO!KKi:program", &PyTuple_Type, &steps, &self->values, &self->coords, &self->packed,
                          &PyTuple_Type, &entries, &alignment, &vector_alignment, &self->first))
        return false;
    self->pictures = (int)PyTuple_Size(steps) - self->first;
    self->alignment = alignment;
    self->vector_alignment = vector_alignment;
    self->entry_count = (int)PyTuple_Size(entries);
    bool right = self->first >= 0 && self->pictures > 0 && self->entry_count <= MATRIX && alignment > 0 && vector_alignment > 0;
    for (Py_ssize_t i = 0; right && i < PyTuple_Size(steps); i++) {
        PyObject *step = PyTuple_GetItem(steps, i);
        const int count = is_step(step) ? ((Prepared *)PyTuple_GetItem(step, 0))->count : 0;
        if (i < self->first) {
            right = is_step(step);
            continue;
        }
        right = self->values < count && self->coords < count && self->packed < count;
        for (int j = 0; right && j < self->entry_count; j++) {
            Entry *entry = &self->entries[j];
            if (!PyArg_ParseTuple(PyTuple_GetItem(entries, j), "ii:entry", &entry->argument, &entry->entry))
                return false;
            right = entry->argument >= 0 && entry->argument < count && entry->entry >= 0 && entry->entry < MATRIX;
        }
    }
    if (!right)
        PyErr_SetString(PyExc_ValueError, "a picture has commands, and places among their arguments");
    self->steps = Py_NewRef(steps);
    return right;
}

static bool set_stage(Stage *stage, PyObject *object, unsigned long long address, unsigned long long host)
{
    if (object == Py_None)
        return true;
    stage->object = Py_NewRef(object);
    stage->address = address;
    stage->host = (void *)(uintptr_t)host;
    stage->owner = PyObject_GetAttr(object, str_owner);
    if (stage->owner != NULL && !PyType_IsSubtype(Py_TYPE(stage->owner), (PyTypeObject *)openable_type))
        PyErr_SetString(PyExc_TypeError, "staging memory is USM");
    return !PyErr_Occurred();
}

static bool set_staging(Picture *self, PyObject *staging)
{
    PyObject *values, *coords;
    unsigned long long addresses[4];
    return staging == Py_None ||
           (PyArg_ParseTuple(staging, "OKKOKK:staging", &values, &addresses[0], &addresses[1], &coords, &addresses[2],
                             &addresses[3]) &&
            set_stage(&self->staged_out, values, addresses[0], addresses[1]) &&
            set_stage(&self->staged_vectors, coords, addresses[2], addresses[3]));
}

/* Reads an array of the first call; false, with or without an exception, where C code cannot repeat it. */
static bool set_place(CallArray *array, PyObject *value, bool written, const PictureCalls *calls, bool *on_host)
{
    Argument argument;
    begin_argument(&argument, value);
    read_array(&argument, written, &calls->kinds);
    array->place = value == Py_None ? NULL : (unsigned char *)array; /* there is one, which the commands know */
    const bool done = argument.kind != ONE_NUMBER && set_array(array, &argument, written);
    array->alignment = 1;
    array->anywhere = ((Commands *)calls->commands)->dlpack_alone;
    *on_host = is_on_host(&argument);
    end_argument(&argument);
    return done;
}

/* The kind of the memory of an array in USM, a new reference; NULL for others, and with an exception. */
static PyObject *kind_of(const Argument *array)
{
    return array->kind == USM_ARRAY ? PyObject_GetAttr(array->owner, str_kind) : NULL;
}

static bool set_out_kind(Picture *self, PyObject *out, const PictureCalls *calls)
{
    Argument array;
    begin_argument(&array, out);
    read_array(&array, true, &calls->kinds);
    self->out_kind = kind_of(&array);
    end_argument(&array);
    return !PyErr_Occurred();
}

/* Reads all members: DONE, OTHERWISE where C code cannot repeat the call, or FAILED. */
static int set_picture(Picture *self, const PictureCalls *calls, PyObject *arguments)
{
    PyObject *shape, *vectors, *out, *maker, *library, *map, *program, *key, *staging;
    unsigned long long bytes, vector_bytes;
    bool hosts[2];
    if (!PyArg_ParseTuple(arguments, "lOOOOOO!O!KKOO!OO:add", &self->method, &shape, &vectors, &out, &maker, &library,
                          &PyTuple_Type, &map, &PyTuple_Type, &program, &bytes, &vector_bytes, &self->uploads, &PyLong_Type,
                          &key, &self->record, &staging))
        return FAILED;
    Py_INCREF(self->uploads);
    Py_INCREF(self->record);
    self->key = Py_NewRef(key);
    self->shape = Py_NewRef(shape);
    self->bytes = bytes;
    self->vector_bytes = vector_bytes;
    self->maker = maker == Py_None ? NULL : Py_NewRef(maker);
    self->library = library == Py_None || maker == Py_True ? NULL : Py_NewRef(library);
    if (!set_map(self, map) || !set_program(self, program) || !set_staging(self, staging) ||
        !set_out_kind(self, out, calls))
        return FAILED;
    if (!set_place(&self->out, out, true, calls, &hosts[0]) || !set_place(&self->vectors, vectors, false, calls, &hosts[1]))
        return PyErr_Occurred() ? FAILED : OTHERWISE;
    /* A result of the host is waited for; vectors of the host would have to be copied for one of the device. */
    const bool copies = self->vectors.kind != NO_ARGUMENT && hosts[1] && !hosts[0];
    return copies || self->out.kind == NO_ARGUMENT || (self->vectors.kind != NO_ARGUMENT && self->coords < 0) ? OTHERWISE : DONE;
}

PyObject *prepare_picture(const PictureCalls *calls, PyObject *arguments)
{
    Picture *self = (Picture *)make(picture_type);
    const int result = self == NULL ? FAILED : set_picture(self, calls, arguments);
    if (result == DONE)
        return (PyObject *)self;
    Py_XDECREF(self);
    return result == OTHERWISE ? Py_NewRef(Py_None) : NULL;
}

/* ---------------------------------------------------------------- comparison */

static bool fits_kind(const Picture *row, const Argument *out)
{
    PyObject *kind = kind_of(out);
    const bool same = kind == row->out_kind;
    Py_XDECREF(kind);
    PyErr_Clear();
    return same;
}

static bool fits_out(const Picture *row, PictureCall *call)
{
    Commands *commands = (Commands *)call->calls->commands;
    if ((call->out.value == Py_None) != (row->maker != NULL))
        return false;
    return row->maker != NULL || (fits_array(&row->out, &call->out, &call->calls->kinds, commands) && fits_kind(row, &call->out));
}

/* The maps of the call, read once: all pictures of a method have one rule. */
static bool fits_maps(const Picture *row, PictureCall *call)
{
    if (row->maps == 0)
        return true;
    if (call->map_count == 0) {
        call->maps = row->maps == 1 ? call->one : PyMem_Malloc((size_t)row->maps * sizeof *call->maps);
        call->map_count = call->maps == NULL || read_maps(call->matrix, call->calls, &row->rule, row->maps, call->maps) != DONE
                              ? -1
                              : row->maps;
    }
    bool same = call->map_count == row->maps;
    for (int i = 0; same && i < row->maps; i++)
        same = is_affine(call->maps[i]) == row->affine;
    return same;
}

int fits_picture(Row *what, void *of_call)
{
    const Picture *row = (Picture *)what;
    PictureCall *call = of_call;
    if (row->method != call->method)
        return false;
    const int same = same_option(row->shape, call->shape);
    if (same != 1)
        return same;
    if (!fits_out(row, call) ||
        !fits_array(&row->vectors, &call->vectors, &call->calls->kinds, (Commands *)call->calls->commands))
        return false;
    const bool fits = fits_maps(row, call);
    call->declined = call->declined || call->map_count < 0;
    return fits;
}

/* ---------------------------------------------------------------- submission */

typedef struct {
    Picture *row;
    const PictureCalls *calls;
    const PictureCall *call;
    const Submission *submission;
    bool first, took_staging;
} Drawing;

static bool is_free_to_use(const PyObject *owner)
{
    return owner == NULL || is_open(owner);
}

static PyObject *usm_owner(const Argument *array)
{
    return array->kind == USM_ARRAY ? array->owner : NULL;
}

/* The queue's lock is held. Another thread may have destroyed the image, or freed memory, since it was read. */
static int fill(const void *what)
{
    Drawing *drawing = (Drawing *)what;
    Picture *row = drawing->row;
    PyObject *record = dict_item(drawing->calls->images, row->key);
    const bool is_live = record == row->record;
    Py_XDECREF(record);
    if (!is_live || is_forgotten(&row->base) || !is_free_to_use(usm_owner(&drawing->call->out)) ||
        !is_free_to_use(usm_owner(&drawing->call->vectors)) || !is_free_to_use(row->staged_out.owner) ||
        !is_free_to_use(row->staged_vectors.owner))
        return PyErr_Occurred() ? FAILED : OTHERWISE;
    if (drawing->first && row->staged_out.object != NULL) {
        if (LOOK(row->busy))
            return OTHERWISE;
        drawing->took_staging = true;
        PUT(row->busy, true);
        if (row->staged_vectors.object != NULL)
            memcpy(row->staged_vectors.host, (const void *)(uintptr_t)drawing->call->vectors.address,
                   (size_t)row->vector_bytes);
    }
    return pack_arguments((Commands *)drawing->calls->commands, drawing->submission);
}

/* The arguments of a command: `owned` are those that this call made. */
typedef struct {
    PyObject *values[MOST_ARGUMENTS], *owned[MATRIX + 3];
    uint64_t addresses[MOST_ARGUMENTS];
    int owned_count;
} Values;

static bool put_value(Values *values, int index, PyObject *owned)
{
    if (owned != NULL)
        values->owned[values->owned_count++] = values->values[index] = owned;
    return owned != NULL;
}

/* Puts an address in the place of an argument, which is memory for kernels and a number for drivers. */
static bool put_address(const Prepared *command, Values *values, int index, PyObject *object, uint64_t address)
{
    if (!is_held(&command->slots[index]))
        return put_value(values, index, PyLong_FromUnsignedLongLong(address));
    values->values[index] = object;
    values->addresses[index] = address;
    return true;
}

static bool put_map(const Picture *row, const double map[MATRIX], Values *values)
{
    double numbers[MATRIX];
    for (int i = 0; i < row->entry_count; i++) {
        numbers[i] = map[row->entries[i].entry];
        if (row->packed < 0 && !put_value(values, row->entries[i].argument, PyFloat_FromDouble(numbers[i])))
            return false;
    }
    return row->packed < 0 ||
           put_value(values, row->packed,
                     PyBytes_FromStringAndSize((const char *)numbers, (Py_ssize_t)sizeof *numbers * row->entry_count));
}

/* An array of the call, and its address for the device: those of the staging memory in its place. */
typedef struct {
    PyObject *object;
    uint64_t address;
} Place;

static Place place_of(const Stage *stage, const Argument *array)
{
    return stage->object != NULL ? (Place){stage->object, stage->address} : (Place){array->value, array->address};
}

static bool put_arguments(const Picture *row, const PictureCall *call, int index, Values *values)
{
    PyObject *step = PyTuple_GetItem(row->steps, index), *arguments = PyTuple_GetItem(step, 1);
    const Prepared *command = (Prepared *)PyTuple_GetItem(step, 0);
    for (int i = 0; i < command->count; i++) {
        values->values[i] = PyTuple_GetItem(arguments, i);
        values->addresses[i] = 0;
    }
    if (index < row->first)
        return true;
    const int picture = index - row->first;
    const Place out = place_of(&row->staged_out, &call->out), vectors = place_of(&row->staged_vectors, &call->vectors);
    return put_address(command, values, row->values, out.object, out.address + (uint64_t)picture * row->bytes) &&
           (row->vectors.kind == NO_ARGUMENT || put_address(command, values, row->coords, vectors.object, vectors.address)) &&
           put_map(row, row->maps == 0 ? row->map : call->maps[row->maps == 1 ? 0 : picture], values);
}

/* Submits a command. */
static int submit_step(Drawing *drawing, int index, PyObject *depends_on, uint64_t stream, PyObject **event)
{
    const Picture *row = drawing->row;
    const PictureCall *call = drawing->call;
    Commands *commands = (Commands *)drawing->calls->commands;
    PyObject *step = PyTuple_GetItem(row->steps, index), *keep = PyTuple_GetItem(step, 2), *objects[MOST_OBJECTS];
    Values values;
    Parameter arguments[MOST_ARGUMENTS];
    Submission submission = {.command = (Prepared *)PyTuple_GetItem(step, 0), .values = values.values, .packed = true,
                             .fill = fill, .what = drawing, .objects = objects, .depends_on = depends_on, .stream = stream,
                             .foreign = values.addresses, .arguments = arguments};
    values.owned_count = 0;
    for (Py_ssize_t i = 0; i < PyTuple_Size(keep); i++)
        objects[submission.object_count++] = PyTuple_GetItem(keep, i);
    if (!submission.command->has_memory) { /* the arguments are addresses alone */
        objects[submission.object_count++] = call->out.value;
        objects[submission.object_count++] = call->vectors.value;
    }
    drawing->submission = &submission;
    drawing->first = index == 0;
    int result = put_arguments(row, call, index, &values) ? read_arguments(commands, &submission, arguments) : FAILED;
    if (result == DONE) {
        result = submit(commands, &submission, event);
        end_arguments(arguments, submission.command->count);
    }
    while (values.owned_count > 0)
        Py_DECREF(values.owned[--values.owned_count]);
    return result;
}

/* Whether all addresses have the alignment, and the arrays do not overlap. */
static bool is_placed(const Picture *row, const PictureCall *call)
{
    const Place out = place_of(&row->staged_out, &call->out), vectors = place_of(&row->staged_vectors, &call->vectors);
    const uint64_t end = out.address + row->bytes * (uint64_t)row->pictures;
    if (out.address % row->alignment != 0 || (row->pictures > 1 && row->bytes % row->alignment != 0))
        return false;
    if (row->vectors.kind == NO_ARGUMENT)
        return true;
    const uint64_t first = call->out.address, last = first + (end - out.address), start = call->vectors.address;
    return vectors.address % row->vector_alignment == 0 && (start >= last || start + row->vector_bytes <= first);
}

/* The stream of the library whose arrays lie on the device; OTHERWISE where Python must order them. */
static int read_stream(const PictureCall *call, uint64_t *stream)
{
    const Commands *commands = (const Commands *)call->calls->commands;
    const Argument *arrays[] = {&call->out, &call->vectors};
    ForeignArguments foreign = {.any = false};
    for (int i = 0; i < 2; i++)
        if (arrays[i]->kind == FOREIGN_ARRAY && !is_on_host(arrays[i]) &&
            add_foreign_argument(commands, arrays[i], &foreign, i) != DONE)
            return OTHERWISE;
    *stream = foreign.any ? foreign.stream : 0;
    return DONE;
}

/* Submits all commands; `waits`: and waits for the layers. */
static int draw(Drawing *drawing, bool waits)
{
    Picture *row = drawing->row;
    uint64_t stream;
    int result = is_placed(row, drawing->call) ? read_stream(drawing->call, &stream) : OTHERWISE;
    PyObject *ready = result == DONE ? PyObject_GetAttr(row->uploads, str_ready) : NULL;
    if (result == DONE)
        result = ready == NULL ? FAILED : ready == Py_None ? OTHERWISE : DONE;
    PyObject *depends_on = ready != NULL && PyTuple_CheckExact(ready) && PyTuple_Size(ready) == 0 ? NULL : ready;
    for (int i = 0; result == DONE && i < (int)PyTuple_Size(row->steps); i++) {
        PyObject *event = NULL;
        result = submit_step(drawing, i, depends_on, stream, &event);
        if (result == DONE && waits && i >= row->first)
            result = wait_for(drawing->calls->report, event);
        Py_XDECREF(event);
    }
    Py_XDECREF(ready);
    return result;
}

/* Copies a picture from the staging memory, which another call may use then, unless its commands may still run. */
static int end_drawing(Drawing *drawing, int result)
{
    Picture *row = drawing->row;
    const Commands *commands = (const Commands *)drawing->calls->commands;
    if (!drawing->took_staging)
        return result;
    if (result == DONE && LOOK(commands->ended))
        result = require_live(commands); /* exit may have freed the memory */
    if (result == DONE)
        memcpy((void *)(uintptr_t)drawing->call->out.address, row->staged_out.host,
               (size_t)row->bytes * (size_t)row->pictures);
    if (result == FAILED)
        drop_row(&row->base);
    else
        PUT(row->busy, false);
    return result;
}

static PyObject *call_maker(PyObject *maker, Argument *array)
{
    PyObject *result = PyObject_CallNoArgs(maker);
    if (result == NULL && make_room())
        result = PyObject_CallNoArgs(maker);
    begin_argument(array, result);
    return result;
}

/* Makes the array of the result: DONE, OTHERWISE, or FAILED. The caller owns *picture. */
static int make_picture(const Picture *row, PictureCall *call, PyObject **picture)
{
    *picture = row->maker == Py_True ? foreign_empty(&call->vectors, &row->out.layout, &call->out)
                                     : call_maker(row->maker, &call->out);
    if (*picture == NULL)
        return FAILED;
    return fits_array(&row->out, &call->out, &call->calls->kinds, (Commands *)call->calls->commands) ? DONE : OTHERWISE;
}

int submit_picture(const PictureCalls *calls, Picture *row, PictureCall *call, PyObject **result)
{
    Drawing drawing = {.row = row, .calls = calls, .call = call};
    PyObject *picture = NULL;
    int done = row->maker == NULL ? DONE : make_picture(row, call, &picture);
    if (done == DONE) {
        done = draw(&drawing, is_on_host(&call->out));
        done = end_drawing(&drawing, done);
    }
    if (done == DONE)
        *result = row->library == NULL ? Py_NewRef(call->out.value)
                                       : PyObject_CallFunctionObjArgs(row->library, call->out.value, NULL);
    if (done == DONE && *result == NULL)
        done = FAILED;
    if (picture != NULL) {
        end_argument(&call->out);
        begin_argument(&call->out, Py_None);
        Py_DECREF(picture);
    }
    return done;
}
