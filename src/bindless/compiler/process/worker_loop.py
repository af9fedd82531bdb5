"""The worker's side of the exchange: requests on the standard input, answers on the standard output.

A frame is a head and data. The head has the length of the data, the number of the request, its time limit in seconds
and the SHA-256 of the request's data. A worker returns number and hash twice: in an empty frame when it takes the
request, and with the answer. What libraries print goes to the standard error.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import signal
import struct
import sys
from collections.abc import Callable
from typing import BinaryIO

from .child_process import stay_in_session

__all__ = ["HEAD", "serve"]

HEAD = struct.Struct("<QQd32s")
_MOST_REQUESTS = 200
_MOST_GROWTH = 128 << 20  # bytes; LLVM and Numba keep about 0.7 MiB of each kernel
_GRACE = 10.0  # seconds beyond the limit, at which a worker ends whose program has gone


def serve(answer: Callable[[bytes], bytes], most_growth: int = _MOST_GROWTH) -> None:
    """Answer requests until the input ends, or until this process has grown: the program then starts another one.

    Parameters
    ----------
    answer
        Called with the data of each request.
    most_growth
        Bytes.
    """
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stay_in_session()
    start = _memory()
    for _ in range(_MOST_REQUESTS):
        head = requests.read(HEAD.size)
        if len(head) < HEAD.size:
            break
        length, number, limit, digest = HEAD.unpack(head)
        data = requests.read(length)
        if hashlib.sha256(data).digest() != digest:  # the program ended within the request
            break
        _write(answers, number, digest, b"")
        _alarm(limit + _GRACE)
        result = answer(data)
        _alarm(0)
        _write(answers, number, digest, result)
        if _memory() - start > most_growth:
            break
    shutil.rmtree(sys.argv[1], ignore_errors=True)


def _write(answers: BinaryIO, number: int, digest: bytes, data: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):  # the program has gone: the input has an end, too
        answers.write(HEAD.pack(len(data), number, 0.0, digest) + data)
        answers.flush()


def _alarm(seconds: float) -> None:
    """End this process after a time; 0 cancels that."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _memory() -> int:
    """Return the memory of this process in bytes; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return 0
