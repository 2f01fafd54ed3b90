"""Functions that draw noise, found in a repository or a package by reading, and checked in a jail."""
