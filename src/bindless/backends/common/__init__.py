"""TODO src/bindless/backends/common"""
