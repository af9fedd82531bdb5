"""The ledger: which Python name and which tests every name of a specification has.

``python -m tests.ledger`` says whether ``docs/spec_coverage.md`` is what the tables say, ``--write`` writes it.
"""
