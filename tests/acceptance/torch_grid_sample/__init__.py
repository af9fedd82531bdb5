"""torch's own tests of ``grid_sample``, run against ``bindless.torch.grid_sample``."""
