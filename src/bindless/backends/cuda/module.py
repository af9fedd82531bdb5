"""Modules: PTX, which the driver compiles, and cubins and fat binaries, which it loads as they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from ...compiler.ptx.handle_rounds import with_rounds
from ...core.lock import Lock
from ...drivers import cuda as driver
from ...drivers.common.cffi_types import CData
from ...model.errors import BuildError, FeatureNotSupportedError, InvalidError
from ...model.module.description import KernelSignature, ModuleDescription
from ...model.module.disk_cache import ModuleCache, cache
from ...model.module.ptx import entries, is_ptx
from ...model.module.spirv import is_spirv
from ..common.kernel import unknown_kernel
from ..common.module import pack, unpack
from .context import Context
from .device import Device, PrimaryContext, driver_release
from .errors import SUCCESS, check, error, release
from .fork_guard import in_fork

__all__ = [
    "Build",
    "Module",
    "add_input",
    "describe_module",
    "for_driver",
    "linker",
    "load_derived",
    "load_module",
    "require_source",
]

lib, ffi = driver.lib, driver.ffi

_LOG_SIZE = 64 * 1024


class Module:
    """A loaded module.

    Attributes
    ----------
    primary
        primary context of the module.
    native
        CUmodule, or None after its release.
    entries
        kernel signatures of the PTX; empty for a binary.
    log
        log of the driver's compiler.
    source, options
        its PTX as it was given, and the options of its build; empty for other modules.
    """

    def __init__(
        self,
        primary: PrimaryContext,
        native: CData,
        described: dict[str, KernelSignature],
        log: str = "",
        owned: bool = True,
    ) -> None:
        self.primary = primary
        self.native = native
        self.entries = described
        self.log = log
        self.source, self.options = b"", ""
        self._derived: list[Module] = []
        self._owned = owned
        self._lock = Lock()

    @contextmanager
    def loaded(self) -> Iterator[None]:
        """Keep the module loaded, and its context current, during the block; ``close`` in another thread waits.

        Raises
        ------
        InvalidError
            the module was released.
        """
        with self._lock:
            if self.native is None:
                raise InvalidError("this module was released; load it again", backend="cuda")
            with self.primary:
                yield

    def names(self) -> tuple[str, ...]:
        """Names of the kernels.

        Raises
        ------
        FeatureNotSupportedError
            the module is a binary and the driver is older than CUDA 12.4.
        """
        if self.entries:
            return tuple(sorted(self.entries))
        if not driver.has("cuModuleEnumerateFunctions"):
            raise FeatureNotSupportedError(
                "the kernels of a binary module can be listed by drivers of CUDA 12.4 and newer; this one serves "
                "CUDA {}.{}: name the kernel, or load PTX".format(*driver.version()),
                backend="cuda",
            )
        with self.loaded():
            count = ffi.new("unsigned int *")
            check(lib.cuModuleGetFunctionCount(count, self.native), "cuModuleGetFunctionCount")
            functions = ffi.new("CUfunction[]", max(count[0], 1))
            check(lib.cuModuleEnumerateFunctions(functions, count[0], self.native), "cuModuleEnumerateFunctions")
            return tuple(sorted(self.name_of(functions[index]) for index in range(count[0])))

    @staticmethod
    def name_of(function: CData) -> str:
        """The name of a CUfunction; a context is current."""
        text = ffi.new("char const **")
        check(lib.cuFuncGetName(text, function), "cuFuncGetName")
        return ffi.string(text[0]).decode("utf-8", "replace")

    def function(self, name: str) -> CData:
        """CUfunction of a kernel; call it inside ``loaded``."""
        slot = ffi.new("CUfunction *")
        result = lib.cuModuleGetFunction(slot, self.native, ffi.new("char[]", name.encode()))
        if result == lib.CUDA_ERROR_NOT_FOUND:
            try:
                names = self.names()
            except FeatureNotSupportedError:
                names = ("of unknown names (the driver does not list them)",)
            raise unknown_kernel(names, name, "cuda")
        check(result, "cuModuleGetFunction", f"kernel {name!r}")
        return slot[0]

    def close(self) -> None:
        """Unload the module; its kernels cannot be launched any more."""
        with self._lock:
            native, self.native = self.native, None
            derived, self._derived = self._derived, []
        for module in derived:
            module.close()
        if native is not None and self._owned and not in_fork():
            with self.primary:
                release(lib.cuModuleUnload(native), "cuModuleUnload")


_Option = tuple[int, Callable[[str], int]]

# Options of a build in nvcc's and ptxas's spelling: what they are to the driver's compiler.
_OPTIONS: dict[str, _Option] = {
    r"-O([0-4])": (lib.CU_JIT_OPTIMIZATION_LEVEL, int),
    r"--?maxrregcount[= ](\d+)": (lib.CU_JIT_MAX_REGISTERS, int),
    r"-(?:g|G)()": (lib.CU_JIT_GENERATE_DEBUG_INFO, lambda text: 1),
    r"--?(?:generate-)?line-?info()": (lib.CU_JIT_GENERATE_LINE_INFO, lambda text: 1),
}


def _jit_options(options: str) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    words = re.sub(r"(--?maxrregcount)\s+", r"\1=", options).split()
    for word in words:
        for pattern, (option, convert) in _OPTIONS.items():
            match = re.fullmatch(pattern, word)
            if match:
                pairs.append((option, convert(match[1])))
                break
        else:
            raise InvalidError(
                f"options={options!r}: {word!r} is unknown; PTX is built with -O0 to -O4, -maxrregcount=N, "
                "-g and -lineinfo",
                backend="cuda",
            )
    return pairs


def require_source(source: bytes, specialization: Mapping[int, bytes] | None) -> None:
    """Refuse sources that the driver's compiler cannot take.

    Raises
    ------
    BuildError
        the source is SPIR-V.
    FeatureNotSupportedError
        specialization constants were given; PTX has none.
    InvalidError
        the source is empty.
    """
    if specialization:
        raise FeatureNotSupportedError(
            f"specialization={dict(specialization)!r}: PTX has no specialization constants; pass the values as "
            "arguments, or use a backend that takes SPIR-V",
            backend="cuda",
        )
    if not source.strip(b"\0 \n\r\t"):
        raise InvalidError("the source is empty; it is the PTX, cubin or fat binary of a module", backend="cuda")
    if is_spirv(source):
        raise BuildError("the source is SPIR-V; the CUDA backend takes PTX, cubins and fat binaries", backend="cuda")


def describe_module(source: bytes) -> ModuleDescription:
    """The kernels of a source; those of a binary are known only after loading."""
    require_source(source, None)
    kernels = entries(source)
    return ModuleDescription(tuple(sorted(kernels)) if kernels else None, kernels=kernels)


class Build:
    """Options and logs of one run of the driver's compiler or linker.

    Parameters
    ----------
    options
        in nvcc's spelling.

    Attributes
    ----------
    names, values
        arrays of ``count`` options in the driver's form.

    Raises
    ------
    InvalidError
        an option is unknown.
    """

    def __init__(self, options: str) -> None:
        self._logs = ffi.new("char[]", _LOG_SIZE), ffi.new("char[]", _LOG_SIZE)
        settings: list[tuple[int, CData | int]] = [
            (lib.CU_JIT_INFO_LOG_BUFFER, self._logs[0]),
            (lib.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, _LOG_SIZE),
            (lib.CU_JIT_ERROR_LOG_BUFFER, self._logs[1]),
            (lib.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, _LOG_SIZE),
            *_jit_options(options),
        ]
        self.count = len(settings)
        self.names = ffi.new("CUjit_option[]", [option for option, _ in settings])
        self.values = ffi.new("void *[]", [ffi.cast("void *", value) for _, value in settings])

    @property
    def log(self) -> str:
        """The log: errors first."""
        return "\n".join(filter(None, (_text(log) for log in reversed(self._logs))))

    def error(self, result: int, call: str, device: Device) -> Exception:
        """A BuildError with the log, or the exception of a failure that the module did not cause."""
        failure = error(result, call)
        if result in (lib.CUDA_ERROR_OUT_OF_MEMORY, lib.CUDA_ERROR_DEINITIALIZED):
            return failure
        capability = "sm_{}{}".format(*device.capability)
        log = self.log
        details = f" for {device.name} ({capability})" + (f":\n{log}" if log else "")
        return BuildError(
            f"{failure}{details}", log=log, backend="cuda", native_code=result, native_name=failure.native_name
        )


def load_module(
    context: Context,
    device: Device,
    source: bytes,
    specialization: Mapping[int, bytes] | None = None,
    options: str = "",
) -> Module:
    """Load PTX, a cubin or a fat binary on a device.

    Raises
    ------
    BuildError
        it does not compile, or has no code for this device; ``log`` has the compiler's messages.
    FeatureNotSupportedError
        specialization constants were given; PTX has none.
    InvalidError
        an option is unknown, or the source is not a module.
    """
    require_source(source, specialization)
    return _load(context.primary(device), source, options)


def load_derived(module: Module, source: bytes) -> Module:
    """Load PTX made of a module's, with its options; it is released with the module. Call it inside ``loaded``."""
    derived = _load(module.primary, source, module.options)
    module._derived.append(derived)
    return derived


def _load(primary: PrimaryContext, source: bytes, options: str) -> Module:
    build = Build(options)
    module = _load_for_driver(primary, for_driver(source, primary.device), options, build)
    if is_ptx(source):
        module.source, module.options = source, options
    return module


def _load_for_driver(primary: PrimaryContext, source: bytes, options: str, build: Build) -> Module:
    store = cache() if is_ptx(source) else None
    if store is not None:
        return _load_kept(store, primary, source, options, build)
    slot = ffi.new("CUmodule *")
    # PTX ends with a zero byte; extra zero bytes do no harm after a binary.
    image = ffi.from_buffer(source + b"\0")
    with primary:
        result = lib.cuModuleLoadDataEx(slot, image, build.count, build.names, build.values)
    if result != SUCCESS:
        raise build.error(result, "cuModuleLoadDataEx", primary.device)
    return Module(primary, slot[0], entries(source), build.log)


def _load_kept(store: ModuleCache, primary: PrimaryContext, source: bytes, options: str, build: Build) -> Module:
    """Load PTX from the binary in the cache, or compile it and store the binary there."""
    device = primary.device
    key = (
        "cuda {}.{} {} {}.{} {}".format(*driver.version(), driver_release(), *device.capability, options).encode(),
        source,
    )
    slot = ffi.new("CUmodule *")
    entry = store.get(*key)
    if entry is not None:
        packed_log, cubin = unpack(entry)
        with primary:
            result = lib.cuModuleLoadData(slot, ffi.from_buffer(cubin + b"\0"))
        if result == SUCCESS:
            return Module(primary, slot[0], entries(source), packed_log.decode())
    with primary, linker(build) as state:
        add_input(state, build, source, int(lib.CU_JIT_INPUT_PTX), device)
        linked, length = ffi.new("void **"), ffi.new("size_t *")
        result = lib.cuLinkComplete(state, linked, length)
        if result != SUCCESS:
            raise build.error(result, "cuLinkComplete", device)
        log = build.log
        store.put(pack(log.encode(), bytes(ffi.buffer(linked[0], length[0]))), *key)
        result = lib.cuModuleLoadData(slot, linked[0])
    if result != SUCCESS:
        raise build.error(result, "cuModuleLoadData", device)
    return Module(primary, slot[0], entries(source), log)


def for_driver(source: bytes, device: Device) -> bytes:
    """Return a module, or PTX in whose stead the driver's compiler makes right code of it.

    The compiler of drivers of CUDA 12 loses samples of images that differ between the lanes of a GPU from sm_90 on.
    """
    if not is_ptx(source) or driver.version() >= (13, 0) or device.capability < (9, 0):
        return source
    return with_rounds(source.decode("latin-1")).encode("latin-1")


@contextmanager
def linker(build: Build) -> Iterator[CData]:
    """CUlinkState; the context is current."""
    slot = ffi.new("CUlinkState *")
    check(lib.cuLinkCreate(build.count, build.names, build.values, slot), "cuLinkCreate")
    try:
        yield slot[0]
    finally:
        lib.cuLinkDestroy(slot[0])


def add_input(state: CData, build: Build, source: bytes, kind: int, device: Device) -> None:
    """Compile one input of a link, of the given CUjitInputType; messages name it by its index."""
    image = ffi.from_buffer(source + b"\0")
    result = lib.cuLinkAddData(state, kind, image, len(image), ffi.NULL, 0, ffi.NULL, ffi.NULL)
    if result != SUCCESS:
        raise build.error(result, "cuLinkAddData", device)


def _text(log: CData) -> str:
    return ffi.string(log).decode("utf-8", "replace").strip()
