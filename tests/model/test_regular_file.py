"""Reading of regular files: no device and no pipe is read, and no file above a size."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bindless.model.regular_file import read_regular_file


def test_files_up_to_a_size(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert read_regular_file(path) == read_regular_file(str(path), 5) == b"12345"
    with pytest.raises(OSError):
        read_regular_file(path, 4)
    with pytest.raises(OSError):
        read_regular_file(tmp_path)
    with pytest.raises(OSError):
        read_regular_file(tmp_path / "nothing")
    with pytest.raises(ValueError):
        read_regular_file("zero\0")


@pytest.mark.skipif(os.name != "posix", reason="devices, pipes, links and modes of POSIX")
def test_what_is_no_regular_file_of_ones_own(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(b"12345")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for path in (tmp_path / "pipe", "/dev/zero", "/dev/null"):
        with pytest.raises(OSError):
            read_regular_file(path)
    assert read_regular_file(tmp_path / "link") == b"12345"
    with pytest.raises(OSError):
        read_regular_file(tmp_path / "link", links=False)
    (tmp_path / "file").chmod(0o600)
    assert read_regular_file(tmp_path / "file", own=True) == b"12345"
    (tmp_path / "file").chmod(0o620)
    with pytest.raises(PermissionError):
        read_regular_file(tmp_path / "file", own=True)
