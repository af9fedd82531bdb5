"""``Traits``: properties of a back end that code above it decides by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ...model.dlpack import DLDeviceType

__all__ = ["Language", "ModuleLanguage", "Traits"]

Language = Literal["ptx", "spirv", "opencl_c"]
ModuleLanguage = Literal["cubin", "ptx", "spirv", "opencl_c"]


@dataclass(frozen=True)
class Traits:
    """Properties that hold for every device of a back end. The defaults are the properties of the plainest driver.

    Attributes
    ----------
    events_release_themselves : bool
        Native events end with their last reference; ``release_event`` need not be called.
    copies_pinned_quicker : bool
        A copy from host memory that the driver allocated takes the caller less time than a copy from other memory.
    copies_boxes : bool
        ``copy_image`` between two linear memories is one command of the driver for all rows. Without, each row is one.
    events_cross_contexts : bool
        Commands can wait for events of the back end's other contexts. Without, the host waits.
    memory_crosses_contexts : bool
        ``copy`` takes addresses of all contexts. Without, the host copies in between.
    orders_streams : bool
        ``make_stream_wait`` and ``wait_for_stream`` order native streams that other libraries made.
    has_texture_units : bool
        Samplers filter 8- and 16-bit integers, but not one-dimensional linear memory.
    computes_precisions : bool
        ``image_call`` samples with every precision. Without, built-in kernels compute all but ``hardware``.
    checks_indices : bool
        An index outside of its axis is a fault in kernels that ask for it.
    images_are_arguments : bool
        Kernels take images as arguments alone. Without, images have handles that are numbers, also in memory.
    is_for_processors : bool
        The driver is made for the host's processor. A processor of another driver is never the default device.
    device_memory : DLDeviceType
        Kind of the devices' memory as DLPack numbers it. That of ``cpu`` is the host's.
    function_language : Language | None
        Of the kernels that ``image_call`` runs; None where the driver has functions of its own.
    module_languages : tuple[ModuleLanguage, ...]
        Languages of a kernel file's modules that ``load_module`` takes, best first.
    module_formats : tuple[str, ...]
        Formats of other sources that ``load_module`` takes, by the names that messages use.
    build_target : Language
        Target of ``bindless build`` whose modules all devices run, and language of the built-in kernels.
    driver_binaries : tuple[str, ...]
        Formats that binaries of the driver, which ``load_module`` also takes, may look like.
    """

    events_release_themselves: bool = False
    copies_pinned_quicker: bool = False
    copies_boxes: bool = False
    events_cross_contexts: bool = False
    memory_crosses_contexts: bool = False
    orders_streams: bool = False
    has_texture_units: bool = False
    computes_precisions: bool = False
    checks_indices: bool = False
    images_are_arguments: bool = False
    is_for_processors: bool = False
    device_memory: DLDeviceType = DLDeviceType.one_api
    function_language: Language | None = None
    module_languages: tuple[ModuleLanguage, ...] = ("spirv",)
    module_formats: tuple[str, ...] = ("SPIR-V",)
    build_target: Language = "spirv"
    driver_binaries: tuple[str, ...] = ()
