"""TODO src/bindless/interop/native"""
