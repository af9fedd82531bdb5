"""TODO src/bindless/bench"""
