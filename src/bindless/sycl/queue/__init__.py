"""Queues, handlers, host tasks, external semaphores and command graphs."""
