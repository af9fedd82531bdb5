"""Back ends: each implements the contract on one vendor's driver. ``registry`` creates them on first use."""
