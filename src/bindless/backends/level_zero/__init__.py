"""TODO src/bindless/backends/level_zero"""
