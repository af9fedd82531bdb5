"""Kernels that draw bricks: slices, projections along rays, and rays through lit matter.

A pixel (i, j) looks from ``origin + (i + 0.5) * right + (j + 0.5) * down`` along ``ahead``, all in texels of level 0;
``ahead`` is as long as the distance of two samples. Values are those of the source, not-a-number beside it.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from ..device import float4, item_id, sample_bricks, sample_image
from ..device.bricks import CELL, find_brick, place_in, texel_of
from ..python_kernels.device_function import device_function
from ..python_kernels.kernel import PythonKernel, kernel

__all__ = ["LIGHT", "RAYS", "VIEW", "Kernels", "kernels_for"]

VIEW = np.dtype([(f"{name}_{axis}", np.float64) for name in ("origin", "right", "down", "ahead") for axis in "xyz"])
RAYS = np.dtype([(name, np.int32) for name in ("width", "height", "top", "level", "is_mean")]
                + [(name, np.float32) for name in ("first", "last")])  # fmt: skip
LIGHT = np.dtype([(name, np.float32) for name in
                  ("towards_x", "towards_y", "towards_z", "texel_x", "texel_y", "texel_z", "red", "green", "blue",
                   "ambient", "share", "softness")])  # fmt: skip

_ENOUGH = 0.02  # of what lies behind is not seen
_HALF = 0.5  # of the light
_FAINT = 0.004  # of a picture's brightness is not lit


@device_function
def start_of(view, u, v):
    """Where a pixel looks from, as ``Image.warp`` computes it."""
    x = view.right_x * u + (view.down_x * v + view.origin_x)
    y = view.right_y * u + (view.down_y * v + view.origin_y)
    z = view.right_z * u + (view.down_z * v + view.origin_z)
    return x, y, z


@device_function
def pixel_of_tile(width, top):
    """The pixel of a work-item, in rows from one on: 64 of them are a square, whose rays take the same ways."""
    tile, item = item_id(0), item_id(1)
    across = (width + 7) // 8
    return top + tile // across * 8 + item // 8, tile % across * 8 + item % 8


@device_function
def span(start, step, size, enter, leave):
    """The part of a ray within the texels along an axis."""
    if step == 0:
        return enter, leave if 0 <= start <= size else enter - 1
    a, b = (0 - start) / step, (size - start) / step
    return max(enter, min(a, b)), min(leave, max(a, b))


@device_function
def ray_of(view, rays, sizes, row, column):
    """A pixel's ray: start, step from sample to sample, and the first and last sample within the texels."""
    x, y, z = start_of(view, column + np.float64(0.5), row + np.float64(0.5))
    x, y, z = np.float32(x), np.float32(y), np.float32(z)
    dx, dy, dz = np.float32(view.ahead_x), np.float32(view.ahead_y), np.float32(view.ahead_z)
    enter, leave = span(x, dx, np.float32(sizes[0, 0]), rays.first, rays.last)
    enter, leave = span(y, dy, np.float32(sizes[0, 1]), enter, leave)
    enter, leave = span(z, dz, np.float32(sizes[0, 2]), enter, leave)
    return x, y, z, dx, dy, dz, math.ceil(enter - 0.5), math.floor(leave - 0.5)


@device_function
def leaves(at, step, first, size):
    """Samples until a ray leaves a brick along an axis, from a position after the brick's first texel."""
    if step > 0:
        return (first + size - at) / step
    if step < 0:
        return (first - at) / step
    return np.float32(1e9)


@device_function
def brick_texel(at, part):
    """The first texel of the brick of a position in a level."""
    return np.float32(at // part * part)


@device_function
def enter_brick(table, level, x, y, z, dx, dy, dz, t):
    """Find the brick of a sample of a ray.

    Its place in the table, the position of the sample in the brick's image, that of the next one after it, and how many
    samples are in the brick.
    """
    x, y, z = x + t * dx, y + t * dy, z + t * dz
    place, at = find_brick(table, x, y, z, level)
    px, py, pz, gx, gy, gz, away = within_brick(table, at, x, y, z, dx, dy, dz)
    if at != level:  # the brick of the level is missing, and so is the next one perhaps, which must be noted
        away = min(away, within_brick(table, level, x, y, z, dx, dy, dz)[6])
    return place, px, py, pz, gx, gy, gz, max(math.ceil(away), 1)


@device_function
def within_brick(table, at, x, y, z, dx, dy, dz):
    """The position of a sample in the image of its brick of a level, the step to the next, and their number there."""
    sizes, maps, facts = table[5], table[6], table[7]
    gx, gy, gz = dx * maps[at, 0], dy * maps[at, 1], dz * maps[at, 2]
    px = place_in(x, maps[at, 0], maps[at, 3], sizes[at, 0])
    py = place_in(y, maps[at, 1], maps[at, 4], sizes[at, 1])
    pz = place_in(z, maps[at, 2], maps[at, 5], sizes[at, 2])
    bx = brick_texel(texel_of(px, sizes[at, 0]), facts[0])
    by = brick_texel(texel_of(py, sizes[at, 1]), facts[1])
    bz = brick_texel(texel_of(pz, sizes[at, 2]), facts[2])
    away = min(leaves(px, gx, bx, facts[0]), min(leaves(py, gy, by, facts[1]), leaves(pz, gz, bz, facts[2])))
    return px - bx + 0.5, py - by + 0.5, pz - bz + 0.5, gx, gy, gz, min(away, 1e9)


@device_function
def cell_axis(at, step, last):
    """The cell of a sample along an axis, and the samples until the ray leaves it."""
    cell = min(max(int(at - 0.5), 0) // CELL, last)
    return cell, leaves(at - 0.5, step, np.float32(cell * CELL), CELL)


@device_function
def enter_cell(facts, slot, x, y, z, gx, gy, gz):
    """The row of a sample's cell, and how many samples are in it."""
    across, down, deep = (facts[0] + 1) // CELL, (facts[1] + 1) // CELL, (facts[2] + 1) // CELL
    i, a = cell_axis(x, gx, across - 1)
    j, b = cell_axis(y, gy, down - 1)
    k, c = cell_axis(z, gz, deep - 1)
    return ((slot * deep + k) * down + j) * across + i, max(math.ceil(min(a, min(b, c))), 1)


@device_function
def greater(a, b):
    """The greater numbers of each channel."""
    return float4(max(a.x, b.x), max(a.y, b.y), max(a.z, b.z), max(a.w, b.w))


@device_function
def exceeds(bounds, place, best, channels):
    """Whether a brick has greater numbers."""
    more = False
    for channel in range(channels):
        more = more or bounds[place, 2 * channel + 1] > best[channel]
    return more


@device_function
def number_of(table, value):
    """Numbers of a sample of a brick's image."""
    scale = table[8]
    return float4(
        value.x * scale[0] + scale[4], value.y * scale[1] + scale[5], value.z * scale[2] + scale[6],
        value.w * scale[3] + scale[7],
    )  # fmt: skip


@device_function
def sample_fast(table, x, y, z, level):
    """As ``sample_bricks``, by the texture unit."""
    place, at = find_brick(table, x, y, z, level)
    if place < 0:
        return float4(np.float32(math.nan))
    handle, bounds, sizes, maps, facts = table[1][place], table[2], table[5], table[6], table[7]
    if handle == 0:
        return float4(bounds[place, 0], bounds[place, 2], bounds[place, 4], bounds[place, 6])
    px = place_in(x, maps[at, 0], maps[at, 3], sizes[at, 0])
    py = place_in(y, maps[at, 1], maps[at, 4], sizes[at, 1])
    pz = place_in(z, maps[at, 2], maps[at, 5], sizes[at, 2])
    i = texel_of(px, sizes[at, 0]) // facts[0] * facts[0]
    j = texel_of(py, sizes[at, 1]) // facts[1] * facts[1]
    k = texel_of(pz, sizes[at, 2]) // facts[2] * facts[2]
    return number_of(
        table, sample_image(handle, np.float32(px - i + 0.5), np.float32(py - j + 0.5), np.float32(pz - k + 0.5))
    )


@device_function
def colour_of(windows, channel, number):
    """The row of a number's colour: a channel in its window, 0 to 255, has a colour of its table."""
    at = min(max((number - windows[channel, 0]) * windows[channel, 1], 0.0), 255.0)
    return channel * 256 + int(at + 0.5)


@device_function
def opacity_of(colours, windows, channels, value):
    """Opacity of numbers."""
    total = np.float32(0)
    for channel in range(channels):
        total += colours[colour_of(windows, channel, value[channel]), 3]
    return total


@device_function
def shade(colours, windows, channels, value):
    """Red, green, blue and opacity of numbers."""
    light = float4(0.0)
    for channel in range(channels):
        row = colour_of(windows, channel, value[channel])
        light += float4(colours[row, 0], colours[row, 1], colours[row, 2], colours[row, 3])
    return light


@device_function
def pixel_of(red, green, blue):
    """A pixel with bytes r, g, b and 255."""
    r = int(min(max(red, 0.0), 1.0) * 255 + 0.5)
    g = int(min(max(green, 0.0), 1.0) * 255 + 0.5)
    b = int(min(max(blue, 0.0), 1.0) * 255 + 0.5)
    return np.uint32(r | (g << 8) | (b << 16) | (255 << 24))


@device_function
def is_seen(bounds, place, windows, opaque, channels):
    """Whether numbers between a brick's bounds have opacity; ``opaque`` counts the rows of colours before that have."""
    for channel in range(channels):
        low, scale = windows[channel, 0], windows[channel, 1]
        a, b = (bounds[place, 2 * channel] - low) * scale, (bounds[place, 2 * channel + 1] - low) * scale
        first = int(min(max(min(a, b), 0.0), 255.0) + 0.5)
        last = int(min(max(max(a, b), 0.0), 255.0) + 0.5)
        if opaque[channel * 257 + last + 1] > opaque[channel * 257 + first]:
            return True
    return False


@device_function
def level_in_windows(table, windows, channels, value):
    """A number of a sample of a brick's image, of which the gradient is the normal."""
    numbers, total = number_of(table, value), np.float32(0)
    for channel in range(channels):
        total += (numbers[channel] - windows[channel, 0]) * windows[channel, 1]
    return total


@device_function
def slope(table, windows, channels, handle, here, x, y, z, axis, part):
    """Difference of the next number within a brick along an axis."""
    at = x if axis == 0 else y if axis == 1 else z
    away = np.float32(1) if at < part - 0.5 else np.float32(-1)
    value = sample_image(
        handle, x + away if axis == 0 else x, y + away if axis == 1 else y, z + away if axis == 2 else z
    )
    return (level_in_windows(table, windows, channels, value) - here) * away


@dataclass(frozen=True)
class Kernels:
    """Kernels for a number of channels.

    Attributes
    ----------
    draw_slice, draw_projection, draw_matter, find_matter, colour : PythonKernel
        As they are described in ``kernels_for``.
    """

    draw_slice: PythonKernel
    draw_projection: PythonKernel
    draw_matter: PythonKernel
    find_matter: PythonKernel
    colour: PythonKernel


@functools.cache
def kernels_for(channels: int) -> Kernels:
    """Kernels whose loops over channels have a constant length."""

    @kernel
    def draw_slice(table, view, level, is_exact, values):
        """The values in a plane."""
        row, column = item_id(0), item_id(1)
        u, v = column + np.float64(0.5), row + np.float64(0.5)
        x, y, z = start_of(view, u, v)
        sizes = table[5]
        if 0 <= x <= sizes[0, 0] and 0 <= y <= sizes[0, 1] and 0 <= z <= sizes[0, 2]:
            value = sample_bricks(table, x, y, z, level) if is_exact else sample_fast(table, x, y, z, level)
        else:
            value = float4(np.float32(math.nan))
        for channel in range(channels):
            values[row, column, channel] = value[channel]

    @kernel
    def draw_projection(table, view, rays, values):
        """The greatest values along rays, or the means."""
        row, column = pixel_of_tile(rays.width, rays.top)
        if row >= rays.height or column >= rays.width:
            return
        x, y, z, dx, dy, dz, step, last = ray_of(view, rays, table[5], row, column)
        handles, bounds, facts, slots, cells = table[1], table[2], table[7], table[9], table[10]
        best, total = float4(np.float32(-math.inf)), float4(0.0)
        count = max(last - step + 1, 0)
        while step <= last:
            t = step + np.float32(0.5)
            place, px, py, pz, gx, gy, gz, samples = enter_brick(table, rays.level, x, y, z, dx, dy, dz, t)
            samples = min(samples, last - step + 1)
            step += samples
            if place < 0:
                continue
            handle = handles[place]
            if handle == 0:
                value = float4(bounds[place, 0], bounds[place, 2], bounds[place, 4], bounds[place, 6])
                total += value * np.float32(samples)
                best = greater(best, value)
            elif rays.is_mean:
                value = float4(0.0)
                for sample in range(samples):
                    value += sample_image(handle, px + sample * gx, py + sample * gy, pz + sample * gz)
                total += number_of(table, value * (np.float32(1) / samples)) * np.float32(samples)
            elif exceeds(bounds, place, best, channels):
                sample = 0
                while sample < samples:
                    qx, qy, qz = px + sample * gx, py + sample * gy, pz + sample * gz
                    cell, within = enter_cell(facts, slots[place], qx, qy, qz, gx, gy, gz)
                    until = min(sample + within, samples)
                    if exceeds(cells, cell, best, channels):
                        value = float4(np.float32(-math.inf))
                        for one in range(sample, until):
                            value = greater(value, sample_image(handle, px + one * gx, py + one * gy, pz + one * gz))
                        best = greater(best, number_of(table, value))
                    sample = until
        value = total * (np.float32(1) / max(count, 1)) if rays.is_mean else best
        if count == 0:
            value = float4(np.float32(math.nan))
        for channel in range(channels):
            values[row, column, channel] = value[channel]

    @kernel
    def colour(values, colours, windows, light, picture):
        """Pixels of values."""
        row, column = item_id(0), item_id(1)
        first = values[row, column, 0]
        if first == first:
            value = float4(
                first,
                values[row, column, 1] if channels > 1 else 0.0,
                values[row, column, 2] if channels > 2 else 0.0,
                values[row, column, 3] if channels > 3 else 0.0,
            )
            shine = shade(colours, windows, channels, value)
            picture[row, column] = pixel_of(shine.x, shine.y, shine.z)
        else:
            picture[row, column] = pixel_of(light.red, light.green, light.blue)

    @kernel
    def find_matter(cells, count, images, windows, opaque, matters):
        """Which cells of some images have numbers with opacity."""
        cell = images[item_id(0)] * count + item_id(1)
        matters[cell] = is_seen(cells, cell, windows, opaque, channels)

    @kernel
    def draw_matter(table, view, rays, colours, windows, opaque, matters, light, picture, depths, values):
        """Rays through matter with a colour and an opacity for each value, lit along the gradient.

        Notes where half of the light is left, and the numbers there.
        """
        row, column = pixel_of_tile(rays.width, rays.top)
        if row >= rays.height or column >= rays.width:
            return
        x, y, z, dx, dy, dz, step, last = ray_of(view, rays, table[5], row, column)
        handles, bounds, facts, slots = table[1], table[2], table[7], table[9]
        red, green, blue, clear = np.float32(0), np.float32(0), np.float32(0), np.float32(1)
        depth, front = np.float32(math.nan), float4(np.float32(math.nan))
        while step <= last and clear > _ENOUGH:
            t = step + np.float32(0.5)
            place, px, py, pz, gx, gy, gz, samples = enter_brick(table, rays.level, x, y, z, dx, dy, dz, t)
            samples = min(samples, last - step + 1)
            step += samples
            if place < 0 or not is_seen(bounds, place, windows, opaque, channels):
                continue
            handle = handles[place]
            if handle == 0:
                value = float4(bounds[place, 0], bounds[place, 2], bounds[place, 4], bounds[place, 6])
                matter = shade(colours, windows, channels, value)
                for one in range(samples):  # no gradient: as bright as without light
                    share = clear * min(matter.w, 1.0)
                    red, green, blue = red + share * matter.x, green + share * matter.y, blue + share * matter.z
                    clear *= 1 - min(matter.w, 1.0)
                    if clear < _HALF and depth != depth:
                        depth, front = t + one, value
                continue
            sample, until = 0, 0
            while sample < samples and clear > _ENOUGH:
                qx, qy, qz = px + sample * gx, py + sample * gy, pz + sample * gz
                while sample >= until and sample < samples:
                    cell, within = enter_cell(facts, slots[place], qx, qy, qz, gx, gy, gz)
                    until = sample + within
                    if not matters[cell]:
                        sample = until
                        qx, qy, qz = px + sample * gx, py + sample * gy, pz + sample * gz
                if sample >= samples:
                    break
                sample += 1
                texel = sample_image(handle, qx, qy, qz)
                numbers = number_of(table, texel)
                opacity = min(opacity_of(colours, windows, channels, numbers), 1.0)
                if opacity <= 0:
                    continue
                matter = shade(colours, windows, channels, numbers)
                brightness = np.float32(1)
                if light.share > 0 and clear * opacity > _FAINT:
                    here = level_in_windows(table, windows, channels, texel)
                    a = slope(table, windows, channels, handle, here, qx, qy, qz, 0, facts[0]) * light.texel_x
                    b = slope(table, windows, channels, handle, here, qx, qy, qz, 1, facts[1]) * light.texel_y
                    c = slope(table, windows, channels, handle, here, qx, qy, qz, 2, facts[2]) * light.texel_z
                    size = math.sqrt(a * a + b * b + c * c)
                    facing = abs(a * light.towards_x + b * light.towards_y + c * light.towards_z) / (size + 1e-6)
                    surface = light.share * size / (size + light.softness)
                    brightness = 1 - surface + surface * (light.ambient + (1 - light.ambient) * facing)
                share = clear * opacity * brightness
                red, green, blue = red + share * matter.x, green + share * matter.y, blue + share * matter.z
                clear *= 1 - opacity
                if clear < _HALF and depth != depth:
                    depth, front = t + (sample - 1), numbers
        depths[row, column] = depth
        for channel in range(channels):
            values[row, column, channel] = front[channel]
        picture[row, column] = pixel_of(red + clear * light.red, green + clear * light.green, blue + clear * light.blue)

    return Kernels(draw_slice, draw_projection, draw_matter, find_matter, colour)
