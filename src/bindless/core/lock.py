"""The reentrant lock of the package: no ``KeyboardInterrupt`` leaves it locked."""

from __future__ import annotations

import sys

from . import _submission

__all__ = ["Lock"]

if sys.version_info >= (3, 14):

    class Lock(_submission.Lock):
        """Since Python 3.14 a ``with`` statement calls ``__enter__`` as any other function.

        After a call of C code the interpreter looks for signals, before the block that would call ``__exit__`` begins.
        It does so at the entry of a Python function, too, but not at its end, and not after it reads an attribute.
        """

        __slots__ = ()

        def __enter__(self) -> bool:
            return self._acquired

else:
    Lock = _submission.Lock
