"""
A panorama with the light of the sun
====================================

A photograph of the whole sphere in an .exr file holds light, not colours: the sun is thousands of times as bright as
the grass. :meth:`bindless.Image.open` reads it as half precision numbers; :meth:`bindless.Image.reproject` takes a
camera's view of it, and a curve brings the light to the screen, brighter or darker as an exposure says.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import OpenImageIO

import bindless as bl

# A computed panorama instead of a photograph: sky, sun, clouds and hills, in a file.
height, width = 512, 1024
latitude, longitude = np.mgrid[np.pi / 2 : -np.pi / 2 : height * 1j, -np.pi : np.pi : width * 1j]
up = np.sin(latitude)
to_sun = np.cos(latitude) * np.cos(0.5) * np.cos(longitude - 0.4) + up * np.sin(0.5)
sky = np.array([0.25, 0.5, 1.0]) * (0.5 + 1.5 * np.clip(1 - up, 0, 1) ** 4)[..., None]
glow = np.array([1.0, 0.85, 0.6]) * (4000 * (to_sun > 0.9995) + 6 * np.clip(to_sun, 0, 1) ** 200)[..., None]
clouds = np.sin(5 * longitude + 3 * np.sin(9 * latitude)) * np.sin(11 * latitude + np.cos(4 * longitude))
above = sky + glow + (1.5 * np.clip(clouds, 0, 1) * np.clip(up, 0, 1))[..., None]
hills = 0.08 + 0.05 * np.sin(3 * longitude) + 0.03 * np.sin(8 * longitude + 1)
grass = np.array([0.06, 0.11, 0.03]) * (1 + 0.3 * np.sin(60 * longitude) * np.sin(90 * latitude))[..., None]
light = np.where((latitude < hills)[..., None], grass, above).astype(np.float16)

folder = tempfile.TemporaryDirectory()
file = Path(folder.name) / "sunny.exr"
OpenImageIO.ImageBuf(light).write(str(file))


def screen(light, stops):
    """Colours of light at an exposure: a curve that hardly clips, then the curve of sRGB."""
    light = light * 2.0**stops
    shown = light * (1 + light / 16) / (1 + light)
    return np.where(shown < 0.0031308, 12.92 * shown, 1.055 * np.clip(shown, 0, 1) ** (1 / 2.4) - 0.055)


def turn(yaw, pitch):
    """From the axes of a camera, x right, y down, z ahead, to those of the panorama; angles in degrees."""
    (a, b), (c, d) = np.cos(np.radians([yaw, pitch])), np.sin(np.radians([yaw, pitch]))
    return np.array([[a, 0, c], [0, 1, 0], [-c, 0, a]]) @ np.array([[1, 0, 0], [0, b, -d], [0, d, b]])


sphere = bl.Camera(None, model="equirectangular", size=(width, height))
camera = bl.Camera(np.array([[200.0, 0, 160], [0, 200, 120], [0, 0, 1]]), size=(320, 240))
figure, axes = plt.subplots(2, 3, figsize=(12, 6.2), layout="constrained")
with bl.Image.open(file, addressing="repeat") as panorama:
    for row, (yaw, pitch) in zip(axes, ((20, 18), (150, -8))):
        seen = panorama.reproject(sphere, to=camera, rotation=turn(yaw, pitch), shape=(240, 320))
        for axis, stops in zip(row, (-6, 0, 3)):
            axis.imshow(screen(seen.astype(np.float32), stops))
            axis.set_title(f"{stops:+d} stops")
            axis.axis("off")
folder.cleanup()
