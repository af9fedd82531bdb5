"""Modules on the driver of ``fake_cuda.c``: the cache of binaries, reflection, builds and links. Run by
``test_cuda_recording.py``."""

from __future__ import annotations

from pathlib import Path

import pytest

import bindless as bl
from bindless.drivers import cuda as driver
from bindless.model.errors import FeatureNotSupportedError, InvalidError
from tests.backends.contract.contract_rig import Rig
from tests.backends.cuda.fake_cuda import PTX, Fake
from tests.support.error_checks import raises

# ---------------------------------------------------------------------- the cache of binaries


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of a cache that is on."""
    monkeypatch.delenv("BINDLESS_CACHE", raising=False)
    monkeypatch.setenv("BINDLESS_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_ptx_is_compiled_once(rig: Rig, fake: Fake, kept: Path) -> None:
    for turn in range(3):
        fake.clear()
        module = rig.backend.load_module(rig.context, rig.device, PTX)
        assert rig.backend.kernel_names(module) == ("f", "nothing", "pieces", "plain")
        assert rig.backend.kernel_info(rig.backend.get_kernel(module, "f")).arguments is not None
        assert len(fake.lines("cuLinkAddData")) == len(fake.lines("cuLinkComplete")) == (turn == 0)
        rig.backend.release_module(module)
    assert len(list(kept.iterdir())) == 1


def test_options_and_source_choose_the_binary(rig: Rig, fake: Fake, kept: Path) -> None:
    text = b".target sm_75\n" + PTX
    for source, options in ((text, ""), (text, "-O2"), (text + b"//", ""), (text, "")):
        rig.backend.release_module(rig.backend.load_module(rig.context, rig.device, source, options=options))
    assert len(fake.lines("cuLinkComplete")) == 3 == len(list(kept.iterdir()))


def test_a_damaged_binary_is_made_anew(rig: Rig, fake: Fake, kept: Path) -> None:
    rig.backend.release_module(rig.backend.load_module(rig.context, rig.device, PTX))
    (path,) = kept.iterdir()
    path.write_bytes(path.read_bytes()[:-3])
    fake.clear()
    rig.backend.release_module(rig.backend.load_module(rig.context, rig.device, PTX))
    assert len(fake.lines("cuLinkComplete")) == 1
    fake.clear()
    rig.backend.release_module(rig.backend.load_module(rig.context, rig.device, PTX))
    assert not fake.lines("cuLinkComplete")


def test_large_modules_are_linked_whole(rig: Rig, fake: Fake, kept: Path) -> None:
    source = b"//" + b"x" * 200_000 + b"\n" + PTX
    for _ in range(2):
        module = rig.backend.load_module(rig.context, rig.device, source)
        rig.backend.get_kernel(module, "nothing")
        rig.backend.release_module(module)
    (path,) = kept.iterdir()
    assert source in path.read_bytes()
    assert len(fake.lines("cuLinkComplete")) == 1 and fake.library.fake_live_links() == 0


def test_errors_are_the_same_with_the_cache(rig: Rig, fake: Fake, kept: Path) -> None:
    with raises(bl.BuildError, names="what is this") as caught:
        rig.backend.load_module(rig.context, rig.device, b".target sm_75\n.entry f() { syntax error }")
    assert "line 7" in caught.value.log and not list(kept.iterdir())
    assert fake.library.fake_live_links() == 0


def test_without_the_cache_nothing_is_linked(rig: Rig, fake: Fake, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BINDLESS_CACHE", "0")
    rig.backend.release_module(rig.backend.load_module(rig.context, rig.device, PTX))
    assert not fake.lines("cuLink") and not list(kept.iterdir())


# ---------------------------------------------------------------------- reflection, builds, links


def test_reflection(rig: Rig) -> None:
    module = rig.backend.load_module(rig.context, rig.device, PTX)
    assert rig.backend.kernel_names(module) == ("f", "nothing", "pieces", "plain")
    record = rig.backend.kernel_info(rig.backend.get_kernel(module, "f"))
    assert record.arguments is not None
    assert [(a.name, a.kind, a.size) for a in record.arguments] == [
        ("a", "pointer", 8),
        ("b", "value", 4),
        ("c", "value", 24),
    ]
    assert record.max_work_group_size == 768 and record.required_work_group_size is None
    record = rig.backend.kernel_info(rig.backend.get_kernel(module, "nothing"))
    assert record.arguments == () and record.required_work_group_size == (64, 2, 1)


def test_a_binary_module_on_an_old_driver(rig: Rig, fake: Fake) -> None:
    module = rig.backend.load_module(rig.context, rig.device, b"\x7fELF .entry f\0rest")
    assert not driver.has("cuFuncGetParamInfo")
    assert rig.backend.kernel_info(rig.backend.get_kernel(module, "f")).arguments is None
    with raises(FeatureNotSupportedError, names="CUDA 12.4"):
        rig.backend.kernel_names(module)
    kernel = rig.backend.get_kernel(module, "f")
    for sizes in ((8, 4), (4, 1, 2), (4, 1, 2)):
        fake.parameters(*sizes)
        arguments = [bytes([index + 1]) * size for index, size in enumerate(sizes)]
        rig.backend.launch(rig.queue, kernel, (8,), None, arguments)
        assert fake.lines("cuLaunchKernel")[-1].endswith(": " + " ".join(argument.hex() for argument in arguments))


def test_build_errors_and_options(rig: Rig, fake: Fake) -> None:
    with raises(bl.BuildError, names="line 7") as caught:
        rig.backend.load_module(rig.context, rig.device, b".entry f() { syntax error }")
    assert caught.value.log == "ptxas fatal: line 7: what is this?"
    fake.clear()
    rig.backend.load_module(rig.context, rig.device, PTX, options="-O3 -lineinfo --maxrregcount 40")
    assert [int(line.split()[-1]) for line in fake.lines("jit option")][4:] == [7, 13, 0]
    with raises(bl.BuildError, names="SPIR-V"):
        rig.backend.load_module(rig.context, rig.device, b"\x03\x02\x23\x07rest")


def test_modules_are_linked(rig: Rig, fake: Fake) -> None:
    caller = b".extern .func g; .visible .entry calling(.param .u64 a) { call g; }"
    callee = b".visible .func g { ret; }"
    links = fake.library.fake_live_links
    first, log = rig.backend.linking.compile_module(rig.context, rig.device, caller, options="-O2")
    second, _ = rig.backend.linking.compile_module(rig.context, rig.device, callee, options="-O2")
    assert log == "" and not fake.lines("cuLinkComplete") and links() == 0
    fake.clear()
    module = rig.backend.linking.link_modules(rig.context, rig.device, [first, second], options="-lineinfo")
    assert fake.lines("cuLink") == [f"cuLinkAddData 1 {len(text) + 1}" for text in (caller, callee)] + [
        "cuLinkComplete"
    ]
    assert rig.backend.kernel_names(module) == ("calling",) and links() == 0
    fake.parameters(8)
    rig.backend.launch(rig.queue, rig.backend.get_kernel(module, "calling"), (8,), None, [bytes(8)])
    with raises(bl.BuildError, names="undefined reference") as caught:
        rig.backend.linking.link_modules(rig.context, rig.device, [first])
    assert caught.value.log == "error: undefined reference" and caught.value.native_code == 500
    with raises(bl.BuildError, names="line 7"):
        rig.backend.linking.compile_module(rig.context, rig.device, b".entry f() { syntax error }")
    with raises(FeatureNotSupportedError, names="specialization"):
        rig.backend.linking.compile_module(rig.context, rig.device, PTX, specialization={1: b"1234"})
    assert links() == 0
    elf, _ = rig.backend.linking.compile_module(rig.context, rig.device, b"\x7fELF .entry f")
    fat, _ = rig.backend.linking.compile_module(rig.context, rig.device, b"\x50\xed\x55\xba .entry f")
    assert (elf.kind, fat.kind, first.kind) == (0, 2, 1)
    rig.backend.release_module(module)


def test_a_released_module_is_not_launched(rig: Rig, fake: Fake) -> None:
    module = rig.backend.load_module(rig.context, rig.device, PTX)
    kernel = rig.backend.get_kernel(module, "plain")
    rig.backend.release_module(module)
    rig.backend.release_module(module)
    assert len(fake.lines("cuModuleUnload")) == 1
    with raises(InvalidError):
        rig.backend.launch(rig.queue, kernel, (8,), None, [bytes(8)])


# ---------------------------------------------------------------------- the compiler of drivers of CUDA 12

_IMAGES = b""".version 6.3
.target sm_75
.visible .entry images(.param .u64 images_param_0, .param .u64 images_param_1)
{
ld.param.b64 %rd1, [images_param_0];
ld.param.b64 %rd2, [images_param_1];
ld.global.b64 %rd3, [%rd2];
tex.1d.v4.f32.f32 {%r1, %r2, %r3, %r4}, [%rd1, {%r5}];
tex.1d.v4.f32.f32 {%r6, %r7, %r8, %r9}, [%rd3, {%r5}];
ret;
}
"""


@pytest.mark.parametrize(("version", "capability", "rounds"), [
    ((12, 9), (9, 0), 1), ((12, 0), (12, 0), 1), ((13, 0), (9, 0), 0), ((12, 9), (8, 9), 0),
])  # fmt: skip
def test_handles_from_memory_are_used_one_at_a_time(
    version: tuple[int, int],
    capability: tuple[int, int],
    rounds: int,
    rig: Rig,
    kept: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The compiler of CUDA 12 loses results of images that differ between lanes, on GPUs from sm_90 on."""
    monkeypatch.setattr(driver, "version", lambda: version)
    monkeypatch.setattr(type(rig.device), "capability", capability)
    module = rig.backend.load_module(rig.context, rig.device, _IMAGES)
    assert rig.backend.kernel_names(module) == ("images",)
    rig.backend.release_module(module)
    (binary,) = kept.iterdir()  # this driver's binaries are the PTX
    compiled = binary.read_bytes()
    assert compiled.count(b"shfl.sync.idx") == 2 * rounds and compiled.count(b"tex.1d") == 2
