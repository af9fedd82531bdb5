"""Reference pictures of the examples, computed in numpy and float64, without a texture unit.

Filter weights are exact here; those of a texture unit have eight bits. Pictures therefore agree to about 1/256 of the
difference between neighbouring texels. Pixels at edges that depend on a coordinate's last bit may differ by more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import environment_sphere
import ground_plane
import numpy as np
import numpy.typing as npt
import texture_atlas
import undistort
import volume_raycaster
from common import photograph, reductions

from tests.oracle.samples import between_levels, sample_pixels

Array = npt.NDArray[Any]


def linear(image: Array, place: Array, addressing: str = "clamp_to_edge") -> Array:
    """Linear filtering of (..., height, width, channels) at coordinates (N, dimensions) in texels, x first."""
    return np.asarray(sample_pixels(image, place, addressing))


def trilinear(levels: Sequence[Array], place: Array, level: Array, addressing: str = "clamp_to_edge") -> Array:
    """Linear filtering between the levels of a mipmap, at normalized coordinates (N, 2)."""
    values = [linear(pixels, place * pixels.shape[1::-1], addressing) for pixels in levels]
    return np.asarray(between_levels(values, level))


def unit(vectors: Array) -> Array:
    result: Array = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return result


def screen(height: int, width: int, parts: Sequence[float] = (0.5,)) -> tuple[Array, Array]:
    """Horizontal and vertical positions, (height, width, parts²), in half heights from the centre."""
    y, x, j, i = np.ix_(range(height), range(width), parts, parts)
    shape = (height, width, len(parts) ** 2)
    across = np.broadcast_to((x + i - width / 2) * 2 / height, (*shape[:2], len(parts), len(parts)))
    down = np.broadcast_to((y + j - height / 2) * 2 / height, across.shape)
    return across.reshape(shape), down.reshape(shape)


def mix(a: Any, b: Any, weight: Any) -> Any:
    return np.asarray(a) + (np.asarray(b) - np.asarray(a)) * weight


# ------------------------------------------------------------------ the examples


def raycast(size: int, steps: int = volume_raycaster.STEPS) -> Array:
    volume, transfer = volume_raycaster.orbital(volume_raycaster.VOXELS), volume_raycaster.transfer_function()
    view = volume_raycaster.camera(turn=35, tilt=22, distance=4.2)
    eye, right, up, forward = (view[name][:3].astype(np.float64) for name in ("eye", "right", "up", "forward"))
    across, down = (part.reshape(-1, 1) for part in screen(size, size))
    ray = unit(forward + across * right - down * up)
    a, b = (-1 - eye) / ray, (1 - eye) / ray
    enter, leave = np.maximum(np.minimum(a, b).max(1), 0), np.maximum(a, b).min(1)
    step, voxel = 2 * np.sqrt(3) / steps, 2 / volume_raycaster.VOXELS
    light, clear = np.zeros((size * size, 3)), np.ones(size * size)

    def value(point: Array) -> Array:
        return linear(volume[..., None], (point / 2 + 0.5) * volume_raycaster.VOXELS)[:, 0]

    for i in range(steps):
        t = enter + (i + 0.5) * step
        on = np.flatnonzero((t < leave) & (clear > 0.005))
        point = eye + t[on, None] * ray[on]
        colour = linear(transfer, (value(point) / 2 + 0.5)[:, None] * len(transfer))
        seen = colour[:, 3] > 0
        on, point, colour = on[seen], point[seen], colour[seen]
        if not len(on):
            continue
        opacity = 1 - np.exp(-colour[:, 3] * step)
        slope = np.stack([value(point + e) - value(point - e) for e in np.eye(3) * voxel], -1)
        facing = np.abs(np.sum(slope * ray[on], 1)) / (np.linalg.norm(slope, axis=1) + 0.01)
        lit = colour[:, :3] * (0.35 + 0.65 * facing)[:, None] + 0.3 * facing[:, None] ** 24
        light[on] += (clear[on] * opacity)[:, None] * lit
        clear[on] *= 1 - opacity
    background = mix((0.02, 0.02, 0.05), (0.09, 0.10, 0.16), 0.5 - 0.5 * down)
    return (light + clear[:, None] * background).reshape(size, size, 3)


def atlas(size: int) -> Array:
    photos = [photograph(name) for name in texture_atlas.PHOTOGRAPHS]
    prints = texture_atlas.scatter([photo.shape for photo in photos], size)
    across, down = screen(size, size * 4 // 3)
    point = np.stack([across, down], -1).reshape(-1, 2) / 2
    light, clear = np.zeros((len(point), 3)), np.ones(len(point))
    border = texture_atlas.BORDER

    def within(at: Array, entry: Any) -> Array:
        cos, sin = entry["axis"].astype(np.float64)
        d = at - entry["centre"]
        return np.stack([d[:, 0] * cos + d[:, 1] * sin, d[:, 1] * cos - d[:, 0] * sin], -1)

    def outside(at: Array, half: Array) -> Array:
        d = np.abs(at) - half
        return np.minimum(d.max(1), 0) + np.linalg.norm(np.maximum(d, 0), axis=1)

    for photo, entry in reversed(list(zip(photos, prints))):
        half = entry["half_size"].astype(np.float64)
        at = within(point, entry)
        paper = np.clip(0.5 - outside(at, half + border) * size, 0, 1)
        inside = np.clip(0.5 - outside(at, half) * size, 0, 1)
        colour = trilinear(reductions(photo), at / half / 2 + 0.5, np.full(len(at), entry["level"]))[:, :3] / 255
        light += (clear * paper)[:, None] * mix((0.96, 0.95, 0.92), colour, inside[:, None])
        clear *= 1 - paper
        t = np.clip((outside(within(point - (0.006, 0.012), entry), half + border) - 0.02) / -0.04, 0, 1)
        clear *= 1 - 0.45 * t * t * (3 - 2 * t)
    grain = 0.02 * np.sin(110 * point[:, 1] + 3 * np.sin(5 * point[:, 0]))
    return (light + clear[:, None] * ((0.42, 0.28, 0.18) + grain[:, None])).reshape(*across.shape[:2], 3)


def _distorted(p: Array, lens: Any) -> Array:
    k1, k2, k3, p1, p2 = (float(lens[name]) for name in ("k1", "k2", "k3", "p1", "p2"))
    x, y = p.T
    r2 = x * x + y * y
    radial = 1 + k1 * r2 + k2 * r2**2 + k3 * r2**3
    return np.stack(
        [x * radial + 2 * p1 * x * y + p2 * (r2 + 2 * x * x), y * radial + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y], -1
    )


def lens(size: int) -> Array:
    scene, made = undistort.wall(size), undistort.wide_angle(size)
    across, down = screen(size, size)
    pixel = (np.stack([across, down], -1).reshape(-1, 2) + 1) / 2 * size
    focal, centre = made["focal_length"].astype(np.float64), made["principal_point"].astype(np.float64)
    straight = (pixel - centre) / focal
    # Newton's method with a numerical Jacobian, not the example's own iteration.
    p = straight.copy()
    for _ in range(30):
        miss = _distorted(p, made) - straight
        jacobian = np.stack([(_distorted(p + e, made) - _distorted(p - e, made)) / 2e-6 for e in np.eye(2) * 1e-6], -1)
        p -= np.linalg.solve(jacobian, miss[..., None])[..., 0]
    photo = linear(scene, (p * focal + centre) / size * len(scene), "clamp").reshape(size, size, 4)
    result = linear(photo, _distorted(straight, made) * focal + centre, "clamp").reshape(size, size, 4)
    return np.hstack([photo, result])[..., :3]


class Floor:
    """The tiled floor as expected in both halves of the picture, over the whole width."""

    def __init__(self, size: int) -> None:
        scene = ground_plane.scene()
        self.axes = [scene[name][:3].astype(np.float64) for name in ("forward", "right", "up")]
        self.height, self.tile, self.haze = (float(scene[name]) for name in ("height", "tile", "haze"))
        self.levels = reductions(ground_plane.tiles())
        self.size, self.pixel = size, 2 / size
        self.across, self.down = (part[..., 0] for part in screen(size, 2 * size))
        ray = self._ray(self.across, self.down)
        self.hit = ray[..., 1] < -1e-4
        far = self.height / -ray[self.hit, 1] * np.linalg.norm(ray[self.hit], axis=-1)
        self.clear = np.exp(-self.haze * far)[:, None]
        self.sky = mix((0.93, 0.90, 0.84), (0.33, 0.55, 0.83), np.clip(-self.down - 0.30, 0, 1)[..., None])

    def _ray(self, across: Array, down: Array) -> Array:
        forward, right, up = self.axes
        result: Array = forward + across[..., None] * right - down[..., None] * up
        return result

    def _place(self, across: Array, down: Array) -> Array:
        ray = self._ray(across, down)
        result: Array = ray[..., ::2] * self.height / -ray[..., 1:2] / self.tile
        return result

    def _drawn(self, floor: Array) -> Array:
        picture: Array = self.sky.copy()
        picture[self.hit] = mix(self.sky[self.hit], floor[:, :3], self.clear)
        return picture

    def trilinear(self) -> Array:
        """Trilinear filtering at the level of the footprint's longer side, from differences instead of derivatives."""
        across, down, e = self.across[self.hit], self.down[self.hit], 1e-6
        dx = (self._place(across + e, down) - self._place(across - e, down)) / (2 * e) * self.pixel
        dy = (self._place(across, down + e) - self._place(across, down - e)) / (2 * e) * self.pixel
        longest = np.maximum(np.linalg.norm(dx, axis=-1), np.linalg.norm(dy, axis=-1)) * len(self.levels[0])
        return self._drawn(trilinear(self.levels, self._place(across, down), np.log2(longest), "repeat"))

    def mean(self, samples: int = 12) -> Array:
        """The mean over a pixel's footprint, which anisotropic filtering approximates."""
        across, down = self.across[self.hit], self.down[self.hit]
        total = np.zeros((len(across), 4))
        for i, j in np.ndindex(samples, samples):
            offset = ((np.array([i, j]) + 0.5) / samples - 0.5) * self.pixel
            place = self._place(across + offset[0], np.maximum(down + offset[1], down - self.pixel * 0.4))
            total += linear(self.levels[0], place * len(self.levels[0]), "repeat") / samples**2
        return self._drawn(total)


class Sphere:
    """The mirrored ball, its surroundings from the panorama itself, and the mask of pixels that show them."""

    def __init__(self, size: int) -> None:
        scene = environment_sphere.SCENE
        eye, metal = scene["eye"][:3].astype(np.float64), scene["metal"][:3].astype(np.float64)
        across, down = screen(size, size, (0.25, 0.75))
        ray = unit(np.stack([across, -down, np.full_like(across, -float(scene["zoom"]))], -1))
        # The ball's surface is the nearer root of |eye + t ray| = 1.
        b, c = 2 * ray @ eye, eye @ eye - 1
        discriminant = b * b - 4 * c
        hit = discriminant > 0
        normal = eye + (-b - np.sqrt(np.where(hit, discriminant, 0)))[..., None] / 2 * ray
        facing = np.minimum(-np.sum(ray * normal, -1), 1)
        self.direction = np.where(hit[..., None], ray + 2 * facing[..., None] * normal, ray)
        weight = np.where(hit[..., None], (0.55 + 0.45 * (1 - facing[..., None]) ** 5) * metal, 1)
        around = environment_sphere.panorama(2 * size).astype(np.float64)
        seen = self._cubemap(around, size)
        exposed = 1 - np.exp(-float(scene["exposure"]) * seen * weight)
        self.picture = exposed.mean(2) ** (1 / 2.2)

    def _panorama(self, around: Array, direction: Array) -> Array:
        x, y, z = unit(direction).reshape(-1, 3).T
        place = np.stack([0.5 + np.arctan2(x, -z) / (2 * np.pi), np.arccos(y) / np.pi], -1) * around.shape[1::-1]
        ring = np.concatenate([around[:, -1:], around, around[:, :1]], 1)  # longitude wraps around, latitude does not
        return linear(ring, np.add(place, (1, 0))).reshape(*direction.shape[:-1], around.shape[-1])[..., :3]

    def _cubemap(self, around: Array, side: int) -> Array:
        """Bilinear filtering between the texels of a face; texels past its edge come from the neighbouring face."""
        d = self.direction
        axis = np.abs(d).argmax(-1)
        major = np.take_along_axis(d, axis[..., None], -1)
        face = 2 * axis + (major[..., 0] < 0)
        on_face = d / np.abs(major)
        result = np.zeros(d.shape)
        # The right and down vectors of each face, from the directions in BI's table.
        right = np.array([(0, 0, -1), (0, 0, 1), (1, 0, 0), (1, 0, 0), (1, 0, 0), (-1, 0, 0)], np.float64)
        below = np.array([(0, -1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1), (0, -1, 0), (0, -1, 0)], np.float64)
        for number in range(6):
            mine = face == number
            outward = np.cross(right[number], -below[number])
            s, t = on_face[mine] @ right[number], on_face[mine] @ below[number]
            u, v = (s + 1) / 2 * side - 0.5, (t + 1) / 2 * side - 0.5
            for i, j in np.ndindex(2, 2):
                x, y = np.floor(u) + i, np.floor(v) + j
                weight = np.clip(1 - np.abs(u - x), 0, 1) * np.clip(1 - np.abs(v - y), 0, 1)
                across, down = (((n + 0.5) / side * 2 - 1)[:, None] for n in (x, y))
                texel = outward + across * right[number] + down * below[number]
                result[mine] += weight[:, None] * self._panorama(around, texel)
        return result
