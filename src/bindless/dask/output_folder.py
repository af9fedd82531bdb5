"""``OutputFolder``: the place of a result. One run writes it at a time; its former result stays until the end."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..model.errors import InvalidError
from .manifest import Manifest

__all__ = ["OutputFolder"]

_EXCHANGE, _HERE = 2, -100  # RENAME_EXCHANGE and AT_FDCWD of Linux
_NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP)
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL)
_GROUPS = ("zarr.json", ".zgroup")


class OutputFolder:
    """A folder that becomes a group of zarr.

    A new result is written in its place. One that replaces another is written beside it, as ``.NAME.unfinished``, and
    changes places with it at the end.

    Parameters
    ----------
    path : Path
        Of the group. Links are followed: what they name is replaced.

    Attributes
    ----------
    place : Path
        The same without links.
    work : Path
        Where the result is written.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.place = path, Path(os.path.realpath(path))
        name = self.place.name
        if not name or str(path).endswith(".zip"):
            raise InvalidError(f"{path}: the output is a folder with a name, and no .zip: zip it afterwards")
        self._beside = self.place.with_name(f".{name}.unfinished")
        self._before = self.place.with_name(f".{name}.replaced")
        self._lock = self.place.with_name(f".{name}.lock")
        self.work = self.place

    @property
    def replaces(self) -> bool:
        """Whether the result is written beside what it replaces."""
        return self.work != self.place

    @contextmanager
    def locked(self) -> Iterator[str]:
        """Only one run at a time has the folder. The system ends the lock with its process, however that ends.

        Yields
        ------
        str
            Why there are no locks on this file system; else empty.

        Raises
        ------
        InvalidError
            Another run has it.
        """
        self.place.parent.mkdir(parents=True, exist_ok=True)
        number, reason = self._acquire()
        try:
            yield reason
        finally:
            self._lock.unlink(missing_ok=True)
            os.close(number)

    def _acquire(self) -> tuple[int, str]:
        while True:
            number = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o666)
            try:
                import fcntl
            except ImportError:
                return number, "this system has no fcntl"
            try:
                try:
                    fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    holder = os.read(number, 200).decode("utf-8", "replace").strip() or "another process"
                    raise InvalidError(
                        f"{self.path} is written by {holder}: wait for its end, or give another name"
                    ) from None
                except OSError as error:
                    if error.errno not in _NO_LOCKS:
                        raise
                    return number, f"the file system of {self._lock.parent} has no locks ({error.strerror})"
                if self._is_lock(number):
                    os.ftruncate(number, 0)
                    os.write(number, f"process {os.getpid()} of {socket.gethostname()}".encode())
                    return number, ""
                os.close(number)  # the run before removed the file meanwhile
            except BaseException:
                os.close(number)
                raise

    def _is_lock(self, number: int) -> bool:
        try:
            return os.path.samestat(os.fstat(number), os.stat(self._lock))
        except FileNotFoundError:
            return False

    def choose(self, manifest: Manifest, *, overwrite: bool) -> None:
        """Sets ``work``, and changes nothing.

        Raises
        ------
        InvalidError
            What is in the place is not to be replaced, or is no result.
        """
        self.work = place = self.place
        if not os.path.lexists(place) and self._before.exists():  # a run was killed at its last step
            place = self._before
        if not os.path.lexists(place) or (place.is_dir() and set(os.listdir(place)) <= Manifest.drafts()):
            return
        if not overwrite:
            if Manifest.is_in(place):
                return
            if Manifest.is_in(self._beside) and manifest.is_same(self._beside):
                self.work = self._beside
                return
            raise InvalidError(f"{self.path} exists: give another name, or --overwrite")
        if not (place.is_dir() and (Manifest.is_in(place) or any((place / name).is_file() for name in _GROUPS))):
            raise InvalidError(f"{self.path} is no group of zarr: it is not overwritten")
        if os.path.ismount(place):
            raise InvalidError(f"{self.path} is where a file system is mounted: give a name in it")
        self.work = self._beside

    def restore(self) -> None:
        """Undoes half of the last step of a run that was killed in it; the folder is locked."""
        if self._before.exists():
            if os.path.lexists(self.place):
                shutil.rmtree(self._before)
            else:
                self._before.rename(self.place)

    def clear(self) -> None:
        """An empty folder at ``work``."""
        if self.work.exists():
            for entry in list(self.work.iterdir()):
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry)
                else:
                    entry.unlink()
        self.work.mkdir(exist_ok=True)

    def publish(self) -> None:
        """The result takes its place; what it replaces stays beside it until ``tidy``."""
        if self.replaces and not _exchanged(self.work, self.place):
            self.place.rename(self._before)
            try:
                self.work.rename(self.place)
            except BaseException:
                self._before.rename(self.place)
                raise
        self.work = self.place

    def tidy(self) -> None:
        """Deletes what the result replaced.

        Raises
        ------
        InvalidError
            It cannot be deleted.
        """
        for folder in (self._beside, self._before):
            if folder.exists():
                try:
                    shutil.rmtree(folder)
                except OSError as error:
                    raise InvalidError(
                        f"{self.path} is finished; what it replaced is in {folder}, which cannot be deleted: {error}"
                    ) from error


def _exchanged(one: Path, other: Path) -> bool:
    """Exchanges two folders at once; False where the system has no such call."""
    try:
        call = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    if call(_HERE, os.fsencode(one), _HERE, os.fsencode(other), ctypes.c_uint(_EXCHANGE)) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NO_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), str(other))
