"""Buffers, accessors and the dependency graph that moves their data.

Steps of a command group with accessors:

1. The handler collects the accessors (``accessor``) and one command as values.
2. ``dependency_graph`` takes the lock of all storages. So submissions have one order for all threads, queues and back
   ends. It combines the access modes of each buffer (``access_mode``).
3. ``storage`` records for each range of bytes where its newest contents are (``replica``: a device in a context, or
   the host), the last command that wrote it, and the commands that have read it since. A command waits for the writer;
   a writing command waits for the readers too.
4. ``migration`` copies contents that are not yet where the command needs them: by one copy of a driver that reaches
   both places, else through host memory. Discarded contents (``no_init``) are not copied. Several places may hold
   copies to read.
5. The queue's command stream submits the command. Events of its own driver become native waits; for others,
   ``submission.host_dependency`` submits it later, from the thread that completes the last of them or a worker thread.
6. The event becomes the writer, or a reader, of those bytes.

``host_accessor`` is a gate in the same order: it waits for what it needs, and later commands wait for it.
``write_back`` is the end of a buffer. ``bindless_images.sycl_images`` builds images on the same graph.

Choices where SYCL leaves one:

- A ranged accessor passes the pointer to the first element of its buffer; its range limits what is copied. Two ranged
  accessors of one buffer are ordered, since only sub-buffers are known not to overlap.
- A host accessor delays every command group on its bytes, and no other host accessor. A thread that would wait for its
  own host accessor gets an error.
- A group that depends on a failed one does not run, and its event reports that. The queue of the failed command
  reports the failure once; a queue of another device reports what it did not run. Later groups run again after the
  report.
- A host accessor and the end of a buffer raise the error of the groups that they wait for, unless an ``async_handler``
  takes it. Nothing is written back then.
- The memory of an array belongs to the buffer until its end. ``set_final_data(None)`` leaves the array unchanged from
  then on; read-only arrays are never written.
"""
