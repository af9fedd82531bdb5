"""The choice of kernels, their words and arguments, and the kernels of a context."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import bindless as bl
from bindless import kernels
from bindless.kernels import choose, words
from bindless.kernels.arguments import layout_of, typed_arguments
from bindless.kernels.launch_range import GROUP, ITEMS, groups_of
from bindless.kernels.load import Code, Library, code_of, split_variant, variant_of
from bindless.kernels.manifest import Parameter, parameters_of
from bindless.model.channels import CHANNELS
from bindless.model.enums import Precision
from tests.builtin_kernels.host_kernels import CHANNEL_TYPES, ELEMENTS, catalogue
from tests.builtin_kernels.host_kernels import format_word as expected_word

TARGETS: tuple[kernels.Target, ...] = ("ptx", "spirv", "opencl_c")


def test_a_kernel_is_built_once_for_each_place_and_word() -> None:
    library: Library[list[Code]] = Library("ptx")
    loaded = [
        library.load("bindless_sample_2d_f", place, lambda code: [code], format=word)
        for place, word in (("a", 1), ("a", 1), ("b", 1), ("a", 2), ("a", None))
    ]
    assert loaded[0] is loaded[1]
    assert len({id(kernel) for kernel in loaded}) == 4
    assert loaded[0][0] == code_of("bindless_sample_2d_f", "ptx", format=1)
    assert sorted(map(id, library.drain())) == sorted({id(kernel) for kernel in loaded})
    assert library.drain() == []


def test_threads_share_one_kernel() -> None:
    library: Library[object] = Library("spirv")
    builds: list[str] = []
    start = threading.Barrier(4)
    loaded: list[object] = []

    def build(code: Code) -> object:
        builds.append(code.name)
        return object()

    def work() -> None:
        start.wait()
        loaded.append(library.load("bindless_fetch_2d_f", None, build))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(builds) == 1 and len(set(map(id, loaded))) == 1 and len(loaded) == 4


def test_a_kernel_whose_build_fails_is_built_again() -> None:
    library: Library[str] = Library("ptx")

    def fail(code: Code) -> str:
        raise bl.BuildError(code.name)

    with pytest.raises(bl.BuildError):
        library.load("bindless_empty", None, fail)
    assert library.load("bindless_empty", None, lambda code: code.name) == "bindless_empty"


@pytest.mark.parametrize(
    ("name", "mode"), [("bindless_sample_4d_f", None), ("bindless_sample_cube_f", None), ("bindless_empty", 1)]
)
def test_a_kernel_that_does_not_exist(name: str, mode: int | None) -> None:
    library: Library[Code] = Library("spirv", "level_zero")
    with pytest.raises(bl.FeatureNotSupportedError) as caught:
        library.load(name, None, lambda code: code, mode=mode)
    assert caught.value.backend == "level_zero" and name.removeprefix("bindless_") in str(caught.value)


def test_words_are_constants_in_the_language_of_the_code() -> None:
    name, word = "bindless_resample_2d_f", 0x140B0407
    for target in ("ptx", "spirv"):
        code = code_of(name, target, format=word, mode=5)  # type: ignore[arg-type]
        assert code == Code(name, kernels.specialised(name, word, target, 5), {})  # type: ignore[arg-type]
    text = kernels.source("resample_2d_f", "opencl_c")
    assert code_of(name, "opencl_c", format=word, mode=5) == Code(name, text, {0: word, 1: 5})
    assert code_of(name, "opencl_c", mode=5).constants == {1: 5}
    assert code_of(name, "opencl_c").constants == {}
    assert b"BINDLESS_CONSTANT_0" in text and b"BINDLESS_CONSTANT_1" in text


@pytest.mark.parametrize("constants", [{}, {"format": 0}, {"mode": 7}, {"format": 335545348, "mode": 0}])
def test_variants(constants: dict[str, int]) -> None:
    variant = variant_of("bindless_sample_2d_f", **{"format": None, "mode": None, **constants})
    assert split_variant(variant) == ("bindless_sample_2d_f", constants)
    assert " " not in variant and variant.partition("@")[0] == "bindless_sample_2d_f"


def test_numbers_of_variants_that_are_answers() -> None:
    assert split_variant(variant_of("bindless_projections_texels", mode=True)) == (
        "bindless_projections_texels",
        {"mode": 1},
    )


def test_variants_are_named_in_one_place() -> None:
    sources = Path(kernels.__file__).parents[1]
    names = {path.name for path in sources.rglob("*.py") if re.search(r"bindless_[\w{}]+@", path.read_text())}
    assert names == {"load.py"}  # its docstring


def test_the_parameters_are_those_of_the_catalogue() -> None:
    for module in catalogue():
        for kernel in module.kernels:
            arguments = tuple(Parameter(argument.type, argument.name) for argument in kernel.arguments)
            assert parameters_of(kernel.name) == arguments
        assert [target for target in TARGETS if module.name in kernels.modules(target)] == list(module.targets)


def test_layouts_and_typed_arguments() -> None:
    names, layout, sizes = layout_of("bindless_four_arguments")
    assert (names, layout.size, sizes) == (("out", "a", "b", "c"), 24, (8, 8, 4, 4))
    values = {"c": 2.5, "b": 7, "a": 1, "out": None, "other": 0}
    arguments = typed_arguments("bindless_four_arguments", values)
    assert arguments == [None, 1, 7, 2.5] and list(map(type, arguments[2:])) == [np.uint32, np.float32]


def test_format_words() -> None:
    for element, channel_type in product(ELEMENTS, CHANNEL_TYPES):
        channel, dtype = CHANNELS[bl.ImageChannelType(channel_type)], np.dtype(element)
        word = expected_word(element, 3, channel_type, 4)
        assert words.format_word(dtype, 3, channel, 4) == word
        assert words.format_word(dtype.newbyteorder(), 3, channel, 4, aligned=True) == word | 1 << 28
        assert words.image_word(channel, 4) == word & 0xFFFF0000


def test_numbers_of_groups() -> None:
    counts = (0, 1, ITEMS * GROUP, ITEMS * GROUP + 1, 1 << 40)
    assert [groups_of(count) for count in counts] == [0, 1, 1, 2, 1 << 20]
    assert groups_of(1 << 40, 5) == 5


def test_every_choice_of_pixels_and_pictures_exists() -> None:
    """Kernels that are chosen without a question exist for each target; others say for which."""
    for target in TARGETS:
        available = set(kernels.kernels(target))
        for has_doubles, precision in product((False, True), (Precision.reproducible, Precision.exact)):
            assert choose.computed_samples(precision, target, has_doubles=has_doubles) in available
        for dtype in map(np.dtype, ELEMENTS):
            assert choose.pack(dtype) in available
            assert choose.area_means(dtype, has_doubles=True) in available | {None}
        assert choose.pack(np.dtype(np.float64)) in available
        for dimensions in (1, 2, 3):
            assert choose.mipmap_levels(dimensions, target) in available | {None}
            for channel_type, precision, in_usm in product(
                CHANNEL_TYPES, (Precision.hardware, Precision.exact), (False, True)
            ):
                desc = bl.ImageDescriptor(*(8,) * dimensions, channel_type=channel_type)
                if in_usm and (dimensions > 2 or (dimensions == 1 and precision is Precision.hardware)):
                    continue  # CUDA has no such samples
                assert choose.resampling(desc, precision, target, in_usm=in_usm) in available
    assert [choose.mipmap_levels(2, target) for target in TARGETS] == ["bindless_downsample_2d_u", None, None]
    for geometry, taps in (*product(("1d", "2d", "3d"), (1, 2, 4)), ("cube", 1), ("cube", 2)):
        for operation in ("forward", "backward", "backward_backward"):
            assert choose.is_available(choose.gradients(operation, geometry, taps), "ptx")


def test_nothing_is_read_at_import() -> None:
    code = """
import sys
import bindless.kernels as k
assert k.manifest.cache_info().currsize == 0
k.source("launch", "ptx")
assert k.manifest.cache_info().currsize == 1
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_reading_a_module_opens_its_archive_alone() -> None:
    code = """
import sys
opened = []
sys.addaudithook(lambda event, arguments: opened.append(str(arguments[0])) if event == "open" else None)
from bindless import kernels
opened.clear()
kernels.source("launch", "spirv")
kernels.source("fetch_2d_f", "spirv")
print(*[name for name in opened if name.endswith((".zip", ".json"))], sep="\\n")
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    assert [Path(name).name for name in done.stdout.split()] == ["manifest.json", *["spirv.zip"] * 3]
