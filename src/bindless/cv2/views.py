"""Pictures, maps and points through lenses, of any model: what the functions with OpenCV's names share."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, pi
from typing import Any

import numpy as np
import numpy.typing as npt

from ..camera.camera import Camera, matrix_of
from ..camera.lens import Lens
from ..image.array_library import AnyArray
from ..model.errors import ArgumentError
from ..model.message_values import shown
from ..ndimage.places import Places
from ..ndimage.repeated import Call, recall
from ..sampling.fields import Field, kind_of_fields, pack_fields
from ..sycl.queue.queue import Queue
from ..sycl.usm import usm_empty
from .arguments import border_values, picture_of, size_of
from .constants import BORDER_CONSTANT, CV_32FC1, CV_32FC2, INTER_LINEAR
from .errors import left_to_cv2
from .pictures import draw
from .warping import map_of

__all__ = ["View", "camera_of", "maps_of", "move_points", "remember_view", "target_of", "view_of"]

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

_TYPES = {CV_32FC1: 1, CV_32FC2: 2, 37: 2}  # OpenCV 5 has another number
_ROWS = 64  # of a map, computed at a time
_MOST_VIEWS = 64
_LIMITS = {"opencv": inf, "fisheye": pi / 2}  # OpenCV follows polynomials everywhere, rays in front of a fisheye alone


def camera_of(name: str, matrix: Any, distortion: Any, model: str) -> Camera:
    """The camera of a matrix, of which OpenCV reads four entries, and of coefficients."""
    whole = matrix_of(name, matrix)
    (fx, _, cx), (_, fy, cy), _ = whole.tolist()
    return Camera([[fx, 0, cx], [0, fy, cy], [0, 0, 1]], () if distortion is None else distortion, model)


def target_of(function: str, name: str, matrix: Any, rotation: Any, default: Any) -> tuple[Camera, Floats]:
    """The camera of a view and the rotation to its axes, of a matrix (3, 3) or (3, 4); None is the default."""
    value = default if matrix is None else np.asarray(matrix)
    turn = np.eye(3)
    if rotation is not None:
        if np.size(rotation) == 3:
            raise left_to_cv2(function, "R as a vector")
        turn = matrix_of("R", rotation)
    return Camera(matrix_of(name, value[:, :3] if np.shape(value) == (3, 4) else value)), turn


def _lens(camera: Camera, target: tuple[Camera, Floats]) -> Lens:
    ideal, turn = target
    try:
        back = np.asarray(np.linalg.inv(turn), np.float64)
    except np.linalg.LinAlgError:
        raise ArgumentError(f"R={turn.tolist()} has no inverse") from None
    return Lens.between(camera, ideal, back, _LIMITS[camera.model])


class View:
    """What a camera sees of the picture of another one: the same for all pictures."""

    def __init__(self, camera: Camera, target: tuple[Camera, Floats]) -> None:
        lens = _lens(camera, target)
        self.map = map_of(lens.before)
        self.fields = (Field.of_lens(lens.numbers, lens.behind),)
        self.kind = kind_of_fields(self.fields)

    def numbers(self, call: Call) -> AnyArray:
        """Those of the lens, where a call reads them."""
        there: dict[View, AnyArray] = call.queue._storage.setdefault(View, {})
        numbers = there.get(self)
        if numbers is None:
            numbers, _ = pack_fields(call.queue, self.fields, on_device=False)
            if call.on_device:
                there_too = usm_empty(numbers.shape, numbers.dtype, call.queue)
                call.queue.memcpy(there_too, numbers).wait()
                numbers = there_too
            if len(there) >= _MOST_VIEWS:
                there.clear()
            there[self] = numbers
        return numbers


_views: dict[Any, View] = {}


def remember_view(key: tuple[Any, ...], make: Callable[[], View]) -> View:
    """The view of a key, made once; the key has numbers in any form, and names."""
    values: tuple[Any, ...] = ()
    try:
        for one in key:
            if one is not None and type(one) is not str:
                array = np.asarray(one, np.float64)
                one = array.shape, array.tobytes()
            values += (one,)
    except (TypeError, ValueError):  # no numbers: `make` tells
        return make()
    view = _views.get(values)
    if view is None:
        view = make()
        if len(_views) >= _MOST_VIEWS:
            _views.clear()
        _views[values] = view
    return view


def view_of(function: str, src: Any, view: View, size: Any, dst: Any, queue: Queue | None) -> Any:
    """The picture that the camera of a view takes, as the caller gets it."""
    sizes = tuple(size) if isinstance(size, list) else size
    key, call = recall(f"cv2.{function}", queue, src, dst, 0.0, (sizes, view.kind))
    if call is not None:
        result = call.submit(src, dst, view.map, view.numbers(call))
        if result is not None:
            return result
    source = picture_of(function, src, queue)
    shape = size_of("new_size", size, (source.shape[0], source.shape[1]))
    places = Places(shape, view.map, fields=view.fields)
    values = border_values(0.0, source, BORDER_CONSTANT)
    return draw(function, source, places, INTER_LINEAR, BORDER_CONSTANT, values, dst, key)


def maps_of(
    function: str,
    camera: Camera,
    target: tuple[Camera, Floats],
    size: Any,
    m1type: Any,
    maps: tuple[Any, Any],
) -> tuple[Array, Array | None]:
    """The maps of a view, in the caller's arrays or in new ones."""
    count = _TYPES.get(m1type) if hasattr(m1type, "__index__") else None
    if count is None:
        raise left_to_cv2(function, f"m1type={shown(m1type)} (CV_32FC1 and CV_32FC2 are)")
    if size is None:
        raise ArgumentError("size=None is no size: it is (width, height)")
    height, width = size_of("size", size, (0, 0))
    if height == 0:
        raise ArgumentError(f"size={shown(size)} is no size: width and height are positive")
    shapes = ((height, width),) * 2 if count == 1 else ((height, width, 2),)
    results = [_result(number, one, shape) for number, (one, shape) in enumerate(zip(maps, shapes), 1)]
    lens = _lens(camera, target)
    for first in range(0, height, _ROWS):
        rows = slice(first, min(first + _ROWS, height))
        places = lens.move(np.stack(np.meshgrid(np.arange(width), np.arange(rows.start, rows.stop)), -1))
        for axis, result in enumerate(results):
            result[rows] = places[..., axis] if count == 1 else places
    return results[0], results[1] if count == 1 else None


def _result(number: int, value: Any, shape: tuple[int, ...]) -> Array:
    if value is None:
        return np.empty(shape, np.float32)
    if not isinstance(value, np.ndarray) or value.shape != shape or value.dtype != np.float32:
        raise ArgumentError(f"map{number}={shown(value)}: it is an array of numpy, {shape} of float32, or None")
    return value


def move_points(
    name: str, points: Any, camera: Camera, target: tuple[Camera, Floats], out: Any, *, as_list: bool
) -> Array:
    """Points of a camera's picture as those of a view.

    Parameters
    ----------
    as_list : bool
        Whether points (N, 2) become (N, 1, 2).
    """
    array = np.asarray(points)
    if array.dtype not in (np.float32, np.float64) or array.ndim not in (2, 3) or array.shape[-1] != 2:
        raise ArgumentError(
            f"{name} of shape {array.shape} and dtype {array.dtype}: points are (N, 2), (N, 1, 2) or (1, N, 2), of "
            "float32 or float64"
        )
    ideal, turn = target
    places = Lens.between(ideal, camera, turn).move(array).astype(array.dtype)
    result = places[:, None] if as_list and array.ndim == 2 else places
    if out is None:
        return result
    out[...] = result
    return out  # type: ignore[no-any-return]
