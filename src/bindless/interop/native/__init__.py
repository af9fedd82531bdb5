"""Native handles: ``get_native`` and ``make_*``."""
