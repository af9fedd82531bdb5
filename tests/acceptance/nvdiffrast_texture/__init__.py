"""nvdiffrast's rules of texture sampling, written down in numpy, and ``bindless.torch.texture`` compared with them."""
