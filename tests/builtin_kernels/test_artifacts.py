"""The committed artifacts match the manifest, are complete, and pass the vendors' tools."""

from __future__ import annotations

import hashlib
import re
import shutil
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from bindless import kernels
from bindless.compiler.llvm.llvm_tools import LLVMTools
from tests.support.needs import spirv_tool

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDER = REPOSITORY / "src" / "bindless" / "kernels"
GEOMETRIES = ["1d", "2d", "3d", "1d_array", "2d_array"]
CLASSES = ["f", "i", "u"]
PTXAS = shutil.which("ptxas")
FUNCTION = "through_fields"  # the only one that is not inlined: see csrc/kernels/include/place.h

# Formats by class: four aligned channels, of fp32, signed_int32 and unsigned_int32.
FORMATS = {"f": 0x140B0407, "i": 0x14060404, "u": 0x14090405}
COLOURS = 0x377  # of lut3d: three floats
IMAGES = ("ulong image", "ulong chroma")  # handles in OpenCL C

# Arguments by kind: the PTX type, and the same in SPIR-V words.
LAYER = ["u64", "u32"]
OWN = {"sample_lod": ["u64", "f32"], "sample_grad": ["u64", "u64"]}


def expected_kernels(target: kernels.Target) -> dict[str, list[str]]:
    """Return every built-in kernel with the kinds of its arguments, from their description."""
    forms = [
        (operation, geometry)
        for operation in ("fetch", "fetch_sampled", "sample", "sample_lod", "write")
        for geometry in GEOMETRIES
    ]
    if target == "ptx":
        forms += [("sample_grad", geometry) for geometry in GEOMETRIES]
        forms += [("fetch_sampled", "1d_linear"), ("sample", "cube"), ("sample_lod", "cube")]
    expected = {"bindless_empty": [], "bindless_four_arguments": ["u64", "u64", "u32", "f32"]}
    layout = ["u64", "u32", *["u64"] * 4, *["u32"] * 3]
    packing = [*layout, "u64", "u32", "u32", "u64", *["f32"] * 6]
    expected.update(dict.fromkeys(("bindless_pack", "bindless_pack_f64"), packing))
    reduction = ["u64", *["u32"] * 4, "u64", *["u32"] * 12, "u64"]
    expected.update(dict.fromkeys(("bindless_area_codes", "bindless_area_reals"), reduction))
    place, table = ["f32"] * 6, ["u64", "u32"]
    expected["bindless_lut3d"] = ["u64", *table, *place, *table, *place, "u64", "u64", "u32", "u32"]
    expected["bindless_spline_rows"] = ["u64", "u64", *["u32"] * 9, *["f32"] * 3, "u64"]
    expected["bindless_spline_columns"] = ["u64", "u64", "u64", *["u32"] * 3, *["f32"] * 3, "u64"]
    views = [*["u32"] * 3, "u64", *["u32"] * 3, *["f32"] * 3]  # and the size of the volume
    projector = {operation: ["u64", *views, "u64"] for operation in ("forward", "adjoint")}
    projector["scale"] = ["u64", *views[3:], "u64"]
    projector["back"] = [*projector["adjoint"], "u32"]
    projector["filter"] = ["u64", "u32", "u32", "u64", "u32", "u64", "u64", "u32", "u32", "u64"]
    turned = ["u64", *views[:7], "u64"]
    expected["bindless_projector_turn"] = ["u64", *["u32"] * 6, "u64", "u32", "u64", "u32"]
    for operation, power in (("forward", []), ("adjoint", []), ("back", ["u32"])):
        expected[f"bindless_projector_turned_{operation}"] = [*turned, *power, "u32"]
    for operation, kinds in projector.items():
        expected[f"bindless_projector_{operation}"] = kinds
        expected[f"bindless_projector_{operation}_half"] = [*kinds, "u32"]
    for operation, geometry in forms:
        layer = LAYER if geometry.endswith("_array") else []
        kinds = ["u64", "u64", *layer, *OWN.get(operation, []), "u64", "u64", "u32", "u32"]
        expected.update({f"bindless_{operation}_{geometry}_{letter}": kinds for letter in CLASSES})
    return expected


def ptx(name: str) -> str:
    return kernels.source(name, "ptx").rstrip(b"\0").decode("ascii")


def ptx_signatures(text: str) -> dict[str, list[str]]:
    text = re.sub(r"//.*", "", text)
    entries = re.findall(r"\.visible \.entry (\w+)\((.*?)\)\s*(?:\.maxnreg \d+\s*)?\{", text, re.S)
    return {name: re.findall(r"\.param \.(\w+)", parameters) for name, parameters in entries}


def spirv_signatures(data: bytes) -> dict[str, list[str]]:
    """Return entry points of a SPIR-V module with the kinds of their parameters."""
    words = struct.unpack(f"<{len(data) // 4}I", data)
    assert words[0] == 0x07230203
    kinds: dict[int, str] = {}
    names: dict[int, str] = {}
    functions: dict[int, int] = {}
    signatures: dict[int, list[int]] = {}
    at = 5
    while at < len(words):
        opcode, length = words[at] & 0xFFFF, words[at] >> 16
        operands = words[at + 1 : at + length]
        if opcode == 15:  # OpEntryPoint
            raw = struct.pack(f"<{len(operands) - 2}I", *operands[2:])
            names[operands[1]] = raw.split(b"\0")[0].decode("ascii")
        elif opcode == 21:  # OpTypeInt
            kinds[operands[0]] = f"u{operands[1]}"
        elif opcode == 22:  # OpTypeFloat
            kinds[operands[0]] = f"f{operands[1]}"
        elif opcode == 32:  # OpTypePointer
            kinds[operands[0]] = "u64"
        elif opcode == 33:  # OpTypeFunction
            signatures[operands[0]] = list(operands[2:])
        elif opcode == 54:  # OpFunction
            functions[operands[1]] = operands[3]
        at += length
    return {name: [kinds[kind] for kind in signatures[functions[entry]]] for entry, name in names.items()}


ARCHIVES = sorted(kernels.manifest()["archives"])


@pytest.mark.parametrize("target", ARCHIVES)
def test_every_archive_has_the_hash_of_the_manifest(target: kernels.Target) -> None:
    listed = kernels.manifest()["archives"][target]
    with ZipFile(FOLDER / listed["file"]) as archive:
        assert archive.testzip() is None
        contents = {name: archive.read(name) for name in archive.namelist()}
    lines = [f"{name} {hashlib.sha256(data).hexdigest()}\n" for name, data in sorted(contents.items())]
    assert hashlib.sha256("".join(lines).encode()).hexdigest() == listed["sha256"]


@pytest.mark.parametrize("target", ARCHIVES)
def test_every_file_of_an_archive_is_the_code_of_a_module(target: kernels.Target) -> None:
    with ZipFile(FOLDER / kernels.manifest()["archives"][target]["file"]) as archive:
        contents = {Path(name).stem: archive.read(name) for name in archive.namelist()}
    end = b"\0" if target == "ptx" else b""
    assert {name: kernels.source(name, target) for name in kernels.modules(target)} == {
        name: data + end for name, data in contents.items()
    }


@pytest.mark.parametrize("target", ARCHIVES)
def test_archives_do_not_depend_on_time_and_order(target: kernels.Target) -> None:
    with ZipFile(FOLDER / kernels.manifest()["archives"][target]["file"]) as archive:
        entries = archive.infolist()
    assert [entry.filename for entry in entries] == sorted(entry.filename for entry in entries)
    assert {(entry.date_time, entry.create_system, entry.compress_type, entry.extra) for entry in entries} == {
        ((1980, 1, 1, 0, 0, 0), 3, ZIP_DEFLATED, b"")
    }


def test_there_are_few_files() -> None:
    """Artifacts are in archives; each file of its own would be a file of every later commit that changes them."""
    names = {path.name for path in FOLDER.iterdir() if path.suffix not in (".pyc", "") and path.is_file()}
    assert {name for name in names if not name.endswith(".py")} == {
        "manifest.json",
        *(kernels.manifest()["archives"][target]["file"] for target in ARCHIVES),
    }


def test_every_source_has_the_hash_of_the_manifest() -> None:
    manifest = kernels.manifest()
    for path, digest in manifest["sources"].items():
        now = hashlib.sha256((REPOSITORY / path).read_bytes()).hexdigest()
        assert now == digest, f"{path} changed after the artifacts were built; run {manifest['build']}"


@pytest.mark.parametrize("target", ["ptx", "spirv"])
def test_every_kernel_exists_with_its_arguments(target: kernels.Target) -> None:
    found: dict[str, list[str]] = {}
    for name in kernels.modules(target):
        signatures = ptx_signatures(ptx(name)) if target == "ptx" else spirv_signatures(kernels.source(name, "spirv"))
        for kernel in signatures:
            assert kernels.module_of(kernel) == name
        found.update(signatures)
    expected = expected_kernels(target)
    assert {kernel: found[kernel] for kernel in expected if kernel in found} == expected
    assert set(found) == set(kernels.kernels(target))


def test_every_kernel_in_opencl_c_takes_an_image_for_the_handle() -> None:
    """All other parameters are as listed; a sampled image comes with its sampler."""
    found = set()
    for name in kernels.modules("opencl_c"):
        text = kernels.source(name, "opencl_c").decode("ascii")
        for kernel, listed in re.findall(r"\bkernel (?:__attribute__\(\(.*\)\)\s)?void (\w+)\(([^)]*)\)", text):
            found.add(kernel)
            words = [" ".join(part.split()).replace(" *", "* ") for part in listed.split(",") if part.strip() != "void"]
            arguments = kernels.manifest()["modules"][name]["kernels"][kernel]
            images = arguments[: next((n for n, kind in enumerate(arguments) if kind not in IMAGES), len(arguments))]
            native = []
            for image in images:
                geometry = re.search(r"[123]d(_array)?", name)
                assert geometry is not None
                access = "write_only" if name.startswith("write") else "read_only"
                sampled = name.startswith(("sample", "fetch_sampled", "warp", "resample"))
                handle = image.removeprefix("ulong ")
                native.append(f"{access} image{geometry[0]}_t {handle}__bindless_image")
                native += [f"sampler_t {handle}__bindless_sampler"] * sampled
            arguments = [*native, *arguments[len(images) :]]
            assert words == arguments, kernel
    warps = {f"bindless_warp_{geometry}_{letter}" for geometry in ("2d", "2d_array") for letter in "fiu"}
    pictures = {
        f"bindless_{operation}_{geometry}_{letter}"
        for operation in ("resample", "resample_fetch")
        for geometry in GEOMETRIES
        for letter in "fiu"
    }
    computed = {f"bindless_texture_{name}" for name in ("unit", "unit_f64", "exact")}
    pictures |= {f"bindless_resample_memory_{dims}d_{letter}" for dims in (1, 2, 3) for letter in "fiu"}
    pictures.add("bindless_resample_planes_2d_f")
    assert found == set(kernels.kernels("opencl_c")) == set(expected_kernels("spirv")) | warps | pictures | computed


def test_the_manifest_lists_the_arguments_that_the_ptx_has() -> None:
    width = {"ulong": "u64", "uint": "u32", "float": "f32", "double": "f64", "long": "u64", "int": "u32"}
    width["struct call"] = "align"  # bytes
    for name in kernels.modules("ptx"):
        signatures = ptx_signatures(ptx(name))
        for kernel, arguments in kernels.manifest()["modules"][name]["kernels"].items():
            types = [argument.rsplit(" ", 1)[0] for argument in arguments]
            assert ["u64" if kind.endswith("*") else width[kind] for kind in types] == signatures[kernel]


def test_ptx_is_for_old_drivers_and_rounds_like_ieee() -> None:
    for name in kernels.modules("ptx"):
        text = ptx(name)
        adds_vectors = re.fullmatch("gradients_backward_[23]d_vectors", name) is not None
        version, target = ("8.1", "sm_90") if adds_vectors else ("6.3", "sm_75")
        assert re.search(rf"^\.version {version}$", text, re.M) and re.search(rf"^\.target {target}$", text, re.M)
        assert ("red.global.add.v4.f32" in text) == adds_vectors
        assert not re.search(r"\.approx|\.ftz|div\.full|fma\.rn\.ftz", text), name
        arithmetic = set(
            re.findall(r"(?<!global\.)\b((?:add|sub|mul|fma|mad|div|rcp|sqrt)\.\S*)\.f(?:16|32|64)\b", text)
        )
        # Without .rn ptxas may fuse; floor_of of csrc/kernels/include/boundary.h rounds a sum down.
        assert arithmetic <= {"add.rn", "add.rm", "sub.rn", "mul.rn", "fma.rn", "div.rn", "rcp.rn", "sqrt.rn"}, name
        calls = set(re.findall(r"\bcall(?:\.uni)?\s+(?:\([^)]*\), )?([\w%]+)", text))
        assert len(re.findall(r"\bcall\b", text)) == 0 or calls == {FUNCTION}, name
        assert ".extern" not in text and "trap" not in text, name


def test_cube_directions_divide_and_normalized_fetches_do_not() -> None:
    for geometry in GEOMETRIES:
        assert "div." not in ptx(f"fetch_{geometry}_f").replace("div.u32", "")
    for kernel in ("sample_cube_f", "sample_lod_cube_u"):
        assert "div.rn.f32" in ptx(kernel)


def test_one_dimensional_integer_fetch_is_for_linear_memory_alone() -> None:
    users = {name for name in kernels.modules("ptx") if re.search(r"\btex(\.level|\.grad)?\.1d\.\S*\.s32\s", ptx(name))}
    operations = ("fetch_sampled", "resample_fetch")
    assert users == {f"{operation}_1d_linear_{letter}" for operation in operations for letter in CLASSES}
    assert re.search(r"tex\.2d\.v4\.f32\.s32", ptx("fetch_sampled_1d_f"))


def test_each_texture_kernel_uses_its_own_instruction() -> None:
    shape = {"1d": "1d", "2d": "2d", "3d": "3d", "1d_array": "a1d", "2d_array": "a2d", "cube": "cube"}
    prefix = {"sample": "tex", "sample_lod": "tex.level", "sample_grad": "tex.grad"}
    kind = {"f": "f32", "i": "s32", "u": "u32"}
    for operation, instruction in prefix.items():
        for geometry, dimension in shape.items():
            if (operation, geometry) == ("sample_grad", "cube"):
                continue
            for letter in CLASSES:
                used = set(re.findall(r"\b(tex\.\S+)", ptx(f"{operation}_{geometry}_{letter}")))
                assert used == {f"{instruction}.{dimension}.v4.{kind[letter]}.f32"}


def registers_of(texts: Sequence[str], architecture: str, folder: Path) -> dict[str, int]:
    """Return the registers of each kernel in PTX texts, which ptxas takes without spills."""
    header = re.match(r".*?\.address_size 64\n", texts[0], re.S)
    assert header is not None
    bodies = [
        text[text.index(".address_size 64\n") + len(".address_size 64\n") :].replace(FUNCTION, f"{FUNCTION}_{number}")
        for number, text in enumerate(texts)
    ]
    # Labels are local to an entry, and functions have numbers, so that all kernels go through one run.
    joined = folder / "kernels.ptx"
    joined.write_text(header.group() + "".join(bodies))
    done = subprocess.run(
        [str(PTXAS), "-v", f"-arch={architecture}", str(joined), "-o", str(folder / "kernels.cubin")],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    used = re.findall(r"Compiling entry function '(\w+)'.*?Used (\d+) registers", done.stderr, re.S)
    spills = re.findall(r"bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", done.stderr)
    assert len(used) == len(spills)
    assert set(spills) == {("0", "0")}
    return {name: int(count) for name, count in used}


@pytest.mark.skipif(PTXAS is None, reason="needs ptxas: pip install nvidia-cuda-nvcc, or the CUDA toolkit")
@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
@pytest.mark.parametrize("specialised", [False, True])
def test_ptxas_takes_every_kernel_without_spills(architecture: str, specialised: bool, tmp_path: Path) -> None:
    listed = kernels.manifest()["modules"]
    others = ("resample", "texture", "gradients")  # always launched with a constant mode
    names = [
        name for name in kernels.kernels("ptx") if not name.startswith(tuple(f"bindless_{each}_" for each in others))
    ]
    texts = [ptx(name) for name in kernels.modules("ptx") if not name.startswith(others)]
    if specialised:
        names = [name for name in names if "uint format" in listed[kernels.module_of(name)]["kernels"][name]]
        texts = [
            kernels.specialised(name, FORMATS.get(name[-1], COLOURS)).rstrip(b"\0").decode("ascii") for name in names
        ]
    registers = registers_of(texts, architecture, tmp_path)
    assert registers.keys() == set(names)
    over_items = {name: count for name, count in registers.items() if "_downsample_" not in name}
    assert max(over_items.values()) <= 96
    assert max(registers.values()) <= 144  # two levels at once
    if specialised:  # few enough for most of a multiprocessor's work-items to run together
        assert max(over_items.values()) <= 72, over_items


@pytest.mark.skipif(PTXAS is None, reason="needs ptxas: pip install nvidia-cuda-nvcc, or the CUDA toolkit")
@pytest.mark.parametrize(("architecture", "interpolation"), [("sm_75", 2), ("sm_90", 1)])
def test_ptxas_takes_every_kernel_that_resamples(architecture: str, interpolation: int, tmp_path: Path) -> None:
    """They are always launched with a constant format and mode."""
    names = [name for name in kernels.kernels("ptx") if "_resample_" in name]
    words = [(name, FORMATS[name[-1]], "ptx", 2 << 18 | 0o333 << 3 | interpolation) for name in names]
    texts = [kernels.specialised(*word).rstrip(b"\0").decode("ascii") for word in words]
    assert registers_of(texts, architecture, tmp_path).keys() == set(names)


@pytest.mark.skipif(PTXAS is None, reason="needs ptxas: pip install nvidia-cuda-nvcc, or the CUDA toolkit")
@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
def test_ptxas_takes_gradients(architecture: str, tmp_path: Path) -> None:
    """Linear filters with clamped edges, all gradients wanted, as csrc/kernels/include/gradient_call.h has the mode."""
    names = [name for name in kernels.kernels("ptx") if re.search(r"_gradients_.*_2$", name)]
    mode = 0b111 << 20 | 1 << 18 | 1 << 17 | 1 << 12 | 0o222 << 1
    texts = [kernels.specialised(name, None, mode_word=mode).rstrip(b"\0").decode("ascii") for name in names]
    registers = registers_of(texts, architecture, tmp_path)
    assert registers.keys() == set(names) and len(names) == 12
    assert max(registers.values()) <= 128, registers


@pytest.mark.skipif(PTXAS is None, reason="needs ptxas: pip install nvidia-cuda-nvcc, or the CUDA toolkit")
@pytest.mark.parametrize("kind", ["linear", "single", "vectors"])
def test_ptxas_takes_gradients_of_linear_filters(kind: str, tmp_path: Path) -> None:
    names = [name for name in kernels.kernels("ptx") if re.search(rf"_gradients_backward_.*_{kind}$", name)]
    mode = 1 << 20 | 1 << 18 | 1 << 17 | 1 << 12 | (kind == "single") << 26 | (kind == "vectors") << 23
    texts = [kernels.specialised(name, None, mode_word=mode).rstrip(b"\0").decode("ascii") for name in names]
    registers = registers_of(texts, "sm_90", tmp_path)
    assert registers.keys() == set(names) and len(names) == 2
    assert max(registers.values()) <= 128, registers


@pytest.mark.skipif(PTXAS is None, reason="needs ptxas: pip install nvidia-cuda-nvcc, or the CUDA toolkit")
@pytest.mark.parametrize("architecture", ["sm_75", "sm_90"])
@pytest.mark.parametrize(("name", "most"), [("texture_unit", 160), ("texture_exact", 128)])
def test_ptxas_takes_samples_that_are_computed(architecture: str, name: str, most: int, tmp_path: Path) -> None:
    """They are always launched with a constant format and mode: here of planes, volumes, and levels of cubemaps."""
    for mode in (
        1 | 1 << 4 | 0o232 << 6 | 2 << 15,
        0b11011 | 0o333 << 6 | 3 << 15,
        0b11111 | 0o333 << 6 | 2 << 15 | 3 << 17,
    ):
        text = kernels.specialised(f"bindless_{name}", FORMATS["f"], "ptx", mode).rstrip(b"\0").decode("ascii")
        (registers,) = registers_of([text], architecture, tmp_path).values()
        assert registers <= most, (mode, registers)


# The argument `mode` (csrc/kernels/include/mode.h) of a volume at centres of 0.5, and the registers that it may take.
VOLUME = 1 << 20 | 2 << 18
EDGES = 0o222 << 3
MODES = {
    "linear samples": ("resample_3d_f", VOLUME | EDGES | 1, 48),
    "with vectors": ("resample_3d_f", VOLUME | EDGES | 1 << 14 | 1, 64),
    "splines of samples": ("resample_3d_f", VOLUME | EDGES | 2, 48),
    "nearest": ("resample_fetch_3d_f", VOLUME | EDGES, 40),
    "linear": ("resample_fetch_3d_f", VOLUME | EDGES | 1, 64),
    "linear, constant outside": ("resample_fetch_3d_f", VOLUME | 0o111 << 3 | 1, 64),
    "linear, integers": ("resample_fetch_3d_i", VOLUME | EDGES | 1, 64),
    "splines": ("resample_fetch_3d_f", VOLUME | EDGES | 2, 80),
    "splines, mirrored": ("resample_fetch_3d_f", VOLUME | 0o555 << 3 | 2, 144),
    "convolutions without NaN": ("resample_fetch_2d_f", 1 << 20 | 1 << 18 | 1 << 12 | EDGES | 3, 96),
}


@pytest.mark.skipif(PTXAS is None, reason="needs ptxas: pip install nvidia-cuda-nvcc, or the CUDA toolkit")
@pytest.mark.parametrize("case", MODES)
def test_a_constant_mode_leaves_the_registers_of_its_own_filter(case: str, tmp_path: Path) -> None:
    name, mode, most = MODES[case]
    format_ = 0x11050102 if name.endswith("i") else 0x110B0107  # one channel: int16, float32
    text = kernels.specialised(f"bindless_{name}", format_, "ptx", mode).rstrip(b"\0").decode("ascii")
    assert registers_of([text], "sm_90", tmp_path)[f"bindless_{name}"] <= most


def test_spirv_val_takes_every_module(tmp_path: Path) -> None:
    validator, files = spirv_tool("spirv-val"), []
    for name in kernels.modules("spirv"):
        path = tmp_path / f"{name}.spv"
        path.write_bytes(kernels.source(name, "spirv"))
        files.append(path)
    for path in files:
        done = subprocess.run([validator, str(path)], capture_output=True, text=True, check=False, timeout=120)
        if "Invalid capability operand: 6528" in done.stderr:
            pytest.skip("this spirv-val is older than SPV_INTEL_bindless_images; needs SPIRV-Tools 2024 or newer")
        assert done.returncode == 0, f"{path.name}: {done.stderr}"


def test_spirv_declares_the_bindless_extension() -> None:
    for name in kernels.modules("spirv"):
        data = kernels.source(name, "spirv")
        first = next(iter(kernels.manifest()["modules"][name]["kernels"].values()))[:1]
        assert (b"SPV_INTEL_bindless_images" in data) == (first in (["ulong image"], ["global const ulong* images"]))


def test_a_specialised_kernel_has_its_format_inside() -> None:
    general, special = ptx("sample_2d_f"), kernels.specialised("bindless_sample_2d_f", FORMATS["f"])
    assert special.endswith(b"\0") and re.search(rb"mov\.b32\s+%r\d+, 0x140b0407;", special)
    assert b"[bindless_sample_2d_f_param_4]" not in special
    assert "[bindless_sample_2d_f_param_4]" in general
    assert ptx_signatures(special.decode("ascii")) == ptx_signatures(general)
    changed = [line for line in general.splitlines() if line not in special.decode("ascii").splitlines()]
    assert len(changed) == 1, changed


def test_what_has_no_format_is_not_specialised() -> None:
    with pytest.raises(ValueError, match=r"bindless_empty.*no argument 'format': none"):
        kernels.specialised("bindless_empty", 0)
    with pytest.raises(ValueError, match=r"bindless_four_arguments.*no argument 'format': out, a, b, c"):
        kernels.specialised("bindless_four_arguments", 0)
    with pytest.raises(KeyError, match=r"bindless_sample_4d_f"):
        kernels.specialised("bindless_sample_4d_f", 0)


def test_unknown_names_are_explained() -> None:
    with pytest.raises(KeyError, match=r"bindless_sample_4d_f.*kernels\(\)"):
        kernels.module_of("bindless_sample_4d_f")
    with pytest.raises(KeyError, match=r"sample_4d.*modules\(\)"):
        kernels.source("sample_4d", "ptx")
    with pytest.raises(ValueError, match=r"sample_cube_f.*'spirv'.*ptx"):
        kernels.source("sample_cube_f", "spirv")


@pytest.mark.skipif(LLVMTools.on_path() is None, reason="the tools that made them: apt install clang-22 llvm-22")
def test_the_sources_give_the_committed_artifacts(tmp_path: Path) -> None:
    some = [
        "launch",
        "fetch_2d_f",
        "fetch_sampled_1d_u",
        "sample_3d_f",
        "sample_cube_i",
        "sample_lod_2d_array_f",
        "write_1d_array_f",
    ]
    build = [sys.executable, str(REPOSITORY / "csrc" / "kernels" / "build.py"), "-o", str(tmp_path), *some]
    subprocess.run(build, check=True, timeout=120)
    made = sorted(tmp_path.iterdir())
    assert len(made) == 3 * len(some) - 2  # sample_cube_i exists in PTX only
    targets: dict[str, kernels.Target] = {".ptx": "ptx", ".spv": "spirv", ".cl": "opencl_c"}
    for path in made:
        kept = kernels.source(path.stem, targets[path.suffix])
        assert path.read_bytes() == (kept.rstrip(b"\0") if path.suffix == ".ptx" else kept), path.name
