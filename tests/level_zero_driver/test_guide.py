"""The Level Zero programming guide, section by section, in C through the system's loader and its validation layer."""

from __future__ import annotations

import pytest

from .conftest import LAYER, Guide, sections

pytestmark = pytest.mark.level_zero


@pytest.mark.parametrize("section", sections())
def test_a_section_runs_without_a_complaint_of_the_validation_layer(guide: Guide, section: str) -> None:
    assert guide(section, **LAYER) == f"{section}\n"


def test_all_sections_run_in_one_process_without_the_layer(guide: Guide) -> None:
    assert guide().split() == sections()


def test_all_sections_run_on_several_devices_that_say_they_are_gpus(guide: Guide) -> None:
    assert guide(BINDLESS_LEVEL_ZERO_DEVICES="2x2", BINDLESS_LEVEL_ZERO_TYPE="gpu", **LAYER).split() == sections()


def test_sections_run_when_the_loader_wraps_handles(guide: Guide) -> None:
    """The loader wraps handles if there are several drivers. It then loses the logs of failed modules, and crashes on
    them."""
    some = [section for section in sections() if section not in ("build_log", "dynamic_link")]
    assert guide(*some, ZE_ENABLE_LOADER_INTERCEPT="1", **LAYER).split() == some
