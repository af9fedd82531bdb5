"""The ledger: the Python name and the tests of every name in a specification.

``python -m tests.ledger`` checks ``docs/internals/spec_coverage.md`` against the tables, ``--write`` writes it.
"""
