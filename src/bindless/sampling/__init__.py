"""Samples of images and arrays at coordinates: the roads below the front ends.

A picture is one ``model.resampling.Resampling``. ``prepare`` chooses its road, once: a ``Plan``, whose ``submit`` takes
a map and arrays. ``driver`` has the driver compute the picture, ``kernel`` a built-in kernel, ``blocks`` device
functions at coordinates of the host, ``host`` the processor, on a copy of the image. ``source`` describes an image for
pictures, and keeps its plans; ``vectors`` brings displacements to where plans read them. ``memory`` samples
arrays where they lie, with derivatives.
"""
