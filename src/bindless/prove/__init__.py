"""TODO src/bindless/prove"""
