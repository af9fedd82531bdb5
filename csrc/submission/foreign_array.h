/* Arrays of other libraries, read in C without a capsule or a copy: by DLPack's exchange functions (DLPack 1.3), or by
 * the CUDA array interface. */

#ifndef BINDLESS_SUBMISSION_FOREIGN_ARRAY_H
#define BINDLESS_SUBMISSION_FOREIGN_ARRAY_H

#include "argument.h"

/* The legacy default stream of CUDA, which libraries call 0. */
enum { DEFAULT_STREAM = 1 };

/* The number of a device that the CUDA array interface does not give. */
enum { UNKNOWN_DEVICE = -1 };

bool name_exchange(void);

/* Reads an array that a command may use; written: and write. It is valid while the object lives. OTHERWISE where Python
 * must handle the value: it has no exchange functions, or they refuse it; no exception is set then. */
int read_foreign(Argument *argument, bool written);

/* Reads a tensor as its library describes it; false where it cannot be a command's argument. */
bool read_tensor(const DLTensor *tensor, Argument *argument);

/* DLPack's functions of the library that defines a type; NULL, with or without an exception, where it has none. */
const DLPackExchangeAPI *exchange_functions(PyObject *type);

/* Whether a type is one of those with such functions that were looked up last; no Python code runs. */
bool has_exchanged(PyObject *type);

/* Returns whether commands of the driver must be ordered with the library's current stream, and that stream. */
bool has_stream(const Argument *array);
int foreign_stream(const Argument *array, uint64_t *stream);

/* array_interface.c: reads __cuda_array_interface__; false with or without an exception where it cannot. */
bool read_interface(PyObject *interface, bool written, Argument *array);

/* The current stream of the library whose arrays among the arguments lie on the device, 0 without; OTHERWISE for arrays of
 * several libraries or streams, and where the library refuses. No exception is set. */
int stream_of_arrays(const Argument *arguments, int count, uint64_t *stream);

/* Whether an array that could not be made may be made again: no memory was the exception, which is cleared, and all
 * commands have ended, which held arrays until then. */
bool make_room(void);

/* Returns a new packed array of the library of `like`, on its device, which `array` then describes; NULL with an
 * exception. */
PyObject *foreign_empty(const Argument *like, const Layout *layout, Argument *array);

/* foreign_arguments.c: whether commands of the queue may use an array of another library, on its device or on one that the
 * CUDA array interface does not give. */
bool is_on_device_of(const Commands *commands, const Argument *array);

/* foreign_arguments.c: whether an array has DLPack's code and bits of a type; the shape of a tuple. */
bool has_dlpack_type(const Argument *array, int code, int bits);
bool has_shape(const Layout *layout, PyObject *shape);

/* foreign_arguments.c: the addresses of other libraries' arrays among the arguments of a launch, 0 for other values, and
 * their library's current stream. OTHERWISE without such arrays, and where Python must handle one. */
typedef struct {
    const DLPackExchangeAPI *library; /* NULL: the array interface describes them */
    bool any, has_unknown_device;     /* then each has the address of the launch before */
    uint64_t stream, addresses[MOST_ARGUMENTS];
} ForeignArguments;
int read_foreign_arguments(const Commands *commands, const Prepared *launch, PyObject *const *values,
                           ForeignArguments *foreign);
int add_foreign_argument(const Commands *commands, const Argument *array, ForeignArguments *foreign, int index);

/* Functions of the module. */
PyObject *empty_like_foreign(PyObject *module, PyObject *arguments);
PyObject *stream_of_foreign(PyObject *module, PyObject *value);
PyObject *commands_layout_of_foreign(PyObject *self, PyObject *value);
PyObject *commands_place_of_foreign(PyObject *self, PyObject *arguments);
PyObject *commands_place_apart(PyObject *self, PyObject *arguments);

#endif
