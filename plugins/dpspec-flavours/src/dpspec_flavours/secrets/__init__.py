"""Datasets that carry a secret and the law of the data, so that the mechanism is averaged over data."""
