"""The cache of native binaries: concurrent writers, damaged files, the size limit, and environment variables."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bindless.model.module.disk_cache import ModuleCache, cache


def test_what_is_kept_comes_back(tmp_path: Path) -> None:
    kept = ModuleCache(tmp_path / "new" / "folder", 1 << 20)
    assert kept.get(b"key") is None
    kept.put(b"binary", b"key", b"more")
    assert kept.get(b"key", b"more") == b"binary"
    assert kept.get(b"keym", b"ore") is None and kept.get(b"key") is None
    assert (tmp_path / "new" / "folder").stat().st_mode & 0o77 == 0


def test_damaged_files_are_discarded(tmp_path: Path) -> None:
    kept = ModuleCache(tmp_path, 1 << 20)
    kept.put(b"binary" * 100, b"key")
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    for damaged in (b"", whole[:-1], whole[:20], whole + b"x", whole[:60] + b"?" + whole[61:], b"nonsense" * 30):
        path.write_bytes(damaged)
        assert kept.get(b"key") is None and not path.exists()
        kept.put(b"binary" * 100, b"key")
        assert kept.get(b"key") == b"binary" * 100


def test_the_least_recently_used_go_first(tmp_path: Path) -> None:
    kept = ModuleCache(tmp_path, 3500)
    for number in range(3):
        kept.put(bytes([number]) * 1000, bytes([number]))
        newest = max(tmp_path.iterdir(), key=lambda path: path.stat().st_mtime_ns)
        os.utime(newest, (1000.0 + number, 1000.0 + number))
    assert kept.get(b"\0") is not None  # makes it the most recently used
    kept.put(b"new" * 300, b"new")
    assert kept.get(b"\1") is None
    assert all(kept.get(key) is not None for key in (b"\0", b"\2", b"new"))
    kept.put(b"x" * 4000, b"too large")
    assert kept.get(b"too large") is None and kept.get(b"new") is not None
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 3500


@pytest.mark.skipif(os.name != "posix", reason="links, pipes and owners of POSIX")
def test_what_is_no_file_of_the_users_own_is_not_read(tmp_path: Path) -> None:
    kept = ModuleCache(tmp_path / "kept", 1 << 20)
    kept.put(b"binary", b"key")
    (path,) = kept.folder.iterdir()
    elsewhere = tmp_path / "elsewhere"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)
    assert kept.get(b"key") is None
    path.unlink()
    os.mkfifo(path)  # opening it for reading would wait for a writer
    assert kept.get(b"key") is None
    path.unlink(missing_ok=True)
    path.mkdir()
    assert kept.get(b"key") is None
    kept.put(b"binary", b"key")
    path.rmdir()
    elsewhere.rename(path)
    assert kept.get(b"key") == b"binary"
    path.chmod(0o666)
    assert kept.get(b"key") is None and path.exists()
    if os.geteuid() == 0:
        path.chmod(0o600)
        os.chown(path, 1, -1)
        assert kept.get(b"key") is None


def test_files_of_another_format_are_left_alone(tmp_path: Path) -> None:
    """Packages of several versions share a folder: names depend on the format."""
    kept = ModuleCache(tmp_path, 1 << 20)
    older = tmp_path / (hashlib.sha256((3).to_bytes(8, "little") + b"key").hexdigest() + ".module")
    older.write_bytes(b"bindless module 2\n" + bytes(32) + b"binary")
    assert kept.get(b"key") is None
    kept.put(b"newer", b"key")
    assert kept.get(b"key") == b"newer" and older.exists()


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_folder_that_is_a_link_and_one_that_all_may_write(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    kept = ModuleCache(tmp_path / "link", 1 << 20)
    kept.put(b"binary", b"key")
    (tmp_path / "folder").chmod(0o777)
    assert kept.get(b"key") == b"binary"
    (path,) = (tmp_path / "folder").iterdir()
    assert path.stat().st_mode & 0o77 == 0
    path.write_bytes(path.read_bytes().replace(b"binary", b"others"))
    assert kept.get(b"key") is None


def test_an_interrupted_writer_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            ModuleCache(tmp_path, 1 << 20).put(b"binary", b"key")
    assert list(tmp_path.iterdir()) == []


def test_files_cannot_take_each_others_names(tmp_path: Path) -> None:
    kept = ModuleCache(tmp_path, 1 << 20)
    kept.put(b"one", b"1")
    (first,) = tmp_path.iterdir()
    kept.put(b"two", b"2")
    (second,) = set(tmp_path.iterdir()) - {first}
    second.replace(first)
    assert kept.get(b"1") is None and kept.get(b"2") is None


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        """A file on a full disk."""

        def __init__(self, number: int, mode: str) -> None:
            os.close(number)
            self._file = open("/dev/full", "wb")  # noqa: SIM115

        def __enter__(self) -> object:
            return self._file

        def __exit__(self, *_: object) -> None:
            self._file.close()

    kept = ModuleCache(tmp_path, 1 << 20)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fdopen", Full)
        kept.put(b"binary" * 10000, b"key")
    assert list(tmp_path.iterdir()) == [] and kept.get(b"key") is None


def test_unfinished_files_of_dead_writers_go(tmp_path: Path) -> None:
    old, young = tmp_path / "old.part", tmp_path / "young.part"
    for path in (old, young):
        path.write_bytes(b"half")
    os.utime(old, (1000.0, 1000.0))
    ModuleCache(tmp_path, 1 << 20).put(b"x", b"key")
    assert not old.exists() and young.exists()


@pytest.mark.skipif(os.name != "posix", reason="the modes of folders are POSIX's")
def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    kept = ModuleCache(tmp_path / "file" / "folder", 1 << 20)
    kept.put(b"x", b"key")
    assert kept.get(b"key") is None


WRITER = """
import sys
from pathlib import Path
from bindless.model.module.disk_cache import ModuleCache
kept = ModuleCache(Path(sys.argv[1]), 400_000)
for turn in range(150):
    key = bytes([turn % 10])
    found = kept.get(key)
    assert found is None or found == key * 50_000, "half a file"
    kept.put(key * 50_000, key)
"""


def test_processes_that_write_at_once(tmp_path: Path) -> None:
    """The limit holds half as many files as there are keys, so that readers, writers and deletions interleave."""
    processes = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)]) for _ in range(4)]
    assert [process.wait(120) for process in processes] == [0] * 4
    left = list(tmp_path.iterdir())
    assert left and all(path.suffix == ".module" for path in left)
    for path in left:
        data = path.read_bytes()
        key, seal, contents = data[18:50], data[50:82], data[82:]
        assert path.stem == key.hex() and seal == hashlib.sha256(key + contents).digest()


def test_the_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("BINDLESS_CACHE", "BINDLESS_CACHE_DIR", "BINDLESS_CACHE_SIZE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(os.path, "expanduser", lambda path: path.replace("~", str(tmp_path)))
    found = cache()
    assert found is not None and (found.folder, found.limit) == (tmp_path / ".cache" / "bindless", 256 << 20)
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert (found := cache()) is not None and found.folder == Path("/xdg/bindless")
    monkeypatch.setenv("BINDLESS_CACHE_DIR", "/chosen")
    monkeypatch.setenv("BINDLESS_CACHE_SIZE", "2")
    assert (found := cache()) is not None and (found.folder, found.limit) == (Path("/chosen"), 2 << 20)
    monkeypatch.setenv("BINDLESS_CACHE", "0")
    assert cache() is None
