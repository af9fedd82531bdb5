"""TODO src/bindless/core"""
