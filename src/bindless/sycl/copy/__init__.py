"""Copies: endpoints, regions, memory commands and prepared copies.

Steps of ``ext_oneapi_copy``: ``image_copy`` resolves each side to an endpoint (``endpoint``) and makes a
``model.copy_region.CopyRegion``, whose constructor holds every check of the specification for all back ends. The
back end prepares a command of it, which ``prepared_copy`` gives to the C code in ``csrc/submission``; that code submits
it, and later copies like it. What no back end prepares, the command stream submits by ``copy_image``.
"""
