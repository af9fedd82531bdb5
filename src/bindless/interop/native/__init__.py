"""Native handles: ``get_native`` and ``make_*``.

``get_native`` returns the driver's handle of an object as a ``NativeHandle``, an int with a C type. ``make_*`` check
the context and device of a caller's handle, and that no other object uses it: ``core.ownership`` lists every native
object. The back end adopts the handle (``InteropProtocol``) as an object of its ordinary classes, so that the facade's
object works like one of its own. Only its end differs: ``ownership`` decides whether the driver's object is released.

Where a driver counts references (OpenCL), each object and each returned handle holds its own reference, and handles
may be shared. A buffer made of memory starts with its contents in that context; if the memory is the caller's, its end
waits.
"""
