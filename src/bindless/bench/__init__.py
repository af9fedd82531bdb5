"""``bindless bench``: ratios of this package and its peers, measured in one run."""
