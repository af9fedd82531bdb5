"""Copies: endpoints, regions, memory commands and prepared copies.

Steps of ``ext_oneapi_copy``: ``image_copy`` resolves each side to an endpoint (``endpoint``) and makes a
``model.copy_region.CopyRegion``, whose constructor holds every check of the specification for all back ends. The
command stream calls ``copy_image`` of the back end. A copy that a queue repeats is prepared (``prepared_copy``), and
from then on the C code in ``csrc/submission`` compares the operands and calls the driver.
"""
