"""Kernel bundles, kernels, arguments and launches.

Steps of ``parallel_for``: ``Submitter`` (``csrc/submission``), the queue's base class, looks for a prepared launch of
the same kernel, range and number of arguments. If there is none, or if anything differs, ``arguments`` checks and
packs the arguments, and the command stream calls ``launch`` of the back end. A repeated launch is prepared
(``prepared_launch``): the back end gives the address of a C function and its descriptions
(``backends.contract.prepared_command``), or a Python callable. ``bound_launch`` is a launch that the caller prepares
with ``kernel.bind``.
"""
