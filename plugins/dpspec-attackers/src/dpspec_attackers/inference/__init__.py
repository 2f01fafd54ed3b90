"""Bayesian inference from a noisy mean and variance of bounded data (thesis, chapter 4)."""
