"""``Manifest``: which blocks of a job are finished, so that a job that ended early goes on where it was."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ..model.errors import InvalidError

__all__ = ["Manifest"]

_HEAD, _DONE = "bindless-resample.json", "bindless-resample.blocks"


class Manifest:
    """Two files in the folder of the output, which are removed when the job is finished.

    A line of the second one names a finished block. It is written after the block, and a line that was cut short
    counts as none: a block is known as finished only if it is.

    Parameters
    ----------
    folder : Path
        Of the output.
    job : dict[str, Any]
        What identifies the job.
    """

    def __init__(self, folder: Path, job: dict[str, Any]) -> None:
        self._head, self._done = folder / _HEAD, folder / _DONE
        self._job = json.loads(json.dumps(job))
        self._file: Any = None

    @staticmethod
    def is_in(folder: Path) -> bool:
        """Whether a job in this folder ended early."""
        return (folder / _HEAD).is_file()

    def begin(self) -> None:
        """A new job: its arrays are there, no block is finished."""
        self._done.unlink(missing_ok=True)
        temporary = self._head.with_suffix(".new")
        temporary.write_text(json.dumps(self._job, indent=1), encoding="utf-8")
        temporary.replace(self._head)

    def finished(self) -> set[tuple[int, int]]:
        """Level and number of the finished blocks of an earlier run of the same job.

        Raises
        ------
        InvalidError
            Another job began there.
        """
        before = json.loads(self._head.read_text(encoding="utf-8"))
        different = sorted(key for key in {*before, *self._job} if before.get(key) != self._job.get(key))
        if different:
            raise InvalidError(
                f"{self._head.parent} holds an unfinished job with another {', '.join(different)}: give the same "
                "options to finish it, or --overwrite to begin again"
            )
        if not self._done.is_file():
            return set()
        text = self._done.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):
            os.truncate(self._done, len(whole))
        return {(int(level), int(number)) for level, number in map(bytes.split, whole.splitlines())}

    def add(self, level: int, number: int) -> None:
        """A block is finished and written."""
        if self._file is None:
            self._file = self._done.open("ab", buffering=0)
        self._file.write(f"{level} {number}\n".encode("ascii"))

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def end(self) -> None:
        """The job is finished."""
        self.close()
        self._head.unlink(missing_ok=True)
        self._done.unlink(missing_ok=True)
