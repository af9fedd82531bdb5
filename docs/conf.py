"""Sphinx configuration of the site: ``pip install '.[docs]' && sphinx-build -n -W docs out``."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from enum import EnumMeta
from pathlib import Path
from types import FunctionType
from typing import Any

import bindless

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent

project = "bindless"
author = "the authors of bindless"
copyright = "the authors of bindless, Apache-2.0"  # Sphinx's name
version = release = bindless.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx_gallery.gen_gallery"]
root_doc = "index"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["plots", "templates", "gallery/examples", "changelog.d"]
templates_path = ["templates"]

# References. There is no inventory of other packages: building needs no network, so only names of this package resolve.
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r"(?!bindless\b).*")]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "dollarmath"]

# Reference pages, one for each public name, from the docstrings.
autosummary_generate = True
autosummary_imported_members = True
autosummary_context = {"enums": [name for name in bindless.__all__ if isinstance(getattr(bindless, name), EnumMeta)]}
autodoc_typehints = "none"  # the docstrings name the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# bindless.torch is described without PyTorch, which is large; JAX is installed by the extra.
autodoc_mock_imports = ["torch"]

html_theme = "pydata_sphinx_theme"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_search_scorer = str(DOCS / "scorer.js")
html_title = f"bindless {release}"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "search_bar_text": "Search",
}


def _has_vulkan() -> bool:
    """Whether there is a Vulkan driver that shares memory with the reference device."""
    try:
        import vulkan as vk
    except (ImportError, OSError):  # the binding, or Vulkan's loader
        return False
    from bindless.interop.vulkan import check_same_device

    application = vk.VkApplicationInfo(apiVersion=vk.VK_MAKE_VERSION(1, 3, 0))
    try:
        instance = vk.vkCreateInstance(vk.VkInstanceCreateInfo(pApplicationInfo=application), None)
        found = vk.vkEnumeratePhysicalDevices(instance)
    except vk.VkError:
        return False
    for each in found:
        with suppress(bindless.Error):
            check_same_device(each, bindless.Device("reference"))
            return True
    return False


# The gallery runs on the reference device: the same pictures on every machine, with or without a GPU. Without a Vulkan
# driver for the processor, the page about Vulkan has its program, and the picture of a related one as thumbnail.
os.environ.setdefault("ONEAPI_DEVICE_SELECTOR", "reference:*")
sys.path[:0] = [str(DOCS), str(DOCS / "gallery" / "programs")]  # thumbnails, vulkan_headless
sphinx_gallery_conf = {
    "examples_dirs": "gallery/examples",
    "gallery_dirs": "gallery/built",
    "filename_pattern": r"\.py$" if _has_vulkan() else r"(?<!vulkan_post_processing)\.py$",
    "default_thumb_file": str(DOCS / "gallery" / "programs" / "pictures" / "vulkan_share.jpg"),
    "download_all_examples": True,
    "image_scrapers": ("thumbnails",),
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "capture_repr": (),
    "within_subsection_order": "FileNameSortKey",
    "subsection_order": [
        f"gallery/examples/{part}" for part in ("pictures", "volumes", "motion", "rendering", "kernels")
    ],
}

# Files outside of this folder that are pages of the site.
_PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "internals/contributing.md",
    "CHANGELOG.md": "internals/changelog.md",
}
_LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!\w+:|#)([^)\s]+)\)")


_WORDS = DOCS / "start" / "words.md"
_EXAMPLES = DOCS / "gallery" / "examples"


def _page_of(path: Path) -> Path:
    """The page of a program of the gallery; any other path unchanged."""
    if path.is_relative_to(_EXAMPLES) and path.suffix == ".py":
        return DOCS / "gallery" / "built" / path.relative_to(_EXAMPLES).with_suffix(".rst")
    return path


def _words() -> dict[str, list[str]]:
    """The words of ``start/words.md`` for each page that helps."""
    words: dict[str, list[str]] = {}
    row = re.compile(r"^\| ([^|]+) \| \[[^\]]*\]\(([^)#]+)[^)]*\) \|$", re.MULTILINE)
    for names, link in row.findall(_WORDS.read_text(encoding="utf-8")):
        page = _page_of((_WORDS.parent / link).resolve())
        words.setdefault(str(page.relative_to(DOCS).with_suffix("")), []).extend(names.split(", "))
    return words


def _links(text: str, written_in: Path, page: Path) -> str:
    """Adapt the links of a page written for the repository: to pages of the site, else their text alone."""

    def link(match: re.Match[str]) -> str:
        words, (path, mark, anchor) = match[1], match[2].partition("#")
        target = (written_in.parent / path).resolve()
        if target.is_relative_to(ROOT) and str(target.relative_to(ROOT)) in _PAGES:
            target, anchor = DOCS / _PAGES[str(target.relative_to(ROOT))], anchor if target.name != "README.md" else ""
        target = _page_of(target)
        if not target.is_relative_to(DOCS) or target.is_dir():
            return words
        relative = os.path.relpath(target, page.parent)
        return f"[{words}]({relative}{mark if anchor else ''}{anchor})" if target.exists() else match[0]

    return _LINK.sub(link, text)


def _read_source(app: Any, docname: str, source: list[str]) -> None:
    """Change the text of a page: the pages of ``_PAGES`` come from the repository's top folder, and the words that lead
    to a page are entries of the index, which the search ranks first.
    """
    page = Path(app.env.doc2path(docname))
    entries = [f"! single: {word}" for word in _words().get(docname, [])]
    index = "\n   ".join([".. index::", *entries]) + "\n"
    if page.suffix != ".md":
        source[0] = f"{index}\n{source[0]}" if entries else source[0]
        return
    outside = {made: ROOT / name for name, made in _PAGES.items() if name != "README.md"}
    written_in = outside.get(f"{docname}.md", page)
    text = written_in.read_text(encoding="utf-8") if written_in != page else source[0]
    index = (
        "\n".join(["```{eval-rst}", ".. index::", *(f"   {entry}" for entry in entries), "```", "", ""])
        if entries
        else ""
    )
    source[0] = index + _links(text, written_in, page)


def _skip_foreign(app: Any, what: str, name: str, value: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what a class inherits from another package, such as the methods of str in an enum of strings."""
    function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
    owner = getattr(value, "__objclass__", None) or (function if isinstance(function, FunctionType) else None)
    if owner is not None and not owner.__module__.startswith("bindless"):
        return True
    if owner is None and (what == "class" and callable(value) and not isinstance(value, type)):
        return True  # built-in methods
    return None


def setup(app: Any) -> None:
    import thumbnails

    app.connect("builder-inited", thumbnails.write, priority=900)  # after sphinx-gallery
    app.connect("source-read", _read_source)
    app.connect("autodoc-skip-member", _skip_foreign)
