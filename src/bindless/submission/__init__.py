"""TODO src/bindless/submission"""
