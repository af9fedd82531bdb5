"""A program through cuda.bindings and NVRTC: eight groups of checks, each with results of numpy."""
