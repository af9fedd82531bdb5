"""Every error text of the package in one file, ``error_messages.txt``: a change of wording shows there alone.

``python -m tests.error_messages --write`` writes the file. Other tests assert the class, the code, and values that a
text has to name (``error_checks.raises``).
"""
