"""Options of ``bindless view``, which are there without the packages that it needs."""

from __future__ import annotations

import argparse

__all__ = ["add_arguments"]


def add_arguments(parser: argparse.ArgumentParser, device_help: str) -> None:
    """The options of the command."""
    parser.add_argument(
        "file", metavar="FILE", help="OME-Zarr, zarr (folder or URL), .npy, .nii, .nii.gz, .tif, or a picture"
    )
    parser.add_argument("--device", metavar="SEL", help=device_help)
    parser.add_argument("--memory", default="2GB", metavar="SIZE", help="most image memory (default 2GB)")
    parser.add_argument("--port", type=int, default=0, metavar="P", help="of 127.0.0.1; default a free one")
    parser.add_argument("--time", type=int, default=0, metavar="N", help="index along the axis t (default 0)")
    parser.add_argument("--channels", metavar="A,B", help="up to four indices along the axis c; default the first ones")
    parser.add_argument("--save", metavar="PICTURE.png", help="write the complete picture instead of a page")
    parser.add_argument("--size", default="1280x720", metavar="WxH", help="with --save: pixels (default 1280x720)")
    parser.add_argument("--view", metavar="LINK", help="a link of the page, or what follows its #")
