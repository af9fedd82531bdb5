"""Thumbnails of the gallery: of each program's figure, one of its pictures, which stays legible when small."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from PIL import Image

SIZE = (400, 300)
AXES = {  # index of the picture in its figure; the last one by default
    "bokeh": 1,
    "ct_backprojection": 1,
    "dask_pyramid": 0,
    "drr_registration": 1,
    "filters": 3,
    "lens_distortion": 1,
    "mirror_ball": 0,
    "optical_flow": 2,
    "panorama_viewer": 2,
    "reaction_diffusion": 1,
    "smoke": 2,
    "texture_weights": 0,
    "zone_plate": 1,
}
_PICTURES: dict[Path, Image.Image] = {}


def _scrape(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Save the figures as sphinx-gallery does, and keep one picture of the last figure."""
    import matplotlib.pyplot as plt
    from sphinx_gallery.scrapers import matplotlib_scraper

    program = Path(block_vars["target_file"])
    if plt.get_fignums():
        figure = plt.gcf()
        figure.canvas.draw()  # the layout
        axis = figure.axes[AXES.get(program.stem, -1)]
        box = (axis.get_window_extent() if axis.images else axis.get_tightbbox()).transformed(
            figure.transFigure.inverted()
        )
        file = io.BytesIO()
        figure.savefig(file, dpi=2 * figure.dpi)
        whole = Image.open(file).convert("RGB")
        left, right = (round(place * whole.width) for place in (box.x0, box.x1))
        top, bottom = (round((1 - place) * whole.height) for place in (box.y1, box.y0))
        _PICTURES[program] = whole.crop((left, top, right, bottom))
    rst: str = matplotlib_scraper(block, block_vars, gallery_conf)
    return rst


def _get_sg_image_scraper() -> Any:
    return _scrape


def write(app: object) -> None:
    """Replace sphinx-gallery's thumbnails, the whole figures, of the programs that ran."""
    for program, picture in _PICTURES.items():
        picture.thumbnail(SIZE, Image.Resampling.LANCZOS)
        picture.save(program.parent / "images" / "thumb" / f"sphx_glr_{program.stem}_thumb.png")
