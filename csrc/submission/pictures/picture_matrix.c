/* Matrices of pictures: arrays of numpy and nested sequences of numbers, as maps to texels. */

#include "picture_call.h"

bool is_affine(const double map[MATRIX])
{
    return map[12] == 0 && map[13] == 0 && map[14] == 0 && map[15] == 1;
}

/* A number that converts to double as numpy converts it. */
static bool read_number(PyObject *item, double *value)
{
    const bool is_plain = PyFloat_CheckExact(item) ||
                          (PyFloat_Check(item) && (PyType_GetFlags(Py_TYPE(item)) & Py_TPFLAGS_HEAPTYPE) == 0);
    if (is_plain)
        *value = PyFloat_AsDouble(item);
    else if (PyLong_CheckExact(item))
        *value = PyLong_AsDouble(item);
    else
        return false;
    return !PyErr_Occurred();
}

static bool is_sequence(PyObject *value)
{
    return PyList_CheckExact(value) || PyTuple_CheckExact(value);
}

static Py_ssize_t length_of(PyObject *sequence)
{
    return PyList_CheckExact(sequence) ? PyList_Size(sequence) : PyTuple_Size(sequence);
}

/* A new reference; NULL with an exception, where another thread has shortened a list. */
static PyObject *item_of(PyObject *sequence, Py_ssize_t index)
{
    return PyList_CheckExact(sequence) ? list_item(sequence, index) : Py_XNewRef(PyTuple_GetItem(sequence, index));
}

/* Reads a row of numbers. */
static bool read_row(PyObject *row, int columns, double *values)
{
    if (!is_sequence(row) || length_of(row) != columns)
        return false;
    bool done = true;
    for (int j = 0; done && j < columns; j++) {
        PyObject *item = item_of(row, j);
        done = item != NULL && read_number(item, &values[j]);
        Py_XDECREF(item);
    }
    return done;
}

/* Reads the rows of nested sequences; *rows: their number. */
static bool read_sequences(PyObject *matrix, int columns, double *values, Py_ssize_t *rows)
{
    *rows = length_of(matrix);
    if (*rows != columns && *rows != columns - 1)
        return false;
    bool done = true;
    for (Py_ssize_t i = 0; done && i < *rows; i++) {
        PyObject *row = item_of(matrix, i);
        done = row != NULL && read_row(row, columns, &values[i * columns]);
        Py_XDECREF(row);
    }
    return done;
}

/* Reads numbers of an array's memory; false for other types than floats and signed integers of 32 and 64 bits. */
static bool read_numbers(const Argument *array, uint64_t first, uint64_t count, double *values)
{
    const DLDataType type = array->layout.type;
    const void *from = (const void *)(uintptr_t)array->address;
    if (type.bits != 32 && type.bits != 64)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t at = first + i;
        if (type.code == 2 && type.bits == 64) {
            memcpy(&values[i], (const char *)from + 8 * at, 8);
        } else if (type.code == 2) {
            float number;
            memcpy(&number, (const char *)from + 4 * at, 4);
            values[i] = number;
        } else if (type.code == 0 && type.bits == 64) {
            int64_t number;
            memcpy(&number, (const char *)from + 8 * at, 8);
            values[i] = (double)number;
        } else if (type.code == 0) {
            int32_t number;
            memcpy(&number, (const char *)from + 4 * at, 4);
            values[i] = number;
        } else {
            return false;
        }
    }
    return true;
}

/* The map of rows of d + 1 numbers; false where one is not finite. */
static bool make_map(const double *values, Py_ssize_t rows, const MapRule *rule, double map[MATRIX])
{
    const int columns = rule->dims + 1;
    memset(map, 0, MATRIX * sizeof *map);
    for (int i = 0; i <= SPACE; i++)
        map[5 * i] = 1;
    for (int i = 0; i < (int)rows; i++)
        for (int j = 0; j < columns; j++) {
            const double value = values[i * columns + j];
            if (value - value != 0)
                return false;
            map[4 * (i < rule->dims ? i : SPACE) + (j < rule->dims ? j : SPACE)] = value;
        }
    for (int axis = 0; rule->scaled && axis < rule->dims; axis++)
        for (int j = 0; j <= SPACE; j++) { /* each product is rounded, as in numpy */
            map[4 * axis + j] *= rule->unit[axis];
            if (rule->margin[axis] != 0)
                map[4 * axis + j] += rule->margin[axis] * map[12 + j];
        }
    return true;
}

static int read_array_maps(PyObject *matrix, const Kinds *kinds, const MapRule *rule, int count, double (*maps)[MATRIX])
{
    Argument array;
    const Layout *layout = &array.layout;
    double values[MATRIX];
    begin_argument(&array, matrix);
    array.layout.dimensions = 0;
    (void)read_argument(&array, kinds, false, USM_ALL);
    const int leading = layout->dimensions - 2, columns = rule->dims + 1;
    bool done = array.kind == HOST_ARRAY && array.packed && leading == (count > 1) &&
                (leading == 0 || layout->shape[0] == count) && layout->shape[leading + 1] == columns &&
                (layout->shape[leading] == columns || layout->shape[leading] == columns - 1);
    for (int i = 0; done && i < count; i++) {
        const uint64_t size = (uint64_t)(layout->shape[leading] * columns);
        done = read_numbers(&array, (uint64_t)i * size, size, values) &&
               make_map(values, layout->shape[leading], rule, maps[i]);
    }
    end_argument(&array);
    return done ? DONE : OTHERWISE;
}

int read_maps(PyObject *matrix, const PictureCalls *calls, const MapRule *rule, int count, double (*maps)[MATRIX])
{
    double values[MATRIX];
    Py_ssize_t rows;
    int result = OTHERWISE;
    if ((PyObject *)Py_TYPE(matrix) == calls->kinds.host)
        result = read_array_maps(matrix, &calls->kinds, rule, count, maps);
    else if (count == 1 && is_sequence(matrix) && read_sequences(matrix, rule->dims + 1, values, &rows) &&
             make_map(values, rows, rule, maps[0]))
        result = DONE;
    PyErr_Clear();
    PyObject *converted = result == DONE ? NULL : PyObject_CallFunctionObjArgs(calls->convert, matrix, NULL);
    if (converted != NULL && (PyObject *)Py_TYPE(converted) == calls->kinds.host)
        result = read_array_maps(converted, &calls->kinds, rule, count, maps);
    Py_XDECREF(converted);
    PyErr_Clear(); /* Python says what is wrong with the matrix */
    return result;
}
