"""The file format of ``bindless build``: contents survive a round trip, and altered files are refused."""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from bindless.model.errors import BuildError, InvalidError
from bindless.model.module.description import KernelSignature, Parameter
from bindless.model.module.kernel_file import KernelFile, Section, is_kernel_file
from tests.support.error_checks import raises

HEADER = struct.Struct("<8sIIQ32s")
FILE = KernelFile(
    (
        KernelSignature("a", (Parameter("out", "float*", "pointer", 8), Parameter("n", "uint", "value", 4)), (8, 4, 1)),
        KernelSignature("b", None, None, (16, 1, 1)),
    ),
    (Section("spirv", "", ("a",), b"\3\2\x23\7one"), Section("spirv", "", ("b",), b"\3\2\x23\7"),
     Section("ptx", "sm_75", ("a", "b"), b".version 6.3")),
    "kernel.cl", "00ff", {"clang": "clang version 22"}, ("-O2", "-DN=1"),
)  # fmt: skip


def resealed(change: Callable[[dict[str, Any]], object]) -> bytes:
    """The file with another manifest and matching hashes."""
    data = FILE.to_bytes()
    size = HEADER.unpack_from(data)[2]
    manifest = json.loads(data[HEADER.size : HEADER.size + size])
    change(manifest)
    text = json.dumps(manifest).encode()
    body = text + data[HEADER.size + size :]
    return HEADER.pack(data[:8], 1, len(text), HEADER.size + len(body), hashlib.sha256(body).digest()) + body


def test_everything_comes_back(tmp_path: Path) -> None:
    path = FILE.save(tmp_path / "kernel.blk")
    assert KernelFile.load(path) == FILE and is_kernel_file(path.read_bytes())
    assert FILE.languages == ("spirv", "ptx")
    assert FILE.describe() == "spirv, ptx for sm_75: a(float* out, uint n), b(...)"
    assert list(tmp_path.iterdir()) == [path]


def test_the_header_is_as_documented() -> None:
    data = FILE.to_bytes()
    magic, version, manifest, size, digest = HEADER.unpack_from(data)
    assert magic == b"\x89BLK\r\n\x1a\n" and version == 1 and size == len(data)
    assert digest == hashlib.sha256(data[56:]).digest()
    told = json.loads(data[56 : 56 + manifest])
    assert data[56 + manifest :] == b"".join(section.data for section in FILE.sections)
    assert [entry["sha256"] for entry in told["sections"]] == [
        hashlib.sha256(section.data).hexdigest() for section in FILE.sections
    ]


def test_no_byte_can_be_changed_or_cut_off() -> None:
    data = FILE.to_bytes()
    for at in range(len(data)):
        with pytest.raises(BuildError):
            KernelFile.from_bytes(data[:at])
        with pytest.raises(BuildError):
            KernelFile.from_bytes(data[:at] + bytes([data[at] ^ 0x20]) + data[at + 1 :])
    with raises(BuildError, names=(len(data) + 1, len(data))):
        KernelFile.from_bytes(data + b"\0")


def test_errors_say_what_is_wrong_and_the_file(tmp_path: Path) -> None:
    data = FILE.to_bytes()
    path = tmp_path / "old.blk"
    path.write_bytes(data.replace(b"\r\n", b"\n", 1))
    with raises(BuildError, names="old.blk"):
        KernelFile.load(path)
    path.write_bytes(data[:8] + struct.pack("<I", 2) + data[12:])
    with raises(BuildError, names=("old.blk", 2, 1)):
        KernelFile.load(path)
    with raises(InvalidError, names="none.blk"):
        KernelFile.load(tmp_path / "none.blk")
    with raises(InvalidError):
        FILE.save(tmp_path / "no" / "folder.blk")
    with raises(InvalidError):
        FILE.save(tmp_path)


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "link.blk").symlink_to("there/kernel.blk")
    for _ in range(2):
        FILE.save(tmp_path / "link.blk")
        assert (tmp_path / "link.blk").is_symlink()
        assert KernelFile.load(tmp_path / "there" / "kernel.blk") == FILE
    assert [file.name for file in (tmp_path / "there").iterdir()] == ["kernel.blk"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("linked", [False, True])
def test_a_device_is_written_to_and_not_replaced(linked: bool, tmp_path: Path) -> None:
    """A pipe stands for ``/dev/null`` and ``/dev/stdout``, which root could replace by a file."""
    pipe = place = tmp_path / "pipe"
    os.mkfifo(pipe)
    if linked:
        place = tmp_path / "link"
        place.symlink_to(pipe)
    before = sorted(file.name for file in tmp_path.iterdir())
    with ThreadPoolExecutor(1) as threads:
        received = threads.submit(pipe.read_bytes)
        FILE.save(place)
        assert pipe.is_fifo() and place.is_symlink() == linked
        assert received.result(60) == FILE.to_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: m.pop("kernels"), "'kernels'"),
        (lambda m: m.update(kernels=3), "kernels is no list"),
        (lambda m: m["kernels"][0].update(name=[1]), "name is no text"),
        (lambda m: m["kernels"][0].update(required_work_group_size=[1, 2]), "work-group"),
        (lambda m: m["kernels"][0].update(required_work_group_size=[0, 1, 1]), "work-group"),
        (lambda m: m["kernels"][0]["parameters"][0].update(kind="magic"), "kind 'magic'"),
        (lambda m: m["kernels"][0]["parameters"][0].update(size=-1), "no number"),
        (lambda m: m["kernels"][0]["parameters"][0].update(size=True), "no number"),
        (lambda m: m["sections"][0].update(size=10**9), "goes beyond the file's end"),
        (lambda m: m["sections"][0].update(size=3), "does not have its hash"),
        (lambda m: m["sections"].pop(), "bytes together"),
        (lambda m: m["sections"][0].update(kernels=["zzz"]), "not described"),
        (lambda m: m["sections"][0].update(language="hlsl"), "language 'hlsl'"),
        (lambda m: m["sections"].append(None), "not subscriptable"),
        (lambda m: m.update(tools=["clang"]), "tools is no object"),
    ],
)
def test_a_manifest_that_cannot_be_is_refused(change: Callable[[dict[str, Any]], object], message: object) -> None:
    with raises(BuildError, names=message):
        KernelFile.from_bytes(resealed(change))


def test_a_manifest_that_is_no_json() -> None:
    body = b"[" * 100_000
    data = (
        HEADER.pack(b"\x89BLK\r\n\x1a\n", 1, len(body), HEADER.size + len(body), hashlib.sha256(body).digest()) + body
    )
    with raises(BuildError):
        KernelFile.from_bytes(data)


def test_modules_are_not_shown() -> None:
    section = Section("ptx", "sm_75", ("a",), b"\0" * 10_000)
    assert len(repr(section)) < 100
