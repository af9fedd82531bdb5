"""Snapshot of every error text of the package in ``error_messages.txt``, the only test data that depends on wording.

``python -m tests.error_messages --write`` writes the file. Other tests assert the class, the code, and the values that
a text must name (``error_checks.raises``).
"""
