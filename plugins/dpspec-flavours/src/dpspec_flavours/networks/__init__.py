"""Datasets that are graphs or points of a metric space, and distances given by relations, metrics and policies."""
