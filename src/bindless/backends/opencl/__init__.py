"""The OpenCL back end: libOpenCL behind the contract."""
