"""TODO src/bindless/backends/reference"""
