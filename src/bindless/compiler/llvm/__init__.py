"""TODO src/bindless/compiler/llvm"""
