"""TODO src/bindless/image"""
