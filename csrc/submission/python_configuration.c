/* Compile-time check that Python's configuration header describes the target. A cross build reads the headers of the
 * host's Python; the limited API depends only on the sizes and the byte order below, which may differ between 64-bit
 * Linux targets. A mismatch ends the build. */

#include "types.h"
#include <wchar.h>

_Static_assert(SIZEOF_INT == sizeof(int), "pyconfig.h is of another target: int");
_Static_assert(SIZEOF_LONG == sizeof(long), "pyconfig.h is of another target: long");
_Static_assert(SIZEOF_LONG_LONG == sizeof(long long), "pyconfig.h is of another target: long long");
_Static_assert(SIZEOF_SIZE_T == sizeof(size_t), "pyconfig.h is of another target: size_t");
_Static_assert(SIZEOF_VOID_P == sizeof(void *), "pyconfig.h is of another target: void *");
_Static_assert(SIZEOF_WCHAR_T == sizeof(wchar_t), "pyconfig.h is of another target: wchar_t");
_Static_assert(sizeof(Py_ssize_t) == sizeof(size_t), "pyconfig.h is of another target: Py_ssize_t");
_Static_assert(sizeof(Py_hash_t) == sizeof(Py_ssize_t), "pyconfig.h is of another target: Py_hash_t");
#if defined(__BYTE_ORDER__) && !defined(__APPLE__)
#ifdef WORDS_BIGENDIAN
_Static_assert(__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, "pyconfig.h is of another target: byte order");
#else
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "pyconfig.h is of another target: byte order");
#endif
#endif
