"""The back end of the C reference driver."""
