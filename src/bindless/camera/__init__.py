"""Cameras, and the lenses between two of them."""
