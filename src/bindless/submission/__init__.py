"""Command streams, events, host dependencies and pending semaphores."""
