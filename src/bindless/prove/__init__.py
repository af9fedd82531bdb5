"""``bindless doctor --prove``: comparison of a device with the reference."""
