"""Modules that use each other's functions, linked after they are loaded (L0, "Dynamically Linked Modules")."""

from __future__ import annotations

import weakref

from ..backends.contract import require_group
from ..core.ownership import Resource
from ..model.enums import BundleState
from ..model.errors import InvalidError
from ..sycl.kernel.bundle import KernelBundle

__all__ = ["dynamic_link"]

# The modules that each bundle may use, which end after it.
_linked: weakref.WeakKeyDictionary[KernelBundle, tuple[Resource, ...]] = weakref.WeakKeyDictionary()


def dynamic_link(*bundles: KernelBundle) -> str:
    """Gives functions and variables that some modules import what others of them export.

    Kernels of the bundles are got (``get_kernel``) after the link. Each module is kept as long as the others; none is
    to be closed before. Intel's driver needs an option when it loads a module that other modules use:
    ``load_kernel_bundle(..., options="-library-compilation")``.

    Parameters
    ----------
    bundles : KernelBundle
        Executable, of one context and the same devices, at least two.

    Returns
    -------
    str
        What the linker says, often nothing.

    Raises
    ------
    InvalidError
        Fewer than two, not bundles, closed, of several contexts or devices.
    BuildError
        Something that is imported is nowhere; ``log`` holds the linker's words.
    FeatureNotSupportedError
        The driver does not link loaded modules; ``KernelBundle.link`` joins compiled ones.
    """
    if len(bundles) < 2:
        raise InvalidError(f"dynamic_link takes at least two bundles, {len(bundles)} were given")
    first = bundles[0]
    for bundle in bundles:
        if not isinstance(bundle, KernelBundle):
            raise InvalidError(f"dynamic_link({bundle!r}): it takes KernelBundle objects")
        bundle._require_open()
        if bundle.state is not BundleState.executable:
            raise InvalidError(f"dynamic_link: {bundle!r} is in state {str(bundle.state)!r}; it takes executable ones")
        if bundle.context is not first.context or set(bundle.devices) != set(first.devices):
            raise InvalidError(f"dynamic_link: {bundle!r} is of another context or other devices than {first!r}")
    link = require_group(
        first.context._backend.module_link, "link of loaded modules", first.context.backend
    ).link_loaded
    said = [link([native for bundle in bundles for native in bundle._natives[device]]) for device in first.devices]
    for bundle in bundles:
        _linked[bundle] = tuple(part for other in bundles if other is not bundle for part in other._resources)
    return "\n".join(filter(None, said))
