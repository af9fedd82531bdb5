"""TODO src/bindless/drivers/common"""
