"""TODO src/bindless/compiler/spirv"""
