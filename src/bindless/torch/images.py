"""``sample`` of an ``Image``: values from its texture unit, and gradients of coordinates and levels of detail.

Pixels are read from the image alone. Between the centres of neighbouring pixels a linear filter is linear along each
axis: its derivative is the difference of the values at the two centres, which are samples of the image too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..image import Image
from ..model.errors import ArgumentError, FeatureNotSupportedError
from ..model.names import named
from .operators import LIBRARY
from .plain import is_plain, plain_apply

__all__ = ["axes_of", "sample_image"]

Tensor = Any


def sample_image(image: Image, coords: Tensor, level: Tensor | float | None) -> Tensor:
    """Values of an image, differentiable in coordinates and level of detail as often as the filter is.

    Parameters
    ----------
    image : Image
        The image, whose options hold.
    coords : Tensor
        (..., d), of any layout.
    level : Tensor | float | None
        Broadcasts to (...).
    """
    if not coords.is_floating_point():
        raise ArgumentError(f"coords have dtype {coords.dtype}: convert them to real numbers")
    depths = None
    if level is not None:
        number = level if isinstance(level, torch.Tensor) else torch.full((), level, device=coords.device)
        depths = number.to(coords).expand(coords.shape[:-1])
    if torch.compiler.is_compiling():
        return torch.ops.bindless.image_sample.default(coords, depths, image._name)
    tensors = (coords,) if depths is None else (coords, depths)
    derive = torch.is_grad_enabled() and any(part.requires_grad for part in tensors)
    if derive:
        _need_derivatives(image)
    if not is_plain(tensors):
        return _ImageSample.apply(coords, depths, image)
    return plain_apply(_PlainImageSample)(coords, depths, image) if derive else _values(coords, depths, image)


def _need_derivatives(image: Image) -> None:
    if str(image.filtering) not in ("linear", "nearest"):
        raise FeatureNotSupportedError(
            f"filtering={str(image.filtering)!r}: gradients of an Image are those of linear filters; sample the tensor "
            "of its pixels, or detach the coordinates"
        )
    if _is_cubemap(image):
        raise FeatureNotSupportedError(
            "gradients of directions into a cubemap: sample the tensor of its pixels with cubemap=True, or detach them"
        )


def _is_cubemap(image: Image) -> bool:
    return str(image.descriptor.type) == "cubemap"


def _values(coords: Tensor, level: Tensor | None, image: Image) -> Tensor:
    places = coords.detach().to(torch.float32).contiguous()
    if level is None:
        return image.sample(places)
    return image.sample(places, level=level.detach().to(torch.float32).contiguous())


def _gradients(
    function: Callable[..., Tensor], image: Image, coords: Tensor, level: Tensor | None, grad: Tensor, needs: Any
) -> tuple[Tensor | None, Tensor | None]:
    """Gradients of coordinates and levels of detail that are asked for, by a function of both: the values."""
    _need_derivatives(image)
    if str(image.filtering) == "nearest":
        first, second = (torch.zeros_like(part) if need else None for part, need in zip((coords, level), needs))
        return first, second
    weighted = _Weighted(function, image, coords, grad)
    if level is None:
        return weighted.slopes(None) if needs[0] else None, None
    most = float(image.num_levels - 1)
    within = level.clamp(0.0, most)
    low = within.floor().clamp(max=max(most - 1, 0.0)).detach()
    part, high = within - low, (low + 1).clamp(max=most)
    places = None
    if needs[0]:
        places = (1 - part)[..., None] * weighted.slopes(low) + part[..., None] * weighted.slopes(high)
    depth = None
    if needs[1]:
        moves = (level > 0) & (level < most)
        depth = (weighted.values(coords, high) - weighted.values(coords, low)) * moves
    return places, depth


class _ImageSample(torch.autograd.Function):  # type: ignore[misc]
    forward = staticmethod(_values)

    @staticmethod
    def setup_context(ctx: Any, inputs: Sequence[Any], output: Tensor) -> None:
        coords, level, ctx.image = inputs
        ctx.save_for_backward(coords, level)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        coords, level = ctx.saved_tensors

        def function(coords: Tensor, level: Tensor | None) -> Tensor:
            return _ImageSample.apply(coords, level, ctx.image)

        return *_gradients(function, ctx.image, coords, level, grad, ctx.needs_input_grad), None

    @staticmethod
    def jvp(ctx: Any, *_: Any) -> Any:
        raise FeatureNotSupportedError(
            "forward-mode derivatives of an Image: take grad, vjp or jacrev, or sample the tensor of its pixels"
        )

    @staticmethod
    def vmap(info: Any, dims: Any, coords: Tensor, level: Tensor | None, image: Image) -> tuple[Tensor, int]:
        mapped = [
            part
            if part is None
            else part.movedim(dim, 0)
            if dim is not None
            else part.expand(info.batch_size, *part.shape)
            for part, dim in zip((coords, level), dims)
        ]
        return _ImageSample.apply(*mapped, image), int(_has_layers(image))


class _PlainImageSample(torch.autograd.Function):  # type: ignore[misc]
    """``_ImageSample`` without ``torch.func``: a separate ``setup_context`` costs more than a small call."""

    @staticmethod
    def forward(ctx: Any, coords: Tensor, level: Tensor | None, image: Image) -> Tensor:
        ctx.image = image
        ctx.save_for_backward(coords, level)
        return _values(coords, level, image)

    backward = _ImageSample.backward


def _has_layers(image: Image) -> bool:
    """Whether values have a first axis of layers."""
    return str(image.descriptor.type) == "array"


class _Weighted:
    """Sums over channels, and layers, of values times the gradient of values: one number for each sample."""

    def __init__(self, function: Callable[..., Tensor], image: Image, coords: Tensor, grad: Tensor) -> None:
        self._function, self._image, self._coords, self._grad = function, image, coords, grad
        self._is_normalized = str(image.sampler.coordinate) == "normalized"
        sizes = [[max(1, size >> level) for size in image.size] for level in range(image.num_levels)]
        self._sizes = torch.tensor(sizes, dtype=coords.dtype, device=coords.device)

    def values(self, coords: Tensor, level: Tensor | None) -> Tensor:
        product = (self._function(coords, level) * self._grad).to(coords.dtype)
        if _has_layers(self._image):
            product = product.sum(0)
        return product.sum(-1) if product.dim() == coords.dim() else product  # without an axis of channels

    def slopes(self, level: Tensor | None) -> Tensor:
        """Derivatives along the axes (..., d), in one level for each sample."""
        coords, first = self._coords, self._sizes[0]
        sizes = first if level is None else self._sizes[level.long()]
        scale = sizes if self._is_normalized else sizes / first  # from coordinates to pixels of the level
        differences = []
        for axis in range(coords.shape[-1]):
            factor = scale[..., axis]
            left = torch.floor(coords[..., axis].detach() * factor - 0.5) + 0.5
            places = [left, left + 1]
            if self._image._filter.boundary[axis] == "extent":  # values change between the outermost centres alone
                places = [torch.clamp(place, 0.5 * torch.ones_like(place), sizes[..., axis] - 0.5) for place in places]
            ends = [self._shift(axis, place / factor) for place in places]
            differences.append((self.values(ends[1], level) - self.values(ends[0], level)) * factor)
        slopes = torch.stack(differences, -1)
        # Along its only axis a linear filter has no second derivative, which autograd asks for nonetheless.
        return slopes + 0.0 * coords if len(differences) == 1 and torch.is_grad_enabled() else slopes

    def _shift(self, axis: int, place: Tensor) -> Tensor:
        parts = list(self._coords.unbind(-1))
        parts[axis] = place
        return torch.stack(parts, -1)


# ---------------------------------------------------------------- the operator of torch.compile


def _axes(name: str) -> int:
    return len(named(Image, name).size) + 1


_axes_of_name = torch.compiler.assume_constant_result(_axes)


def axes_of(image: Image) -> int:
    """Axes of an image with that of channels."""
    return int(_axes_of_name(image._name)) if torch.compiler.is_compiling() else len(image.size) + 1


def _operator(coords: Tensor, level: Tensor | None, name: str) -> Tensor:
    return _values(coords, level, named(Image, name))


def _fake(coords: Tensor, level: Tensor | None, name: str) -> Tensor:
    image = named(Image, name)
    layers = (image.num_layers,) if _has_layers(image) else ()
    channels = (image.num_channels,) if len(image.shape) > len(image.size) + len(layers) else ()
    dtype = torch.float16 if str(image.descriptor.value_dtype) == "float16" else torch.float32
    return coords.new_empty((*layers, *coords.shape[:-1], *channels), dtype=dtype)


def _keep(ctx: Any, inputs: Sequence[Any], output: Tensor) -> None:
    coords, level, ctx.name = inputs
    ctx.save_for_backward(coords, level)


def _backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
    coords, level = ctx.saved_tensors

    def function(coords: Tensor, level: Tensor | None) -> Tensor:
        return torch.ops.bindless.image_sample.default(coords, level, ctx.name)

    return *_gradients(function, named(Image, ctx.name), coords, level, grad, ctx.needs_input_grad), None


def _register() -> None:
    unsafe = getattr(torch.Tag, "cudagraph_unsafe", None)
    schema = "image_sample(Tensor coords, Tensor? level, str image) -> Tensor"
    LIBRARY.define(schema, tags=() if unsafe is None else (unsafe,))
    for device in ("CPU", "CUDA"):
        LIBRARY.impl("image_sample", _operator, device)
    torch.library.register_fake("bindless::image_sample", _fake, lib=LIBRARY)
    torch.library.register_autograd("bindless::image_sample", _backward, setup_context=_keep, lib=LIBRARY)


_register()
