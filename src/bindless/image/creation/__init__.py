"""Images of memory that exists, and of blocks."""
