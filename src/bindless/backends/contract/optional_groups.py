"""``OptionalGroups``: the groups of methods that only some back ends have, each an attribute that may be None."""

from __future__ import annotations

from types import ModuleType
from typing import Any, Protocol, TypeVar

from ...model.errors import FeatureNotSupportedError
from .area_means import AreaMeansProtocol
from .byte_copies import ByteCopiesProtocol
from .colour_tables import ColourTablesProtocol
from .external import ExternalMemoryProtocol, ExternalSemaphoreProtocol
from .host_call import HostCallProtocol
from .host_memory import HostMemoryProtocol
from .linking import LinkingProtocol
from .low_level import (
    CachePreferenceProtocol,
    CooperativeProtocol,
    EventPoolProtocol,
    FenceProtocol,
    FormatViewProtocol,
    GraphProtocol,
    IndirectProtocol,
    IpcProtocol,
    ModuleLinkProtocol,
    OffsetProtocol,
    PeerProtocol,
    QueueGroupProtocol,
    RangesBarrierProtocol,
    ReachProtocol,
    ResidencyProtocol,
    SurfaceLimitsProtocol,
    UnsampledMemoryProtocol,
    VirtualMemoryProtocol,
)
from .native_handles import InteropProtocol, ModuleInteropProtocol
from .partitioning import PartitioningProtocol
from .queue_ends import QueueEndsProtocol
from .reference_counted import CountedProtocol
from .resampling import ResamplingProtocol
from .sampler_settings import SamplerSettingsProtocol
from .spline_filters import SplineFiltersProtocol

__all__ = ["OptionalGroups", "OwnMethods", "functions_of", "require_group"]

_Group = TypeVar("_Group")


class OwnMethods:
    """Descriptor of a group whose methods the back end itself has.

    The group's protocol has opaque types of native objects, the back end's methods have its own classes. The type of
    the descriptor is therefore ``Any``, and a test of the contract compares the methods with the protocol.
    """

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return instance


def functions_of(module: ModuleType) -> Any:
    """A group whose methods are the functions of a module; opaque as ``OwnMethods``, compared by the same test."""
    return module


class OptionalGroups(Protocol):
    """Groups of methods beyond ``BackendProtocol``; each is None where the back end lacks it.

    A back end has all methods of a group or none. It inherits this class, and overrides the groups that it has.
    """

    @property
    def partitioning(self) -> PartitioningProtocol | None:
        """Division of devices. Devices of a back end without it cannot be divided."""
        return None

    @property
    def host_memory(self) -> HostMemoryProtocol | None:
        """Registration of pageable host memory. Without it, kernels reach all host memory or none."""
        return None

    @property
    def host_calls(self) -> HostCallProtocol | None:
        """Image calls over arrays in host memory that the device cannot reach."""
        return None

    @property
    def sampler_settings(self) -> SamplerSettingsProtocol | None:
        """Settings of the program that samplers depend on."""
        return None

    @property
    def area_means(self) -> AreaMeansProtocol | None:
        """Means of areas. Built-in kernels and the host compute them elsewhere."""
        return None

    @property
    def byte_copies(self) -> ByteCopiesProtocol | None:
        """Copies of bytes that come again. Python submits each elsewhere."""
        return None

    @property
    def resampling(self) -> ResamplingProtocol | None:
        """Pictures at computed coordinates. Built-in kernels compute them elsewhere."""
        return None

    @property
    def spline_filters(self) -> SplineFiltersProtocol | None:
        """Coefficients of B-splines. Built-in kernels compute them elsewhere."""
        return None

    @property
    def colour_tables(self) -> ColourTablesProtocol | None:
        """Colours mapped by tables. Built-in kernels map them elsewhere."""
        return None

    @property
    def unordered_batches(self) -> QueueEndsProtocol | None:
        """Events after everything submitted to an out-of-order queue."""
        return None

    @property
    def linking(self) -> LinkingProtocol | None:
        """Compilation and linking in two steps; with ``Aspect.online_linker``."""
        return None

    @property
    def module_link(self) -> ModuleLinkProtocol | None:
        """Linking of loaded modules."""
        return None

    @property
    def external_memory(self) -> ExternalMemoryProtocol | None:
        """With ``Aspect.ext_oneapi_external_memory_import``."""
        return None

    @property
    def external_semaphores(self) -> ExternalSemaphoreProtocol | None:
        """With ``Aspect.ext_oneapi_external_semaphore_import``."""
        return None

    @property
    def interop(self) -> InteropProtocol | None:
        """Objects made from native handles."""
        return None

    @property
    def module_interop(self) -> ModuleInteropProtocol | None:
        """Modules made from native handles, one by one."""
        return None

    @property
    def counted(self) -> CountedProtocol | None:
        """Native objects that count references."""
        return None

    @property
    def unsampled_memory(self) -> UnsampledMemoryProtocol | None:
        """Unsampled images over linear memory."""
        return None

    @property
    def surface_limits(self) -> SurfaceLimitsProtocol | None:
        """Size limits of unsampled images that differ from those of sampled images."""
        return None

    @property
    def format_views(self) -> FormatViewProtocol | None:
        """Views of image memory in another format."""
        return None

    @property
    def offset_launch(self) -> OffsetProtocol | None:
        """Launches with a global offset."""
        return None

    @property
    def cooperative_launch(self) -> CooperativeProtocol | None:
        """Launches whose work-groups run concurrently."""
        return None

    @property
    def indirect_launch(self) -> IndirectProtocol | None:
        """Launches whose size the device reads from memory."""
        return None

    @property
    def cache_preference(self) -> CachePreferenceProtocol | None:
        """Preference between cache and local memory."""
        return None

    @property
    def queue_group(self) -> QueueGroupProtocol | None:
        """Groups of engines."""
        return None

    @property
    def graph(self) -> GraphProtocol | None:
        """Commands recorded once and submitted as one."""
        return None

    @property
    def fences(self) -> FenceProtocol | None:
        """Fences of command queues."""
        return None

    @property
    def range_barrier(self) -> RangesBarrierProtocol | None:
        """Barriers for ranges of memory."""
        return None

    @property
    def event_pools(self) -> EventPoolProtocol | None:
        """Events that the host signals, also between processes."""
        return None

    @property
    def ipc(self) -> IpcProtocol | None:
        """Device memory shared between processes."""
        return None

    @property
    def virtual_memory(self) -> VirtualMemoryProtocol | None:
        """Reservation of addresses and mapping of physical memory."""
        return None

    @property
    def residency(self) -> ResidencyProtocol | None:
        """Residency of memory and images on a device."""
        return None

    @property
    def peer_access(self) -> PeerProtocol | None:
        """Queries of access between devices."""
        return None

    @property
    def reach(self) -> ReachProtocol | None:
        """Access between devices of one context. Without it, every device reaches all memory of its context."""
        return None


def require_group(group: _Group | None, what: str, backend: object) -> _Group:
    """A group that a back end has.

    Raises
    ------
    FeatureNotSupportedError
        The group is None.
    """
    if group is None:
        raise FeatureNotSupportedError(
            f"the {backend} backend has no {what}: docs/reference/level_zero_api.md lists the backends that do",
            backend=str(backend),
        )
    return group
