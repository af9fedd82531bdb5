"""Command streams, events, host dependencies and pending semaphores.

Every asynchronous command goes through ``command_stream``: it translates the events to wait for, keeps the memory
alive, and makes the ``Event`` of the native event. A failure after submission is raised by the event's ``wait``, or
goes to the queue's ``async_handler``.
"""
