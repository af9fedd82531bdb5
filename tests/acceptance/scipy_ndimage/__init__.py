"""scipy's own tests of interpolation, run against ``bindless.ndimage``."""
