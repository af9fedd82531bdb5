"""Missing, broken, wrong and outdated libraries; the search order; the error messages."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from bindless.drivers.common import library_search

from .conftest import DRIVERS, VARIABLES, Compile, Run

posix_only = pytest.mark.skipif(os.name != "posix", reason="uses the names and files of a POSIX system")

# Loads the driver named below and prints the error's class and message, or the path that was opened.
ATTEMPT = """
    import importlib, sys
    from bindless.model.errors import Error
    driver = importlib.import_module("bindless.drivers.{name}")
    try:
        driver.load({path!r})
    except Error as error:
        print(type(error).__name__, error.backend)
        print(error)
        assert driver.path() is None and driver.attempts()
    else:
        print("loaded", driver.path())
"""


def attempt(name: str, path: str | None = None) -> str:
    return ATTEMPT.format(name=name, path=path)


# The same for a library of a name that no system has: the CUDA driver may be installed.
NAME = "libbindless_searched.so.1"
SEARCH = f"""
    from bindless.drivers import cuda
    from bindless.drivers.common.loader import Driver
    from bindless.model.errors import PlatformError
    driver = Driver("cuda", "library", "BINDLESS_LIBCUDA", ("{NAME}",), ("cuInit",), "Install it.", cuda.lib, cuda.ffi)
    try:
        driver.load()
    except PlatformError as error:
        print(error)
    else:
        print("loaded", driver.path())
"""


def exporting(*symbols: str) -> str:
    return "".join(f"int {symbol}(void);\nint {symbol}(void) {{ return 0; }}\n" for symbol in symbols)


def required(name: str) -> tuple[str, ...]:
    module = __import__(f"bindless.drivers.{name}", fromlist=["_REQUIRED"])
    return tuple(module._REQUIRED)


@pytest.mark.parametrize("name", DRIVERS)
@pytest.mark.parametrize("by_variable", [False, True])
def test_a_missing_path_is_named_with_the_variable(
    name: str, by_variable: bool, run_python: Run, tmp_path: Path
) -> None:
    path = str(tmp_path / "nowhere.so")
    variables = {VARIABLES[name]: path} if by_variable else {}
    output = run_python(attempt(name, None if by_variable else path), **variables)
    assert output.startswith(f"PlatformError {name}\n")
    assert f"{path}: no such file" in output
    assert f"Set {VARIABLES[name]} to the absolute path" in output


@pytest.mark.parametrize("name", DRIVERS)
def test_a_text_file_is_refused_with_the_systems_reason(name: str, run_python: Run, tmp_path: Path) -> None:
    path = tmp_path / "text.so"
    path.write_text("this is not a library\n")
    output = run_python(attempt(name), **{VARIABLES[name]: str(path)})
    assert output.startswith(f"PlatformError {name}\n")
    line = next(line for line in output.splitlines() if line.strip().startswith(f"{path}: "))
    assert len(line.strip()) > len(f"{path}: ") + 5


@pytest.mark.parametrize("name", DRIVERS)
def test_a_truncated_library_is_refused(name: str, run_python: Run, compile_library: Compile) -> None:
    library = compile_library(exporting(*required(name)))
    library.write_bytes(library.read_bytes()[:100])
    output = run_python(attempt(name), **{VARIABLES[name]: str(library)})
    assert output.startswith(f"PlatformError {name}\n") and str(library) in output


@pytest.mark.parametrize("name", DRIVERS)
def test_a_folder_is_refused(name: str, run_python: Run, tmp_path: Path) -> None:
    assert f"{tmp_path}: a folder, not a library" in run_python(attempt(name, str(tmp_path)))


@pytest.mark.parametrize("name", DRIVERS)
def test_another_library_is_refused(name: str, run_python: Run, compile_library: Compile) -> None:
    library = compile_library(exporting("somethingElse"), "libother.so")
    output = run_python(attempt(name, str(library)))
    assert f"{library}: not the " in output
    assert f"it exports none of its functions (looked for {required(name)[0]}" in output


@pytest.mark.parametrize("name", DRIVERS)
def test_a_library_with_three_functions_is_too_old(name: str, run_python: Run, compile_library: Compile) -> None:
    library = compile_library(exporting(*required(name)[:3]), "libold.so")
    output = run_python(attempt(name, str(library)))
    assert f"{library}: too old for this package, or incomplete: it lacks {required(name)[3]}" in output


@pytest.mark.parametrize("name", DRIVERS)
def test_a_library_with_the_required_functions_is_opened(name: str, run_python: Run, compile_library: Compile) -> None:
    library = compile_library(exporting(*required(name)), "libenough.so")
    assert run_python(attempt(name), **{VARIABLES[name]: str(library)}) == f"loaded {library}\n"


def test_a_path_with_spaces_and_accents(run_python: Run, compile_library: Compile, tmp_path: Path) -> None:
    library = compile_library(exporting(*required("cuda")))
    moved = tmp_path / "dépôt of drivers" / "libcuda.so.1"
    moved.parent.mkdir()
    library.rename(moved)
    output = run_python(attempt("cuda"), BINDLESS_LIBCUDA=str(moved), PYTHONIOENCODING="utf-8", PYTHONUTF8="1")
    assert output == f"loaded {moved}\n"


@posix_only
@pytest.mark.parametrize("by_variable", [False, True])
def test_a_relative_path_is_refused(by_variable: bool, run_python: Run, compile_library: Compile) -> None:
    library = compile_library(exporting(*required("cuda")), "libcuda.so.1")
    for relative in ("libcuda.so.1", "./libcuda.so.1"):
        if by_variable:
            output = run_python(attempt("cuda"), cwd=library.parent, BINDLESS_LIBCUDA=relative)
        else:
            output = run_python(attempt("cuda", relative), cwd=library.parent)
        assert output.startswith("PlatformError cuda\n")
        assert f"{relative}: not an absolute path, and the current directory is never searched" in output


@posix_only
@pytest.mark.skipif(sys.platform != "linux", reason="the search path of Linux")
@pytest.mark.parametrize("search", [":/usr/lib", "/usr/lib:", ".", "/usr/lib::/lib", "sub"])
def test_the_current_directory_is_not_searched_through_the_library_path(
    search: str, run_python: Run, compile_library: Compile, tmp_path: Path
) -> None:
    """The system treats an empty or relative element of LD_LIBRARY_PATH as relative to the current directory."""
    library = compile_library(exporting("cuInit"), NAME)
    folder = tmp_path / "sub" if search == "sub" else tmp_path / "here"
    folder.mkdir()
    library.rename(folder / NAME)
    output = run_python(SEARCH, cwd=tmp_path if search == "sub" else folder, LD_LIBRARY_PATH=search)
    assert not output.startswith("loaded")
    assert f"{NAME}: LD_LIBRARY_PATH has the relative element" in output


DECOY = '__attribute__((constructor)) static void say(void) { puts("decoy"); }'


@posix_only
@pytest.mark.skipif(sys.platform != "linux", reason="the search path of Linux")
@pytest.mark.parametrize(
    ("search", "folder"),
    [
        (".", "glibc-hwcaps/x86-64-v2"),
        (".", "glibc-hwcaps/x86-64-v3"),
        ("/usr/nothing:", "glibc-hwcaps/x86-64-v2"),
        ("$LIB", "lib/x86_64-linux-gnu"),
        ("$LIB", "lib64"),
        ("$LIB", "lib"),
        ("$PLATFORM", "x86_64"),
    ],
)
def test_the_loaders_own_search_is_not_used(
    search: str, folder: str, run_python: Run, compile_library: Compile, tmp_path: Path
) -> None:
    """The system's search also visits subfolders of relative elements, and expands tokens in them."""
    library = compile_library("#include <stdio.h>\n" + DECOY + exporting("cuInit"), NAME)
    place = tmp_path / "here" / folder
    place.mkdir(parents=True)
    library.rename(place / NAME)
    output = run_python(SEARCH, cwd=tmp_path / "here", LD_LIBRARY_PATH=search)
    assert "decoy" not in output and not output.startswith("loaded")


@posix_only
@pytest.mark.skipif(sys.platform != "linux", reason="the search path of Linux")
@pytest.mark.parametrize("change", ["pop('LD_LIBRARY_PATH')", "update(LD_LIBRARY_PATH='/usr/lib')"])
def test_what_counts_is_the_environment_at_the_beginning(
    change: str, run_python: Run, compile_library: Compile, tmp_path: Path
) -> None:
    library = compile_library("#include <stdio.h>\n" + DECOY + exporting("cuInit"), NAME)
    program = f"import os; os.environ.{change}\n" + textwrap.dedent(SEARCH)
    output = run_python(program, cwd=library.parent, LD_LIBRARY_PATH=".")
    assert "decoy" not in output and "LD_LIBRARY_PATH has the relative element" in output
    assert f"loaded {library}" in run_python(program, LD_LIBRARY_PATH=str(library.parent))


@posix_only
@pytest.mark.skipif(sys.platform != "linux", reason="the search path of Linux")
def test_a_library_for_another_processor_is_passed_over(
    run_python: Run, compile_library: Compile, tmp_path: Path
) -> None:
    library = compile_library(exporting(*required("cuda")), "libcuda.so.1")
    other = tmp_path / "other" / "libcuda.so.1"
    other.parent.mkdir()
    data = bytearray(library.read_bytes())
    data[18:20] = b"\x08\x00"  # MIPS
    other.write_bytes(data)
    path = f"{other.parent}:{library.parent}"
    assert run_python(attempt("cuda"), LD_LIBRARY_PATH=path) == f"loaded {library}\n"


@pytest.mark.skipif(sys.platform != "linux" or not os.path.exists("/etc/ld.so.cache"), reason="the loader's cache")
def test_the_loaders_cache_is_read() -> None:
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True, timeout=60).stdout
    rows = [line.split() for line in listed.splitlines() if " => " in line and "hwcap" not in line]
    expected = {row[-1] for row in rows if row[0] == "libc.so.6"}
    assert expected and set(library_search._cached("libc.so.6")) == expected
    assert not list(library_search._cached("libnothing.so.1"))


@posix_only
def test_an_absolute_library_path_is_the_users_choice(run_python: Run, compile_library: Compile) -> None:
    if sys.platform != "linux":
        pytest.skip("the search path of Linux")
    library = compile_library(exporting(*required("cuda")), "libcuda.so.1")
    assert run_python(attempt("cuda"), LD_LIBRARY_PATH=str(library.parent)) == f"loaded {library}\n"


def test_a_wrong_variable_is_not_replaced_by_the_systems_library(
    run_python: Run, compile_library: Compile, tmp_path: Path
) -> None:
    library = compile_library(exporting(*required("cuda")), "libcuda.so.1")
    output = run_python(
        attempt("cuda"), BINDLESS_LIBCUDA=str(tmp_path / "gone.so"), LD_LIBRARY_PATH=str(library.parent)
    )
    assert not output.startswith("loaded") and "gone.so: no such file" in output and "libcuda.so.1" not in output


def test_an_empty_variable_is_as_unset(run_python: Run, compile_library: Compile) -> None:
    library = compile_library(exporting(*required("cuda")), "libcuda.so.1")
    output = run_python(attempt("cuda"), BINDLESS_LIBCUDA="", LD_LIBRARY_PATH=str(library.parent))
    assert output.startswith("loaded ")


def test_a_zero_byte_in_a_path_is_refused(run_python: Run) -> None:
    assert "the path contains a zero byte" in run_python(attempt("cuda", "/lib/\0cuda.so"))


def test_every_path_tried_is_listed(run_python: Run) -> None:
    """Without a variable the system's names are tried in order."""
    output = run_python(
        """
        from bindless.drivers import cuda
        from bindless.model.errors import PlatformError
        from bindless.drivers.common.loader import Driver
        driver = Driver("cuda", "CUDA driver library", "BINDLESS_LIBCUDA", ("libnone1.so", "/opt/none/libnone2.so"),
                        ("cuInit",), "Install the driver.", cuda.lib, cuda.ffi)
        try:
            driver.load()
        except PlatformError as error:
            print(error)
        print([(item.path, bool(item.reason)) for item in driver.attempts()])
        """
    )
    assert "\n  libnone1.so: " in output and "\n  /opt/none/libnone2.so: " in output
    assert "Install the driver. Or set BINDLESS_LIBCUDA to the absolute path of the library." in output
    assert "[('libnone1.so', True), ('/opt/none/libnone2.so', True)]" in output


def test_a_second_load_of_the_same_library_does_nothing_and_of_another_is_an_error(
    run_python: Run, compile_library: Compile, tmp_path: Path
) -> None:
    first = compile_library(exporting(*required("cuda")), "libfirst.so")
    second = compile_library(exporting(*required("cuda")), "libsecond.so")
    (tmp_path / "link.so").symlink_to(first)
    output = run_python(
        f"""
        from bindless.drivers import cuda
        from bindless.model.errors import InvalidError
        cuda.load({str(first)!r})
        cuda.load()
        cuda.load({str(first)!r})
        cuda.load({str(tmp_path / "link.so")!r})
        try:
            cuda.load({str(second)!r})
        except InvalidError as error:
            print(error)
        print(cuda.path())
        """
    )
    assert str(second) in output and "already open" in output and "BINDLESS_LIBCUDA" in output
    assert output.splitlines()[-1] == str(first)


def test_a_failed_load_can_be_tried_again(run_python: Run, compile_library: Compile, tmp_path: Path) -> None:
    old = compile_library(exporting(*required("cuda")[:3]), "libold.so")
    good = compile_library(exporting(*required("cuda")), "libgood.so")
    output = run_python(
        f"""
        from bindless.drivers import cuda
        from bindless.model.errors import PlatformError
        try:
            cuda.load({str(old)!r})
        except PlatformError:
            print("refused", cuda.path(), cuda.has("cuInit"), len(cuda.attempts()))
        cuda.load({str(good)!r})
        print(cuda.path(), cuda.has("cuInit"), cuda.lib.cuInit(0), len(cuda.attempts()))
        """
    )
    assert output == f"refused None False 1\n{good} True 0 0\n"


def test_threads_may_load_at_once(run_python: Run, compile_library: Compile) -> None:
    library = compile_library(exporting(*required("cuda")))
    output = run_python(
        f"""
        import threading
        from bindless.drivers import cuda
        barrier = threading.Barrier(8)
        results = []
        def work():
            barrier.wait()
            cuda.load({str(library)!r})
            results.append(cuda.lib.cuInit(0))
        threads = [threading.Thread(target=work) for _ in range(8)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]
        print(results)
        """
    )
    assert output == f"{[0] * 8}\n"


MISSING = {
    "cuda": ("cuMemAlloc(ffi.NULL, 1)", "cuMemAlloc", 801, "CUDA_ERROR_NOT_SUPPORTED"),
    "level_zero": (
        "zeMemGetPitchFor2dImage(ffi.NULL, ffi.NULL, 1, 1, 1, ffi.NULL)",
        "zeMemGetPitchFor2dImage",
        0x78000003,
        "ZE_RESULT_ERROR_UNSUPPORTED_FEATURE",
    ),
    "opencl": ("clFinish(ffi.NULL)", "clFinish", -59, "CL_INVALID_OPERATION"),
    "reference": ("blrGetObjectCount(ffi.NULL)", "blrGetObjectCount", 7, "BLR_RESULT_UNSUPPORTED"),
}


@pytest.mark.parametrize("name", ["level_zero", "opencl", "reference"])
def test_a_call_that_the_library_lacks_is_an_error_that_names_it(
    name: str, run_python: Run, compile_library: Compile
) -> None:
    library = compile_library(exporting(*required(name)))
    call, function, code, code_name = MISSING[name]
    output = run_python(
        f"""
        from bindless.drivers.{name} import *
        from bindless.drivers import {name} as driver
        from bindless.model.errors import FeatureNotSupportedError
        driver.load({str(library)!r})
        print(driver.has({function!r}), {function!r} in driver.missing_functions())
        result = driver.lib.{call}
        print(result)
        try:
            driver.check(result, "{function}")
        except FeatureNotSupportedError as error:
            print(error.native_code, error.native_name, error.backend)
            print(error)
        """
    )
    assert output.startswith(f"False True\n{code}\n{code} {code_name} {name}\n{code_name}: {function} is missing from")
    assert str(library) in output and ", version " in output


def test_a_versioned_cuda_function_that_is_missing_is_named_with_its_symbol_and_version(
    run_python: Run, compile_library: Compile
) -> None:
    version = "int cuDriverGetVersion(int *v);\nint cuDriverGetVersion(int *v) { *v = 11040; return 0; }\n"
    others = [symbol for symbol in required("cuda") if symbol != "cuDriverGetVersion"]
    library = compile_library(exporting(*others) + version)
    output = run_python(
        f"""
        from bindless.drivers import cuda
        cuda.load({str(library)!r})
        print(cuda.version())
        try:
            cuda.check(cuda.lib.cuCtxCreate(cuda.ffi.NULL, cuda.ffi.NULL, 0, 0), "cuCtxCreate(device 0)")
        except NotImplementedError as error:
            print(error)
        """
    )
    assert output.startswith("(11, 4)\n")
    assert "cuCtxCreate (exported as cuCtxCreate_v4) is missing from" in output
    assert f"{library}, version 11.4; a newer CUDA driver library is needed" in output


@pytest.mark.parametrize(
    ("name", "call", "code"),
    [("cuda", "cuInit(0)", 3), ("level_zero", "zeInit(0)", 0x78000001), ("reference", "blrQueueQuery(ffi.NULL)", 12)],
)
def test_a_call_before_load_says_so(name: str, call: str, code: int, run_python: Run) -> None:
    output = run_python(
        f"""
        from bindless.drivers import {name} as driver
        from bindless.model.errors import PlatformError
        ffi = driver.ffi
        result = driver.lib.{call}
        try:
            driver.check(result, {call!r})
        except PlatformError as error:
            print(result, error)
        """
    )
    assert output.startswith(f"{code} ") and "was called before the" in output and "call load() first" in output


def test_importing_the_drivers_imports_no_compiled_module_and_opens_nothing(run_python: Run) -> None:
    output = run_python(
        """
        import sys
        import bindless.drivers
        print([name for name in sys.modules if "cffi" in name or name.startswith("bindless.drivers.")])
        from bindless.drivers import cuda
        loaded = [f"bindless.drivers.cuda.{name}" in sys.modules for name in ("_bindings", "_enums")]
        print(*loaded, cuda.path())
        print(cuda.CUresult.CUDA_SUCCESS == 0, sorted(dir(bindless.drivers)))
        """
    )
    names = ["cuda", "level_zero", "opencl", "reference"]
    assert output == f"[]\nTrue False None\nTrue {names}\n"


@pytest.mark.parametrize("name", DRIVERS)
def test_an_unknown_name_is_an_attribute_error(name: str) -> None:
    module = __import__(f"bindless.drivers.{name}", fromlist=["lib"])
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        _ = module.no_such_name
    package = __import__("bindless.drivers", fromlist=["cuda"])
    with pytest.raises(AttributeError, match="has no attribute 'vulkan'"):
        _ = package.vulkan
