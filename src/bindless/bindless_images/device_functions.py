"""Device functions over arrays of coordinates (Reading and writing inside the kernel, and the sections on mipmaps,
image arrays and cubemaps).

Coordinates are (N, dims) in (x, y, z) order, or (N,) in one dimension: int32 to fetch and write, float32 to sample.
Unnormalized coordinates are pixels, and pixel (i, j) has its centre at (i + 0.5, j + 0.5); normalized coordinates run
from 0 to 1.

With numpy arrays a function waits and returns the result, (N, channels) of the channel's own dtype, float32 for
normalized types. Arrays of coordinates that are not C-contiguous are copied first. With ``UsmArray``s, ``out``
included, it returns an ``Event`` at once; the arrays are kept alive until it is complete. Arrays of other libraries
count as one or the other by their place; a result without ``out`` comes back in the library of the coordinates.

Each function raises InvalidError for arguments that do not fit each other or the image, and FeatureNotSupportedError
where the device lacks an aspect. Coordinates, layers or faces outside the image are an error on the reference device
and undefined on other devices.
"""

from .fetch_functions import fetch_cubemap, fetch_image, fetch_image_array
from .sample_functions import sample_cubemap, sample_image, sample_image_array, sample_mipmap
from .write_functions import write_cubemap, write_image, write_image_array

__all__ = [
    "fetch_cubemap",
    "fetch_image",
    "fetch_image_array",
    "sample_cubemap",
    "sample_image",
    "sample_image_array",
    "sample_mipmap",
    "write_cubemap",
    "write_image",
    "write_image_array",
]
