"""TODO src/bindless/backends/cuda"""
