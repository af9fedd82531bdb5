"""``bindless demo``: pictures of what texture units do, from real photographs, with times."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..image.image import Image
from ..model.arrays import Array
from ..model.aspects import Aspect
from ..model.whole_files import write_whole
from ..sycl.queue.queue import Queue
from .contact_sheet import Panel, Sheet, outline
from .scenes import floor_matrix, head_phantom, photograph, plane_coordinates, rotation_matrix

__all__ = ["pictures", "run"]


@dataclass
class Meter:
    """Adds up samples, or other pixels that were read, and the time they took."""

    unit: str = "samples"
    count: int = 0
    seconds: float = 0.0

    def __call__(self, work: Callable[[], Array], count: int | None = None, *, warm: bool = False) -> Array:
        """The result of the work, run twice: once to warm up, once for the clock.

        Parameters
        ----------
        work : Callable[[], Array]
            Makes a picture.
        count : int, optional
            Samples it takes; default one for each pixel of the picture.
        warm : bool, default False
            Nothing of it is new: it is run once.
        """
        if not warm:
            work()
        start = time.perf_counter()
        result = work()
        self.seconds += time.perf_counter() - start
        self.count += result.shape[0] * result.shape[1] if count is None else count
        return result


def _byte(values: Array, low: float = 0.0, high: float = 1.0) -> npt.NDArray[np.uint8]:
    """Grey levels; the square root keeps soft tissue apart without saturating bone."""
    grey: Array = np.sqrt(np.clip((values - low) / (high - low), 0, 1))
    levels: Array = np.rint(grey * 255)
    return levels.astype(np.uint8)


def _rotation(queue: Queue, meter: Meter) -> Sheet:
    photo = photograph("chelsea.png")
    shape, degrees, zoom, centre = (450, 450), 24.0, 7.0, (174.0, 116.0)
    matrix = rotation_matrix(degrees, zoom, centre, shape)
    pictures = {}
    for filtering in ("nearest", "linear"):
        with Image(photo, filtering=filtering, queue=queue) as image:
            pictures[filtering] = meter(lambda image=image: image.warp(matrix, shape))  # type: ignore[misc]
    scale = shape[0] / photo.shape[0]
    with Image(photo, queue=queue) as image:
        whole = meter(lambda: image.resize((shape[0], round(photo.shape[1] * scale))))
    corners = [(0, 0), (shape[1], 0), (shape[1], shape[0]), (0, shape[0])]
    marked = outline(whole, [tuple(scale * (matrix @ (x, y, 1.0))) for x, y in corners])
    return Sheet(
        "Rotation: nearest and linear filtering",
        f"The marked square, turned by {degrees:.0f} degrees and enlarged {zoom:.0f} times by Image.warp",
        [
            [
                Panel(marked, "the photograph"),
                Panel(pictures["nearest"], 'filtering="nearest"'),
                Panel(pictures["linear"], 'filtering="linear"'),
            ]
        ],
    )


def _addressing(queue: Queue, meter: Meter) -> Sheet:
    photo = photograph("coffee.png")
    height, width = 350, 525
    rows, columns = photo.shape[:2]
    span = 2.3  # images across a panel
    step = columns * span / width
    matrix = np.array([[step, 0, -columns * (span - 1) / 2], [0, step, -rows * (span - 1) / 2]])
    low = ((span - 1) / 2 / span * width, (span - 1) / 2 / span * height)
    high = (low[0] + width / span, low[1] + height / span)
    corners = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
    panels = []
    for mode in ("repeat", "mirrored_repeat", "clamp_to_edge", "border"):
        channels = np.dstack([photo, np.full(photo.shape[:2], 255, np.uint8)])
        with Image(channels, addressing=mode, mipmaps=queue.device.has(Aspect.ext_oneapi_mipmap), queue=queue) as image:
            picture = meter(lambda image=image: image.warp(matrix, (height, width)))  # type: ignore[misc]
        panels.append(Panel(outline(picture, corners), f'addressing="{mode}"'))
    return Sheet(
        "Addressing: what lies outside of the image",
        "The frame is the image; everything around it is read with coordinates beyond its edges",
        [panels[:2], panels[2:]],
    )


def _volume(queue: Queue, meter: Meter) -> Sheet:
    size, extent = 192, 450
    volume = head_phantom(size)
    steps = 192
    with Image(volume, addressing="border", queue=queue, dimensions=3) as image:
        straight = meter(lambda: image.sample(plane_coordinates(size, extent, 0, 0, depth=-0.125 * size)))
        oblique = meter(lambda: image.sample(plane_coordinates(size, extent, 52, 28, depth=-8)))

        def projection() -> Array:
            total: Array = np.zeros((extent, extent), np.float32)
            for depth in np.linspace(-0.48, 0.48, steps):
                total += image.sample(plane_coordinates(size, extent, 68, 28, depth=depth * size))
            return total / steps

        xray = meter(projection, steps * extent * extent, warm=True)
    return Sheet(
        "A volume, cut at an angle",
        f"A Shepp-Logan head of {size} x {size} x {size} voxels; every pixel is one trilinear sample of the 3D image",
        [
            [
                Panel(_byte(straight), "a slice along the axes"),
                Panel(_byte(oblique), "an oblique slice, tilted 52 and 28 degrees"),
                Panel(_byte(xray, 0, 0.34), f"X-ray: {steps} oblique slices added"),
            ]
        ],
    )


def _minification(queue: Queue, meter: Meter) -> Sheet:
    photo = photograph("motorcycle_left.png")
    factor = 7
    height, width = photo.shape[0] // factor, photo.shape[1] // factor
    with Image(photo, filtering="nearest", queue=queue) as image:
        aliased = image.resize((height, width))
    meter.unit = "pixels"
    with Image(photo, filtering="linear", queue=queue) as image:
        proper = meter(lambda: image.resize((height, width)), photo.shape[0] * photo.shape[1])
        shown = image.resize((round(height * 5.4), round(width * 5.4)))

    def enlarged(pixels: Array) -> Array:
        with Image(pixels, filtering="nearest", queue=queue) as small:
            resized: Array = small.resize(shown.shape[:2])
            return resized

    return Sheet(
        "A large reduction",
        f"{photo.shape[1]} x {photo.shape[0]} pixels reduced to {width} x {height}, shown enlarged",
        [
            [
                Panel(shown, "the photograph"),
                Panel(enlarged(aliased), "nearest pixel: spokes break, edges turn to stairs"),
                Panel(enlarged(proper), "Image.resize: each pixel the mean of its area"),
            ]
        ],
    )


def _perspective(queue: Queue, meter: Meter) -> Sheet:
    photo = photograph("chelsea.png")
    shape = (450, 470)
    matrix = floor_matrix(shape, photo.shape[1], photo.shape[0], height=1.6)
    panels = []
    for caption, options in (
        ("nearest, no mipmaps: noise", {"filtering": "nearest"}),
        ("mipmaps: calm, but soft", {"mipmaps": True}),
        ("max_anisotropy=16: calm and sharp", {"mipmaps": True, "max_anisotropy": 16}),
    ):
        with Image(photo, addressing="repeat", queue=queue, **options) as image:
            panels.append(Panel(meter(lambda image=image: image.warp(matrix, shape)), caption))  # type: ignore[misc]
    return Sheet(
        "A floor to the horizon",
        "A photograph, repeated without end, through a projective Image.warp",
        [panels],
    )


def _mirror(queue: Queue, meter: Meter) -> Sheet:
    side, extent = 384, 560
    names = ("coffee.png", "chelsea.png", "hubble_deep_field.jpg", "brick.png", "astronaut.png", "rocket.jpg")
    faces = np.empty((6, side, side, 3), np.uint8)
    for face, name in zip(faces, names):
        photo = photograph(name)
        photo = photo if photo.ndim == 3 else np.repeat(photo[..., None], 3, 2)
        edge = min(photo.shape[:2])
        top, left = (photo.shape[0] - edge) // 2, (photo.shape[1] - edge) // 2
        with Image(photo[top : top + edge, left : left + edge], queue=queue) as image:
            face[...] = image.resize((side, side))
    ramp = (np.arange(extent) + 0.5) / extent * 2 - 1
    x, y = np.meshgrid(ramp, -ramp)
    panels = []
    with Image(faces, cubemap=True, queue=queue) as room:
        for turn, caption in (
            (0.0, "a mirrored ball in a room of six photographs"),
            (118.0, "the same, turned by 118 degrees"),
        ):
            directions = _mirrored(x, y, np.radians(turn))
            values = meter(lambda directions=directions: room.sample(directions))  # type: ignore[misc]
            panels.append(Panel((values * 255).round().astype(np.uint8), caption))
    return Sheet(
        "A cubemap and its reflection",
        "Every pixel is one direction, read from a cube of six images with seamless filtering",
        [panels],
    )


def _mirrored(x: Array, y: Array, turn: float) -> Array:
    """Directions (h, w, 3) of the rays of a camera at z = 3 that looks along -z at a mirrored unit ball."""
    ray = np.stack([x * 0.62, y * 0.62, -np.ones_like(x)], -1)
    ray /= np.linalg.norm(ray, axis=-1, keepdims=True)
    eye = np.array([0.0, 0.0, 3.0])
    along = np.sum(ray * eye, -1)
    under_root = along**2 - (eye @ eye - 1)
    hit = under_root > 0
    normal = eye + (-along - np.sqrt(np.where(hit, under_root, 0)))[..., None] * ray
    reflected = ray - 2 * np.sum(ray * normal, -1, keepdims=True) * normal
    direction = np.where(hit[..., None], reflected, ray)
    # Products of matrices are rounded as each processor's library does it, and a ray at the rim hits or misses by that.
    right, up, near = np.moveaxis(direction, -1, 0)
    c, s = np.cos(turn), np.sin(turn)
    return np.stack([c * right + s * near, up, c * near - s * right], -1)


_PICTURES: dict[str, tuple[Callable[[Queue, Meter], Sheet], tuple[Aspect, ...]]] = {
    "rotation": (_rotation, ()),
    "addressing": (_addressing, ()),
    "volume": (_volume, ()),
    "minification": (_minification, ()),
    "perspective": (_perspective, (Aspect.ext_oneapi_mipmap, Aspect.ext_oneapi_mipmap_anisotropy)),
    "cubemap": (_mirror, (Aspect.ext_oneapi_cubemap, Aspect.ext_oneapi_cubemap_seamless_filtering)),
}
"""Functions that draw the pictures, and the aspects that their device needs."""


def pictures() -> tuple[str, ...]:
    """Names of the pictures, in the order in which they are drawn."""
    return tuple(_PICTURES)


def run(
    folder: Path,
    queue: Queue,
    say: Callable[[str], None] = print,
    begin: Callable[[str], None] = lambda name: None,
) -> list[Path]:
    """Writes the pictures and says for each the number of samples, the time and the throughput.

    A picture of something that the device lacks is left out, which is said.

    Parameters
    ----------
    folder : Path
        Is made if it does not exist; files of the same names are replaced.
    queue : Queue
        Whose device draws.
    say : Callable[[str], None], default print
        Takes the lines of the report.
    begin : Callable[[str], None], optional
        Called with the name of each picture before it is drawn.

    Returns
    -------
    list[Path]
        The files.
    """
    device = queue.device
    say(f"device: {device.name} ({device.backend}), driver {device.driver_version}")
    folder.mkdir(parents=True, exist_ok=True)
    footer = f"drawn on {device.name}, driver {device.driver_version}"
    files = []
    for name, (draw, needs) in _PICTURES.items():
        begin(name)
        path = folder / f"{name}.png"
        missing = [str(aspect) for aspect in needs if not device.has(aspect)]
        if missing:
            say(f"  {path.name:<18} left out: the device has no {' and no '.join(missing)}")
            continue
        meter = Meter()
        file = io.BytesIO()
        draw(queue, meter).draw(footer).save(file, "PNG", optimize=True)
        write_whole(path, file.getvalue())
        rate = meter.count / meter.seconds / 1e6
        amount = f"{meter.count / 1e6:6.2f} M {meter.unit}"
        say(f"  {path.name:<18} {amount:<17} in {meter.seconds * 1e3:8.2f} ms: {rate:8.1f} M/s")
        files.append(path)
    say("times are of whole calls, from numpy arrays to numpy arrays, warm")
    say(f"the pictures are in {folder.resolve()}")
    return files
