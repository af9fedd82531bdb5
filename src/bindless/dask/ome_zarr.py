"""Multiscale images of OME-Zarr 0.4 and 0.5: the metadata, by the models of the package ome-zarr-models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ..model.errors import InvalidError
from ..model.file_places import local_name
from ..model.message_values import shown
from .zarr_metadata import is_name, named_errors, require_array, require_files

__all__ = ["FORMATS", "Axis", "InputImage", "multiscale_attributes", "opened", "opened_levels"]

FORMATS = {"0.4": 2, "0.5": 3}  # and the version of zarr
_NAMES = "tczyx"
_KINDS = {"t": "time", "c": "channel", "z": "space", "y": "space", "x": "space"}


@dataclass(frozen=True)
class Axis:
    """An axis of an image.

    Attributes
    ----------
    name, kind, unit : str
        As in the metadata; the unit may be empty.
    scale, translation : float
        Size of an element, and the place of the first one.
    """

    name: str
    kind: str
    unit: str = ""
    scale: float = 1.0
    translation: float = 0.0


@dataclass(frozen=True)
class InputImage:
    """A level of an image, mostly the full resolution.

    Attributes
    ----------
    array : array
        zarr array.
    axes : tuple[Axis, ...]
        One for each axis of the array.
    places : tuple[str, ...]
        Names of the image and of the arrays of its levels.
    """

    array: Any
    axes: tuple[Axis, ...]
    places: tuple[str, ...]


def opened(path: str) -> InputImage:
    """An array, or the first level of a multiscale image of OME-Zarr.

    Parameters
    ----------
    path : str
        A folder, or a URL.

    Raises
    ------
    InvalidError
        Neither is there, or its metadata is damaged.
    """
    return _opened(path, 1)[0]


def opened_levels(path: str) -> tuple[InputImage, ...]:
    """An array, or all levels of a multiscale image of OME-Zarr, the finest first.

    Raises
    ------
    InvalidError
        As ``opened``.
    """
    return _opened(path, None)


def _opened(path: str, count: int | None) -> tuple[InputImage, ...]:
    """So many levels, or all."""
    place = local_name(path)
    require_files(place, "")
    with named_errors(f"{path} cannot be opened as zarr"):
        import zarr

        node: Any = zarr.open(place, mode="r")
        if not isinstance(node, zarr.Group):
            require_array(path, node)
            return (InputImage(node, _axes_of_array(path, len(node.shape)), (place,)),)
        attributes = dict(node.attrs)
    version = "0.5" if "ome" in attributes else "0.4"
    content = attributes.get("ome", attributes)
    if not isinstance(content, dict) or "multiscales" not in content:
        with named_errors(f"{path}: its arrays cannot be listed"):
            names = ", ".join(sorted(node.array_keys())) or "none"
        raise InvalidError(f"{path} is a group without an image of OME-Zarr; its arrays: {names}")
    with named_errors(f"{path}: metadata of OME-Zarr {version} is not valid"):
        scales = _models(version).ImageAttrs.model_validate(content).multiscales[0]
        levels = [str(level.path) for level in scales.datasets]
    for name in levels:
        if not is_name(name):
            raise InvalidError(
                f"{path}: datasets of the metadata have path={shown(name)}, which is no name in the group"
            )
    places = (place, *(f"{place}/{name}" for name in levels))
    return tuple(_level(path, node, scales, name, places) for name in levels[:count])


def _level(path: str, node: Any, scales: Any, name: str, places: tuple[str, ...]) -> InputImage:
    """A level of a group."""
    require_files(places[0], name)
    with named_errors(f"{path}: the array {name!r} cannot be opened as zarr"):
        array: Any = node.get(name)
    if array is None:
        raise InvalidError(f"{path}: the metadata names an array {name!r}, which is missing")
    require_array(f"{path}, array {name!r}", array)
    if len(scales.axes) != len(array.shape):
        raise InvalidError(f"{path}: the metadata has {len(scales.axes)} axes, the array {name!r} {len(array.shape)}")
    with named_errors(f"{path}: coordinateTransformations of {name!r} are not valid"):
        axes = _axes_of_level(scales, name)
    return InputImage(array, axes, places)


def _axes_of_level(scales: Any, name: str) -> tuple[Axis, ...]:
    """The axes of a level of the metadata's model."""
    whole = scales.coordinateTransformations
    level = next(level for level in scales.datasets if str(level.path) == name)
    size, place = [1.0] * len(scales.axes), [0.0] * len(scales.axes)
    for step in (*level.coordinateTransformations, *(() if whole is None else whole)):
        if step.type == "scale":
            size = [old * float(factor) for old, factor in zip(size, step.scale)]
            place = [old * float(factor) for old, factor in zip(place, step.scale)]
        elif step.type == "translation":
            place = [old + float(shift) for old, shift in zip(place, step.translation)]
    if not all(math.isfinite(number) for number in (*size, *place)) or not all(number > 0 for number in size):
        raise ValueError(f"the scale is {size} and the translation {place}; sizes of elements are positive numbers")
    return tuple(
        Axis(str(axis.name), str(axis.type or "space"), str(axis.unit or ""), size[number], place[number])
        for number, axis in enumerate(scales.axes)
    )


def _axes_of_array(path: str, ndim: int) -> tuple[Axis, ...]:
    if not 2 <= ndim <= len(_NAMES):
        raise InvalidError(f"{path} is an array of {ndim} axes: images of OME-Zarr have 2 to {len(_NAMES)}")
    return tuple(Axis(name, _KINDS[name]) for name in _NAMES[-ndim:])


def _models(version: str) -> Any:
    try:
        return import_module(f"ome_zarr_models.v{version.replace('.', '')}.image")
    except ImportError as error:
        raise InvalidError(
            f"OME-Zarr is read and written with ome-zarr-models: pip install 'bindless[dask]' ({error})"
        ) from error


def multiscale_attributes(version: str, name: str, levels: Sequence[Sequence[Axis]]) -> dict[str, Any]:
    """The attributes of a group with levels "0", "1" and so on.

    Parameters
    ----------
    version : str
        "0.4" or "0.5".
    name : str
        Of the image.
    levels : Sequence[Sequence[Axis]]
        The axes of each level.
    """
    axes = [{"name": axis.name, "type": axis.kind, **({"unit": axis.unit} if axis.unit else {})} for axis in levels[0]]
    datasets = [
        {
            "path": str(number),
            "coordinateTransformations": [
                {"type": "scale", "scale": [axis.scale for axis in level]},
                {"type": "translation", "translation": [axis.translation for axis in level]},
            ],
        }
        for number, level in enumerate(levels)
    ]
    scales: dict[str, Any] = {"name": name, "axes": axes, "datasets": datasets, "type": "mean"}
    if version == "0.4":
        scales["version"] = version
    content: dict[str, Any] = {"multiscales": [scales]}
    if version == "0.5":
        content = {"version": version, **content}
    try:
        model = _models(version).ImageAttrs.model_validate(content)
    except ValueError as error:
        raise InvalidError(f"the result has no valid metadata of OME-Zarr {version}: {error}") from error
    valid: dict[str, Any] = model.model_dump(mode="json", exclude_none=True)
    return {"ome": valid} if version == "0.5" else valid
