"""``Manifest``: which blocks of a job are finished, so that a job that ended early goes on where it was."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from ..model.errors import InvalidError

__all__ = ["Manifest"]

_HEAD, _DONE = "bindless-resample.json", "bindless-resample.blocks"
_DRAFT = "bindless-resample.new"
_LINE = re.compile(rb"(\d{1,9}) (\d{1,18})")
_MOST_BYTES = 1 << 20  # of the head


class Manifest:
    """Two files in the folder of the output, which are removed when the job is finished.

    The first file is written before everything else of the output, and names the job. The second one is there when the
    arrays are; a line of it names a finished block. A line is written after the block, and one that was cut short
    counts as none: a block is known as finished only if it is.

    Parameters
    ----------
    job : dict[str, Any]
        What identifies the job.
    """

    def __init__(self, job: dict[str, Any]) -> None:
        self._job = json.loads(json.dumps(job))
        self._folder: Path | None = None
        self._file: Any = None

    @staticmethod
    def is_in(folder: Path) -> bool:
        """Whether a job in this folder ended early."""
        return (folder / _HEAD).is_file()

    @staticmethod
    def drafts() -> set[str]:
        """Names of the files that a job leaves where it was killed before it began."""
        return {_DRAFT}

    def is_same(self, folder: Path) -> bool:
        """Whether the job in a folder is this one."""
        return not self._differences(folder)

    def begin(self, folder: Path) -> None:
        """A new job in an empty folder."""
        draft = folder / _DRAFT
        draft.write_text(json.dumps(self._job, indent=1), encoding="utf-8")
        draft.replace(folder / _HEAD)

    def follow(self, folder: Path) -> set[tuple[int, int]] | None:
        """Level and number of the finished blocks of an earlier run of the same job; None before its arrays are there.

        Raises
        ------
        InvalidError
            Another job began there, or a file is damaged.
        """
        different = self._differences(folder)
        if different:
            raise InvalidError(
                f"{folder} holds an unfinished job with another {', '.join(different)}: give the same options to "
                "finish it, or --overwrite to begin again"
            )
        self._folder = folder
        done = folder / _DONE
        if not done.is_file():
            return None
        text = done.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if len(whole) < len(text):
            os.truncate(done, len(whole))
        blocks = set()
        for line in whole.splitlines():
            words = _LINE.fullmatch(line)
            if words is None:
                raise InvalidError(f"{done} is damaged: --overwrite begins again")
            blocks.add((int(words[1]), int(words[2])))
        return blocks

    def have_arrays(self, folder: Path) -> None:
        """The arrays are there, no block is finished."""
        self._folder = folder
        (folder / _DONE).write_bytes(b"")

    def _differences(self, folder: Path) -> list[str]:
        head = folder / _HEAD
        try:
            with head.open("rb") as file:
                before = json.loads(file.read(_MOST_BYTES))
        except (ValueError, RecursionError):
            before = None
        if not isinstance(before, dict):
            raise InvalidError(f"{head} is damaged: --overwrite begins again")
        return sorted(key for key in {*before, *self._job} if before.get(key) != self._job.get(key))

    def add(self, level: int, number: int) -> None:
        """A block is finished and written."""
        if self._file is None:
            assert self._folder is not None
            self._file = (self._folder / _DONE).open("ab", buffering=0)
        self._file.write(f"{level} {number}\n".encode("ascii"))

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def end(self, folder: Path) -> None:
        """The job is finished, and its folder is now this one."""
        self.close()
        (folder / _HEAD).unlink(missing_ok=True)
        (folder / _DONE).unlink(missing_ok=True)
