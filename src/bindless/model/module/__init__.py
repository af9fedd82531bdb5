"""TODO src/bindless/model/module"""
