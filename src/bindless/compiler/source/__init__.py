"""TODO src/bindless/compiler/source"""
