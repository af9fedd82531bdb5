"""``reproject``: pictures through lenses, with gradients to the image, the camera and the rotation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ..camera.camera import Camera, Model
from ..camera.lens import Lens
from ..model.enums import AddressingMode, Interpolation, Precision
from ..model.errors import ArgumentError
from ..model.message_values import shown
from .sampling import sample
from .tensors import require_tensors

__all__ = ["reproject"]

Tensor = Any

_FAR = -1e6  # coordinate of what the camera does not see
_COEFFICIENTS = 14


def reproject(
    image: Tensor,
    K: Tensor,
    distortion: Tensor | None = None,
    *,
    to: Camera,
    model: str = "opencv",
    rotation: Tensor | None = None,
    shape: Sequence[int] | None = None,
    addressing: str | AddressingMode | Sequence[str | AddressingMode] = "border",
    filtering: str | Interpolation = "linear",
    fill: float = 0.0,
    precision: str | Precision = "exact",
    deterministic: bool | None = None,
) -> Tensor:
    """The picture that another camera at the same place takes, as ``bindless.Image.reproject`` draws it.

    It is differentiable twice in the image, the matrix, the distortion and the rotation of the camera that took the
    image: the error between pictures calibrates a camera.

    Parameters
    ----------
    image : Tensor
        Shape ([N,] H, W, C).
    K : Tensor
        (3, 3), the matrix of the camera that took the image, as ``bindless.Camera`` has it. Positions are computed in
        its type, float32 or float64.
    distortion : Tensor, optional
        (n,), its coefficients, of the dtype and on the device of ``K``.
    to : bindless.Camera
        The new camera, of any model. It has no gradients.
    model : str
        The model of the camera that took the image.
    rotation : Tensor, optional
        (3, 3), from the axes of the new camera to those of the old one, or (N, 3, 3), one for each image. Gradients are
        those of nine free numbers; ``torch.linalg.matrix_exp`` makes rotations of three.
    shape : Sequence[int], optional
        (height, width) of the picture; default the size of the new camera, or else that of the image.
    addressing, filtering, fill, precision, deterministic
        As those of ``sample``. What the camera does not see lies far outside of the image.

    Returns
    -------
    Tensor
        ``([N,] *shape, C)``.

    Raises
    ------
    ArgumentError
        Shapes, dtypes or options that do not fit, or what ``bindless.Camera`` refuses.

    Notes
    -----
    The rays of the last new camera and shape are kept, 24 bytes a pixel in float64. The largest angle that the camera
    sees follows from the coefficients, which are read on the host: a call waits for the device.

    Examples
    --------
    >>> import torch
    >>> from bindless.torch import reproject
    >>> K = torch.tensor([[1.0, 0, 0.5], [0, 1.0, 0.5], [0, 0, 1]], requires_grad=True)
    >>> image = torch.tensor([[0.0, 1.0], [0.0, 1.0]])[..., None]
    >>> picture = reproject(image, K, to=bindless.Camera([[2, 0, 0.5], [0, 2, 0.5], [0, 0, 1]]))
    >>> picture[0, :, 0].tolist()
    [0.25, 0.75]
    >>> picture[0, 0].sum().backward()
    >>> round(K.grad[0, 2].item(), 6)
    1.0
    """
    require_tensors(image=image, K=K, distortion=distortion, rotation=rotation)
    if not isinstance(to, Camera):
        raise ArgumentError(f"to={shown(to)} is no Camera: bindless.Camera(K, distortion, model) is one")
    if image.dim() not in (3, 4):
        raise ArgumentError(f"image {tuple(image.shape)}: it is ([N,] height, width, channels)")
    if K.dtype not in (torch.float32, torch.float64):
        raise ArgumentError(f"K is {K.dtype}: float32 or float64 is needed")
    for name, value in (("distortion", distortion), ("rotation", rotation), ("image", image)):
        if value is not None and (value.device != K.device or (name != "image" and value.dtype != K.dtype)):
            raise ArgumentError(f"{name} is {value.dtype} on {value.device}, K {K.dtype} on {K.device}")
    if distortion is not None and distortion.dim() != 1:
        raise ArgumentError(f"distortion {tuple(distortion.shape)}: it has one axis")
    batched = image.dim() == 4
    if rotation is not None and tuple(rotation.shape) not in ((3, 3), *([(image.shape[0], 3, 3)] if batched else [])):
        raise ArgumentError(f"rotation {tuple(rotation.shape)} for an image {tuple(image.shape)}: it is ([N,] 3, 3)")
    camera = Camera(_values(K), () if distortion is None else _values(distortion), model)
    if shape is None:
        shape = image.shape[-3:-1] if to.size is None else to.size[::-1]
    sizes = tuple(int(each) for each in shape)
    if len(sizes) != 2 or min(sizes) <= 0:
        raise ArgumentError(f"shape={shown(shape)}: it is (height, width)")
    rays, is_seen = _rays(to, sizes, K.dtype, K.device)
    if rotation is not None:
        rays = torch.einsum("...ij,hwj->...hwi", rotation, rays)
    k = K.new_zeros(_COEFFICIENTS)
    if distortion is not None:
        k = torch.cat([distortion, k[len(distortion) :]])
    x, y, is_seen = _positions(camera, k, rays, is_seen)
    if len(camera.distortion) == _COEFFICIENTS:
        x, y = _tilted(k[12], k[13], x, y)
    at = torch.stack([K[row, 0] * x + K[row, 1] * y + (K[row, 2] + 0.5) for row in range(2)], -1)
    coords = torch.where(is_seen[..., None], at, at.new_tensor(_FAR))
    return sample(
        image,
        coords[None] if batched and coords.dim() == 3 else coords,
        addressing=addressing,
        filtering=filtering,
        fill=fill,
        precision=precision,
        deterministic=deterministic,
    )


def _values(tensor: Tensor) -> Any:
    """Numbers of a tensor, also within the transforms of ``torch.func``."""
    if torch._C._are_functorch_transforms_active():
        tensor = torch.func.debug_unwrap(tensor)
    return tensor.detach().tolist()


@lru_cache(maxsize=1)
def _rays(camera: Camera, sizes: tuple[int, ...], dtype: Any, device: Any) -> tuple[Tensor, Tensor]:
    """Rays (height, width, 3) of the pixels of a camera, of length 1, and which of them there are."""
    sphere = Camera(np.eye(3), model="equirectangular")  # its positions are longitude and latitude
    rows, columns = np.indices(sizes, np.float64)
    angles = Lens.between(sphere, camera, np.eye(3)).move(np.stack([columns, rows], -1))
    is_seen: npt.NDArray[np.bool_] = np.isfinite(angles[..., 0])
    longitude, latitude = np.moveaxis(np.where(is_seen[..., None], angles, 0), -1, 0)
    level = np.cos(latitude)
    rays = np.stack([level * np.sin(longitude), np.sin(latitude), level * np.cos(longitude)], -1)
    return torch.from_numpy(rays).to(device, dtype), torch.from_numpy(is_seen).to(device)


def _positions(camera: Camera, k: Tensor, rays: Tensor, is_seen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Positions of rays before the matrix of a camera, and which it sees: what ``lens.h`` does, for derivatives.

    Rays that it does not see are followed as others, so that their derivatives are numbers.
    """
    x, y, z = rays.unbind(-1)
    if camera.kind is Model.equirectangular:
        level = x * x + z * z
        is_pole = level == 0
        return (
            torch.atan2(x, torch.where(is_pole, 1, z)),
            torch.atan2(y, torch.where(is_pole, 1, level).sqrt()),
            is_seen,
        )
    if camera.kind is Model.fisheye:
        square = x * x + y * y
        is_axis = square == 0
        out = torch.where(is_axis, 1, square).sqrt()
        angle = torch.where(is_axis, torch.where(z > 0, 0, torch.pi), torch.atan2(out, z))
        s = angle * angle
        distance = angle * (1 + (((k[3] * s + k[2]) * s + k[1]) * s + k[0]) * s)
        scale = torch.where(is_axis, 1, distance / out)
        return x * scale, y * scale, is_seen & (angle <= camera.limit)
    is_before = z > 0
    depth = torch.where(is_before, z, 1)
    x, y = x / depth, y / depth
    is_seen = is_seen & is_before & (x * x + y * y <= camera.limit)
    x, y = torch.where(is_seen, x, 0), torch.where(is_seen, y, 0)
    square, product = x * x + y * y, 2 * x * y
    above = 1 + ((k[4] * square + k[1]) * square + k[0]) * square
    radial = above / (1 + ((k[7] * square + k[6]) * square + k[5]) * square)
    to_x = x * radial + k[2] * product + k[3] * (square + 2 * x * x) + (k[8] + k[9] * square) * square
    to_y = y * radial + k[2] * (square + 2 * y * y) + k[3] * product + (k[10] + k[11] * square) * square
    return to_x, to_y, is_seen


def _tilted(about_x: Tensor, about_y: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Positions on a tilted sensor: ``Camera.tilt``."""
    one, none = torch.ones_like(about_x), torch.zeros_like(about_x)
    sine, cosine = torch.stack([about_x, about_y]).sin(), torch.stack([about_x, about_y]).cos()
    turn_x = torch.stack([one, none, none, none, cosine[0], sine[0], none, -sine[0], cosine[0]]).reshape(3, 3)
    turn_y = torch.stack([cosine[1], none, -sine[1], none, one, none, sine[1], none, cosine[1]]).reshape(3, 3)
    turn = turn_y @ turn_x
    depth = turn[2, 2]
    sensor = torch.stack([depth, none, -turn[0, 2], none, depth, -turn[1, 2], none, none, one]).reshape(3, 3)
    ends = torch.stack([x, y, torch.ones_like(x)], -1) @ (sensor @ turn).T
    return ends[..., 0] / ends[..., 2], ends[..., 1] / ends[..., 2]
