"""TODO src/bindless/compiler/ptx"""
