"""Frames of a video, straightened: each is decoded, undistorted, made smaller and turned into RGB in one call.

A camera with a wide-angle lens turns in front of a house; the program draws and encodes this video first. PyAV (``pip
install av``) decodes the frames. Their planes of brightness and of colours go into one image as they are, without a
conversion, and ``reproject`` makes the picture of an ideal camera. The horizontal lines of the house are bent in the
frames, and straight in the pictures: the program measures both.
"""

from __future__ import annotations

import io
import time
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from common import Array, grid, main
from PIL import Image as Picture
from PIL import ImageDraw

import bindless as bl

FRAMES = 100
SHOWN = (FRAMES // 12, FRAMES // 4, 2 * FRAMES // 3)
COEFFICIENTS = (-0.28, 0.075, 0.002, -0.001, -0.008)  # of a cheap action camera
IMAGES: dict[str, tuple[Any, Any]] = {  # by the formats of decoders
    "nv12": (bl.Image.from_nv12, bl.Image.update_nv12),
    "yuv420p": (bl.Image.from_yuv420, bl.Image.update_yuv420),
}
BAYS, FLOORS = 5, 3
STRAIGHT = 0.5  # pixels


def codecs() -> Any:
    """Return PyAV (pip install av)."""
    try:
        import av
    except ImportError:
        raise SystemExit("the frames are encoded and decoded by PyAV: pip install av") from None
    return av


def cameras(size: int) -> tuple[bl.Camera, bl.Camera]:
    """Return the camera of the video, whose frames have 2 * size lines, and the ideal one of the pictures."""
    width, height = wide = (round(size * 8 / 9) * 4, 2 * size)
    matrix = np.array([[0.98 * height, 0, 0.503 * width], [0, 0.98 * height, 0.49 * height], [0, 0, 1]])
    half = [[0.47 * height, 0, width / 4 - 0.5], [0, 0.47 * height, height / 4 - 0.5], [0, 0, 1]]
    return bl.Camera(matrix, COEFFICIENTS, size=wide), bl.Camera(half, size=(width // 2, height // 2))


def house(side: int) -> npt.NDArray[np.uint8]:
    """Return one part of the wall, which repeats: bays of this size, windows with shutters, and a dark line a floor."""
    large = 4 * side
    picture = Picture.new("RGB", (BAYS * large, FLOORS * large), (222, 205, 172))
    draw = ImageDraw.Draw(picture)
    random = np.random.default_rng(7)
    for bay, floor in product(range(BAYS), range(FLOORS)):
        colour = tuple(random.choice([[46, 110, 84], [150, 58, 44], [62, 92, 150], [190, 140, 50]]).tolist())
        for left, right, fill in ((0.2, 0.8, colour), (0.34, 0.66, (240, 238, 230)), (0.36, 0.64, (120, 142, 160))):
            edge = 0.02 * (right < 0.65)
            box = [(bay + left) * large, (floor + 0.26 + edge) * large, (bay + right) * large]
            draw.rectangle([*box, (floor + 0.8 - edge) * large], fill)
    for floor in range(FLOORS):
        draw.rectangle([0, (floor + 0.03) * large, BAYS * large, (floor + 0.07) * large], (30, 26, 40))
    return np.asarray(picture.reduce(4))


def bay(size: int) -> int:
    """Return the width and the height of a bay in pixels."""
    return round(0.64 * size)


def wall(size: int) -> bl.Camera:
    """Return a camera that looks at the wall straight on: its picture is the house."""
    side = bay(size)
    return bl.Camera([[1.6 * side, 0, BAYS / 2 * side], [0, 1.6 * side, FLOORS / 2 * side], [0, 0, 1]])


def rotation(number: int) -> Array:
    """Return the rotation of a frame, from its axes to those of the wall."""
    turn = 0.2 * np.sin(2 * np.pi * number / FRAMES)
    return np.array([[np.cos(turn), 0, np.sin(turn)], [0, 1, 0], [-np.sin(turn), 0, np.cos(turn)]])


def film(queue: bl.Queue, size: int) -> io.BytesIO:
    """Return a video file: the camera turns in front of the house."""
    av = codecs()
    lens, _ = cameras(size)
    pixels, file = house(bay(size)), io.BytesIO()
    with av.open(file, "w", format="mp4") as container, bl.Image(pixels, addressing="repeat", queue=queue) as image:
        stream = container.add_stream("libx264", rate=25, options={"preset": "veryfast", "crf": "16"})
        stream.width, stream.height = lens.size or (0, 0)
        stream.pix_fmt = "yuv420p"
        for number in range(FRAMES):
            picture = image.reproject(wall(size), to=lens, rotation=rotation(number))
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
            container.mux(stream.encode(frame.reformat(format="yuv420p", dst_colorspace="ITU709")))
        container.mux(stream.encode())
    file.seek(0)
    return file


def planes(frame: Any) -> list[Array]:
    """Return the planes of a decoded frame: views of its memory, whose rows may have padding."""
    views = []
    for number, plane in enumerate(frame.planes):
        row = plane.width * (2 if frame.format.name == "nv12" and number else 1)
        views.append(np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)[: plane.height, :row])
    return views


def straighten(queue: bl.Queue, file: io.BytesIO, size: int) -> list[tuple[Array, Array]]:
    """Return three frames, made smaller, and their pictures of the ideal camera; print the speed of all frames."""
    lens, ideal = cameras(size)
    straight = np.empty((size, 2 * round(size * 8 / 9), 3), np.uint8)
    some, count, waits = [], 0, 0.0
    with codecs().open(file) as container:
        container.streams.video[0].thread_type = "AUTO"
        frames = container.decode(video=0)
        start = time.perf_counter()
        frame = next(frames)
        waits += time.perf_counter() - start
        make, update = IMAGES[frame.format.name]
        with make(*planes(frame), standard="bt709", siting="left", queue=queue) as image:
            while frame is not None:
                update(image, *planes(frame))
                image.reproject(lens, to=ideal, out=straight)
                if count in SHOWN:
                    some.append(frame)
                count += 1
                before = time.perf_counter()
                frame = next(frames, None)
                waits += time.perf_counter() - before
            seconds = time.perf_counter() - start
            share = waits / seconds
            print(f"{count} frames: {count / seconds:.1f} a second, {share:.0%} of the time waits for the decoder")
            pairs = []
            for frame in some:
                update(image, *planes(frame))
                pairs.append((image.resize(straight.shape[:2]), image.reproject(lens, to=ideal)))
    return pairs


def bow(picture: Array) -> float:
    """Return how far the first dark line below the top leaves a straight line, in pixels; it is followed sideways."""
    light = picture.mean(-1)
    height, width = light.shape
    reach = max(2, height // 60)
    middle = width // 2
    rows = np.full(width, float(np.argmin(light[: height // 3, middle])))
    threshold = (light[:, middle].max() + light[:, middle].min()) / 2
    for side in ([middle] * 3, range(middle, width), range(middle, -1, -1)):
        row = rows[middle]
        for column in side:
            first = round(np.clip(row, reach, height - reach - 1)) - reach
            weights = np.maximum(threshold - light[first : first + 2 * reach + 1, column], 0)
            if weights.any():
                row = first + np.average(np.arange(2 * reach + 1), weights=weights)
            rows[column] = row
    columns = np.arange(width)
    return float(np.abs(rows - np.polyval(np.polyfit(columns, rows, 1), columns)).max())


def render(queue: bl.Queue, size: int) -> Array:
    """Render three frames above their straightened pictures; fail if these have no straight lines."""
    pairs = straighten(queue, film(queue, size), size)
    bent, straight = (max(map(bow, pictures)) for pictures in zip(*pairs))
    print(f"a line of the house leaves a straight one by {bent:.1f} pixels in frames, {straight:.2f} in pictures")
    if straight > STRAIGHT:
        raise SystemExit(f"the pictures are not straight: {straight:.2f} pixels, more than {STRAIGHT}")
    return grid([[picture / 255 for picture in pictures] for pictures in zip(*pairs)], size // 60 + 1)


if __name__ == "__main__":
    main(render, __doc__, size=540)
