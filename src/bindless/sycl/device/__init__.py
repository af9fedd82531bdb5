"""Platforms, devices, contexts and selectors."""
