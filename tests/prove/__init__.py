"""Tests of the checks of ``bindless doctor --prove``."""
