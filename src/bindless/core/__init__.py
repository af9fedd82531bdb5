"""Ownership of native objects, and the extension module that submits prepared commands."""
